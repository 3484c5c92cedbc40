"""Who lies in the scanner, and how the scan was made: what a seed draws, before any disease."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from healthgym.worlds.volumes.grid import Grid


@dataclass(frozen=True, slots=True)
class Patient:
    """The size and shape of a chest. Zero is at the carina, in the middle of the body.

    Attributes:
        width: Half the inner width of the thorax at its widest, in mm.
        depth: Half its inner depth, in mm.
        apex: Height of the lung apices, in mm.
        dome: Height of the right diaphragm, in mm; negative.
        fat: Thickness of the fat under the skin, in mm.
        muscle: Thickness of the chest wall's muscle, relative to an ordinary one.
        breasts: Size of the breasts, in mm; 0 for none.
        vertebra: Distance of vertebrae, in mm.
        rib_drop: How far a rib sinks on its way to the front, in mm.
        lung: Mean density of aerated lung, in HU.
        gradient: How much denser the lung gets towards the table, in HU per mm.
        aorta: Radius of the ascending aorta, in mm.
        seed: Of everything that has no name: vessel trees, textures.
    """

    width: float
    depth: float
    apex: float
    dome: float
    fat: float
    muscle: float
    breasts: float
    vertebra: float
    rib_drop: float
    lung: float
    gradient: float
    aorta: float
    seed: int


@dataclass(frozen=True, slots=True)
class Acquisition:
    """How the scan was made.

    Attributes:
        grid: Where the voxels are.
        contrast: Density added to blood by contrast medium, in HU; 0 without.
        noise: Standard deviation of the noise in soft tissue, in HU.
        sharp: Share of fine grain in the noise, 0 (soft kernel) to 1 (lung kernel).
        blur: Width of an edge, in mm.
        seed: Of the noise.
    """

    grid: Grid
    contrast: float
    noise: float
    sharp: float
    blur: float
    seed: int


def draw_patient(rng: np.random.Generator) -> Patient:
    """Return a patient."""
    female = rng.random() < 0.5
    size = rng.normal(0.94 if female else 1.03, 0.04)
    return Patient(
        width=float(np.clip(138 * size * rng.normal(1, 0.03), 112, 158)),
        depth=float(np.clip(92 * size * rng.normal(1, 0.05), 76, 112)),
        apex=float(np.clip(100 * size + rng.normal(0, 6), 82, 122)),
        dome=float(np.clip(-98 * size + rng.normal(0, 8), -122, -78)),
        fat=float(np.clip(rng.gamma(4.0, 4.5), 6, 42)),
        muscle=float(rng.uniform(0.75, 1.05) if female else rng.uniform(0.95, 1.4)),
        breasts=float(rng.uniform(35, 62)) if female else 0.0,
        vertebra=float(23 * size + rng.normal(0, 0.8)),
        rib_drop=float(rng.uniform(48, 78)),
        lung=float(rng.uniform(-872, -845)),
        gradient=float(rng.uniform(0.12, 0.28)),
        aorta=float(rng.uniform(14.0, 17.5)),
        seed=int(rng.integers(2**31)),
    )


def draw_acquisition(
    rng: np.random.Generator,
    patient: Patient,
    slices: tuple[int, int],
    noise: tuple[float, float],
    size: int = 512,
) -> Acquisition:
    """Return how a patient was scanned. Nothing of it depends on disease.

    Args:
        rng: Source of randomness.
        patient: Who is scanned.
        slices: Fewest and most slices.
        noise: Least and greatest noise of a soft kernel, in HU.
        size: Rows and columns of a slice.
    """
    body = 2 * (patient.width + 22 + patient.fat)
    field = float(np.clip(body * rng.uniform(1.0, 1.12), 320, 480))
    low, high = patient.dome - rng.uniform(72, 92), patient.apex + rng.uniform(12, 26)
    count = int(rng.integers(slices[0], slices[1] + 1))
    spacing = field / size
    sharp = float(rng.choice([0.1, 0.45, 0.9], p=[0.4, 0.35, 0.25]))
    grid = Grid(
        (size, size, count),
        (round(spacing, 4), round(spacing, 4), round((high - low) / count, 3)),
        (round(-field / 2, 2), round(-field / 2 + rng.uniform(-10, 2), 2), round(low, 2)),
    )
    return Acquisition(
        grid=grid,
        contrast=float(rng.uniform(110, 260)) if rng.random() < 0.5 else 0.0,
        noise=float(rng.uniform(*noise)) * (1 + 1.3 * sharp),
        sharp=sharp,
        blur=float(1.35 - 0.45 * sharp),
        seed=int(rng.integers(2**31)),
    )
