"""A chart read back: who it is, the coverage, what the tables state, and which documents there are.

What only documents tell (findings, treatments without medicines) is in `statements`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date

from healthgym.envs.managed_care.reading.layout import Row, fields, rows, sections
from healthgym.worlds.managed_care.charts.structured import STOPPED
from healthgym.worlds.managed_care.facts import (
    AnyFact,
    Diagnosis,
    Finding,
    Intolerance,
    Measurement,
    MedicationCourse,
    ProcedureDone,
)

_ENDED = re.compile(r"(?P<reason>.*); ended (?P<day>\d{4}-\d\d-\d\d)")
_VALUE = re.compile(r"(?P<value>.+?) \((?P<day>\d{4}-\d\d-\d\d)\)(?:, |$)")
_REASONS = {text: reason for reason, text in STOPPED.items()}


@dataclass(frozen=True, slots=True)
class Listed:
    """A document as the chart lists it.

    Attributes:
        id: Its id.
        kind: What it is.
        title: Its title.
        day: The day it was made.
        signed: Whether somebody has signed it.
    """

    id: str
    kind: str
    title: str
    day: date
    signed: bool


@dataclass(frozen=True, slots=True)
class ChartReading:
    """What a chart says.

    Attributes:
        patient: Who it is.
        coverages: Coverage history, the latest first.
        facts: What the tables state, each under an id of its own.
        documents: What is on file, oldest first.
    """

    patient: Row
    coverages: tuple[Row, ...]
    facts: tuple[AnyFact, ...]
    documents: tuple[Listed, ...]

    def coverage_on(self, day: date) -> Row | None:
        """Return the coverage that is active on a day, or None."""
        for row in self.coverages:
            begun = row["effective_date"] <= day.isoformat()
            ended = row.get("termination_date", "") or day.isoformat()
            if begun and day.isoformat() <= ended and row["active"] == "yes":
                return row
        return None


def read_chart(text: str) -> ChartReading:
    """Return what a chart says, from the answer of the tool that shows it."""
    parts = sections(text)

    def table(name: str) -> Sequence[Row]:
        found = rows(parts.get(name, []))
        return found if name == "coverage" else found[::-1]  # shown the newest first

    return ChartReading(
        patient=fields(parts["patient"]),
        coverages=tuple(table("coverage")),
        facts=(
            *map(_diagnosis, table("conditions")),
            *_measured(table("measurements")),
            *_found(table("findings")),
            *map(_procedure, table("procedures")),
            *map(_medication, table("medications")),
            *map(_intolerance, table("allergies")),
        ),
        documents=tuple(
            Listed(
                row["id"],
                row["kind"],
                row["title"],
                _day(row["created_at"]),
                bool(row.get("signed_at")),
            )
            for row in table("documents")
        ),
    )


def _day(text: str) -> date:
    return date.fromisoformat(text[:10])


def _diagnosis(row: Row) -> Diagnosis:
    return Diagnosis(
        id=row["id"],
        code=row["code"],
        display=row["display"],
        onset=_day(row["onset_date"]),
        active=row["active"] == "yes",
    )


def _measured(table: Iterable[Row]) -> Iterator[Measurement]:
    for row in table:
        for number, told in enumerate(_values(row)):
            yield Measurement(
                id=f"{row['code']} {row.get('unit', '')} {number}",
                code=row["code"],
                display=row["display"],
                value=float(told["value"].split(" ")[0]),
                unit=row.get("unit", ""),
                taken=_day(told["day"]),
            )


def _found(table: Iterable[Row]) -> Iterator[Finding]:
    for row in table:
        for number, told in enumerate(_values(row)):
            yield Finding(
                id=f"{row['code']} {number}",
                key=row["code"],
                display=row["display"],
                value=told["value"],
                found=_day(told["day"]),
            )


def _values(row: Row) -> list[re.Match[str]]:
    """Return the values of a test, the oldest first."""
    return list(_VALUE.finditer(row["values"]))[::-1]


def _procedure(row: Row) -> ProcedureDone:
    return ProcedureDone(
        id=row["id"],
        code=row["code"],
        display=row["display"],
        performed=_day(row["performed_at"]),
        result=row.get("notes", ""),
    )


def _medication(row: Row) -> MedicationCourse:
    over = _ENDED.fullmatch(row.get("discontinued_reason", ""))
    return MedicationCourse(
        id=row["id"],
        medication=row["medication_name"],
        drug_class="",  # the record names no classes
        dose=row.get("dose", ""),
        frequency=row.get("frequency", ""),
        started=_day(row["authored_on"]),
        ended=_day(over["day"]) if over else None,
        stop_reason=_REASONS.get(over["reason"]) if over else None,
    )


def _intolerance(row: Row) -> Intolerance:
    return Intolerance(
        id=row["id"],
        substance=row["substance"],
        reaction=row.get("reaction", ""),
        recorded=_day(row["recorded_at"]),
        contraindication=row.get("notes", "") == "Contraindicated",
    )
