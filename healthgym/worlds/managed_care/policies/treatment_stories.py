"""What may have become of treatments: tried, cut short, still going on, of the wrong kind."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import date, timedelta
from functools import cache
from importlib.resources import files

from numpy.random import Generator

from healthgym.core.records import replace
from healthgym.worlds.managed_care.facts import (
    AnyFact,
    MedicationCourse,
    StopReason,
    TherapyCourse,
)
from healthgym.worlds.managed_care.policies.criteria import StepTherapyCriterion, TherapyCriterion
from healthgym.worlds.managed_care.policies.dates import day_too_old, day_within
from healthgym.worlds.managed_care.vocabulary.authorization import Posture

#: A fact without id.
Draft = AnyFact
#: Tells what happened, from a random generator.
Story = Callable[[Generator], tuple[Draft, ...]]


@cache
def doses() -> dict[str, tuple[str, str]]:
    """Return the usual dose and frequency of the medicines that policies name."""
    raw = json.loads((files(__package__) / "data" / "doses.json").read_text("utf-8"))
    return {name: (dose, frequency) for name, (dose, frequency) in raw.items()}


def _course(
    criterion: StepTherapyCriterion,
    medication: str,
    today: date,
    rng: Generator,
    *,
    weeks: int,
    reason: StopReason | None,
    ongoing: bool = False,
) -> MedicationCourse:
    """Return a course of so many completed weeks that ended some time ago, or goes on."""
    last = today if ongoing else today - timedelta(days=int(rng.integers(10, 400)))
    first = last - timedelta(days=7 * max(weeks, 0) + int(rng.integers(1, 7)))
    dose, frequency = doses().get(medication, ("standard dose", "as directed"))
    return MedicationCourse(
        id="",
        medication=medication,
        drug_class=criterion.drug_class,
        dose=dose,
        frequency=frequency,
        started=first,
        ended=None if ongoing else last,
        stop_reason=None if ongoing else reason,
    )


def _names(criterion: StepTherapyCriterion, rng: Generator) -> list[str]:
    return [criterion.drugs[int(index)] for index in rng.permutation(len(criterion.drugs))]


def _reason(reasons: tuple[StopReason, ...], rng: Generator) -> StopReason:
    return reasons[int(rng.integers(len(reasons)))]


def tried_drugs(criterion: StepTherapyCriterion, stance: Posture, today: date) -> tuple[Story, ...]:
    """Return the stories of medicines tried first."""
    accepted = (*criterion.reasons, *criterion.early)
    refused = tuple(reason for reason in StopReason if reason not in accepted)
    slow = tuple(reason for reason in criterion.reasons if reason not in criterion.early)
    weeks = criterion.weeks

    def good(rng: Generator, count: int) -> list[MedicationCourse]:
        told = []
        for name in _names(criterion, rng)[:count]:
            length = weeks + int(rng.integers(0, 9))
            why = _reason(criterion.reasons, rng)
            told.append(_course(criterion, name, today, rng, weeks=length, reason=why))
        return told

    def tried(rng: Generator) -> tuple[Draft, ...]:
        return tuple(good(rng, criterion.agents))

    def cut_short(rng: Generator) -> tuple[Draft, ...]:
        told = good(rng, criterion.agents)
        length = int(rng.integers(1, max(2, weeks)))
        why = _reason(criterion.early, rng)
        told[0] = _course(criterion, told[0].medication, today, rng, weeks=length, reason=why)
        return tuple(told)

    def last(length: int, reasons: tuple[StopReason, ...], ongoing: bool = False) -> Story:
        def tell(rng: Generator) -> tuple[Draft, ...]:
            told = good(rng, criterion.agents)
            why = _reason(reasons, rng) if reasons else None
            name = told[-1].medication
            told[-1] = _course(
                criterion, name, today, rng, weeks=length, reason=why, ongoing=ongoing
            )
            return tuple(told)

        return tell

    def one_less(rng: Generator) -> tuple[Draft, ...]:
        return tuple(good(rng, criterion.agents - 1))

    def wrong_drug(rng: Generator) -> tuple[Draft, ...]:
        told = good(rng, criterion.agents)
        name = criterion.excluded[int(rng.integers(len(criterion.excluded)))]
        told[-1] = replace(told[-1], medication=name)
        return tuple(told)

    match stance:
        case Posture.SATISFIED:
            return (tried, tried, cut_short) if criterion.early else (tried,)
        case Posture.INSUFFICIENT:
            told = [last(weeks - 1, (), ongoing=True), last(weeks + 4, ())]
            told += [one_less] if criterion.agents > 1 else []
            return (*told, *([wrong_drug] if criterion.excluded else []))
    stories = [last(weeks - 1, slow)] if slow and weeks > 1 else []
    return (*stories, last(weeks + 4, refused))


def tried_therapy(criterion: TherapyCriterion, stance: Posture, today: date) -> tuple[Story, ...]:
    """Return the stories of treatments without medicines."""

    def course(sessions: int, weeks: int, ended: date | None) -> tuple[Draft, ...]:
        first = (ended or today) - timedelta(days=7 * max(1, weeks))
        return (
            TherapyCourse(
                id="",
                kind=criterion.therapy,
                display=criterion.display,
                sessions=max(1, sessions),
                started=first,
                ended=ended,
                stop_reason=None if ended is None else StopReason.COMPLETED,
            ),
        )

    sessions = criterion.sessions or max(2, criterion.weeks)
    weeks = criterion.weeks or max(2, criterion.sessions // 2)

    def enough(rng: Generator) -> tuple[Draft, ...]:
        more = int(rng.integers(0, 5))
        return course(sessions + more, weeks + more, day_within(rng, today, criterion.months))

    def few(rng: Generator) -> tuple[Draft, ...]:
        ended = day_within(rng, today, criterion.months)
        if criterion.weeks and (not criterion.sessions or rng.integers(2)):
            return course(sessions + 2, weeks - 1, ended)
        return course(sessions - 1 - int(rng.integers(2)), weeks, ended)

    def going_on(rng: Generator) -> tuple[Draft, ...]:
        short = 1 + int(rng.integers(2))
        return course(sessions - short, weeks - short, None)

    def long_ago(rng: Generator) -> tuple[Draft, ...]:
        return course(sessions + 2, weeks + 1, day_too_old(rng, today, criterion.months))

    match stance:
        case Posture.SATISFIED:
            return (enough,)
        case Posture.INSUFFICIENT:
            return (going_on, long_ago)
    return (few,)
