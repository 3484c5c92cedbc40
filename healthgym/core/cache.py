"""Sharing of what is slow to build and never changes."""

from __future__ import annotations

import threading
import weakref
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

Built = TypeVar("Built")


class BuildCache(Generic[Built]):
    """Builds each thing once while anybody holds it, and keeps the last ones for who comes next.

    What a key stands for must be a function of the key alone: then it does not matter who built
    it, and two environments in one process share one copy.

    Args:
        budget: Cost of the things kept alive for their own sake.
        cost: Returns the cost of a thing, such as its rows; 1 each if omitted.
    """

    def __init__(self, budget: int, cost: Callable[[Built], int] | None = None) -> None:
        self._budget = budget
        self._cost = cost or _one
        self._lock = threading.RLock()
        self._live: weakref.WeakValueDictionary[Hashable, Built] = weakref.WeakValueDictionary()
        self._kept: OrderedDict[Hashable, tuple[Built, int]] = OrderedDict()
        self._total = 0

    def get(self, key: Hashable, build: Callable[[], Built]) -> Built:
        """Return the thing of a key, building it if nobody has it."""
        with self._lock:
            found = self._live.get(key)
            if found is None:
                found = self._live[key] = build()
            if key in self._kept:
                self._kept.move_to_end(key)
            else:
                self._kept[key] = (found, self._cost(found))
                self._total += self._kept[key][1]
            while len(self._kept) > 1 and self._total > self._budget:
                self._total -= self._kept.popitem(last=False)[1][1]
            return found

    def __reduce__(self) -> tuple[type, tuple[object, ...]]:
        return type(self), (self._budget, self._cost)


def _one(built: object) -> int:
    """Return the cost of a thing where things are counted; named, so that it can be pickled."""
    return 1
