"""The agent's verbs: look at the volume, measure in it, write calls down."""

from __future__ import annotations

from typing import Literal

import numpy as np

from healthgym.core.tool import ToolKind, ToolResult, Toolset, tool
from healthgym.envs.ct_abnormality.predictions import (
    frames,
    line_of,
    parse_plain,
    parse_published,
    spread,
)
from healthgym.envs.ct_abnormality.resources import LABELS, criteria, find_label
from healthgym.envs.ct_abnormality.workstation import NO_LUNGS, Quantity, measure
from healthgym.errors import ToolError
from healthgym.worlds.volumes import probes
from healthgym.worlds.volumes.grid import AXES, Grid
from healthgym.worlds.volumes.survey import survey
from healthgym.worlds.volumes.views import (
    ACROSS,
    ALONG,
    WINDOWS,
    Field,
    picture,
    sheet,
    slab_values,
    slice_values,
    whole,
)
from healthgym.worlds.volumes.world import VolumeWorld

Plane = Literal["axial", "coronal", "sagittal"]
Window = Literal["lung", "mediastinal", "bone"]

_SIDES = {
    "axial": "patient's right at left, front up",
    "coronal": "patient's right at left, head up",
    "sagittal": "front at left, head up",
}
_MOST_SHEET, _MOST_TEXT = 24, 20_000
_MOST_STRANGE, _MOST_QUOTED = 8, 60
_MOST_SLAB = 60.0


