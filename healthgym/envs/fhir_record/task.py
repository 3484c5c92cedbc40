"""The types that pass between the parts of the FHIR record family."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from enum import StrEnum

from healthgym.core.task import Instance, Reference, Task, TaskGenerator
from healthgym.worlds.fhir.base import Base

#: Address of the record system in the published prompts.
BASE_URL = "http://localhost:8080/fhir/"


@dataclass(frozen=True, slots=True)
class Facts:
    """The parameters of one question. Its wording is made from them; so is its answer.

    Attributes:
        now: The time the question is asked, timezone-aware.
        patient: Record number of the patient asked about; empty where finding it is the task.
        codes: Local codes by concept, e.g. ``{"magnesium": "MG"}``.
        details: Further words of the question by name.
        numbers: Thresholds, doses and times of its rule by name; the published ones where left out.
    """

    now: datetime
    patient: str = ""
    codes: Mapping[str, str] = field(default_factory=dict)
    details: Mapping[str, str] = field(default_factory=dict)
    numbers: Mapping[str, float] = field(default_factory=dict)


class ExpectedKind(StrEnum):
    """How one element of a finish value is compared."""

    NUMBER = "number"
    TEXT = "text"
    INSTANT = "instant"


@dataclass(frozen=True, slots=True)
class Expected:
    """One element of the finish value.

    Attributes:
        kind: How it is compared.
        value: A number, a text, or an ISO 8601 date-time as stored in the chart.
        tolerance: For numbers: the largest accepted difference.
        unit: For numbers: the unit that may be written behind it in a text.
    """

    kind: ExpectedKind
    value: float | str
    tolerance: float = 1e-6
    unit: str = ""

    def accepts(self, given: object) -> bool:
        """Return whether a JSON value is this element.

        A number may be a text that is nothing but it, or it and its unit.
        """
        if self.kind is ExpectedKind.NUMBER:
            if isinstance(given, str):
                given = _read_number(given, self.unit)
            if isinstance(given, bool) or not isinstance(given, int | float):
                return False
            return abs(float(given) - float(self.value)) <= self.tolerance
        if not isinstance(given, str):
            return False
        if self.kind is ExpectedKind.TEXT:
            return given.strip().removesuffix(".") == str(self.value).removesuffix(".")
        # "GMT" and a small z say UTC, too; the published graders do not read them.
        moment = parse_instant(re.sub(r"(?: ?GMT|z)$", "Z", given.strip()))
        return moment is not None and moment == parse_instant(str(self.value))


#: Units that answers are asked in -> other names of theirs, in small letters.
_UNIT_NAMES = {
    "%": {"percent"},
    "bpm": {"beats/min", "beats per minute"},
    "mmol/L": {"meq/l"},  # potassium's, which has one charge
    "ms": {"msec", "milliseconds"},
    "uIU/mL": {"miu/l"},
    "years": {"year", "yr", "y", "years old", "y/o", "yo"},
}
#: Signs that are typed in two forms: the two micro signs, and the minus.
_SIGNS = str.maketrans({"\u00b5": "u", "\u03bc": "u", "\u2212": "-"})
_NUMBER_WITH_UNIT = re.compile(r"([+-]?[0-9]{1,9}(?:\.[0-9]{1,9})?) ?(.*)")


def _read_number(written: str, unit: str) -> float | None:
    """Return the number that a text is, alone or with its unit; None if it says anything else."""
    plain = re.sub(r" ?/ ?", "/", written.strip().translate(_SIGNS))
    found = _NUMBER_WITH_UNIT.fullmatch(plain)
    if found is None:
        return None
    names = {"", unit.lower(), *_UNIT_NAMES.get(unit, ())}
    return float(found[1]) if found[2].lower() in names else None


def number(value: float, tolerance: float = 1e-6, unit: str = "") -> Expected:
    """Return the expectation of a number."""
    return Expected(ExpectedKind.NUMBER, value, tolerance, unit)


def text(value: str) -> Expected:
    """Return the expectation of an exact text."""
    return Expected(ExpectedKind.TEXT, value)


def instant(value: str) -> Expected:
    """Return the expectation of a point in time, compared to the minute."""
    return Expected(ExpectedKind.INSTANT, value)


#: What stands for "there is none" in a finish value.
NOTHING = number(-1)


def parse_instant(value: str) -> datetime | None:
    """Return a date-time cut to the minute, UTC where it names no zone; None if it is not one."""
    value = value.strip().removesuffix("UTC").strip()
    try:
        moment = datetime.fromisoformat(value.replace(" +", "+"))
        moment = moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    except (ValueError, OverflowError):  # the year 9999 of one zone is 10000 in another
        return None
    return moment.replace(second=0, microsecond=0)


@dataclass(frozen=True, slots=True)
class Dose:
    """An amount of a medication.

    Attributes:
        value: The amount.
        unit: Its usual unit; others are converted.
        tolerance: Largest accepted difference of the amount.
    """

    value: float
    unit: str
    tolerance: float = 1e-6


@dataclass(frozen=True, slots=True)
class OrderSpec:
    """A resource that must come to exist, once.

    Attributes:
        name: Name used in checks, e.g. ``"magnesium"``.
        resource_type: ``MedicationRequest``, ``ServiceRequest`` or ``Observation``.
        item: What is ordered, by its name in the table of names and codes.
        codes: Accepted codes in ``code`` or ``medicationCodeableConcept``; any of them identifies
            the order.
        words: Words that identify the order by its text instead, all of them, without case.
        system: Code system the code must carry, if one is asked for.
        dose: Dose, for medications.
        hours: How long one dose runs; 0 if it does not.
        route: The route, as a good agent writes it.
        frequency: The interval, likewise; empty if one dose is all.
        as_needed: Whether it may be given only if needed.
        within: How soon after the question it must begin, where it says when.
        course: How long it must go on at least, where it says how long.
        priority: Required priority; empty if any.
        note: Text that must stand in the note or reason, compared without case and spacing.
        verbatim: Whether the note may hold nothing else but courtesies.
        occurrence: Earliest and latest accepted planned time.
        value: Required ``valueString``, spaces aside.
        text: What a good agent calls the order.
    """

    name: str
    resource_type: str
    item: str
    codes: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    system: str = ""
    dose: Dose | None = None
    hours: float = 0.0
    route: str = ""
    frequency: str = ""
    as_needed: bool = False
    within: timedelta = timedelta(days=30)
    course: timedelta = timedelta(0)
    priority: str = ""
    note: str = ""
    verbatim: bool = False
    occurrence: tuple[datetime, datetime] | None = None
    value: str = ""
    text: str = ""


@dataclass(frozen=True, slots=True)
class Decision:
    """What the rule of a task type makes of a chart.

    Attributes:
        branch: The branch of the rule that applies.
        answer: The finish value, element by element.
        orders: What must be ordered or recorded.
        stops: Ids of the MedicationRequests that must no longer be active.
    """

    branch: str
    answer: tuple[Expected, ...]
    orders: tuple[OrderSpec, ...] = ()
    stops: frozenset[str] = frozenset()

    @property
    def acts(self) -> bool:
        """Whether the record must change."""
        return bool(self.orders or self.stops)


@dataclass(frozen=True, slots=True)
class FhirTask(Task):
    """A question over a record system.

    Attributes:
        now: The time printed in the question, and the world's clock at the start.
        answer_form: The form of the finish value, where the published question leaves it out.
    """

    now: datetime = datetime(2023, 11, 13, 10, 15, tzinfo=UTC)
    answer_form: str = ""


@dataclass(frozen=True, slots=True)
class FhirReference(Reference):
    """What the verifier knows of a question.

    Attributes:
        kind: The task type.
        facts: Its parameters.
        decision: What the rule makes of the chart.
    """

    kind: str
    facts: Facts
    decision: Decision


@dataclass(frozen=True)
class RecordStart:
    """Start state of a record world.

    Attributes:
        base: The chart, shared and immutable.
        now: The world's time.
    """

    base: Base
    now: datetime


FhirInstance = Instance[FhirTask, FhirReference, RecordStart]
FhirTaskGenerator = TaskGenerator[FhirTask, FhirReference, RecordStart]
