"""Facts as words. Every number that is written is a number of the fact."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import date
from operator import attrgetter
from typing import cast

from healthgym.worlds.managed_care.charts.knowledge import (
    converted,
    decimals_of,
    measures,
    written_number,
    written_unit,
)
from healthgym.worlds.managed_care.charts.phrases import Chooser, Phrasebook, Undecided, phrasebook
from healthgym.worlds.managed_care.facts import (
    AnyFact,
    Diagnosis,
    Finding,
    Intolerance,
    Measurement,
    MedicationCourse,
    ProcedureDone,
    StopReason,
    TherapyCourse,
)

#: Beginnings of codes of what does not pass: off the list, it was never there.
_LIFELONG = (
    *("C", "D8", "E1", "E84", "F03", "F80", "G12", "G20", "G30", "G35", "G80", "I25", "I42"),
    *("I50", "J34", "J44", "J84", "J96.1", "K70", "K74", "M05", "M06", "M17", "M96", "N18"),
    *("Z94", "Z99"),
)
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")

#: Kinds of facts that go on, and are told again as long as they do.
LASTING = (Diagnosis, MedicationCourse, TherapyCourse, Intolerance)


def _completed(fact: MedicationCourse | TherapyCourse) -> date:
    return fact.ended or fact.started


# Asked a thousand times for a chart, so looked up by class rather than asked class by class.
_BEGUN: Mapping[type[AnyFact], Callable[[AnyFact], date]] = {
    Diagnosis: attrgetter("onset"),
    Measurement: attrgetter("taken"),
    MedicationCourse: attrgetter("started"),
    TherapyCourse: attrgetter("started"),
    ProcedureDone: attrgetter("performed"),
    Finding: attrgetter("found"),
    Intolerance: attrgetter("recorded"),
}
_DAY: Mapping[type[AnyFact], Callable[[AnyFact], date]] = {
    **_BEGUN,
    MedicationCourse: lambda fact: _completed(cast("MedicationCourse", fact)),
    TherapyCourse: lambda fact: _completed(cast("TherapyCourse", fact)),
}


def day_of(fact: AnyFact) -> date:
    """Return the day from which a fact can be told in full: a course that ended, when it ended."""
    return _DAY[type(fact)](fact)


def begun(fact: AnyFact) -> date:
    """Return the first day on which a fact is true."""
    return _BEGUN[type(fact)](fact)


def names_of(fact: Measurement) -> tuple[str, ...]:
    """Return the names under which a document may give a measurement."""
    known = measures().get(fact.code)
    return (*known.names, fact.display) if known else (fact.display,)


def written_value(fact: Measurement, unit: str | None = None) -> str:
    """Return a measurement's value and unit, in another unit where one is asked for.

    Args:
        fact: The measurement.
        unit: UCUM unit to convert to; None keeps its own.

    Raises:
        ValueError: If no conversion to that unit is known.
    """
    own = unit or fact.unit
    value = converted(fact, own)
    shown = written_unit(own)
    number = written_number(value, decimals_of(fact, own))
    return f"{number}{shown}" if shown in ("%", "°F", "°C") else f"{number} {shown}".rstrip()


def lower_first(text: str) -> str:
    """Return a name as it stands within a sentence; abbreviations keep their capitals."""
    return text[:1].lower() + text[1:] if text[1:2].islower() else text


class Prose:
    """Words for facts, in one document's habits.

    Args:
        chooser: Where the choice of words comes from.
        units: Unit in which a measurement is given, by fact id, where it is not its own.
        style: How its author's template writes dates.

    Attributes:
        stated: Ids of the facts stated in full so far.
    """

    def __init__(self, chooser: Chooser, units: Mapping[str, str], style: int = 0) -> None:
        self.chooser = chooser
        self.book: Phrasebook = phrasebook()
        self.stated: set[str] = set()
        self._units = units
        self._style = style % 4

    def say(self, key: str, **slots: str) -> str:
        """Return one wording of a key."""
        return self.book.say(key, self.chooser, slots)

    def pick(self, options: Sequence[str]) -> str:
        """Return one of several texts."""
        return options[self.chooser.below(len(options))]

    def day(self, day: date) -> str:
        """Return a date as this document writes dates."""
        if self._style == 0:
            return day.isoformat()
        if self._style == 1:
            return f"{day.month:02d}/{day.day:02d}/{day.year}"
        if self._style == 2:
            return f"{_MONTHS[day.month - 1]} {day.day}, {day.year}"
        return f"{day.day:02d} {_MONTHS[day.month - 1]} {day.year}"

    def value(self, fact: Measurement) -> str:
        """Return a measurement's value with its unit, and note that it was stated."""
        self.stated.add(fact.id)
        return written_value(fact, self._units.get(fact.id))

    def in_own_unit(self, fact: Measurement) -> bool:
        """Return whether this document gives a measurement in its own unit."""
        return self._units.get(fact.id, fact.unit) == fact.unit

    def measurement(self, fact: Measurement, on: date) -> str:
        """Return such as ``A1c 8.9% (2026-01-17)``; the day is left out if it is ``on``."""
        name = self.pick(names_of(fact))
        when = "" if fact.taken == on else f" ({self.day(fact.taken)})"
        return f"{name} {self.value(fact)}{when}"

    def medication(self, fact: MedicationCourse, *, told: bool, on: date) -> str:
        """Return a course of a medicine as a line of a list, or told as a sentence.

        Args:
            fact: The course.
            told: Whether as a sentence.
            on: The day of the document; a course that ended later is still going on.
        """
        slots = {
            "drug": fact.medication,
            "dose": fact.dose,
            "frequency": fact.frequency,
            "start": self.day(fact.started),
        }
        if fact.ended is None or fact.ended > on:
            if fact.ended is None:
                self.stated.add(fact.id)
            return self.say("medication.started" if told else "medication.current", **slots)
        self.stated.add(fact.id)
        slots["end"] = self.day(fact.ended)
        slots["why"] = self.why(fact.stop_reason)
        return self.say("medication.stopped" if told else "medication.ended", **slots)

    def why(self, reason: StopReason | None) -> str:
        """Return a reason for stopping, in lower case."""
        text = self.say(f"why.{reason.value}" if reason else "why.unknown")
        return text[:1].lower() + text[1:]

    def therapy(self, fact: TherapyCourse, *, told: bool, on: date) -> str:
        """Return a course of therapy as a line of a list, or told as a sentence."""
        nightly = "cpap" in fact.kind or "night" in fact.kind
        slots = {
            "name": fact.display,
            "sessions": str(fact.sessions),
            "unit": "nights" if nightly else "sessions",
            "start": self.day(fact.started),
        }
        if fact.ended is None:
            self.stated.add(fact.id)
            return self.say("therapy.told" if told else "therapy.current", **slots)
        if fact.ended > on:
            return f"{fact.display}, since {slots['start']}"
        self.stated.add(fact.id)
        slots["end"] = self.day(fact.ended)
        slots["why"] = self.why(fact.stop_reason)
        return self.say("therapy.finished" if told else "therapy.ended", **slots)

    def diagnosis(self, fact: Diagnosis, *, told: bool = False) -> str:
        """Return a condition with its code."""
        self.stated.add(fact.id)
        slots = {"name": fact.display, "code": fact.code, "onset": self.day(fact.onset)}
        if not fact.active:
            key = "revised" if fact.code.startswith(_LIFELONG) else "past"
            return self.say(f"diagnosis.{key}", **slots)
        if told:
            slots["name"] = lower_first(fact.display)
        return self.say("diagnosis.told" if told else "diagnosis.active", **slots)

    def procedure(self, fact: ProcedureDone, *, coded: bool = False) -> str:
        """Return a procedure with its day and result, and with its code where one is wanted."""
        self.stated.add(fact.id)
        result = f": {fact.result.rstrip('.')}" if fact.result else ""
        return self.say(
            "procedure.coded" if coded else "procedure.done",
            name=fact.display,
            code=fact.code,
            day=self.day(fact.performed),
            result=result,
        )

    def finding(self, fact: Finding, on: date) -> str:
        """Return what was seen; the day is left out if it is ``on``."""
        self.stated.add(fact.id)
        key = fact.value if fact.value in ("present", "absent") else "graded"
        text = self.say(f"finding.{key}", name=fact.display, value=fact.value)
        return text if fact.found == on else f"{text} ({self.day(fact.found)})"

    def intolerance(self, fact: Intolerance) -> str:
        """Return an allergy or a contraindication."""
        self.stated.add(fact.id)
        return self.say(
            "allergy.forbidden" if fact.contraindication else "allergy.known",
            substance=fact.substance,
            reaction=fact.reaction,
            day=self.day(fact.recorded),
        )


class Unwritten(Prose):
    """Words for nobody: follows what a document would state, at a third of the cost of writing.

    Args:
        units: As of :class:`Prose`.
    """

    def __init__(self, units: Mapping[str, str]) -> None:
        super().__init__(Undecided(), units)

    def say(self, key: str, **slots: str) -> str:
        """Return nothing."""
        return ""

    def pick(self, options: Sequence[str]) -> str:
        """Return nothing."""
        return ""

    def day(self, day: date) -> str:
        """Return nothing."""
        return ""

    def value(self, fact: Measurement) -> str:
        """Return nothing, and note that the value would be stated."""
        self.stated.add(fact.id)
        return ""
