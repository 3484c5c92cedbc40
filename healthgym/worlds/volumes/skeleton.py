"""Bones: spine, ribs, sternum, clavicles and shoulder blades."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from healthgym.worlds.volumes.anatomy import Anatomy
from healthgym.worlds.volumes.shapes import (
    Blob,
    Floats,
    Lattice,
    Point,
    blend,
    blobs,
    ellipsoid,
    ramp,
)
from healthgym.worlds.volumes.tubes import Tubes, paint_tubes


class Skeleton:
    """The bones of one patient, as solids to be painted.

    Args:
        anatomy: The cage they form.
    """

    def __init__(self, anatomy: Anatomy) -> None:
        self.anatomy = anatomy
        patient = anatomy.patient
        bottom, top = patient.dome - 110, patient.apex + 60
        self.heights = np.arange(bottom, top, patient.vertebra)

    @cached_property
    def bodies(self) -> list[Blob]:
        """Vertebral bodies, from below."""
        size = self.anatomy.patient.vertebra
        return [
            Blob((0.0, self.anatomy.spine, float(z)), (17.0, 13.0, size * 0.43), power=5.0)
            for z in self.heights
        ]

    @cached_property
    def arches(self) -> Tubes:
        """Pedicles, laminae, spinous and transverse processes."""
        parts = []
        back = self.anatomy.spine
        for z in self.heights:
            z = float(z)
            spinous = [(0.0, back - 27, z), (0.0, back - 40, z - 12), (0.0, back - 46, z - 18)]
            parts.append(Tubes.chain(spinous, [3.6, 3.2, 3.8]))
            for side in (-1.0, 1.0):
                arch = [(side * 12, back - 8, z + 4), (side * 13, back - 18, z + 2),
                        (0.0, back - 27, z)]  # fmt: skip
                parts.append(Tubes.chain(arch, [4.0, 4.2, 3.2]))
                wing = [(side * 13, back - 17, z + 2), (side * 32, back - 24, z + 4)]
                parts.append(Tubes.chain(wing, [4.2, 4.4]))
        return Tubes.joined(parts)

    @cached_property
    def ribs(self) -> Tubes:
        """The bony parts of the ribs."""
        return Tubes.joined([Tubes.chain(path, wide) for path, wide in self._courses])

    @cached_property
    def cartilage(self) -> Tubes:
        """From the ends of the upper ribs to the sternum."""
        parts = []
        for path, _ in self._courses[:16]:
            end = path[-1]
            z = end[2] + 10.0
            front = self._front(z) + 7
            middle = (0.55 * end[0], 0.5 * (end[1] + front) + 4, 0.5 * (end[2] + z))
            parts.append(Tubes.chain([end, middle, (np.sign(end[0]) * 14, front, z)], 5.4))
        return Tubes.joined(parts)

    @cached_property
    def _courses(self) -> list[tuple[list[Point], float]]:
        anatomy, patient = self.anatomy, self.anatomy.patient
        courses = []
        first = patient.apex + 12
        for number in range(11):
            for side in (1.0, -1.0):
                start = first - number * patient.vertebra * 0.98
                drop = patient.rib_drop * min(0.45 + 0.1 * number, 1.0)
                last = 62.0 if number < 8 else 62.0 - 32.0 * (number - 7)
                path = []
                for share in np.linspace(0.0, 1.0, 15):
                    angle = np.radians(-97.0 + (97.0 + last) * share)
                    z = float(start - drop * share**1.2)
                    a, b, centre = anatomy.cage(min(z, patient.apex - 4))
                    c, s = np.cos(angle), np.sin(angle)
                    x = (a + 5.0) * np.sign(c) * abs(c) ** 0.8
                    y = centre + (b + 5.0) * np.sign(s) * abs(s) ** 0.8
                    path.append((float(side * max(x, 17.0 if share < 0.1 else x)), float(y), z))
                courses.append((path, 5.2 if number else 6.0))
        return courses

    def _front(self, z: float) -> float:
        _a, b, centre = self.anatomy.cage(min(z, self.anatomy.patient.apex - 30))
        return float(centre + b)

    @cached_property
    def sternum(self) -> Tubes:
        """Manubrium and body of the sternum."""
        heights = np.linspace(48, -98, 10)
        parts = []
        for x in np.linspace(-12.0, 12.0, 11):
            points = [
                (float(x) * (1.6 if z > 25 else 1.0), self._front(float(z)) + 8.0, float(z))
                for z in heights
            ]
            parts.append(Tubes.chain(points, 4.8))
        return Tubes.joined(parts)

    @cached_property
    def girdle(self) -> Tubes:
        """Clavicles, shoulder blades and heads of the upper arm bones."""
        patient, parts = self.anatomy.patient, []
        top = patient.apex
        wide, back = patient.width, -patient.depth
        for side in (-1.0, 1.0):
            collar = [(side * 20, self._front(50) + 6, 52), (side * 70, 38, top - 8),
                      (side * (wide + 6), -8, top + 14)]  # fmt: skip
            parts.append(Tubes.chain(collar, [8, 5.5, 6.5]))
            blade_tip = (side * 0.74 * wide, back - 9, -28.0)
            for share in np.linspace(0, 1, 21):
                upper = (side * (0.5 * wide + 0.5 * wide * share), back - 12 + 34 * share**2,
                         top - 14 - 22 * share)  # fmt: skip
                parts.append(Tubes.chain([upper, blade_tip], [3.0, 2.4]))
            border = [(side * 0.5 * wide, back - 12, top - 14), blade_tip,
                      (side * 1.0 * wide, back + 22, top - 36)]  # fmt: skip
            parts.append(Tubes.chain(border, 4.6))
            ridge = [(side * 0.52 * wide, back - 16, top - 24),
                     (side * (wide + 12), back + 34, top + 10)]  # fmt: skip
            parts.append(Tubes.chain(ridge, [4.5, 6.0]))
            head = [
                (side * (wide + 12), back + 50, top + 2),
                (side * (wide + 13), back + 52, top + 6),
            ]
            parts.append(Tubes.chain(head, 17.0))
        return Tubes.joined(parts)

    def paint(self, values: Floats, lattice: Lattice, blur: float) -> None:
        """Paint the bones over what is there.

        Args:
            values: Densities, in HU; changed.
            lattice: The points.
            blur: Width of an edge, in mm.
        """
        spine = self.anatomy.spine
        low, high = (-150.0, spine - 60.0, -1e4), (150.0, spine + 20.0, 1e4)
        found = lattice.within(low, high)
        if found is not None:
            part, view = lattice.part(found), values[found]
            disc = ellipsoid(part.x, part.y, 0.0, (0.0, spine, 0.0), (16.0, 12.0, 1e3), power=2.6)
            blend(view, ramp(disc, blur), np.float32(86.0))
            paint_tubes(view, part, self.arches, 430.0, blur)
            paint_tubes(view, part, self.arches.grown(1.0, -1.7), 190.0, blur)
            canal = ellipsoid(part.x, part.y, 0.0, (0.0, spine - 18.5, 0.0), (9.5, 7.5, 1e3))
            blend(view, ramp(canal, blur) + 0.0 * part.z, np.float32(22.0))
            for body in self.bodies:
                self._vertebra(view, part, body)
        paint_tubes(values, lattice, self.cartilage, 88.0, blur)
        for tubes in (self.ribs, self.sternum, self.girdle):
            paint_tubes(values, lattice, tubes, 560.0, blur)
            paint_tubes(values, lattice, tubes.grown(1.0, -1.6), 165.0, blur)

    def _vertebra(self, view: Floats, part: Lattice, body: Blob) -> None:
        found = body.slices(part)
        if found is None:
            return
        box = part.part(found)
        inside = body.distance(box)
        grain = blobs(self.anatomy.patient.seed + 7, box, 2.6)
        blend(view[found], ramp(inside, 1.0), np.float32(470.0))
        blend(view[found], ramp(inside - 1.5, 1.2), np.float32(165.0) + np.float32(75) * grain)
