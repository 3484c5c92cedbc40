"""Drawing trials from the latent model, for a patient or for nobody in particular.

Trials for a patient are drawn from the same slots as all others. An aim only decides which draws
are kept, so that the criteria of an eligible trial look like those of any other; only the note
tells them apart.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from healthgym.core.seeding import Split
from healthgym.envs.trial_matching.chart import FEMALE, MALE, Chart
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
    is_fragile,
)
from healthgym.envs.trial_matching.dice import Dice
from healthgym.envs.trial_matching.vocabulary import Condition, Vocabulary, vocabulary

Slot = Callable[[], Criterion]

_TRIES = 12
_RECENT = (28, 91, 182, 365, 1826)
_STABLE = (28, 91, 182)
_WASHOUT = (14, 28, 91, 182)


class Aim(StrEnum):
    """What a trial drawn for a patient must turn out to be."""

    ELIGIBLE = "eligible"  #: grade 2
    EXCLUDED = "excluded"  #: grade 1
    UNMET = "unmet"  #: grade 0 by a criterion other than the condition


@dataclass(frozen=True, slots=True)
class Trial:
    """A trial as the latent model holds one.

    Attributes:
        nct_id: Registry number.
        condition: The condition it is about.
        mechanism: What is tried.
        seed: Of everything in its record that does not bear on eligibility.
        sex: Sexes it admits, as a criterion.
        age: Ages it admits.
        inclusion: Criteria that must hold, the condition first.
        exclusion: Criteria that must not.
    """

    nct_id: str
    condition: str
    mechanism: str
    seed: int
    sex: SexIs
    age: Age
    inclusion: tuple[Criterion, ...]
    exclusion: tuple[Criterion, ...]


def grade(trial: Trial, chart: Chart) -> int:
    """Return the TREC grade of a patient and a trial.

    2 (eligible) where sex, age and every inclusion criterion hold and no exclusion criterion does;
    1 (excluded) where they hold and some exclusion criterion does, too; else 0. An inclusion
    criterion of unknown truth does not hold, and nor does an exclusion criterion.
    """
    required: tuple[Criterion, ...] = (trial.sex, trial.age, *trial.inclusion)
    if not all(criterion.holds(chart) is True for criterion in required):
        return 0
    return 1 if any(criterion.holds(chart) is True for criterion in trial.exclusion) else 2


def topic_of(criterion: Criterion) -> str:
    """Return what a criterion is about; a trial has at most one criterion on a topic."""
    # No match statement: this runs for every draw that is made, kept or not.
    if isinstance(criterion, Has):
        return criterion.concept
    if isinstance(criterion, Takes):
        return criterion.drug_class
    if isinstance(criterion, Value):
        return criterion.measure
    if isinstance(criterion, AttributeIs):
        return f"{criterion.attribute} of {criterion.concept}"
    if isinstance(criterion, Not):
        return topic_of(criterion.part)
    if isinstance(criterion, BySex):
        return criterion.female.measure
    if isinstance(criterion, IfThen):
        return topic_of(criterion.condition)
    if isinstance(criterion, AtLeast):
        return " ".join(topic_of(part) for part in criterion.parts)
    return "duration" if isinstance(criterion, Duration) else repr(criterion)


class TrialDraw:
    """Draws trials of one condition.

    Args:
        dice: Randomness.
        condition: The condition they are about.
        split: The split, which decides what is tried.
        composite: How often criteria are composite.
        units: Whether units may be converted, so that values must keep clear of thresholds.
    """

    def __init__(
        self,
        dice: Dice,
        condition: Condition,
        split: Split,
        *,
        composite: float,
        units: bool,
        size: tuple[int, int],
    ) -> None:
        self._dice = dice
        self._condition = condition
        self._mechanisms = condition.mechanisms_of(split)
        self._composite = composite
        self._units = units
        self._size = size
        self._terms: Vocabulary = vocabulary()
        self._used: set[str] = set()

    def draw(self, nct_id: str, chart: Chart | None = None, aim: Aim | None = None) -> Trial:
        """Return a trial.

        Args:
            nct_id: Its registry number.
            chart: The patient it is drawn for, or None.
            aim: What it must turn out to be for that patient.
        """
        dice = self._dice
        self._used = {self._condition.key}
        slots = self._inclusion_slots(chart)
        unmet: set[int] = set()
        if aim is Aim.UNMET:
            unmet = set(dice.sample(range(len(slots)), 1 if dice.chance(0.7) else 2))
        lead = self._condition_criterion()
        inclusion = [lead]
        failed = False
        for place, slot in enumerate(slots):
            want = None if chart is None else place not in unmet
            found = self._accept(slot, chart, want)
            if found is not None:
                inclusion.append(found)
                failed = failed or place in unmet
        ages_met = aim is not Aim.UNMET or (failed and dice.chance(0.85))
        sex, age = self._limits(chart, ages_met)
        exclusion = self._exclusions(chart, aim)
        return Trial(
            nct_id=nct_id,
            condition=self._condition.key,
            mechanism=dice.pick(self._mechanisms),
            seed=dice.below(2**48),
            sex=sex,
            age=age,
            inclusion=(inclusion[0], *dice.shuffled(inclusion[1:])),
            exclusion=tuple(dice.shuffled(exclusion)),
        )

    def _accept(self, slot: Slot, chart: Chart | None, want: bool | None) -> Criterion | None:
        """Return a draw of a slot that says what is wanted of the patient; None if none does."""
        for _ in range(_TRIES):
            criterion = slot()
            topic = topic_of(criterion)
            if topic in self._used:
                continue  # two criteria on one thing repeat or contradict each other
            if chart is not None:
                if want is not None and (criterion.holds(chart) is True) is not want:
                    continue
                if self._units and is_fragile(criterion, chart):
                    continue
            self._used.add(topic)
            return criterion
        return None

    # -- inclusion ---------------------------------------------------------------------------

    def _condition_criterion(self) -> Criterion:
        concept = self._condition.key
        return Has(concept, active=not self._terms.is_event(concept))

    def _limits(self, chart: Chart | None, met: bool) -> tuple[SexIs, Age]:
        dice, condition = self._dice, self._condition
        sex = SexIs(condition.sex)
        if not condition.sex and dice.chance(0.08):
            sex = SexIs(dice.pick((FEMALE, MALE)))
        if chart is not None and met and sex.holds(chart) is False:
            sex = SexIs("")
        for _ in range(_TRIES):
            age = self._age()
            holds = chart is None or age.holds(chart)
            if chart is None or holds is met or (not met and sex.holds(chart) is False):
                return sex, age
        assert chart is not None
        return sex, Age(12, None) if met else _beyond(chart.age)

    def _age(self) -> Age:
        dice, (youngest, oldest) = self._dice, self._condition.ages
        lows = [12] * (youngest < 16) + [18, 18, 18, 20, 21, 30, 40, 45, 50, 60]
        low = dice.pick([value for value in lows if value < oldest - 15])
        high = dice.pick((None, None, 55, 60, 65, 70, 75, 75, 80, 80, 85, 90))
        return Age(low, high if high is None or high > low + 8 else None)

    def _inclusion_slots(self, chart: Chart | None) -> list[Slot]:
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
        choices, weights = [slot for slot, _ in extra], [weight for _, weight in extra]
        return slots + [dice.weighted(choices, weights) for _ in range(more)]

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
                    part = Has(self._widen(dice.pick(options)))
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
        return Not(Has(self._widen(self._dice.pick(self._condition.exclude))))

    # -- exclusion ---------------------------------------------------------------------------

    def _exclusions(self, chart: Chart | None, aim: Aim | None) -> list[Criterion]:
        dice = self._dice
        found: list[Criterion] = []
        count = dice.between(*self._size)
        hits = dice.between(1, 2) if aim is Aim.EXCLUDED else 0
        for place in range(count):
            about = chart is not None and dice.chance(0.4)
            want: bool | None = None
            if chart is not None and aim is not Aim.UNMET:
                want = place < hits
            if place < hits:
                about = dice.chance(0.75)
            slot = (lambda: self._about(chart)) if chart is not None and about else self._exclusion
            criterion = self._accept(slot, chart, want)
            if criterion is not None:
                found.append(criterion)
        if hits and chart is not None and not any(c.holds(chart) is True for c in found):
            found.append(self._surely(chart))
        return found

    def _exclusion(self) -> Criterion:
        dice = self._dice
        pair = dice.weighted((0, 1, 2, 3, 4), (3.5, 2.5, 2.0, 0.6, 4 * self._composite))
        match pair:
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
        use = dice.weighted((Use.CURRENT, Use.RECENT, Use.EVER), (3, 3, 1))
        return Takes(name, use, dice.pick(_WASHOUT) if use is Use.RECENT else 0)

    def _composite_exclusion(self) -> Criterion:
        dice = self._dice
        first = self._excluded_finding()
        if dice.chance(0.5):
            return AtLeast(2, (first, self._excluded_drug()))
        return AtLeast(2, (first, Not(self._excluded_drug())))

    def _about(self, chart: Chart) -> Criterion:
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

    def _surely(self, chart: Chart) -> Criterion:
        """Return an exclusion criterion that applies to the patient, whatever the draws."""
        for finding in chart.patient.findings[1:]:
            return Has(finding.concept)
        for use in chart.patient.drugs:
            return Takes(self._terms.class_of[use.drug], Use.EVER)
        return SexIs(chart.sex)


def _beyond(age: int) -> Age:
    """Return limits that an age lies outside of."""
    return Age(age + 3, None) if age < 60 else Age(18, age - 3)
