"""From a scene to pixels: any region at any level, each pixel the same whatever was asked before.

Colours are light that passes: bare tissue by Beer-Lambert, multiplied by what its nuclei let
through. Nuclei of levels 1, 2 and 4 are drawn one by one from stamps; at 8 each adds its mean area
to its pixels; above that, its share of the area. All three have the same mean, so that a level is
the area mean of the finer ones within a few grey values.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from healthgym.worlds.slides.anatomy import Tissue, fat_walls, hue, tissue
from healthgym.worlds.slides.artefacts import Artefacts
from healthgym.worlds.slides.cells import MARGIN, NuclearLayer
from healthgym.worlds.slides.lattice import Floats, Lattice
from healthgym.worlds.slides.scene import Scene, um
from healthgym.worlds.slides.texture import fibres, grain

Pixels = NDArray[np.uint8]

#: Pixels composed at a time: their arrays stay in the processor's cache.
_STRIP = 2**16
#: Share of fat that is membrane.
_MEMBRANES = 0.11
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
    artefacts = Artefacts.near(scene, downsample, x, y, width, height)
    margin = artefacts.margin
    canvas = _Canvas(
        scene,
        artefacts,
        downsample,
        x - margin,
        y - margin,
        width + 2 * margin,
        height + 2 * margin,
    )
    image = canvas.compose()
    return artefacts.defocus(image, margin) if margin else image


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
    ) -> None:
        self._scene, self._artefacts, self._downsample = scene, artefacts, downsample
        self._x, self._y, self._width, self._height = x, y, width, height
        # Middles of the pixels at level 0.
        self._xs = (np.arange(x, x + width) * downsample + (downsample - 1) / 2).astype(np.float64)
        self._ys = (np.arange(y, y + height) * downsample + (downsample - 1) / 2).astype(np.float64)
        left, top = x * downsample - MARGIN, y * downsample - MARGIN
        right = (x + width) * downsample + MARGIN
        bottom = (y + height) * downsample + MARGIN
        self._box = (left, top, right, bottom)
        self._walls: tuple[Lattice, Floats] | None = None
        step = lattice_step(downsample)
        around = Lattice.around(step, left, top, right, bottom)
        self._tissue: Tissue = tissue(scene, around, downsample)
        self._layer = NuclearLayer(scene, self._tissue, downsample, x, y, width, height)

    def compose(self) -> Pixels:
        """Return the picture."""
        image = np.empty((self._height, self._width, 3), np.uint8)
        nuclei = self._layer.draw()
        columns = self._columns()
        rows = max(_STRIP // max(self._width, 1), 1)
        for top in range(0, self._height, rows):
            bottom = min(top + rows, self._height)
            part = None if nuclei is None else (nuclei[0][top:bottom], nuclei[1][top:bottom])
            self._strip(image[top:bottom], top, part, columns)
        return image

    def _columns(self) -> dict[str, Floats]:
        """Return the tissue's fields, brought to the columns of the pixels."""
        held, lattice = self._tissue, self._tissue.lattice
        fields = {
            "depth": held.depth,
            "fat": held.fat,
            "hole": held.hole,
            "eosin": held.eosin,
            "basophil": held.basophil,
            "fibre": held.fibre,
            "pale": held.pale,
            "blood": held.blood,
        }
        more, less = hue(self._scene, lattice.xs, lattice.ys)
        fields["more"], fields["less"] = more, less
        bounds = {"depth": -3.0 * lattice.step, "hole": -2.0 * lattice.step}
        grown = {}
        for name, field in fields.items():
            if (field > bounds.get(name, 1e-4)).any():
                grown[name] = lattice.columns(field, self._xs)
            elif name == "depth":
                break
        if "fat" in grown and self._downsample < 16:
            self._walls = self._fat_walls()
        return grown

    def _fat_walls(self) -> tuple[Lattice, Floats]:
        """Return the distance from walls between fat cells, on a lattice fine enough for them."""
        left, top, right, bottom = self._box
        step = max(16, 4 * self._downsample)
        lattice = Lattice.around(step, left, top, right, bottom)
        return lattice, lattice.columns(fat_walls(self._scene, lattice), self._xs)

    def _strip(
        self,
        image: Pixels,
        top: int,
        nuclei: tuple[Floats, Floats] | None,
        columns: dict[str, Floats],
    ) -> None:
        lattice, downsample = self._tissue.lattice, self._downsample
        ys = self._ys[top : top + len(image)]
        shape = (downsample, self._x, self._y + top, self._width, len(image))

        def grown(name: str) -> Any:
            field = columns.get(name)
            return 0.0 if field is None else lattice.rows(field, ys)

        stain = self._scene.stain
        light = [np.float32(share) for share in stain.glass]
        noise = grain("white", *shape) * np.float32(1.6 if downsample < 4 else 1.1)
        marks = self._artefacts.marks(self._xs, ys)
        if "depth" not in columns:
            for channel in range(3):
                _store(image, channel, light[channel] * marks.light[channel], noise, 0.0)
            return
        there = np.clip(grown("depth") / np.float32(max(downsample, 6)) + np.float32(0.5), 0, 1)
        solid = there * (1 - self._open(grown, ys))
        cloud = grain("cloud", *shape)
        eosin = grown("eosin") * (1 + np.float32(0.45) * cloud)
        if "fibre" in columns:
            eosin = eosin * (1 + grown("fibre") * fibres(*shape))
        basophil = grown("basophil") * (1 + np.float32(0.7) * cloud)
        if "blood" in columns:
            eosin = eosin + grown("blood") * grain("cells", *shape) * np.float32(0.5)
        more, less = grown("more") * marks.thick, grown("less") * marks.thick
        eosin, basophil = eosin * less, basophil * more
        thick = None if nuclei is None else self._thickness(nuclei, more)
        for channel in range(3):
            blue, pink = np.float32(stain.haematoxylin[channel]), np.float32(stain.eosin[channel])
            passed = np.exp(-(basophil * blue) - eosin * pink)
            if thick is not None:
                # Exact for a pixel that a nucleus covers in part: means of light, not of stain.
                stopped = thick[0] * (1 - np.exp(-thick[1] * blue))
                passed = passed * (1 - np.minimum(stopped, np.float32(_DARKEST)))
            seen = light[channel] * (1 + solid * (passed - 1))
            _store(image, channel, seen * marks.light[channel], noise, marks.white)

    def _open(self, grown: Callable[[str], Any], ys: NDArray[np.float64]) -> Any:
        """Return the share of each pixel that is empty space within tissue."""
        pixel = np.float32(max(self._downsample, 5))
        open_, hole, fat = grown("pale"), grown("hole"), grown("fat")
        if not isinstance(hole, float):
            open_ = np.maximum(open_, np.clip(hole / pixel + np.float32(0.5), 0, 1))
        if not isinstance(fat, float):
            open_ = np.maximum(open_, fat * (1 - self._membranes(ys)))
        return np.minimum(open_, np.float32(1))

    def _membranes(self, ys: NDArray[np.float64]) -> Any:
        """Return the share of each pixel of fat that is membrane."""
        if self._walls is None:
            return np.float32(_MEMBRANES)
        far = self._walls[0].rows(self._walls[1], ys)
        pixel = np.float32(max(self._downsample, 4))
        return np.clip((np.float32(um(1.8)) - far) / pixel + np.float32(0.5), 0, 1)

    def _thickness(self, nuclei: tuple[Floats, Floats], more: Any) -> tuple[Floats, Floats]:
        """Return the share of each pixel that nuclei cover, and the stain where they do."""
        cover, stain = nuclei
        mean = stain / np.maximum(cover, np.float32(1e-3)) * more
        if self._downsample <= 2:
            # Where nuclei overlap, light passes both.
            mean = mean * np.maximum(cover, np.float32(1))
        return np.minimum(cover, np.float32(1)), mean


def _store(image: Pixels, channel: int, seen: Any, noise: Floats, white: Any) -> None:
    if not isinstance(white, float):
        seen = seen + (np.float32(0.93) - seen) * white
    levels = seen * np.float32(255) + noise
    image[..., channel] = np.clip(levels + np.float32(0.5), 0, 255)
