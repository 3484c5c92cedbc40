"""The payer that decides by itself: the first rule that fits decides, and nothing is half done."""

from __future__ import annotations

from typing import Any

import pytest

from healthgym.worlds.managed_care.refusals import RefusalCode
from healthgym.worlds.managed_care.rules import Rules
from healthgym.worlds.managed_care.vocabulary.authorization import CaseStatus
from healthgym.worlds.managed_care.world import ManagedCareWorld
from tests.worlds.managed_care.apps.provider.office import (
    CASE,
    PORTAL,
    SUBMIT,
    bundle,
    decide,
    fill,
    office,
    refused,
    upload,
)

READY = CaseStatus.READY_TO_SUBMIT


def sent(**policy: Any) -> tuple[ManagedCareWorld, Any]:
    world = office(Rules.COMPAT, READY, mode="auto", **policy)
    return world, world.authorizations.submit(CASE, PORTAL)


@pytest.mark.parametrize(
    ("policy", "reason"),
    [
        ({"required_documents": ["imaging_report"]}, "imaging_report"),
        ({"required_diagnosis_codes": ["Z99.89"]}, "Z99.89"),
        ({"required_questionnaire_answers": {"failed_drug": "yes"}}, "failed_drug"),
    ],
    ids=["document", "diagnosis", "answer"],
)
def test_what_is_missing_is_named(policy: dict[str, Any], reason: str) -> None:
    world, view = sent(**policy)
    assert view["decision"] == "pended"
    assert reason in view["rationale"]
    (message,) = world.inbox.visible(CASE)
    assert message.body == view["rationale"]


def test_documents_go_before_diagnoses_and_answers() -> None:
    wanting = {
        "required_documents": ["imaging_report"],
        "required_diagnosis_codes": ["Z99.89"],
        "required_questionnaire_answers": {"q": "yes"},
        "incomplete_action": "deny",
    }
    assert sent(**wanting)[1]["decision"] == "pended"
    wanting["required_documents"] = []
    assert sent(**wanting)[1]["decision"] == "denied"


def test_a_partial_approval_has_no_number() -> None:
    world, _ = sent(complete_outcome="approved_modified", modification_note="6 of 12 visits")
    case = world.cases.get(CASE)
    assert case.authorization_number is None
    assert "6 of 12 visits" in (case.outcome_reason or "")
    approved, _ = sent()
    assert (approved.cases.get(CASE).authorization_number or "").startswith(f"AUTH-{CASE}-")


def test_what_needs_no_authorization_leaves_nothing_behind() -> None:
    world = office(Rules.COMPAT, READY, mode="auto", complete_outcome="not_required")
    found = refused(world, lambda w: w.authorizations.submit(CASE, PORTAL))
    assert found.code is RefusalCode.ILLEGAL_TRANSITION
    assert world.authorizations.packet(CASE) is None


def test_strict_rules_judge_the_packet_and_not_the_chart() -> None:
    for documents, decision in ((("DOC-1",), "pended"), (("DOC-1", "DOC-2"), "approved")):
        world = office(mode="auto")
        fill(world)
        bundle(world, *documents)
        world.authorizations.finalize(CASE, SUBMIT)
        view = world.authorizations.submit(CASE, PORTAL)
        assert view["decision"] == decision


def test_a_reply_is_judged_with_what_it_brings() -> None:
    letter = "letter_of_medical_necessity"
    world = office(mode="auto", required_documents=["chart_note", letter])
    decide(world)
    world.authorizations.submit(CASE, PORTAL)
    view = world.authorizations.respond_to_pend(CASE, "attached", [upload(world)])
    assert view["decision"] == "approved"


def test_a_policy_that_wants_no_authorization_is_not_submitted_to() -> None:
    world = office(Rules.COMPAT, READY, authorization_required=False)
    found = refused(world, lambda w: w.authorizations.submit(CASE, PORTAL))
    assert found.code is RefusalCode.WRONG_STATE


@pytest.mark.parametrize(
    ("policy", "outcomes"),
    [
        ({"appeal_outcome": "appeal_overturned"}, ["appeal_overturned"]),
        ({}, ["appeal_upheld", "external_appeal_upheld"]),
        (
            {"external_appeal_outcome": "external_appeal_overturned"},
            ["appeal_upheld", "external_appeal_overturned"],
        ),
    ],
    ids=["overturned", "upheld", "overturned-outside"],
)
def test_appeals_end_as_the_card_says(policy: dict[str, Any], outcomes: list[str]) -> None:
    world, _ = sent(complete_outcome="denied", **policy)
    world.authorizations.file_appeal(CASE, "criterion 2 is met")
    if len(outcomes) > 1:
        world.authorizations.file_external_appeal(CASE, "criterion 2 is met")
    assert [str(appeal.outcome) for appeal in world.appeals.appeals.values()] == outcomes
    written = [str(letter.letter_type) for letter in world.letters.letters.values()]
    assert written == ["denial", *outcomes]
    assert world.cases.get(CASE).status == outcomes[-1]
