"""Sharing of what is slow to build and never changes.

A cache builds each thing once while anybody holds it. What nobody holds is kept for who comes next
by a :class:`Pool`, which has a budget. Large things of all families lie in one pool of bytes,
:data:`POOL`: a process that plays many of them stops growing when that is full, whatever their
number.
"""

from __future__ import annotations

import ctypes
import os
import threading
import weakref
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator, Mapping, Set
from functools import cache, wraps
from typing import Any, Generic, ParamSpec, Self, TypeVar

import numpy as np

#: Bytes by which a process grows before what is free goes back to the system. The C library would
#: keep it in holes that the next thing rarely fits, and a process of many environments would grow
#: for hours.
_HANDED_BACK = 4 << 20

_PAGE = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096

Built = TypeVar("Built")
Asked = ParamSpec("Asked")

#: Most objects that are looked at to tell how large a thing is; what is beyond is small.
_MOST_OBJECTS = 20_000
#: Bytes of an object beside what it holds.
_OBJECT = 64


class Pool:
    """Keeps things alive within a budget; those go first that were asked for longest ago.

    Args:
        budget: Cost of all that is kept. One thing alone may cost more.
        in_bytes: Whether costs are bytes: then memory that is free is handed back.
    """

    def __init__(self, budget: int, *, in_bytes: bool = False) -> None:
        self.budget = budget
        self._holes = _Holes() if in_bytes else None
        self._lock = threading.Lock()
        self._kept: OrderedDict[Hashable, tuple[object, int]] = OrderedDict()
        self._total = 0

    @property
    def total(self) -> int:
        """Cost of what is kept."""
        return self._total

    def keep(self, key: Hashable, thing: Built, cost: Callable[[Built], int]) -> None:
        """Keep a thing, as the one asked for last."""
        with self._lock:
            held = self._kept.get(key)
            if held is not None and held[0] is thing:
                self._kept.move_to_end(key)
                return
        spent = cost(thing)  # which may take a while
        gone = []
        with self._lock:
            gone.append(self._kept.pop(key, (None, 0)))
            self._kept[key] = (thing, spent)
            self._total += spent - gone[0][1]
            while len(self._kept) > 1 and self._total > self.budget:
                gone.append(self._kept.popitem(last=False)[1])
                self._total -= gone[-1][1]
        # Let go of outside of the lock: finalizers may take locks of their own.
        del gone
        if self._holes is not None:
            self._holes.hand_back()


class _Holes:
    """What the process has asked the system for and does not use."""

    def __init__(self) -> None:
        self._level = _resident()

    def hand_back(self) -> None:
        """Give it back, where the C library can, if the process has grown since the last time."""
        trim, now = _trim(), _resident()
        self._level = min(self._level, now)  # what has shrunk since grows anew
        if trim is None or now < self._level + _HANDED_BACK:
            return
        trim(0)
        self._level = _resident()


def _resident() -> int:
    """Return the bytes of memory that are the process's own, by Linux; 0 elsewhere."""
    try:
        with open("/proc/self/statm", "rb") as file:
            _, resident, shared = file.read().split()[:3]
    except (OSError, ValueError):
        return 0
    return (int(resident) - int(shared)) * _PAGE


@cache
def _trim() -> Callable[[int], int] | None:
    """Return glibc's ``malloc_trim``, None where there is another library."""
    try:
        found: Callable[[int], int] = ctypes.CDLL(None).malloc_trim
    except (OSError, AttributeError, TypeError):
        return None
    return found


#: Answers to texts, by function, and that there is none.
_OF_TEXTS: list[dict[Hashable, Any]] = []
_UNKNOWN: Any = object()
#: Large things of all families, in bytes.
POOL = Pool(88 << 20, in_bytes=True)


