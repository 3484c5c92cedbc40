"""Chests for tests of volumes."""

from __future__ import annotations

from collections.abc import Callable, Collection

import numpy as np
import pytest

pytest.importorskip("scipy")
pytest.importorskip("nibabel")

from healthgym.worlds.volumes.disease import Finding
from healthgym.worlds.volumes.drawing import draw_disease
from healthgym.worlds.volumes.patient import draw_acquisition, draw_patient
from healthgym.worlds.volumes.volume import SyntheticVolume

Maker = Callable[..., SyntheticVolume]


def make_volume(
    seed: int,
    present: Collection[Finding] = (),
    level: str = "blatant",
    mimics: float = 0.0,
    slices: int = 90,
    size: int = 192,
) -> SyntheticVolume:
    rng = np.random.default_rng(seed)
    patient = draw_patient(rng)
    scan = draw_acquisition(rng, patient, (slices, slices), (6.0, 9.0), size)
    return SyntheticVolume(patient, draw_disease(rng, patient, present, (level,), mimics), scan)


@pytest.fixture(scope="session")
def make() -> Maker:
    """Draws a chest from a seed and findings."""
    return make_volume


@pytest.fixture(scope="session")
def chest() -> SyntheticVolume:
    """A healthy chest."""
    return make_volume(5)
