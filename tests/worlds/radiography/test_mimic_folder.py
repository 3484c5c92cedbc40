from __future__ import annotations

import csv
import gzip
import shutil
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("PIL")

from healthgym.core.seeding import Split
from healthgym.core.tool import call
from healthgym.envs.xray_correction.env import XrayCorrectionEnv
from healthgym.envs.xray_correction.family import CorrectionFamily
from healthgym.envs.xray_correction.sources import MimicGenerator, header_of, materialize
from healthgym.errors import DamagedDataError, MissingDataError
from healthgym.worlds.imaging.raster import load_image, save_image
from healthgym.worlds.radiography.measure import MEASURES, measure
from healthgym.worlds.radiography.mimic import METADATA, MimicFolder


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with three patients, written from synthetic tasks."""
    root = tmp_path_factory.mktemp("mimic")
    generator = XrayCorrectionEnv().family.generator
    for index in range(3):
        materialize(generator.generate(Split.TRAIN, index), root, subject=f"1000000{index}")
    return root


def test_files_give_the_same_pictures_and_measurements(written: Path) -> None:
    generator = XrayCorrectionEnv().family.generator
    folder = MimicFolder(written)
    for index in range(3):
        lazy = generator.generate(Split.TRAIN, index).start.radiographs
        files = folder.radiographs(f"1000000{index}")
        assert [s.views for s in files.studies] == [s.views for s in lazy.studies]
        assert [s.taken.replace(second=0) for s in files.studies if s.taken] == [
            s.taken.replace(second=0) for s in lazy.studies if s.taken
        ]
        last = len(lazy.studies) - 1
        for view in range(len(lazy.studies[last].views)):
            assert np.array_equal(files.pixels(last, view), lazy.pixels(last, view))
        for what in MEASURES:
            assert measure(files.pixels(last, 0), what) == measure(lazy.pixels(last, 0), what)


def test_jpeg_gives_the_same_picture_to_rounding(tmp_path: Path) -> None:
    instance = XrayCorrectionEnv(difficulty="easy").family.generator.generate(Split.TRAIN, 1)
    materialize(instance, tmp_path, lossless=False)
    files = MimicFolder(tmp_path).radiographs("10000001")
    lazy = instance.start.radiographs
    apart = files.pixels(0, 0).astype(int) - lazy.pixels(0, 0).astype(int)
    assert np.abs(apart).mean() < 2.5


def test_an_environment_opens_on_a_folder(written: Path) -> None:
    env = XrayCorrectionEnv(source=written)
    generator = env.family.generator
    assert isinstance(generator, MimicGenerator)
    split = next(split for split in Split if generator.size(split))
    for index in range(5):
        instance = generator.generate(split, index)
        episode = env.open_episode(split, index)
        assert "INDICATION" in episode.world.header
        assert "FINDINGS" not in episode.world.header
        assert episode.world.radiographs.studies[-1].report == ""
        for action in env.family.oracle(instance, np.random.default_rng(0)):
            assert not episode.step(action).errors
        assert episode.verdict().success
        idle = env.open_episode(split, index)
        idle.step(call("submit"))
        assert not idle.verdict().success


def test_weights_of_difficulties_hold_for_a_folder(written: Path) -> None:
    few, many = (CorrectionFamily(name, source=written).generator for name in ("easy", "hard"))
    mixed = CorrectionFamily({"easy": 1, "hard": 1}, source=written).generator
    assert [mixed.size(split) for split in Split] == [few.size(split) for split in Split]
    split = next(split for split in Split if mixed.size(split))
    drawn = [mixed.generate(split, index).reference for index in range(20)]
    levels = [
        [reference == level.generate(split, index).reference for level in (few, many)]
        for index, reference in enumerate(drawn)
    ]
    assert all(map(any, levels))
    assert [True, False] in levels
    assert [False, True] in levels


def test_headers_keep_the_sections_of_the_source_only() -> None:
    report = (
        "FINAL REPORT\n EXAMINATION: CHEST\n\n WET READ: x\n HISTORY: cough\n\n FINDINGS: secret"
    )
    assert header_of(report) == "EXAMINATION: CHEST\n\nHISTORY: cough"


def test_missing_and_damaged_folders(written: Path, tmp_path: Path) -> None:
    with pytest.raises(MissingDataError, match="physionet"):
        MimicFolder(tmp_path / "nowhere")
    with pytest.raises(MissingDataError, match="files"):
        MimicFolder(tmp_path)
    (tmp_path / "files").mkdir()
    with pytest.raises(MissingDataError, match="metadata"):
        MimicFolder(tmp_path)
    (tmp_path / METADATA).write_text("a,b\n1,2\n")
    with pytest.raises(DamagedDataError, match="dicom_id"):
        MimicFolder(tmp_path)
    (tmp_path / METADATA).unlink()
    (tmp_path / f"{METADATA}.gz").write_bytes(b"not compressed")
    with pytest.raises(DamagedDataError, match="metadata"):
        MimicFolder(tmp_path)


def test_missing_and_damaged_pictures_and_reports(written: Path, tmp_path: Path) -> None:
    root = tmp_path / "copy"
    shutil.copytree(written, root)
    table = (root / METADATA).read_bytes()
    (root / METADATA).unlink()
    (root / f"{METADATA}.gz").write_bytes(gzip.compress(table, mtime=0))
    folder = MimicFolder(root)
    files = folder.radiographs("10000000")
    picture = next((root / "files" / "p10" / "p10000000").rglob("*.png"))
    data = picture.read_bytes()
    picture.write_bytes(data[: len(data) // 2])
    study = next(n for n, s in enumerate(files.studies) if s.name == picture.parent.name)
    view = int(picture.stem[-2:]) - 1
    with pytest.raises(DamagedDataError, match=picture.name):
        files.pixels(study, view)
    picture.unlink()
    with pytest.raises(MissingDataError, match="no picture"):
        folder.radiographs("10000000")
    report = next((root / "files" / "p10" / "p10000001").glob("*.txt"))
    report.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(DamagedDataError, match="as text"):
        folder.radiographs("10000001")


def test_reports_without_findings_are_no_tasks(tmp_path: Path) -> None:
    instance = XrayCorrectionEnv(difficulty="easy").family.generator.generate(Split.TRAIN, 0)
    materialize(instance, tmp_path)
    for path in tmp_path.rglob("s*.txt"):
        path.write_text("IMPRESSION: normal.")
    with pytest.raises(MissingDataError, match="FINDINGS"):
        XrayCorrectionEnv(source=tmp_path)


def test_real_radiographs_are_read(data_dir: Path, tmp_path: Path) -> None:
    """Published pictures of odd sizes, grey and colour, JPEG and PNG, in the layout of MIMIC."""
    source = data_dir / "covid-cxr" / "cc-by"
    if not source.is_dir():
        pytest.skip(f"needs {source}")
    with (source / "metadata.csv").open(encoding="utf-8", errors="replace") as file:
        rows = [r for r in csv.DictReader(file) if (source / "images" / r["filename"]).is_file()]
    lines = ["dicom_id,subject_id,study_id,ViewPosition,StudyDate,StudyTime"]
    for number, row in enumerate(rows):
        study, subject = f"5{number:07d}", f"1{number % 4:07d}"
        home = tmp_path / "files" / f"p{subject[:2]}" / f"p{subject}"
        (home / f"s{study}").mkdir(parents=True)
        picture = source / "images" / row["filename"]
        ending = ".png" if picture.suffix == ".png" else ".jpg"
        shutil.copy(picture, home / f"s{study}" / f"d{number}{ending}")
        note = " ".join(row["clinical_notes"].split()) or "No pleural effusion."
        text = f"INDICATION: follow-up.\n\nFINDINGS: {note} No pneumothorax.\n"
        (home / f"s{study}.txt").write_text(text, encoding="utf-8")
        lines.append(f"d{number},{subject},{study},{row['view'][:2]},2020{number + 101:04d},120000")
    (tmp_path / METADATA).write_text("\n".join(lines), encoding="utf-8")
    env = XrayCorrectionEnv(source=tmp_path)
    folder = MimicFolder(tmp_path)
    shapes = set()
    for subject in folder.subjects:
        files = folder.radiographs(subject)
        for study in range(len(files.studies)):
            pixels = files.pixels(study, 0)
            assert pixels.dtype == np.uint8
            assert pixels.ndim == 2
            shapes.add(pixels.shape)
    assert len(shapes) > 8
    generator = env.family.generator
    split = next(split for split in Split if generator.size(split))
    for index in range(4):
        instance = generator.generate(split, index)
        episode = env.open_episode(split, index)
        for what in MEASURES:
            assert not episode.step(call("measure", what=what)).errors
        for action in env.family.oracle(instance, np.random.default_rng(0)):
            assert not episode.step(action).errors
        assert episode.verdict().success


def test_pictures_survive_the_way_through_a_file(tmp_path: Path) -> None:
    image = np.arange(30 * 20, dtype=np.uint32).reshape(30, 20).astype(np.uint8)
    save_image(tmp_path / "a.png", image)
    assert np.array_equal(load_image(tmp_path / "a.png"), image)
