"""How long an office may take: federal and state limits, and the windows of a case.

The hours are those of the operating rules, which the handbook states and a task may vary; by
default they are the source's. They are counted as calendar time from receipt. The windows in which
intake is to be finished are ours, in business hours, and what follows from a missed limit by the
law of a state stands beside the section that says so (``data/service_levels.json``).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache, lru_cache
from importlib.resources import files

from healthgym.core.borders import Json
from healthgym.worlds.managed_care.handbook.rules import OperatingRules
from healthgym.worlds.managed_care.vocabulary.authorization import (
    AuthorizationType,
    DeterminationDecision,
    TriageUrgency,
    Urgency,
)


@dataclass(frozen=True, slots=True)
class ServiceLevel:
    """A limit for deciding.

    Attributes:
        hours: Hours from receipt, calendar time.
        rule_source: ``cms``, or ``state:TX``.
        state: The state it was asked for, two letters; None if for none.
    """

    hours: int
    rule_source: str
    state: str | None = None

    def deadline(self, received_at: datetime) -> datetime:
        """Return until when to decide what was received then."""
        return received_at + timedelta(hours=self.hours)


@dataclass(frozen=True, slots=True)
class DeemedRule:
    """What a missed limit amounts to by the law of a state.

    Attributes:
        state: Two letters.
        decision: The decision that is deemed made.
        auth_types: For which authorizations; for all if empty.
        rule: The section, and what it says in our words.
    """

    state: str
    decision: DeterminationDecision
    auth_types: frozenset[AuthorizationType]
    rule: str


@dataclass(frozen=True, slots=True)
class CaseTimers:
    """The windows of a case, calendar time.

    Attributes:
        standard: For deciding a standard request, from its making.
        expedited: For deciding an expedited one.
        pend: For answering a request for information.
        authorization: For which an authorization holds.
        appeal: For appealing a denial.
    """

    standard: timedelta
    expedited: timedelta
    pend: timedelta
    authorization: timedelta
    appeal: timedelta

    def decision(self, urgency: Urgency) -> timedelta:
        """Return how long deciding may take."""
        return self.expedited if urgency is Urgency.EXPEDITED else self.standard


def normalized_state(state: str | None) -> str | None:
    """Return a state as two capital letters; None if none is given."""
    return (state or "").strip().upper() or None


def service_level(rules: OperatingRules, urgency: TriageUrgency, state: str | None) -> ServiceLevel:
    """Return the limit for deciding: the stricter one, and the federal one where they are equal.

    Args:
        rules: The numbers that operations run on.
        urgency: How urgent triage finds the request.
        state: The state whose law applies; the federal limit alone where none is given, or the
            state has no limit of its own.
    """
    known = normalized_state(state)
    hours, source = rules.hours(urgency, known or "")
    return ServiceLevel(hours, source, known)


@lru_cache(maxsize=256)
def triage_urgency(level_of_urgency: str | None) -> TriageUrgency:
    """Return what an intake's word for urgency is in triage's; routine if nothing is said."""
    word = (level_of_urgency or "").strip().lower()
    return TriageUrgency(_table()["urgency_of_intake"].get(word, TriageUrgency.ROUTINE))


def intake_window(urgency: TriageUrgency) -> timedelta:
    """Return the business hours within which intake is to be finished."""
    return timedelta(hours=_table()["intake_window_business_hours"][urgency])


def case_timers(rules: OperatingRules) -> CaseTimers:
    """Return the windows of a case."""
    return CaseTimers(
        standard=timedelta(days=rules.decision_due_days),
        expedited=timedelta(hours=rules.decision_due_expedited_hours),
        pend=timedelta(days=rules.pend_days),
        authorization=timedelta(days=rules.authorization_days),
        appeal=timedelta(days=rules.internal_appeal_days),
    )


def deemed_rule(state: str | None, auth_type: AuthorizationType) -> DeemedRule | None:
    """Return what a missed limit amounts to in a state; None where its law says nothing.

    Args:
        state: Two letters.
        auth_type: What kind of authorization was asked for.
    """
    known = normalized_state(state)
    for rule in _deemed_rules():
        if rule.state == known and (not rule.auth_types or auth_type in rule.auth_types):
            return rule
    return None


@cache
def _deemed_rules() -> tuple[DeemedRule, ...]:
    return tuple(
        DeemedRule(
            state=row["state"],
            decision=DeterminationDecision(row["decision"]),
            auth_types=frozenset(map(AuthorizationType, row["auth_types"])),
            rule=row["rule"],
        )
        for row in _table()["deemed"]
    )


@cache
def _table() -> Mapping[str, Json]:
    text = (files(__package__) / "data" / "service_levels.json").read_text("utf-8")
    table: Mapping[str, Json] = json.loads(text)
    return table
