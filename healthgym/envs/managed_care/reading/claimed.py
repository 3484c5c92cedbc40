"""What somebody could be taken to claim about a criterion, in whatever words.

What a listener knows beforehand is looked for elsewhere (:mod:`.spoken`). Here nobody knows what is
claimed: each sentence is asked whether it states a fact of the criterion's kind, with the numbers,
codes and days that stand in it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import date
from itertools import product

from healthgym.envs.managed_care.reading.spoken import spoken
from healthgym.worlds.managed_care.facts import (
    AnyFact,
    Diagnosis,
    Finding,
    Measurement,
    MedicationCourse,
    ProcedureDone,
    TherapyCourse,
)
from healthgym.worlds.managed_care.policies.criteria import (
    AnyCriterion,
    CountCriterion,
    DiagnosisCriterion,
    FindingCriterion,
    MeasurementCriterion,
    ProcedureCriterion,
    StepTherapyCriterion,
    TherapyCriterion,
)
from healthgym.worlds.managed_care.stated import Stated, stated

_ENDS = re.compile(r"(?<=[.!?])\s+|\n+")
#: First and last day of a course.
Span = tuple[date, date | None]


def claimed(text: str, item: AnyCriterion) -> Iterator[AnyFact]:
    """Yield the facts that a text could be taken to claim, under ids of the reading's own.

    Args:
        text: What was said.
        item: The criterion it may be about.
    """
    found = (
        fact
        for sentence in _ENDS.split(text)
        for fact in _claims(stated(sentence), item)
        if spoken(sentence, fact)
    )
    for number, fact in enumerate(dict.fromkeys(found), 1):
        yield replace(fact, id=f"C-{item.id}-{number}")


def _claims(said: Stated, item: AnyCriterion) -> Iterator[AnyFact]:
    days = sorted(said.days)
    match item:
        case MeasurementCriterion() | CountCriterion():
            for number, day in product(sorted(said.numbers), days):
                yield Measurement(
                    id="",
                    code=item.code,
                    display=item.display,
                    value=float(number),
                    unit=item.unit,
                    taken=day,
                )
        case FindingCriterion():
            for value, day in product(item.accepted, days):
                yield Finding(id="", key=item.key, display=item.display, value=value, found=day)
        case DiagnosisCriterion():
            codes = [code for code in sorted(said.codes) if code.startswith(tuple(item.prefixes))]
            for code, day in product(codes or item.examples[:1], days):
                yield Diagnosis(id="", code=code, display=item.display, onset=day, active=True)
        case ProcedureCriterion():
            for day in days:
                yield ProcedureDone(id="", code=item.codes[0], display=item.display, performed=day)
        case TherapyCriterion() | StepTherapyCriterion():
            yield from _courses(said, item, _spans(days))


def _courses(
    said: Stated, item: TherapyCriterion | StepTherapyCriterion, spans: list[Span]
) -> Iterator[AnyFact]:
    if isinstance(item, TherapyCriterion):
        whole = sorted(number for number in said.numbers if number.isdecimal())
        for number, (start, end) in product(whole, spans):
            yield TherapyCourse(
                id="",
                kind=item.therapy,
                display=item.display,
                sessions=int(number),
                started=start,
                ended=end,
            )
        return
    for drug, (start, end) in product(item.drugs, spans):
        yield MedicationCourse(
            id="",
            medication=drug,
            drug_class=item.drug_class,
            dose="",
            frequency="",
            started=start,
            ended=end,
            stop_reason=item.reasons[0] if end and item.reasons else None,
        )


def _spans(days: list[date]) -> list[Span]:
    """Return what days may be of a course: two are its ends, one its beginning."""
    pairs: list[Span] = [(one, other) for one in days for other in days if one < other]
    return pairs or [(day, None) for day in days]
