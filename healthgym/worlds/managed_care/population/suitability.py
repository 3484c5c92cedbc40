"""Which drug classes are not given: beside what is taken, and for what else the patient has."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable
from functools import cache
from importlib.resources import files
from typing import NamedTuple


class _Table(NamedTuple):
    """Classes of which one stands in the place of another, and those that an illness rules out."""

    instead: tuple[frozenset[str], ...]
    ill: dict[str, frozenset[str]]


@cache
def _table() -> _Table:
    raw = json.loads((files(__package__) / "unsuited.json").read_text("utf-8"))
    return _Table(
        tuple(map(frozenset, raw["instead"])),
        {name: frozenset(classes) for name, classes in raw["ill"].items()},
    )


def closed_by(taken: Collection[str]) -> frozenset[str]:
    """Return the classes of which nothing is added beside these: they, and what does their work."""
    mine = frozenset(taken)
    return mine.union(*(each for each in _table().instead if mine & each))


def ruled_out(illnesses: Iterable[str]) -> frozenset[str]:
    """Return the classes that are not given to who has these diseases, by their names."""
    ill = _table().ill
    return frozenset().union(*(ill.get(name, frozenset()) for name in illnesses))
