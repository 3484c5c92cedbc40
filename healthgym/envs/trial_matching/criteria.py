"""Eligibility criteria, and what each says of a patient: true, false, or not known.

Values are those of Kleene's three-valued logic. The chart is complete for findings, drugs and
allergies: what it does not hold is not so. It is not complete for measured values and attributes:
a criterion on one that is missing is unknown, and so is whatever depends on it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from healthgym.envs.trial_matching.chart import FEMALE, Chart
from healthgym.envs.trial_matching.vocabulary import Measure, vocabulary

Truth = bool | None

#: Time windows that criteria use, in days, and how they are worded. Facts keep clear of them.
WINDOWS = {
    14: "2 weeks",
    28: "4 weeks",
    91: "3 months",
    182: "6 months",
    365: "12 months",
    730: "2 years",
    1826: "5 years",
}


class Criterion(Protocol):
    """A statement about a patient."""

    def holds(self, chart: Chart) -> Truth:
        """Return whether it is true, false or unknown (None)."""


@dataclass(frozen=True, slots=True)
class Has:
    """The patient has, or has had, a finding.

    Attributes:
        concept: The finding, or a wider term.
        active: Whether it must be present now; else any time counts, now included.
        within: It began or happened at most so many days ago, or is a lasting condition that is
            present now: who has a cancer today has had it within any window.
        other_than: Findings of this kind do not count.
    """

    concept: str
    active: bool = False
    within: int | None = None
    other_than: str = ""

    def holds(self, chart: Chart) -> Truth:
        """Return whether some finding fits."""
        return any(
            (finding.active or not self.active)
            and (self.within is None or finding.days <= self.within or finding.lasts)
            and finding.concept != self.other_than
            for finding in chart.findings.get(self.concept, ())
        )


@dataclass(frozen=True, slots=True)
class Duration:
    """A condition was diagnosed at least, or at most, so many days ago."""

    concept: str
    days: int
    at_least: bool

    def holds(self, chart: Chart) -> Truth:
        """Return whether an active finding of exactly this kind has that age."""
        return any(
            finding.active and (finding.days >= self.days) == self.at_least
            for finding in chart.findings.get(self.concept, ())
        )


@dataclass(frozen=True, slots=True)
class AttributeIs:
    """A condition's stage, type or the like is one of some values; unknown if not recorded."""

    concept: str
    attribute: str
    values: tuple[str, ...]

    def holds(self, chart: Chart) -> Truth:
        """Return whether it is."""
        value = chart.attributes.get((self.concept, self.attribute))
        return None if value is None else value in self.values


@dataclass(frozen=True, slots=True)
class Value:
    """A reading compares with a threshold; unknown if there is none, or only an older one.

    Attributes:
        measure: What was measured.
        op: ``>=``, ``<=``, ``>`` or ``<``.
        threshold: In the unit of the measure.
        within: The reading is at most so many days old.
    """

    measure: str
    op: str
    threshold: float
    within: int | None = None

    def holds(self, chart: Chart) -> Truth:
        """Return the comparison."""
        reading = chart.readings.get(self.measure)
        if reading is None or (self.within is not None and reading.days > self.within):
            return None
        return _compare(reading.value, self.op, self.threshold)


def _compare(value: float, op: str, threshold: float) -> bool:
    match op:
        case ">=":
            return value >= threshold
        case "<=":
            return value <= threshold
        case ">":
            return value > threshold
        case _:
            return value < threshold


@dataclass(frozen=True, slots=True)
class BySex:
    """One threshold for women, another for men."""

    female: Value
    male: Value

    def holds(self, chart: Chart) -> Truth:
        """Return the comparison for the patient's sex."""
        return (self.female if chart.sex == FEMALE else self.male).holds(chart)


class Use(StrEnum):
    """When a drug was taken."""

    CURRENT = "current"  #: taken now
    STABLE = "stable"  #: taken now, and for at least so long
    RECENT = "recent"  #: taken at any moment of the last so many days
    EVER = "ever"  #: taken now or before


