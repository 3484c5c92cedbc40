"""Which subject is in which split and shard.

The draw is that of MEDS-Transforms 0.2 (``split_and_shard_subjects``), so that cohorts have the
same members: the order of the calls on the random generator is part of the rule.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from healthgym.errors import ToolError

#: The published fractions.
FRACTIONS: Mapping[str, float] = MappingProxyType({"train": 0.8, "tuning": 0.1, "held_out": 0.1})


def shard_subjects(
    subjects: NDArray[np.int64], *, per_shard: int = 1000, seed: int = 1
) -> dict[str, list[int]]:
    """Return the subjects of each shard ``split/number``.

    Args:
        subjects: Subject ids, shape (n,); repeats are dropped.
        per_shard: Most subjects in a shard.
        seed: Seed of the draw.

    Raises:
        ToolError: If there are too few subjects for every split to have one.
    """
    people = np.unique(subjects)
    rng = np.random.default_rng(seed)
    names = np.array(list(FRACTIONS))[rng.permutation(len(FRACTIONS))]
    sizes = np.round([FRACTIONS[name] * len(people) for name in names[:-1]]).astype(int)
    sizes = np.append(sizes, len(people) - sizes.sum())
    if sizes.min() == 0:
        sizes[sizes.argmax()] -= 1
        sizes[sizes.argmin()] += 1
    if sizes.min() <= 0:
        raise ToolError(f"{len(people)} subjects are too few for train, tuning and held-out.")
    groups = np.split(rng.permutation(people), sizes.cumsum()[:-1])
    shards: dict[str, list[int]] = {}
    for name, members in zip(names, groups, strict=True):
        count = int(np.ceil(len(members) / per_shard))
        drawn = rng.permutation(members) if count > 1 else members
        for number, shard in enumerate(np.array_split(drawn, count)):
            shards[f"{name}/{number}"] = [int(subject) for subject in shard]
    return shards
