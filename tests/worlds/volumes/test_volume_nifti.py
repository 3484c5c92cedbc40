"""Volumes on disk: what was drawn is what is read, however the file is turned."""

from __future__ import annotations

import pickle
import tracemalloc
from pathlib import Path
from typing import Any

import nibabel as nib
import numpy as np
import pytest

from healthgym.errors import ConfigurationError, DamagedDataError, MissingDataError
from healthgym.worlds.volumes import measures, views
from healthgym.worlds.volumes.nifti import NiftiVolume, write_nifti
from healthgym.worlds.volumes.survey import survey
from healthgym.worlds.volumes.volume import SyntheticVolume


@pytest.fixture(scope="module")
def files(chest: SyntheticVolume, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The same chest as it may lie on disk."""
    folder = tmp_path_factory.mktemp("volumes")
    plain = write_nifti(chest, folder / "ras.nii")
    image = nib.load(plain)
    files = {"ras": plain, "gz": write_nifti(chest, folder / "ras.nii.gz")}
    for code in ("LPS", "SAR", "PIL"):
        turn = nib.orientations.ornt_transform(
            nib.orientations.io_orientation(image.affine), nib.orientations.axcodes2ornt(code)
        )
        files[code] = folder / f"{code}.nii"
        nib.save(image.as_reoriented(turn), files[code])
    files["4d"] = folder / "4d.nii.gz"
    values = np.asarray(image.dataobj)[..., None]
    nib.save(nib.Nifti1Image(values, image.affine), files["4d"])
    return files


@pytest.mark.parametrize("kind", ["ras", "gz", "LPS", "SAR", "PIL", "4d"])
def test_a_file_reads_as_the_scene(
    chest: SyntheticVolume, files: dict[str, Path], kind: str
) -> None:
    volume = NiftiVolume(files[kind])
    assert volume.grid.shape == chest.grid.shape
    assert volume.grid.spacing == pytest.approx(chest.grid.spacing, rel=1e-5)
    assert volume.grid.origin == pytest.approx(chest.grid.origin, abs=1e-2)
    x, y = np.arange(0, 190, 7), np.arange(3, 180, 5)
    z = np.array([0, 11, 44, 89])
    assert np.abs(volume.read(x, y, z).astype(int) - chest.read(x, y, z)).max() <= 1
    single = np.array([50])
    assert volume.read(single, single, single).shape == (1, 1, 1)


@pytest.mark.parametrize("kind", ["gz", "LPS"])
def test_views_and_measurements_are_the_same(
    chest: SyntheticVolume, files: dict[str, Path], kind: str
) -> None:
    volume = NiftiVolume(files[kind])
    for plane in ("axial", "coronal", "sagittal"):
        pictures = []
        for source in (chest, volume):
            index = source.grid.index(views.ACROSS[plane], -15.0)
            whole = views.whole(source.grid, plane)
            values = views.slice_values(source, plane, index, whole)
            pictures.append(views.picture(values, source.grid, plane, views.WINDOWS["lung"]))
        assert pictures[0].shape == pictures[1].shape
        assert np.abs(pictures[0].astype(int) - pictures[1]).max() <= 1
    at, there = survey(chest), survey(volume)
    assert at.hilum == pytest.approx(there.hilum, abs=0.1)
    for function in (measures.heart_ratio, measures.pleural_fluid, measures.low_attenuation,
                     measures.calcium, measures.hiatal_gas):  # fmt: skip
        assert function(chest, at) == pytest.approx(function(volume, there), rel=0.02, abs=0.1)


def test_scaling_of_the_header_is_applied(tmp_path: Path) -> None:
    values = np.full((10, 10, 10), 1024, np.int16)
    image = nib.Nifti1Image(values, np.eye(4))
    image.header.set_slope_inter(2.0, -1024.0)
    nib.save(image, tmp_path / "scaled.nii")
    stored = nib.load(tmp_path / "scaled.nii")
    all_ = np.arange(10)
    found = NiftiVolume(tmp_path / "scaled.nii").read(all_, all_, all_)
    assert (found == np.rint(np.asarray(stored.dataobj))).all()


def test_files_are_described_by_their_contents(files: dict[str, Path]) -> None:
    one = NiftiVolume(files["ras"])
    assert one.fingerprint() == NiftiVolume(files["ras"]).fingerprint()
    assert one.fingerprint() != NiftiVolume(files["LPS"]).fingerprint()
    twin: NiftiVolume = pickle.loads(pickle.dumps(one))
    assert twin.grid == one.grid


def save(path: Path, shape: tuple[int, ...], affine: Any = None) -> Path:
    nib.save(
        nib.Nifti1Image(np.zeros(shape, np.int16), np.eye(4) if affine is None else affine), path
    )
    return path


def test_a_tilted_file_is_said_to_be(tmp_path: Path) -> None:
    for far in (np.diag([1e30, 1e30, 1e30, 1.0]), np.diag([1.0, 1.0, 2e3, 1.0])):
        with pytest.raises(DamagedDataError, match="larger than a body"):
            NiftiVolume(save(tmp_path / "far.nii", (20, 20, 20), far))
    affine = np.eye(4)
    affine[1, 2], affine[2, 2] = np.sin(0.2), np.cos(0.2)
    volume = NiftiVolume(save(tmp_path / "tilted.nii", (20, 20, 20), affine))
    assert "tilted by 11 degrees" in volume.about


@pytest.mark.parametrize(
    ("shape", "reason"),
    [((20, 20, 20, 3), "4 dimensions"), ((20, 20), "2 dimensions"), ((20, 20, 4), "no volume")],
)
def test_what_is_no_volume_is_refused(tmp_path: Path, shape: tuple[int, ...], reason: str) -> None:
    with pytest.raises(DamagedDataError, match=reason):
        NiftiVolume(save(tmp_path / "x.nii.gz", shape))


def last_voxel(path: Path) -> object:
    """Read the end of a volume."""
    volume = NiftiVolume(path)
    last = np.array([volume.grid.shape[2] - 1])
    return volume.read(last, last, last)


def test_missing_and_damaged_files(tmp_path: Path, files: dict[str, Path]) -> None:
    with pytest.raises(MissingDataError, match="There is no volume"):
        NiftiVolume(tmp_path / "none.nii.gz")
    junk = tmp_path / "junk.nii.gz"
    junk.write_bytes(b"not compressed at all")
    with pytest.raises(DamagedDataError, match="cannot be read as NIfTI"):
        NiftiVolume(junk)
    for kind in ("ras", "gz"):
        short = tmp_path / f"short-{files[kind].name}"
        data = files[kind].read_bytes()
        short.write_bytes(data[: len(data) // 2])
        with pytest.raises(DamagedDataError, match="is cut short"):
            last_voxel(short)
    volume = NiftiVolume(files["ras"])
    with pytest.raises(ConfigurationError, match=r"\.nii"):
        write_nifti(volume, tmp_path / "x.png")


def test_a_mapped_file_that_is_cut_short_later_is_named(
    tmp_path: Path, files: dict[str, Path]
) -> None:
    path = tmp_path / "later.nii"
    path.write_bytes(files["ras"].read_bytes())
    volume = NiftiVolume(path)
    with path.open("r+b") as file:
        file.truncate(5000)
    last = np.array([volume.grid.shape[2] - 1])
    with pytest.raises(DamagedDataError, match="is cut short"):
        volume.read(last, last, last)


def test_a_compressed_file_is_unpacked_without_room_for_its_floats(tmp_path: Path) -> None:
    nib = pytest.importorskip("nibabel")
    values = np.random.default_rng(3).normal(0, 300, (100, 90, 203)).round(1)
    for name in ("a.nii", "a.nii.gz"):
        nib.save(nib.Nifti1Image(values, np.eye(4)), tmp_path / name)
    axes = [np.arange(size) for size in values.shape]
    expected = NiftiVolume(tmp_path / "a.nii").read(*axes)
    volume = NiftiVolume(tmp_path / "a.nii.gz")
    one = np.arange(1)
    tracemalloc.start()
    try:
        volume.read(one, one, one)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < values.nbytes
    assert np.array_equal(volume.read(*axes), expected)


def test_values_that_are_no_numbers_are_air(tmp_path: Path) -> None:
    values = np.full((10, 10, 10), np.nan, np.float32)
    values[5] = 77.4
    nib.save(nib.Nifti1Image(values, np.eye(4)), tmp_path / "nan.nii")
    all_ = np.arange(10)
    found = NiftiVolume(tmp_path / "nan.nii").read(all_, all_, all_)
    assert set(np.unique(found)) == {-1024, 77}


def test_a_real_scan_is_read(data_dir: Path) -> None:
    path = data_dir / "ct" / "example_ct_sm.nii.gz"
    if not path.is_file():
        pytest.skip(f"needs {path}")
    volume = NiftiVolume(path)
    assert volume.grid.shape == (122, 101, 30)
    assert not survey(volume).found
    x, y, z = (np.arange(size) for size in volume.grid.shape)
    found = volume.read(x, y, z)
    stored = np.rint(np.asarray(nib.load(path).dataobj))
    assert (found == np.clip(stored, -1024, None)).all()
