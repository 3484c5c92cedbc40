"""How much progress who opens no chart makes, by task type.

Written by :func:`healthgym.testing.measured_chance` over 640 train tasks of each registered id, on
charts with little in them: who does not look does not see how much there is; those of our own types
over 320 on Synthea's charts. To be measured anew where branches or wordings change.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from importlib import resources


def chance_of(mix: str) -> Mapping[str, float]:
    """Return the progress by task type of who does not look.

    Args:
        mix: ``"v1"``, ``"v2"`` or ``"v3"`` for the tasks of a benchmark; else the family's name.
    """
    return _table()[mix]


@cache
def _table() -> Mapping[str, Mapping[str, float]]:
    path = resources.files(__package__).joinpath("data/chance.json")
    found: dict[str, dict[str, float]] = json.loads(path.read_text(encoding="utf-8"))
    return found
