"""What falls due at the payer's desks, and what follows when it does.

Watched is for each request that is handed in that intake is finished within its window of business
hours, that what waits at a front door is taken in within the hours of that door, and that the
request is decided within its limit, and an appeal within the days of its level. A missed window or
limit is told to the supervisor; where the law of the state says what a missed limit amounts to,
that decision is made. While the provider is asked for something, the limit stands still; a request
that ends with its intake has none.

Nothing is watched in a compatibility world: the source's clock does not move.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from functools import cache, partial
from typing import TYPE_CHECKING

from healthgym.core.clock import Due
from healthgym.worlds.managed_care import duty
from healthgym.worlds.managed_care.apps.payer.intake_rules import WITH_PAYER
from healthgym.worlds.managed_care.calendar import office_calendar
from healthgym.worlds.managed_care.covering import ends_with_intake
from healthgym.worlds.managed_care.deemed import deem
from healthgym.worlds.managed_care.history import Entry, EntryKind
from healthgym.worlds.managed_care.records.decision import Appeal
from healthgym.worlds.managed_care.records.doors import Arrival
from healthgym.worlds.managed_care.records.intake import IntakeCase
from healthgym.worlds.managed_care.records.review import TriageRecord
from healthgym.worlds.managed_care.service_levels import (
    ServiceLevel,
    deemed_rule,
    intake_window,
    service_level,
    triage_urgency,
)
from healthgym.worlds.managed_care.vocabulary.authorization import (
    CaseStatus,
    IntakeStatus,
    MessageBox,
    MessageKind,
    SubmissionChannel,
    TriageUrgency,
    Urgency,
)

if TYPE_CHECKING:
    from healthgym.worlds.managed_care.world import ManagedCareWorld

#: What this module puts on the agenda.
INTAKE_OVERDUE = "intake_overdue"
DECISION_OVERDUE = "decision_overdue"
DOOR_OVERDUE = "door_overdue"
APPEAL_OVERDUE = "appeal_overdue"
NAMES = frozenset({INTAKE_OVERDUE, DECISION_OVERDUE, DOOR_OVERDUE, APPEAL_OVERDUE})

_PENDED = CaseStatus.PENDED_ACTION_REQUIRED
_WATCHED = frozenset((*WITH_PAYER, _PENDED))


def watch(world: ManagedCareWorld, case_id: str) -> None:
    """Watch intake and decision of a case from now on; earlier watches of it end."""
    moves = world.history.of(case_id, EntryKind.TRANSITION)
    intake, triage = world.intake.get(case_id), world.triage.of(case_id)
    for name, at in _limits(world, intake, triage, moves, _levels(world)):
        _put(world, name, case_id, at)


#: What tells how long deciding may take, by urgency and state.
_Levels = Callable[[TriageUrgency, str | None], ServiceLevel]


def _levels(world: ManagedCareWorld) -> _Levels:
    return partial(service_level, world.operations)


def _limits(
    world: ManagedCareWorld,
    intake: IntakeCase,
    triage: TriageRecord | None,
    moves: Sequence[Entry],
    levels: _Levels,
) -> Iterator[tuple[str, datetime]]:
    """Yield what is watched of a case, and until when it is to be done.

    Args:
        world: The world.
        intake: The case's intake record.
        triage: Its triage record; None if nobody has triaged it.
        moves: What was noted when its status changed, oldest first.
        levels: How long deciding may take.
    """
    if intake.status is not IntakeStatus.COMPLETE:
        yield INTAKE_OVERDUE, _intake_limit(intake, moves)
    yield DECISION_OVERDUE, _decision_limit(world, intake, triage, moves, levels)


def watch_decision(world: ManagedCareWorld, case_id: str) -> None:
    """Watch the decision of a case; an earlier watch of it ends."""
    _put(world, DECISION_OVERDUE, case_id, decision_deadline(world, case_id))


def watch_door(world: ManagedCareWorld, arrival: Arrival) -> None:
    """Watch that what came in at a front door is taken in."""
    _put(world, DOOR_OVERDUE, arrival.case_id, door_deadline(world, arrival))


def door_deadline(world: ManagedCareWorld, arrival: Arrival) -> datetime:
    """Return until when a door is to have done its work: business hours, of EDI calendar time."""
    rules, at = world.operations, arrival.received_at
    if arrival.channel is SubmissionChannel.EDI:
        return at + timedelta(hours=rules.edi_acknowledge_hours)
    fax = arrival.channel is SubmissionChannel.FAX
    hours = rules.fax_index_workhours if fax else rules.phone_note_workhours
    calendar = office_calendar(world.intake.member_state(arrival.case_id) or "")
    return calendar.add_business_hours(at, timedelta(hours=hours))


def watch_appeal(world: ManagedCareWorld, appeal: Appeal) -> None:
    """Watch that an appeal is decided in time."""
    _put(world, APPEAL_OVERDUE, appeal.case_id, appeal_deadline(world, appeal))


def appeal_deadline(world: ManagedCareWorld, appeal: Appeal) -> datetime:
    """Return until when an appeal is to be decided, by its level and the urgency of its case."""
    rules, external = world.operations, appeal.level == "external"
    if world.cases.get(appeal.case_id).urgency is Urgency.EXPEDITED:
        hours = rules.external_expedited_hours if external else rules.appeal_expedited_hours
        return appeal.filed_at + timedelta(hours=hours)
    days = rules.external_decision_days if external else rules.appeal_decision_days
    return appeal.filed_at + timedelta(days=days)


def receipt_deadline(world: ManagedCareWorld, appeal: Appeal) -> datetime:
    """Return until when an appeal is to be acknowledged: business days of the member's state."""
    calendar = office_calendar(world.intake.member_state(appeal.case_id) or "")
    days = world.operations.appeal_acknowledge_workdays
    return calendar.add_business_days(appeal.filed_at, days)


