"""Real scans: CT-RATE's layout, plain folders, other parts of the body, and damage."""

from __future__ import annotations

import csv
import shutil
from pathlib import Path

import numpy as np
import pytest

from healthgym.core.seeding import Split
from healthgym.envs.ct_abnormality.env import CtAbnormalityEnv
from healthgym.envs.ct_abnormality.resources import LABELS
from healthgym.envs.ct_abnormality.sources import FolderGenerator, read_folder
from healthgym.errors import ConfigurationError, DamagedDataError, MissingDataError
from healthgym.worlds.volumes.nifti import write_nifti
from tests.envs.ct_abnormality.conftest import Reader, do


def write_table(path: Path, names: list[str], columns: tuple[str, ...] = LABELS) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["VolumeName", *columns])
        for row, name in enumerate(names):
            writer.writerow([name, *((row + n) % 3 == 0 for n in range(len(columns)))])
    text = path.read_text(encoding="utf-8").replace("True", "1").replace("False", "0")
    path.write_text(text, encoding="utf-8")


@pytest.fixture(scope="module")
def volume(reader: Reader, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small scan on disk."""
    path = tmp_path_factory.mktemp("scan") / "scan.nii.gz"
    return write_nifti(reader.open().world.source, path)


@pytest.fixture
def plain(volume: Path, tmp_path: Path) -> Path:
    """One folder with a scan and a table."""
    shutil.copy(volume, tmp_path / "scan.nii.gz")
    write_table(tmp_path / "labels.csv", ["scan.nii.gz"])
    return tmp_path


@pytest.fixture
def ct_rate(volume: Path, tmp_path: Path) -> Path:
    """A part of a download in CT-RATE's layout."""
    names = []
    for part, patient in (("valid", 1), ("valid", 2), *(("train", n) for n in range(1, 13))):
        name = f"{part}_{patient}_a_1.nii.gz"
        folder = tmp_path / f"dataset/{part}_fixed/{part}_{patient}/{part}_{patient}_a"
        folder.mkdir(parents=True)
        (folder / name).symlink_to(volume)
        names.append(name)
    labels = tmp_path / "dataset/multi_abnormality_labels"
    valid = [name for name in names if name.startswith("valid")]
    write_table(labels / "valid_predicted_labels.csv", [*valid, "valid_9_a_1.nii.gz"])
    write_table(labels / "train_predicted_labels.csv", names[2:])
    (tmp_path / "dataset/metadata.csv").write_text("VolumeName,Manufacturer\nvalid_1_a_1,x\n")
    return tmp_path


def test_a_folder_of_scans_is_a_source(plain: Path, reader: Reader) -> None:
    env = CtAbnormalityEnv(source=plain)
    generator = env.family.generator
    assert [generator.size(split) for split in Split] == [0, 0, 1]
    truth = generator.generate(Split.TEST, 0).reference.truth
    assert 4 <= len(truth) <= 12
    assert {True, False} == set(truth.values())
    table = {label: n % 3 == 0 for n, label in enumerate(LABELS)}
    assert all(table[label] == there for label, there in truth.items())
    episode = env.open_episode("test", 0)
    same = reader.open()
    for name, arguments in (("volume_info", {}), ("measure", {"quantity": "heart_ratio"})):
        assert do(episode, name, **arguments) == do(same, name, **arguments)
    for label, there in truth.items():
        do(episode, "record_call", finding=label, answer="yes" if there else "no")
    do(episode, "submit")
    assert episode.verdict().success
    with pytest.raises(ConfigurationError, match="has no tasks"):
        env.open_episode("train", 0)


def test_ct_rate_is_a_source(ct_rate: Path) -> None:
    generator = FolderGenerator(ct_rate)
    sizes = {split: generator.size(split) for split in Split}
    # A scan that the table names and nobody downloaded is left out.
    assert sizes[Split.TEST] == 2
    assert sizes[Split.TRAIN] + sizes[Split.VALIDATION] == 12
    names = {scan.name for scan in read_folder(str(ct_rate))}
    assert "valid_9_a_1" not in names
    first = generator.generate(Split.TEST, 0)
    assert first.task == FolderGenerator(ct_rate).generate(Split.TEST, 0).task
    with pytest.raises(ConfigurationError):
        CtAbnormalityEnv(source=ct_rate, canonical=True)


def test_lists_of_real_scans_are_mixed(ct_rate: Path) -> None:
    generator = FolderGenerator(ct_rate)
    truths = [
        generator.generate(Split.TRAIN, index).reference.truth
        for index in range(generator.size(Split.TRAIN))
    ]
    share = np.mean([there for truth in truths for there in truth.values()])
    assert 0.3 < share < 0.65


def test_missing_and_damaged_folders(plain: Path, tmp_path: Path, volume: Path) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    with pytest.raises(MissingDataError, match=r"no table of labels.*huggingface"):
        FolderGenerator(empty)
    write_table(empty / "labels.csv", ["gone.nii.gz"])
    with pytest.raises(MissingDataError, match="gone"):
        FolderGenerator(empty)
    shutil.copy(volume, empty / "here.nii.gz")
    write_table(empty / "labels.csv", ["here.nii.gz", "gone.nii.gz"])
    with pytest.raises(MissingDataError, match="1 volumes are named and not there, gone"):
        FolderGenerator(empty)
    text = (plain / "labels.csv").read_text().replace(",1", ",maybe", 1)
    (plain / "labels.csv").write_text(text)
    with pytest.raises(DamagedDataError, match="line 2: 'maybe' is not 0 or 1"):
        FolderGenerator(plain)


def test_unknown_labels_are_not_asked_for(plain: Path) -> None:
    write_table(plain / "labels.csv", ["scan.nii.gz"], LABELS[:5])
    text = (plain / "labels.csv").read_text().strip()
    (plain / "labels.csv").write_text(text.rpartition(",")[0] + ",\n")
    truth = FolderGenerator(plain).generate(Split.TEST, 0).reference.truth
    assert set(truth) == set(LABELS[:4])


def test_another_part_of_the_body_is_said_so(data_dir: Path, tmp_path: Path) -> None:
    scan = data_dir / "ct" / "example_ct_sm.nii.gz"
    if not scan.is_file():
        pytest.skip(f"needs {scan}")
    shutil.copy(scan, tmp_path / "pelvis.nii.gz")
    write_table(tmp_path / "labels.csv", ["pelvis"])
    episode = CtAbnormalityEnv(source=tmp_path).open_episode("test", 0)
    assert "Warning: No lungs were found" in do(episode, "volume_info")
    outcome = episode.step({"name": "measure", "arguments": {"quantity": "heart_ratio"}})
    assert "another part of the body" in outcome.errors[0]
    middle = do(episode, "volume_info").split("z ")[1].split(" to ")
    z = (float(middle[0]) + float(middle[1].splitlines()[0])) / 2
    outcome = episode.step(
        {"name": "view_slice", "arguments": {"position": z, "window": "mediastinal"}}
    )
    assert outcome.images[0].std() > 20
