"""Open cases of other members, in various stages: what else lies on the payer's desks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, time, timedelta

import numpy as np

from healthgym.core.records import replace
from healthgym.envs.managed_care.cases.clinic import REGION
from healthgym.envs.managed_care.utilization_management.chain import in_first
from healthgym.envs.managed_care.utilization_management.task import StartStage
from healthgym.envs.managed_care.utilization_management.unopened import OpenCase
from healthgym.worlds.managed_care.calendar import office_calendar
from healthgym.worlds.managed_care.charts.chart import PatientChart
from healthgym.worlds.managed_care.service_levels import ServiceLevel, service_level
from healthgym.worlds.managed_care.staff import WorkerRole
from healthgym.worlds.managed_care.vocabulary.authorization import (
    SubmissionChannel,
    TriageUrgency,
)
from healthgym.worlds.managed_care.world import ManagedCareWorld

#: Stages in which other cases lie, and how long ago each was handed in: minutes, at least and most.
_STAGES = {
    StartStage.FRONT_DOOR: (1, 45),
    StartStage.INTAKE: (20, 150),
    StartStage.TRIAGE: (90, 300),
    StartStage.NURSE_REVIEW: (120, 480),
    StartStage.MD_REVIEW: (240, 600),
}
_LYING = tuple(stage for stage in _STAGES if stage is not StartStage.FRONT_DOOR)
#: What the ids of the records begin with that there are of a case at a stage.
_SENT = ("intake-", "SUB-")
_SORTED = (*_SENT, "TRG-", "RTE-", "RTASK-")
_IDS = {
    StartStage.FRONT_DOOR: _SENT,
    StartStage.INTAKE: _SENT,
    StartStage.TRIAGE: _SENT,
    StartStage.NURSE_REVIEW: _SORTED,
    StartStage.MD_REVIEW: (*_SORTED, "NCR-"),
}
_NOON, _DAY = time(12), timedelta(days=1)
#: An order is handed in so long after it was made at least, week-ends within.
_SETTLED = timedelta(days=4)


def open_cases(
    world: ManagedCareWorld,
    others: Sequence[PatientChart],
    case_ids: Sequence[str],
    rng: np.random.Generator,
    door: SubmissionChannel | None = None,
) -> Iterator[object]:
    """Yield the records of other members' open cases; each is about another order.

    Args:
        world: The world at the time at which the agent begins.
        others: The members' charts.
        case_ids: Ids of the cases.
        rng: Where stages and times come from.
        door: A front door at which some of them wait; None for none.
    """
    now = world.clock.now
    orders = [
        (chart, order)
        for chart in others
        for order in chart.orders
        if order.requested_date <= now - _SETTLED
    ]
    places = rng.permutation(len(orders))
    clerk, nurse = (
        in_first(world, [p for p in world.staff.with_role(role) if _here(world, p)], rng)[0]
        for role in (WorkerRole.INTAKE_COORDINATOR, WorkerRole.UM_NURSE)
    )
    stages: list[StartStage] = []
    where = _LYING if door is None else (StartStage.FRONT_DOOR, *_LYING)
    times: list[datetime] = []
    lying = tuple(zip(places.tolist(), case_ids, strict=False))
    for _ in lying:
        stages.append(where[int(rng.integers(len(where)))])
        times.append(now - timedelta(minutes=int(rng.integers(*_STAGES[stages[-1]]))))
    ids, levels = _ids(world, stages), dict[str, ServiceLevel]()
    for (place, case_id), stage, at in zip(lying, stages, _handed_in(now, times), strict=True):
        chart, order = orders[place]
        state = chart.patient.address_state
        if state not in levels:
            levels[state] = service_level(world.operations, TriageUrgency.ROUTINE, state)
        case = OpenCase(
            chart=chart,
            order=order,
            case_id=case_id,
            stage=stage,
            at=at,
            level=levels[state],
            clerk=clerk,
            nurse=nurse,
            ids={prefix: next(ids[prefix]) for prefix in _IDS[stage]},
        )
        if door is not None and stage is StartStage.FRONT_DOOR:
            case = replace(case, channel=door)
            yield case.arrival(world)
        yield from case.records()


def _ids(world: ManagedCareWorld, stages: Sequence[StartStage]) -> Mapping[str, Iterator[str]]:
    """Return the ids that records of cases at some stages get, by what they begin with."""
    counted = Counter(prefix for stage in stages for prefix in _IDS[stage])
    return {prefix: iter(world.nursing.draw_ids(prefix, n)) for prefix, n in counted.items()}


def _here(world: ManagedCareWorld, person: str) -> bool:
    return world.staff.workers[person].region == REGION


def _handed_in(now: datetime, times: Sequence[datetime]) -> Iterator[datetime]:
    """Yield times, in place of one at which the office was closed one about noon the day before.

    That is the last business day. What was done on the case since falls into the office's hours,
    too.
    """
    calendar = office_calendar(REGION)
    noon: datetime | None = None
    for at in times:
        if calendar.is_open(at):
            yield at
            continue
        if noon is None:
            day = calendar.local(now).date() - _DAY
            while not calendar.is_business_day(day):
                day -= _DAY
            noon = calendar.utc(day, _NOON)
        yield noon + timedelta(minutes=at.minute)
