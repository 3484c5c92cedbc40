"""The twenty-five tools of the payer's review desks, as they were published, and the extended."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

import pytest

from healthgym.core.schema import validate
from healthgym.core.tool import Caller, ToolKind, ToolSpec
from healthgym.envs.managed_care.reading.reasons import read_reason
from healthgym.envs.managed_care.tools.base import OfficeToolset
from healthgym.envs.managed_care.tools.determination import DeterminationToolset
from healthgym.envs.managed_care.tools.p2p import PeerToPeerToolset
from healthgym.envs.managed_care.tools.p2p_session import PeerSessionToolset
from healthgym.envs.managed_care.tools.payer_appeals import AppealsToolset
from healthgym.envs.managed_care.tools.payer_letter_center import LetterCenterToolset
from healthgym.envs.managed_care.tools.review import ReviewToolset
from healthgym.errors import ToolError
from healthgym.worlds.managed_care.handbook.edition import written_library
from healthgym.worlds.managed_care.rules import Rules
from healthgym.worlds.managed_care.vocabulary.authorization import LetterType, PayerMode
from healthgym.worlds.managed_care.world import ManagedCareWorld
from tests.worlds.managed_care.apps.payer.review_desk import (
    AMD,
    CASE,
    MD,
    MD_2,
    NURSE,
    SLOTS,
    appealed_case,
    desk,
)

TOOLSETS: tuple[type[OfficeToolset], ...] = (
    ReviewToolset,
    DeterminationToolset,
    PeerToPeerToolset,
    PeerSessionToolset,
    LetterCenterToolset,
)
_LETTER = "case_id [actor=None] [body=None] [supporting_basis=None] [policy_citations=None]"
_REVIEW = "case_id line_number [review_id=None] [evaluations=None] [reviewer_id=SYSTEM]"
#: Names of the arguments by tool; the optional ones in brackets, with their default.
PUBLISHED: Mapping[str, str] = {
    "review.get_nurse_review_data": "case_id",
    "review.save_criteria_evaluation": _REVIEW,
    "review.submit_nurse_case_recommendation": "case_id recommendation [clinical_notes=] "
    "[info_requested=] [info_deadline=] [reviewer_id=SYSTEM]",
    "review.get_md_review_data": "case_id",
    "review.save_md_review": _REVIEW,
    "review.submit_md_case_decision": "case_id decision [clinical_notes=] "
    "[determination_rationale=] [similar_case_notes=] [reviewer_id=SYSTEM] [denial_rationale=] "
    "[info_requested=] [info_deadline=] [line_item_decisions=None] [signed_off=False]",
    "determination.get_summary": "case_id",
    "determination.finalize": "case_id decision [overridden=False] [override_reason=] "
    "[actor=SYSTEM]",
    "p2p.list": "[case_id=None]",
    "p2p.offer_slots": "request_id [payer_contact_id=SYSTEM] [slots=None]",
    "p2p.schedule": "request_id [payer_contact_id=SYSTEM] [scheduled_at=]",
    "p2p.record_outcome": "request_id [payer_contact_id=SYSTEM] [outcome=] [note=None]",
    "p2p_session.get_context": "request_id",
    "p2p_session.send_turn": "request_id message",
    "p2p_session.submit_summary": "request_id summary proposed_result",
    "payer_letter_center.list": "[case_id=None]",
    "payer_letter_center.get": "letter_id",
    "payer_letter_center.generate_approval": _LETTER,
    "payer_letter_center.generate_partial_approval": _LETTER,
    "payer_letter_center.generate_denial": f"{_LETTER} [appeal_information=None]",
    "payer_letter_center.generate_pend": _LETTER,
    "payer_letter_center.generate_notification": "case_id notification_type [actor=None]",
    "payer_letter_center.deliver": "letter_id channel",
    "payer_letter_center.reissue": "letter_id reason",
    "payer_letter_center.audit_completeness": "letter_id",
}
EXTENDED: Mapping[str, str] = {
    "payer_appeals.list": "[case_id=None]",
    "payer_appeals.get": "appeal_id",
    "payer_appeals.assign_reviewer": "appeal_id reviewer_id",
    "payer_appeals.decide": "appeal_id reviewer_id outcome [rationale=]",
    "payer_appeals.assign_external": "appeal_id coordinator_id vendor_name",
    "payer_appeals.record_external_outcome": "appeal_id coordinator_id outcome [rationale=]",
    "payer_appeals.validate_independence": "appeal_id",
    "payer_appeals.validate_timeliness": "appeal_id",
}
READS = {
    "review.get_nurse_review_data",
    "review.get_md_review_data",
    "determination.get_summary",
    "p2p.list",
    "p2p_session.get_context",
    "payer_letter_center.list",
    "payer_letter_center.get",
    "payer_letter_center.audit_completeness",
    "payer_appeals.list",
    "payer_appeals.get",
    "payer_appeals.validate_independence",
    "payer_appeals.validate_timeliness",
}
#: What the source's appeals desk has no tool for.
OURS = {"payer_appeals.get_file", "payer_appeals.acknowledge", "payer_appeals.save_review"}
#: What nobody staffs where the payer decides by itself.
CLOSED = [
    name
    for name in PUBLISHED
    if name.split(".")[1] not in ("list", "get", "deliver", "reissue", "audit_completeness")
    and not name.startswith("p2p_session")
] + ["p2p.list"]


def specs() -> Mapping[str, tuple[ToolSpec, type[OfficeToolset]]]:
    return {
        spec.name: (spec, kind) for kind in (*TOOLSETS, AppealsToolset) for spec in kind.specs()
    }


def use(world: ManagedCareWorld, name: str, **arguments: Any) -> str:
    """Use a tool as an agent does, and return what it shows."""
    spec, kind = specs()[name]
    toolset = kind(world, Caller("payer", world.actor, world.clock))
    given = validate(spec.model, spec.name, spec.usage, arguments)
    return str(spec.function(toolset, **given))


def test_names_arguments_defaults_and_kinds_are_the_published_ones() -> None:
    found = {}
    for name, (spec, _) in specs().items():
        if name in OURS:
            continue
        words = []
        for key, argument in spec.signature.parameters.items():
            bare = argument.default is argument.empty
            words.append(key if bare else f"[{key}={argument.default}]")
        found[name] = " ".join(words)
        assert spec.kind is (ToolKind.READ if name in READS else ToolKind.WRITE), name
        assert isinstance(spec.takes, timedelta), name
    assert found == {**PUBLISHED, **EXTENDED}
    assert len(PUBLISHED) == 25


def test_notices_are_of_the_published_kinds() -> None:
    spec, _ = specs()["payer_letter_center.generate_notification"]
    kinds = spec.parameters["properties"]["notification_type"]["enum"]
    assert kinds == ["approval", "denial", "pend", "appeal_rights", "appeal_outcome"]


def test_findings_are_records() -> None:
    spec, _ = specs()["review.save_criteria_evaluation"]
    item = spec.parameters["properties"]["evaluations"]["items"]
    assert item["required"] == ["criterion_id", "criterion_text", "result"]


@pytest.mark.parametrize("name", CLOSED)
def test_desks_are_closed_where_the_payer_decides_by_itself(name: str) -> None:
    world = desk(Rules.COMPAT, payer_mode="auto")
    assert world.payer_mode is PayerMode.AUTO
    fill = {
        "case_id": CASE,
        "line_number": 1,
        "request_id": "P2P-0001",
        "recommendation": "approve",
        "decision": "approve" if name.startswith("review") else "approved",
        "notification_type": "denial",
    }
    spec, _ = specs()[name]
    arguments = {key: fill[key] for key in spec.parameters.get("required", [])}
    with pytest.raises(Exception, match="decides by itself"):
        use(world, name, **arguments)


def _findings(second: str) -> list[dict[str, Any]]:
    return [
        {
            "criterion_id": name,
            "criterion_text": "Text.",
            "result": result,
            "source_refs_used": ["DOC-1"],
        }
        for name, result in (("C-1", "met"), ("C-2", second))
    ]


def test_a_case_goes_from_findings_to_a_letter_through_the_tools() -> None:
    world = desk()
    told = use(world, "review.get_nurse_review_data", case_id=CASE)
    assert "C-2" in told
    use(
        world,
        "review.save_criteria_evaluation",
        case_id=CASE,
        line_number=1,
        evaluations=_findings("met"),
        reviewer_id=NURSE,
    )
    use(
        world,
        "review.submit_nurse_case_recommendation",
        case_id=CASE,
        recommendation="approve",
        clinical_notes="All met.",
        reviewer_id=NURSE,
    )
    assert "nurse_recommendation" in use(world, "determination.get_summary", case_id=CASE)
    assert "AUTH-" in use(world, "determination.finalize", case_id=CASE, decision="approved")
    letter = use(world, "payer_letter_center.generate_approval", case_id=CASE, actor=NURSE)
    assert "Ana Bell" in letter
    use(world, "payer_letter_center.deliver", letter_id="LET-0001", channel="fhir")
    told = use(world, "payer_letter_center.audit_completeness", letter_id="LET-0001")
    assert "complete: yes" in told
    assert "fhir" in use(world, "payer_letter_center.list", case_id=CASE)


def test_a_call_is_held_through_the_tools() -> None:
    world = desk()
    use(
        world,
        "review.submit_md_case_decision",
        case_id=CASE,
        decision="p2p_review",
        determination_rationale="C-2 is not shown.",
        reviewer_id=MD,
    )
    assert "requested" in use(world, "p2p.list")
    use(world, "p2p.offer_slots", request_id="P2P-0001", payer_contact_id=MD_2, slots=list(SLOTS))
    told = use(world, "p2p.schedule", request_id="P2P-0001", payer_contact_id=MD_2)
    assert "BEGIN:VCALENDAR" in told
    world.clock.advance(timedelta(days=4))
    use(world, "p2p_session.send_turn", request_id="P2P-0001", message="What is new?")
    assert "What is new?" in use(world, "p2p_session.get_context", request_id="P2P-0001")
    use(
        world,
        "p2p_session.submit_summary",
        request_id="P2P-0001",
        summary="Nothing new.",
        proposed_result="uphold_intended_adverse_decision",
    )
    assert "deny" in use(world, "determination.get_summary", case_id=CASE)
    with pytest.raises(ToolError, match="recorded once"):
        use(
            world,
            "p2p.record_outcome",
            request_id="P2P-0001",
            payer_contact_id=MD_2,
            outcome="uphold_intended_adverse_decision",
        )


def test_the_manuals_say_that_a_summary_records_the_outcome() -> None:
    assert "records the outcome" in (PeerSessionToolset.submit_summary.__doc__ or "")
    assert "submit_summary" in (PeerToPeerToolset.record_outcome.__doc__ or "")
    page = written_library().read("platform/payer.md").text
    assert "`p2p.record_outcome` closes the request" not in page


def test_the_manual_lets_whoever_means_to_decide_hold_the_call() -> None:
    told = " ".join((PeerToPeerToolset.offer_slots.__doc__ or "").split())
    assert "who means to decide, or another physician reviewer" in told


@pytest.mark.parametrize(
    ("name", "argument"),
    [
        ("review.submit_nurse_case_recommendation", "info_requested"),
        ("review.submit_md_case_decision", "info_requested"),
        ("review.submit_md_case_decision", "denial_rationale"),
        ("review.submit_md_case_decision", "determination_rationale"),
        ("p2p_session.submit_summary", "summary"),
    ],
    ids=["nurse asks", "physician asks", "denial", "rationale", "summary"],
)
def test_manuals_ask_for_the_number_where_criteria_are_read_by_it(name: str, argument: str) -> None:
    told = specs()[name][0].parameters["properties"][argument]["description"]
    assert "number" in told
    assert read_reason(told).criteria == {"C3"}


def test_an_appeal_is_decided_through_the_extended_tools() -> None:
    world = appealed_case()
    assert "filed" in use(world, "payer_appeals.list", case_id=CASE)
    use(world, "payer_appeals.assign_reviewer", appeal_id="APL-0001", reviewer_id=AMD)
    told = use(world, "payer_appeals.validate_independence", appeal_id="APL-0001")
    assert "independent: yes" in told
    assert "timely: yes" in use(world, "payer_appeals.validate_timeliness", appeal_id="APL-0001")
    use(
        world,
        "payer_appeals.decide",
        appeal_id="APL-0001",
        reviewer_id=AMD,
        outcome="appeal_overturned",
        rationale="The echo shows it.",
    )
    assert "appeal_overturned" in use(world, "payer_appeals.get", appeal_id="APL-0001")


def test_reading_changes_no_content() -> None:
    world = appealed_case()
    world.letters.generate(CASE, LetterType.DENIAL, actor=NURSE)
    keys = {"case_id": CASE, "letter_id": "LET-0001", "appeal_id": "APL-0001"}
    for name in sorted(READS - {"p2p_session.get_context"}):
        spec, _ = specs()[name]
        arguments = {key: keys[key] for key in spec.parameters.get("required", [])}
        before = world.content_digest()
        use(world, name, **arguments)
        assert world.content_digest() == before, name
