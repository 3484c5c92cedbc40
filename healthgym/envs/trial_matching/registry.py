"""The trials that have nothing to do with a patient: one registry a split, drawn on demand."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from healthgym.core.seeding import Split, stable_hash, task_rng
from healthgym.envs.trial_matching.dice import Dice
from healthgym.envs.trial_matching.phrasing import Style
from healthgym.envs.trial_matching.record import TrialRecord
from healthgym.envs.trial_matching.render import render
from healthgym.envs.trial_matching.task import PoolConfig
from healthgym.envs.trial_matching.trials import Trial, TrialDraw
from healthgym.envs.trial_matching.vocabulary import vocabulary

_NAME = "trial-matching/registry"
_SIZE = 1200
#: Registry numbers are below this, and leave a remainder by 3 that tells the split.
_NUMBERS = 30_000_000
_REMAINDER = {Split.TRAIN: 0, Split.VALIDATION: 1, Split.TEST: 2}


def nct_id(dice: Dice, split: Split) -> str:
    """Return a registry number of a split; no other split has it."""
    number = 3 * dice.between(100_000, _NUMBERS // 3 - 1) + _REMAINDER[split]
    return f"NCT{number:08d}"


def split_of_id(id_: str) -> Split:
    """Return the only split that a registry number of the synthetic source belongs to."""
    rest = int(id_[3:]) % 3
    return next(split for split, remainder in _REMAINDER.items() if remainder == rest)


class Registry:
    """Trials of every condition, each drawn and worded when it is first asked for.

    A trial's condition and number are known without drawing it, so a pool is put together at no
    cost: whoever does not have the condition is not eligible.

    Args:
        split: The split.
        criteria: Fewest and most criteria of a kind.
        composite: How often criteria are composite.
        style: How trials are worded.
    """

    def __init__(
        self, split: Split, criteria: tuple[int, int], composite: float, style: Style
    ) -> None:
        self._split, self._criteria, self._composite = split, criteria, composite
        self._style = style
        conditions = list(vocabulary().conditions)
        dice = Dice(task_rng(_NAME, split, 0, 1), _SIZE)
        ids: dict[str, None] = {}
        while len(ids) < _SIZE:
            ids[nct_id(dice, split)] = None
        self.ids = tuple(ids)
        self.conditions = tuple(conditions[i % len(conditions)] for i in range(_SIZE))
        self._places = {id_: place for place, id_ in enumerate(self.ids)}
        self._records: dict[str, TrialRecord] = {}

    def __len__(self) -> int:
        return len(self.ids)

    def __contains__(self, id_: object) -> bool:
        return id_ in self._places

    def trial(self, id_: str) -> Trial:
        """Return a trial."""
        place = self._places[id_]
        condition = vocabulary().conditions[self.conditions[place]]
        # One stream a trial, so that its contents do not depend on which were drawn before.
        seed = np.random.SeedSequence(stable_hash(_NAME), spawn_key=(int(id_[3:]),))
        draw = TrialDraw(
            Dice(np.random.Generator(np.random.PCG64(seed)), 256),
            condition,
            self._split,
            composite=self._composite,
            units=self._style.varied,
            size=self._criteria,
        )
        return draw.draw(id_)

    def record(self, id_: str) -> TrialRecord:
        """Return a trial's record; one object for all who ask."""
        found = self._records.get(id_)
        if found is None:
            found = self._records[id_] = render(self.trial(id_), self._style)
        return found


@lru_cache(maxsize=12)
def _registry(split: Split, criteria: tuple[int, int], composite: float, style: Style) -> Registry:
    return Registry(split, criteria, composite, style)


def registry(split: Split, config: PoolConfig) -> Registry:
    """Return the registry of a split and a configuration; shared, and a function of these."""
    return _registry(split, config.criteria, config.composite, config.style)
