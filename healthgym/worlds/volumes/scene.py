"""A chest as a function of place: Hounsfield units at any point, drawn when asked for."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from healthgym.core.borders import AnyArray
from healthgym.worlds.volumes.anatomy import HEART_TURN, Anatomy
from healthgym.worlds.volumes.disease import Disease
from healthgym.worlds.volumes.grid import Voxels
from healthgym.worlds.volumes.lesions import Lesions
from healthgym.worlds.volumes.materials import AIR, BLOOD, FAT, MUSCLE, WATER
from healthgym.worlds.volumes.patient import Acquisition, Patient
from healthgym.worlds.volumes.shapes import (
    Floats,
    Lattice,
    blend,
    blobs,
    box_of,
    ellipsoid,
    ramp,
    smooth,
)
from healthgym.worlds.volumes.skeleton import Skeleton
from healthgym.worlds.volumes.textures import scan_noise
from healthgym.worlds.volumes.tubes import Tubes, paint_tubes
from healthgym.worlds.volumes.vessels import Vasculature

#: Points worked on at one time.
_BLOCK = 1_200_000


class Scene:
    """One chest.

    Args:
        patient: Sizes.
        disease: What is wrong.
        acquisition: How it was scanned.
    """

    def __init__(self, patient: Patient, disease: Disease, acquisition: Acquisition) -> None:
        self.patient, self.disease, self.acquisition = patient, disease, acquisition
        self.anatomy = Anatomy(patient, disease.heart_ratio, disease.pericardial, disease.hernia)

    @cached_property
    def vessels(self) -> Vasculature:
        """Vessels and airways."""
        return Vasculature(self.anatomy, self.disease.wall, self.disease.dilated, self.disease.lobe)

    @cached_property
    def bones(self) -> Skeleton:
        """The skeleton."""
        return Skeleton(self.anatomy)

    @cached_property
    def lesions(self) -> Lesions:
        """What is wrong, to be painted over the tissue."""
        return Lesions(self.anatomy, self.disease, self.acquisition)

    # Tubes that every slice asks for are made once: looking for them costs more than painting.

    @cached_property
    def _crura(self) -> list[Tubes]:
        spine, dome = self.anatomy.spine, self.patient.dome
        return [
            Tubes.chain([(s * 11, spine + 17, dome - 8), (s * 13, spine + 13, dome - 95)], [3, 6.5])
            for s in (-1.0, 1.0)
        ]

    @cached_property
    def _gas(self) -> Tubes:
        path = self.vessels.oesophagus
        return Tubes(path.start[1:4], path.end[1:4], path.radii[1:4])

    def read(self, x: AnyArray, y: AnyArray, z: AnyArray) -> Voxels:
        """Return voxels; see :class:`healthgym.worlds.volumes.grid.VolumeSource`."""
        step = max(_BLOCK // max(len(x) * len(y), 1), 1)
        out = np.empty((len(x), len(y), len(z)), np.int16)
        for first in range(0, len(z), step):
            part = z[first : first + step]
            out[:, :, first : first + step] = self._block(x, y, part)
        return out

    def _block(self, x: AnyArray, y: AnyArray, z: AnyArray) -> Voxels:
        grid = self.acquisition.grid
        places = (grid.positions(0, x), grid.positions(1, y), grid.positions(2, z))
        lattice = Lattice(places)
        values = self.densities(lattice)
        values += scan_noise(self.acquisition, x, y, z)
        np.clip(values, -1024, 3071, out=values)
        return np.rint(values, out=values).astype(np.int16)

    # -- tissue ------------------------------------------------------------------------------

    def densities(self, lattice: Lattice) -> Floats:
        """Return the densities at a lattice without noise, in HU, float32."""
        values = self._outside(lattice)
        patient = self.patient
        low = (-patient.width - 26, -patient.depth - 24, -1e4)
        high = (patient.width + 26, patient.depth + 24, 1e4)
        found = lattice.within(low, high)
        if found is not None:
            self._chest(values[found], lattice.part(found))
        self.bones.paint(values, lattice, self.acquisition.blur)
        self.lesions.paint_things(values, lattice)
        return values

    def _outside(self, lattice: Lattice) -> Floats:
        """Air, table, skin and the fat under it."""
        blur = self.acquisition.blur
        values = np.full(lattice.shape, AIR, np.float32)
        back = -(self.patient.depth + 17.0 + self.patient.fat * 0.75) - 4.0
        curve = back + (lattice.x / 30.0) ** 2 * 0.55 - 5.0
        for below, density in ((0.0, -60.0), (26.0, 40.0)):
            middle = curve - below * (1 - (lattice.x / 260.0) ** 2)
            room = 2.0 + blur
            found = lattice.within(
                (-215.0, float(middle.min()) - room, -1e4), (215.0, float(middle.max()) + room, 1e4)
            )
            if found is not None:
                part = lattice.part(found)
                line = 1.6 - np.abs(part.y - middle[found[0]])
                blend(values[found], ramp(line, blur) * (np.abs(part.x) < 215), density)
        body = self.anatomy.body(lattice.x, lattice.y, lattice.z)
        found = box_of(body > -blur)
        if found is None:
            return values
        view, inside = values[found], body[found]
        blend(view, ramp(inside, blur), np.float32(-5.0))
        # Septa of the fat, seen as faint lines.
        lines = np.abs(blobs(self.patient.seed + 3, lattice.part(found), (34.0, 20.0, 50.0)))
        streaks = np.float32(28) * ramp(0.03 - lines, 0.06)
        streaks += np.float32(FAT)
        blend(view, ramp(inside - 2.2, blur), streaks)
        return values

    def _chest(self, values: Floats, lattice: Lattice) -> None:
        """Everything within the muscles of the chest wall, in place."""
        anatomy, patient, blur = self.anatomy, self.patient, self.acquisition.blur
        x, y, z = lattice.x, lattice.y, lattice.z
        cavity = anatomy.cavity(x, y, z)
        self._wall(values, lattice, cavity)
        grain = np.float32(0.65) * blobs(patient.seed + 5, lattice, 9.0)
        grain += np.float32(0.35) * blobs(patient.seed + 6, lattice, 4.0)
        blend(values, ramp(cavity, blur), np.float32(FAT + 6) + np.float32(14) * grain)
        self._abdomen(values, lattice, cavity, grain)
        self.lesions.paint_effusion(values, lattice, cavity)
        self._mediastinum(values, lattice)
        inside = anatomy.beside_heart(x, y, z, cavity, self.disease.pleural)
        found = lattice.within((-112.0, -1e3, -1e4), (112.0, 1e3, 1e4))
        if found is not None:
            part = lattice.part(found)
            column = anatomy.column(part.x, part.y, part.z)
            np.minimum(inside[found], -column, out=inside[found])
        self._lungs(values, lattice, inside, grain)
        self._heart(values, lattice)
        self._great_vessels(values, lattice)

    def _wall(self, values: Floats, lattice: Lattice, cavity: Floats) -> None:
        anatomy, patient, blur = self.anatomy, self.patient, self.acquisition.blur
        x, y, z = lattice.x, lattice.y, lattice.z
        upper = smooth((z + 45.0) / 95.0)
        side = np.clip(np.abs(x) / patient.width, 0, 1)
        front = ellipsoid(
            x, y, z, (0.0, patient.depth, 38.0), (0.95 * patient.width, 52.0, 78.0), power=4.0
        )
        back = smooth((-y - 10.0) / 60.0)
        thick = patient.muscle * (11.0 + 22.0 * upper * back * smooth(side * 2.4 - 0.5))
        thick = thick + patient.muscle * 19.0 * smooth(front / 16.0) * smooth(side * 3.4 - 0.4)
        streaks = blobs(patient.seed + 9, lattice, (17.0, 17.0, 40.0))
        muscle = np.float32(MUSCLE) + np.float32(8) * streaks
        # Shoulders and neck: muscle nearly to the skin, laced with fat.
        high = smooth((z - patient.apex + 42.0) / 40.0)
        thick = thick + high * (34.0 + 22.0 * streaks) * smooth(1.6 - side)
        # Planes of fat between the layers.
        plane = np.abs(cavity + 11.5 + 5.0 * streaks)
        muscle = muscle - np.float32(115) * ramp(0.9 - plane * 0.8, 2.0) * (thick > 13.0)
        cover = ramp(cavity + thick, blur * 1.5)
        blend(values, cover, muscle)
        found = lattice.within((-60.0, -1e3, -1e4), (60.0, anatomy.spine + 6, 1e4))
        if found is None:
            return
        part = lattice.part(found)
        for flank in (-1.0, 1.0):
            centre = (flank * 27.0, anatomy.spine - 24.0, 0.0)
            size = 15.0 * patient.muscle
            strand = ellipsoid(part.x, part.y, 0.0, centre, (size + 6, size, 1e3), power=2.6)
            blend(values[found], ramp(strand, blur * 1.5), muscle[found] + 4.0)

    def _abdomen(self, values: Floats, lattice: Lattice, cavity: Floats, grain: Floats) -> None:
        anatomy, patient, blur = self.anatomy, self.patient, self.acquisition.blur
        dome = patient.dome
        found = lattice.within((-400, -400, -1e4), (400, 400, dome + 4))
        if found is None:
            return
        part, view, deep, rough = lattice.part(found), values[found], cavity[found], grain[found]
        x, y, z = part.x, part.y, part.z
        under = (anatomy.diaphragm(x, y) - z) * np.float32(0.72)
        inner = np.minimum(under, deep)
        blend(view, ramp(inner, blur) * ramp(3.0 - inner, blur), MUSCLE)
        boost = 0.32 * self.acquisition.contrast
        lobe = np.minimum(inner - 2.6, (x + 28.0 + 0.62 * (y - 10.0)) * 0.8)
        lobe = np.minimum(lobe, -ellipsoid(x, y, 0.0, (0.0, anatomy.spine + 8, 0.0), (52, 42, 1e3)))
        blend(view, ramp(lobe, blur * 1.4), np.float32(56.0 + boost) + np.float32(7) * rough)
        spleen = ellipsoid(
            x, y, z, (-0.62 * patient.width, -0.42 * patient.depth, dome - 62.0),
            (34.0, 52.0, 52.0), 62.0,
        )  # fmt: skip
        spleen = np.minimum(spleen, inner - 3.0)
        blend(view, ramp(spleen, blur), np.float32(48.0 + boost) + np.float32(5) * rough)
        stomach = ellipsoid(
            x, y, z, (-0.42 * patient.width, 0.18 * patient.depth, dome - 48.0), (42.0, 46.0, 38.0)
        )
        stomach = np.minimum(stomach, inner - 3.5)
        blend(view, ramp(stomach, blur), np.float32(44.0 + 0.5 * boost))
        content = np.where(y > 0.3 * patient.depth, np.float32(AIR), np.float32(28.0) + 26 * rough)
        blend(view, ramp(stomach - 4.0, blur), content)

    def _mediastinum(self, values: Floats, lattice: Lattice) -> None:
        """What lies deep in the fat: thymus bed, soft tissue behind the heart."""
        blur = self.acquisition.blur
        boost = 0.15 * self.acquisition.contrast
        paint_tubes(values, lattice, self.vessels.oesophagus, 38.0 + boost, blur)
        for crus in self._crura:
            paint_tubes(values, lattice, crus, 50.0, blur)

    # -- lungs -------------------------------------------------------------------------------

    def _lungs(self, values: Floats, lattice: Lattice, inside: Floats, grain: Floats) -> None:
        if float(inside.max()) < -3.0:
            return
        patient, blur = self.patient, self.acquisition.blur
        low = patient.dome - 70.0, patient.apex + 2.0
        found = lattice.within((-1e3, -1e3, low[0]), (1e3, 1e3, low[1]))
        if found is None:
            return
        part, view, inside = lattice.part(found), values[found], inside[found]
        air = np.float32(patient.lung) - np.float32(patient.gradient) * (part.y + 10.0)
        air = air + np.float32(16) * grain[found]
        air = self.lesions.ventilated(air, part, inside)
        self._fissures(air, part)
        air = self.lesions.filled(air, part, inside)
        cover = ramp(inside, blur)
        self._branches(air, part, inside)
        blend(view, cover, air)

    def _branches(self, air: Floats, part: Lattice, inside: Floats) -> None:
        """Vessels, airways, nodules and scars, over the lung's own density."""
        blur, vessels = self.acquisition.blur, self.vessels
        blood = BLOOD + 0.8 * self.acquisition.contrast
        paint_tubes(air, part, vessels.lung_vessels, blood, blur)
        walls, lumens = vessels.airways
        paint_tubes(air, part, walls, 15.0, blur)
        paint_tubes(air, part, lumens, AIR + 12, blur)
        self.lesions.paint_nodules(air, part)

    def _fissures(self, air: Floats, part: Lattice) -> None:
        """The oblique fissures and the horizontal one: hairlines."""
        patient, blur = self.patient, self.acquisition.blur
        x, y, z = part.x, part.y, part.z
        wave = 4.0 * blobs(patient.seed + 13, part, (60.0, 60.0, 1e4))
        height = z + 18.0 - wave + 0.95 * (y + 12.0) - 0.0006 * (np.abs(x) - 60) ** 2 * 4
        line = ramp(0.45 - np.abs(height) * 0.7, blur)
        right = (x > 0) & (height > 0)
        level = z + 18.0 - wave - 0.06 * y
        line = np.maximum(line, ramp(0.4 - np.abs(level), blur) * right)
        air += np.float32(170) * line

    # -- heart and vessels -------------------------------------------------------------------

    def _heart(self, values: Floats, lattice: Lattice) -> None:
        heart, blur = self.anatomy.heart, self.acquisition.blur
        contrast, fluid = self.acquisition.contrast, self.disease.pericardial
        reach = max(heart.radii) + fluid + 6
        found = lattice.within([c - reach for c in heart.centre], [c + reach for c in heart.centre])
        if found is None:
            return
        part, view = lattice.part(found), values[found]
        x, y, z = part.x, part.y, part.z
        # The heart lies on the diaphragm, which flattens it.
        floor = (z - (self.patient.dome - 16.0)) * 0.9
        outer = ellipsoid(x, y, z, heart.centre, heart.radii, HEART_TURN)
        outer = outer * np.float32(1.15)
        sac = np.minimum(outer + fluid, floor + fluid)
        room = self.anatomy.cavity(x, y, z) - 4.0
        sac = np.minimum(sac, room)
        blend(view, ramp(sac, blur), np.float32(WATER))
        blend(view, ramp(sac, blur) * ramp(1.4 - sac, blur), np.float32(30.0))
        inner = np.minimum(np.minimum(outer, floor), room - 0.6 * fluid)
        muscle = 48.0 + 0.28 * contrast
        blend(view, ramp(inner, blur), np.float32(muscle))
        self._chambers(view, part, inner)
        for name, path in self.vessels.coronaries.items():
            wide = 2.4 if name == "LAD" else 3.4
            paint_tubes(view, part, path.grown(1.0, wide), -70.0, blur * 2)
            paint_tubes(view, part, path, BLOOD + 0.9 * contrast, blur)

    def _chambers(self, view: Floats, part: Lattice, inner: Floats) -> None:
        """Blood in the four chambers; without contrast it hardly shows."""
        heart, contrast = self.anatomy.heart, self.acquisition.contrast
        blur = self.acquisition.blur
        a, b, c = heart.radii
        turn = np.radians(HEART_TURN)
        cos_, sin_ = float(np.cos(turn)), float(np.sin(turn))
        for along, across, up, size, gain in (
            (-0.36, -0.16, -0.05, (0.44, 0.40, 0.62), 1.0),
            (-0.22, 0.56, -0.08, (0.56, 0.30, 0.62), 0.85),
            (0.55, 0.18, 0.0, (0.34, 0.50, 0.66), 0.8),
            (0.34, -0.52, 0.30, (0.44, 0.34, 0.46), 1.0),
        ):
            u, v = along * a, across * b
            centre = (
                heart.centre[0] + cos_ * u - sin_ * v,
                heart.centre[1] + sin_ * u + cos_ * v,
                heart.centre[2] + up * c,
            )
            radii = (size[0] * a, size[1] * b, size[2] * c)
            room = ellipsoid(part.x, part.y, part.z, centre, radii, HEART_TURN)
            cover = ramp(np.minimum(room, inner - 2.5), blur * 1.8)
            blend(view, cover, np.float32(BLOOD + gain * contrast))

    def _great_vessels(self, values: Floats, lattice: Lattice) -> None:
        vessels, blur, contrast = self.vessels, self.acquisition.blur, self.acquisition.contrast
        paint_tubes(values, lattice, vessels.pulmonary, BLOOD + 0.8 * contrast, blur)
        paint_tubes(values, lattice, vessels.other_vessels, BLOOD + 0.7 * contrast, blur)
        paint_tubes(values, lattice, vessels.aorta.grown(1.0, 1.2), 46.0 + 0.2 * contrast, blur)
        paint_tubes(values, lattice, vessels.aorta, BLOOD + contrast, blur)
        walls, lumens = vessels.trachea
        paint_tubes(values, lattice, walls, 40.0, blur)
        paint_tubes(values, lattice, lumens, AIR + 6, blur)
        gas = self.disease.oesophageal_gas
        if gas:
            paint_tubes(values, lattice, self._gas.grown(0.0, gas + 2.2), 40.0, blur)
            paint_tubes(values, lattice, self._gas.grown(0.0, gas), -850.0, blur)
        self.lesions.paint_mediastinal(values, lattice)
