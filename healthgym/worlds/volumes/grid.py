"""Where the voxels of a volume are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from healthgym.core.borders import AnyArray

Voxels = NDArray[np.int16]
Floats = NDArray[np.float32]
Mask = NDArray[np.bool_]
#: Names of the axes, in the order of the arrays.
AXES = "xyz"


@dataclass(frozen=True, slots=True)
class Grid:
    """An axis-aligned grid in patient space.

    Millimetres of patient space grow to the patient's right (x), to the front (y) and to the head
    (z). This is NIfTI's RAS+, with the reader turned so that indices grow the same way.

    Attributes:
        shape: Number of voxels along x, y and z.
        spacing: Distance of voxel centres, in mm.
        origin: Centre of voxel (0, 0, 0), in mm.
    """

    shape: tuple[int, int, int]
    spacing: tuple[float, float, float]
    origin: tuple[float, float, float]

    def positions(self, axis: int, indices: AnyArray) -> Floats:
        """Return the positions of indices along an axis, in mm, float32."""
        return (self.origin[axis] + np.asarray(indices) * self.spacing[axis]).astype(np.float32)

    def position(self, axis: int, index: float) -> float:
        """Return the position of an index along an axis, in mm."""
        return self.origin[axis] + index * self.spacing[axis]

    def index(self, axis: int, position: float) -> int:
        """Return the index nearest to a position; positions outside give the border."""
        # Half way between two voxels the lower one is taken, whatever the last digits of an affine.
        nearest = round((position - self.origin[axis]) / self.spacing[axis] - 1e-3)
        return min(max(nearest, 0), self.shape[axis] - 1)

    def limits(self, axis: int) -> tuple[float, float]:
        """Return the first and the last position along an axis, in mm."""
        return self.origin[axis], self.position(axis, self.shape[axis] - 1)

    def indices(self, axis: int, low: float, high: float, step: float = 0.0) -> NDArray[np.int64]:
        """Return the indices between two positions, at least one.

        Args:
            axis: 0, 1 or 2.
            low: First position, in mm.
            high: Last position, in mm.
            step: Least distance of the positions, in mm; every voxel if 0.
        """
        first, last = self.index(axis, min(low, high)), self.index(axis, max(low, high))
        stride = max(round(step / self.spacing[axis]), 1)
        return np.arange(first, last + 1, stride)


class VolumeSource(Protocol):
    """A computed tomography volume, read voxel by voxel when asked.

    The only thing views and measurements know. A rendered scene and a file on disk both are one.
    """

    @property
    def grid(self) -> Grid:
        """Where the voxels are."""

    @property
    def about(self) -> str:
        """What the header of the file would say beyond the grid, or nothing."""

    def read(self, x: AnyArray, y: AnyArray, z: AnyArray) -> Voxels:
        """Return the voxels at the crossings of index lists.

        Args:
            x: Ascending indices along x, within the grid.
            y: Ascending indices along y, within the grid.
            z: Ascending indices along z, within the grid.

        Returns:
            Hounsfield units, shape (len(x), len(y), len(z)), int16.
        """

    def fingerprint(self) -> str:
        """Return a text that is the same for volumes of the same contents."""
