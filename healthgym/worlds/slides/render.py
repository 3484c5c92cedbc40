"""From a scene to pixels: any region at any level, each pixel the same whatever was asked before.

Colours are light that passes: bare tissue by Beer-Lambert, multiplied by what its nuclei let
through. Nuclei of levels 1, 2 and 4 are drawn one by one from stamps; at 8 each adds its mean area
to its pixels; above that, its share of the area. All three have the same mean, so that a level is
the area mean of the finer ones within a few grey values.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from healthgym.worlds.slides.anatomy import Tissue, fat_walls, hue, tissue
from healthgym.worlds.slides.artefacts import Artefacts, Marks
from healthgym.worlds.slides.cells import MARGIN, MEANS, NuclearLayer, expected
from healthgym.worlds.slides.lattice import Floats, Lattice
from healthgym.worlds.slides.scene import Scene, um
from healthgym.worlds.slides.texture import fibres, grain

Pixels = NDArray[np.uint8]

#: Pixels composed at a time: their arrays stay in the processor's cache.
_STRIP = 2**15
#: Rows whose nuclei are drawn at a time.
_BAND = 256
#: Share of fat that is membrane.
_MEMBRANES = 0.11
#: Width of the edge of the tissue, in level-0 pixels.
_SOFT_EDGE = 6
#: How much of the area of nuclei lies over other nuclei, relative to the share they cover.
_OVERLAP = 0.2
#: No more of the light than this is stopped by nuclei.
_DARKEST = 0.95


def lattice_step(downsample: int) -> int:
    """Return the distance of lattice points for a level, in level-0 pixels."""
    return min(max(64, 8 * downsample), max(256, downsample))


def render(scene: Scene, downsample: int, x: int, y: int, width: int, height: int) -> Pixels:
    """Return a region of a slide.

    Args:
        scene: The slide.
        downsample: Level-0 pixels to a pixel: 1, 2, 4, 8, ...
        x: Left column, in pixels of that level.
        y: Top row, in pixels of that level.
        width: Columns.
        height: Rows; the region may reach beyond the slide, which is glass there.

    Returns:
        Shape (height, width, 3), uint8.
    """
    return render_grid(scene, downsample, (x,), (y,), width, height)[0]


def render_grid(
    scene: Scene, downsample: int, xs: Sequence[int], ys: Sequence[int], width: int, height: int
) -> list[Pixels]:
    """Return regions of one size, row by row: what lies where is worked out once for all.

    Args:
        scene: The slide.
        downsample: Level-0 pixels to a pixel.
        xs: Left columns, ascending, in pixels of that level.
        ys: Top rows, ascending.
        width: Columns of a region.
        height: Rows of a region.
    """
    places = [(x, y) for y in ys for x in xs]
    near = [Artefacts.near(scene, downsample, x, y, width, height) for x, y in places]
    margin = max(artefacts.margin for artefacts in near)
    wide, tall = width + 2 * margin, height + 2 * margin
    around = [
        Lattice.around(
            lattice_step(downsample), *surroundings(downsample, x - margin, y - margin, wide, tall)
        )
        for x, y in places
    ]
    whole = tissue(scene, Lattice.union(around), downsample)
    pictures = []
    for (x, y), artefacts, lattice in zip(places, near, around, strict=True):
        held = whole.within(lattice)
        place = (downsample, x - margin, y - margin, wide, tall)
        image = _Canvas(scene, artefacts, *place, held).compose()
        pictures.append(artefacts.defocus(image, margin) if margin else image)
    return pictures


def surroundings(downsample: int, x: int, y: int, width: int, height: int) -> tuple[int, ...]:
    """Return left, top, right and bottom at level 0 of all that a region depends on."""
    return (
        x * downsample - MARGIN,
        y * downsample - MARGIN,
        (x + width) * downsample + MARGIN,
        (y + height) * downsample + MARGIN,
    )


class _Canvas:
    """One region being rendered."""

    def __init__(
        self,
        scene: Scene,
        artefacts: Artefacts,
        downsample: int,
        x: int,
        y: int,
        width: int,
        height: int,
        held: Tissue,
    ) -> None:
        self._scene, self._artefacts, self._downsample = scene, artefacts, downsample
        self._x, self._y, self._width, self._height = x, y, width, height
        # Middles of the pixels at level 0.
        self._xs = (np.arange(x, x + width) * downsample + (downsample - 1) / 2).astype(np.float64)
        self._ys = (np.arange(y, y + height) * downsample + (downsample - 1) / 2).astype(np.float64)
        self._walls: tuple[Lattice, Floats] | None = None
        self._tissue = held

    def compose(self) -> Pixels:
        """Return the picture."""
        image = np.empty((self._height, self._width, 3), np.uint8)
        reached = self._tissue.depth > -3.0 * self._tissue.lattice.step
        names, fields = self._fields() if reached.any() else ((), np.zeros((0, 0, 0), np.float32))
        lattice = self._tissue.lattice
        rows = max(min(_STRIP // max(self._width, 1), _BAND), 1)
        for band in range(0, self._height, _BAND):
            end = min(band + _BAND, self._height)
            nuclei = self._nuclei(band, end) if reached.any() else None
            for top in range(band, end, rows):
                bottom = min(top + rows, end)
                ys = self._ys[top:bottom]
                left, right = lattice.span(reached, self._xs, ys)
                for start, stop in ((0, left), (right, self._width)):
                    if start < stop:
                        self._glass(image[top:bottom, start:stop], top, start)
                if left < right:
                    place = (slice(top - band, bottom - band), slice(left, right))
                    part = None if nuclei is None else (nuclei[0][place], nuclei[1][place])
                    grown = lattice.grow(fields, self._xs[left:right], ys)
                    named = dict(zip(names, grown, strict=True))
                    self._block(image[top:bottom, left:right], top, left, named, part)
        return image

    def _nuclei(self, top: int, bottom: int) -> tuple[Floats, Floats] | None:
        """Return cover and stain of the nuclei of some rows, where they are drawn one by one."""
        if self._downsample >= MEANS:
            return None
        place = (self._downsample, self._x, self._y + top, self._width, bottom - top)
        return NuclearLayer(self._scene, self._tissue, *place).draw()

    def _fields(self) -> tuple[tuple[str, ...], Floats]:
        """Return the names of what the tissue has here, and their values on its lattice."""
        held, lattice, pixel = self._tissue, self._tissue.lattice, self._downsample
        more, less = hue(self._scene, lattice.xs, lattice.ys)
        fields = {
            "fat": held.fat,
            "eosin": held.eosin * less,
            "basophil": held.basophil * more,
            "fibre": held.fibre,
            "pale": held.pale,
            "blood": held.blood,
            "more": more,
        }
        if pixel >= MEANS:
            fields["cover"], fields["stain"] = expected(self._scene, held)
        # What is left out would change nothing: no pixel depends on what else is in the view.
        kept = {name: field for name, field in fields.items() if (field > 0).any()}
        if (held.depth < max(pixel, _SOFT_EDGE)).any():
            kept["depth"] = held.depth
        if (held.hole > -2.0 * lattice.step).any():
            kept["hole"] = held.hole
        if "fat" in kept and pixel < 16:
            self._walls = self._fat_walls()
        return tuple(kept), np.stack(list(kept.values()))

    def _fat_walls(self) -> tuple[Lattice, Floats]:
        """Return the distance from walls between fat cells, on a lattice fine enough for them."""
        step = max(16, 4 * self._downsample)
        box = surroundings(self._downsample, self._x, self._y, self._width, self._height)
        lattice = Lattice.around(step, *box)
        return lattice, fat_walls(self._scene, lattice)[None]

    def _noise(self, shape: tuple[int, int, int, int, int]) -> Floats:
        """Return the noise of the camera, in grey values."""
        noise = grain("white", *shape) * np.float32(1.6 if self._downsample < 4 else 1.1)
        noise += np.float32(0.5)  # of the rounding
        return noise

    def _glass(self, image: Pixels, top: int, left: int) -> None:
        """Fill a part of the picture that shows no tissue."""
        height, width = image.shape[:2]
        noise = self._noise((self._downsample, self._x + left, self._y + top, width, height))
        marks = self._artefacts.marks(self._xs[left : left + width], self._ys[top : top + height])
        for channel in range(3):
            seen = np.ones((height, width), np.float32)
            self._store(image, channel, seen, noise, marks)

    def _block(
        self,
        image: Pixels,
        top: int,
        left: int,
        grown: dict[str, Floats],
        nuclei: tuple[Floats, ...] | None,
    ) -> None:
        """Fill a part of the picture; the fields are used up."""
        height, width = image.shape[:2]
        shape = (self._downsample, self._x + left, self._y + top, width, height)
        ys, columns = self._ys[top : top + height], slice(left, left + width)
        noise = self._noise(shape)
        marks = self._artefacts.marks(self._xs[columns], ys)
        solid = self._solid(grown, ys, columns)
        cloud = grain("cloud", *shape)
        eosin, basophil = (
            self._uneven(grown.get(name), cloud, contrast)
            for name, contrast in (("eosin", 0.45), ("basophil", 0.7))
        )
        if "fibre" in grown:
            strands = grown["fibre"]
            strands *= fibres(*shape)
            strands += 1
            eosin *= strands
        if "blood" in grown:
            cells = grown["blood"]
            cells *= grain("cells", *shape)
            cells *= np.float32(0.5)
            eosin += cells
        more: Any = grown["more"]  # a factor near 1, never left out
        if isinstance(marks.thick, np.ndarray):
            eosin *= marks.thick
            basophil *= marks.thick
            more = more * marks.thick
        thick = self._thickness(nuclei, grown, noise, more)
        stain = self._scene.stain
        for channel in range(3):
            blue, pink = np.float32(stain.haematoxylin[channel]), np.float32(stain.eosin[channel])
            passed = basophil * -blue
            passed -= eosin * pink
            np.exp(passed, out=passed)
            if thick is not None:
                # Exact for a pixel that a nucleus covers in part: means of light, not of stain.
                left_over = thick[1] * -blue
                np.exp(left_over, out=left_over)
                left_over -= 1
                left_over *= thick[0]
                np.maximum(left_over, np.float32(-_DARKEST), out=left_over)
                left_over += 1
                passed *= left_over
            if solid is not None:
                passed -= 1
                passed *= solid
                passed += 1
            self._store(image, channel, passed, noise, marks)

    def _uneven(self, amount: Floats | None, cloud: Floats, contrast: float) -> Floats:
        """Return an amount of stain, more in some places than in others."""
        if amount is None:
            return np.zeros_like(cloud)
        factor = cloud * np.float32(contrast)
        factor += 1
        factor *= amount
        return factor

    def _solid(
        self, grown: dict[str, Floats], ys: NDArray[np.float64], columns: slice
    ) -> Floats | None:
        """Return the share of each pixel that is neither glass nor empty space in tissue."""
        open_ = grown.get("pale")
        if "hole" in grown:
            share = _share(grown["hole"], max(self._downsample, 5))
            open_ = share if open_ is None else np.maximum(open_, share, out=open_)
        if "fat" in grown:
            share = grown["fat"]
            share *= 1 - self._membranes(ys, columns)
            open_ = share if open_ is None else np.maximum(open_, share, out=open_)
        solid = None
        if open_ is not None:
            np.minimum(open_, np.float32(1), out=open_)
            solid = np.subtract(np.float32(1), open_, out=open_)
        if "depth" in grown:
            there = _share(grown["depth"], max(self._downsample, _SOFT_EDGE))
            solid = there if solid is None else np.multiply(there, solid, out=solid)
        return solid

    def _membranes(self, ys: NDArray[np.float64], columns: slice) -> Any:
        """Return the share of each pixel of fat that is membrane."""
        if self._walls is None:
            return np.float32(_MEMBRANES)
        lattice, walls = self._walls
        far = lattice.grow(walls, self._xs[columns], ys)[0]
        return _share(np.subtract(np.float32(um(1.8)), far, out=far), max(self._downsample, 4))

    def _thickness(
        self,
        nuclei: tuple[Floats, ...] | None,
        grown: dict[str, Floats],
        noise: Floats,
        more: object,
    ) -> tuple[Floats, Floats] | None:
        """Return the share of each pixel that nuclei cover, and the stain where they do."""
        if nuclei is not None:
            cover, stain = nuclei
        elif "cover" in grown:
            cover, stain = grown["cover"], grown["stain"]
        else:
            return None
        mean = np.maximum(cover, np.float32(1e-3))
        np.divide(stain, mean, out=mean)
        mean *= more
        if nuclei is None:
            # What is left of the grain of nuclei: the mean of as many as a pixel has room for.
            uneven = (noise - np.float32(0.5)) * np.float32(4.5 / self._downsample)
            uneven += 1
            np.maximum(uneven, np.float32(0.1), out=uneven)
            # Where there are many, nuclei overlap: they cover less than the sum of their areas.
            uneven *= 1 - np.float32(_OVERLAP) * cover
            cover = cover * uneven
        elif self._downsample <= 2:
            # Where nuclei overlap, light passes both.
            mean *= np.maximum(cover, np.float32(1))
        return np.minimum(cover, np.float32(1)), mean

    def _store(
        self, image: Pixels, channel: int, seen: Floats, noise: Floats, marks: Marks
    ) -> None:
        """Turn light that passes, which is used up, into grey values."""
        seen *= np.float32(self._scene.stain.glass[channel])
        seen *= marks.light[channel]
        if not isinstance(marks.white, float):
            seen += (np.float32(0.93) - seen) * marks.white
        seen *= np.float32(255)
        seen += noise
        image[..., channel] = np.clip(seen, 0, 255, out=seen)


def _share(inside: Floats, pixel: float) -> Floats:
    """Turn depths below an edge into the share of each pixel that lies inside, in place."""
    inside *= np.float32(1 / pixel)
    inside += np.float32(0.5)
    return np.clip(inside, 0, 1, out=inside)
