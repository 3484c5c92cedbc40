"""Measurements: right on what was drawn, from voxels alone."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from healthgym.errors import ToolError
from healthgym.worlds.volumes import airways, measures, probes
from healthgym.worlds.volumes.disease import Finding
from healthgym.worlds.volumes.grid import Grid
from healthgym.worlds.volumes.survey import survey
from healthgym.worlds.volumes.volume import SyntheticVolume
from tests.sized import some
from tests.worlds.volumes.conftest import Maker


class Phantom:
    """Water with a warm ball and a cold cube, on a grid of 1 mm."""

    about = ""

    def __init__(self) -> None:
        self.grid = Grid((80, 80, 80), (1.0, 1.0, 1.0), (-40.0, -40.0, -40.0))
        axis = np.arange(-40, 40)
        x, y, z = np.meshgrid(axis, axis, axis, indexing="ij")
        self.values = np.zeros((80, 80, 80), np.int16)
        self.values[(x - 10) ** 2 + y**2 + z**2 <= 36] = 300
        self.values[(abs(x + 20) <= 4) & (abs(y) <= 4) & (abs(z) <= 4)] = -500

    def read(self, x: Any, y: Any, z: Any) -> Any:
        return self.values[np.ix_(x, y, z)]

    def fingerprint(self) -> str:
        return "phantom"


def test_landmarks_are_found(make: Maker) -> None:
    for seed in range(4):
        chest = make(seed + 40)
        at = survey(chest)
        assert at.found
        assert abs(at.middle) < 6
        assert at.spine == pytest.approx(chest.scene().anatomy.spine + 13, abs=6)
        assert at.dome == pytest.approx(chest.patient.dome, abs=9)
        assert at.high == pytest.approx(chest.patient.apex, abs=18)
        assert 2500 < measures.lung_volume(chest, at) < 9000


CASES = {
    Finding.CARDIOMEGALY: lambda s, at: measures.heart_ratio(s, at)[0],
    Finding.PERICARDIAL_EFFUSION: measures.pericardial_fluid,
    Finding.PLEURAL_EFFUSION: lambda s, at: max(measures.pleural_fluid(s, at)),
    Finding.MEDICAL_MATERIAL: measures.metal,
    Finding.HIATAL_HERNIA: measures.hiatal_gas,
    Finding.EMPHYSEMA: measures.low_attenuation,
    Finding.OPACITY: measures.ground_glass,
    Finding.CONSOLIDATION: measures.consolidation,
    Finding.LYMPHADENOPATHY: measures.largest_node,
    Finding.MOSAIC: measures.mosaic_spread,
    Finding.PERIBRONCHIAL: airways.wall_share,
    Finding.ARTERIAL_CALCIFICATION: lambda s, at: measures.calcium(s, at)[0],
    Finding.CORONARY_CALCIFICATION: lambda s, at: measures.calcium(s, at)[1],
}


#: Measured on every run; the others take as long, and are as simple.
QUICK = {Finding.CARDIOMEGALY, Finding.EMPHYSEMA, Finding.CONSOLIDATION}


@pytest.mark.parametrize(
    "finding",
    [
        pytest.param(finding, marks=[] if finding in QUICK else pytest.mark.slow, id=str(finding))
        for finding in CASES
    ],
)
def test_a_blatant_finding_moves_its_number(make: Maker, finding: Finding) -> None:
    """The same patients with and without: the number is larger with, in nearly all."""
    measure = CASES[finding]
    larger = 0
    for seed in (61, 62, 63)[: some(3, 2)]:
        without, with_ = (
            make(seed, size=320, slices=140),
            make(seed, [finding], size=320, slices=140),
        )
        larger += measure(with_, survey(with_)) > measure(without, survey(without))
    assert larger >= 2


def test_the_heart_ratio_is_near_the_truth(make: Maker) -> None:
    errors = []
    for seed in range(5):
        chest = make(seed + 80, [Finding.CARDIOMEGALY] if seed % 2 else [])
        ratio, _ = measures.heart_ratio(chest, survey(chest))
        errors.append(ratio - chest.disease.heart_ratio)
    assert np.abs(np.mean(errors)) < 0.05
    assert np.std(errors) < 0.06


def test_no_lungs_are_found_in_water() -> None:
    assert not survey(Phantom()).found  # type: ignore[arg-type]


def test_regions_are_measured() -> None:
    source: Any = Phantom()
    text = probes.region(source, (10.0, 0.0, 0.0), 8.0, "sphere")
    assert text.startswith("mean 300, sd 0, min 300, max 300")
    assert "130: 100%" in text
    box = probes.region(source, (-20.0, 0.0, 0.0), 40.0, "box")
    assert "min -500, max 0" in box
    one = probes.region(source, (0.0, 0.0, 0.0), 1.0, "sphere")
    assert "(1 voxels)" in one


def test_components_are_counted_and_sized() -> None:
    source: Any = Phantom()
    warm = probes.components(source, (-30, -30, -30), (30, 30, 30), 150, "above", 20)
    volume = int((source.values == 300).sum())
    assert warm.splitlines()[0] == "1 pieces above 150 HU of at least 20 mm3"
    assert warm.splitlines()[1] == f"{volume} mm3, 13 x 13 x 13 mm at x=10 y=0 z=0, mean 300 HU"
    cold = probes.components(source, (-30, -30, -30), (30, 30, 30), -100, "below", 20)
    assert "729 mm3, 9 x 9 x 9 mm at x=-20 y=0 z=0, mean -500 HU" in cold
    none = probes.components(source, (-30, -30, -30), (30, 30, 30), 500, "above", 20)
    assert none == "0 pieces above 500 HU of at least 20 mm3"


def test_lines_have_lengths_and_densities() -> None:
    source: Any = Phantom()
    text = probes.line(source, (-20.0, 0.0, 0.0), (10.0, 0.0, 0.0))
    assert text.startswith("30.0 mm; HU at every tenth of it: -500")
    assert text.endswith("300")


def test_what_lies_outside_is_refused() -> None:
    source: Any = Phantom()
    with pytest.raises(ToolError, match="z lies between"):
        probes.region(source, (0.0, 0.0, 99.0), 5.0, "box")
    with pytest.raises(ToolError, match="by at most 160 mm"):
        probes.components(source, (0, 0, 0), (0, 10, 10), 0, "above", 1)


def test_a_grid_knows_its_places(chest: SyntheticVolume) -> None:
    grid = chest.grid
    for axis in range(3):
        low, high = grid.limits(axis)
        assert grid.index(axis, low - 50) == 0
        assert grid.index(axis, high + 50) == grid.shape[axis] - 1
        assert grid.index(axis, grid.position(axis, 17)) == 17
        assert len(grid.indices(axis, low, high)) == grid.shape[axis]
        steps = np.diff(grid.indices(axis, low, high, 10.0)) * grid.spacing[axis]
        assert (np.abs(steps - 10) < grid.spacing[axis]).all()
