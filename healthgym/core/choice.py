"""Weighted choice: one item out of several, some more likely than others."""

from __future__ import annotations

import bisect
import itertools
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np

from healthgym.errors import ConfigurationError

T = TypeVar("T")


@dataclass(frozen=True, slots=True, init=False)
class Weighted(Generic[T]):
    """Items, each drawn with a probability in proportion to its weight.

    Args:
        weights: Weights by item, or pairs of an item and its weight; they need not sum to one.
            An item of weight zero is never drawn.
        what: What the items are, in the plural, for the error.

    Attributes:
        items: The items that can be drawn, in the order given.
        edges: The probability of an item or one before it, by item.

    Raises:
        ConfigurationError: If there is no item, a weight is not a finite number from 0 up, or all
            of them are 0.
    """

    items: tuple[T, ...]
    edges: tuple[float, ...]

    def __init__(
        self, weights: Mapping[T, float] | Iterable[tuple[T, float]], what: str = "items"
    ) -> None:
        pairs = list(weights.items() if isinstance(weights, Mapping) else weights)
        total = _total([weight for _, weight in pairs], what)
        likely = [(item, weight) for item, weight in pairs if weight]
        sums = itertools.accumulate(weight for _, weight in likely)
        object.__setattr__(self, "items", tuple(item for item, _ in likely))
        object.__setattr__(self, "edges", tuple(edge / total for edge in sums))

    def draw(self, rng: np.random.Generator) -> T:
        """Return an item, by one number of the generator: ``rng.random()``."""
        return self.at(rng.random())

    def at(self, number: float) -> T:
        """Return the item that a number in [0, 1) stands for."""
        place = bisect.bisect_right(self.edges, number)
        # Rounding can leave the last edge below one.
        return self.items[min(place, len(self.items) - 1)]


def _total(weights: list[float], what: str) -> float:
    try:
        total = math.fsum(weights)
        valid = total > 0 and math.isfinite(total) and min(weights) >= 0
    except (TypeError, ValueError, OverflowError):  # no number, or infinities of both signs
        valid = False
    if not valid:
        raise ConfigurationError(f"Weights of {what} are positive numbers, or zero for some.")
    return total


__all__ = ["Weighted"]
