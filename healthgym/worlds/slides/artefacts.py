"""What is not tissue: folds, scratches, ink, bubbles, and regions out of focus."""

from __future__ import annotations

from dataclasses import dataclass
from math import cos, hypot, sin

import numpy as np
from numpy.typing import NDArray

from healthgym.worlds.imaging.noise import grid_noise
from healthgym.worlds.slides.lattice import Floats, smoothstep
from healthgym.worlds.slides.scene import Disc, Scene, Stroke, um

Pixels = NDArray[np.uint8]
#: How far light strays where the slide is out of focus, in level-0 pixels.
_STRAY = 12


@dataclass(frozen=True, slots=True)
class Marks:
    """What artefacts do to a strip of a picture.

    Attributes:
        thick: Factor of the amount of stain: tissue is doubled in folds.
        light: Factor of the light, in red, green and blue.
        white: Share of each pixel that is torn away; 0 where nothing is.
    """

    thick: Floats | np.float32
    light: tuple[Floats | np.float32, ...]
    white: Floats | float


@dataclass(frozen=True, slots=True)
class Artefacts:
    """The artefacts that touch a region.

    Attributes:
        scene: The slide.
        strokes: Lines.
        bubbles: Air bubbles.
        blurs: Regions out of focus.
        region: Downsample, x, y, width and height.
    """

    scene: Scene
    strokes: tuple[Stroke, ...]
    bubbles: tuple[Disc, ...]
    blurs: tuple[Disc, ...]
    region: tuple[int, int, int, int, int]

    @classmethod
    def near(
        cls, scene: Scene, downsample: int, x: int, y: int, width: int, height: int
    ) -> Artefacts:
        """Return those near a region given in pixels of its level."""
        middle = ((x + width / 2) * downsample, (y + height / 2) * downsample)
        reach = hypot(width, height) * downsample / 2

        def touches(item: Stroke | Disc, size: float) -> bool:
            return hypot(item.x - middle[0], item.y - middle[1]) < reach + size

        strokes = tuple(
            s for s in scene.strokes if touches(s, s.length + abs(s.bend) + 2 * s.width)
        )
        discs = [d for d in scene.discs if touches(d, 1.3 * d.radius)]
        return cls(
            scene,
            strokes,
            tuple(d for d in discs if d.kind == "bubble"),
            tuple(d for d in discs if d.kind == "blur"),
            (downsample, x, y, width, height),
        )

    @property
    def margin(self) -> int:
        """Pixels beyond the region that its picture depends on."""
        return 3 * max(_STRAY // self.region[0] // 3, 0) if self.blurs else 0

    def marks(self, xs: NDArray[np.float64], ys: NDArray[np.float64]) -> Marks:
        """Return what artefacts do to the pixels of a grid, middles at level 0."""
        one = np.float32(1)
        thick: Floats | np.float32 = one
        light: list[Floats | np.float32] = [one, one, one]
        white: Floats | float = 0.0
        for stroke in self.strokes:
            reach = stroke.length + abs(stroke.bend) + 2 * stroke.width + self.region[0]
            if not _reaches(stroke, reach, xs, ys):
                continue
            share = self._along(stroke, xs, ys)
            if not share.any():
                continue
            if stroke.kind == "fold":
                thick = thick * (1 + np.float32(0.9) * share)
            elif stroke.kind == "knife":
                white = np.maximum(white, np.float32(0.8) * share)
            else:
                light = [
                    passed * (1 - share * np.float32(1 - colour))
                    for passed, colour in zip(light, stroke.colour, strict=True)
                ]
        for bubble in self.bubbles:
            if not _reaches(bubble, 1.1 * bubble.radius, xs, ys):
                continue
            away = _away(bubble, xs, ys)
            ring = smoothstep(np.abs(away - 1), 0.05, 0.0) * np.float32(0.55)
            fade = smoothstep(away, 1.0, 0.96) * np.float32(0.12)
            light = [passed * (1 - ring) * (1 + fade * np.float32(0.4)) for passed in light]
            thick = thick * (1 - fade * 2)
        return Marks(thick, tuple(light), white)

    def _along(self, stroke: Stroke, xs: NDArray[np.float64], ys: NDArray[np.float64]) -> Floats:
        """Return the share of each pixel that a line covers."""
        dx = (xs - stroke.x).astype(np.float32)[None, :]
        dy = (ys - stroke.y).astype(np.float32)[:, None]
        along = (dx * np.float32(cos(stroke.angle)) + dy * np.float32(sin(stroke.angle))) / (
            np.float32(stroke.length)
        )
        across = dy * np.float32(cos(stroke.angle)) - dx * np.float32(sin(stroke.angle))
        across = across - np.float32(stroke.bend) * along * along
        if stroke.kind != "knife":
            wave = grid_noise(self.scene.seed + 61, (ys, xs), um(300))
            across = across + wave * np.float32(0.6 * stroke.width)
        near = np.float32(stroke.width) * np.maximum(1 - along * along, 0)
        soft = max(self.region[0], stroke.width * 0.12)
        share: Floats = np.clip((near - np.abs(across)) / np.float32(soft), 0, 1)
        # What is narrower than a pixel covers a part of it.
        return share * np.float32(min(stroke.width / self.region[0], 1))

    def defocus(self, image: Pixels, margin: int) -> Pixels:
        """Return a picture without its margin, blurred where the slide is out of focus."""
        downsample, x, y, width, height = self.region
        inner = image[margin : margin + height, margin : margin + width]
        xs = (np.arange(x, x + width, dtype=np.float64) + 0.5) * downsample
        ys = (np.arange(y, y + height, dtype=np.float64) + 0.5) * downsample
        share = np.zeros((height, width), np.float32)
        for blur in self.blurs:
            share = np.maximum(share, smoothstep(_away(blur, xs, ys), 1.15, 0.8))
        result = inner.copy()
        if not share.any():
            return result
        # Only what is out of focus is blurred, with as much around it as the blur reaches.
        rows, columns = _span(share.max(axis=1)), _span(share.max(axis=0))
        part = image[rows.start : rows.stop + 2 * margin, columns.start : columns.stop + 2 * margin]
        blurred = part.astype(np.float32)
        size = 2 * (margin // 3) + 1
        for _ in range(3):
            blurred = _box(_box(blurred, size, 0), size, 1)
        sharp = inner[rows, columns]
        mixed = sharp + (blurred - sharp) * share[rows, columns, None]
        result[rows, columns] = np.rint(mixed).astype(np.uint8)
        return result


def _reaches(
    item: Stroke | Disc, reach: float, xs: NDArray[np.float64], ys: NDArray[np.float64]
) -> bool:
    """Return whether a square around an artefact touches a grid."""
    return all(
        bool(axis[0] <= middle + reach) and bool(axis[-1] >= middle - reach)
        for axis, middle in ((xs, item.x), (ys, item.y))
    )


def _span(shares: Floats) -> slice:
    places = np.flatnonzero(shares)
    return slice(int(places[0]), int(places[-1]) + 1)


def _away(disc: Disc, xs: NDArray[np.float64], ys: NDArray[np.float64]) -> Floats:
    """Return the distance from the middle of a disc, relative to its radius."""
    dx = ((xs - disc.x) / disc.radius).astype(np.float32)[None, :]
    dy = ((ys - disc.y) / disc.radius).astype(np.float32)[:, None]
    distance: Floats = np.sqrt(dx * dx + dy * dy)
    return distance


def _box(values: Floats, size: int, axis: int) -> Floats:
    """Return running means along an axis, without the ends where they are not whole."""
    length = values.shape[axis] - size + 1
    total = np.take(values, np.arange(length), axis).astype(np.float32)
    for shift in range(1, size):
        total = total + np.take(values, np.arange(shift, shift + length), axis)
    return total / np.float32(size)
