"""Deadlines of a case: stamped when its status changes, and carried out when they fall due.

How long things take is the operation's (``world.operations``; by default as in the source). The
source stamps only some deadlines and carries out none; a strict world stamps all, and lets a pend
lapse.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime, timedelta
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

from healthgym.core.records import replace
from healthgym.worlds.managed_care.history import EntryKind
from healthgym.worlds.managed_care.records.decision import Letter
from healthgym.worlds.managed_care.service_levels import service_level
from healthgym.worlds.managed_care.vocabulary.authorization import (
    CaseStatus,
    LetterType,
    MessageBox,
    MessageKind,
    TriageUrgency,
    Urgency,
)

if TYPE_CHECKING:
    from healthgym.core.clock import Due
    from healthgym.worlds.managed_care.records.case import PriorAuthCase
    from healthgym.worlds.managed_care.world import ManagedCareWorld

#: Names on the agenda.
PEND_LAPSES, AUTHORIZATION_EXPIRES = "pend_lapses", "authorization_expires"
NAMES = frozenset({PEND_LAPSES, AUTHORIZATION_EXPIRES})

#: What gives an authorization that ends.
GRANTED = frozenset(
    {
        CaseStatus.APPROVED,
        CaseStatus.APPEAL_OVERTURNED,
        CaseStatus.EXTERNAL_APPEAL_OVERTURNED,
    }
)
#: What grants a part; the source stamps no end of it.
_GRANTED_IN_PART = CaseStatus.PARTIALLY_APPROVED
#: What can be appealed, internally or externally.
APPEALABLE = frozenset({CaseStatus.DENIED, CaseStatus.APPEAL_UPHELD})
#: Time for a decision in the source, counted from the opening of the case (``case_timers``).
_SOURCE = {Urgency.STANDARD: timedelta(days=7), Urgency.EXPEDITED: timedelta(hours=72)}
#: What a provider's word for urgency is in triage's.
_TRIAGE = {
    Urgency.STANDARD: TriageUrgency.ROUTINE,
    Urgency.EXPEDITED: TriageUrgency.URGENT,
}
#: Who carries out what falls due.
_CALENDAR = "calendar"


def stamped(world: ManagedCareWorld, case: PriorAuthCase, strict: bool) -> PriorAuthCase:
    """Return a case with the deadlines that its new status starts.

    Args:
        world: The world; a strict one also puts them on its agenda.
        case: The case, in its new status.
        strict: Whether every denial can be appealed for a time only, every pend lapses, and an
            approval in part ends like any other.
    """
    granted = case.status in GRANTED or (strict and case.status is _GRANTED_IN_PART)
    if granted:
        case = replace(case, expires_at=_in_days(world, world.operations.authorization_days))
    if not strict:
        return case
    case = replace(case, decision_due_at=_decision_due(world, case))
    agenda = world.clock.agenda
    if granted and case.expires_at is not None:
        agenda.put(case.expires_at, AUTHORIZATION_EXPIRES, case_id=case.id)
    if case.status is CaseStatus.PENDED_ACTION_REQUIRED:
        due = pend_due(world)
        case = replace(case, pend_due_at=due)
        agenda.put(due - _notice(world), PEND_LAPSES, case_id=case.id, notice=True)
        agenda.put(due, PEND_LAPSES, case_id=case.id, notice=False)
    if case.status in APPEALABLE:
        case = replace(case, appeal_due_at=appeal_due(world, case.status))
    return case


def decision_due(
    world: ManagedCareWorld, urgency: Urgency, patient_id: str, strict: bool
) -> datetime:
    """Return until when the payer is to decide what it receives now.

    The source counts seven days, or 72 hours; a strict world has the limit of the rules, where the
    stricter of the federal one and that of the member's state holds.

    Args:
        world: The world.
        urgency: Of the request.
        patient_id: Who the member is.
        strict: Which of the two is meant.
    """
    if not strict:
        return world.clock.now + _SOURCE[urgency]
    chart = world.charts.get(patient_id)
    state = chart.patient.address_state if chart else None
    level = service_level(world.operations, _TRIAGE[urgency], state)
    return level.deadline(world.clock.now)


def _decision_due(world: ManagedCareWorld, case: PriorAuthCase) -> datetime:
    """Return the day of the decision as a new status leaves it: hand-in starts the limit.

    While the provider was asked for something, it stood still.
    """
    if case.status is CaseStatus.SUBMITTED:
        heard = world.operations.hastens(case.submission_channel)
        urgency = case.urgency if heard else Urgency.STANDARD
        return decision_due(world, urgency, case.patient_id, True)
    if case.status is CaseStatus.RESUBMITTED:
        moves = world.history.of(case.id, EntryKind.TRANSITION)
        if moves and moves[-1].action == CaseStatus.PENDED_ACTION_REQUIRED:
            return case.decision_due_at + (world.clock.now - moves[-1].at)
    return case.decision_due_at


def pend_due(world: ManagedCareWorld) -> datetime:
    """Return until when a pend that begins now is to be answered."""
    return _in_days(world, world.operations.pend_days)


def appeal_due(world: ManagedCareWorld, status: CaseStatus) -> datetime:
    """Return until when a case that has this status from now on can be appealed."""
    rules = world.operations
    external = status is CaseStatus.APPEAL_UPHELD
    return _in_days(world, rules.external_appeal_days if external else rules.internal_appeal_days)


def _in_days(world: ManagedCareWorld, days: int) -> datetime:
    return world.clock.now + timedelta(days=days)


def _notice(world: ManagedCareWorld) -> timedelta:
    """Return how long before a pend lapses the provider is reminded."""
    return timedelta(hours=world.operations.pend_reminder_hours)


def on_due(world: ManagedCareWorld, due: Due) -> str:
    """Carry out a deadline of a case.

    A pend that nobody answered closes the case for lack of information, with a letter; the day
    before, the provider is reminded. An authorization that ends stays approved: the decision
    stands, its number no longer serves.

    Args:
        world: The world.
        due: What fell due.

    Returns:
        What the provider learns of it; empty if it had been settled before.
    """
    case = world.cases.get(str(due.facts["case_id"]))
    if due.name == AUTHORIZATION_EXPIRES:
        return _expire(world, case) if case.expires_at == due.at else ""
    if case.status is not CaseStatus.PENDED_ACTION_REQUIRED or case.pend_due_at is None:
        return ""
    if due.facts.get("notice"):
        # A reminder of an earlier pend of the same case would name a day that has passed.
        return _remind(world, case) if due.at == case.pend_due_at - _notice(world) else ""
    return _lapse(world, case) if due.at == case.pend_due_at else ""


def _remind(world: ManagedCareWorld, case: PriorAuthCase) -> str:
    text = _texts()["reminder"].format(case=case.id, due=f"{case.pend_due_at:%Y-%m-%d %H:%M} UTC")
    subject = _texts()["reminder_subject"]
    kind, box = MessageKind.PEND_REQUEST, MessageBox.PAYER
    world.inbox.post(kind, box, case.id, subject, text, action_required=True)
    world.history.happened("pend_reminder", case.id)
    return text


def _lapse(world: ManagedCareWorld, case: PriorAuthCase) -> str:
    text = _texts()["lapse"].format(case=case.id)
    world.cases.put(replace(case, outcome_reason=text))
    world.cases.move(case.id, CaseStatus.CLOSED, _CALENDAR)
    # No type of letter is made for this: it is the last word on the pend.
    letter = Letter(
        id=world.letters.draw_id("LET-"),
        case_id=case.id,
        letter_type=LetterType.PEND,
        subject=_texts()["lapse_subject"],
        body=text,
        created_at=world.clock.now,
        # The system sends it itself: nobody at a desk has to.
        delivery_channel=case.submission_channel,
        delivered_at=world.clock.now,
    )
    world.letters.letters[letter.id] = letter
    world.history.happened(PEND_LAPSES, case.id)
    return text


def _expire(world: ManagedCareWorld, case: PriorAuthCase) -> str:
    number = case.authorization_number or case.id
    text = _texts()["expiry"].format(number=number, case=case.id)
    subject = _texts()["expiry_subject"]
    world.inbox.post(MessageKind.CALL_NOTE, MessageBox.PAYER, case.id, subject, text)
    world.history.happened(AUTHORIZATION_EXPIRES, case.id)
    return text


@cache
def _texts() -> Mapping[str, str]:
    path = files("healthgym.worlds.managed_care") / "data" / "deadlines.json"
    read: Mapping[str, str] = json.loads(path.read_text("utf-8"))
    return read
