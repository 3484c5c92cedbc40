"""A scene as a slide."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from healthgym.worlds.slides.render import render, render_grid
from healthgym.worlds.slides.scene import MPP, Scene
from healthgym.worlds.slides.source import Pixels

#: The coarsest level is the first whose longer side is no more than this.
_SMALLEST = 1024


class SyntheticSlide:
    """Renders what is looked at, when it is looked at.

    Args:
        scene: The slide.
    """

    def __init__(self, scene: Scene) -> None:
        self._scene = scene

    @property
    def width(self) -> int:
        """Width at level 0, in pixels."""
        return self._scene.width

    @property
    def height(self) -> int:
        """Height at level 0, in pixels."""
        return self._scene.height

    @property
    def mpp(self) -> float:
        """Micrometres per pixel at level 0."""
        return MPP

    @cached_property
    def downsamples(self) -> tuple[float, ...]:
        """Powers of two, down to a picture that fits on a screen."""
        found = [1]
        while max(self.width, self.height) > found[-1] * _SMALLEST:
            found.append(2 * found[-1])
        return tuple(float(downsample) for downsample in found)

    @cached_property
    def key(self) -> str:
        """A hash of the scene."""
        return self._scene.content_hash()

    def content_hash(self) -> str:
        """Return a hash of the scene."""
        return self.key

    def read(self, level: int, x: int, y: int, width: int, height: int) -> Pixels:
        """Return a region of a level; see :class:`healthgym.worlds.slides.source.Slide`."""
        return render(self._scene, int(self.downsamples[level]), x, y, width, height)

    def read_grid(
        self, level: int, xs: Sequence[int], ys: Sequence[int], width: int, height: int
    ) -> list[Pixels]:
        """Return regions of one size at a level; see :func:`render_grid`."""
        return render_grid(self._scene, int(self.downsamples[level]), xs, ys, width, height)
