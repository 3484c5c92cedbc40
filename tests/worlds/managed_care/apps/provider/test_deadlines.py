"""What the calendar does to a case: stamps, reminders, lapses."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from healthgym.core.clock import Due
from healthgym.worlds.managed_care.handbook.rules import OperatingRules, TurnaroundHours
from healthgym.worlds.managed_care.rules import Rules
from healthgym.worlds.managed_care.vocabulary.authorization import CaseStatus, Urgency
from healthgym.worlds.managed_care.world import ManagedCareWorld
from tests.worlds.managed_care.apps.provider.office import CASE, ORDER, office, send

DAY = timedelta(days=1)


def pass_time(world: ManagedCareWorld, amount: timedelta) -> list[Due]:
    """Let time pass, and carry out what falls due on the way, as the engine does."""
    until, happened = world.clock.now + amount, []
    while (due := world.clock.agenda.first()) is not None and due.at <= until:
        world.clock.advance(max(due.at - world.clock.now, timedelta(0)))
        world.clock.agenda.cancel(due.number)
        world.happen(due)
        happened.append(due)
    world.clock.advance(until - world.clock.now)
    return happened


def pended() -> ManagedCareWorld:
    world = office(status=CaseStatus.UNDER_REVIEW)
    world.cases.move(CASE, CaseStatus.PENDED_ACTION_REQUIRED, "SYSTEM")
    return world


@pytest.mark.parametrize(
    ("before", "after", "stamp", "days"),
    [
        (CaseStatus.UNDER_REVIEW, CaseStatus.PENDED_ACTION_REQUIRED, "pend_due_at", 2),
        (CaseStatus.UNDER_REVIEW, CaseStatus.APPROVED, "expires_at", 30),
        (CaseStatus.UNDER_REVIEW, CaseStatus.PARTIALLY_APPROVED, "expires_at", 30),
        (CaseStatus.UNDER_REVIEW, CaseStatus.DENIED, "appeal_due_at", 30),
        (CaseStatus.APPEALED, CaseStatus.APPEAL_UPHELD, "appeal_due_at", 120),
        (CaseStatus.APPEALED, CaseStatus.APPEAL_OVERTURNED, "expires_at", 30),
    ],
    ids=["pend", "approval", "in-part", "denial", "upheld", "overturned"],
)
def test_a_change_of_status_starts_its_clock(
    before: CaseStatus, after: CaseStatus, stamp: str, days: int
) -> None:
    world = office(status=before)
    case = world.cases.move(CASE, after, "SYSTEM")
    assert getattr(case, stamp) == world.clock.now + days * DAY
    compatible = office(Rules.COMPAT, status=before)
    stamped = getattr(compatible.cases.move(CASE, after, "SYSTEM"), stamp)
    in_part = after is CaseStatus.PARTIALLY_APPROVED
    assert (stamped is not None) is (stamp == "expires_at" and not in_part)
    assert not compatible.clock.agenda


def test_how_long_a_pend_waits_is_the_operations_rule() -> None:
    world = office(status=CaseStatus.UNDER_REVIEW)
    world.__dict__["operations"] = replace(OperatingRules(), pend_days=5)
    case = world.cases.move(CASE, CaseStatus.PENDED_ACTION_REQUIRED, "SYSTEM")
    assert case.pend_due_at == world.clock.now + 5 * DAY


def test_a_pend_is_recalled_and_then_lapses() -> None:
    world = pended()
    pass_time(world, DAY)
    assert world.cases.get(CASE).status is CaseStatus.PENDED_ACTION_REQUIRED
    (message,) = world.inbox.visible(CASE)
    assert message.action_required
    assert "2026-03-15 09:00 UTC" in message.body
    pass_time(world, DAY)
    case = world.cases.get(CASE)
    assert case.status is CaseStatus.CLOSED
    assert "lack of information" in (case.outcome_reason or "")
    (letter,) = world.letters.letters.values()
    assert letter.body == case.outcome_reason
    assert [e.action for e in world.history.entries if e.kind == "event"] == [
        "pend_reminder",
        "pend_lapses",
    ]


def test_an_answer_in_time_ends_the_watch() -> None:
    world = pended()
    world.authorizations.respond_to_pend(CASE, "The echo report of 2 March, attached.")
    pass_time(world, 3 * DAY)
    assert world.cases.get(CASE).status is not CaseStatus.CLOSED
    assert not world.letters.letters


def test_the_watch_of_an_earlier_pend_does_not_end_a_later_one() -> None:
    world = pended()
    world.authorizations.respond_to_pend(CASE, "The echo report of 2 March, attached.")
    pass_time(world, timedelta(hours=12))
    world.cases.move(CASE, CaseStatus.PENDED_ACTION_REQUIRED, "SYSTEM")
    pass_time(world, timedelta(hours=40))
    assert world.cases.get(CASE).status is CaseStatus.PENDED_ACTION_REQUIRED
    assert len(world.inbox.visible(CASE)) == 1
    pass_time(world, timedelta(hours=8))
    assert world.cases.get(CASE).status is CaseStatus.CLOSED


def test_an_authorization_ends_and_stays_approved() -> None:
    world = office(status=CaseStatus.UNDER_REVIEW)
    world.cases.move(CASE, CaseStatus.APPROVED, "SYSTEM")
    pass_time(world, 31 * DAY)
    assert world.cases.get(CASE).status is CaseStatus.APPROVED
    assert [m.kind for m in world.inbox.visible(CASE)] == ["call_note"]


def test_a_copy_of_a_world_has_its_own_calendar() -> None:
    world = pended()
    copy = world.clone()
    pass_time(copy, 3 * DAY)
    assert copy.cases.get(CASE).status is CaseStatus.CLOSED
    assert world.cases.get(CASE).status is CaseStatus.PENDED_ACTION_REQUIRED


HASTY = OperatingRules(state_hours={"CA": TurnaroundHours(24, 36, 60)})


@pytest.mark.parametrize(
    ("priority", "hours"), [(Urgency.STANDARD, 60), (Urgency.EXPEDITED, 36)], ids=str
)
def test_the_decision_is_due_by_the_stricter_limit_of_state_and_urgency(
    priority: Urgency, hours: int
) -> None:
    order = {**ORDER, "priority": priority}
    world = ManagedCareWorld(replace(office().start, operations=HASTY))
    made: Any = world.cases.create_from_order(**order)
    assert made["case"].decision_due_at == world.clock.now + timedelta(hours=hours)
    compatible = office(Rules.COMPAT)
    usual: Any = compatible.cases.create_from_order(**order)
    kept = 72 if priority is Urgency.EXPEDITED else 168
    assert usual["case"].decision_due_at == compatible.clock.now + timedelta(hours=kept)


def test_hand_in_starts_the_limit_and_a_pend_stops_it() -> None:
    world = ManagedCareWorld(replace(office().start, operations=HASTY))
    pass_time(world, 9 * DAY)
    send(world)
    due = world.clock.now + timedelta(hours=60)
    assert world.cases.get(CASE).decision_due_at == due
    world.cases.move(CASE, CaseStatus.UNDER_REVIEW, "SYSTEM")
    world.cases.move(CASE, CaseStatus.PENDED_ACTION_REQUIRED, "SYSTEM")
    pass_time(world, timedelta(hours=20))
    world.cases.move(CASE, CaseStatus.RESUBMITTED)
    assert world.cases.get(CASE).decision_due_at == due + timedelta(hours=20)
