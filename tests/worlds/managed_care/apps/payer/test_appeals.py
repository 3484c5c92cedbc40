"""Appeals: who decides them, until when they are filed, and what an overturn does."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from healthgym.worlds.managed_care import deadlines
from healthgym.worlds.managed_care.handbook.rules import OperatingRules
from healthgym.worlds.managed_care.refusals import RefusalCode
from healthgym.worlds.managed_care.rules import Rules
from healthgym.worlds.managed_care.vocabulary.authorization import (
    AppealOutcome,
    CaseStatus,
    DeterminationDecision,
    LetterType,
    MdReviewDecision,
    PayerRole,
    PeerToPeerOutcome,
    SubmissionChannel,
)
from healthgym.worlds.managed_care.world import ManagedCareWorld
from tests.worlds.managed_care.apps.payer.review_desk import (
    AMD,
    CASE,
    EXT,
    MD,
    MD_2,
    NURSE,
    SLOTS,
    STRANGER,
    both,
    decided,
    finalized,
    refused,
)

UPHELD, OVERTURNED = AppealOutcome.APPEAL_UPHELD, AppealOutcome.APPEAL_OVERTURNED
EXT_UPHELD, EXT_OVERTURNED = (
    AppealOutcome.EXTERNAL_APPEAL_UPHELD,
    AppealOutcome.EXTERNAL_APPEAL_OVERTURNED,
)
BOTH = pytest.mark.parametrize("rules", Rules)
#: How long after a decision it is too late, and the last day on which it is not.
_LATE = {"internal": (31, "2026-04-12"), "external": (121, "2026-07-11")}


def denied(rules: Rules = Rules.STRICT) -> ManagedCareWorld:
    return finalized(DeterminationDecision.DENIED, rules)


def appealed(rules: Rules = Rules.STRICT) -> ManagedCareWorld:
    world = denied(rules)
    world.appeals.file(CASE, "The echo was overlooked.")
    return world


def assigned(rules: Rules = Rules.STRICT) -> ManagedCareWorld:
    world = appealed(rules)
    world.appeals.assign_internal_appeal_reviewer(number(world), AMD)
    return world


def upheld(rules: Rules = Rules.STRICT) -> ManagedCareWorld:
    world = assigned(rules)
    decide(world, UPHELD)
    return world


def external(rules: Rules = Rules.STRICT) -> ManagedCareWorld:
    world = upheld(rules)
    world.appeals.file(CASE, "Still wrong.", level="external")
    world.appeals.assign_external_review(number(world), EXT, "Outside Review Inc.")
    return world


def number(world: ManagedCareWorld) -> str:
    return world.appeals.of(CASE)[-1].id


def decide(
    world: ManagedCareWorld,
    outcome: str = UPHELD,
    who: str = AMD,
    reason: str = "C-2 stays unmet.",
) -> object:
    return world.appeals.decide_internal_appeal(number(world), who, outcome, reason)


def record(
    world: ManagedCareWorld, outcome: str = EXT_UPHELD, who: str = EXT, reason: str = "Agreed."
) -> object:
    return world.appeals.record_external_review_outcome(number(world), who, outcome, reason)


@BOTH
def test_an_appeal_runs_its_course(rules: Rules) -> None:
    world = upheld(rules)
    (letter,) = world.letters.of(CASE)
    assert (letter.letter_type, letter.delivery_channel) == ("appeal_upheld", "portal")
    assert letter.delivered_at is not None
    world.appeals.file(CASE, "Still wrong.", level="external")
    assert world.appeals.open(CASE) is not None
    world.appeals.assign_external_review(number(world), EXT, "Outside Review Inc.")
    record(world)
    assert world.cases.get(CASE).status is CaseStatus.EXTERNAL_APPEAL_UPHELD
    assert world.appeals.open(CASE) is None
    last = world.appeals.of(CASE)[-1]
    assert (last.binding_result, last.external_vendor) == (True, "Outside Review Inc.")


@BOTH
@pytest.mark.parametrize("channel", SubmissionChannel)
def test_the_letter_goes_by_the_channel_of_the_request(
    rules: Rules, channel: SubmissionChannel
) -> None:
    world = assigned(rules)
    world.cases.put(replace(world.cases.get(CASE), submission_channel=channel))
    decide(world)
    by_call = rules is Rules.STRICT and channel is SubmissionChannel.PHONE
    sent = SubmissionChannel.FAX if by_call else channel
    assert world.letters.of(CASE)[-1].delivery_channel is sent


@BOTH
def test_an_appeal_is_acknowledged(rules: Rules) -> None:
    world = appealed(rules)
    assert world.appeals.receipt_of(number(world)) is None
    world.appeals.acknowledge(number(world), NURSE)
    known = world.appeals.receipt_of(number(world))
    assert known is not None
    assert (known.acknowledged_by, known.acknowledged_at) == (NURSE, world.clock.now)


def test_an_appeal_is_acknowledged_once_and_by_the_plan() -> None:
    def known(rules: Rules) -> ManagedCareWorld:
        world = appealed(rules)
        world.appeals.acknowledge(number(world), NURSE)
        return world

    both(known, lambda w: w.appeals.acknowledge(number(w), NURSE), RefusalCode.DUPLICATE)
    both(
        appealed,
        lambda w: w.appeals.acknowledge(number(w), STRANGER),
        RefusalCode.ROLE_FORBIDDEN,
    )
    world = upheld()
    refused(
        world,
        RefusalCode.WRONG_STATE,
        lambda: world.appeals.acknowledge(number(world), NURSE),
    )


@BOTH
def test_the_file_is_read_anew_by_whom_it_was_given_to(rules: Rules) -> None:
    world = assigned(rules)
    row = world.medical.reviews_of(CASE)[-1:] or world.nursing.reviews_of(CASE)
    found = row[0].criteria_evaluations
    world.appeals.save_review(number(world), AMD, 1, found[:1])
    world.clock.advance(timedelta(minutes=5))
    world.appeals.save_review(number(world), AMD, 1, found)
    (kept,) = world.appeals.reviews_of(CASE)
    assert (kept.reviewer_id, kept.criteria_evaluations) == (AMD, found)
    assert kept.updated_at - kept.created_at == timedelta(minutes=5)
    file = world.appeals.data(number(world))
    assert file["reviews"] == (kept,)
    assert file["decision_due_at"] == deadlines.appeal_deadline(world, world.appeals.of(CASE)[-1])


def test_an_appeal_is_not_read_by_anybody_else_nor_once_it_is_decided() -> None:
    both(
        appealed,
        lambda w: w.appeals.save_review(number(w), AMD, 1, ()),
        RefusalCode.WRONG_OWNER,
    )
    both(
        assigned,
        lambda w: w.appeals.save_review(number(w), MD, 1, ()),
        RefusalCode.ROLE_FORBIDDEN,
    )
    both(
        assigned,
        lambda w: w.appeals.save_review(number(w), AMD, 7, ()),
        RefusalCode.NOT_FOUND,
    )
    world = upheld()
    refused(
        world,
        RefusalCode.WRONG_STATE,
        lambda: world.appeals.save_review(number(world), AMD, 1, ()),
    )


@BOTH
def test_an_appeal_begins_where_it_can(rules: Rules) -> None:
    world = decided(MdReviewDecision.DENY, rules)
    refused(world, RefusalCode.WRONG_STATE, lambda: world.appeals.file(CASE, "r"))
    world = appealed(rules)
    refused(world, RefusalCode.WRONG_STATE, lambda: world.appeals.file(CASE, "r"))
    refused(world, RefusalCode.WRONG_STATE, lambda: world.appeals.file(CASE, "r", (), "external"))


def test_an_appeal_has_a_reason() -> None:
    both(denied, lambda w: w.appeals.file(CASE, " "), RefusalCode.MISSING_TEXT)


@pytest.mark.parametrize("level", ["internal", "external"])
def test_an_appeal_is_filed_in_its_window(level: str) -> None:
    def late(rules: Rules) -> ManagedCareWorld:
        world = denied(rules) if level == "internal" else upheld(rules)
        world.clock.advance(timedelta(days=_LATE[level][0]))
        return world

    told = both(late, lambda w: w.appeals.file(CASE, "r", (), level), RefusalCode.ENDED)
    assert _LATE[level][1] in told


def test_timeliness_is_reckoned_where_a_deadline_is_on_record() -> None:
    world = upheld()
    view = world.appeals.validate_appeal_timeliness(number(world))
    assert view["timely"] is True
    world = upheld(Rules.COMPAT)
    refused(
        world,
        RefusalCode.WRONG_STATE,
        lambda: world.appeals.validate_appeal_timeliness(number(world)),
    )


@pytest.mark.parametrize("person", [MD, MD_2, NURSE, EXT, STRANGER])
def test_an_appeal_is_reviewed_by_an_appeals_director(person: str) -> None:
    both(
        appealed,
        lambda w: w.appeals.assign_internal_appeal_reviewer(number(w), person),
        RefusalCode.ROLE_FORBIDDEN,
    )
    both(assigned, lambda w: decide(w, who=person), RefusalCode.ROLE_FORBIDDEN)


def test_an_appeal_is_reviewed_by_an_outsider() -> None:
    def called(rules: Rules) -> ManagedCareWorld:
        roles = (PayerRole.APPEALS_MEDICAL_DIRECTOR,)
        held = OperatingRules(may_hold_peer_to_peer=roles)
        world = decided(MdReviewDecision.P2P_REVIEW, rules, operations=held)
        (request,) = world.peer.of(CASE)
        world.peer.offer(request.id, AMD, SLOTS)
        uphold = PeerToPeerOutcome.UPHOLD_INTENDED_ADVERSE_DECISION
        world.peer.complete(world.peer.of(CASE)[0], uphold, AMD)
        world.determinations.finalize(CASE, DeterminationDecision.DENIED)
        world.appeals.file(CASE, "r")
        return world

    told = both(
        called,
        lambda w: w.appeals.assign_internal_appeal_reviewer(number(w), AMD),
        RefusalCode.NOT_INDEPENDENT,
    )
    assert "peer-to-peer" in told


def test_independence_is_what_the_records_say() -> None:
    world = appealed(Rules.COMPAT)
    assert world.appeals.validate_reviewer_independence(number(world))["independent"] is False
    world.appeals.assign_internal_appeal_reviewer(number(world), MD)
    assert world.appeals.validate_reviewer_independence(number(world))["independent"] is False
    world.appeals.assign_internal_appeal_reviewer(number(world), AMD)
    assert world.appeals.validate_reviewer_independence(number(world))["independent"] is True


def test_an_appeal_is_assigned_before_it_is_decided() -> None:
    both(appealed, decide, RefusalCode.WRONG_OWNER)


@pytest.mark.parametrize("outcome", [EXT_UPHELD, EXT_OVERTURNED])
def test_an_outcome_is_of_the_level_of_the_appeal(outcome: AppealOutcome) -> None:
    both(assigned, lambda w: decide(w, outcome), RefusalCode.BAD_ARGUMENT)


@pytest.mark.parametrize("outcome", [UPHELD, OVERTURNED])
def test_an_outcome_is_of_the_level_of_the_review(outcome: AppealOutcome) -> None:
    both(external, lambda w: record(w, outcome), RefusalCode.BAD_ARGUMENT)


@BOTH
def test_an_outcome_is_an_outcome(rules: Rules) -> None:
    world = assigned(rules)
    refused(world, RefusalCode.BAD_ARGUMENT, lambda: decide(world, "perhaps"))


def test_a_decision_on_an_appeal_has_a_reason() -> None:
    both(assigned, lambda w: decide(w, reason=" "), RefusalCode.MISSING_TEXT)
    both(external, lambda w: record(w, reason=""), RefusalCode.MISSING_TEXT)


@BOTH
def test_an_appeal_is_decided_once_and_at_its_desk(rules: Rules) -> None:
    world = upheld(rules)
    refused(world, RefusalCode.WRONG_STATE, lambda: decide(world))
    world = external(rules)
    refused(world, RefusalCode.WRONG_STATE, lambda: decide(world))
    world = assigned(rules)
    refused(world, RefusalCode.WRONG_STATE, lambda: record(world))


def test_an_external_review_names_coordinator_and_organization() -> None:
    def filed(rules: Rules) -> ManagedCareWorld:
        world = upheld(rules)
        world.appeals.file(CASE, "r", (), "external")
        return world

    both(
        filed,
        lambda w: w.appeals.assign_external_review(number(w), AMD, "Outside"),
        RefusalCode.ROLE_FORBIDDEN,
    )
    both(
        filed,
        lambda w: w.appeals.assign_external_review(number(w), EXT, " "),
        RefusalCode.MISSING_TEXT,
    )
    both(filed, record, RefusalCode.WRONG_OWNER)


def test_an_overturn_supersedes_the_denial_and_approves() -> None:
    for make, act in ((assigned, decide), (external, record)):
        world = make()
        act(world, OVERTURNED if act is decide else EXT_OVERTURNED)  # type: ignore[operator]
        first, second = world.determinations.of(CASE)
        assert first.superseded_by == number(world)
        assert (second.final_decision, second.source) == ("approved", "appeal_decision")
        assert world.cases.get(CASE).authorization_number
        letter = world.letters.generate(CASE, LetterType.APPROVAL, actor=NURSE)["letter"]
        world.letters.deliver(letter.id, SubmissionChannel.PORTAL)  # type: ignore[attr-defined]


def test_in_the_source_the_denial_outlives_its_overturn() -> None:
    world = assigned(Rules.COMPAT)
    decide(world, OVERTURNED)
    found = world.determinations.active(CASE)
    assert found is not None
    assert found.final_decision == "denied"
    assert world.cases.get(CASE).status is CaseStatus.APPEAL_OVERTURNED


@pytest.mark.parametrize("level", ["internal", "external"])
def test_an_appeal_that_nobody_decides_in_time_is_told_to_the_supervisor(level: str) -> None:
    world = external() if level == "external" else appealed()
    appeal = world.appeals.open(CASE)
    assert appeal is not None
    assert appeal.level == level
    until = deadlines.appeal_deadline(world, appeal)
    days = {"internal": 30, "external": 45}[level]
    assert until == appeal.filed_at + timedelta(days=days)
    assert _overdue(world, until - timedelta(minutes=1)) == 0
    assert _overdue(world, until) == 1


def test_a_decided_appeal_is_never_overdue() -> None:
    world = upheld()
    assert _overdue(world, world.clock.now + timedelta(days=90)) == 0


def test_no_appeal_is_watched_in_a_compatibility_world() -> None:
    names = {due.name for due in appealed(Rules.COMPAT).clock.agenda.entries()}
    assert deadlines.APPEAL_OVERDUE not in names


def test_an_assigned_reviewer_is_not_assigned_again_by_deciding() -> None:
    world = upheld()
    rows = [e for e in world.history.of(CASE) if e.action == "assign_internal_appeal_reviewer"]
    assert len(rows) == 1


def _overdue(world: ManagedCareWorld, until: datetime) -> int:
    """Let time pass; return how often somebody was told of an appeal that is overdue."""
    while (due := world.clock.agenda.first()) is not None and due.at <= until:
        world.clock.agenda.cancel(due.number)
        world.clock.advance(max(due.at - world.clock.now, timedelta(0)))
        if due.name == deadlines.APPEAL_OVERDUE:
            deadlines.on_due(world, due)
    return sum(entry.action == deadlines.APPEAL_OVERDUE for entry in world.history.entries)
