"""Measurements of a radiology workstation, each from the voxels it reads.

Every function takes a source and its survey and returns rounded numbers. They are made for an
adult chest lying on its back; where lungs cannot be found there is no survey to start from.
"""

from __future__ import annotations

import numpy as np
import scipy.ndimage as nd

from healthgym.core.borders import AnyArray
from healthgym.worlds.volumes.grid import Mask, VolumeSource
from healthgym.worlds.volumes.survey import Sample, Survey, read_box

#: Medical material is denser than bone and calcium, in HU.
METAL = 1500
#: What the outer half voxels and the pleura add to the distance of lung voxels, in mm.
EDGE = 5.0
#: Added to positions that may lie half way between two others, so that the last digits of an
#: affine do not decide, in mm.
TIE = 0.01
_CROSS = nd.generate_binary_structure(3, 1)


def lung_volume(source: VolumeSource, at: Survey) -> float:
    """Return the volume of aerated lung and airways, in ml."""
    return round(float(at.lungs.sum()) * at.sample.voxel)


def low_attenuation(source: VolumeSource, at: Survey) -> float:
    """Return the share of the lungs below -940 HU, in percent (an index of emphysema)."""
    inner = nd.binary_erosion(at.lungs, _CROSS)
    # The mean of four neighbours, or noise alone would count.
    calm = nd.uniform_filter(at.sample.values.astype(np.float32), (2, 2, 1))
    values = calm[inner & _no_airway(at)]
    return round(100.0 * float((values < -940).mean()), 1) if len(values) else 0.0


def _no_airway(at: Survey) -> Mask:
    """Return where large airways are not: away from the middle."""
    x = at.sample.axes[0]
    far: Mask = (np.abs(x - at.middle) > 45.0)[:, None, None] & np.ones(at.lungs.shape, bool)
    return far


def metal(source: VolumeSource, at: Survey) -> float:
    """Return the volume denser than 1500 HU in the chest, in mm3, estimated from a coarse grid."""
    inside = at.sample.axes[2] >= at.dome - 40
    dense = at.sample.values[:, :, inside] > METAL
    return round(float(dense.sum()) * at.sample.voxel * 1000.0)


def heart_ratio(source: VolumeSource, at: Survey) -> tuple[float, float]:
    """Return the widest heart relative to the widest inner chest, and its height in mm."""
    x, y, z = at.sample.axes
    left, right = at.beside()
    chest = right - left + EDGE
    rows = np.flatnonzero(y > at.spine + 36)
    middle = int(np.argmin(np.abs(x - at.middle)))
    best, height = 0.0, at.hilum
    # Water around the heart is not heart.
    soft = nd.uniform_filter(at.sample.values.astype(np.float32), 3) > 26
    for k in np.flatnonzero((z > at.dome + 4) & (z < at.hilum - 32)):
        block = soft[:, rows, k]
        labels, _ = nd.label(block)
        core = np.bincount(labels[middle - 4 : middle + 3].ravel())
        if len(core) < 2:
            continue
        core[0] = 0
        # The chest wall is in front of the lungs, the heart between them.
        between = _between_lungs(at.lungs[:, rows, k])
        columns = np.flatnonzero(((labels == core.argmax()) & between).any(axis=1))
        if not len(columns):
            continue
        width = float(x[columns[-1]] - x[columns[0]]) + float(x[1] - x[0])
        if width > best:
            best, height = width, float(z[k])
    return round(best / chest, 2), round(height)


def _between_lungs(lungs: Mask) -> Mask:
    """Return the points of a slice that have lung on both sides along x."""
    before = np.maximum.accumulate(lungs, axis=0)
    after = np.maximum.accumulate(lungs[::-1], axis=0)[::-1]
    return before & after


