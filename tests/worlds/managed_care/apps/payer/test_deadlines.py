"""What falls due at the front desks: who is told, and what the law of a state makes of it."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta

import pytest

from healthgym.worlds.managed_care import deadlines
from healthgym.worlds.managed_care.refusals import RefusalCode
from healthgym.worlds.managed_care.rules import Rules
from healthgym.worlds.managed_care.vocabulary.authorization import (
    CaseStatus,
    IntakeStatus,
    ProviderNetworkStatus,
    TriageDisposition,
    TriageUrgency,
)
from healthgym.worlds.managed_care.world import ManagedCareWorld
from tests.worlds.managed_care.apps.payer.desk import CASE, NOW, case, intake, refused, world

OPEN = IntakeStatus.IN_PROGRESS
HOUR = timedelta(hours=1)


def _agenda(desk: ManagedCareWorld) -> dict[str, datetime]:
    return {
        due.name: due.at
        for due in desk.clock.agenda.entries()
        if due.name in deadlines.NAMES and due.facts["case_id"] == CASE
    }


def _pass(desk: ManagedCareWorld, until: datetime) -> list[str]:
    """Move the clock, and carry out what is ours; return what happened."""
    happened = []
    while (due := desk.clock.agenda.first()) is not None and due.at <= until:
        desk.clock.agenda.cancel(due.number)
        desk.clock.advance(max(due.at - desk.clock.now, timedelta(0)))
        if due.name in deadlines.NAMES:
            before = len(desk.history.entries)
            deadlines.on_due(desk, due)
            happened += [e.action for e in list(desk.history.entries)[before:] if e.kind == "event"]
    desk.clock.advance(until - desk.clock.now)
    return happened


def test_a_request_is_watched_from_when_it_is_handed_in() -> None:
    desk = world()
    desk.intake.receive(CASE, None)
    # Friday nine o'clock in Texas; 18 business hours are two business days.
    assert _agenda(desk) == {
        deadlines.INTAKE_OVERDUE: datetime.fromisoformat("2026-03-17T14:00+00:00"),
        deadlines.DECISION_OVERDUE: NOW + 72 * HOUR,
    }


def test_nothing_is_watched_in_a_compatibility_world() -> None:
    desk = world(rules=Rules.COMPAT)
    desk.intake.receive(CASE, None)
    assert not desk.clock.agenda
    assert not world(intake(), rules=Rules.COMPAT).clock.agenda


def test_a_late_intake_is_told_to_the_supervisor_once() -> None:
    desk = world(intake(OPEN))
    assert _pass(desk, NOW + timedelta(days=60)) == [
        deadlines.DECISION_OVERDUE,
        deadlines.INTAKE_OVERDUE,
    ]
    told = [message for message in desk.inbox.messages.values() if "Intake" in message.subject]
    assert [(m.kind, m.box, m.action_required) for m in told] == [
        ("internal_note", "internal", True)
    ]
    assert "W-SUP" in told[0].body


def test_an_intake_in_time_is_told_to_nobody() -> None:
    desk = world(intake())
    assert list(_agenda(desk)) == [deadlines.DECISION_OVERDUE]


def test_a_watch_that_begins_again_replaces_the_first() -> None:
    desk = world(intake(OPEN))
    before = _agenda(desk), len(desk.clock.agenda)
    deadlines.watch_all(desk)
    assert (_agenda(desk), len(desk.clock.agenda)) == before


@pytest.mark.parametrize("status", [CaseStatus.APPROVED, CaseStatus.DENIED, CaseStatus.CLOSED])
def test_a_decided_case_is_watched_no_more(status: CaseStatus) -> None:
    desk = world(intake(), case(status))
    deadlines.watch_all(desk)
    assert _agenda(desk) == {}
    deadlines.watch_decision(desk, CASE)
    assert _pass(desk, NOW + timedelta(days=30)) == []


@pytest.mark.parametrize(
    ("state", "status", "hours"),
    [
        ("TX", CaseStatus.SUBMITTED, 72),
        ("IL", CaseStatus.APPROVED, 120),
        ("NY", CaseStatus.DENIED, 72),
        ("FL", CaseStatus.SUBMITTED, 168),
    ],
)
def test_a_late_decision_is_told_and_deemed_where_the_state_says_so(
    state: str, status: CaseStatus, hours: int
) -> None:
    desk = world(intake(state=state), state=state)
    deadlines.watch_all(desk)
    assert _pass(desk, NOW + hours * HOUR - HOUR) == []
    assert _pass(desk, NOW + hours * HOUR) == [deadlines.DECISION_OVERDUE]
    late = desk.cases.get(CASE)
    assert late.status is status
    found = list(desk.determinations.determinations.values())
    assert [one.source for one in found] == (
        [] if status is CaseStatus.SUBMITTED else ["deemed_decision"]
    )
    assert (late.authorization_number is not None) is (status is CaseStatus.APPROVED)
    assert (late.expires_at is not None) is (status is CaseStatus.APPROVED)
    assert (late.appeal_due_at is not None) is (status is CaseStatus.DENIED)


@pytest.mark.parametrize(
    ("confirmed", "overdue"),
    [
        ({"decision_member_eligible": False}, False),
        ({"decision_service_covered": False}, False),
        ({"decision_provider_network_status": ProviderNetworkStatus.OUT_OF_NETWORK}, False),
        ({"decision_provider_network_status": ProviderNetworkStatus.IN_NETWORK}, True),
    ],
)
def test_what_ends_with_its_intake_is_never_deemed_decided(
    confirmed: Mapping[str, object], overdue: bool
) -> None:
    desk = world(intake(state="NY", status=IntakeStatus.COMPLETE, **confirmed), state="NY")
    deadlines.watch_all(desk)
    happened = [deadlines.DECISION_OVERDUE] if overdue else []
    assert _pass(desk, NOW + timedelta(days=30)) == happened
    assert bool(desk.determinations.determinations) is overdue
    assert desk.cases.get(CASE).status is (CaseStatus.DENIED if overdue else CaseStatus.SUBMITTED)


def test_triage_moves_the_watch_to_its_own_limit() -> None:
    desk = world(intake())
    deadlines.watch_all(desk)
    desk.triage.set_disposition(
        CASE,
        urgency=TriageUrgency.STAT,
        deadline="2026-03-14T14:00",
        hours=24,
        rule_source="state:TX",
        gold_card=False,
        disposition=TriageDisposition.NURSE_REVIEW,
        reason="Unstable.",
        actor="W-NUR",
    )
    assert _agenda(desk)[deadlines.DECISION_OVERDUE] == NOW + 24 * HOUR


def test_the_limit_stands_still_while_the_provider_is_asked() -> None:
    desk = world(intake(state="IL"), case(CaseStatus.UNDER_REVIEW), state="IL")
    deadlines.watch_all(desk)
    assert _pass(desk, NOW + 100 * HOUR) == []
    desk.cases.move(CASE, CaseStatus.PENDED_ACTION_REQUIRED, "W-NUR")
    assert _pass(desk, NOW + 130 * HOUR) == []  # the limit of 120 hours has passed meanwhile
    desk.cases.move(CASE, CaseStatus.RESUBMITTED, "C-PA")
    desk.intake.receive(CASE, None, reply=True)
    assert deadlines.pended_for(desk, CASE) == 30 * HOUR
    assert _agenda(desk)[deadlines.DECISION_OVERDUE] == NOW + 150 * HOUR
    assert deadlines.DECISION_OVERDUE in _pass(desk, NOW + 150 * HOUR)
    assert desk.cases.get(CASE).status is CaseStatus.APPROVED


def test_a_reply_gives_intake_its_window_again() -> None:
    desk = world(intake(OPEN), case(CaseStatus.PENDED_ACTION_REQUIRED))
    desk.clock.advance(timedelta(days=7))
    desk.cases.move(CASE, CaseStatus.RESUBMITTED, "C-PA")
    desk.intake.receive(CASE, None, reply=True)
    assert _agenda(desk)[deadlines.INTAKE_OVERDUE] == datetime.fromisoformat(
        "2026-03-24T14:00+00:00"
    )


def test_a_deemed_decision_is_final() -> None:
    desk = world(intake(state="IL"), state="IL")
    deadlines.watch_all(desk)
    _pass(desk, NOW + 120 * HOUR)
    reopened = lambda: desk.cases.move(CASE, CaseStatus.DENIED, "W-MD")  # noqa: E731
    refused(RefusalCode.ILLEGAL_TRANSITION, reopened)