class BuildCache(Generic[Built]):
    """Builds each thing once while anybody holds it, and keeps the last ones for who comes next.

    What a key stands for must be a function of the key alone: then it does not matter who built
    it, and two environments in one process share one copy.

    Args:
        budget: Cost of the things kept alive for their own sake, in a pool of the cache's own;
            None to keep them in :data:`POOL`, by their bytes.
        cost: Returns the cost of a thing. If omitted it is 1 each in a pool of the cache's own,
            and :func:`bytes_of` in the common one.
    """

    def __init__(self, budget: int | None, cost: Callable[[Built], int] | None = None) -> None:
        self._budget = budget
        self._own_cost = cost
        self._cost: Callable[[Built], int] = cost or (bytes_of if budget is None else _one)
        self._pool = POOL if budget is None else Pool(budget)
        self._lock = threading.RLock()
        self._live: weakref.WeakValueDictionary[Hashable, Built] = weakref.WeakValueDictionary()

    @classmethod
    def pooled(cls, cost: Callable[[Built], int] | None = None) -> Self:
        """Return a cache whose things are kept in :data:`POOL`.

        Args:
            cost: Returns the bytes of a thing; :func:`bytes_of` if omitted.
        """
        return cls(None, cost)

    def get(self, key: Hashable, build: Callable[[], Built]) -> Built:
        """Return the thing of a key, building it if nobody has it."""
        with self._lock:
            found = self._live.get(key)
            if found is None:
                found = self._live[key] = build()
        self._pool.keep((id(self), key), found, self._cost)
        return found

    def __reduce__(self) -> tuple[type, tuple[object, ...]]:
        return type(self), (self._budget, self._own_cost)


def short_text_cache(
    most: int, longest: int
) -> Callable[[Callable[Asked, Built]], Callable[Asked, Built]]:
    """Return a decorator: keep the newest answers of a function of texts.

    What is long is answered anew each time: however long agents write, so many answers to so many
    characters are all that is kept.

    Args:
        most: Answers kept.
        longest: Characters of all texts among the arguments of a call that is kept.
    """

    def decorate(function: Callable[Asked, Built]) -> Callable[Asked, Built]:
        kept: dict[Hashable, Built] = {}
        lock = threading.Lock()
        _OF_TEXTS.append(kept)

        @wraps(function)
        def answer(*args: Asked.args, **kwargs: Asked.kwargs) -> Built:
            key = (args, *kwargs.items()) if kwargs else args
            found = kept.get(key, _UNKNOWN)  # hundreds of times a verdict: nothing before it
            if found is not _UNKNOWN:
                return found  # type: ignore[no-any-return]
            made = function(*args, **kwargs)
            letters = [len(each) for each in (*args, *kwargs.values()) if isinstance(each, str)]
            if sum(letters) <= longest:
                with lock:
                    if len(kept) >= most:
                        kept.pop(next(iter(kept), ()), None)
                    kept[key] = made
            return made

        return answer

    return decorate


def forget_texts() -> None:
    """Let go of what every :func:`short_text_cache` keeps, as if no text had been read yet."""
    for kept in _OF_TEXTS:
        kept.clear()


def bytes_of(thing: object) -> int:
    """Return about how many bytes a thing holds: arrays, tables and texts, each counted once."""
    seen: set[int] = set()
    stack, total = [thing], 0
    while stack and len(seen) < _MOST_OBJECTS:
        item = stack.pop()
        if id(item) in seen or isinstance(item, type):
            continue
        seen.add(id(item))
        total += _OBJECT
        size = getattr(item, "nbytes", None)
        if isinstance(item, np.ndarray) and isinstance(item.base, np.ndarray):
            stack.append(item.base)  # a view holds all of what it is a view of
        elif isinstance(size, int):
            total += size
        elif isinstance(item, str | bytes):
            total += len(item)
        elif isinstance(item, Mapping):
            stack += [*item.keys(), *item.values()]
        elif isinstance(item, list | tuple | Set):
            stack += item
        else:
            stack += getattr(item, "__dict__", {}).values()
            stack += [getattr(item, name, None) for name in _slots(type(item))]
    return total


def _slots(kind: type) -> Iterator[str]:
    """Yield the slots of a kind and its bases that hold what is its own.

    Who refers to it weakly is none of that, and Python 3.11.0 to 3.11.2 cannot read the slot of a
    dataclass for it.
    """
    for each in kind.__mro__:
        slots = each.__dict__.get("__slots__", ())
        names = (slots,) if isinstance(slots, str) else slots
        yield from (name for name in names if name not in ("__dict__", "__weakref__"))


def _one(built: object) -> int:
    """Return the cost of a thing where things are counted; named, so that it can be pickled."""
    return 1
