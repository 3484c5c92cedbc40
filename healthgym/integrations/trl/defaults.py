"""What a run of an environment is set to unless told otherwise: ``data/defaults.json``.

For FhirRecord, the main job: short charts and short questions, each with codes, limits and doses of
its own; success itself as reward, because progress would pay for half an order, and a policy would
settle for that; recording, looking up, and deciding by a level whether and how much to order, since
what the small model does not learn in these minutes (a table of three limits: 20 % after 6,000
demonstrations of the oracle's; means) would only slow it down; shown by who goes by the question
and two who go by their house's habit. The desks of managed care have the settings that
``benchmarks/drills.py`` measured. Of the marathons a small model is shown queues that fit into its
context, one case or three of a drill, and not 25; nobody has measured what it learns from them.
Others get their easiest charts, or nothing.
"""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache
from importlib import resources
from typing import Any

from healthgym.core.borders import JsonObject
from healthgym.integrations.trl.config import Shown, TrainConfig


@cache
def _table() -> dict[str, JsonObject]:
    path = resources.files(__package__).joinpath("data/defaults.json")
    found: dict[str, JsonObject] = json.loads(path.read_text(encoding="utf-8"))
    return found


def known() -> tuple[str, ...]:
    """Return the ids that have settings of their own."""
    return tuple(_table())


def defaults(env_id: str, *, source: bool = False) -> TrainConfig:
    """Return the settings of the small model's run on an environment.

    Args:
        env_id: A registered id; one that is not in the table has the general ones.
        source: Whether tasks are drawn from given data: then whatever types it has data for, and
            what is shown is mostly made in its style or told anew.
    """
    row: dict[str, Any] = dict(_table().get(env_id, {}))
    given = row.pop("source", {})
    if source:
        row = {name: item for name, item in (given or row).items() if name != "transfer"}
    kwargs = row.pop("env_kwargs", {})
    supervised, reinforced = row.pop("supervised", {}), row.pop("reinforced", {})
    row["shown"] = {name: Shown(**one) for name, one in row.get("shown", {}).items()}
    made = TrainConfig(env_id, kwargs, **row)
    return replace(
        made,
        supervised=replace(made.supervised, **supervised),
        reinforced=replace(made.reinforced, **reinforced),
    )