def watch_all(world: ManagedCareWorld) -> None:
    """Watch every undecided case and appeal of which there is one; for the beginning of a world."""
    # All at once, since the agenda is gone through for whatever is put on it.
    limits: dict[tuple[str, str], datetime] = {}
    triages = {triage.case_id: triage for triage in world.triage.triages.values()}
    moves: dict[str, list[Entry]] = {}
    for entry in world.history.entries:
        if entry.kind is EntryKind.TRANSITION:
            moves.setdefault(entry.case_id, []).append(entry)
    intakes: dict[str, IntakeCase] = {}
    levels = cache(_levels(world))  # of few states
    for intake in world.intake.intakes.values():
        intakes.setdefault(intake.case_id, intake)
    for case_id, intake in intakes.items():
        if world.cases.get(case_id).status in _WATCHED:
            watched = _limits(world, intake, triages.get(case_id), moves.get(case_id, ()), levels)
            limits |= {(name, case_id): at for name, at in watched}
    for arrival in world.doors.arrivals.values():
        if arrival.taken_in_at is None:
            limits[DOOR_OVERDUE, arrival.case_id] = door_deadline(world, arrival)
    for appeal in world.appeals.appeals.values():
        if appeal.outcome is None:
            limits[APPEAL_OVERDUE, appeal.case_id] = appeal_deadline(world, appeal)
    agenda = world.clock.agenda
    for due in agenda.entries():
        if (due.name, str(due.facts.get("case_id"))) in limits:
            agenda.cancel(due.number)
    agenda.put_all((at, name, {"case_id": case_id}) for (name, case_id), at in limits.items())


def intake_deadline(world: ManagedCareWorld, case_id: str) -> datetime:
    """Return until when intake is to be finished, counted from when it was last handed in."""
    moves = world.history.of(case_id, EntryKind.TRANSITION)
    return _intake_limit(world.intake.get(case_id), moves)


def _intake_limit(intake: IntakeCase, moves: Sequence[Entry]) -> datetime:
    again = [entry.at for entry in moves if entry.action == CaseStatus.RESUBMITTED]
    since = max([intake.received_at, *again])
    window = intake_window(triage_urgency(intake.level_of_urgency))
    return office_calendar(intake.state or "").add_business_hours(since, window)


def decision_deadline(world: ManagedCareWorld, case_id: str) -> datetime:
    """Return until when a case is to be decided: its limit, and the time it was pended."""
    moves = world.history.of(case_id, EntryKind.TRANSITION)
    intake, triage = world.intake.get(case_id), world.triage.of(case_id)
    return _decision_limit(world, intake, triage, moves, _levels(world))


def _decision_limit(
    world: ManagedCareWorld,
    intake: IntakeCase,
    triage: TriageRecord | None,
    moves: Sequence[Entry],
    levels: _Levels,
) -> datetime:
    if triage is not None and triage.sla_deadline is not None:
        limit = triage.sla_deadline
    else:
        state = intake.state or world.intake.member_state(intake.case_id)
        level = levels(triage_urgency(intake.level_of_urgency), state)
        limit = level.deadline(intake.received_at)
    return limit + _pended(moves)


