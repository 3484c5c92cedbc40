"""The work list at the beginning of a task: other patients' cases stand where they say they do."""

from __future__ import annotations

from datetime import timedelta

import pytest

from healthgym.envs.managed_care.cases.situations import Course
from healthgym.worlds.managed_care.service_levels import service_level
from healthgym.worlds.managed_care.vocabulary.authorization import CaseStatus, TriageUrgency
from healthgym.worlds.managed_care.world import ManagedCareWorld
from tests.envs.managed_care.prior_authorization.playing import Kind, solution, task

_INDICES = range(4)
_STAGES = {CaseStatus.SUBMITTED: "payer_intake"}


def _begun(index: int) -> ManagedCareWorld:
    return ManagedCareWorld(task(Kind(Course.APPROVED, difficulty="hard", index=index)).start)


@pytest.mark.parametrize("index", _INDICES)
def test_cases_of_others_show_the_stage_of_their_status(index: int) -> None:
    items = _begun(index).cases.list_cases()["items"]
    assert isinstance(items, tuple)
    assert items
    for row in items:
        assert row["stage"] == _STAGES.get(row["status"], "pre_submission")


@pytest.mark.parametrize("index", _INDICES)
def test_cases_of_others_are_due_by_the_law_of_their_state(index: int) -> None:
    world = _begun(index)
    for case in world.cases.cases.values():
        state = world.charts[case.patient_id].patient.address_state
        level = service_level(world.operations, TriageUrgency.ROUTINE, state)
        sent = case.status is CaseStatus.SUBMITTED
        since = case.updated_at if sent else world.clock.now
        assert case.decision_due_at == level.deadline(since) > world.clock.now
        assert case.created_at <= case.updated_at <= world.clock.now


@pytest.mark.parametrize("index", _INDICES)
def test_a_new_case_is_the_acting_coordinators_and_due_by_the_law_of_its_state(index: int) -> None:
    instance = task(Kind(Course.APPROVED, difficulty="hard", index=index))
    world = ManagedCareWorld(instance.start)
    opening = next(each for each in solution(instance) if each.name == "cases.create_from_order")
    order = world.charts[instance.reference.patient_id].orders[0]
    made = world.cases.create_from_order(
        **{**opening.arguments, "source_order_id": instance.reference.order_id}
    )
    case = world.cases.get("CASE-ACT-001")
    assert case.assigned_to == instance.start.actor
    state = world.charts[case.patient_id].patient.address_state
    expedited = case.urgency == "expedited"
    urgency = TriageUrgency.URGENT if expedited else TriageUrgency.ROUTINE
    hours = world.operations.hours(urgency, state)[0]
    assert case.decision_due_at == world.clock.now + timedelta(hours=hours)
    assert made["service_request"] == order