def pleural_fluid(source: VolumeSource, at: Survey) -> tuple[float, float]:
    """Return the depth of fluid behind the right and the left lung, in mm."""
    x, y, z = at.sample.axes
    step = float(y[1] - y[0])
    soft = nd.uniform_filter(at.sample.values.astype(np.float32), 3)
    fluid = (soft > -22) & (soft < 32)
    left, right = at.beside()
    results = []
    for low, high in ((at.middle, right), (left, at.middle)):
        wide = high - low
        columns = np.flatnonzero((x > low + 0.22 * wide) & (x < high - 0.2 * wide))
        depths = []
        for k in np.flatnonzero((z > at.dome - 25) & (z < at.hilum + 15)):
            lung = at.lungs[columns, :, k]
            some = lung.any(axis=1)
            if some.sum() < 3:
                continue
            first = lung.argmax(axis=1)
            here = [_run_back(fluid[columns[n], :, k], int(first[n])) for n in np.flatnonzero(some)]
            depths.append(float(np.median(here)) * step)
        results.append(float(np.percentile(depths, 92)) if depths else 0.0)
    return round(results[0]), round(results[1])


def _run_back(fluid: AnyArray, first: int) -> int:
    """Return how many fluid points lie behind the first point of a lung."""
    # Lung and fluid share up to three points of the averaged image.
    behind = fluid[max(first - 4, 0) : first][::-1]
    if not behind.any():
        return 0
    at = first - 1 - int(behind.argmax())
    run = 0
    while at >= 0 and fluid[at]:
        run, at = run + 1, at - 1
    return run + 1 if run > 1 else run


def ground_glass(source: VolumeSource, at: Survey) -> float:
    """Return the share of the lungs that is hazy (-720 to -300 HU in the median), in percent."""
    envelope = nd.binary_closing(at.lungs, _CROSS, iterations=3)
    inner = nd.binary_erosion(envelope, _CROSS, iterations=2)
    middle = nd.median_filter(at.sample.values, 3)
    z = at.sample.axes[2]
    inner = inner & (z > at.dome)[None, None, :]
    values = middle[inner]
    hazy = (values > -720) & (values < -300)
    return round(100.0 * float(hazy.mean()), 1) if len(values) else 0.0


def mosaic_spread(source: VolumeSource, at: Survey) -> float:
    """Return how far local means of the lungs lie apart (80 % of them), in HU, gravity removed."""
    inner = nd.binary_erosion(at.lungs, _CROSS, iterations=3) & _no_airway(at)
    middle = nd.median_filter(at.sample.values, 3).astype(np.float32)
    inner &= (middle < -650) & (middle > -960)
    if inner.sum() < 200:
        return 0.0
    y = np.broadcast_to(at.sample.axes[1][None, :, None], inner.shape)[inner]
    values = middle[inner]
    slope = np.polyfit(y.astype(float), values.astype(float), 1)
    rest = values - np.polyval(slope, y)
    low, high = np.percentile(rest, [10, 90])
    return round(float(high - low))


def _filled(at: Survey) -> Mask:
    """Return where lung should be: between lung in front and behind, or above and below.

    Each lung is helped by the mirror image of the other; the middle, where they differ, and the
    liver are left out.
    """
    x, _, z = at.sample.axes
    mirror = np.abs(x[:, None] - (2 * at.middle - x)[None, :]).argmin(axis=1)
    either = at.lungs | at.lungs[mirror]
    result = np.zeros_like(at.lungs)
    for axis in (1, 2):
        before = np.maximum.accumulate(either, axis=axis)
        after = np.flip(np.maximum.accumulate(np.flip(either, axis), axis=axis), axis)
        result |= before & after
    result &= (z > at.dome + 5)[None, None, :]
    return result


def _aside(at: Survey, labels: AnyArray) -> list[tuple[int, tuple[slice, ...]]]:
    """Return number and box of the pieces that keep away from the middle: no heart, no hilum."""
    x = at.sample.axes[0]
    left, right = at.beside()
    far = np.abs(x - at.middle) > 0.12 * (right - left)
    return [
        (number, box) for number, box in enumerate(nd.find_objects(labels), 1) if far[box[0]].all()
    ]


def _dense(at: Survey) -> Mask:
    """Return dense tissue where lung should be that is as thick as a consolidation."""
    soft = nd.uniform_filter(at.sample.values.astype(np.float32), 3)
    # Denser than fluid, which gathers where lung should be, too.
    dense = _filled(at) & (soft > 17) & (soft < 120)
    # One point is lost at each side to the averaging.
    thick: Mask = nd.binary_dilation(nd.binary_opening(dense, _CROSS), _CROSS) & _filled(at)
    return thick


