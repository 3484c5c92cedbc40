"""Reading a selection that is handed in as text, by the published rule and by ours."""

from __future__ import annotations

import json
import re
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from healthgym.core.borders import JsonDict
from healthgym.core.files import BYTE_ORDER_MARK
from healthgym.worlds.slides.grid import Tile, TileGrid

_MOST, _SHOWN = 200_000, 60
#: What a row of the published template holds; anything else could take back what the tiles say.
_KEYS = frozenset({"task_id", "contains_tumor", "predicted_tumor_tiles"})
_PLACE = frozenset({"x", "y"})
#: What many add and takes nothing back, as a share: how sure they are.
_SURE = frozenset({"confidence", "probability", "score"})
#: Names for how many tiles a row holds; what agrees with them takes nothing back.
_COUNTS = frozenset(
    {"num_tiles", "n_tiles", "tile_count", "num_tumor_tiles", "num_predicted_tiles"}
)
_FENCE = re.compile(r"```\w*")


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


def read_strict(text: str, task_id: str, asked: str, grid: TileGrid) -> Reading:
    """Return the tiles of a submission that says one thing only, and what is wrong with it.

    A code fence is dropped, a row may stand alone in place of a list of one, and a tile may be a
    pair ``[x, y]`` and have whole numbers with a point: none of it can mean two things. What the
    form is at fault for is read as the published evaluator reads it.

    Args:
        text: The submission.
        task_id: Id of the task.
        asked: What the task asks; the published template repeats it.
        grid: The tiles there are.
    """
    bare = _unfenced(text.removeprefix(BYTE_ORDER_MARK))
    row, fault = _only_row(bare, task_id)
    named = row.get("predicted_tumor_tiles")
    tiles = [_tile(each) for each in named] if isinstance(named, list) else None
    fault = fault or _fault_beside(row, asked) or _fault_of_tiles(row, tiles, grid)
    if fault or tiles is None:
        return Reading(read_paper(bare, task_id), fault)
    return Reading(frozenset(tile for tile in tiles if tile is not None))


def _unfenced(text: str) -> str:
    """Return a text without the code fence around it."""
    lines = text.strip().split("\n")
    fenced = len(lines) > 1 and _FENCE.fullmatch(lines[0].strip()) and lines[-1].strip() == "```"
    return "\n".join(lines[1:-1]) if fenced else text


def _only_row(text: str, task_id: str) -> tuple[JsonDict, str]:
    """Return the one row of a submission, and why it does not have it."""
    if _says_twice(text):
        return {}, "a key comes twice in one object"
    rows = _rows(text, objects_only=False)
    if rows is None:
        return {}, "it is no JSON list of rows"
    if len(rows) != 1 or not isinstance(rows[0], dict):
        return {}, "it does not have one row"
    if rows[0].get("task_id") != task_id:
        return {}, f"its row does not have the task_id {task_id}"
    return dict(rows[0]), ""


def _fault_beside(row: JsonDict, asked: str) -> str:
    """Return what a row or a tile says beside what is asked for."""
    repeated = row.get("instruction")
    template = {"instruction"} if isinstance(repeated, str) and repeated in asked else set()
    unknown = _added(row, _KEYS | _COUNTS | template)
    named = row.get("predicted_tumor_tiles")
    for tile in named if isinstance(named, list) else []:
        unknown += _added(tile, _PLACE) if isinstance(tile, dict) else []
    return f"what {unknown[0][:_SHOWN]!r} says is not asked for, leave it out" if unknown else ""


def _fault_of_tiles(row: JsonDict, tiles: list[Tile | None] | None, grid: TileGrid) -> str:
    """Return what is wrong with the tiles of a row, or with what it says of them."""
    if tiles is None:
        return "predicted_tumor_tiles is no list"
    if None in tiles:
        said = json.dumps(row["predicted_tumor_tiles"][tiles.index(None)])
        return f"{said[:_SHOWN]} is no tile of two whole numbers"
    outside = next((tile for tile in tiles if tile not in grid), None)
    if outside is not None:
        limits = f"x lies between 0 and {grid.columns - 1}, y between 0 and {grid.rows - 1}"
        return f"there is no tile {str(list(outside))[:_SHOWN]}: {limits}"
    if row.get("contains_tumor", bool(tiles)) is not bool(tiles):
        return "contains_tumor contradicts the tiles"
    # Who counts what comes twice counts it once or twice.
    counts = (len(tiles), len(set(tiles)))
    if any(row.get(key, len(tiles)) not in counts for key in _COUNTS):
        return "the number of tiles contradicts the tiles"
    return ""


def _tile(said: object) -> Tile | None:
    """Return the tile that an object or a pair of whole numbers names, if it does."""
    if isinstance(said, dict):
        said = [said.get("x"), said.get("y")]
    if not isinstance(said, list) or len(said) != 2:
        return None
    x, y = (_whole(value) for value in said)
    return None if x is None or y is None else (x, y)


def _whole(value: object) -> int | None:
    """Return a whole number, be it written with a point; true and false are none."""
    if type(value) is int:
        return value
    return int(value) if isinstance(value, float) and value.is_integer() else None


def _added(said: JsonDict, asked: frozenset[str] | set[str]) -> list[str]:
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
    """Return the rows of a submission; None if it has none.

    Args:
        text: The submission.
        objects_only: Whether to read it as published: what is no object is dropped, what stands
            beside ``results`` is not seen, and a row alone is none.
    """
    if len(text) > _MOST:
        return None
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if objects_only:
        rows = data.get("results") if isinstance(data, dict) else data
        return [row for row in rows if isinstance(row, dict)] if isinstance(rows, list) else None
    if isinstance(data, dict) and data.keys() == {"results"}:
        data = data["results"]
    rows = [data] if isinstance(data, dict) else data
    return rows if isinstance(rows, list) else None


def form_of(task_id: str) -> str:
    """Return how a selection is to be written."""
    return write(frozenset({(3, 2)}), task_id)
