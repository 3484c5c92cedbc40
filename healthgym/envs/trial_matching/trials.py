"""Drawing trials from the latent model, for a patient or for nobody in particular.

Trials for a patient are drawn from the same slots as all others, and an aim only decides which
draws are kept. Without the note, what can be told of an eligible trial is what is true of trials
at large: where limits are wide and criteria few, more patients get in.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from functools import partial

from healthgym.core.seeding import Split
from healthgym.envs.trial_matching.chart import FEMALE, MALE, Chart
from healthgym.envs.trial_matching.criteria import (
    Age,
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
    Value,
    is_fragile,
)
from healthgym.envs.trial_matching.criterion_draw import CriterionDraw, Slot
from healthgym.envs.trial_matching.dice import Dice
from healthgym.envs.trial_matching.vocabulary import Condition

#: Draws of a criterion before it is left out.
_TRIES = 12


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
    inclusion: tuple[Has, *tuple[Criterion, ...]]
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
        size: Fewest and most criteria of a kind.
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
        self._units = units
        self._size = size
        self._criteria = CriterionDraw(dice, condition, composite, size)
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
        slots = self._criteria.inclusion_slots()
        lead = self._criteria.lead()
        unmet: set[int] = set()
        if aim is Aim.UNMET:
            unmet = set(dice.sample(range(len(slots)), 1 if dice.chance(0.7) else 2))
        others: list[Criterion] = []
        failed = False
        for place, slot in enumerate(slots):
            want = None if chart is None else place not in unmet
            found = self._accept(slot, chart, want)
            if found is not None:
                others.append(found)
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
            inclusion=(lead, *dice.shuffled(others)),
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

    def _limits(self, chart: Chart | None, met: bool) -> tuple[SexIs, Age]:
        dice, condition = self._dice, self._condition
        sex = SexIs(condition.sex)
        if not condition.sex and dice.chance(0.08):
            sex = SexIs(dice.pick((FEMALE, MALE)))
        if chart is not None and met and sex.holds(chart) is False:
            sex = SexIs("")
        for _ in range(_TRIES):
            age = self._criteria.age()
            holds = chart is None or age.holds(chart)
            if chart is None or holds is met or (not met and sex.holds(chart) is False):
                return sex, age
        assert chart is not None
        return sex, Age(12, None) if met else _beyond(chart.age)

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
            slot: Slot = self._criteria.exclusion
            if chart is not None and about:
                slot = partial(self._criteria.about, chart)
            criterion = self._accept(slot, chart, want)
            if criterion is not None:
                found.append(criterion)
        if hits and chart is not None and not any(c.holds(chart) is True for c in found):
            found.append(self._criteria.surely(chart))
        return found


def _beyond(age: int) -> Age:
    """Return limits that an age lies outside of."""
    return Age(age + 3, None) if age < 60 else Age(18, age - 3)
