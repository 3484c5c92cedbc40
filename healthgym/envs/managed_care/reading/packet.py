"""What the documents of a packet show, read from their texts alone.

A payer sees no chart: values, courses, conditions and procedures stand in notes and reports, in
the phrases that clinicians write in. Looked for is what a policy asks about, and nothing else; no
number is known beforehand. A claim that the practice wrote for the request shows nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import date
from functools import cache

from healthgym.envs.managed_care.reading.documents import DAY, Document, read_day
from healthgym.envs.managed_care.reading.statements import (
    NAME,
    facts_told,
    marked,
    mentions,
    patterns_of,
    wordings_of,
)
from healthgym.worlds.managed_care.charts.knowledge import written_unit
from healthgym.worlds.managed_care.charts.prose import names_of
from healthgym.worlds.managed_care.facts import (
    AnyFact,
    Diagnosis,
    Intolerance,
    Measurement,
    MedicationCourse,
    ProcedureDone,
    StopReason,
    TherapyCourse,
)
from healthgym.worlds.managed_care.policies.criteria import (
    AnyCriterion,
    ContraindicationCriterion,
    CountCriterion,
    DiagnosisCriterion,
    MeasurementCriterion,
    ProcedureCriterion,
    StepTherapyCriterion,
)
from healthgym.worlds.managed_care.policies.units import other_units

_CODE = re.compile(r"\((?P<code>[A-Z]\d[\dA-Z](?:\.\w{1,4})?)\)(?P<rest>[^\n]{0,90})")
_ONSET = re.compile(DAY)
_OVER = re.compile(
    r"^(?:,? (?:history of|inactive|no longer active|resolved|not confirmed|revised|ruled out"
    r"|taken off))\b"
)
_HELD = re.compile(
    r"^(?: –|,)? (?:diagnosed|dx|onset|since|first noted|was diagnosed|has been on)\b"
)
#: Both pressures stand in one pair, the upper one first.
_PRESSURE = re.compile(
    rf"\b(?:BP|B/P|blood pressure):? +(?P<upper>\d{{2,3}})/(?P<lower>\d{{2,3}})(?: mmHg)?"
    rf"(?: \((?P<day>{DAY})\))?",
    re.IGNORECASE,
)
_PRESSURES = {"8480-6": "upper", "8462-4": "lower"}
_COUNT = "{count}"
_NUMBER = r"(?P<value>-?\d+(?:,\d{3})*(?:\.\d+)?)"
_MEDICATION = ("medication.ended", "medication.stopped", "medication.current", "medication.started")


@dataclass(frozen=True, slots=True)
class Shown:
    """A fact, and the documents that state it.

    Attributes:
        fact: The fact, under an id of the reading's own.
        documents: Ids of the documents.
    """

    fact: AnyFact
    documents: tuple[str, ...]


def facts_shown(documents: Iterable[Document], asked: Iterable[AnyCriterion]) -> tuple[Shown, ...]:
    """Return the facts that documents state, of those that criteria ask for.

    Args:
        documents: Those that count.
        asked: The criteria.
    """
    wanted = tuple(asked)
    found: dict[AnyFact, list[str]] = {}
    for document in documents:
        told: dict[AnyFact, None] = dict.fromkeys(
            replace(fact, id="") for fact in facts_told([document], wanted)
        )
        for criterion in wanted:
            told.update(dict.fromkeys(_told(document, criterion)))
        for fact in told:
            found.setdefault(fact, []).append(document.id)
    kept = [(fact, names) for fact, names in found.items() if not _outdated(fact, found)]
    return tuple(
        Shown(replace(fact, id=f"R-{number:03d}"), tuple(dict.fromkeys(names)))
        for number, (fact, names) in enumerate(kept, 1)
    )


def _outdated(fact: AnyFact, known: Iterable[AnyFact]) -> bool:
    """Return whether a course that is told as going on ended by another document."""
    if not isinstance(fact, MedicationCourse | TherapyCourse) or fact.ended is not None:
        return False
    return any(
        isinstance(other, type(fact))
        and other.ended is not None
        and other.started == fact.started
        and _what(other) == _what(fact)
        for other in known
    )


def _what(course: AnyFact) -> str:
    return course.medication if isinstance(course, MedicationCourse) else type(course).__name__


def _told(document: Document, criterion: AnyCriterion) -> Iterator[AnyFact]:
    match criterion:
        case MeasurementCriterion() | CountCriterion():
            yield from _measured(document, criterion)
        case StepTherapyCriterion():
            for drug in (*criterion.drugs, *criterion.excluded):
                yield from _courses(document, drug, criterion.drug_class)
        case DiagnosisCriterion():
            yield from _diagnosed(document, criterion)
        case ContraindicationCriterion():
            for substance in criterion.substances:
                yield from _intolerances(document, substance)
        case ProcedureCriterion():
            yield from _done(document, criterion)


# -- values --------------------------------------------------------------------------------------


def _measured(
    document: Document, criterion: MeasurementCriterion | CountCriterion
) -> Iterator[Measurement]:
    blank = Measurement(
        id="",
        code=criterion.code,
        display=criterion.display,
        value=0,
        unit=criterion.unit,
        taken=document.day,
    )
    units = (criterion.unit, *other_units(criterion.code, criterion.unit))
    for line in document.text.split("\n"):
        if criterion.code in _PRESSURES:
            for place in _PRESSURE.finditer(line):
                value = float(place[_PRESSURES[criterion.code]])
                taken = read_day(place["day"]) if place["day"] else document.day
                yield replace(blank, value=value, taken=taken)
        for number, unit, day in _values(line, names_of(blank), units):
            value = float(number.replace(",", ""))
            yield replace(blank, value=value, unit=unit, taken=day or document.day)


def _values(
    line: str, names: tuple[str, ...], units: tuple[str, ...]
) -> Iterator[tuple[str, str, date | None]]:
    """Yield each value of a measure in a line: number, unit, and the day where one is given."""
    for name in sorted(dict.fromkeys(names), key=len, reverse=True):
        # One line may name it more than once, in as many words.
        for place in re.finditer(rf"(?<![\w-]){re.escape(name)}(?: \||:)? +(?=-?\d)", line, re.I):
            rest = line[place.end() :]
            # A summary lists the values of a measure one after the other.
            listed = place[0].rstrip().endswith(":")
            for part in re.split(r"; (?=\d)", rest) if listed else [rest]:
                found = _value(part, units)
                if found is not None:
                    yield found
                    yield from _earlier(part, units)
            line = f"{line[: place.start()]}{' ' * len(place[0])}{rest}"


def _value(text: str, units: tuple[str, ...]) -> tuple[str, str, date | None] | None:
    for unit in sorted(units, key=lambda one: len(written_unit(one)), reverse=True):
        found = re.match(
            rf"{_NUMBER}{_written(unit)}(?![\w/])(?:(?: on| \() ?(?P<day>{DAY}))?", text
        )
        if found:
            return found["value"], unit, read_day(found["day"]) if found["day"] else None
    return None


def _written(unit: str) -> str:
    """Return an expression for a unit behind its number; a score has none, a count may have."""
    shown = written_unit(unit)
    if not shown:
        return ""
    return rf"(?: ?{re.escape(shown)}){'?' if unit == _COUNT else ''}"


def _earlier(text: str, units: tuple[str, ...]) -> Iterator[tuple[str, str, date | None]]:
    """Yield the value before, where one is compared with it: ``, up from 19.87 kPa (day)``."""
    for unit in units:
        written = _written(unit)
        found = re.match(
            rf"[\d.,]+{written},? [a-z ]{{2,30}} {_NUMBER}{written} \((?P<day>{DAY})\)", text
        )
        if found:
            yield found["value"], unit, read_day(found["day"])
            return


# -- courses, conditions, procedures --------------------------------------------------------------


def _courses(document: Document, drug: str, drug_class: str) -> Iterator[MedicationCourse]:
    if not mentions(document, drug):
        return
    known = (
        ("dose", r"[^;\n]{1,60}?"),
        ("drug", NAME),
        ("frequency", r"[^;\n]{1,60}?"),
        ("why", f"(?P<why>{_reasons_pattern()})"),
    )
    text = marked(document, drug)
    for key in _MEDICATION:
        for pattern in patterns_of(key, known):
            for match in pattern.finditer(text):
                words = match.groupdict()
                yield MedicationCourse(
                    id="",
                    medication=drug,
                    drug_class=drug_class,
                    dose="",
                    frequency="",
                    started=read_day(words["start"]),
                    ended=read_day(words["end"]) if words.get("end") else None,
                    stop_reason=_reasons().get((words.get("why") or "").casefold()),
                )


@cache
def _reasons() -> dict[str, StopReason | None]:
    found: dict[str, StopReason | None] = {}
    for reason in (None, *StopReason):
        for words in wordings_of(f"why.{reason.value if reason else 'unknown'}"):
            found["".join(map(str, words)).casefold()] = reason
    return found


@cache
def _reasons_pattern() -> str:
    return "|".join(re.escape(words) for words in sorted(_reasons(), key=len, reverse=True))


def _diagnosed(document: Document, criterion: DiagnosisCriterion) -> Iterator[Diagnosis]:
    for match in _CODE.finditer(document.text):
        if not match["code"].startswith(tuple(criterion.prefixes)):
            continue
        over, held = _OVER.match(match["rest"]), _HELD.match(match["rest"])
        onset = _ONSET.search(match["rest"])
        if onset is not None and (over or held):
            yield Diagnosis(
                id="",
                code=match["code"],
                display=criterion.display,
                onset=read_day(onset[0]),
                active=held is not None,
            )


def _intolerances(document: Document, substance: str) -> Iterator[Intolerance]:
    pattern = re.compile(
        rf"{re.escape(substance)}: (?P<reaction>[^;\n]+?)(?P<ban>, contraindicated)?"
        rf"(?: \(recorded | – on file since |, noted )(?P<day>{DAY})",
        re.IGNORECASE,
    )
    for match in pattern.finditer(document.text):
        yield Intolerance(
            id="",
            substance=substance,
            reaction=match["reaction"],
            recorded=read_day(match["day"]),
            contraindication=match["ban"] is not None,
        )


def _done(document: Document, criterion: ProcedureCriterion) -> Iterator[ProcedureDone]:
    if not mentions(document, criterion.display):
        return
    text = marked(document, criterion.display)
    for key in ("procedure.done", "procedure.coded"):
        for pattern in patterns_of(key, (("name", NAME),)):
            for match in pattern.finditer(text):
                yield ProcedureDone(
                    id="",
                    code=criterion.codes[0],
                    display=criterion.display,
                    performed=read_day(match["day"]),
                )