def consolidation(source: VolumeSource, at: Survey) -> float:
    """Return the largest solid area in the lungs that is thick in all directions, in ml."""
    labels, count = nd.label(_dense(at))
    if not count:
        return 0.0
    sizes = np.bincount(labels.ravel())
    largest = max((int(sizes[number]) for number, _ in _aside(at, labels)), default=0)
    return round(float(largest) * at.sample.voxel)


def dense_band(source: VolumeSource, at: Survey) -> float:
    """Return the length of the longest flat band of dense tissue in the lungs, in mm."""
    values = at.sample.values.astype(np.float32)
    dense = _filled(at) & (nd.uniform_filter(values, (3, 3, 1)) > -420)
    thick = _dense(at)
    dense &= ~nd.binary_dilation(thick, _CROSS, iterations=2)
    # A band is wide in two directions: it survives an opening along them.
    dense = nd.binary_opening(dense, np.ones((3, 3, 1), bool))
    labels, _count = nd.label(dense, np.ones((3, 3, 3)))
    best = 0.0
    for _, box in _aside(at, labels):
        extent = [
            (part.stop - part.start) * step
            for part, step in zip(box, at.sample.spacing, strict=True)
        ]
        best = max(best, float(np.hypot(extent[0], extent[1])))
    return round(best)


def largest_nodule(source: VolumeSource, at: Survey) -> float:
    """Return the diameter of the largest compact solid lump within the lungs, in mm."""
    dense = _filled(at) & (at.sample.values > -350)
    labels, count = nd.label(dense)
    best = 0.0
    if not count:
        return best
    sizes = np.bincount(labels.ravel())
    for number, box in _aside(at, labels):
        if sizes[number] < 4:
            continue
        extent = np.array([part.stop - part.start for part in box]) * at.sample.spacing
        volume = sizes[number] * at.sample.voxel * 1000
        wide = float((volume * 6 / np.pi) ** (1 / 3))
        if (
            extent.max() < 42
            and extent.max() < 2.1 * extent.min()
            and volume > 0.28 * extent.prod()
        ):
            best = max(best, wide)
    return round(best)


def strands(source: VolumeSource, at: Survey) -> float:
    """Return the share of dense points in the densest 32-mm cube of the outer lungs, in percent."""
    depth = nd.distance_transform_edt(
        nd.binary_closing(at.lungs, _CROSS, iterations=2), sampling=at.sample.spacing
    )
    outer = (depth > 4) & (depth < 15)
    size = [max(round(32.0 / step), 1) for step in at.sample.spacing]
    dense = outer & (at.sample.values > -520)
    weight = nd.uniform_filter(outer.astype(np.float32), size)
    share = nd.uniform_filter(dense.astype(np.float32), size) / np.maximum(weight, 1e-3)
    kept = outer & (weight > 0.3)
    return round(100.0 * float(share[kept].max()), 1) if kept.any() else 0.0


# -- the mediastinum -----------------------------------------------------------------------------


def core(source: VolumeSource, at: Survey) -> Sample:
    """Return the mediastinum in front of the spine, finely."""
    rows = np.flatnonzero(at.lungs.any(axis=(0, 2)))
    front = float(at.sample.axes[1][rows[-1]])
    low = (at.middle - 95.0, at.spine + 3.0, at.dome - 14.0)
    high = (at.middle + 72.0, front - 2.0, at.high - 8.0)
    return read_box(source, low, high, (1.9, 1.9, 2.0))


