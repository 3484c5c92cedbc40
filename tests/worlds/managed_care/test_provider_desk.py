"""The provider's staff where nobody plays them: answers, silence, times for calls, appeals."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from typing import cast

import pytest

from healthgym.worlds.managed_care.apps.payer.replies import ProviderReply
from healthgym.worlds.managed_care.contracts import PeerContract
from healthgym.worlds.managed_care.dates import moment
from healthgym.worlds.managed_care.history import EntryKind
from healthgym.worlds.managed_care.provider_desk import STEP
from healthgym.worlds.managed_care.provider_plan import PendAnswer, ProviderPlan
from healthgym.worlds.managed_care.vocabulary.authorization import (
    CaseStatus,
    CriterionResult,
    DeterminationDecision,
    IntakeStatus,
    LetterType,
    MdReviewDecision,
    NurseReviewRecommendation,
    SlotRule,
    SubmissionChannel,
    TaskActor,
)
from healthgym.worlds.managed_care.world import ManagedCareWorld
from tests.worlds.managed_care.apps.payer.review_desk import (
    CASE,
    CLERK,
    MD_2,
    NURSE,
    SLOTS,
    decide,
    desk,
    find_as_nurse,
)

DOCUMENT = "DOC-2"
WORDS = "The report is attached."
CALLER = PeerContract(side=TaskActor.PAYER)


def working(plan: ProviderPlan, contract: PeerContract | None = None) -> ManagedCareWorld:
    """Return a world with a case in review, whose provider works by a plan."""
    made = desk(contract=contract)
    return ManagedCareWorld(replace(made.start, provider_desk=plan))


def run_until(world: ManagedCareWorld, days: float) -> None:
    """Let everything happen that falls due within so many days."""
    end = world.clock.now + timedelta(days=days)
    while (due := world.clock.agenda.first()) is not None and due.at <= end:
        world.clock.agenda.cancel(due.number)
        world.clock.advance(max(due.at - world.clock.now, timedelta(0)))
        world.happen(due)
    world.clock.advance(end - world.clock.now)


def pend(world: ManagedCareWorld) -> None:
    find_as_nurse(world)
    world.nursing.submit(
        CASE,
        NurseReviewRecommendation.REQUEST_INFO,
        clinical_notes="Open.",
        info_requested="Report of the echocardiogram",
        reviewer_id=NURSE,
    )


def answering(*answers: PendAnswer) -> ManagedCareWorld:
    world = working(ProviderPlan(answers={CASE: answers}))
    pend(world)
    return world


def status(world: ManagedCareWorld) -> str:
    return str(world.cases.get(CASE).status)


def told(world: ManagedCareWorld) -> list[str]:
    return [notice.text for notice in world.notices if notice.role == "agent"]


def attached(world: ManagedCareWorld) -> tuple[str, ...]:
    packet = world.authorizations.packet(CASE)
    return packet.attached_document_ids if packet else ()


# -- requests for information -------------------------------------------------------------------


def test_a_document_is_sent_in_office_hours_and_the_payer_is_told() -> None:
    world = answering(PendAnswer(documents=(DOCUMENT,), sentence=WORDS, hours=4))
    asked = world.clock.now
    run_until(world, 4)
    assert status(world) == "resubmitted"
    (line,) = told(world)
    assert CASE in line
    assert DOCUMENT in line
    (answer,) = [
        entry
        for entry in world.history.of(CASE, EntryKind.STAGE)
        if entry.details.get("note") == WORDS
    ]
    assert answer.at >= asked + timedelta(hours=4)
    assert answer.actor == "C-PA"
    assert world.actor != "C-PA"


@pytest.mark.parametrize("documents", [(DOCUMENT,), ()], ids=["with a document", "words alone"])
def test_who_reviews_reads_the_reply_where_the_case_is_read(documents: tuple[str, ...]) -> None:
    world = answering(PendAnswer(documents=documents, sentence=WORDS, hours=4))
    readings = (world.nursing.data, world.medical.data, world.intake.show)
    for read in readings:
        assert read(CASE)["provider_replies"] == ()
    run_until(world, 4)
    assert WORDS in told(world)[0]
    for read in readings:
        (reply,) = cast("tuple[ProviderReply, ...]", read(CASE)["provider_replies"])
        assert (reply.text, reply.sent_by) == (WORDS, "C-PA")
        assert len(reply.new_documents) == len(documents)
        assert all(name in said for name, said in zip(documents, reply.new_documents, strict=True))
        assert reply.received_at < world.clock.now


def test_that_there_is_none_is_an_answer_too() -> None:
    world = answering(PendAnswer(sentence="We have no such report."))
    run_until(world, 4)
    assert status(world) == "resubmitted"
    assert "no document" in told(world)[0]
    assert DOCUMENT not in attached(world)


@pytest.mark.parametrize(
    "answers", [(PendAnswer(silent=True),), ()], ids=["silent", "not in the plan"]
)
def test_silence_lets_the_pend_lapse(answers: tuple[PendAnswer, ...]) -> None:
    world = answering(*answers)
    days = world.operations.pend_days
    run_until(world, days - 1.5)
    assert status(world) == "pended_action_required"
    run_until(world, 2)
    assert status(world) == "closed"
    assert len(told(world)) == 1


def test_an_answer_comes_before_the_lapse_though_the_week_ends() -> None:
    world = working(ProviderPlan(answers={CASE: (PendAnswer(sentence=WORDS, hours=9),)}))
    world.clock.advance(timedelta(hours=12))  # Friday, late in the day
    pend(world)
    due = world.cases.get(CASE).pend_due_at
    run_until(world, 4)
    assert status(world) == "resubmitted"
    (moved,) = [
        entry
        for entry in world.history.of(CASE, EntryKind.TRANSITION)
        if entry.action == "resubmitted"
    ]
    assert due is not None
    assert moved.at < due


def test_a_second_question_gets_the_second_answer() -> None:
    world = answering(PendAnswer(sentence="Not yet."), PendAnswer(silent=True))
    run_until(world, 4)
    assert status(world) == "resubmitted"
    intake = world.intake.get(CASE)
    world.intake.intakes[intake.id] = replace(intake, status=IntakeStatus.COMPLETE)
    world.cases.move(CASE, CaseStatus.UNDER_REVIEW)
    pend(world)
    run_until(world, world.operations.pend_days - 0.1)
    assert status(world) == "pended_action_required"


def test_a_decision_before_the_answer_leaves_nothing_to_answer() -> None:
    world = answering(PendAnswer(sentence="Late."))
    case = world.cases.get(CASE)
    world.cases.put(replace(case, status=CaseStatus.CLOSED))
    run_until(world, 4)
    assert status(world) == "closed"
    assert told(world) == []


def test_a_pend_that_is_open_at_the_beginning_is_answered() -> None:
    made = desk(status="pended_action_required")
    plan = ProviderPlan(answers={CASE: (PendAnswer(sentence="There is none."),)})
    world = ManagedCareWorld(replace(made.start, provider_desk=plan))
    run_until(world, 4)
    assert status(world) == "resubmitted"


def test_a_document_of_somebody_else_is_never_sent() -> None:
    world = answering(PendAnswer(documents=("DOC-999",)))
    with pytest.raises(Exception, match="DOC-999"):
        run_until(world, 4)


# -- calls --------------------------------------------------------------------------------------


def offered(
    contract: PeerContract = CALLER, rule: SlotRule | None = None
) -> tuple[ManagedCareWorld, str]:
    plan = ProviderPlan(slot_rules={CASE: rule} if rule else {}, slot_hours=2)
    world = working(plan, contract)
    find_as_nurse(world, CriterionResult.NOT_MET)
    escalate = NurseReviewRecommendation.ESCALATE
    world.nursing.submit(CASE, escalate, clinical_notes="C-2.", reviewer_id=NURSE)
    decide(world, MdReviewDecision.P2P_REVIEW)
    request = world.peer.of(CASE)[0].id
    view = world.peer.offer(request, MD_2, SLOTS)
    assert "provider_reply" not in view
    return world, request


@pytest.mark.parametrize(
    ("rule", "place"),
    [(SlotRule.FIRST_OFFERED, 0), (SlotRule.MIDDLE_OFFERED, 1), (SlotRule.LAST_OFFERED, 2)],
)
def test_a_time_is_taken_by_the_rule_of_the_plan(rule: SlotRule, place: int) -> None:
    world, request = offered(rule=rule)
    assert world.peer.requests[request].status == "slots_offered"
    run_until(world, 0.7)
    taken = world.peer.requests[request]
    assert (taken.status, taken.provider_selected_slot) == ("slot_selected", SLOTS[place])
    assert SLOTS[place] in told(world)[-1]


def test_what_is_no_time_is_not_taken() -> None:
    world, request = offered(rule=SlotRule.FIRST_OFFERED)
    odd = ("Friday", "9999-12-31T23:59:59-12:00", "0001-01-01T00:00:00+14:00", SLOTS[1])
    world.peer.requests[request] = replace(world.peer.requests[request], offered_slots=odd)
    run_until(world, 0.7)
    assert world.peer.requests[request].provider_selected_slot == SLOTS[1]


def test_other_times_are_asked_for_and_then_taken() -> None:
    later = "2026-03-17T16:30:00"
    world, request = offered(replace(CALLER, offered_slots=(later,)))
    run_until(world, 0.7)
    assert world.peer.requests[request].status == "slots_offered"
    assert later in told(world)[-1]
    world.peer.offer(request, MD_2, (*SLOTS[:2], later))
    run_until(world, 2.7)
    assert world.peer.requests[request].provider_selected_slot == later


def test_no_time_that_has_passed_is_taken() -> None:
    world, request = offered()
    world.clock.advance(moment(SLOTS[0], "slot") - world.clock.now + timedelta(minutes=1))
    run_until(world, 0.01)
    assert world.peer.requests[request].provider_selected_slot == SLOTS[1]


def test_the_clinician_is_on_the_line_at_the_time_of_the_call() -> None:
    world, request = offered()
    run_until(world, 0.7)
    world.peer.schedule(request, MD_2)
    before = len(told(world))
    run_until(world, 4)
    (line,) = told(world)[before:]
    assert request in line
    (notice,) = [one for one in world.notices if one.text == line]
    assert notice.at == datetime.fromisoformat(f"{SLOTS[0]}+00:00")


# -- denials ------------------------------------------------------------------------------------


@pytest.mark.parametrize("named", [True, False])
def test_a_denial_is_appealed_where_the_plan_says_so(named: bool) -> None:
    plan = ProviderPlan(appeals=frozenset({CASE} if named else ()))
    world = working(plan)
    find_as_nurse(world, CriterionResult.NOT_MET)
    escalate = NurseReviewRecommendation.ESCALATE
    world.nursing.submit(CASE, escalate, clinical_notes="C-2.", reviewer_id=NURSE)
    decide(world, MdReviewDecision.DENY)
    world.determinations.finalize(CASE, DeterminationDecision.DENIED)
    run_until(world, 0.01)
    assert world.appeals.of(CASE) == ()
    basis = "C-2 is not met."
    world.letters.generate(CASE, LetterType.DENIAL, actor=CLERK, supporting_basis=basis)
    world.letters.deliver(world.letters.of(CASE)[-1].id, SubmissionChannel.PORTAL, CLERK)
    run_until(world, 8)
    assert (status(world) == "appealed") is named
    assert (len(world.appeals.of(CASE)) == 1) is named


def test_where_somebody_plays_the_provider_nothing_is_put_down() -> None:
    world = desk()
    pend(world)
    assert not [due for due in world.clock.agenda.entries() if due.name == STEP]
