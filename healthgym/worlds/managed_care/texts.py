"""Texts in small letters, each read when somebody looks that far."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property

from healthgym.worlds.managed_care.disguises import flattened, small_letters


class Texts:
    """What is on file, text by text, in small and plain letters.

    Most of what is looked for stands in the first ones, and a file is long.

    Args:
        texts: The texts, those first in which most is found. They are taken one at a time, so that
            a generator writes what is looked through and no more.
    """

    def __init__(self, texts: Iterable[str]) -> None:
        self._more = iter(texts)
        self._read: list[str] = []

    def __iter__(self) -> Iterator[str]:
        place = 0
        while True:
            if place == len(self._read):
                text = next(self._more, None)
                if text is None:
                    return
                self._read.append(small_letters(text.replace("’", "'")))
            yield self._read[place]
            place += 1

    @cached_property
    def flat(self) -> str:
        """The letters and digits of all, with one space between words."""
        return flattened("\n".join(self))