@dataclass(frozen=True, slots=True)
class Takes:
    """The patient takes, or has taken, a drug of a class."""

    drug_class: str
    use: Use
    days: int = 0

    def holds(self, chart: Chart) -> Truth:
        """Return whether some course fits."""
        courses = chart.drugs.get(self.drug_class, ())
        match self.use:
            case Use.CURRENT:
                return any(course.stopped is None for course in courses)
            case Use.STABLE:
                return any(c.stopped is None and c.started >= self.days for c in courses)
            case Use.RECENT:
                return any(c.stopped is None or c.stopped <= self.days for c in courses)
            case _:
                return bool(courses)


@dataclass(frozen=True, slots=True)
class Allergic:
    """The patient is allergic to a drug class."""

    drug_class: str

    def holds(self, chart: Chart) -> Truth:
        """Return whether an allergy falls under the class."""
        return self.drug_class in chart.allergies


@dataclass(frozen=True, slots=True)
class Age:
    """Age in whole years, both ends included; None where there is no limit."""

    low: int | None
    high: int | None

    def holds(self, chart: Chart) -> Truth:
        """Return whether the age lies within the limits."""
        return (self.low is None or chart.age >= self.low) and (
            self.high is None or chart.age <= self.high
        )


@dataclass(frozen=True, slots=True)
class SexIs:
    """The patient is of a sex; any will do if it is empty."""

    sex: str

    def holds(self, chart: Chart) -> Truth:
        """Return whether it is so."""
        return not self.sex or chart.sex == self.sex


@dataclass(frozen=True, slots=True)
class Not:
    """Something is not so."""

    part: Criterion

    def holds(self, chart: Chart) -> Truth:
        """Return the contrary; the contrary of unknown is unknown."""
        value = self.part.holds(chart)
        return None if value is None else not value


@dataclass(frozen=True, slots=True)
class AtLeast:
    """At least ``count`` of some criteria: 1 means any of them, their number means all."""

    count: int
    parts: tuple[Criterion, ...]

    def holds(self, chart: Chart) -> Truth:
        """Return True once enough are true, False once too few can be, else None."""
        values = [part.holds(chart) for part in self.parts]
        if values.count(True) >= self.count:
            return True
        return None if values.count(True) + values.count(None) >= self.count else False


@dataclass(frozen=True, slots=True)
class IfThen:
    """If one thing is so, then another must be."""

    condition: Criterion
    then: Criterion

    def holds(self, chart: Chart) -> Truth:
        """Return ``not condition or then``."""
        return AtLeast(1, (Not(self.condition), self.then)).holds(chart)


def parts_of(criterion: Criterion) -> Sequence[Criterion]:
    """Return the criteria that one is made of; none for a simple one."""
    match criterion:
        case AtLeast(parts=parts):
            return parts
        case Not(part=part):
            return (part,)
        case IfThen(condition=condition, then=then):
            return (condition, then)
        case BySex(female=female, male=male):
            return (female, male)
        case _:
            return ()


#: Share of a threshold that a reading keeps clear of where units may be converted and rounded;
#: readers' factors differ in the last digits.
MARGIN = 0.04


def _turns(op: str, value: float, threshold: float, measure: Measure) -> bool:
    """Return whether a comparison turns where note, criterion or both give the other unit."""
    unit = measure.alternative
    if unit is None:
        return False
    exact, limit = (x * unit.factor + unit.offset for x in (value, threshold))
    shown, wanted = unit.convert(value), unit.convert(threshold)
    truth = _compare(value, op, threshold)
    pairs = ((shown, wanted), (exact, wanted), (shown, limit))
    return any(_compare(a, op, b) is not truth for a, b in pairs)


#: Criteria that no rounding can change; most are of these kinds.
_EXACT = (Has, Takes, AttributeIs, Duration, Allergic, Age, SexIs)


def is_fragile(criterion: Criterion, chart: Chart) -> bool:
    """Return whether rounding, as of a converted unit, might change what a criterion says."""
    if isinstance(criterion, _EXACT):
        return False
    if isinstance(criterion, Value):
        measure = vocabulary().measures[criterion.measure]
        reading = chart.readings.get(criterion.measure)
        if reading is None or (measure.alternative is None and criterion.measure != "bmi"):
            return False
        near = abs(reading.value - criterion.threshold) < MARGIN * abs(criterion.threshold)
        return near or _turns(criterion.op, reading.value, criterion.threshold, measure)
    return any(is_fragile(part, chart) for part in parts_of(criterion))
