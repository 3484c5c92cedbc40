"""The shapes of a thorax: cage, lungs, heart, mediastinum, diaphragm, as distances.

Every method takes positions that broadcast together, so that it serves a lattice as well as a list
of points. Distances are in mm, approximate, and positive inside.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import cos, radians, sin

import numpy as np

from healthgym.core.borders import AnyArray
from healthgym.worlds.volumes.patient import Patient
from healthgym.worlds.volumes.shapes import Amount, Point, ellipsoid, fourth_root_distance, smooth

#: Degrees by which the heart's long axis turns to the left and to the front.
HEART_TURN = -35.0
_POWER = 2.5


@dataclass(frozen=True, slots=True)
class Heart:
    """The heart's outer shape.

    Attributes:
        centre: In mm.
        radii: Half axes: along the long axis, across it, and up, in mm.
    """

    centre: Point
    radii: Point

    def half_width(self) -> float:
        """Return half the transverse extent, in mm."""
        c, s = cos(radians(HEART_TURN)), sin(radians(HEART_TURN))
        return float(np.hypot(self.radii[0] * c, self.radii[1] * s))


class Anatomy:
    """The shapes of one patient.

    Args:
        patient: Sizes.
        ratio: Width of the heart relative to the greatest inner width of the thorax.
        pericardial: Thickness of the fluid around the heart, in mm.
        hernia: Radius of a stomach herniated into the chest, in mm; 0 for none.
    """

    def __init__(
        self,
        patient: Patient,
        ratio: float = 0.44,
        pericardial: float = 1.5,
        hernia: float = 0.0,
    ) -> None:
        self.patient = patient
        self.pericardial = pericardial
        self.heart = _heart(patient, ratio)
        self.spine = -patient.depth + 11.0
        """Centre of the vertebral bodies along y, in mm."""
        self.hernia = hernia
        back = self.spine + 17 + 13
        self.hernia_centre: Point = (-10.0, back + 0.55 * hernia, patient.dome + 6 + 0.55 * hernia)

    # -- the cage ----------------------------------------------------------------------------

    def cage(self, z: Amount) -> tuple[AnyArray, AnyArray, AnyArray]:
        """Return half width, half depth and centre (y) of the inner thorax at heights, in mm."""
        patient = self.patient
        u = (patient.apex - z) / (patient.apex - patient.dome + 25.0)
        rest = np.clip(1.0 - u, 0.0, 1.0)
        wide = np.sqrt(np.clip(1.0 - rest**2.3, 0.0012, 1.0))
        deep = np.sqrt(np.clip(1.0 - rest**2.7, 0.0012, 1.0))
        below = np.clip(u - 1.0, 0.0, 1.0)
        centre = -26.0 * rest**1.6
        return patient.width * wide * (1 - 0.1 * below), patient.depth * deep, centre

    def cavity(self, x: AnyArray, y: AnyArray, z: AnyArray) -> AnyArray:
        """Return the distance inside the inner thorax."""
        a, b, centre = self.cage(z)
        q = np.abs(x / a) ** _POWER + np.abs((y - centre) / b) ** _POWER
        return fourth_root_distance(q, _POWER) * (0.5 * (a + b))

    def body(self, x: AnyArray, y: AnyArray, z: AnyArray) -> AnyArray:
        """Return the distance inside the skin."""
        patient = self.patient
        shoulder = smooth((z - 20.0) / 90.0)
        a = patient.width * 0.985 + 21.0 + patient.fat * 0.9 + 26.0 * shoulder
        b = patient.depth + 17.0 + patient.fat * 0.75 - 6.0 * shoulder
        q = np.abs(x / a) ** 2.7 + np.abs((y + 2.0) / b) ** 2.3
        inside = fourth_root_distance(q, 2.5) * (0.5 * (a + b))
        if patient.breasts and np.any(np.abs(z + 58.0) < 1.2 * patient.breasts):
            size = patient.breasts
            for side in (-1.0, 1.0):
                centre = (side * 0.52 * patient.width, patient.depth + 0.25 * size, -58.0)
                bulge = ellipsoid(x, y, z, centre, (1.12 * size, 0.82 * size, 1.15 * size))
                inside = np.maximum(inside, bulge)
        return inside

    def diaphragm(self, x: AnyArray, y: AnyArray) -> AnyArray:
        """Return the height of the diaphragm, in mm."""
        patient = self.patient
        right = smooth((x + 25.0) / 50.0)
        top = patient.dome - 13.0 * (1.0 - right)
        deep = patient.depth * 1.02
        # Between the domes the heart's base holds it up.
        off = (np.abs(x) - 0.47 * patient.width) / patient.width
        q = np.where(off > 0, (off / 0.56) ** 2, (off / 1.15) ** 2) + ((y - 10.0) / deep) ** 2
        return top - 58.0 * np.minimum(q, 2.2)

    # -- what lies in it ---------------------------------------------------------------------

    def column(self, x: AnyArray, y: AnyArray, z: AnyArray) -> AnyArray:
        """Return the distance inside spine, heart and mediastinum: what lungs wrap around."""
        upper = smooth((z + 50.0) / 30.0)
        lean = 31.0 - 7.0 * smooth((z - 45.0) / 40.0)
        spine = _ellipse(x, y, 0.0, self.spine - 3, 23.0, 23.0)
        middle = _ellipse(x, y, 0.0, -12.0, lean, 47.0) - 40.0 * (1.0 - upper)
        _, b, centre = self.cage(z)
        front = _ellipse(x, y, 0.0, centre + b - 12.0, 13.0, 30.0)
        radii = self.heart.radii
        swell = self.pericardial + 3.0
        heart = ellipsoid(
            x, y, z, self.heart.centre,
            (radii[0] + swell, radii[1] + swell, radii[2] + swell), HEART_TURN,
        )  # fmt: skip
        inside: AnyArray = np.maximum(np.maximum(spine, middle), np.maximum(front, heart))
        # Fat around the oesophagus joins heart and spine.
        inside = np.maximum(inside, _ellipse(x, y, -5.0, self.spine + 32.0, 14.0, 30.0))
        hilum_right = ellipsoid(x, y, z, (33.0, -17.0, -20.0), (17.0, 17.0, 24.0))
        hilum_left = ellipsoid(x, y, z, (-36.0, -18.0, -10.0), (15.0, 17.0, 22.0))
        inside = np.maximum(inside, np.maximum(hilum_right, hilum_left))
        inside = np.maximum(inside, 2.5 - np.abs(x))
        # The descending aorta lies beside the spine, all the way down.
        inside = np.maximum(inside, _ellipse(x, y, -21.0, self.spine + 24.0, 16.0, 16.0))
        if self.hernia:
            r = self.hernia + 3.0
            inside = np.maximum(
                inside, ellipsoid(x, y, z, self.hernia_centre, (r * 1.15, r, r * 1.1))
            )
        return inside

    def fluid(self, x: AnyArray, y: AnyArray, z: AnyArray, thick: float) -> AnyArray:
        """Return the depth of pleural fluid at places, in mm, where it is ``thick`` at most."""
        _, b, centre = self.cage(z)
        low = smooth((self.patient.dome + 40.0 + thick - z) / (50.0 + thick))
        back = smooth((centre + 0.35 * b - y) / (0.9 * b))
        return thick * low * back

    def lung(
        self, x: AnyArray, y: AnyArray, z: AnyArray, pleural: tuple[float, float] = (0.0, 0.0)
    ) -> AnyArray:
        """Return the distance inside the lungs.

        Args:
            x: Positions that broadcast with ``y`` and ``z``.
            y: As ``x``.
            z: As ``x``.
            pleural: Thickness of pleural fluid on the right and on the left, in mm.
        """
        inside = self.beside_heart(x, y, z, self.cavity(x, y, z), pleural)
        return np.minimum(inside, -self.column(x, y, z))

    def beside_heart(
        self, x: AnyArray, y: AnyArray, z: AnyArray, cavity: AnyArray, pleural: tuple[float, float]
    ) -> AnyArray:
        """Return the distance inside the lungs as if nothing lay between them."""
        inside = cavity - 2.5
        for side, thick in zip((1.0, -1.0), pleural, strict=True):
            if thick > 0:
                depth = self.fluid(x, y, z, thick)
                inside = np.where(x * side > 0, inside - depth, inside)
        return np.minimum(inside, (z - self.diaphragm(x, y)) * 0.72)


def _ellipse(x: AnyArray, y: AnyArray, cx: float, cy: Amount, rx: Amount, ry: float) -> AnyArray:
    q = ((x - cx) / rx) ** 2 + ((y - cy) / ry) ** 2
    return (1.0 - np.sqrt(q)) * np.minimum(rx, ry)


def _heart(patient: Patient, ratio: float) -> Heart:
    """Return a heart of a given width that fits between sternum and spine."""
    half = ratio * patient.width
    c, s = cos(radians(HEART_TURN)), sin(radians(HEART_TURN))
    room = (2 * patient.depth - 62.0) / 2
    across = 0.74
    for _ in range(6):
        long = half / float(np.hypot(c, across * s))
        deep = long * float(np.hypot(s, across * c))
        if deep <= room:
            break
        across *= 0.93
    front = patient.depth - 12.0
    up = min(0.72 * long, 66.0)
    centre = (-0.24 * half, front - deep, patient.dome + up - 14.0)
    return Heart(centre, (long, across * long, up))
