"""Compliance reports: each finds what was planted, and nothing in a clean case."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from healthgym.worlds.managed_care.records.decision import (
    DeterminationRecord,
    Letter,
    ReviewDecision,
)
from healthgym.worlds.managed_care.records.review import (
    MdCaseDecision,
    NurseCaseRecommendation,
    TriageRecord,
)
from healthgym.worlds.managed_care.rules import Rules
from healthgym.worlds.managed_care.vocabulary.authorization import (
    CaseStatus,
    DecisionOutcome,
    DeterminationDecision,
    MdReviewDecision,
    NurseReviewRecommendation,
    ReviewRoute,
    TriageUrgency,
)
from healthgym.worlds.managed_care.world import ManagedCareWorld
from tests.worlds.managed_care.apps.payer.desk import CASE, NOW, case, intake, policy, world

Report = Callable[[ManagedCareWorld], Any]


def _record(kind: type, **fields: Any) -> Any:
    known = {"case_id": CASE, "intake_case_id": "intake-1", "created_at": NOW}
    names = kind.__dataclass_fields__  # type: ignore[attr-defined]
    return kind(**{k: v for k, v in {**known, **fields}.items() if k in names})


def _decided(**changes: dict[str, Any]) -> ManagedCareWorld:
    """Return a world with an approved case in which everything is right, but for the changes."""

    def of(name: str, **fields: Any) -> dict[str, Any]:
        return {**fields, **changes.get(name, {})}

    record = case(CaseStatus.APPROVED)
    records: list[object] = [
        replace(record, **of("case", authorization_number="AUTH-CASE-T-000001")),
        policy(policy_citations=("CP-1 s2",)),
        intake(),
        _record(
            NurseCaseRecommendation,
            **of(
                "nurse",
                id="NCR-1",
                reviewer_id="W-NUR",
                recommendation=NurseReviewRecommendation.APPROVE,
            ),
        ),
        _record(
            MdCaseDecision,
            **of("physician", id="MCD-1", reviewer_id="W-MD", decision=MdReviewDecision.APPROVE),
        ),
        _record(
            DeterminationRecord,
            **of(
                "determination",
                id="DET-1",
                source="md_decision",
                source_record_id="MCD-1",
                original_recommendation="approve",
                final_decision=DeterminationDecision.APPROVED,
            ),
        ),
        _record(
            ReviewDecision,
            **of(
                "review",
                id="REV-1",
                route=ReviewRoute.PHYSICIAN_REVIEW,
                outcome=DecisionOutcome.APPROVED,
                rationale="Met.",
                reviewer_role="physician_reviewer",
                policy_citations=("CP-1 s2",),
            ),
        ),
        _record(
            Letter,
            **of(
                "letter",
                id="LET-1",
                letter_type="approval",
                subject="Approved",
                body="Approved.",
                policy_citations=("CP-1 s2",),
            ),
        ),
    ]
    # What a letter has to state in full is the letter center's to test.
    return world(*records, rules=Rules.COMPAT)


REPORTS: dict[str, Report] = {
    "roles": lambda desk: desk.compliance.roles(CASE),
    "independence": lambda desk: desk.compliance.independence(CASE),
    "letters": lambda desk: desk.compliance.letters(CASE),
    "citations": lambda desk: desk.compliance.citations(CASE),
    "consistency": lambda desk: desk.compliance.consistency(CASE),
}
PLANTED: list[tuple[str, dict[str, dict[str, Any]]]] = [
    ("roles", {"nurse": {"reviewer_id": "W-INT"}}),
    ("roles", {"nurse": {"reviewer_id": "stranger"}}),
    ("roles", {"physician": {"reviewer_id": "W-LATE", "decision": MdReviewDecision.DENY}}),
    ("independence", {"physician": {"reviewer_id": "W-NUR"}}),
    ("letters", {"letter": {"body": ""}}),
    ("citations", {"letter": {"policy_citations": ()}}),
    ("citations", {"review": {"policy_citations": ("CP-9",)}}),
    ("consistency", {"case": {"authorization_number": None}}),
    ("consistency", {"case": {"status": CaseStatus.DENIED}}),
    ("consistency", {"letter": {"letter_type": "partial_approval"}}),
    ("consistency", {"determination": {"overridden": True}}),
    ("consistency", {"determination": {"superseded_by": "x"}}),
]


@pytest.mark.parametrize("report", REPORTS)
def test_a_clean_case_has_no_findings(report: str) -> None:
    found = REPORTS[report](_decided())
    assert (found["compliant"], found["count"], found["findings"]) == (True, 0, [])


@pytest.mark.parametrize(
    ("report", "changes"), PLANTED, ids=[f"{n}-{name}" for n, (name, _) in enumerate(PLANTED)]
)
def test_a_report_finds_what_was_planted(report: str, changes: dict[str, dict[str, Any]]) -> None:
    desk = _decided(**changes)
    found = REPORTS[report](desk)
    assert found["count"] == 1
    assert not found["compliant"]
    summary: Any = desk.compliance.summary(CASE)
    assert summary["findings"][report] == 1
    assert not summary["clean"]


def test_a_clean_case_is_clean_and_reading_changes_nothing() -> None:
    desk = _decided()
    before = desk.content_digest()
    assert desk.compliance.summary(CASE)["clean"] is True
    desk.compliance.timeline(CASE)
    assert desk.content_digest() == before
    assert desk.history.looks


@pytest.mark.parametrize(
    ("hours", "warning", "overdue"), [(10, False, False), (60, True, False), (80, True, True)]
)
def test_a_clock_warns_before_the_limit(hours: int, warning: bool, overdue: bool) -> None:
    triage = _record(
        TriageRecord,
        id="TRG-1",
        urgency_level=TriageUrgency.ROUTINE,
        receipt_timestamp=NOW,
        sla_deadline=NOW + timedelta(hours=72),
    )
    desk = world(intake(), triage)
    desk.clock.advance(timedelta(hours=hours))
    found = desk.compliance.clock(CASE)
    assert (found["warning"], found["overdue"]) == (warning, overdue)
    assert (found["hours_used"], found["hours_allowed"]) == (hours, 72)


def test_a_timeline_tells_what_happened_in_order() -> None:
    desk = world(intake())
    desk.cases.move(CASE, CaseStatus.UNDER_REVIEW, "W-INT")
    desk.cases.move(CASE, CaseStatus.CLOSED, "W-INT")
    rows: Any = desk.compliance.timeline(CASE)["items"]
    assert [row["what"] for row in rows] == ["submitted -> under_review", "under_review -> closed"]


@pytest.mark.parametrize("cited", ["CP-1", "CP-1, section s2", "CP-1 (s2)", "policy CP-1: s2"])
def test_a_citation_may_be_marked_in_any_way(cited: str) -> None:
    report = REPORTS["citations"](_decided(letter={"policy_citations": (cited,)}))
    assert not report["findings"]


def test_a_letter_of_an_earlier_decision_is_no_finding() -> None:
    denied = {"letter_type": "denial", "created_at": NOW - timedelta(days=9)}
    assert not REPORTS["consistency"](_decided(letter=denied))["findings"]
    assert REPORTS["consistency"](_decided(letter={"letter_type": "denial"}))["findings"]
