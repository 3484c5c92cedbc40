"""What only the ordering clinician knows: a fact of which there is no record, and a memo of it.

It cannot be sent, since nothing on file shows it; it can be said on a call. Some of these facts
settle the criterion that the chart leaves open, and others do not.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import cache
from importlib.resources import files

import numpy as np

from healthgym.envs.managed_care.cases.drawing import DrawnCase
from healthgym.envs.managed_care.reading.freely import freely_told
from healthgym.envs.managed_care.utilization_management.hearing_out import heard_facts
from healthgym.envs.managed_care.utilization_management.packet import call_due, turning
from healthgym.errors import ConfigurationError
from healthgym.worlds.managed_care.apps.provider.inbox_and_directory import PRACTICE
from healthgym.worlds.managed_care.charts.sheets import stating
from healthgym.worlds.managed_care.facts import (
    AnyFact,
    Diagnosis,
    Finding,
    Intolerance,
    Measurement,
    MedicationCourse,
    ProcedureDone,
    TherapyCourse,
)
from healthgym.worlds.managed_care.peers import sayings
from healthgym.worlds.managed_care.policies.criteria import (
    AnyCriterion,
    CountCriterion,
    MeasurementCriterion,
)
from healthgym.worlds.managed_care.policies.evaluation import evaluate
from healthgym.worlds.managed_care.policies.planting import plant, possible
from healthgym.worlds.managed_care.policies.postures import favourable
from healthgym.worlds.managed_care.records.case import Message
from healthgym.worlds.managed_care.vocabulary.authorization import MessageKind, Posture

#: Facts that a memo tells of at most; who knows more has a record of it.
_MOST = 2
_TRIES = 12
#: A memo is written so long before the day begins.
_WRITTEN = timedelta(hours=15)


@dataclass(frozen=True, slots=True, kw_only=True)
class Memo:
    """What a clinician knows and no record shows.

    Attributes:
        criterion: The criterion it is about, the one that the chart leaves open.
        facts: The facts.
        settles: Whether the policy is met with them.
        insists: Whether the clinician has the request sent either way, for the sake of a call.
        said: The facts, as the clinician tells them.
        text: The memo.
        subject: Its subject.
    """

    criterion: str
    facts: tuple[AnyFact, ...]
    settles: bool
    insists: bool = False
    said: str
    text: str
    subject: str

    def message(self, begins: datetime) -> Message:
        """Return the memo as it lies in the practice's inbox."""
        return Message(
            id="MSG-MEMO-0001",
            kind=str(MessageKind.INTERNAL_NOTE),
            box=PRACTICE,
            subject=self.subject,
            body=self.text,
            created_at=begins - _WRITTEN,
        )


def draw_memo(
    case: DrawnCase, rng: np.random.Generator, *, settles: bool, insists: bool = False
) -> Memo:
    """Return what the clinician of a case knows beside its chart.

    Args:
        case: The case; one criterion of its policy alone is open.
        rng: Where chance comes from.
        settles: Whether that criterion is settled by it.
        insists: Whether the clinician has the request sent either way.

    Raises:
        ConfigurationError: If the case is not like that, or no such fact can be had.
    """
    policy, chart = case.book.in_force, case.patient.chart
    if not call_due(case, case.found):
        raise ConfigurationError("More than one criterion is open, or none decides alone.")
    _require_shown(case)
    (name,) = turning(case, case.found)
    item = policy.criterion(name)
    good = favourable(policy.criteria)[name]
    stance = good if settles else Posture.INSUFFICIENT
    if stance not in possible(item):
        raise ConfigurationError(f"Nobody can tell on a call that {name} is {stance}.")
    for _ in range(_TRIES):
        planted = plant(item, stance, case.drawn.request, case.today, rng)
        facts = tuple(
            replace(fact, id=f"MEMO-{place}", noted_in=()) for place, fact in enumerate(planted, 1)
        )
        if not 0 < len(facts) <= _MOST or any(isinstance(fact, Intolerance) for fact in facts):
            continue
        found = evaluate(policy, (*chart.facts, *facts), case.drawn.request, case.today)
        if (found.posture is Posture.SATISFIED) is settles and (
            settles or turning(case, found) == (name,)
        ):
            memo = _written(case, name, facts, rng, "insisting" if insists else "memo")
            return replace(memo, settles=settles, insists=insists)
    raise ConfigurationError(f"No fact makes {name} {stance}.")


def _require_shown(case: DrawnCase) -> None:
    """Refuse a case whose documents do not show what is satisfied.

    Raises:
        ConfigurationError: If they do not.
    """
    needed = case.drawn.needed(case.found)
    told = stating(case.patient.chart.shows, needed).values()
    if needed - {fact for facts in told for fact in facts}:
        raise ConfigurationError("The documents do not show what the chart knows.")


def _written(
    case: DrawnCase,
    name: str,
    facts: tuple[AnyFact, ...],
    rng: np.random.Generator,
    kind: str,
) -> Memo:
    forms, who = wordings(), case.patient.chart.patient
    memo: str = forms[kind][int(rng.integers(len(forms[kind])))]
    slots = {
        "patient": f"{who.first_name} {who.last_name}",
        "service": case.patient.order.description,
    }
    said = " ".join(sayings.told(fact, rng, forms) for fact in facts)
    return Memo(
        criterion=name,
        facts=facts,
        settles=False,
        said=said,
        text=memo.format(said=said, **slots),
        subject=forms["subject"][0].format(**slots),
    )


def told(text: str, item: AnyCriterion) -> Iterator[AnyFact]:
    """Yield what a text tells of a criterion in so many words, true or not.

    Args:
        text: What was written or said.
        item: The criterion.
    """
    # What is measured is told by any name; here several things may be told at once.
    measured = isinstance(item, MeasurementCriterion | CountCriterion)
    usual: tuple[AnyFact, ...] = ()
    if not measured or item.display.casefold() in text.casefold():
        usual = heard_facts(text, item, wordings())
    yield from usual
    if measured or not usual:
        known = set(map(gist, usual))
        yield from (fact for fact in freely_told(text, item) if gist(fact) not in known)


def gist(fact: AnyFact) -> tuple[object, ...]:
    """Return what of a fact can be told on a call: what it is, its value and its days."""
    match fact:
        case Measurement():
            return fact.code, fact.value, fact.taken
        case MedicationCourse():
            return fact.medication.lower(), fact.started, fact.ended
        case TherapyCourse():
            return fact.kind, fact.started, fact.ended
        case Finding():
            return fact.key, fact.value, fact.found
        case Diagnosis():
            return fact.code, fact.onset
        case ProcedureDone():
            return fact.code, fact.performed
        case Intolerance():
            return fact.substance.lower(), fact.recorded


@cache
def wordings() -> Mapping[str, list[str]]:
    """Return the sentences; shared, not to be changed."""
    text = (files(__package__) / "data" / "memos.json").read_text("utf-8")
    read: Mapping[str, list[str]] = json.loads(text)
    return read
