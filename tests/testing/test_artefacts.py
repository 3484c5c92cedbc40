"""The classifier that looks for artefacts is ridge regression, of few labels as of many."""

from __future__ import annotations

import numpy as np
import pytest

from healthgym.testing import artefacts


@pytest.mark.parametrize(("rows", "columns"), [(12, 40), (200, 40)])
def test_scores_are_those_of_ridge_regression(rows: int, columns: int) -> None:
    rng = np.random.default_rng(0)
    seen = (rng.random((rows, columns)) < 0.3).astype(np.float64)
    seen[:, 3] = 1.0  # tells nothing
    known = (rng.random(rows) < 0.5).astype(np.float64)
    unseen = (rng.random((7, columns)) < 0.3).astype(np.float64)

    used = seen.std(axis=0) > 0
    mean, spread = seen[:, used].mean(axis=0), seen[:, used].std(axis=0)
    plain = (seen[:, used] - mean) / spread / np.sqrt(used.sum())
    # Ridge regression is least squares with a row for each column that asks for a weight of 0.
    penalty = np.sqrt(artefacts._RIDGE) * np.eye(used.sum())
    target = np.concatenate([known - known.mean(), np.zeros(used.sum())])
    weights, *_ = np.linalg.lstsq(np.vstack([plain, penalty]), target, rcond=None)
    wanted = (unseen[:, used] - mean) / spread / np.sqrt(used.sum()) @ weights
    assert artefacts._ridge(seen, known, unseen) == pytest.approx(wanted)
