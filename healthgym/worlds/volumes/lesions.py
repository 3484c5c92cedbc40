"""What is wrong with a chest, painted over its tissue."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from healthgym.worlds.volumes.anatomy import Anatomy
from healthgym.worlds.volumes.disease import Disease, Plate, Solid
from healthgym.worlds.volumes.materials import AIR, WATER
from healthgym.worlds.volumes.patient import Acquisition
from healthgym.worlds.volumes.shapes import (
    Floats,
    Lattice,
    blend,
    blobs,
    ellipsoid,
    paint_blob,
    ramp,
    smooth,
)
from healthgym.worlds.volumes.textures import BULLA, destroyed, mosaic, septa
from healthgym.worlds.volumes.tubes import Tubes, paint_tubes


class Lesions:
    """The lesions of one chest, and what medicine left in it.

    Args:
        anatomy: Where things lie.
        disease: What is wrong.
        acquisition: How it was scanned.
    """

    def __init__(self, anatomy: Anatomy, disease: Disease, acquisition: Acquisition) -> None:
        self.anatomy, self.disease, self.acquisition = anatomy, disease, acquisition
        self.patient = anatomy.patient

    # Tubes that every slice asks for are made once: looking for them costs more than painting.

    @cached_property
    def _scars(self) -> list[tuple[Tubes, float]]:
        lines = self.disease.scars
        return [(Tubes.chain(line.points, line.radius), line.density) for line in lines]

    @cached_property
    def _metal(self) -> list[tuple[Tubes, float]]:
        lines = (*self.disease.calcium, *self.disease.devices)
        return [(Tubes.chain(line.points, line.radius), line.density) for line in lines]

    # -- lungs -------------------------------------------------------------------------------

    def ventilated(self, air: Floats, part: Lattice, inside: Floats) -> Floats:
        """Return the density of a lung as it is ventilated: denser behind, or a mosaic.

        Args:
            air: Density of the healthy lung, in HU.
            part: The points.
            inside: Depth of each under the surface of the lung, in mm.
        """
        patient, disease = self.patient, self.disease
        if disease.dependent:
            rear = smooth((-inside + 16.0) / 16.0) * smooth((-part.y - 28.0) / 30.0)
            air = air + np.float32(disease.dependent) * rear
        if disease.mosaic:
            air = air + np.float32(disease.mosaic) * mosaic(patient.seed + 21, part)
        return air

    def filled(self, air: Floats, part: Lattice, inside: Floats) -> Floats:
        """Return the density of a lung with what fills, nets, destroys or folds it.

        Args:
            air: Density so far, in HU; changed.
            part: The points.
            inside: Depth of each under the surface of the lung, in mm.
        """
        patient, disease, blur = self.patient, self.disease, self.acquisition.blur
        for solid in disease.glass:
            self._haze(air, part, solid)
        if disease.septal:
            net = septa(patient.seed + 31, part, blur)
            zone = smooth((34.0 - inside) / 22.0) * (0.35 + 0.65 * smooth((10.0 - part.z) / 50.0))
            air = air + np.float32(disease.septal) * net * zone
        if disease.emphysema:
            depth = (part.z - patient.dome) / (patient.apex - patient.dome)
            share = disease.emphysema * smooth(
                0.15 + (depth - 0.72 + disease.emphysema_reach) * 1.6
            )
            lost = destroyed(patient.seed + 41, part, share, blur)
            air = air + (np.float32(BULLA) - air) * lost
        for plate in disease.plates:
            self._plate(air, part, plate)
        for solid in disease.dense:
            self._solid(air, part, solid)
        return air

    def paint_nodules(self, air: Floats, part: Lattice) -> None:
        """Paint nodules and scars, which lie over the vessels."""
        for solid in self.disease.nodules:
            self._solid(air, part, solid)
        for tubes, density in self._scars:
            paint_tubes(air, part, tubes, density, self.acquisition.blur)

    def _haze(self, air: Floats, part: Lattice, solid: Solid) -> None:
        found = solid.blob.slices(part, margin=8.0)
        if found is not None:
            cover = ramp(solid.blob.distance(part.part(found)), solid.edge)
            air[found] += np.float32(solid.density) * cover

    def _solid(self, values: Floats, part: Lattice, solid: Solid) -> None:
        found = solid.blob.slices(part, margin=4.0)
        if found is not None:
            cover = ramp(solid.blob.distance(part.part(found)), max(solid.edge, 1.0))
            blend(values[found], cover * np.float32(solid.cover), np.float32(solid.density))

    def _plate(self, air: Floats, part: Lattice, plate: Plate) -> None:
        reach = plate.radius + 4.0
        low = [c - reach for c in plate.centre]
        high = [c + reach for c in plate.centre]
        found = part.within(low, high)
        if found is None:
            return
        box = part.part(found)
        x, y, z = box.x - plate.centre[0], box.y - plate.centre[1], box.z - plate.centre[2]
        n = plate.normal
        across = x * n[0] + y * n[1] + z * n[2]
        across = across + 3.0 * blobs(self.patient.seed + 17, box, 30.0)
        far = np.sqrt(x * x + y * y + z * z)
        taper = np.clip(1.35 - far / plate.radius, 0.0, 1.0)
        cover = ramp(0.5 * plate.thickness * taper - np.abs(across), 1.3) * (taper > 0.05)
        blend(air[found], cover, np.float32(plate.density))

    # -- around the lungs --------------------------------------------------------------------

    def paint_effusion(self, values: Floats, lattice: Lattice, cavity: Floats) -> None:
        """Paint fluid between lung and chest wall.

        Args:
            values: Densities; changed.
            lattice: The points.
            cavity: Depth of each within the thoracic cavity, in mm.
        """
        if max(self.disease.pleural) <= 0:
            return
        blur = self.acquisition.blur
        above = (lattice.z - self.anatomy.diaphragm(lattice.x, lattice.y)) * np.float32(0.72)
        cover = ramp(cavity - 2.0, blur) * ramp(above - 1.0, blur)
        for side, thick in zip((1.0, -1.0), self.disease.pleural, strict=True):
            if thick > 0:
                blend(values, cover * (lattice.x * side > 8), np.float32(WATER + 2))

    def paint_mediastinal(self, values: Floats, lattice: Lattice) -> None:
        """Paint a hiatal hernia and enlarged lymph nodes."""
        if self.disease.hernia:
            self._hernia(values, lattice)
        for node in self.disease.nodes:
            self._solid(values, lattice, node)

    def _hernia(self, values: Floats, lattice: Lattice) -> None:
        anatomy, blur, r = self.anatomy, self.acquisition.blur, self.disease.hernia
        centre = anatomy.hernia_centre
        found = lattice.within([c - 1.3 * r for c in centre], [c + 1.3 * r for c in centre])
        if found is None:
            return
        part, view = lattice.part(found), values[found]
        sac = ellipsoid(part.x, part.y, part.z, centre, (1.15 * r, r, 1.1 * r))
        sac = sac + 2.0 * blobs(self.patient.seed + 51, part, 12.0)
        blend(view, ramp(sac, blur), np.float32(42.0 + 0.2 * self.acquisition.contrast))
        # The patient lies on the back: gas is in front.
        level = centre[1] + r * (1.0 - 2.0 * self.disease.hernia_gas)
        content = np.where(part.y > level, np.float32(AIR + 15), np.float32(24.0))
        blend(view, ramp(sac - 3.6, blur), content)

    def paint_things(self, values: Floats, lattice: Lattice) -> None:
        """Paint calcifications and medical material."""
        blur = self.acquisition.blur
        for tubes, density in self._metal:
            paint_tubes(values, lattice, tubes, density, blur)
        for solid in self.disease.boxes:
            paint_blob(values, lattice, solid.blob, solid.density, blur)
