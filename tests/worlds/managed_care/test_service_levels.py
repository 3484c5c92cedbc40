"""The limits for deciding, by urgency and state, and the windows of a case."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from healthgym.worlds.managed_care.handbook.rules import OperatingRules, TurnaroundHours
from healthgym.worlds.managed_care.service_levels import (
    case_timers,
    deemed_rule,
    intake_window,
    service_level,
    triage_urgency,
)
from healthgym.worlds.managed_care.vocabulary.authorization import (
    AuthorizationType,
    TriageUrgency,
    Urgency,
)

RULES = OperatingRules()
STAT, URGENT, ROUTINE = TriageUrgency.STAT, TriageUrgency.URGENT, TriageUrgency.ROUTINE
#: As recorded: hours, and the rule that gives them.
LIMITS = [
    (None, STAT, 72, "cms"),
    (None, URGENT, 72, "cms"),
    (None, ROUTINE, 168, "cms"),
    ("CA", STAT, 24, "state:CA"),
    ("CA", URGENT, 72, "cms"),
    ("CA", ROUTINE, 120, "state:CA"),
    ("TX", STAT, 24, "state:TX"),
    ("TX", URGENT, 72, "cms"),
    ("TX", ROUTINE, 72, "state:TX"),
    ("NY", STAT, 24, "state:NY"),
    ("NY", URGENT, 48, "state:NY"),
    ("NY", ROUTINE, 72, "state:NY"),
    ("IL", STAT, 24, "state:IL"),
    ("IL", URGENT, 48, "state:IL"),
    ("IL", ROUTINE, 120, "state:IL"),
    ("FL", ROUTINE, 168, "cms"),
]


@pytest.mark.parametrize(("state", "urgency", "hours", "source"), LIMITS)
def test_the_stricter_limit_wins_and_a_tie_keeps_the_federal_rule(
    state: str | None, urgency: TriageUrgency, hours: int, source: str
) -> None:
    level = service_level(RULES, urgency, state)
    assert (level.hours, level.rule_source, level.state) == (hours, source, state)


def test_a_state_is_trimmed_and_written_in_capitals() -> None:
    assert service_level(RULES, ROUTINE, " tx ") == service_level(RULES, ROUTINE, "TX")
    assert service_level(RULES, ROUTINE, "  ") == service_level(RULES, ROUTINE, None)


def test_a_deadline_is_so_many_hours_after_receipt_weekends_counted() -> None:
    received = datetime(2026, 3, 13, 17, 30, tzinfo=UTC)
    assert service_level(RULES, URGENT, "NY").deadline(received) == received + timedelta(hours=48)


def test_the_windows_of_a_case_are_the_source_s() -> None:
    timers = case_timers(RULES)
    assert timers.decision(Urgency.STANDARD) == timedelta(days=7)
    assert timers.decision(Urgency.EXPEDITED) == timedelta(hours=72)
    assert timers.pend == timedelta(days=2)
    assert timers.authorization == timers.appeal == timedelta(days=30)


def test_intake_speaks_of_urgency_in_other_words() -> None:
    words = ("standard", "urgent", "emergent", "retrospective", " Urgent ", None, "whenever")
    found = [triage_urgency(word) for word in words]
    assert found == [ROUTINE, URGENT, STAT, ROUTINE, URGENT, ROUTINE, ROUTINE]


def test_what_is_urgent_leaves_intake_less_time() -> None:
    assert intake_window(STAT) < intake_window(URGENT) < intake_window(ROUTINE)


@pytest.mark.parametrize(
    ("state", "kind", "decision"),
    [
        ("IL", AuthorizationType.SP, "approved"),
        ("il ", AuthorizationType.RX, "approved"),
        ("CA", AuthorizationType.RX, "approved"),
        ("CA", AuthorizationType.SP, None),
        ("NY", AuthorizationType.IP, "denied"),
        ("TX", AuthorizationType.SP, None),
        (None, AuthorizationType.SP, None),
    ],
)
def test_a_missed_limit_decides_where_the_state_says_so(
    state: str | None, kind: AuthorizationType, decision: str | None
) -> None:
    rule = deemed_rule(state, kind)
    assert (rule.decision if rule else None) == decision


def test_a_task_s_own_numbers_count() -> None:
    varied = OperatingRules(pend_days=5, state_hours={"TX": TurnaroundHours(24, 60, 96)})
    assert service_level(varied, URGENT, "TX").hours == 60
    assert service_level(varied, URGENT, "NY").rule_source == "cms"
    assert case_timers(varied).pend == timedelta(days=5)
