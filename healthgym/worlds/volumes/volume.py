"""A synthetic volume: a scene behind the protocol that files keep, too."""

from __future__ import annotations

from dataclasses import dataclass

from healthgym.core.borders import AnyArray
from healthgym.core.cache import BuildCache
from healthgym.core.seeding import content_hash
from healthgym.worlds.volumes.disease import Disease
from healthgym.worlds.volumes.grid import Grid, Voxels
from healthgym.worlds.volumes.patient import Acquisition, Patient
from healthgym.worlds.volumes.scene import Scene


def _cost(scene: Scene) -> int:
    """Return the bytes of a scene when all of it was asked for; it draws its vessels when read."""
    return 3 << 18


#: Scenes kept for who reads on.
_SCENES: BuildCache[Scene] = BuildCache.pooled(_cost)


@dataclass(frozen=True)
class SyntheticVolume:
    """A volume that is drawn where it is read.

    Attributes:
        patient: Sizes.
        disease: What is wrong. No view and no measurement looks at it.
        acquisition: How it was scanned.
    """

    patient: Patient
    disease: Disease
    acquisition: Acquisition

    @property
    def grid(self) -> Grid:
        """Where the voxels are."""
        return self.acquisition.grid

    @property
    def about(self) -> str:
        """Nothing: a header says no more than the grid."""
        return ""

    def read(self, x: AnyArray, y: AnyArray, z: AnyArray) -> Voxels:
        """Return voxels; see :class:`healthgym.worlds.volumes.grid.VolumeSource`."""
        return self.scene().read(x, y, z)

    def scene(self) -> Scene:
        """Return the scene, built when first needed."""
        return _SCENES.get(
            self.fingerprint(), lambda: Scene(self.patient, self.disease, self.acquisition)
        )

    def fingerprint(self) -> str:
        """Return a text that is the same for volumes of the same contents."""
        return f"synthetic-{self.patient.seed}-{self.acquisition.seed}-{self.content_hash()}"

    def content_hash(self) -> str:
        """Return a hash of all that the volume is drawn from."""
        known: str | None = self.__dict__.get("_hash")
        if known is None:
            known = content_hash([repr(self.patient), repr(self.disease), repr(self.acquisition)])
            object.__setattr__(self, "_hash", known)
        return known
