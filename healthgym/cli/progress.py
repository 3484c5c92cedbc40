"""How far a long command is, and about how long it still takes."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from time import perf_counter
from typing import TypeVar

from healthgym.cli.common import note

ItemT = TypeVar("ItemT")

#: Nothing is said of what is over sooner, in seconds.
_PATIENCE = 2.0
#: Seconds between two lines: in place on a terminal, and one below the other elsewhere.
_OFTEN, _SELDOM = 0.2, 15.0


class Progress:
    """Counts what is done, and tells how far it is: in place on a terminal, else now and then.

    Args:
        total: How many there are; None if nobody knows.
        what: What is counted, in the plural.
    """

    def __init__(self, total: int | None, what: str) -> None:
        self._total, self._what, self._done = total, what, 0
        self._begun = self._told = perf_counter()
        self._shown = False

    def __call__(self, more: str = "") -> None:
        """Count one, and tell where it is time to.

        Args:
            more: What else is to be told.
        """
        self._done += 1
        now = perf_counter()
        pause = _OFTEN if sys.stderr.isatty() else _SELDOM
        due = now - self._told >= pause and now - self._begun >= _PATIENCE
        if due:
            self._told, self._shown = now, True
            self._write(self.line(more))

    def line(self, more: str = "") -> str:
        """Return how far it is, in words."""
        parts = [f"{self._done}{'' if self._total is None else f'/{self._total}'} {self._what}"]
        left = self.left()
        return ", ".join([*parts, *([more] if more else []), *([left] if left else [])])

    def left(self) -> str:
        """Return about how long the rest takes, in words; nothing if that cannot be said yet."""
        if self._total is None or not 0 < self._done < self._total:
            return ""
        seconds = (perf_counter() - self._begun) / self._done * (self._total - self._done)
        return f"about {in_words(seconds)} left"

    def over(self) -> None:
        """End the line in place."""
        if self._shown and sys.stderr.isatty():
            sys.stderr.write("\r\033[K")
            sys.stderr.flush()

    def _write(self, line: str) -> None:
        if sys.stderr.isatty():
            sys.stderr.write(f"\r{line}\033[K")
            sys.stderr.flush()
        else:
            note(line)


def watched(items: Iterable[ItemT], total: int | None, what: str) -> Iterator[ItemT]:
    """Yield items, telling how far it is once each was dealt with.

    Args:
        items: The items.
        total: How many there are; None if nobody knows.
        what: What they are, in the plural.
    """
    progress = Progress(total, what)
    try:
        for item in items:
            yield item
            progress()
    finally:
        progress.over()


def in_words(seconds: float) -> str:
    """Return a time in words, to the second, the minute or the hour's tenth."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
