"""From the names of findings to lesions: places, sizes, and what merely looks like them."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection
from functools import cache
from importlib.resources import files
from typing import TypeVar

import numpy as np

from healthgym.worlds.volumes.anatomy import Anatomy
from healthgym.worlds.volumes.devices import draw_devices
from healthgym.worlds.volumes.disease import Disease, Finding, Line, Plate, Solid
from healthgym.worlds.volumes.patient import Patient
from healthgym.worlds.volumes.shapes import Blob, Point
from healthgym.worlds.volumes.vessels import (
    aorta_path,
    aorta_radii,
    coronary_paths,
)

Lesion = TypeVar("Lesion")

#: How plainly a finding shows, from what nobody misses to what is just past its threshold.
SEVERITIES = ("blatant", "plain", "subtle")


@cache
def _table() -> dict[str, dict[str, list[float]]]:
    text = (files(__package__) / "severity.json").read_text("utf-8")
    table: dict[str, dict[str, list[float]]] = json.loads(text)
    return table


def draw_disease(
    rng: np.random.Generator,
    patient: Patient,
    present: Collection[Finding],
    severities: Collection[str] = ("plain",),
    mimics: float = 0.5,
) -> Disease:
    """Draw the lesions of the findings that are present, and mimics of those that are not.

    Args:
        rng: Source of randomness.
        patient: Whose chest it is.
        present: The findings that are there; all others are not.
        severities: How plainly a finding may show; one is drawn for each.
        mimics: Chance that an absent finding is imitated by something harmless.
    """
    return _Draw(rng, patient, frozenset(present), tuple(severities), mimics).disease()


class _Draw:
    def __init__(
        self,
        rng: np.random.Generator,
        patient: Patient,
        present: frozenset[Finding],
        severities: tuple[str, ...],
        mimics: float,
    ) -> None:
        self.rng, self.patient, self.present = rng, patient, present
        # Drawn for all findings, so that what one is like does not depend on which others are.
        self.level = {f: severities[int(rng.integers(len(severities)))] for f in Finding}
        self.mimic = {f: bool(rng.random() < mimics) for f in Finding}
        self.streams = dict(zip(Finding, rng.spawn(len(Finding)), strict=True))

    def disease(self) -> Disease:
        ratio = self._size(Finding.CARDIOMEGALY, "heart_ratio")
        pericardial = self._size(Finding.PERICARDIAL_EFFUSION, "pericardial")
        hernia = self._size(Finding.HIATAL_HERNIA, "hernia")
        self.anatomy = Anatomy(self.patient, ratio, pericardial, hernia)
        self.pleural = self._sides()
        lobe_rng = self.streams[Finding.BRONCHIECTASIS]
        dilated = self._size(Finding.BRONCHIECTASIS, "dilated")
        lobe = int(lobe_rng.integers(1, 5)) * (1 if lobe_rng.random() < 0.5 else -1)
        return Disease(
            heart_ratio=ratio,
            pericardial=pericardial,
            pleural=self.pleural,
            hernia=hernia,
            hernia_gas=self._hernia_gas(),
            oesophageal_gas=self._gas(),
            emphysema=self._size(Finding.EMPHYSEMA, "emphysema"),
            emphysema_reach=float(self.streams[Finding.EMPHYSEMA].uniform(0.35, 0.7)),
            mosaic=self._size(Finding.MOSAIC, "mosaic"),
            septal=self._size(Finding.SEPTAL, "septal"),
            dependent=self._dependent(),
            wall=self._size(Finding.PERIBRONCHIAL, "wall"),
            dilated=dilated,
            lobe=lobe,
            glass=self._if(Finding.OPACITY, self._glass),
            dense=self._if(Finding.CONSOLIDATION, self._dense),
            plates=self._if(Finding.ATELECTASIS, self._plates),
            nodules=self._nodules(),
            nodes=self._nodes(),
            scars=self._if(Finding.FIBROSIS, self._scars),
            calcium=(*self._arterial(), *self._coronary(), *self._valve()),
            devices=self._devices()[0],
            boxes=self._devices()[1],
        )

    # -- sizes -------------------------------------------------------------------------------

    def _range(self, finding: Finding, name: str) -> tuple[float, float]:
        row = _table()[name]
        if finding in self.present:
            low, high = row[self.level[finding]]
        else:
            low, high = row["mimic" if self.mimic[finding] else "absent"]
        return low, high

    def _size(self, finding: Finding, name: str) -> float:
        return float(self.streams[finding].uniform(*self._range(finding, name)))

    def _if(
        self, finding: Finding, draw: Callable[[np.random.Generator], tuple[Lesion, ...]]
    ) -> tuple[Lesion, ...]:
        return draw(self.streams[finding]) if finding in self.present else ()

    def _sides(self) -> tuple[float, float]:
        rng = self.streams[Finding.PLEURAL_EFFUSION]
        sizes = [self._size(Finding.PLEURAL_EFFUSION, "pleural") for _ in range(2)]
        kept = int(rng.integers(3))
        if kept < 2:
            sizes[1 - kept] = 0.0
        return sizes[0], sizes[1]

    def _hernia_gas(self) -> float:
        rng, level = self.streams[Finding.HIATAL_HERNIA], self.level[Finding.HIATAL_HERNIA]
        return float(rng.uniform(0.42, 0.62) if level != "subtle" else rng.uniform(0.2, 0.5))

    def _gas(self) -> float:
        rng = self.streams[Finding.HIATAL_HERNIA]
        harmless = Finding.HIATAL_HERNIA not in self.present and self.mimic[Finding.HIATAL_HERNIA]
        return float(rng.uniform(3.2, 4.6) if harmless else rng.uniform(1.4, 2.6))

    def _dependent(self) -> float:
        rng = self.streams[Finding.OPACITY]
        harmless = Finding.OPACITY not in self.present and self.mimic[Finding.OPACITY]
        return float(rng.uniform(50, 95) if harmless else 0.0)

    # -- places ------------------------------------------------------------------------------

    def _spots(
        self,
        rng: np.random.Generator,
        count: int,
        depth: tuple[float, float],
        heights: tuple[float, float] = (0.05, 0.92),
        apart: float = 0.0,
        aside: float = 0.0,
    ) -> list[Point]:
        """Return places in the lungs, by their depth under the surface and their height.

        Heights run from 0 at the right dome to 1 at the apices; ``aside`` is the least distance
        from the middle, relative to the chest. There may be fewer places than asked for.
        """
        patient = self.patient
        low = (-patient.width, -patient.depth, patient.dome - 40)
        high = (patient.width, patient.depth, patient.apex)
        drawn = rng.uniform(low, high, (900, 3))
        x, y, z = drawn.T
        deep = self.anatomy.lung(x, y, z, self.pleural)
        share = (z - patient.dome) / (patient.apex - patient.dome)
        fits = (deep > depth[0]) & (deep < depth[1]) & (share > heights[0]) & (share < heights[1])
        fits &= np.abs(x) > aside * patient.width
        # Not in the crowd of vessels at the hilum.
        fits &= (np.abs(x) - 36) ** 2 + (y + 18) ** 2 + (z + 14) ** 2 > 45.0**2
        kept: list[Point] = []
        for row in drawn[fits]:
            place = (float(row[0]), float(row[1]), float(row[2]))
            if all(np.linalg.norm(np.subtract(place, other)) > apart for other in kept):
                kept.append(place)
            if len(kept) == count:
                break
        return kept

    def _aside(self, finding: Finding) -> float:
        """Return how far from the middle a lesion lies at least: what is blatant is in the open."""
        return 0.52 if self.level[finding] == "blatant" else 0.0

    def _between(self, rng: np.random.Generator, finding: Finding, name: str) -> float:
        low, high = _table()[name][self.level[finding]]
        return float(rng.uniform(low, high))

    # -- lesions of the lungs ----------------------------------------------------------------

    def _glass(self, rng: np.random.Generator) -> tuple[Solid, ...]:
        count = {"blatant": (3, 6), "plain": (2, 4), "subtle": (1, 3)}[self.level[Finding.OPACITY]]
        solids = []
        for place in self._spots(rng, int(rng.integers(*count)), (6, 40), apart=30):
            size = self._between(rng, Finding.OPACITY, "glass_radius")
            radii = (size, size * rng.uniform(0.65, 1.1), size * rng.uniform(0.6, 1.0))
            blob = Blob(place, radii, float(rng.uniform(0, 180)), 0.3 * size, 0.55 * size,
                        int(rng.integers(2**31)))  # fmt: skip
            density = self._between(rng, Finding.OPACITY, "glass_density")
            solids.append(Solid(blob, density, edge=float(rng.uniform(5, 11))))
        return tuple(solids)

    def _dense(self, rng: np.random.Generator) -> tuple[Solid, ...]:
        count = 2 if self.level[Finding.CONSOLIDATION] != "subtle" and rng.random() < 0.4 else 1
        solids = []
        aside = self._aside(Finding.CONSOLIDATION)
        heights = (0.3, 0.8) if aside else (0.05, 0.85)
        for place in self._spots(rng, count, (7, 22), heights, 50, aside):
            size = self._between(rng, Finding.CONSOLIDATION, "dense_radius")
            radii = (size, size * rng.uniform(0.75, 1.1), size * rng.uniform(0.7, 1.0))
            blob = Blob(place, radii, float(rng.uniform(0, 180)), 0.22 * size, 0.45 * size,
                        int(rng.integers(2**31)))  # fmt: skip
            solids.append(Solid(blob, float(rng.uniform(30, 52)), 2.0, float(rng.uniform(0.98, 1))))
        return tuple(solids)

    def _plates(self, rng: np.random.Generator) -> tuple[Plate, ...]:
        plates = []
        aside = self._aside(Finding.ATELECTASIS)
        heights = (0.15, 0.5) if aside else (0.02, 0.4)
        for place in self._spots(rng, int(rng.integers(1, 4)), (4, 25), heights, 35, aside):
            tilt = rng.normal(0, 0.35, 2)
            normal = np.array([tilt[0], tilt[1], 1.0])
            normal /= np.linalg.norm(normal)
            plates.append(
                Plate(
                    place,
                    (float(normal[0]), float(normal[1]), float(normal[2])),
                    self._between(rng, Finding.ATELECTASIS, "plate_thickness"),
                    self._between(rng, Finding.ATELECTASIS, "plate_radius"),
                    float(rng.uniform(-30, 45)),
                )
            )
        return tuple(plates)

    def _nodules(self) -> tuple[Solid, ...]:
        rng = self.streams[Finding.NODULE]
        low, high = self._range(Finding.NODULE, "nodule_radius")
        if high == 0:
            return ()
        solids = []
        aside = self._aside(Finding.NODULE)
        for place in self._spots(
            rng, int(rng.integers(1, 4)), (high + 3, 60), apart=40, aside=aside
        ):
            size = float(rng.uniform(low, high))
            radii = (size, size * rng.uniform(0.88, 1.1), size * rng.uniform(0.88, 1.1))
            rough = 0.12 * size if rng.random() < 0.5 else 0.0
            blob = Blob(place, radii, 0.0, rough, 0.7 * size, int(rng.integers(2**31)))
            density = rng.uniform(250, 600) if rng.random() < 0.15 else rng.uniform(-20, 60)
            solids.append(Solid(blob, float(density), 1.2))
        return tuple(solids)

    def _scars(self, rng: np.random.Generator) -> tuple[Line, ...]:
        """Fibrous strands that converge on the pleura, with a chalky speck now and then."""
        zone = (0.72, 1.0) if rng.random() < 0.65 else (0.0, 0.22)
        lines: list[Line] = []
        for place in self._spots(rng, int(rng.integers(2, 4)), (2, 14), zone, apart=20):
            middle = np.asarray(place)
            for _ in range(int(rng.integers(8, 15))):
                way = rng.normal(0, 1, 3)
                way *= rng.uniform(9, 24) / np.linalg.norm(way)
                bend = middle + 0.5 * way + rng.normal(0, 2.5, 3)
                points = (place, _point(bend), _point(middle + way))
                size = self._between(rng, Finding.FIBROSIS, "scar_radius")
                lines.append(Line(points, size, float(rng.uniform(-60, 50))))
            if rng.random() < 0.5:
                speck = middle + rng.normal(0, 3, 3)
                lines.append(Line((_point(speck), _point(speck + 1)), 1.6, 500.0))
        return tuple(lines)

    # -- mediastinum -------------------------------------------------------------------------

    def _nodes(self) -> tuple[Solid, ...]:
        rng = self.streams[Finding.LYMPHADENOPATHY]
        a = float(self.anatomy.cage(48.0)[0]) + 17.0 + 15.0 * self.patient.muscle
        stations: list[Point] = [
            (-6.0, 40.0, 14.0), (17.0, -4.0, 48.0), (-21.0, 2.0, 14.0), (3.0, -30.0, -20.0),
            (a, 6.0, 44.0), (-a, 6.0, 44.0), (a, -6.0, 58.0), (-a, -6.0, 58.0),
        ]  # fmt: skip
        large = Finding.LYMPHADENOPATHY in self.present
        solids: list[Solid] = []
        order = [int(n) for n in rng.permutation(len(stations))]
        if large and self.level[Finding.LYMPHADENOPATHY] == "blatant":
            # The armpits first, where nothing lies around a node but fat.
            order.sort(key=lambda n: n < 4)
        for number in order[: int(rng.integers(3, 7))]:
            size = self._size(Finding.LYMPHADENOPATHY, "node_radius")
            if large and solids and rng.random() < 0.4:
                size = float(rng.uniform(2.5, 4.2))
            place = _point(np.asarray(stations[number]) + rng.normal(0, 1.2, 3))
            long = size * rng.uniform(1.1, 1.5)
            blob = Blob(place, (size, long, size * rng.uniform(1.1, 1.6)),
                        float(rng.uniform(-30, 30)))  # fmt: skip
            solids.append(Solid(blob, float(rng.uniform(34, 48)), 1.2))
        return tuple(solids)

    def _arterial(self) -> tuple[Line, ...]:
        if Finding.ARTERIAL_CALCIFICATION not in self.present:
            return ()
        finding = Finding.ARTERIAL_CALCIFICATION
        rng = self.streams[finding]
        path = np.asarray(aorta_path(self.anatomy))[3:10]
        radii = aorta_radii(self.anatomy)[3:10]
        lines = []
        many = {"blatant": (12, 24), "plain": (7, 14), "subtle": (4, 8)}[self.level[finding]]
        for _ in range(int(rng.integers(*many))):
            at = float(rng.uniform(0, len(path) - 1.01))
            first, share = int(at), at % 1.0
            middle = path[first] * (1 - share) + path[first + 1] * share
            way = path[first + 1] - path[first]
            out = np.cross(way, rng.normal(0, 1, 3))
            out *= (radii[first] * (1 - share) + radii[first + 1] * share) / np.linalg.norm(out)
            along = np.cross(way, out)
            along *= rng.uniform(2, 5.5) / np.linalg.norm(along)
            points = tuple(_point(middle + out + step * along) for step in (-0.5, 0.5))
            lines.append(self._plaque(rng, finding, points))
        return tuple(lines)

    def _plaque(
        self, rng: np.random.Generator, finding: Finding, points: tuple[Point, ...]
    ) -> Line:
        size = self._between(rng, finding, "plaque_radius")
        return Line(points, size, self._between(rng, finding, "plaque_density"))

    def _coronary(self) -> tuple[Line, ...]:
        finding = Finding.CORONARY_CALCIFICATION
        if finding not in self.present:
            return ()
        rng = self.streams[finding]
        paths = list(coronary_paths(self.anatomy).values())
        many = {"blatant": (8, 13), "plain": (5, 9), "subtle": (2, 5)}[self.level[finding]]
        lines = []
        for _ in range(int(rng.integers(*many))):
            path = np.asarray(paths[int(rng.choice(3, p=[0.6, 0.2, 0.2]))])
            first = int(rng.integers(0, len(path) - 2))
            far = rng.uniform(0.3, 0.9)
            points = (_point(path[first]), _point(path[first] * (1 - far) + path[first + 1] * far))
            lines.append(self._plaque(rng, finding, points))
        return tuple(lines)

    def _valve(self) -> tuple[Line, ...]:
        """Calcium of the aortic valve: in the heart, and in no artery's wall."""
        finding = Finding.CORONARY_CALCIFICATION
        if finding in self.present or not self.mimic[finding]:
            return ()
        rng = self.streams[finding]
        root = np.asarray(aorta_path(self.anatomy)[0])
        lines = []
        for _ in range(int(rng.integers(2, 5))):
            at = root + rng.normal(0, 4.0, 3)
            way = rng.normal(0, 2.5, 3)
            lines.append(Line((_point(at), _point(at + way)), 1.1, float(rng.uniform(500, 900))))
        return tuple(lines)

    def _devices(self) -> tuple[tuple[Line, ...], tuple[Solid, ...]]:
        finding = Finding.MEDICAL_MATERIAL
        if finding not in self.present:
            return (), ()
        rng = np.random.Generator(np.random.PCG64(self.patient.seed + 77))
        return draw_devices(rng, self.anatomy, self.level[finding])


def _point(values: np.ndarray[tuple[int], np.dtype[np.float64]]) -> Point:
    return float(values[0]), float(values[1]), float(values[2])
