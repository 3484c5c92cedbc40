"""Drawing single criteria of trials about a condition."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from healthgym.core.choice import Weighted
from healthgym.envs.trial_matching.chart import Chart
from healthgym.envs.trial_matching.criteria import (
    Age,
    Allergic,
    AtLeast,
    AttributeIs,
    BySex,
    Criterion,
    Duration,
    Has,
    IfThen,
    Not,
    SexIs,
    Takes,
    Use,
    Value,
)
from healthgym.envs.trial_matching.dice import Dice
from healthgym.envs.trial_matching.vocabulary import Condition, Vocabulary, vocabulary

#: Draws a criterion; another one each time.
Slot = Callable[[], Criterion]

#: Days that windows of exclusion criteria, of steady treatment and of wash-out have.
_RECENT = (28, 91, 182, 365, 1826)
_STABLE = (28, 91, 182)
_WASHOUT = (14, 28, 91, 182)
_USES = Weighted({Use.CURRENT: 3, Use.RECENT: 3, Use.EVER: 1}, "uses")


@cache
def _exclusions(composite: float) -> Weighted[int]:
    return Weighted(enumerate((3.5, 2.5, 2.0, 0.6, 4 * composite)), "exclusions")


class CriterionDraw:
    """Draws criteria of trials about a condition, without regard to what they say of a patient.

    Args:
        dice: Randomness.
        condition: The condition.
        composite: How often criteria are composite.
        size: Fewest and most inclusion criteria besides the condition.
    """

    def __init__(
        self, dice: Dice, condition: Condition, composite: float, size: tuple[int, int]
    ) -> None:
        self._dice = dice
        self._condition = condition
        self._composite = composite
        self._size = size
        self._terms: Vocabulary = vocabulary()

    def lead(self) -> Has:
        """Return the criterion that names the condition."""
        concept = self._condition.key
        return Has(concept, active=not self._terms.is_event(concept))

    def age(self) -> Age:
        """Draw limits of age."""
        dice, (youngest, oldest) = self._dice, self._condition.ages
        lows = [12] * (youngest < 16) + [18, 18, 18, 20, 21, 30, 40, 45, 50, 60]
        low = dice.pick([value for value in lows if value < oldest - 15])
        high = dice.pick((None, None, 55, 60, 65, 70, 75, 75, 80, 80, 85, 90))
        return Age(low, high if high is None or high > low + 8 else None)

    # -- inclusion ---------------------------------------------------------------------------

    def inclusion_slots(self) -> list[Slot]:
        """Draw which kinds of inclusion criteria a trial has; each slot draws one criterion."""
        dice, condition = self._dice, self._condition
        slots: list[Slot] = [
            lambda a=attribute: self._attribute(a.key)  # type: ignore[misc]
            for attribute in condition.attributes
            if dice.chance(0.55)
        ]
        slots += [self._key_value] * dice.between(1, 2)
        extra: list[tuple[Slot, float]] = [
            (self._plain_value, 2.0),
            (self._duration, 1.2),
            (self._therapy, 2.0),
            (self._absence, 1.2),
            (self._composite_inclusion, 5 * self._composite),
        ]
        more = max(dice.between(*self._size) - len(slots), 1)
        choice = Weighted(extra, "criteria")
        return slots + [dice.weighted(choice) for _ in range(more)]

    def _attribute(self, key: str) -> Criterion:
        attribute = next(a for a in self._condition.attributes if a.key == key)
        values = list(attribute.values)
        count = 1 if len(values) == 2 else self._dice.between(1, len(values) - 1)
        start = self._dice.below(len(values) - count + 1)
        return AttributeIs(self._condition.key, key, tuple(values[start : start + count]))

    def _key_value(self) -> Value:
        return self._value(self._dice.pick(list(self._condition.measures)), inclusion=True)

    def _plain_value(self) -> Value:
        return self._value(self._dice.pick(self._terms.general["incidental_measures"]), True)

    def _value(self, name: str, inclusion: bool) -> Value:
        measure = self._terms.measures[name]
        op, threshold = self._dice.pick(measure.include if inclusion else measure.exclude)
        dated = name in self._terms.general["dated_measures"] and self._dice.chance(0.2)
        within = self._dice.pick((28, 91, 182)) if dated else None
        return Value(name, op, threshold, within)

    def _duration(self) -> Duration:
        return Duration(
            self._condition.key, self._dice.pick((91, 182, 365, 730)), self._dice.chance(0.65)
        )

    def _therapy(self) -> Criterion:
        dice, condition = self._dice, self._condition
        if condition.lines:
            parts = [drug for line in condition.lines.values() for drug in line]
            return Takes(self._terms.class_of[dice.pick(parts)], Use.EVER)
        name = self._widen(dice.pick(condition.drugs))
        use = dice.pick((Use.CURRENT, Use.STABLE, Use.EVER))
        return Takes(name, use, dice.pick(_STABLE) if use is Use.STABLE else 0)

    def _absence(self) -> Criterion:
        dice = self._dice
        if dice.chance(0.5):
            return Not(self._excluded_finding())
        return Not(self._excluded_drug())

    def _widen(self, name: str) -> str:
        wider = sorted(self._terms.wider[name])
        return self._dice.pick(wider) if self._dice.chance(0.4) else name

    def _composite_inclusion(self) -> Criterion:
        dice = self._dice
        match dice.below(4):
            case 0:
                return self._any_of(1, 2)
            case 1:
                return self._any_of(2, 3)
            case 2 if not self._condition.lines:
                name = self._widen(dice.pick(self._condition.drugs))
                stable = Takes(name, Use.STABLE, dice.pick(_STABLE))
                return IfThen(Takes(name, Use.CURRENT), stable)
            case _:
                return self._by_sex()

    def _by_sex(self) -> Criterion:
        dice = self._dice
        name = dice.pick(("hemoglobin", "bmi", "creatinine", "qtc"))
        first = self._value(name, inclusion=True)
        same = sorted(v for op, v in self._terms.measures[name].include if op == first.op)
        higher = [value for value in same if value > first.threshold] or same[-1:]
        female, male = first.threshold, higher[0]
        if female == male:
            return self._any_of(1, 2)
        return BySex(Value(name, first.op, female), Value(name, first.op, male))

    def _any_of(self, count: int, size: int) -> Criterion:
        """Return a list of which so many must hold."""
        dice = self._dice
        parts: list[Criterion] = []
        while len(parts) < size:
            match dice.below(4):
                case 0:
                    part: Criterion = self._key_value()
                case 1:
                    options = [*self._condition.comorbid, *self._condition.events]
                    part = self._had(dice.pick(options))
                case 2 if not self._condition.lines:
                    part = Takes(self._widen(dice.pick(self._condition.drugs)), Use.CURRENT)
                case _:
                    part = self._value(dice.pick(list(self._condition.measures)), inclusion=True)
            if part not in parts:
                parts.append(part)
        if self._composite > 0.15 and dice.chance(self._composite):
            parts[-1] = AtLeast(2, (self._key_value(), self._negation()))
        return AtLeast(count, tuple(parts))

    def _negation(self) -> Criterion:
        return Not(self._had(self._dice.pick(self._condition.exclude)))

    def _had(self, name: str) -> Has:
        """Return that a finding, or a wider term, was there at any time.

        Habits are asked about as of now: a note counts pack-years without calling them a finding.
        """
        name = self._widen(name)
        return Has(name, active=name in self._terms.general["exclusion_always_active"])

    # -- exclusion ---------------------------------------------------------------------------

    def exclusion(self) -> Criterion:
        """Draw an exclusion criterion."""
        dice = self._dice
        match dice.weighted(_exclusions(self._composite)):
            case 0:
                return self._excluded_finding()
            case 1:
                return self._excluded_drug()
            case 2:
                names = [*self._condition.measures, *self._terms.general["incidental_measures"]]
                return self._value(dice.pick(names), inclusion=False)
            case 3:
                return Allergic(dice.pick(self._terms.general["allergens"]))
            case _:
                return self._composite_exclusion()

    def _excluded_finding(self, name: str = "") -> Has:
        dice, terms = self._dice, self._terms
        if not name:
            own = dice.chance(0.5)
            general = terms.general["general_exclusions"]
            name = dice.pick(self._condition.exclude if own else general)
        other = self._condition.key if name in terms.wider[self._condition.key] else ""
        if name == self._condition.key:
            name = "trial_participation"
            other = ""
        if name in terms.general["exclusion_always_active"]:
            return Has(name, active=True)
        if terms.is_event(name) or name == "malignancy":
            return Has(name, within=dice.pick((*_RECENT, None)), other_than=other)
        return Has(name, active=dice.chance(0.5), other_than=other)

    def _excluded_drug(self, name: str = "") -> Takes:
        dice = self._dice
        if not name:
            own = dice.chance(0.55)
            name = dice.pick(
                self._condition.exclude_drugs if own else self._terms.general["incidental_drugs"]
            )
        use = dice.weighted(_USES)
        return Takes(name, use, dice.pick(_WASHOUT) if use is Use.RECENT else 0)

    def _composite_exclusion(self) -> Criterion:
        dice = self._dice
        first = self._excluded_finding()
        if dice.chance(0.5):
            return AtLeast(2, (first, self._excluded_drug()))
        return AtLeast(2, (first, Not(self._excluded_drug())))

    def about(self, chart: Chart) -> Criterion:
        """Return a criterion on a fact of the patient; a window or a threshold decides it."""
        dice, patient = self._dice, chart.patient
        match dice.below(4):
            case 0 | 1 if len(patient.findings) > 1:
                finding = dice.pick(patient.findings[1:])
                return self._excluded_finding(self._widen(finding.concept))
            case 2 if patient.drugs:
                name = self._terms.class_of[dice.pick(patient.drugs).drug]
                return self._excluded_drug(self._widen(name))
            case 3 if patient.allergies and dice.chance(0.5):
                return Allergic(dice.pick(patient.allergies))
            case _:
                return self._value(dice.pick(patient.readings).measure, inclusion=False)

    def surely(self, chart: Chart) -> Criterion:
        """Return an exclusion criterion that applies to the patient, whatever the draws."""
        for finding in chart.patient.findings[1:]:
            return Has(finding.concept)
        for use in chart.patient.drugs:
            return Takes(self._terms.class_of[use.drug], Use.EVER)
        return SexIs(chart.sex)
