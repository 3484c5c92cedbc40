import sys

import numpy as np
import pytest

from healthgym.envs.ehr_event_modelling import models
from healthgym.envs.ehr_event_modelling.models import (
    TreeSettings,
    check_work,
    fit_logistic,
    fit_trees,
)
from healthgym.errors import MissingDependencyError, ToolError
from healthgym.rewards.metrics import auroc


@pytest.fixture(scope="module")
def toy() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(1)
    matrix = rng.normal(size=(600, 6)).astype(np.float32)
    label = rng.random(600) < 1 / (1 + np.exp(-2 * matrix[:, 2] + matrix[:, 4]))
    matrix[rng.random(matrix.shape) < 0.05] = np.nan
    return matrix, label


def test_trees_learn_and_repeat(toy: tuple[np.ndarray, np.ndarray]) -> None:
    matrix, label = toy
    score, gain = fit_trees(matrix[:400], label[:400], TreeSettings(60, 0.1, 8, -1, 5))
    again, _ = fit_trees(matrix[:400], label[:400], TreeSettings(60, 0.1, 8, -1, 5))
    assert auroc(label[400:], score(matrix[400:])) > 0.75
    assert (score(matrix) == again(matrix)).all()
    assert int(np.argmax(gain)) == 2


def test_logistic_learns_and_fills_gaps(toy: tuple[np.ndarray, np.ndarray]) -> None:
    matrix, label = toy
    score, size = fit_logistic(matrix[:400], label[:400], 1.0)
    found = score(matrix[400:])
    assert auroc(label[400:], found) > 0.8
    assert ((found > 0) & (found < 1)).all()
    assert int(np.argmax(size)) == 2


def test_logistic_stands_constant_and_empty_columns(toy: tuple[np.ndarray, np.ndarray]) -> None:
    matrix, label = toy
    odd = np.hstack([matrix, np.full((600, 1), np.nan), np.full((600, 1), 3.0)]).astype(np.float32)
    score, size = fit_logistic(odd, label, 1.0)
    assert np.isfinite(score(odd)).all()
    assert size[-2:].tolist() == [0.0, 0.0]


def test_logistic_stands_perfect_separation() -> None:
    matrix = np.linspace(-1, 1, 200, dtype=np.float32).reshape(-1, 1)
    score, _ = fit_logistic(matrix, matrix[:, 0] > 0, 0.001)
    found = score(matrix)
    assert np.isfinite(found).all()
    assert auroc(matrix[:, 0] > 0, found) == 1.0


def test_penalty_shrinks(toy: tuple[np.ndarray, np.ndarray]) -> None:
    weak, strong = (fit_logistic(*toy, penalty)[1].sum() for penalty in (0.1, 1000.0))
    assert strong < weak / 2


def test_work_is_bounded_by_size_alone() -> None:
    check_work(1000, 500, 1000)
    with pytest.raises(ToolError, match="at most 400 trees"):
        check_work(10_000, 500, 1000)


def test_missing_library_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(models, "find_spec", lambda name: None)

    monkeypatch.setitem(sys.modules, "lightgbm", None)
    models.lightgbm.cache_clear()
    with pytest.raises(MissingDependencyError, match=r"healthgym\[modelling\]"):
        models.require_lightgbm()
    models.lightgbm.cache_clear()
