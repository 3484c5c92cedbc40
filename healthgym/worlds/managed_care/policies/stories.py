"""What may have happened to a patient whose record stands so or so to a criterion.

A draft is a fact without id. Stories are functions of a random generator; which of them are told
decides nothing about the posture, but about how easily a reader is misled.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import date, timedelta
from functools import cache
from importlib.resources import files

from numpy.random import Generator

from healthgym.worlds.managed_care.charts.hours import some_business_day
from healthgym.worlds.managed_care.charts.knowledge import written_unit
from healthgym.worlds.managed_care.facts import (
    Diagnosis,
    Finding,
    Intolerance,
    Measurement,
    ProcedureDone,
)
from healthgym.worlds.managed_care.policies.criteria import (
    AnyCriterion,
    ContraindicationCriterion,
    CountCriterion,
    DiagnosisCriterion,
    FindingCriterion,
    MeasurementCriterion,
    ProcedureCriterion,
    StepTherapyCriterion,
    TherapyCriterion,
)
from healthgym.worlds.managed_care.policies.dates import day_too_old, day_within, months_before
from healthgym.worlds.managed_care.policies.diagnoses import title_of
from healthgym.worlds.managed_care.policies.treatment_stories import (
    Draft,
    Story,
    tried_drugs,
    tried_therapy,
)
from healthgym.worlds.managed_care.policies.units import WHOLE, convert, other_units, value_range
from healthgym.worlds.managed_care.policies.wording import unsettled
from healthgym.worlds.managed_care.vocabulary.authorization import ItemOperator, Posture

#: Measures that hardly change within months: cognition, perfusion, a tumor's receptors, the heart,
#: the body's mass.
_STEADY = frozenset(
    {"72172-0", "ABI-RATIO", "PDL1-TPS", "10230-1", "LANG-STD", "BARTHEL", "39156-5"}
)
_Measured = MeasurementCriterion | CountCriterion


def drafts(criterion: AnyCriterion, stance: Posture, today: date) -> tuple[Story, ...]:
    """Return the stories behind a posture other than absent, for a criterion about the chart.

    A story may miss where numbers collide; whoever plants one asks the evaluation.
    """
    match criterion:
        case MeasurementCriterion():
            return _measured(criterion, stance, today)
        case CountCriterion():
            return _counted(criterion, stance, today)
        case StepTherapyCriterion():
            return tried_drugs(criterion, stance, today)
        case TherapyCriterion():
            return tried_therapy(criterion, stance, today)
        case FindingCriterion():
            return _seen(criterion, stance, today)
        case DiagnosisCriterion():
            return _diagnosed(criterion, stance, today)
        case ContraindicationCriterion():
            return _contraindicated(criterion, stance, today)
        case ProcedureCriterion():
            return _done(criterion, stance, today)
    return ()


def _amount(criterion: _Measured, good: bool, rng: Generator, near: int = 0) -> float:
    """Return a value on one side of the threshold, in its unit."""
    fine = criterion.threshold < 20 or criterion.threshold != int(criterion.threshold)
    step = 0.1 if fine and criterion.unit not in WHOLE else 1.0
    upward = criterion.operator in (ItemOperator.GTE, ItemOperator.GT)
    strict = criterion.operator in (ItemOperator.GT, ItemOperator.LT)
    away = near or int(rng.integers(1, 13))
    if good and not strict and not near and rng.integers(4) == 0:
        away = 0
    if not good and strict and near:
        away = 0
    sign = 1 if upward is good else -1
    low, high = value_range(criterion.code, criterion.unit)
    return round(min(high, max(low, criterion.threshold + sign * away * step)), 2)


def _result(criterion: _Measured, value: float, taken: date, unit: str | None = None) -> Draft:
    shown = criterion.unit if unit is None else unit
    return Measurement(
        id="", code=criterion.code, display=criterion.display, value=value, unit=shown, taken=taken
    )


def _measured(criterion: MeasurementCriterion, stance: Posture, today: date) -> tuple[Story, ...]:
    months = criterion.months

    def plain(good: bool) -> Story:
        return lambda rng: (
            _result(criterion, _amount(criterion, good, rng), day_within(rng, today, months)),
        )

    def just_short(rng: Generator) -> tuple[Draft, ...]:
        value = _amount(criterion, False, rng, near=1)
        return (_result(criterion, value, day_within(rng, today, months)),)

    def turned(good: bool) -> Story:
        def tell(rng: Generator) -> tuple[Draft, ...]:
            taken = day_within(rng, today, months)
            before = taken - timedelta(days=int(rng.integers(20, 200)))
            # What hardly changes within months turns by little.
            near = int(rng.integers(1, 4)) if criterion.code in _STEADY else 0
            first = _result(criterion, _amount(criterion, not good, rng, near), before)
            return first, _result(criterion, _amount(criterion, good, rng, near), taken)

        return tell

    def other_unit(rng: Generator) -> tuple[Draft, ...]:
        units = other_units(criterion.code, criterion.unit)
        unit = units[int(rng.integers(len(units)))]
        value = convert(_amount(criterion, True, rng), criterion.unit, unit, criterion.code)
        shown = round(value or 0.0, 2 if (value or 0.0) < 10 else 1)
        return (_result(criterion, shown, day_within(rng, today, months), unit),)

    def stale(rng: Generator) -> tuple[Draft, ...]:
        return (_result(criterion, _amount(criterion, True, rng), day_too_old(rng, today, months)),)

    def no_unit(rng: Generator) -> tuple[Draft, ...]:
        taken = day_within(rng, today, months)
        return (_result(criterion, _amount(criterion, True, rng), taken, unit=""),)

    match stance:
        case Posture.SATISFIED:
            others = (other_unit,) if other_units(criterion.code, criterion.unit) else ()
            return (plain(True), turned(True), *others)
        case Posture.INSUFFICIENT:
            # Where nobody writes the unit of a score, none can be missed.
            return (stale, stale, no_unit if written_unit(criterion.unit) else stale)
    return (plain(False), just_short, turned(False))


def _counted(criterion: CountCriterion, stance: Posture, today: date) -> tuple[Story, ...]:
    def series(good: int, bad: int, old: int) -> Story:
        def tell(rng: Generator) -> tuple[Draft, ...]:
            span = (today - months_before(today, criterion.months)).days
            days = rng.choice(span, size=good + bad, replace=False)
            told = []
            for index, day in enumerate(days):
                value = _amount(criterion, index < good, rng)
                told.append(_result(criterion, value, today - timedelta(days=int(day))))
            for _ in range(old):
                taken = day_too_old(rng, today, criterion.months)
                told.append(_result(criterion, _amount(criterion, True, rng), taken))
            return tuple(told)

        return tell

    def one_day(rng: Generator) -> tuple[Draft, ...]:
        taken = day_within(rng, today, criterion.months)
        amounts = [_amount(criterion, True, rng) for _ in range(criterion.minimum)]
        return tuple(_result(criterion, amount, taken) for amount in amounts)

    least = criterion.minimum
    match stance:
        case Posture.SATISFIED:
            return (series(least, 0, 0), series(least, 1, 0), series(least + 1, 0, 1))
        case Posture.INSUFFICIENT:
            return (series(least - 1, 0, 1), series(0, 0, least), one_day)
    return (series(least - 1, 1, 0), series(least - 1, 2, 1))


def _seen(criterion: FindingCriterion, stance: Posture, today: date) -> tuple[Story, ...]:
    other = tuple(value for value in criterion.scale if value not in criterion.accepted)

    def found(values: tuple[str, ...], old: bool = False) -> Story:
        def tell(rng: Generator) -> tuple[Draft, ...]:
            value = values[int(rng.integers(len(values)))]
            when = day_too_old if old else day_within
            day = when(rng, today, criterion.months or 24)
            return (
                Finding(
                    id="", key=criterion.key, display=criterion.display, value=value, found=day
                ),
            )

        return tell

    match stance:
        case Posture.SATISFIED:
            return (found(criterion.accepted),)
        case Posture.INSUFFICIENT:
            unsure = found((unsettled(criterion.key),))
            return (unsure, found(criterion.accepted, old=True)) if criterion.months else (unsure,)
    # The value next to the accepted ones misleads most.
    return (found(other), found(other[-1:]))


def _diagnosed(criterion: DiagnosisCriterion, stance: Posture, today: date) -> tuple[Story, ...]:
    def has(codes: tuple[str, ...], active: bool = True) -> Story:
        def tell(rng: Generator) -> tuple[Draft, ...]:
            code = codes[int(rng.integers(len(codes)))]
            onset = some_business_day(today - timedelta(days=int(rng.integers(60, 1500))))
            name = title_of(code, criterion.display)
            return (Diagnosis(id="", code=code, display=name, onset=onset, active=active),)

        return tell

    def silent(rng: Generator) -> tuple[Draft, ...]:
        return ()

    if not criterion.wanted:
        if stance is Posture.SATISFIED:
            return (silent, has(criterion.examples, active=False))
        return (has(criterion.examples),)
    match stance:
        case Posture.SATISFIED:
            return (has(criterion.examples),)
        case Posture.INSUFFICIENT:
            return (has((criterion.near,)),)
    return (has(criterion.examples, active=False),)


def _contraindicated(
    criterion: ContraindicationCriterion, stance: Posture, today: date
) -> tuple[Story, ...]:
    def told(forbids: bool) -> Story:
        def tell(rng: Generator) -> tuple[Draft, ...]:
            substance = criterion.substances[int(rng.integers(len(criterion.substances)))]
            day = day_within(rng, today, 36)
            reaction = _reaction(substance, forbids, rng)
            return (
                Intolerance(
                    id="",
                    substance=substance,
                    reaction=reaction,
                    recorded=day,
                    contraindication=forbids,
                ),
            )

        return tell

    def silent(rng: Generator) -> tuple[Draft, ...]:
        return ()

    if criterion.wanted:
        return (told(stance is Posture.SATISFIED),)
    return (silent, told(False)) if stance is Posture.SATISFIED else (told(True),)


def _reaction(substance: str, forbids: bool, rng: Generator) -> str:
    """Return what happens to whom something is given, grave or slight."""
    table = _reactions()
    words = table.get(substance, table[""])["grave" if forbids else "slight"]
    return words[int(rng.integers(len(words)))]


@cache
def _reactions() -> Mapping[str, Mapping[str, tuple[str, ...]]]:
    raw = json.loads((files(__package__) / "data" / "reactions.json").read_text("utf-8"))
    return {
        name: {degree: tuple(words) for degree, words in row.items()} for name, row in raw.items()
    }


def _done(criterion: ProcedureCriterion, stance: Posture, today: date) -> tuple[Story, ...]:
    def on(old: bool) -> Story:
        def tell(rng: Generator) -> tuple[Draft, ...]:
            code = criterion.codes[int(rng.integers(len(criterion.codes)))]
            when = day_too_old if old else day_within
            day = when(rng, today, criterion.months)
            return (ProcedureDone(id="", code=code, display=criterion.display, performed=day),)

        return tell

    def silent(rng: Generator) -> tuple[Draft, ...]:
        return ()

    if criterion.wanted:
        return (on(stance is Posture.INSUFFICIENT),)
    return (silent, on(True)) if stance is Posture.SATISFIED else (on(False),)