def calcium(source: VolumeSource, at: Survey) -> tuple[float, float]:
    """Return calcified volume of the aorta's and of the coronary arteries' walls, in mm3.

    What is denser than blood by far, in small pieces, in the mediastinum: in the front of the
    heart's levels it counts as coronary, elsewhere as aortic.
    """
    sample = core(source, at)
    x, y, z = sample.axes
    # The brightest of what is no bone: vessels and chambers, if there is contrast medium.
    part = np.ix_(
        np.flatnonzero(np.abs(x - at.middle + 8) < 45),
        np.flatnonzero(y < y[-1] - 25),
        np.flatnonzero((z > at.dome + 8) & (z < at.hilum + 30)),
    )
    blood = float(np.percentile(sample.values[part], 95))
    limit = max(200.0, blood + 140.0)
    labels, count = nd.label(sample.values > limit)
    aortic = coronary = 0.0
    sizes = np.bincount(labels.ravel())
    peaks = nd.maximum(sample.values, labels, np.arange(1, count + 1)) if count else ()
    between = _between_lungs(at.lungs)
    for number, box in enumerate(nd.find_objects(labels), 1):
        volume = float(sizes[number]) * sample.voxel * 1000.0
        if sizes[number] < 2 or volume > 3000 or peaks[number - 1] > METAL:
            continue
        place = [
            float(axis[(part.start + part.stop - 1) // 2])
            for axis, part in zip(sample.axes, box, strict=True)
        ]
        voxel = tuple(
            int(np.abs(axis - value + TIE).argmin())
            for axis, value in zip(at.sample.axes, place, strict=True)
        )
        if not between[voxel]:
            continue
        heart = place[2] < at.hilum - 14 and place[1] > at.spine + 36
        if heart:
            coronary += volume
        elif abs(place[0] - at.middle) < 45:
            aortic += volume
    return round(aortic), round(coronary)


def pericardial_fluid(source: VolumeSource, at: Survey) -> float:
    """Return the volume of water-like layers around the heart, in ml."""
    sample = core(source, at)
    x, y, z = sample.axes
    part = np.ix_(
        np.arange(len(x)),
        np.flatnonzero(y > at.spine + 32),
        np.flatnonzero((z > at.dome - 8) & (z < at.hilum - 22)),
    )
    soft = nd.uniform_filter(sample.values[part].astype(np.float32), 3)
    fluid = (soft > -16) & (soft < 27)
    layer = nd.binary_opening(fluid, _CROSS)
    return round(float(layer.sum()) * sample.voxel)


def hiatal_gas(source: VolumeSource, at: Survey) -> float:
    """Return the width of the widest gas pocket behind the heart, in mm."""
    sample = core(source, at)
    x, y, z = sample.axes
    part = np.ix_(
        np.flatnonzero(np.abs(x - at.middle) < 60),
        np.flatnonzero(y < at.spine + 75),
        np.flatnonzero((z > at.dome - 8) & (z < at.hilum - 20)),
    )
    labels, _count = nd.label(sample.values[part] < -400)
    best = 0.0
    shape = labels.shape
    for box in nd.find_objects(labels):
        # What reaches the sides is lung, what reaches the top a bronchus.
        if any(part.start == 0 or part.stop == n for part, n in zip(box, shape, strict=True)):
            continue
        wide = (box[0].stop - box[0].start) * sample.spacing[0]
        best = max(best, wide)
    return round(best)


def largest_node(source: VolumeSource, at: Survey) -> float:
    """Return the short axis of the largest lump in the fat of the armpits, in mm."""
    best = 0.0
    left, right = at.beside()
    for side, edge in ((1, right), (-1, left)):
        x0, x1 = sorted((edge - side * 45.0, edge + side * 45.0))
        low = (x0, at.spine + 12.0, at.hilum + 4.0)
        high = (x1, at.spine + 125.0, at.hilum + 92.0)
        sample = read_box(source, low, high, (1.7, 1.7, 2.0))
        best = max(best, _lump(sample))
    return round(best)


def _lump(sample: Sample) -> float:
    """Return the short axis of the largest lump surrounded by fat, in mm."""
    soft = nd.uniform_filter(sample.values.astype(np.float32), 3)
    labels, _count = nd.label((soft > -35) & (soft < 180))
    best = 0.0
    sizes = np.bincount(labels.ravel())
    shape = labels.shape
    for number, box in enumerate(nd.find_objects(labels), 1):
        inside = all(
            part.start > 0 and part.stop < size for part, size in zip(box, shape, strict=True)
        )
        volume = sizes[number] * sample.voxel * 1000
        if not inside or not 20 < volume < 30_000:
            continue
        extent = np.array([part.stop - part.start for part in box]) * sample.spacing
        if extent.max() > 60 or volume < 0.3 * extent.prod():
            continue
        area = (
            (labels[box] == number).sum(axis=(0, 1)).max() * sample.spacing[0] * sample.spacing[1]
        )
        length = max(extent[0], extent[1])
        best = max(best, float(4 * area / (np.pi * length)))
    return best
