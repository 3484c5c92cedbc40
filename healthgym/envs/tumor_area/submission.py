"""Reading a selection that is handed in as text, by the published rule and by ours."""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from healthgym.core.borders import JsonDict
from healthgym.core.files import BYTE_ORDER_MARK
from healthgym.core.task import Task
from healthgym.worlds.slides.grid import Tile, TileGrid

_MOST = 200_000
#: What a row of the published template holds; anything else could take back what the tiles say.
_KEYS = frozenset({"task_id", "contains_tumor", "predicted_tumor_tiles"})
_PLACE = frozenset({"x", "y"})
#: What many add and takes nothing back, as a share: how sure they are.
_SURE = frozenset({"confidence", "probability", "score"})


def read_paper(text: str, task_id: str) -> frozenset[Tile]:
    """Return the tiles that the published evaluator reads from a submission.

    The text is a JSON list of rows, or ``{"results": rows}``. Rows that are no objects are
    dropped, and only the first one that is left counts: nothing is selected where it is another
    task's by its ``task_id``. A tile is an
    object whose ``x`` and ``y`` are integers, as Python sees them: true and false pass, ``3.0`` and
    ``"3"`` do not; others are dropped. What is there twice counts once. A text that is no JSON
    ends the published evaluator with an exception; here it selects nothing.

    Args:
        text: The submission.
        task_id: Id of the task.
    """
    rows = _rows(text) or []
    row: JsonDict = next(iter(rows), {})
    tiles = row.get("predicted_tumor_tiles") if row.get("task_id") == task_id else None
    if not isinstance(tiles, list):
        return frozenset()
    pairs = ((t.get("x"), t.get("y")) for t in tiles if isinstance(t, dict))
    return frozenset(
        (int(x), int(y)) for x, y in pairs if isinstance(x, int) and isinstance(y, int)
    )


@dataclass(frozen=True, slots=True)
class Reading:
    """A submission as the strict profile reads it.

    Attributes:
        tiles: The tiles it names.
        fault: What is wrong with its form; empty if nothing is.
    """

    tiles: frozenset[Tile]
    fault: str = ""


def read_strict(text: str, task: Task, grid: TileGrid) -> Reading:
    """Return the tiles of a submission that says one thing only, and what is wrong with it.

    Args:
        text: The submission.
        task: The task.
        grid: The tiles there are.
    """
    text = text.removeprefix(BYTE_ORDER_MARK)
    tiles = read_paper(text, task.task_id)
    if _says_twice(text):
        return Reading(tiles, "a key comes twice in one object")
    rows = _rows(text, objects_only=False)
    if rows is None:
        return Reading(tiles, "it is no JSON list of rows")
    if len(rows) != 1 or not isinstance(rows[0], dict) or rows[0].get("task_id") != task.task_id:
        return Reading(tiles, "it does not have one row, that of this task")
    row = dict(rows[0])
    if isinstance(row.get("instruction"), str) and row["instruction"] in task.instruction:
        # The published template repeats what is asked.
        del row["instruction"]
    named = row.get("predicted_tumor_tiles")
    if not isinstance(named, list):
        return Reading(tiles, "predicted_tumor_tiles is no list")
    unknown = _added(row, _KEYS)
    for tile in named:
        unknown += _added(tile, _PLACE) if isinstance(tile, dict) else []
    if unknown:
        return Reading(tiles, f"what {unknown[0]!r} says is not asked for")
    plain = [
        (tile["x"], tile["y"])
        for tile in named
        if isinstance(tile, dict) and type(tile.get("x")) is int and type(tile.get("y")) is int
    ]
    if len(plain) != len(named):
        return Reading(tiles, "a tile is not two integers")
    if any(tile not in grid for tile in plain):
        return Reading(tiles, "a tile lies outside of the grid")
    if row.get("contains_tumor", bool(plain)) is not bool(plain):
        return Reading(tiles, "contains_tumor contradicts the tiles")
    return Reading(tiles)


def _added(said: JsonDict, asked: frozenset[str]) -> list[str]:
    """Return what an object holds beside what is asked for, unless it stands by it."""
    return sorted(key for key in said.keys() - asked if not _stands_by(key, said[key]))


def _stands_by(key: str, value: object) -> bool:
    """Return whether an added key says that the tiles are more likely than not."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return key in _SURE and 0.5 < value <= 1


def _says_twice(text: str) -> bool:
    """Return whether an object of a JSON text has a key twice, of which readers keep either."""
    twice = False

    def together(pairs: list[tuple[str, object]]) -> JsonDict:
        nonlocal twice
        twice = twice or len(dict(pairs)) < len(pairs)
        return dict(pairs)

    if len(text) <= _MOST:
        with suppress(ValueError, RecursionError):
            json.loads(text, object_pairs_hook=together)
    return twice


def write(tiles: frozenset[Tile], task_id: str) -> str:
    """Return the submission that names these tiles, row by row."""
    ordered = sorted(tiles, key=lambda tile: (tile[1], tile[0]))
    row = {
        "task_id": task_id,
        "contains_tumor": bool(tiles),
        "predicted_tumor_tiles": [{"x": x, "y": y} for x, y in ordered],
    }
    return json.dumps([row])


def _rows(text: str, objects_only: bool = True) -> list[Any] | None:
    """Return the rows of a submission; None if it has none."""
    if len(text) > _MOST:
        return None
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        return None
    rows = data.get("results") if isinstance(data, dict) else data
    if not isinstance(rows, list) or not (objects_only or isinstance(data, list) or len(data) == 1):
        return None
    return [row for row in rows if isinstance(row, dict)] if objects_only else rows
