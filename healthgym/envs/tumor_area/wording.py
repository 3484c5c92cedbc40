"""How measurements are put into words: short, rounded, the same on every machine."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import groupby

from healthgym.worlds.slides.grid import Tile
from healthgym.worlds.slides.measure import Stains
from healthgym.worlds.slides.sampling import TileStatistics


def tile_name(tile: Tile) -> str:
    """Return a tile as ``(x,y)``."""
    return f"({tile[0]},{tile[1]})"


def survey_lines(found: Mapping[Tile, Stains], least: float, downsample: int) -> str:
    """Return the survey of a slide, one line for each row of tiles that has tissue."""
    lines = []
    for row, tiles in groupby(found, key=lambda tile: tile[1]):
        cells = [
            f"{tile[0]}:{found[tile].tissue * 100:.0f}/{_hundredth(found[tile].haematoxylin)}/"
            f"{_hundredth(found[tile].eosin)}"
            for tile in tiles
            if found[tile].tissue >= least
        ]
        if cells:
            lines.append(f"y={row} {' '.join(cells)}")
    count = sum(stains.tissue >= least for stains in found.values())
    head = f"{count} of {len(found)} tiles have tissue; x:tissue %/haematoxylin/eosin"
    return "\n".join([f"{head} at downsample {downsample}", *lines])


def _hundredth(density: float) -> str:
    return f"{100 * density:.0f}"


def statistics_line(statistics: TileStatistics) -> str:
    """Return the measurements of a tile in one line."""
    fields = [field for field in statistics.fields if field is not None]
    if not fields:
        return f"{tile_name(statistics.tile)} glass"
    areas = "/".join("-" if field is None else f"{field.area:.0f}" for field in statistics.fields)
    density = sum(field.density for field in fields) / len(fields)
    spread = sum(field.spread for field in fields) / len(fields)
    dark = sum(field.haematoxylin for field in fields) / len(fields)
    return (
        f"{tile_name(statistics.tile)} density {density:.0f} area {areas} spread {spread:.2f} "
        f"od {dark:.2f}"
    )


def tile_ranges(tiles: Iterable[Tile]) -> str:
    """Return tiles by row, neighbours as ranges: ``y=2: x 3-5, 8``."""
    lines = []
    ordered = sorted(tiles, key=lambda tile: (tile[1], tile[0]))
    for row, group in groupby(ordered, key=lambda tile: tile[1]):
        runs: list[list[int]] = []
        for x, _ in group:
            if runs and x == runs[-1][1] + 1:
                runs[-1][1] = x
            else:
                runs.append([x, x])
        spans = ", ".join(f"{a}" if a == b else f"{a}-{b}" for a, b in runs)
        lines.append(f"y={row}: x {spans}")
    return "\n".join(lines)
