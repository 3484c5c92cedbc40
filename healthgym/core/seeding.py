"""Task seeds: a task is a function of (family, split, index), and of nothing else."""

from __future__ import annotations

import hashlib
import json
from bisect import bisect_right
from collections.abc import Sequence
from enum import StrEnum
from itertools import accumulate
from typing import overload

import numpy as np

#: Gymnasium seeds draw a task index below this bound.
INDEX_BOUND = 2**31


class Split(StrEnum):
    """Disjoint task sets."""

    TRAIN = "train"
    VALIDATION = "validation"
    TEST = "test"


#: ``json.dumps`` makes an encoder at each call, which takes as long as a short text.
_HASHED = json.JSONEncoder(sort_keys=True, separators=(",", ":"), default=str).encode

_SPLIT_KEY = {Split.TRAIN: 0, Split.VALIDATION: 1, Split.TEST: 2}


def stable_hash(text: str) -> int:
    """Return a 128-bit integer that is the same in every process and on every machine."""
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=16).digest(), "big")


def task_rng(family: str, split: Split, index: int, stream: int = 0) -> np.random.Generator:
    """Return the generator from which task ``index`` of a split is drawn.

    The entropy comes from the family's name and the spawn key from split, index and stream, so
    neighbouring indices, splits and families share no random numbers (``seed + index`` would).

    Args:
        family: Stable name of the task family.
        split: The split.
        index: Task index, ``>= 0``.
        stream: Separate streams of one task, such as contents and wording.
    """
    key = (_SPLIT_KEY[split], index, stream)
    sequence = np.random.SeedSequence(entropy=stable_hash(family), spawn_key=key)
    return np.random.Generator(np.random.PCG64(sequence))


class TaskStreams(Sequence[np.random.Generator]):
    """The separate streams of one task, each made when somebody first draws from it.

    Many a draw is given up after a stream or two, and making one takes as long as ten numbers.

    Args:
        family: Stable name of the task family.
        split: The split.
        index: Task index, ``>= 0``.
        count: How many streams there are.
    """

    __slots__ = ("_known", "_task")

    def __init__(self, family: str, split: Split, index: int, count: int) -> None:
        self._task = family, split, index
        self._known: list[np.random.Generator | None] = [None] * count

    def __len__(self) -> int:
        return len(self._known)

    @overload
    def __getitem__(self, stream: int) -> np.random.Generator: ...
    @overload
    def __getitem__(self, stream: slice) -> list[np.random.Generator]: ...

    def __getitem__(self, stream: int | slice) -> np.random.Generator | list[np.random.Generator]:
        if isinstance(stream, slice):
            return [self[place] for place in range(len(self))[stream]]
        known = self._known[stream]
        if known is None:
            known = self._known[stream] = task_rng(*self._task, range(len(self))[stream])
        return known


def weighted_order(shares: Sequence[float], rng: np.random.Generator) -> list[int]:
    """Return the places of some shares in the order in which they are drawn without replacement.

    What ``rng.choice(n, n, replace=False, p=shares)`` returns, and leaves of the generator, in a
    tenth of the time: that is meant for arrays.

    Args:
        shares: How likely each place is drawn first; positive, and one in all.
        rng: Where chance comes from.
    """
    left, order = list(shares), dict[int, None]()
    while len(order) < len(left):
        for place in order:
            left[place] = 0.0
        reached = list(accumulate(left))
        reached = [each / reached[-1] for each in reached]
        draws = [rng.random() for _ in range(len(left) - len(order))]
        order |= dict.fromkeys(bisect_right(reached, each) for each in draws)
    return list(order)


def player_rng(key: str, role: str) -> np.random.Generator:
    """Return what a scripted counterpart leaves to chance in a task.

    Args:
        key: The task's id.
        role: The role it plays.
    """
    return np.random.Generator(np.random.PCG64(stable_hash(f"{key}/{role}/counterpart")))


def content_hash(value: object) -> str:
    """Return a hex digest of a JSON-representable value, independent of key order."""
    text = _HASHED(value)
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
