"""Cheap scalar draws from a numpy generator.

One call of ``Generator.integers`` costs microseconds; a pool of trials needs tens of thousands of
draws. Uniform numbers are therefore taken in blocks.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import chain, repeat
from typing import TypeVar

import numpy as np

from healthgym.core.choice import Weighted

T = TypeVar("T")


class Dice:
    """Draws from a numpy generator, in a fixed order.

    Args:
        rng: Where randomness comes from.
        block: Uniform numbers taken at a time.

    Attributes:
        uniform: Returns a number in [0, 1). An iterator's method, for its speed.
    """

    __slots__ = ("uniform",)

    def __init__(self, rng: np.random.Generator, block: int = 64) -> None:
        blocks = (rng.random(block).tolist() for _ in repeat(None))
        self.uniform: Callable[[], float] = chain.from_iterable(blocks).__next__

    def chance(self, probability: float) -> bool:
        """Return True with a probability."""
        return self.uniform() < probability

    def below(self, bound: int) -> int:
        """Return an integer in [0, bound)."""
        return int(self.uniform() * bound)

    def between(self, low: int, high: int) -> int:
        """Return an integer in [low, high], both included."""
        return low + int(self.uniform() * (high - low + 1))

    def pick(self, items: Sequence[T]) -> T:
        """Return one item, each as likely."""
        return items[int(self.uniform() * len(items))]

    def weighted(self, choice: Weighted[T]) -> T:
        """Return one item with a probability in proportion to its weight."""
        return choice.at(self.uniform())

    def sample(self, items: Sequence[T], count: int) -> list[T]:
        """Return distinct items in random order, at most as many as there are."""
        rest = list(items)
        return [rest.pop(self.below(len(rest))) for _ in range(min(count, len(rest)))]

    def shuffled(self, items: Sequence[T]) -> list[T]:
        """Return all items in random order."""
        return self.sample(items, len(items))

    def normal(self, mean: float, deviation: float) -> float:
        """Return a bell-shaped draw within three deviations of the mean.

        The sum of three uniform numbers has deviation one half; tails are cut, as wanted here.
        """
        return mean + deviation * 2 * (self.uniform() + self.uniform() + self.uniform() - 1.5)
