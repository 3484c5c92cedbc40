"""NIfTI files: volumes read slice by slice from disk, and written from any source."""

from __future__ import annotations

import math
import zlib
from pathlib import Path
from typing import Any

import numpy as np

from healthgym.core.borders import AnyArray
from healthgym.core.cache import BuildCache
from healthgym.errors import ConfigurationError, DamagedDataError, MissingDataError
from healthgym.worlds.imaging.raster import require
from healthgym.worlds.volumes.grid import Grid, VolumeSource, Voxels

#: Smallest number of voxels along an axis of what is taken for a volume.
#: Millimetres between voxels, and from the scanner's middle to the first of them.
_MOST_SPACING, _FARTHEST = 1e3, 1e6
_LEAST = 8
#: Most voxels of a file that is mapped, and of a compressed one, which is unpacked whole: chests
#: in slices of half a millimetre have 200 million.
_MOST, _MOST_PACKED = 2 << 30, 320_000_000
_SLAB = 16
#: Compressed files are unpacked whole; the last ones are kept.
_UNPACKED: BuildCache[Voxels] = BuildCache.pooled()


class NiftiVolume:
    """A volume in a NIfTI file.

    The header is read at once, voxels when asked for. Axes are turned and flipped so that indices
    grow to the patient's right, front and head; the oblique rest of an orientation is ignored and
    said in :attr:`about`.

    Args:
        path: A ``.nii`` or ``.nii.gz`` file.

    Raises:
        MissingDataError: If there is no such file.
        DamagedDataError: If it is no volume of three dimensions, or cut short.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        nib = require("nibabel")
        if not self.path.is_file():
            raise MissingDataError(f"There is no volume {self.path}.")
        try:
            image = nib.load(self.path)
            shape, affine = image.shape, np.asarray(image.affine, float)
        except Exception as error:  # nibabel raises many kinds for files that are none
            raise DamagedDataError(
                f"{self.path} cannot be read as NIfTI: {str(error)[:200]}."
            ) from error
        while len(shape) > 3 and shape[-1] == 1:
            shape = shape[:-1]
        if len(shape) != 3:
            raise DamagedDataError(
                f"{self.path} has {len(shape)} dimensions {tuple(shape)}; a scan has three."
            )
        if min(shape) < _LEAST:
            raise DamagedDataError(f"{self.path} has the shape {tuple(shape)}: that is no volume.")
        self._require_size(image, shape)
        if not np.isfinite(affine).all() or abs(np.linalg.det(affine[:3, :3])) < 1e-9:
            raise DamagedDataError(f"{self.path} has an affine that places no voxels in space.")
        self._image = image
        turned = nib.io_orientation(affine)
        if np.isnan(turned).any():
            raise DamagedDataError(f"{self.path} has an affine that places no voxels in space.")
        #: For each axis of patient space, the axis of the file and whether it is flipped.
        self._order = [int(np.flatnonzero(turned[:, 0] == axis)[0]) for axis in range(3)]
        self._flip = [bool(turned[axis, 1] < 0) for axis in self._order]
        self._grid = _grid_of(affine, shape, self._order, self._flip)
        if max(self._grid.spacing) > _MOST_SPACING or max(map(abs, self._grid.origin)) > _FARTHEST:
            raise DamagedDataError(f"{self.path} has voxels larger than a body, or far from one.")
        self._oblique = _tilt(affine, self._order)

    def _require_size(self, image: Any, shape: tuple[int, ...]) -> None:
        """Return if there may be as many voxels, and a file that is mapped holds them all.

        Raises:
            DamagedDataError: If not.
        """
        packed = self.path.suffix == ".gz"
        most, voxels = (_MOST_PACKED if packed else _MOST), math.prod(shape)
        if voxels > most:
            raise DamagedDataError(
                f"{self.path} has the shape {tuple(shape)}: {voxels:,} voxels, and at most "
                f"{most:,} are read of a {'.nii.gz' if packed else '.nii'} file."
            )
        needed = voxels * image.get_data_dtype().itemsize + int(image.dataobj.offset)
        held = self.path.stat().st_size
        if not packed and held < needed:
            raise DamagedDataError(
                f"{self.path} is cut short: its header speaks of {needed:,} bytes, and it has "
                f"{held:,}."
            )

    def __reduce__(self) -> tuple[type[NiftiVolume], tuple[Path]]:
        return NiftiVolume, (self.path,)

    @property
    def grid(self) -> Grid:
        """Where the voxels are."""
        return self._grid

    @property
    def about(self) -> str:
        """What a reader should know of the file."""
        if self._oblique > 3.0:
            return f"The slices are tilted by {self._oblique:.0f} degrees; this is not corrected."
        return ""

    @property
    def _unpacked(self) -> Voxels:
        """All voxels of a compressed file, in the file's order: there is no seeking in one."""
        return _UNPACKED.get(self.fingerprint(), self._unpack)

    def _unpack(self) -> Voxels:
        # Slab by slab from a file that stays open, which is then unpacked once: at a go, floats
        # and scaled numbers need several times the room of what comes of them.
        image = require("nibabel").load(self.path, keep_file_open=True)
        size = self._image.shape[:3]
        try:
            whole = np.empty(size, np.int16, order="F")
        except MemoryError as error:
            raise DamagedDataError(f"{self.path} is too large for this machine.") from error
        for z in range(0, size[2], _SLAB):
            part = slice(z, min(z + _SLAB, size[2]))
            whole[:, :, part] = self._plain(slice(None), slice(None), part, image=image)
        return whole

    def read(self, x: AnyArray, y: AnyArray, z: AnyArray) -> Voxels:
        """Return voxels; see :class:`healthgym.worlds.volumes.grid.VolumeSource`."""
        lists: list[AnyArray] = [np.zeros(0)] * 3
        for axis, indices in enumerate((x, y, z)):
            size = self._grid.shape[axis]
            wanted = np.asarray(indices)
            lists[self._order[axis]] = size - 1 - wanted[::-1] if self._flip[axis] else wanted
        if self.path.suffix == ".gz":
            found = self._unpacked[np.ix_(*lists)]
        else:
            box = [slice(int(part[0]), int(part[-1]) + 1) for part in lists]
            near = [part - part[0] for part in lists]
            found = self._plain(*box)[np.ix_(*near)]
        found = found.transpose(self._order)
        backwards = tuple(slice(None, None, -1 if flip else 1) for flip in self._flip)
        return np.ascontiguousarray(found[backwards])

    def _plain(self, *box: slice, image: Any = None) -> Voxels:
        image = self._image if image is None else image
        # Of a map that lost its end, reading kills the process.
        self._require_size(image, image.shape)
        index = (*box, *(0 for _ in range(len(image.shape) - 3)))
        try:
            values = np.array(image.dataobj[index], np.float32)
        # A file cut short fails in its decompressor or its memory map; a wrong index is ours.
        except (OSError, EOFError, ValueError, MemoryError, zlib.error) as error:
            raise DamagedDataError(
                f"{self.path} is cut short or damaged: {str(error)[:200]}."
            ) from error
        # In place: a whole volume has gigabytes.
        np.nan_to_num(values, copy=False, nan=-1024.0, posinf=3071.0, neginf=-1024.0)
        np.clip(values, -1024, 32767, out=values)
        return np.rint(values, out=values).astype(np.int16)

    def fingerprint(self) -> str:
        """Return a text that is the same for volumes of the same contents."""
        stat = self.path.stat()
        return f"nifti-{self.path.resolve()}-{stat.st_size}-{stat.st_mtime_ns}"

    def content_hash(self) -> str:
        """Return a hash of the file's place and size."""
        return self.fingerprint()


