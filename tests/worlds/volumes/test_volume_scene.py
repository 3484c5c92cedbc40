"""Scenes: one value for each voxel, plausible densities, lesions where they were drawn."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

from healthgym.worlds.volumes.anatomy import Anatomy
from healthgym.worlds.volumes.disease import Finding
from healthgym.worlds.volumes.patient import draw_patient
from healthgym.worlds.volumes.shapes import Blob, Lattice, ellipsoid
from healthgym.worlds.volumes.tubes import Tubes
from healthgym.worlds.volumes.volume import SyntheticVolume
from tests.worlds.volumes.conftest import Maker


def span(source: Any) -> list[np.ndarray[Any, Any]]:
    return [np.arange(size) for size in source.grid.shape]


def around(source: SyntheticVolume, place: tuple[float, float, float], wide: float = 3.0) -> Any:
    lists = [source.grid.indices(n, value - wide, value + wide) for n, value in enumerate(place)]
    return source.read(*lists)


def test_a_voxel_has_one_value_whoever_asks(chest: SyntheticVolume) -> None:
    x, y, z = span(chest)
    k, j, i = 40, 90, 60
    axial = chest.read(x, y, np.array([k]))[:, :, 0]
    coronal = chest.read(x, np.array([j]), z)[:, 0]
    sagittal = chest.read(np.array([i]), y, z)[0]
    # Edges may round the other way: sums in another order.
    assert np.abs(axial[:, j].astype(int) - coronal[:, k]).max() <= 1
    assert np.abs(axial[i].astype(int) - sagittal[:, k]).max() <= 1
    part = chest.read(x[20:150:3], y[10:170:4], z[k - 2 : k + 3])
    assert np.abs(axial[20:150:3, 10:170:4].astype(int) - part[:, :, 2]).max() <= 1
    twin: SyntheticVolume = pickle.loads(pickle.dumps(chest))
    assert (twin.read(x, y, np.array([k]))[:, :, 0] == axial).all()
    assert twin.fingerprint() == chest.fingerprint()


def test_densities_are_those_of_tissues(chest: SyntheticVolume) -> None:
    heart, patient = chest.scene().anatomy.heart, chest.patient
    boost = chest.acquisition.contrast
    assert 25 < around(chest, heart.centre).mean() < 70 + boost
    assert -1010 < around(chest, (0.0, -17.0, 30.0)).mean() < -950  # trachea
    assert 60 < around(chest, (0.0, chest.scene().anatomy.spine, 0.0), 8).mean() < 420
    liver = (0.45 * patient.width, 0.0, patient.dome - 40)
    assert 40 < around(chest, liver, 6).mean() < 80 + boost
    lung = around(chest, (0.55 * patient.width, 10.0, 10.0), 14)
    assert -920 < np.median(lung) < -780
    corner = chest.read(np.arange(4), np.arange(4) + 150, np.arange(4) + 80)
    assert corner.mean() < -950


def test_noise_is_as_strong_as_drawn(make: Maker) -> None:
    sharp = []
    for seed in range(12):
        chest = make(seed)
        scan = chest.acquisition
        place = (0.45 * chest.patient.width, 0.0, chest.patient.dome - 42)
        found = around(chest, place, 9).astype(float)
        assert 0.5 * scan.noise < found.std() < 1.8 * scan.noise + 4
        # A sharp kernel leaves neighbours unrelated, a soft one does not.
        rows = np.diff(found, axis=0).std() / found.std()
        sharp.append((scan.sharp, rows))
    by_kernel = {kernel: np.mean([r for s, r in sharp if s == kernel]) for kernel, _ in sharp}
    assert sorted(by_kernel, key=lambda k: by_kernel[k]) == sorted(by_kernel)


def test_the_same_seed_draws_the_same_chest(make: Maker) -> None:
    one, two = make(3, [Finding.NODULE]), make(3, [Finding.NODULE])
    assert one == two
    assert one.content_hash() == two.content_hash() != make(4, [Finding.NODULE]).content_hash()


def test_one_finding_changes_nothing_of_the_others(make: Maker) -> None:
    alone = make(8, [Finding.OPACITY]).disease
    both = make(8, [Finding.OPACITY, Finding.CORONARY_CALCIFICATION]).disease
    assert alone.glass == both.glass
    assert len(both.calcium) > len(alone.calcium)


@pytest.mark.parametrize(
    ("finding", "bounds"),
    [
        (Finding.NODULE, (-80, 700)),
        (Finding.CONSOLIDATION, (-40, 120)),
        (Finding.OPACITY, (-740, -300)),
    ],
)
def test_lesions_lie_where_they_were_drawn(
    make: Maker, finding: Finding, bounds: tuple[float, float]
) -> None:
    for seed in range(4):
        chest = make(seed + 20, [finding])
        disease = chest.disease
        solids = {
            Finding.NODULE: disease.nodules,
            Finding.CONSOLIDATION: disease.dense,
            Finding.OPACITY: disease.glass,
        }[finding]
        assert solids
        assert bounds[0] < np.median(around(chest, solids[0].blob.centre, 2.5)) < bounds[1]


def test_spread_findings_change_the_lungs(make: Maker) -> None:
    def lung(finding: Finding | None) -> Any:
        chest = make(31, [finding] if finding else [])
        return around(chest, (0.5 * chest.patient.width, -10.0, 50.0), 26)

    healthy = lung(None)
    assert (lung(Finding.EMPHYSEMA) < -955).mean() > (healthy < -955).mean() + 0.04
    assert lung(Finding.MOSAIC).std() > healthy.std()
    lines = lung(Finding.SEPTAL)
    assert ((lines > -700) & (lines < -100)).mean() > 0.02 + (
        (healthy > -700) & (healthy < -100)
    ).mean()


def test_fluid_lies_where_it_should(make: Maker) -> None:
    chest = make(7, [Finding.PLEURAL_EFFUSION, Finding.PERICARDIAL_EFFUSION])
    anatomy, disease = chest.scene().anatomy, chest.disease
    side = 1.0 if disease.pleural[0] else -1.0
    z = chest.patient.dome + 12
    _, b, centre = anatomy.cage(z)
    place = (side * 0.5 * chest.patient.width, float(centre - 0.8 * b) + 4, z)
    assert -10 < around(chest, place).mean() < 30


def test_lungs_make_room_for_the_heart() -> None:
    patient = draw_patient(np.random.default_rng(1))
    small, large = Anatomy(patient, 0.4), Anatomy(patient, 0.6)
    points = np.random.default_rng(0).uniform(
        (-patient.width, -patient.depth, patient.dome),
        (patient.width, patient.depth, 100),
        (4000, 3),
    )
    x, y, z = points.T
    inside = [(anatomy.lung(x, y, z) > 0).mean() for anatomy in (small, large)]
    assert inside[1] < inside[0]
    for anatomy, ratio in ((small, 0.4), (large, 0.6)):
        assert anatomy.heart.half_width() == pytest.approx(ratio * patient.width, rel=0.01)
        assert float(anatomy.lung(*anatomy.heart.centre)) < 0


def test_tubes_cover_what_lies_in_them() -> None:
    axis = np.arange(-20, 20, 0.5, dtype=np.float32)
    lattice = Lattice((axis, axis, axis[::8]))
    tube = Tubes.chain([(-30.0, 0.0, 0.0), (5.0, 0.0, 0.0)], [3.0, 3.0])
    found = tube.cover(lattice, 0.5)
    assert found is not None
    slices, cover = found
    full = np.zeros(lattice.shape, np.float32)
    full[slices] = cover
    x, y, z = lattice.x, lattice.y, lattice.z
    far = np.sqrt(np.maximum(x - 5, 0) ** 2 + y**2 + z**2)
    assert (full[far < 2.7] == 1).all()
    assert (full[far > 3.3] == 0).all()
    assert tube.moved((0.0, 500.0, 0.0)).cover(lattice, 0.5) is None
    assert Tubes.joined([]).cover(lattice, 0.5) is None


@pytest.mark.parametrize("thin", [0, 1, 2])
def test_slices_of_tubes_are_as_of_single_points(thin: int) -> None:
    """Lines of a slice are cut short where a tube cannot reach them: nothing may be lost."""
    rng = np.random.default_rng(thin)
    start = rng.uniform(-25, 25, (60, 3)).astype(np.float32)
    way = rng.normal(0, 14, (60, 3)).astype(np.float32)
    way[::5, thin] = 0
    way[::7] *= np.eye(3, dtype=np.float32)[(thin + 1) % 3]
    tubes = Tubes(start, start + way, rng.uniform(0.3, 5, (60, 2)).astype(np.float32))
    axes = [np.arange(-30, 30, 1.5, dtype=np.float32)] * 3
    axes[thin] = np.array([1.25], np.float32)
    lattice = Lattice((axes[0], axes[1], axes[2]))
    full = np.zeros(lattice.shape, np.float32)
    found = tubes.cover(lattice, 1.1)
    assert found is not None
    full[found[0]] = found[1]
    points = np.stack(np.broadcast_arrays(lattice.x, lattice.y, lattice.z), axis=-1)[..., None, :]
    share = ((points - start) * way).sum(-1) / np.maximum((way * way).sum(-1), 1e-6)
    share = np.clip(share, 0, 1)
    far = np.linalg.norm(points - start - share[..., None] * way, axis=-1)
    radius = tubes.radii[:, 0] + (tubes.radii[:, 1] - tubes.radii[:, 0]) * share
    wanted = np.clip((radius - far) / 1.1 + 0.5, 0, 1) * np.minimum(radius * 2 / 1.1, 1)
    assert np.abs(full - wanted.max(axis=-1)).max() < 1e-4
    assert 0.05 < (full > 0).mean() < 0.95


def test_distances_are_zero_on_surfaces() -> None:
    for power in (2.0, 4.0, 5.0):
        edge = ellipsoid(np.float32(12), 0.0, 0.0, (2.0, 0.0, 0.0), (10.0, 6.0, 4.0), power=power)
        assert abs(float(edge)) < 1e-4
        assert float(ellipsoid(2.0, 0.0, 0.0, (2.0, 0.0, 0.0), (10.0, 6.0, 4.0), power=power)) > 0
    turned = ellipsoid(0.0, 10.0, 0.0, (0.0, 0.0, 0.0), (10.0, 2.0, 2.0), turn=90.0)
    assert abs(float(turned)) < 1e-3
    lattice = Lattice((np.arange(3, dtype=np.float32),) * 3)
    assert Blob((50.0, 0.0, 0.0), (2.0, 2.0, 2.0)).slices(lattice) is None
