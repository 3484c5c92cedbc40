"""Models an agent may train: gradient-boosted trees and logistic regression, within bounds.

Trees are grown on one core, without randomness but a fixed seed, so that the same call gives the
same scores; a regression is a few dense systems, solved by whatever numpy is linked to. Work is
bounded before it starts, by an estimate from sizes alone: what is refused is so on any machine.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from types import ModuleType

import numpy as np
from numpy.typing import NDArray

from healthgym.core.optional import require
from healthgym.core.seeding import content_hash
from healthgym.envs.ehr_event_modelling.features import Matrix
from healthgym.envs.ehr_event_modelling.timeline import Floats, Mask
from healthgym.errors import ToolError

#: Largest product of rows, columns and trees of one training, about half a minute on one core.
MOST_WORK = 2_000_000_000
_LOGISTIC_STEPS = 60
_LONGEST_STEP = 2.0


@dataclass(frozen=True, slots=True)
class TreeSettings:
    """Settings of gradient-boosted trees, by LightGBM's names.

    Attributes:
        trees: Number of trees.
        learning_rate: Shrinkage of each.
        leaves: Most leaves of a tree.
        depth: Largest depth; -1 for any.
        leaf_rows: Fewest rows in a leaf.
        column_share: Share of columns each tree may use.
    """

    trees: int = 100
    learning_rate: float = 0.1
    leaves: int = 25
    depth: int = -1
    leaf_rows: int = 1
    column_share: float = 1.0


@dataclass(frozen=True, eq=False)
class Model:
    """A trained model.

    Attributes:
        name: What it is, in words.
        features: Names of the feature sets it was trained on.
        columns: Names of their columns.
        importance: Of each column: total gain, or the size of its standardized coefficient.
        validation: Scores of the validation rows.
        test: Scores of the test rows.
        peeks: Whether it uses columns that look past the prediction time.
    """

    name: str
    features: tuple[str, ...]
    columns: tuple[str, ...]
    importance: Floats
    validation: Floats
    test: Floats
    peeks: bool = False

    def content_hash(self) -> str:
        """Return a hex digest of the model's scores and origin."""
        scores = [self.validation.tolist(), self.test.tolist()]
        return content_hash([self.name, self.features, scores, self.peeks])


#: A fitted model: from a matrix to probabilities.
Scorer = Callable[[Matrix], Floats]


@cache
def lightgbm() -> ModuleType:
    """Return LightGBM.

    Raises:
        MissingDependencyError: If it is not installed.
    """
    return require("lightgbm", extra="modelling", purpose="Event modelling")


def require_lightgbm() -> None:
    """Raise unless LightGBM is installed, without importing it.

    Raises:
        MissingDependencyError: If it is not installed.
    """
    if find_spec("lightgbm") is None:
        lightgbm()


def check_work(rows: int, columns: int, trees: int) -> None:
    """Refuse a training that would take too long.

    Raises:
        ToolError: If it would; saying what to reduce.
    """
    if rows * columns * trees > MOST_WORK:
        raise ToolError(
            f"{rows} rows, {columns} columns and {trees} trees are more than one training may "
            f"take; at most {MOST_WORK // (rows * columns)} trees with these columns."
        )


def fit_trees(
    matrix: Matrix, label: Mask, settings: TreeSettings
) -> tuple[Scorer, NDArray[np.float64]]:
    """Fit gradient-boosted trees; return how to score rows, and the gain of each column."""
    library = lightgbm()
    parameters: Mapping[str, object] = {
        "objective": "binary",
        "learning_rate": settings.learning_rate,
        "num_leaves": settings.leaves,
        "max_depth": settings.depth,
        "min_data_in_leaf": settings.leaf_rows,
        "feature_fraction": settings.column_share,
        "num_threads": 1,
        "deterministic": True,
        "force_col_wise": True,
        "seed": 0,
        "verbosity": -1,
    }
    data = library.Dataset(matrix, label.astype(np.float32), free_raw_data=True)
    booster = library.train(dict(parameters), data, num_boost_round=settings.trees)

    def score(rows: Matrix) -> Floats:
        return np.asarray(booster.predict(rows, num_threads=1), dtype=np.float64)

    return score, np.asarray(booster.feature_importance("gain"), dtype=np.float64)


def fit_logistic(matrix: Matrix, label: Mask, penalty: float) -> tuple[Scorer, Floats]:
    """Fit a ridge logistic regression by Newton's method on standardized columns.

    Empty cells become the column's mean. Counts are skewed, so columns without negative values
    are taken as log(1 + x).

    Args:
        matrix: Shape ``(rows, columns)``.
        label: Shape ``(rows,)``.
        penalty: Weight of half the squared coefficients, against the summed log loss.
    """
    positive = np.nanmin(np.where(np.isnan(matrix), 0.0, matrix), axis=0) >= 0.0

    def spread(rows: Matrix) -> Floats:
        values = rows.astype(np.float64)
        values[:, positive] = np.log1p(np.maximum(values[:, positive], 0.0))
        return values

    values = spread(matrix)
    there = np.isfinite(values)
    count = np.maximum(there.sum(axis=0), 1)
    mean = np.where(there, values, 0.0).sum(axis=0) / count
    deviation = np.sqrt((np.where(there, values - mean, 0.0) ** 2).sum(axis=0) / count)
    scale = np.where(deviation > 1e-9, deviation, np.inf)  # a constant column says nothing

    def standardize(rows: Matrix) -> Floats:
        shifted = (spread(rows) - mean) / scale
        full = np.where(np.isfinite(shifted), shifted, 0.0)
        return np.hstack([np.ones((len(full), 1)), np.clip(full, -8.0, 8.0)])

    design, truth = standardize(matrix), label.astype(np.float64)
    ridge = np.full(design.shape[1], max(penalty, 1e-6))
    ridge[0] = 1e-6
    weight = np.zeros(design.shape[1])
    for _ in range(_LOGISTIC_STEPS):
        chance = _sigmoid(design @ weight)
        gradient = design.T @ (chance - truth) + ridge * weight
        curvature = np.maximum(chance * (1 - chance), 1e-6)
        step = np.linalg.solve((design * curvature[:, None]).T @ design + np.diag(ridge), gradient)
        largest = float(np.abs(step).max())
        # Where classes can be told apart without a fault, a full step would go without bound.
        weight = weight - step * min(1.0, _LONGEST_STEP / max(largest, 1e-12))
        if largest < 1e-6:
            break

    def score(rows: Matrix) -> Floats:
        return _sigmoid(standardize(rows) @ weight)

    return score, np.abs(weight[1:])


def _sigmoid(value: Floats) -> Floats:
    return np.asarray(1.0 / (1.0 + np.exp(-np.clip(value, -40.0, 40.0))), dtype=np.float64)