def _grid_of(affine: AnyArray, shape: tuple[int, ...], order: list[int], flip: list[bool]) -> Grid:
    size = (int(shape[order[0]]), int(shape[order[1]]), int(shape[order[2]]))
    spacing, origin = [], []
    corner = np.array([0.0, 0.0, 0.0, 1.0])
    for axis in range(3):
        if flip[axis]:
            corner[order[axis]] = size[axis] - 1
    place = affine @ corner
    for axis in range(3):
        spacing.append(float(np.linalg.norm(affine[:3, order[axis]])))
        origin.append(float(place[axis]))
    return Grid(size, (spacing[0], spacing[1], spacing[2]), (origin[0], origin[1], origin[2]))


def _tilt(affine: AnyArray, order: list[int]) -> float:
    """Return the greatest angle between an axis of the file and one of the patient, in degrees."""
    worst = 0.0
    for axis in range(3):
        way = affine[:3, order[axis]]
        share = abs(way[axis]) / np.linalg.norm(way)
        worst = max(worst, float(np.degrees(np.arccos(min(share, 1.0)))))
    return worst


def write_nifti(source: VolumeSource, path: str | Path) -> Path:
    """Write a volume as a NIfTI file of 16-bit Hounsfield units with its affine.

    Args:
        source: The volume.
        path: Where to; ``.nii`` is larger and far quicker to write and to read than ``.nii.gz``.

    Returns:
        The path.

    Raises:
        ConfigurationError: If the path ends in something else.
    """
    nib = require("nibabel")
    path = Path(path)
    if not path.name.endswith((".nii", ".nii.gz")):
        raise ConfigurationError(f"A NIfTI file ends in .nii or .nii.gz, unlike {path.name!r}.")
    grid = source.grid
    x, y = np.arange(grid.shape[0]), np.arange(grid.shape[1])
    values = np.empty(grid.shape, np.int16, order="F")
    for first in range(0, grid.shape[2], _SLAB):
        z = np.arange(first, min(first + _SLAB, grid.shape[2]))
        values[:, :, first : first + len(z)] = source.read(x, y, z)
    affine = np.diag([*grid.spacing, 1.0])
    affine[:3, 3] = grid.origin
    image = nib.Nifti1Image(values, affine)
    image.header.set_xyzt_units("mm")
    image.header.set_slope_inter(1.0, 0.0)
    path.parent.mkdir(parents=True, exist_ok=True)
    nib.save(image, path)
    return path
