from __future__ import annotations

import gc
import pickle
from dataclasses import dataclass

import numpy as np
import pytest

from healthgym.core import cache as caches
from healthgym.core.cache import BuildCache, Pool, bytes_of


@dataclass
class Thing:
    size: int


def test_what_is_kept_is_built_once() -> None:
    built: list[str] = []
    cache: BuildCache[Thing] = BuildCache(10)
    first = cache.get("a", lambda: built.append("a") or Thing(1))  # type: ignore[func-returns-value]
    assert cache.get("a", lambda: Thing(2)) is first
    assert cache.get("b", lambda: Thing(3)) is not first
    assert built == ["a"]


def test_the_budget_drops_what_was_used_longest_ago() -> None:
    cache: BuildCache[Thing] = BuildCache(10, lambda thing: thing.size)
    for name in "ab":
        cache.get(name, lambda: Thing(5))
    cache.get("a", lambda: Thing(0))
    cache.get("c", lambda: Thing(5))
    gc.collect()
    assert cache.get("a", lambda: Thing(99)).size == 5
    assert cache.get("b", lambda: Thing(99)).size == 99


def test_one_thing_over_the_budget_is_kept_alone() -> None:
    cache: BuildCache[Thing] = BuildCache(1, lambda thing: thing.size)
    cache.get("small", lambda: Thing(1))
    cache.get("large", lambda: Thing(50))
    gc.collect()
    assert cache.get("large", lambda: Thing(0)).size == 50
    assert cache.get("small", lambda: Thing(0)).size == 0


def test_what_somebody_holds_is_shared_though_it_was_dropped() -> None:
    cache: BuildCache[Thing] = BuildCache(1)
    held = cache.get("a", lambda: Thing(1))
    cache.get("b", lambda: Thing(2))
    assert cache.get("a", lambda: Thing(3)) is held


def test_a_copy_in_another_process_starts_empty_with_the_same_budget() -> None:
    cache: BuildCache[Thing] = BuildCache(3)
    cache.get("a", lambda: Thing(1))
    twin: BuildCache[Thing] = pickle.loads(pickle.dumps(cache))
    assert twin.get("a", lambda: Thing(2)).size == 2
    for name in "bcd":
        twin.get(name, lambda: Thing(7))
    gc.collect()
    assert twin.get("d", lambda: Thing(0)).size == 7
    assert twin.get("a", lambda: Thing(0)).size == 0


def test_caches_of_one_pool_keep_within_its_budget_together(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pool = Pool(1000)
    monkeypatch.setattr(caches, "POOL", pool)
    one: BuildCache[np.ndarray] = BuildCache.pooled(lambda array: array.nbytes)
    other: BuildCache[np.ndarray] = BuildCache.pooled(lambda array: array.nbytes)
    for number in range(50):
        one.get(number, lambda: np.zeros(200, np.uint8))
        other.get(number, lambda: np.zeros(300, np.uint8))
        assert pool.total <= 1000
    built: list[str] = []
    other.get(49, lambda: built.append("again") or np.zeros(300, np.uint8))  # type: ignore[func-returns-value]
    one.get(40, lambda: built.append("anew") or np.zeros(200, np.uint8))  # type: ignore[func-returns-value]
    assert built == ["anew"]
    assert pickle.loads(pickle.dumps(BuildCache.pooled()))._pool is pool


def test_bytes_are_those_of_what_a_thing_holds_each_once() -> None:
    array = np.zeros(10_000)
    thing = {"a": [array, array[:10]], "b": Thing(5), "c": "x" * 5000}
    assert 85_000 < bytes_of(thing) < 87_000
    assert bytes_of([array] * 100) < 90_000
    # A view holds all of what it is a view of.
    assert 85_000 > bytes_of(array[:2]) > 80_000
    assert bytes_of(Thing) < 100


class Slotted:
    """Has slots, and cannot say who refers to it: as a dataclass of Python 3.11.2 cannot."""

    __slots__ = ("held",)

    @property
    def __weakref__(self) -> object:
        raise TypeError("descriptor '__weakref__' doesn't apply")


class Inner(Slotted):
    __slots__ = "more"

    def __init__(self) -> None:
        self.held, self.more = np.zeros(1000), np.zeros(500)


Inner.__slots__ = ("more", "__weakref__")  # type: ignore[misc]


def test_bytes_are_those_of_all_slots_but_the_one_for_weak_references() -> None:
    assert 12_000 < bytes_of(Inner()) < 13_000


def test_long_texts_are_answered_anew_each_time() -> None:
    asked: list[str] = []

    @caches.short_text_cache(2, 10)
    def shout(text: str) -> str:
        asked.append(text)
        return text.upper()

    for text in ("a", "a", "b" * 11, "b" * 11, "c", "d", "a"):
        assert shout(text) == text.upper()
    assert asked == ["a", "b" * 11, "b" * 11, "c", "d", "a"]


@pytest.mark.parametrize(("in_bytes", "times"), [(True, 3), (False, 0)])
def test_memory_that_is_free_is_handed_back_as_the_process_grows(
    in_bytes: bool, times: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[int] = []
    resident = [100]

    def trim(pad: int) -> int:
        asked.append(pad)
        resident[0] -= 10  # what lay in holes
        return 1

    monkeypatch.setattr(caches, "_HANDED_BACK", 25)
    monkeypatch.setattr(caches, "_trim", lambda: trim)
    monkeypatch.setattr(caches, "_resident", lambda: resident[0])
    pool = Pool(10, in_bytes=in_bytes)
    for number in range(8):  # at 130, then at 120 + 30, from 100 on
        pool.keep(number, object(), lambda thing: 10)
        resident[0] += 10
    resident[0] = 50
    for number in range(8, 12):  # and at 80, since it shrank to 50
        pool.keep(number, object(), lambda thing: 10)
        resident[0] += 10
    assert asked == [0] * times


def test_what_a_process_holds_is_read() -> None:
    before = caches._resident()
    if not before:
        pytest.skip("only Linux tells what a process holds")
    held = bytearray(64 << 20)
    assert 60 << 20 < caches._resident() - before < 68 << 20
    assert len(held) == 64 << 20


def test_what_is_kept_of_texts_can_be_let_go_of() -> None:
    asked: list[str] = []

    @caches.short_text_cache(2, 10)
    def shout(text: str) -> str:
        asked.append(text)
        return text.upper()

    for _ in range(2):
        assert [shout("a"), shout("a")] == ["A", "A"]
        caches.forget_texts()
    assert asked == ["a", "a"]
