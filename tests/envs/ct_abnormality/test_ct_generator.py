"""Tasks: balanced, told by nothing but the voxels, disjoint between splits."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import numpy as np
import pytest

from healthgym.core.seeding import Split
from healthgym.envs.ct_abnormality.env import CtAbnormalityEnv
from healthgym.envs.ct_abnormality.family import CtFamily
from healthgym.envs.ct_abnormality.generator import CtGenerator
from healthgym.envs.ct_abnormality.resources import LABELS, criteria, published
from healthgym.envs.ct_abnormality.solver import thresholds
from healthgym.envs.ct_abnormality.task import (
    EASY_FINDINGS,
    PRESETS,
    CtConfig,
    CtTask,
)
from healthgym.errors import ConfigurationError
from healthgym.worlds.volumes.disease import Finding
from healthgym.worlds.volumes.volume import SyntheticVolume


def draw(split: Split, count: int, difficulty: str = "medium") -> list[tuple[CtTask, Any, Any]]:
    generator = CtGenerator(PRESETS[difficulty], difficulty, "ct-abnormality")
    tasks = []
    for index in range(count):
        instance = generator.generate(split, index)
        tasks.append((instance.task, instance.reference.truth, instance.start.source))
    return tasks


@pytest.fixture(scope="module")
def train() -> list[tuple[CtTask, Any, Any]]:
    return draw(Split.TRAIN, 400)


@pytest.fixture(scope="module")
def test() -> list[tuple[CtTask, Any, Any]]:
    return draw(Split.TEST, 250)


def test_every_finding_is_there_as_often_as_not(train: list[Any]) -> None:
    rates: dict[str, list[bool]] = defaultdict(list)
    for _, truth, _ in train:
        for label, there in truth.items():
            rates[label].append(there)
    assert set(rates) == set(LABELS)
    # Four standard errors of a fair coin.
    for label, seen in rates.items():
        assert abs(np.mean(seen) - 0.5) < 2.0 / np.sqrt(len(seen)), label


def test_frequencies_of_the_train_split_solve_nothing(train: list[Any], test: list[Any]) -> None:
    rates: dict[str, list[bool]] = defaultdict(list)
    for _, truth, _ in train:
        for label, there in truth.items():
            rates[label].append(there)
    solved = right = total = 0
    for _, truth, _ in test:
        calls = {label: np.mean(rates[label]) > 0.5 for label in truth}
        correct = sum(bool(calls[label]) == there for label, there in truth.items())
        solved, right, total = solved + (correct == len(truth)), right + correct, total + len(truth)
    assert solved / len(test) < 0.05
    assert 0.45 < right / total < 0.55


def features(task: CtTask, source: SyntheticVolume) -> list[float]:
    """Return what is known of a task before a voxel is looked at."""
    grid = source.grid
    listed = [float(label in task.labels) for label in LABELS]
    places = [float(task.labels.index(label)) if label in task.labels else -1.0 for label in LABELS]
    return [len(task.labels), grid.shape[2], *grid.spacing, *grid.origin, *listed, *places, 1.0]


def test_a_fit_to_all_that_is_told_solves_nothing(train: list[Any], test: list[Any]) -> None:
    """Least squares on counts, sizes, spacing, places in the list: no better than a coin."""
    rows, share = [], []
    for task, truth, source in train:
        rows.append(features(task, source))
        share.append(np.mean(list(truth.values())))
    x = np.array(rows)
    scale = np.abs(x).max(axis=0) + 1e-9
    weights, *_ = np.linalg.lstsq(x / scale, np.array(share) - 0.5, rcond=1e-6)
    guessed = [
        float(np.array(features(task, source)) / scale @ weights) > 0 for task, _, source in test
    ]
    right = [np.mean([there is g for there in truth.values()]) for (_, truth, _), g in zip(
        test, guessed, strict=True)]  # fmt: skip
    assert 0.44 < np.mean(right) < 0.56


def test_no_finding_tells_of_another(train: list[Any]) -> None:
    pairs: dict[tuple[str, str], list[bool]] = defaultdict(list)
    for _, truth, _ in train:
        for one in truth:
            for two in truth:
                if one < two:
                    pairs[one, two].append(truth[one] == truth[two])
    worst = max(abs(np.mean(seen) - 0.5) * np.sqrt(len(seen)) for seen in pairs.values())
    assert worst < 2.1  # 153 pairs of fair coins seldom pass 4.2 standard errors


def test_the_scan_is_the_same_whatever_is_on_it() -> None:
    """Patient and scan come from streams of their own."""
    one = CtGenerator(PRESETS["medium"], "medium", "ct-abnormality")
    other = CtGenerator(
        CtConfig(severities=("subtle",), mimics=0.0, others=1.0, slices=(200, 500)),
        "custom",
        "ct-abnormality",
    )
    for index in range(5):
        a = one.generate(Split.TRAIN, index).start.source
        b = other.generate(Split.TRAIN, index).start.source
        assert (a.patient, a.acquisition) == (b.patient, b.acquisition)
        assert a.disease != b.disease


def test_sizes_of_difficulties(train: list[Any]) -> None:
    assert {len(task.labels) for task, _, _ in train} == set(range(4, 13))
    assert all(200 <= source.grid.shape[2] <= 500 for _, _, source in train)
    easy = draw(Split.TRAIN, 60, "easy")
    assert {len(task.labels) for task, _, _ in easy} == {2, 3, 4}
    asked = {label for task, _, _ in easy for label in task.labels}
    assert asked == {str(finding) for finding in EASY_FINDINGS}
    hard = draw(Split.TRAIN, 60, "hard")
    assert max(source.grid.shape[2] for _, _, source in hard) > 500


def test_no_patient_is_in_two_splits() -> None:
    seen = [source.patient.seed for split in Split for _, _, source in draw(split, 60)]
    assert len(set(seen)) == len(seen)


def test_what_is_drawn_follows_the_truth(train: list[Any]) -> None:
    for _, truth, source in train[:150]:
        disease = source.disease
        found = {
            Finding.CARDIOMEGALY: disease.heart_ratio >= 0.5,
            Finding.PERICARDIAL_EFFUSION: disease.pericardial >= 5,
            Finding.PLEURAL_EFFUSION: max(disease.pleural) >= 6,
            Finding.HIATAL_HERNIA: disease.hernia > 0,
            Finding.EMPHYSEMA: disease.emphysema > 0,
            Finding.MOSAIC: disease.mosaic >= 60,
            Finding.BRONCHIECTASIS: disease.dilated >= 1.41,
            Finding.PERIBRONCHIAL: disease.wall >= 1.5,
            Finding.LYMPHADENOPATHY: max(n.blob.radii[0] for n in disease.nodes) >= 5,
            Finding.OPACITY: bool(disease.glass),
            Finding.CONSOLIDATION: bool(disease.dense),
            Finding.ATELECTASIS: bool(disease.plates),
            Finding.FIBROSIS: bool(disease.scars),
            Finding.MEDICAL_MATERIAL: bool(disease.devices),
            Finding.NODULE: any(n.blob.radii[0] >= 2 for n in disease.nodules),
        }
        for finding, there in found.items():
            if str(finding) in truth:
                assert there == truth[str(finding)], finding


def test_canonical_tasks_are_composed_as_published() -> None:
    env = CtAbnormalityEnv(canonical=True)
    generator = env.family.generator
    assert generator.size(Split.TEST) == 10
    found = []
    for index in range(10):
        truth = generator.generate(Split.TEST, index).reference.truth
        found.append((len(truth), sum(truth.values())))
    assert tuple(found) == published()
    assert (sum(n for n, _ in found), sum(p for _, p in found)) == (65, 39)
    with pytest.raises(ConfigurationError, match="no number 10"):
        generator.generate(Split.TEST, 10)


def test_weighted_difficulties_keep_their_tasks() -> None:
    weights = {"easy": 1, "hard": 2}
    mixed = CtFamily(weights).generator
    seen = set()
    for index in range(20):
        task = mixed.generate(Split.TRAIN, index).task
        level = task.metadata["difficulty"]
        seen.add(level)
        assert task == CtFamily(level).generator.generate(Split.TRAIN, index).task
    assert seen == set(weights)
    assert CtFamily(weights).ceilings == CtFamily("easy").ceilings


def test_tables_name_every_finding() -> None:
    assert tuple(criteria()) == LABELS
    assert set(thresholds()) == set(LABELS)
    assert len(LABELS) == 18


@pytest.mark.parametrize(
    "arguments",
    [
        {"labels": (5, 4)},
        {"labels": (1, 19)},
        {"severities": ("mild",)},
        {"severities": ()},
        {"slices": (10, 20)},
        {"noise": (5, 4)},
        {"mimics": 1.5},
        {"others": -0.1},
        {"size": 64},
        {"labels": (2, 3), "findings": (Finding.NODULE,)},
    ],
)
def test_configurations_are_checked(arguments: dict[str, Any]) -> None:
    with pytest.raises(ConfigurationError):
        CtConfig(**arguments)