def pended_for(world: ManagedCareWorld, case_id: str) -> timedelta:
    """Return for how long a case has waited for the provider, a pend that is open left out."""
    return _pended(world.history.of(case_id, EntryKind.TRANSITION))


def _pended(moves: Iterable[Entry]) -> timedelta:
    total, since = timedelta(0), None
    for entry in moves:
        if entry.action == _PENDED:
            since = entry.at
        elif since is not None:
            total += entry.at - since
            since = None
    return total


def on_due(world: ManagedCareWorld, due: Due) -> None:
    """Carry out what has fallen due.

    Args:
        world: The world.
        due: An entry of the agenda whose name is one of :data:`NAMES`.
    """
    case_id = str(due.facts["case_id"])
    if due.name == INTAKE_OVERDUE:
        _intake_overdue(world, case_id)
    elif due.name == DOOR_OVERDUE:
        _door_overdue(world, case_id)
    elif due.name == APPEAL_OVERDUE:
        _appeal_overdue(world, case_id)
    else:
        _decision_overdue(world, case_id)


def _intake_overdue(world: ManagedCareWorld, case_id: str) -> None:
    intake = world.intake.find(case_id)
    waiting = world.cases.get(case_id).status in WITH_PAYER
    if intake is None or not waiting or intake.status is IntakeStatus.COMPLETE:
        return
    _escalate(
        world,
        INTAKE_OVERDUE,
        case_id,
        f"Intake of {case_id} is overdue",
        f"The request came in on {intake.received_at:%Y-%m-%d %H:%M} UTC and its intake is "
        f"still {str(intake.status).replace('_', ' ')}. Please see to it.",
    )


def _door_overdue(world: ManagedCareWorld, case_id: str) -> None:
    arrival = world.doors.waiting(case_id)
    if arrival is None or world.cases.get(case_id).status not in WITH_PAYER:
        return
    _escalate(
        world,
        DOOR_OVERDUE,
        case_id,
        f"{arrival.id} waits too long",
        f"It came in by {arrival.channel} on {arrival.received_at:%Y-%m-%d %H:%M} UTC, and nobody "
        "has taken it in.",
    )


def _decision_overdue(world: ManagedCareWorld, case_id: str) -> None:
    intake = world.intake.find(case_id)
    if intake is None or world.cases.get(case_id).status not in WITH_PAYER:
        return  # decided; or pended, and then a reply starts the watch again
    if ends_with_intake(world, case_id):
        return  # there is nothing to decide
    limit = decision_deadline(world, case_id)
    if limit > world.clock.now:
        _put(world, DECISION_OVERDUE, case_id, limit)
        return
    rule = deemed_rule(intake.state or world.intake.member_state(case_id), intake.auth_type)
    follows = f" By law it counts as {rule.decision} ({rule.rule})." if rule else ""
    _escalate(
        world,
        DECISION_OVERDUE,
        case_id,
        f"The decision on {case_id} is overdue",
        f"It was due on {limit:%Y-%m-%d %H:%M} UTC, and the case is "
        f"{str(world.cases.get(case_id).status).replace('_', ' ')}.{follows}",
    )
    if rule is not None:
        deem(world, case_id, rule)


def _appeal_overdue(world: ManagedCareWorld, case_id: str) -> None:
    appeal = world.appeals.open(case_id)
    if appeal is None:
        return
    limit = appeal_deadline(world, appeal)
    if limit > world.clock.now:  # the watch was for the level before
        _put(world, APPEAL_OVERDUE, case_id, limit)
        return
    _escalate(
        world,
        APPEAL_OVERDUE,
        case_id,
        f"The {appeal.level} appeal of {case_id} is overdue",
        f"It was filed on {appeal.filed_at:%Y-%m-%d %H:%M} UTC and was to be decided by "
        f"{limit:%Y-%m-%d %H:%M} UTC. Please see to it.",
    )


def _escalate(world: ManagedCareWorld, name: str, case_id: str, subject: str, body: str) -> None:
    """Tell the supervisor, and note that it fell due."""
    told = duty.supervisor(world) or "supervisor"
    world.history.happened(name, case_id, told=told)
    world.inbox.post(
        str(MessageKind.INTERNAL_NOTE),
        str(MessageBox.INTERNAL),
        case_id,
        subject,
        f"To {told}: {body}",
        action_required=True,
    )


def _put(world: ManagedCareWorld, name: str, case_id: str, at: datetime) -> None:
    agenda = world.clock.agenda
    for due in [each for each in agenda.entries() if each.name == name]:
        if due.facts.get("case_id") == case_id:
            agenda.cancel(due.number)
    agenda.put(at, name, case_id=case_id)
