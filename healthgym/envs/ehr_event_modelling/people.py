"""Who is in a cohort: patients, their background conditions, and when a target strikes them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

import numpy as np
from numpy.typing import NDArray

from healthgym.envs.ehr_event_modelling.sizes import CohortConfig
from healthgym.envs.ehr_event_modelling.task import Target
from healthgym.envs.ehr_event_modelling.timeline import DAY, Floats, Ints, Mask, minutes_of
from healthgym.envs.ehr_event_modelling.vocabulary import Disease, vocabulary

#: Stands for what never happens, in minutes.
NEVER = 2**60
#: The first discharges fall within this many days of this one.
_FIRST_DAY = minutes_of(datetime(2011, 1, 1))
_DAYS = 3000
#: Share of the patients without a diagnosis at hand who get it after the horizon.
_LATER = 0.08


@dataclass(frozen=True, eq=False)
class People:
    """Patients of a cohort, one entry each.

    Attributes:
        ids: Patient ids, ascending.
        part: 0 for train, 1 for validation, 2 for test; unrelated to the ids.
        birth: Time of birth, in minutes.
        male: Whether male.
        race: Index of the race code.
        use: How much care they use, around 1.
        index: 23:59 of the day of the first inpatient discharge: the first prediction time.
        history: Days of record before it.
        follow_up: Days of record after it.
        backgrounds: Onset of each background condition, shape ``(patients, conditions)``.
        diagnosis: When each target is diagnosed, shape ``(patients, targets)``.
        shows: How strongly it shows before, likewise; 0 where it does not.
    """

    ids: Ints
    part: NDArray[np.int8]
    birth: Ints
    male: Mask
    race: Ints
    use: Floats
    index: Ints
    history: Ints
    follow_up: Ints
    backgrounds: Ints
    diagnosis: Ints
    shows: Floats

    def __len__(self) -> int:
        return len(self.ids)


def draw_people(config: CohortConfig, rng: np.random.Generator) -> People:
    """Draw the patients of a cohort.

    How many of a part's patients are positive at their first prediction time, and how many have
    the diagnosis already, is as the configuration says; who they are depends on their risk.
    """
    count = sum(config.patients)
    ids = np.sort(rng.choice(899_999_999, count, replace=False) + 100_000_000).astype(np.int64)
    part = rng.permutation(np.repeat(np.arange(3, dtype=np.int8), config.patients))
    age = np.clip(rng.normal(57, 17, count), 18, 94)
    male = rng.random(count) < 0.47
    race = rng.choice(5, count, p=[0.55, 0.08, 0.17, 0.14, 0.06])
    use = np.clip(rng.gamma(4.0, 0.25, count), 0.3, 2.6)
    index = _FIRST_DAY + rng.integers(0, _DAYS, count) * DAY + DAY - 1
    history = (150 + rng.gamma(2.0, 330, count)).astype(np.int64)
    follow_up = (400 + rng.exponential(330, count)).astype(np.int64)
    backgrounds = _draw_backgrounds(age, use, index, rng)
    diagnosis = np.full((count, len(Target)), NEVER, dtype=np.int64)
    for column, target in enumerate(Target):
        risk = _risk(vocabulary().targets[target], age, male, backgrounds < index[:, None])
        for which in range(3):
            members = np.flatnonzero(part == which)
            days = _draw_days(config.composition(target, len(members)), risk[members], rng)
            hit = days != NEVER
            when = index[members[hit]] + 1 + days[hit] * DAY
            diagnosis[members[hit], column] = when + rng.integers(8 * 60, 17 * 60, int(hit.sum()))
    shows = rng.lognormal(0.0, 0.25, diagnosis.shape) * config.signal
    shows *= rng.random(diagnosis.shape) < config.expressed
    return People(
        ids=ids,
        part=part,
        birth=index - (age * 365.25).astype(np.int64) * DAY,
        male=male,
        race=race,
        use=use,
        index=index,
        history=history,
        follow_up=follow_up,
        backgrounds=backgrounds,
        diagnosis=diagnosis,
        shows=shows,
    )


def _draw_backgrounds(age: Floats, use: Floats, index: Ints, rng: np.random.Generator) -> Ints:
    conditions = vocabulary().backgrounds
    share = np.array([condition.share for condition in conditions])
    slope = np.array([condition.slope for condition in conditions])
    likely = share * np.exp(slope * (age[:, None] - 40) / 10) * (0.7 + 0.3 * use[:, None])
    has = rng.random(likely.shape) < np.minimum(likely, 0.6)
    # Some begin within the record, and some only after the prediction.
    onset = index[:, None] - rng.integers(-300, 2500, likely.shape) * DAY
    return np.where(has, onset, NEVER)


def _risk(disease: Disease, age: Floats, male: Mask, present: Mask) -> Floats:
    """Return the log risk of each patient."""
    risk = disease.risk.get("age", 0.0) * (age - 57) / 17 + disease.risk.get("male", 0.0) * male
    for column, condition in enumerate(vocabulary().backgrounds):
        risk = risk + disease.risk.get(condition.name, 0.0) * present[:, column]
    return np.asarray(risk, dtype=np.float64)


def _draw_days(composition: tuple[int, int], risk: Floats, rng: np.random.Generator) -> Ints:
    """Return on which day after the index day each patient is diagnosed; NEVER for the most.

    Drawing the largest of risk plus Gumbel noise is sampling without replacement by risk.
    """
    positive, known = composition
    later = round(_LATER * (len(risk) - positive - known))
    chosen = np.argsort(-(risk + rng.gumbel(size=len(risk))))[: positive + known + later]
    chosen = rng.permutation(chosen)
    days = np.full(len(risk), NEVER, dtype=np.int64)
    # Day 1 begins two minutes after the prediction; from day 2 on a full day lies between.
    days[chosen[:positive]] = rng.integers(1, 363, positive)
    days[chosen[positive : positive + known]] = -rng.integers(20, 900, known)
    days[chosen[positive + known :]] = rng.integers(366, 900, later)
    return days