class CtToolset(Toolset[VolumeWorld]):
    """Read a CT volume; write and submit calls.

    Positions are in mm: x to the patient's right, y to the front, z to the head.
    """

    # -- looking -----------------------------------------------------------------------------

    @tool(ToolKind.READ)
    def volume_info(self) -> str:
        """Show size, spacing and extent of the volume, where its lungs are, and the findings."""
        source = self.world.source
        grid = source.grid
        spans = ", ".join(
            f"{name} {grid.limits(n)[0]:.0f} to {grid.limits(n)[1]:.0f}"
            for n, name in enumerate(AXES)
        )
        lines = [
            f"{grid.shape[0]} x {grid.shape[1]} pixels, {grid.shape[2]} slices; "
            f"voxel {grid.spacing[0]:.2f} x {grid.spacing[1]:.2f} x {grid.spacing[2]:.2f} mm",
            f"extent in mm: {spans}",
        ]
        at = survey(source)
        if at.found:
            left, right = at.beside()
            lines.append(
                f"lungs: x {left:.0f} to {right:.0f}, z {at.low:.0f} to {at.high:.0f}; "
                f"hila near z {at.hilum:.0f}, top of the right diaphragm z {at.dome:.0f}"
            )
        else:
            lines.append(f"Warning: {NO_LUNGS}")
        if source.about:
            lines.append(f"Warning: {source.about}")
        return "\n".join(lines)

    @tool(ToolKind.READ)
    def view_slice(
        self,
        plane: Plane = "axial",
        position: float = 0.0,
        window: Window = "lung",
        level: float = 0.0,
        width: float = 0.0,
        zoom: float = 1.0,
        row: float = 0.0,
        column: float = 0.0,
    ) -> ToolResult:
        """Show one slice, whole or a part of it.

        Args:
            plane: Axial (across the body), coronal (front to back) or sagittal (side to side).
            position: Where the plane lies, in mm: z for axial, y for coronal, x for sagittal.
            window: Grey scale: lung (-600, 1500), mediastinal (40, 400) or bone (450, 1500).
            level: Centre of another grey scale, in HU, e.g. 30.0; used if width is given.
            width: Width of that grey scale, in HU, e.g. 250.0; 0 for the named one.
            zoom: How many times larger, from 1 to 16; 1 shows the whole plane.
            row: Where a zoomed picture is centred down the plane, in mm: y for axial, else z.
            column: Where it is centred across the plane, in mm: y for sagittal, else x.
        """
        grid, field = self._field(plane, zoom, row, column)
        position = self._inside(plane, position)
        grey, shown = _window(window, level, width)
        index = grid.index(ACROSS[plane], position)
        values = slice_values(self.world.source, plane, index, field)
        actual = grid.position(ACROSS[plane], index)
        text = f"{plane} slice {index + 1} of {grid.shape[ACROSS[plane]]}, "
        text += f"{AXES[ACROSS[plane]]}={actual:.1f} mm, {shown}; {_extent(plane, field)}"
        return ToolResult(text, (picture(values, grid, plane, grey),))

    @tool(ToolKind.READ)
    def view_slab(
        self,
        plane: Plane = "axial",
        position: float = 0.0,
        thickness: float = 10.0,
        mode: Literal["mean", "mip", "minip"] = "mip",
        window: Window = "lung",
    ) -> ToolResult:
        """Show a thick slab: its mean, or its greatest (mip) or least (minip) density.

        Args:
            plane: Axial, coronal or sagittal.
            position: Middle of the slab, in mm: z for axial, y for coronal, x for sagittal.
            thickness: In mm, at most 60.
            mode: What is shown of the densities along each line.
            window: Grey scale: lung, mediastinal or bone.
        """
        if not 0 < thickness <= _MOST_SLAB:
            raise ToolError(f"thickness lies above 0 and up to {_MOST_SLAB:.0f} mm.")
        position = self._inside(plane, position)
        source = self.world.source
        field = whole(source.grid, plane)
        values, count = slab_values(source, plane, position, thickness, mode, field)
        grey, shown = _window(window, 0.0, 0.0)
        text = (
            f"{plane} {mode} of {count} slices, {thickness:.0f} mm around "
            f"{AXES[ACROSS[plane]]}={position:.1f} mm, {shown}; {_extent(plane, field)}"
        )
        return ToolResult(text, (picture(values, source.grid, plane, grey),))

    @tool(ToolKind.READ)
    def contact_sheet(
        self,
        plane: Plane = "axial",
        first: float = -100.0,
        last: float = 100.0,
        count: int = 12,
        window: Window = "lung",
    ) -> ToolResult:
        """Show several slices side by side, each with its position.

        Args:
            plane: Axial, coronal or sagittal.
            first: Position of the first slice, in mm; the first picture is at left above.
            last: Position of the last slice, in mm.
            count: Number of slices, from 2 to 24.
            window: Grey scale: lung, mediastinal or bone.
        """
        if not 2 <= count <= _MOST_SHEET:
            raise ToolError(f"count lies between 2 and {_MOST_SHEET}.")
        first, last = self._inside(plane, first), self._inside(plane, last)
        positions = [float(place) for place in np.linspace(first, last, count)]
        columns = 4 if count > 4 else count
        grey, shown = _window(window, 0.0, 0.0)
        image = sheet(self.world.source, plane, positions, grey, columns, 256)
        text = f"{count} {plane} slices from {first:.0f} to {last:.0f} mm, {shown}; "
        return ToolResult(text + _SIDES[plane], (image,))

    # -- measuring ---------------------------------------------------------------------------

    @tool(ToolKind.READ)
    def region_hu(
        self,
        x: float,
        y: float,
        z: float,
        size: float = 10.0,
        shape: Literal["sphere", "box"] = "sphere",
    ) -> str:
        """Measure the densities in a sphere or a box: mean, spread, percentiles, histogram.

        Args:
            x: Middle of the region, in mm to the patient's right.
            y: Middle, in mm to the front.
            z: Middle, in mm to the head.
            size: Diameter or edge, in mm, from 1 to 80.
            shape: Sphere or box.
        """
        return probes.region(self.world.source, (x, y, z), size, shape)

    @tool(ToolKind.READ)
    def find_components(
        self,
        low: list[float],
        high: list[float],
        threshold: float,
        side: Literal["above", "below"] = "above",
        least: float = 20.0,
    ) -> str:
        """Find connected pieces above or below a density in a box; the largest eight are shown.

        Args:
            low: Lowest corner of the box, [x, y, z] in mm, e.g. [-60, 0, -90].
            high: Highest corner, [x, y, z] in mm; at most 160 mm away along each axis.
            threshold: In HU, e.g. 130.
            side: Whether pieces are denser or less dense than the threshold.
            least: Smallest volume shown, in mm3.
        """
        return probes.components(self.world.source, low, high, threshold, side, least)

    @tool(ToolKind.READ)
    def distance(self, start: list[float], end: list[float]) -> str:
        """Measure the distance between two points, and the densities between them.

        Args:
            start: First point, [x, y, z] in mm.
            end: Second point, [x, y, z] in mm.
        """
        return probes.line(self.world.source, start, end)

    @tool(ToolKind.READ)
    def measure(self, quantity: Quantity) -> str:
        """Take one of the workstation's automatic measurements. They can err.

        lung_volume; low_attenuation (lung below -940 HU); heart_ratio (heart to inner chest, at
        the widest); pericardial_fluid; pleural_fluid (depth behind the lungs); metal (above 1500
        HU); aortic_calcium, coronary_calcium; hiatal_gas (widest gas pocket behind the heart);
        lymph_node (largest short axis in the armpits); nodule (largest round lump in the lungs);
        ground_glass (hazy share of the lungs); consolidation (largest thick solid area);
        dense_band (longest flat band); strands (densest part of the outer lungs); fine_lines
        (share of thin lines in the outer lungs); mosaic (spread of local lung densities);
        airway_wall (wall to outer diameter); airway_size (widest bronchi).

        Args:
            quantity: Name of the measurement.
        """
        return measure(self.world.source, quantity)

    @tool(ToolKind.READ)
    def show_criteria(self, finding: str) -> str:
        """Show what counts as a finding.

        Args:
            finding: Its name, e.g. "Cardiomegaly".
        """
        label = find_label(finding)
        if not label:
            raise ToolError(f"There is no finding {finding[:60]!r}; there are {', '.join(LABELS)}.")
        return f"{label}: {criteria()[label]}"

    # -- calling -----------------------------------------------------------------------------

    @tool(ToolKind.WRITE)
    def record_call(self, finding: str, answer: Literal["yes", "no"]) -> str:
        """Write down the call of a finding that has none yet.

        Args:
            finding: One of the findings asked for, e.g. "Cardiomegaly".
            answer: Yes if it is there, no if not.
        """
        label = self._asked(finding)
        if label in self._called():
            raise ToolError(f"{label} has been called; use revise_call to change it.")
        self.world.write((*spread(self.world.lines), line_of(label, answer == "yes")))
        return f"{line_of(label, answer == 'yes')} ({self._open()})"

    @tool(ToolKind.WRITE)
    def revise_call(self, finding: str, answer: Literal["yes", "no"]) -> str:
        """Change the call of a finding.

        Args:
            finding: A finding that has been called, e.g. "Cardiomegaly".
            answer: Yes if it is there, no if not.
        """
        label = self._asked(finding)
        line = line_of(label, answer == "yes")
        if label not in self._called():
            raise ToolError(f"{label} has not been called; use record_call.")
        written = spread(self.world.lines)
        calls = [parse_plain(old, self.world.items) for old in written]
        own = [call for call in calls if call is not None and call[0] == label]
        if own == [(label, answer == "yes")]:
            raise ToolError(f"The call is {line!r} already.")
        kept = [old for old, call in zip(written, calls, strict=True) if call not in own]
        self.world.write((*kept, line))
        return f"{line} ({self._open()})"

    @tool(ToolKind.WRITE)
    def write_predictions(self, text: str) -> str:
        """Replace all calls by a text, one call a line.

        Args:
            text: Lines such as "Cardiomegaly: no", at most 20000 characters.
        """
        if len(text) > _MOST_TEXT:
            raise ToolError(f"The text is longer than {_MOST_TEXT} characters.")
        lines = tuple(text.splitlines())
        if lines == self.world.lines:
            raise ToolError("The calls read exactly so already.")
        self.world.write(lines)
        return f"{len(lines)} lines written ({self._open()}){self._unread()}"

    @tool(ToolKind.READ)
    def show_calls(self) -> str:
        """Show the calls as they stand, and what is still open."""
        shown = "\n".join(line[:200] for line in self.world.lines[:60])
        return f"{shown}\n({self._open()})" if shown else f"No calls yet ({self._open()})."

    @tool(ToolKind.SUBMIT)
    def submit(self) -> str:
        """Hand in the calls and finish."""
        return "Submitted."

    # -- what the verbs share ----------------------------------------------------------------

    def _asked(self, finding: str) -> str:
        label = find_label(finding)
        if label not in self.world.items:
            raise ToolError(
                f"{finding[:60]!r} was not asked for; asked are {', '.join(self.world.items)}."
            )
        return label

    def _called(self) -> set[str]:
        found = (parse_plain(line, self.world.items) for line in spread(self.world.lines))
        return {call[0] for call in found if call is not None}

    def _unread(self) -> str:
        """Return what of a text is not read, and how it is to be written."""
        lines = spread(self.world.lines)
        strange = [n for n, line in enumerate(lines, 1) if not self._readable(line)]
        if strange:
            shown = ", ".join(map(str, strange[:_MOST_STRANGE]))
            first = " ".join(lines[strange[0] - 1].split())[:_MOST_QUOTED]
            return f"; not read as 'finding: yes' or 'finding: no': line {shown} ({first!r})"
        published = parse_published(self.world.lines)
        missed = [label for label in self._called() if label.lower() not in published]
        form = "lines such as 'finding: yes'"
        return f"; the published evaluator reads {form} only, not {len(missed)}" if missed else ""

    def _readable(self, line: str) -> bool:
        items = self.world.items
        return not line.strip() or frames(line, items) or parse_plain(line, items) is not None

    def _open(self) -> str:
        left = [label for label in self.world.items if label not in self._called()]
        return f"{len(left)} open" if left else "all called"

    def _inside(self, plane: str, position: float) -> float:
        low, high = self.world.source.grid.limits(ACROSS[plane])
        if not low - 5 <= position <= high + 5:
            name = AXES[ACROSS[plane]]
            raise ToolError(f"{plane} planes lie between {name}={low:.0f} and {high:.0f} mm.")
        return min(max(position, low), high)

    def _field(self, plane: str, zoom: float, row: float, column: float) -> tuple[Grid, Field]:
        grid = self.world.source.grid
        if not 1 <= zoom <= 16:
            raise ToolError("zoom lies between 1 and 16.")
        if zoom == 1:
            return grid, whole(grid, plane)
        spans = []
        for axis, centre in zip(ALONG[plane], (row, column), strict=True):
            low, high = grid.limits(axis)
            if not low <= centre <= high:
                raise ToolError(f"{AXES[axis]} lies between {low:.0f} and {high:.0f} mm.")
            half = (high - low) / (2 * zoom)
            middle = min(max(centre, low + half), high - half)
            spans.append((middle - half, middle + half))
        return grid, Field(spans[0], spans[1])


def _window(name: str, level: float, width: float) -> tuple[tuple[float, float], str]:
    if (width and not 0.1 <= width <= 10_000) or abs(level) > 5_000:
        raise ToolError("A window has a level within 5000 HU of 0 and a width of 0.1 to 10000 HU.")
    if width:
        return (level, width), f"window {level:.0f}/{width:.0f} HU"
    return WINDOWS[name], f"{name} window"


def _extent(plane: str, field: Field) -> str:
    down, across = (AXES[axis] for axis in ALONG[plane])
    return (
        f"{_SIDES[plane]}; {across} {field.columns[0]:.0f} to {field.columns[1]:.0f}, "
        f"{down} {field.rows[0]:.0f} to {field.rows[1]:.0f} mm"
    )
