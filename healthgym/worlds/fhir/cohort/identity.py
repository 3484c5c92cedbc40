"""Medical record numbers, partitioned so that no patient can stand in two splits.

The published benchmark's numbers all lie below S6600000; ours start at S7000000.
"""

from __future__ import annotations

from hashlib import blake2b

import numpy as np

from healthgym.errors import ConfigurationError

LOWEST_MRN = 7_000_000
"""The smallest number drawn (the letter S goes before it)."""
HIGHEST_MRN = 9_999_999
"""The largest number drawn."""
PARTITIONS = ("train", "validation", "test")
"""The names of the partitions; they hold 80, 10 and 10 percent of all numbers."""

_KEY = b"healthgym/mrn/1"
_BLOCK = {"train": 4, "validation": 24, "test": 24}


def partition_of(mrn: str) -> str:
    """Return the partition ``mrn`` belongs to: a fixed function of its text."""
    digest = blake2b(mrn.encode(), digest_size=8, key=_KEY).digest()
    tenth = int.from_bytes(digest, "big") % 10
    return "train" if tenth < 8 else "validation" if tenth == 8 else "test"


def draw_mrn(rng: np.random.Generator, partition: str) -> str:
    """Draw a record number of ``partition``, uniformly: ``S`` and seven digits.

    Numbers may repeat between calls; a caller that needs distinct ones draws again.

    Raises:
        ConfigurationError: If ``partition`` is not one of :data:`PARTITIONS`.
    """
    block = _BLOCK.get(partition)
    if block is None:
        accepted = ", ".join(PARTITIONS)
        raise ConfigurationError(f"Unknown partition {partition!r}; accepted: {accepted}.")
    while True:
        for number in rng.integers(LOWEST_MRN, HIGHEST_MRN + 1, size=block).tolist():
            mrn = f"S{number}"
            if partition_of(mrn) == partition:
                return mrn
