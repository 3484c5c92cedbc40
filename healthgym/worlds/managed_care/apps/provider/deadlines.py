"""Deadlines of a case: stamped when its status changes, and carried out when they fall due.

Days and names are the source's (pend 2, authorization 30, appeal 30). The source stamps only some
of them and carries out none; a strict world stamps all, and lets a pend lapse.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

from healthgym.worlds.managed_care.vocabulary.authorization import CaseStatus, LetterType

if TYPE_CHECKING:
    from healthgym.core.clock import Due
    from healthgym.worlds.managed_care.records.case import PriorAuthCase
    from healthgym.worlds.managed_care.world import ManagedCareWorld

#: Days of grace, counted from the change of status (``case_timers`` of the source).
PEND_DAYS, AUTHORIZATION_DAYS, APPEAL_DAYS = 2, 30, 30
#: Names on the agenda.
PEND_LAPSES, AUTHORIZATION_EXPIRES = "pend_lapses", "authorization_expires"

#: What gives an authorization that ends.
GRANTED = frozenset(
    {
        CaseStatus.APPROVED,
        CaseStatus.APPEAL_OVERTURNED,
        CaseStatus.EXTERNAL_APPEAL_OVERTURNED,
    }
)
#: What can be appealed, internally or externally.
APPEALABLE = frozenset({CaseStatus.DENIED, CaseStatus.APPEAL_UPHELD})
#: How long before a pend lapses the provider is reminded.
_NOTICE = timedelta(days=1)
#: Who carries out what falls due.
_CALENDAR = "calendar"


def stamped(world: ManagedCareWorld, case: PriorAuthCase, strict: bool) -> PriorAuthCase:
    """Return a case with the deadlines that its new status starts.

    Args:
        world: The world; a strict one also puts them on its agenda.
        case: The case, in its new status.
        strict: Whether every denial can be appealed for a time only, and every pend lapses.
    """
    now = world.clock.now
    if case.status in GRANTED:
        case = replace(case, expires_at=now + timedelta(days=AUTHORIZATION_DAYS))
    if not strict:
        return case
    if case.status in APPEALABLE:
        case = replace(case, appeal_due_at=now + timedelta(days=APPEAL_DAYS))
    if case.status is CaseStatus.PENDED_ACTION_REQUIRED:
        due = now + timedelta(days=PEND_DAYS)
        case = replace(case, pend_due_at=due)
        world.clock.agenda.put(due - _NOTICE, PEND_LAPSES, case_id=case.id, notice=True)
        world.clock.agenda.put(due, PEND_LAPSES, case_id=case.id, notice=False)
    if case.status in GRANTED and case.expires_at is not None:
        world.clock.agenda.put(case.expires_at, AUTHORIZATION_EXPIRES, case_id=case.id)
    return case


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
        return _remind(world, case) if due.at == case.pend_due_at - _NOTICE else ""
    return _lapse(world, case) if due.at == case.pend_due_at else ""


def _remind(world: ManagedCareWorld, case: PriorAuthCase) -> str:
    text = _texts()["reminder"].format(case=case.id, due=f"{case.pend_due_at:%Y-%m-%d %H:%M} UTC")
    world.inbox.post(
        "pend_request", "payer", case.id, _texts()["reminder_subject"], text, action_required=True
    )
    world.history.happened("pend_reminder", case.id)
    return text


def _lapse(world: ManagedCareWorld, case: PriorAuthCase) -> str:
    text = _texts()["lapse"].format(case=case.id)
    world.cases.put(replace(case, outcome_reason=text))
    world.cases.move(case.id, CaseStatus.CLOSED, _CALENDAR)
    world.letters.write(
        case.id, LetterType.PEND, _CALENDAR, subject=_texts()["lapse_subject"], body=text
    )
    world.history.happened(PEND_LAPSES, case.id)
    return text


def _expire(world: ManagedCareWorld, case: PriorAuthCase) -> str:
    number = case.authorization_number or case.id
    text = _texts()["expiry"].format(number=number, case=case.id)
    world.inbox.post("call_note", "payer", case.id, _texts()["expiry_subject"], text)
    world.history.happened(AUTHORIZATION_EXPIRES, case.id)
    return text


@cache
def _texts() -> Mapping[str, str]:
    path = files("healthgym.worlds.managed_care") / "data" / "deadlines.json"
    read: Mapping[str, str] = json.loads(path.read_text("utf-8"))
    return read
