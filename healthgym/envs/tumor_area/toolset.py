"""The agent's verbs: look at the slide, measure it, and select tiles."""

from __future__ import annotations

from typing import Literal

from healthgym.core.tool import ToolKind, ToolResult, Toolset, tool
from healthgym.envs.tumor_area.submission import Reading, form_of, read_paper, read_strict
from healthgym.envs.tumor_area.wording import statistics_line, survey_lines, tile_name, tile_ranges
from healthgym.errors import ToolError
from healthgym.worlds.slides.grid import TILE, Tile
from healthgym.worlds.slides.sampling import (
    FIELD,
    SURVEY,
    TISSUE,
    nuclear_downsample,
    survey,
    tile_statistics,
)
from healthgym.worlds.slides.show import overview, sheet
from healthgym.worlds.slides.source import view
from healthgym.worlds.slides.world import SlideWorld

_MOST_PIXELS = 1024
_MOST_MEASURED, _MOST_SHOWN = 12, 12
_MOST_TEXT = 60_000
_THUMB = 192


class SlideToolset(Toolset[SlideWorld]):
    """Look at a slide, measure tiles, select tiles, and hand the selection in."""

    # -- looking -----------------------------------------------------------------------------

    @tool(ToolKind.READ)
    def slide_info(self) -> str:
        """Describe the slide: size, resolution, levels, the grid of tiles, and looks left."""
        slide, grid = self.world.slide, self.world.grid
        levels = "\n".join(
            f"level {number}: downsample {downsample:g}, {round(slide.width / downsample)} x "
            f"{round(slide.height / downsample)} px"
            for number, downsample in enumerate(slide.downsamples)
        )
        mpp = f"{slide.mpp:.4g} um/px" if slide.mpp else "um/px unknown"
        return (
            f"{slide.width} x {slide.height} px at level 0, {mpp}\n{levels}\n"
            f"grid: {grid.columns} columns x {grid.rows} rows of tiles of {TILE} px at level 0\n"
            f"task_id: {self.world.name}\n{self._looks()}"
        )

    @tool(ToolKind.READ)
    def view_overview(self) -> ToolResult:
        """Show the whole slide with the grid of tiles, columns numbered above, rows at the left."""
        picture, downsample = overview(self.world.slide)
        grid = self.world.grid
        text = (
            f"The whole slide at downsample {downsample:g}, with the grid of tiles: columns 0 to "
            f"{grid.columns - 1}, rows 0 to {grid.rows - 1}."
        )
        return ToolResult(text, (picture,))

    @tool(ToolKind.READ)
    def view_region(self, level: int, x: int, y: int, width: int, height: int) -> ToolResult:
        """Show a region of the slide at a level; takes a look.

        Args:
            level: Level of the pyramid, 0 is the finest; slide_info lists them.
            x: Left edge, in level-0 pixels.
            y: Top edge, in level-0 pixels.
            width: Width of the picture, 1 to 1024 pixels of that level.
            height: Height of the picture, 1 to 1024 pixels of that level.
        """
        slide = self.world.slide
        if not 0 <= level < len(slide.downsamples):
            raise ToolError(f"level lies between 0 and {len(slide.downsamples) - 1}.")
        if not (1 <= width <= _MOST_PIXELS and 1 <= height <= _MOST_PIXELS):
            raise ToolError(f"width and height lie between 1 and {_MOST_PIXELS}.")
        if not (0 <= x < slide.width and 0 <= y < slide.height):
            raise ToolError(
                f"x lies between 0 and {slide.width - 1}, y between 0 and {slide.height - 1}."
            )
        self.world.look()
        downsample = slide.downsamples[level]
        picture = view(slide, downsample, x, y, width, height)
        right, bottom = x + width * downsample, y + height * downsample
        text = (
            f"{width} x {height} px of level {level} (downsample {downsample:g}): level-0 x {x} "
            f"to {right:.0f}, y {y} to {bottom:.0f}; tiles {tile_name((x // TILE, y // TILE))} to "
            f"{tile_name((int(right - 1) // TILE, int(bottom - 1) // TILE))}. {self._looks()}"
        )
        return ToolResult(text, (picture,))

    @tool(ToolKind.READ)
    def contact_sheet(
        self, tiles: list[list[int]], power: Literal["low", "high"] = "low"
    ) -> ToolResult:
        """Show up to 12 tiles side by side, each labelled with its x and y; takes a look.

        Args:
            tiles: Tiles as pairs of x and y, e.g. [[3, 2], [4, 2]].
            power: "low" shows each tile whole, "high" the middle of each at 1 um a pixel.
        """
        wanted = self._tiles(tiles, _MOST_SHOWN)
        self.world.look()
        slide = self.world.slide
        downsample = TILE / _THUMB if power == "low" else nuclear_downsample(slide)
        side = round(_THUMB * downsample)
        inset = (TILE - side) // 2
        pictures = [
            view(slide, downsample, x * TILE + inset, y * TILE + inset, _THUMB, _THUMB)
            for x, y in wanted
        ]
        shown = sheet(pictures, [f"{x},{y}" for x, y in wanted], 4)
        scale = "whole" if power == "low" else f"the middle {side} px"
        text = (
            f"{len(wanted)} tiles ({scale}), four a row: {', '.join(map(tile_name, wanted))}. "
            f"{self._looks()}"
        )
        return ToolResult(text, (shown,))

    # -- measuring ---------------------------------------------------------------------------

    @tool(ToolKind.READ)
    def survey_tiles(self) -> str:
        """Measure the stain of every tile with tissue at low power; takes no look.

        One line a row of tiles: x:tissue %/haematoxylin/eosin, the stains as mean optical density
        times 100 after colour deconvolution. Tiles with less than 20 % tissue are left out.
        """
        return survey_lines(survey(self.world.slide), TISSUE, SURVEY)

    @tool(ToolKind.READ)
    def tile_statistics(self, tiles: list[list[int]] = [], page: int = 1) -> str:  # noqa: B006
        """Measure stain and nuclei of up to 12 tiles at high power; takes a look.

        Four fields a tile are measured, in the middle of each quarter. One line a tile: density
        (nuclei per mm2), area (mean area of a nucleus in um2, of each field: upper left, upper
        right, lower left, lower right; - is glass), spread (standard deviation of the area by
        its mean) and the optical density of nuclei.

        Args:
            tiles: Tiles as pairs of x and y, e.g. [[3, 2], [4, 2]]; none means all tiles with
                tissue, row by row, 12 a page.
            page: Page, from 1, where no tiles are named.
        """
        wanted, note = self._measured(tiles, page)
        self.world.look()
        lines = [statistics_line(tile_statistics(self.world.slide, tile)) for tile in wanted]
        side = round(FIELD * nuclear_downsample(self.world.slide))
        return "\n".join([*lines, f"({note}four fields of {side} px a tile; {self._looks()})"])

    # -- selecting ---------------------------------------------------------------------------

    @tool(ToolKind.WRITE)
    def select_tiles(self, tiles: list[list[int]]) -> str:
        """Add tiles to the selection.

        Args:
            tiles: Tiles as pairs of x and y, e.g. [[3, 2], [4, 2]].
        """
        return self._change(self._selected() | set(self._tiles(tiles)))

    @tool(ToolKind.WRITE)
    def unselect_tiles(self, tiles: list[list[int]]) -> str:
        """Take tiles out of the selection.

        Args:
            tiles: Tiles as pairs of x and y, e.g. [[3, 2], [4, 2]].
        """
        return self._change(self._selected() - set(self._tiles(tiles)))

    @tool(ToolKind.WRITE)
    def select_rectangle(self, left: int, top: int, right: int, bottom: int) -> str:
        """Add a rectangle of tiles to the selection.

        Args:
            left: First column.
            top: First row.
            right: Last column, itself selected, too.
            bottom: Last row, itself selected, too.
        """
        return self._change(self._selected() | self._rectangle(left, top, right, bottom))

    @tool(ToolKind.WRITE)
    def unselect_rectangle(self, left: int, top: int, right: int, bottom: int) -> str:
        """Take a rectangle of tiles out of the selection.

        Args:
            left: First column.
            top: First row.
            right: Last column, itself taken out, too.
            bottom: Last row, itself taken out, too.
        """
        return self._change(self._selected() - self._rectangle(left, top, right, bottom))

    @tool(ToolKind.WRITE)
    def write_selection(self, text: str) -> str:
        """Replace the selection by a JSON text in the form of the published benchmark.

        Args:
            text: A list with one row, e.g. [{"task_id": "...", "contains_tumor": true,
                "predicted_tumor_tiles": [{"x": 3, "y": 2}]}]; slide_info gives the task_id.
        """
        if len(text) > _MOST_TEXT:
            raise ToolError(f"The text may have {_MOST_TEXT} characters, not {len(text)}.")
        if text == self.world.text:
            raise ToolError("The selection reads so already.")
        self.world.write(text)
        return f"The text is kept. {self._count()}{self._fault()}"

    @tool(ToolKind.READ)
    def show_selection(self) -> ToolResult:
        """Show the selected tiles in green over the overview, and list them by row."""
        tiles = self._selected()
        inside = [tile for tile in tiles if tile in self.world.grid]
        picture, downsample = overview(self.world.slide, inside)
        shown = f"{self._count()}{self._fault()} (overview at downsample {downsample:g})"
        text = f"{shown}\n{tile_ranges(tiles)}"
        return ToolResult(text.strip(), (picture,))

    @tool(ToolKind.SUBMIT)
    def submit(self) -> str:
        """Hand in the selection as it stands, and end the episode."""
        return "Submitted."

    # -- helpers -----------------------------------------------------------------------------

    def _tiles(self, pairs: list[list[int]], most: int | None = None) -> list[Tile]:
        grid = self.world.grid
        if not pairs or (most is not None and len(pairs) > most):
            count = "at least one tile" if most is None else f"1 to {most} tiles"
            raise ToolError(f"Name {count}, each as [x, y].")
        for pair in pairs:
            if len(pair) != 2:
                raise ToolError(f"A tile is a pair [x, y], not {str(pair)[:60]}.")
            if tuple(pair) not in grid:
                raise ToolError(
                    f"There is no tile {tile_name((pair[0], pair[1]))}: x lies between 0 and "
                    f"{grid.columns - 1}, y between 0 and {grid.rows - 1}."
                )
        return list(dict.fromkeys((pair[0], pair[1]) for pair in pairs))

    def _measured(self, pairs: list[list[int]], page: int) -> tuple[list[Tile], str]:
        if pairs:
            return self._tiles(pairs, _MOST_MEASURED), ""
        found = survey(self.world.slide)
        tissue = [tile for tile, stains in found.items() if stains.tissue >= TISSUE]
        pages = max(-(-len(tissue) // _MOST_MEASURED), 1)
        if not 1 <= page <= pages:
            raise ToolError(f"page lies between 1 and {pages}.")
        part = tissue[(page - 1) * _MOST_MEASURED : page * _MOST_MEASURED]
        return part, f"page {page} of {pages}; "

    def _rectangle(self, left: int, top: int, right: int, bottom: int) -> set[Tile]:
        grid = self.world.grid
        if not (0 <= left <= right < grid.columns and 0 <= top <= bottom < grid.rows):
            raise ToolError(
                f"A rectangle has 0 <= left <= right <= {grid.columns - 1} and 0 <= top <= bottom "
                f"<= {grid.rows - 1}."
            )
        return {(x, y) for y in range(top, bottom + 1) for x in range(left, right + 1)}

    def _selected(self) -> frozenset[Tile]:
        return self.world.tiles if self.world.text is None else self._read(self.world.text).tiles

    def _read(self, text: str) -> Reading:
        return read_strict(text, self.world.name, self.world.asked, self.world.grid)

    def _fault(self) -> str:
        """Return what is wrong with a selection written as text, and what to write instead."""
        text = self.world.text
        if text is None:
            return ""
        reading, published = self._read(text), read_paper(text, self.world.name)
        form = f"Write {form_of(self.world.name)}, with your tiles and nothing else."
        if reading.fault:
            return f" Its form is at fault: {reading.fault}. {form}"
        if reading.tiles != published:
            return f" The published evaluator reads {len(published)} of them. {form}"
        return ""

    def _change(self, tiles: frozenset[Tile] | set[Tile]) -> str:
        if self.world.text is None and tiles == self.world.tiles:
            raise ToolError("That changes nothing: the selection is so already.")
        self.world.mark(frozenset(tiles))
        return self._count()

    def _count(self) -> str:
        count = len(self._selected())
        return f"{count} tile{'' if count == 1 else 's'} selected."

    def _looks(self) -> str:
        return f"{self.world.looks_left} of {self.world.looks} looks left"
