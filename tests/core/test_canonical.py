"""Values told so that equal contents have equal hashes, and others have not."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType

import numpy as np
import pytest

from healthgym.core.canonical import canonical
from healthgym.core.seeding import content_hash


class Colour(StrEnum):
    RED = "red"
    BLUE = "blue"


@dataclass(frozen=True, slots=True)
class Point:
    x: object
    y: object = None


@dataclass(frozen=True, slots=True)
class Place:
    x: object
    y: object = None


@dataclass(frozen=True)
class Nothing:
    pass


class Plain:
    def __init__(self, held: object) -> None:
        self.held = held


class Named:
    def __init__(self, name: str, besides: object) -> None:
        self.name, self.besides = name, besides

    def content_hash(self) -> str:
        return self.name


def _same(one: object, other: object) -> bool:
    return content_hash(canonical(one)) == content_hash(canonical(other))


ALIKE: dict[str, tuple[object, object]] = {
    "order of keys": ({"a": 1, "b": [2]}, {"b": [2], "a": 1}),
    "kind of mapping": ({"a": 1}, MappingProxyType({"a": 1})),
    "keys of several kinds": ({1: "x", "a": "y", None: "z"}, {None: "z", "a": "y", 1: "x"}),
    "members as keys": ({Colour.RED: 1, Colour.BLUE: 2}, {Colour.BLUE: 2, Colour.RED: 1}),
    "names in a set": ({"a", "b", "c"}, frozenset({"c", "b", "a"})),
    "a mixed set": ({1, "a", (2, 3)}, {(2, 3), 1, "a"}),
    "list and tuple": ([1, 2], (1, 2)),
    "record": (Point(1, "a"), Point(1, "a")),
    "object": (Plain([1]), Plain([1])),
    "own hash": (Named("n", 1), Named("n", 2)),
    "empty record": (Nothing(), Nothing()),
    "array": (np.array([1, 2]), np.array([1, 2])),
    "array of objects": (np.array([1, "a"], dtype=object), np.array([1, "a"], dtype=object)),
}


@pytest.mark.parametrize(("one", "other"), ALIKE.values(), ids=ALIKE)
def test_equal_contents_are_told_alike(one: object, other: object) -> None:
    assert _same(one, other)


OTHER: dict[str, tuple[object, object]] = {
    "value": ({"a": 1}, {"a": 2}),
    "key": ({"a": 1}, {"b": 1}),
    "kind of key": ({"1": "x"}, {1: "x"}),
    "member as key": ({Colour.RED: 1}, {"red": 1}),
    "member": (Colour.RED, "red"),
    "set": ({"a", "b"}, {"a"}),
    "set or list": ({"a"}, ["a"]),
    "order": ([1, 2], [2, 1]),
    "truth": (True, 1),
    "field": (Point(1), Point(2)),
    "fields turned": (Point(1, 2), Point(2, 1)),
    "type of record": (Point(1), Place(1)),
    "attribute": (Plain(1), Plain(2)),
    "empty record": (Nothing(), Point(1)),
    "own hash": (Named("n", 1), Named("m", 1)),
    "type of array": (np.array([1, 2]), np.array([1.0, 2.0])),
    "types": (Point, Place),
}


@pytest.mark.parametrize(("one", "other"), OTHER.values(), ids=OTHER)
def test_other_contents_are_told_otherwise(one: object, other: object) -> None:
    assert not _same(one, other)


def test_keys_that_look_alike_are_told_in_no_order_of_their_own() -> None:
    one, other = Plain("k"), Plain("k")
    assert _same({one: 1, other: 2}, {one: 2, other: 1})
    assert not _same({one: 1, other: 2}, {one: 1, other: 1})


def test_what_holds_itself_is_refused() -> None:
    held: list[object] = []
    held.append(Point(held))
    with pytest.raises(TypeError, match="holds itself"):
        canonical(held)


def test_what_cannot_be_told_is_refused() -> None:
    with pytest.raises(TypeError, match="content_hash"):
        canonical(iter(()))
