"""Task seeds: a task is a function of (family, split, index), and of nothing else."""

from __future__ import annotations

import hashlib
import json
from enum import StrEnum

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
