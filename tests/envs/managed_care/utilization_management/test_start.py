"""The world that the agent finds: what came before is on record, by people in their hours."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from healthgym.core.seeding import Split
from healthgym.envs.managed_care.utilization_management.task import (
    PUBLISHED_STAGES,
    Path,
    ReviewInstance,
    StartStage,
)
from healthgym.worlds.managed_care.apps.payer.replies import replies
from healthgym.worlds.managed_care.calendar import office_calendar
from healthgym.worlds.managed_care.deferred import Deferred
from healthgym.worlds.managed_care.history import EntryKind
from healthgym.worlds.managed_care.staff import WorkerRole
from healthgym.worlds.managed_care.vocabulary.authorization import (
    CaseStatus,
    IntakeStatus,
    MdReviewDecision,
    NurseReviewRecommendation,
    PeerToPeerStatus,
    WorkflowStage,
)
from healthgym.worlds.managed_care.workflow import state_of
from healthgym.worlds.managed_care.world import ManagedCareWorld
from tests.envs.managed_care.utilization_management.drawing import canonical, drawn, generator

ORDER = PUBLISHED_STAGES
WHERE = {
    StartStage.INTAKE: (WorkflowStage.PAYER_INTAKE, "in_progress"),
    StartStage.TRIAGE: (WorkflowStage.PAYER_INTAKE, "triage"),
    StartStage.NURSE_REVIEW: (WorkflowStage.CLINICAL_REVIEW, "nurse_review"),
    StartStage.MD_REVIEW: (WorkflowStage.CLINICAL_REVIEW, "md_review"),
    StartStage.PEER_TO_PEER: (WorkflowStage.PEER_TO_PEER, "requested"),
}


def opened() -> list[tuple[ReviewInstance, ManagedCareWorld]]:
    return [(task, ManagedCareWorld(task.start)) for task in (*drawn(), *canonical())]


def test_a_case_lies_where_the_task_takes_it_over() -> None:
    for task, world in opened():
        state = state_of(world, task.reference.case_id)
        assert (state.workflow_stage, state.stage_detail) == WHERE[task.reference.stage]


def test_the_stages_before_are_on_record_and_no_others() -> None:
    for task, world in opened():
        wanted, case_id = task.reference, task.reference.case_id
        done = ORDER.index(wanted.stage)
        intake = world.intake.get(case_id)
        assert (intake.status is IntakeStatus.COMPLETE) is (done > 0)
        assert (world.triage.of(case_id) is not None) is (done > 1)
        assert (world.triage.routing_of(case_id) is not None) is (done > 1)
        reads = wanted.policy.nurse_may_approve
        advised = world.nursing.active(case_id)
        assert (advised is not None) is (done > 2 and reads)
        if advised is not None:
            assert advised.recommendation is NurseReviewRecommendation.ESCALATE
            assert world.nursing.reviews_of(case_id)
        meant = world.medical.active(case_id)
        assert (meant is not None) is (done > 3)
        if meant is not None:
            assert meant.decision is MdReviewDecision.P2P_REVIEW
            assert world.peer.of(case_id)[-1].status is PeerToPeerStatus.REQUESTED
        assert world.determinations.active(case_id) is None
        assert world.nursing.catalog(case_id)


def test_a_request_that_was_answered_is_on_record_with_its_letter() -> None:
    for task, world in opened():
        wanted, case_id = task.reference, task.reference.case_id
        letters = world.letters.of(case_id)
        if not wanted.answered:
            assert not letters
            continue
        assert wanted.path in (Path.UNINFORMED, Path.UPHELD, Path.OVERTURNED)
        assert [letter.letter_type for letter in letters] == ["pend"]
        assert letters[0].delivered_at is not None
        moves = [e.action for e in world.history.of(case_id, EntryKind.TRANSITION)]
        assert moves[-3:] == [
            CaseStatus.PENDED_ACTION_REQUIRED,
            CaseStatus.RESUBMITTED,
            CaseStatus.UNDER_REVIEW,
        ]
        (reply,) = replies(world, case_id)
        assert reply.text
        assert world.staff.role_of(reply.sent_by) is WorkerRole.PA_COORDINATOR
        came = [said.partition(" ")[0] for said in reply.new_documents]
        assert set(came) <= set(wanted.packet)


def test_what_was_done_was_done_before_in_order_by_people_who_were_in() -> None:
    for task, world in opened():
        at = None
        for entry in world.history.of(task.reference.case_id):
            assert entry.at <= task.start.now
            assert at is None or at <= entry.at
            at = entry.at
            worker = world.staff.workers.get(entry.actor)
            if worker is not None and worker.role is not WorkerRole.PA_COORDINATOR:
                assert office_calendar(worker.region, worker.hours).is_open(entry.at)


def test_every_part_was_taken_by_somebody_else_and_the_agent_has_none() -> None:
    for task, world in opened():
        case_id = task.reference.case_id
        nurses = {one.reviewer_id for one in world.nursing.of(case_id)}
        physicians = {one.reviewer_id for one in world.medical.of(case_id)}
        clerks = {e.actor for e in world.history.of(case_id, EntryKind.AUDIT)}
        assert len(nurses) <= 1
        assert len(physicians) <= 1
        assert not nurses & physicians
        assert task.start.actor not in nurses | physicians | clerks
        me = world.staff.workers[task.start.actor]
        assert office_calendar(me.region, me.hours).is_open(task.start.now)


def test_enough_of_the_limit_is_left() -> None:
    for task, world in opened():
        due = world.cases.get(task.reference.case_id).decision_due_at
        assert due - task.start.now > timedelta(hours=12), task.task.kind


def test_the_packet_is_what_the_payer_sees() -> None:
    for task, world in opened():
        wanted = task.reference
        seen = [page.id for page in world.intake.documents(wanted.case_id)]
        assert tuple(seen) == wanted.packet
        assert not set(seen) & set(wanted.reply)
        assert wanted.void <= set(seen)
        for names in wanted.bearing.values():
            assert names <= {*wanted.packet, *wanted.reply}
            assert not names & wanted.void


def test_a_reviewer_names_no_page_where_the_packet_is_silent() -> None:
    silent = 0
    for task, world in opened():
        case_id = task.reference.case_id
        reviews = (*world.nursing.reviews_of(case_id), *world.medical.reviews_of(case_id))
        for found in (one for each in reviews for one in each.criteria_evaluations):
            shown = any(item.observed_value is not None for item in found.item_observations)
            bearing = task.reference.bearing[found.criterion_id]
            assert bearing or not found.source_refs_used
            silent += not bearing and not shown
            if not bearing and not shown:
                assert found.notes.startswith("Not ")
    assert silent


@pytest.mark.parametrize("level", ["easy", "medium"])
def test_other_cases_lie_around_and_none_is_like_another(level: str) -> None:
    for task in drawn(level)[:40]:
        world = ManagedCareWorld(task.start)
        cases = world.cases.cases
        assert len(cases) == {"easy": 5, "medium": 25}[level]
        assert len({case.service_request_id for case in cases.values()}) == len(cases)
        for case in cases.values():
            assert case.created_at <= task.start.now
            order = world.cases.order(case.service_request_id)
            assert order.requested_date <= case.created_at
            assert world.intake.get(case.id).received_at <= task.start.now
            triage = world.triage.of(case.id)
            if triage is not None:
                assert triage.created_at <= task.start.now
                worker = world.staff.workers[triage.actor]
                calendar = office_calendar(worker.region, worker.hours)
                assert calendar.is_open(triage.created_at)
            state_of(world, case.id)


def _written(record: Deferred) -> bool:
    """Return whether a late field has been made; asked past what makes it."""
    try:
        object.__getattribute__(record, record.late[0])
    except AttributeError:
        return False
    return True


def test_records_of_other_cases_are_written_when_they_are_read() -> None:
    made = generator()
    for index in range(4):
        task = made.draw(Split.TRAIN, index)  # nobody has read anything of it
        world = ManagedCareWorld(task.start)
        late = [record for record in task.start.records if isinstance(record, Deferred)]
        others = [record for record in late if record.plain.__name__ == "SubmissionPacket"]
        assert others
        assert not any(map(_written, others))
        read = world.clone().authorizations.packet(others[0].case_id)
        assert read is others[0]
        assert read.attached_document_ids == replace(read).attached_document_ids
        assert [_written(record) for record in others] == [True] + [False] * (len(others) - 1)


def test_a_world_is_the_same_whether_they_are_written_or_not() -> None:
    for task, world in opened()[:6]:
        plain = tuple(replace(record) for record in task.start.records)
        assert not any(isinstance(record, Deferred) for record in plain)
        other = ManagedCareWorld(replace(task.start, records=plain))
        assert other.digest() == world.clone().digest() == world.digest()
        assert replace(task.start, records=plain).content_hash() == task.start.content_hash()
