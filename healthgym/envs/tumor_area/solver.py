"""A policy that reads numbers, as a person without eyes for pictures would have to.

It finds the tissue in the survey, measures every other tile like the squares of a chess-board, and
then, as far as its looks go, those between tiles that disagree. A field is called tumour the more,
the larger its nuclei are; a tile, if enough of its fields and of those around them are.
"""

from __future__ import annotations

import re
from collections.abc import Generator, Iterator, Sequence

from healthgym.core.tool import ToolCall, call

_LOOKS = re.compile(r"You have (\d+) looks")
_ROW = re.compile(r"^y=(\d+) (.*)$", re.MULTILINE)
_CELL = re.compile(r"(\d+):(\d+)/")
_TILE = re.compile(r"\((\d+),(\d+)\) density \d+ area (\S+) ")
#: Tiles that one look measures.
_BATCH = 12
#: Mean area of nuclei, in um^2, of a field that is surely not tumour, and surely tumour; how much
#: of what a field says comes from the fields around it; and how much of a tile is enough, where its
#: own fields show some tumour and where only those around it do. Chosen on validation slides.
_SMALL, _LARGE, _AROUND = 60.0, 80.0, 0.35
_ENOUGH, _SOME, _ENOUGH_AROUND = 0.2, 0.15, 0.5
#: Tiles between which a tile that was not measured is in doubt.
_DOUBT = (0.02, 0.98)

Tile = tuple[int, int]
Fields = dict[Tile, float]


def solve(instruction: str) -> Generator[ToolCall, str, None]:
    """Survey, measure, select and submit."""
    found = _LOOKS.search(instruction)
    looks = int(found[1]) if found else 1
    text = yield call("survey_tiles")
    tissue = [
        (int(cell[1]), int(row[1]))
        for row in _ROW.finditer(text)
        for cell in _CELL.finditer(row[2])
    ]
    fields: Fields = {}
    measured: set[Tile] = set()
    whole = len(tissue) <= looks * _BATCH
    queue = tissue if whole else [tile for tile in tissue if sum(tile) % 2 == 0]
    while queue and looks:
        batch, queue = queue[:_BATCH], queue[_BATCH:]
        text = yield call("tile_statistics", tiles=[list(tile) for tile in batch])
        looks -= 1
        measured.update(batch)
        fields.update(_read(text))
        if not queue:
            queue = _in_doubt(tissue, measured, fields)
    chosen = [list(tile) for tile in tissue if _is_tumor(tile, fields)]
    if chosen:
        yield call("select_tiles", tiles=chosen)
    yield call("submit")


def _read(text: str) -> Iterator[tuple[Tile, float]]:
    """Yield how much each measured field looks like tumour, by its place at half a tile."""
    for match in _TILE.finditer(text):
        for number, area in enumerate(match[3].split("/")):
            if area not in ("-", "0"):
                share = (float(area) - _SMALL) / (_LARGE - _SMALL)
                place = (2 * int(match[1]) + number % 2, 2 * int(match[2]) + number // 2)
                yield place, min(max(share, 0.0), 1.0)


def _in_doubt(tissue: Sequence[Tile], measured: set[Tile], fields: Fields) -> list[Tile]:
    """Return tiles not measured whose neighbours disagree, the most doubtful first."""
    doubts = []
    for tile in tissue:
        if tile not in measured:
            score = _score(tile, fields)
            if _DOUBT[0] < score < _DOUBT[1]:
                doubts.append((abs(score - 0.5), tile))
    return [tile for _, tile in sorted(doubts)]


def _is_tumor(tile: Tile, fields: Fields) -> bool:
    own = [fields[place] for place in _places(tile) if place in fields]
    seen = max(own, default=0.0) > _SOME
    return _score(tile, fields) >= (
        _ENOUGH if seen else _ENOUGH_AROUND * (1 if not own else _AROUND)
    )


def _places(tile: Tile) -> list[Tile]:
    return [(2 * tile[0] + dx, 2 * tile[1] + dy) for dy in (0, 1) for dx in (0, 1)]


def _score(tile: Tile, fields: Fields) -> float:
    """Return how much of a tile is tumour, judging by its fields and those around them."""
    measured = [place for place in _places(tile) if place in fields]
    # A tile that was not measured is judged by what lies around it; a field that is glass has no
    # tumour where others of its tile were measured.
    scores = []
    for place in measured or _places(tile):
        around = [
            fields[near]
            for dx in (-1, 0, 1)
            for dy in (-1, 0, 1)
            if (dx or dy) and (near := (place[0] + dx, place[1] + dy)) in fields
        ]
        own = fields.get(place)
        if around:
            mean = sum(around) / len(around)
            scores.append(mean if own is None else (1 - _AROUND) * own + _AROUND * mean)
        elif own is not None:
            scores.append(own)
    return sum(scores) / (4 if measured else max(len(scores), 1))
