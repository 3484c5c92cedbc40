"""Instances that were drawn lately, so that the same task begun again is not drawn again.

Whoever plays a group of episodes of one task resets to it many times in a row. An instance is
frozen and a function of its generator and its key, so that all of them can begin from one.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from healthgym.core.cache import Pool

Drawn = TypeVar("Drawn")

#: Instances kept that no episode is about; few, since those of some families hold whole tables.
_KEPT = 8


class DrawnInstances:
    """Shares each instance while an episode is about it, and keeps the last ones.

    Several threads may draw at once; of two that draw the same, one is shared.

    Args:
        most: How many are kept for their own sake.
    """

    def __init__(self, most: int) -> None:
        self._lock = threading.Lock()
        self._pool = Pool(most)
        self._live: weakref.WeakValueDictionary[Hashable, object] = weakref.WeakValueDictionary()
        self._anew = 0

    @contextmanager
    def anew(self) -> Iterator[None]:
        """Have every instance drawn while this lasts, as it has to be where drawing is tried."""
        self._anew += 1
        try:
            yield
        finally:
            self._anew -= 1

    def get(self, key: Hashable, draw: Callable[[], Drawn]) -> Drawn:
        """Return the instance of a key, drawing it if nobody has it.

        Args:
            key: Generator, split and index; the instance is a function of it.
            draw: Draws it.
        """
        if self._anew:
            return draw()
        with self._lock:
            found: Drawn | None = self._live.get(key)  # type: ignore[assignment]
        if found is None:
            drawn = draw()
            with self._lock:
                found = self._live.setdefault(key, drawn)  # type: ignore[assignment]
            assert found is not None
        self._pool.keep(key, found, lambda instance: 1)
        return found


#: Instances of all families.
DRAWN = DrawnInstances(_KEPT)


def same_draws(generator: object) -> Hashable:
    """Return what two generators have in common that draw the same tasks.

    That is their class and all that they hold, where it can be compared; else it is the generator
    itself. What is compared by identity is kept alive by the key, so no other can take its place.
    """
    try:
        held = tuple(sorted(vars(generator).items()))
        hash(held)
    except TypeError:  # something that is not compared, or no dictionary of what it holds
        return generator
    return type(generator), held
