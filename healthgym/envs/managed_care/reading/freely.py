"""What somebody states on a criterion in words of their own, where no usual sentence is found.

A fact is told that is named, with its days and with what it is reckoned by: sessions, a value, a
code. Whatever denies, supposes or asks states nothing, and what can be read in two ways is left.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import date

from healthgym.envs.managed_care.reading.spoken import affirmed
from healthgym.worlds.managed_care.facts import (
    AnyFact,
    Diagnosis,
    Finding,
    Measurement,
    MedicationCourse,
    ProcedureDone,
    StopReason,
    TherapyCourse,
)
from healthgym.worlds.managed_care.numerals import in_digits
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
from healthgym.worlds.managed_care.policies.units import other_units, printed
from healthgym.worlds.managed_care.stated import days_in, numbers_after

_SESSIONS = re.compile(r"(?<![\d.])(\d{1,4}) (?:\w+ )?(?:sessions?|visits?|nights?)\b")
_CODE = re.compile(r"(?<![\w.])[A-Z]\d[0-9A-Z](?:\.[0-9A-Z]{1,4})?(?!\w)|(?<![\w.])\d{5}(?!\w)")
#: A number in a unit.
_VALUE = r"(?<![\d.])(\d+(?:\.\d+)?) ?%s(?!\w)"
#: Before a value that is asked for, and was not measured: "each lower than 500 mg/dL".
_LIMIT = re.compile(
    r"\b(?:than|below|under|above|over|least|most|limit(?: of)?|threshold(?: of)?|up to|"
    r"exceed\w*) $"
)
_SENTENCE = re.compile(r"(?<=[.!?])\s+|[;\n]+")
_RESOLVED = re.compile(r"\b(?:resolved|inactive|over)\b")
#: Why a course ended, the first that is found.
_WHY = {
    StopReason.COMPLETED: r"\bcomplet\w+|\bfinished\b",
    StopReason.INTOLERANCE: r"\bnot (?:well )?tolerated\b|\bintoler\w+|\bside effects?\b",
    StopReason.CONTRAINDICATED: r"\bcontraindicat\w+",
    StopReason.INEFFECTIVE: r"\bineffective\b|\bnot effective\b|\b(?:did not|didn't) (?:help|work)|"
    r"\black of (?:effect|response)\b|\binadequate response\b",
    StopReason.COST: r"\bcost\b|\bafford\w*",
    StopReason.PATIENT_CHOICE: r"\b(?:patient|she|he) (?:chose|wished|decided)\b",
}


def freely_told(text: str, item: AnyCriterion) -> Iterator[AnyFact]:
    """Yield what a text states on a criterion in whatever words; nothing if in doubt.

    Args:
        text: What was said.
        item: The criterion.
    """
    said = in_digits(affirmed(text))
    days, low = sorted(days_in(said)), said.casefold()
    fact = _fact(item, said, low, days) if days else None
    if fact is not None:
        yield fact
    elif isinstance(item, MeasurementCriterion | CountCriterion):
        yield from _series(item, low)


def _fact(item: AnyCriterion, said: str, low: str, days: Sequence[date]) -> AnyFact | None:
    named = item.display.casefold() in low
    match item:
        case TherapyCriterion() if named and len(days) <= 2:
            counts = set(_SESSIONS.findall(low))
            return _therapy(item, int(counts.pop()), days, low) if len(counts) == 1 else None
        case StepTherapyCriterion() if len(days) <= 2:
            drugs = [one for one in (*item.drugs, *item.excluded) if one.casefold() in low]
            return _course(item, drugs[0], days, low) if len(drugs) == 1 else None
        case MeasurementCriterion() if named and len(days) == 1:
            return _measured(item, low, days[0])
        case FindingCriterion() if named and len(days) == 1:
            values = [one for one in item.scale if re.search(rf"\b{re.escape(one)}\b", low)]
            return _seen(item, values[0], days[0]) if len(values) == 1 else None
    return _coded(item, said, low, days) if len(days) == 1 else None


def _therapy(
    item: TherapyCriterion, sessions: int, days: Sequence[date], low: str
) -> TherapyCourse:
    ended = days[1] if len(days) > 1 else None
    return TherapyCourse(
        id="",
        kind=item.therapy,
        display=item.display,
        sessions=sessions,
        started=days[0],
        ended=ended,
        stop_reason=_why(low) if ended else None,
    )


def _course(
    item: StepTherapyCriterion, drug: str, days: Sequence[date], low: str
) -> MedicationCourse:
    ended = days[1] if len(days) > 1 else None
    return MedicationCourse(
        id="",
        medication=drug.lower(),
        drug_class=item.drug_class,
        dose="",
        frequency="",
        started=days[0],
        ended=ended,
        stop_reason=_why(low) if ended else None,
    )


def _measured(item: MeasurementCriterion, low: str, day: date) -> Measurement | None:
    named = {number for number, _ in numbers_after(item.display.casefold(), low)}
    for unit in (item.unit, *other_units(item.code, item.unit)):
        said = set(re.findall(_VALUE % re.escape(printed(unit).casefold()), low))
        if said and said == named:
            value = float(said.pop())
            return Measurement(
                id="", code=item.code, display=item.display, value=value, unit=unit, taken=day
            )
    return None


def _series(item: MeasurementCriterion | CountCriterion, low: str) -> Iterator[Measurement]:
    """Yield values that are each told with their day, side by side, by the name of the measure."""
    for sentence in _SENTENCE.split(low):
        if item.display.casefold() not in sentence:
            continue
        for unit in (item.unit, *other_units(item.code, item.unit)):
            form = re.compile(_VALUE % re.escape(printed(unit).casefold()))
            values = form.finditer(sentence)
            found = [one for one in values if not _LIMIT.search(sentence[: one.start()])]
            ends = [0, *(one.end() for one in found)]
            starts = [*(one.start() for one in found), len(sentence)]
            between = [days_in(sentence[a:b]) for a, b in zip(ends, starts, strict=True)]
            behind = not between[0] and all(len(days) == 1 for days in between[1:])
            ahead = not between[-1] and all(len(days) == 1 for days in between[:-1])
            if not found or behind is ahead:
                continue
            for one, days in zip(found, between[1:] if behind else between[:-1], strict=True):
                yield Measurement(
                    id="",
                    code=item.code,
                    display=item.display,
                    value=float(one[1]),
                    unit=unit,
                    taken=next(iter(days)),
                )
            break


def _seen(item: FindingCriterion, value: str, day: date) -> Finding:
    return Finding(id="", key=item.key, display=item.display, value=value, found=day)


def _coded(item: AnyCriterion, said: str, low: str, days: Sequence[date]) -> AnyFact | None:
    codes = set(_CODE.findall(said))
    match item:
        case DiagnosisCriterion():
            own = [code for code in codes if code.startswith(tuple(item.prefixes))]
            if len(own) == 1:
                active = _RESOLVED.search(low) is None
                return Diagnosis(
                    id="", code=own[0], display=item.display, onset=days[0], active=active
                )
        case ProcedureCriterion():
            own = [code for code in codes if code in item.codes]
            if len(own) == 1:
                return ProcedureDone(id="", code=own[0], display=item.display, performed=days[0])
    return None


def _why(low: str) -> StopReason | None:
    return next((reason for reason, words in _WHY.items() if re.search(words, low)), None)
