"""Uncertainty of a measured success rate, and of the difference between two of them.

Episodes of one task are not independent, so where tasks are attempted more than once the interval
comes from resampling tasks, not episodes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import comb, sqrt

import numpy as np
from numpy.typing import NDArray

from healthgym.errors import ConfigurationError

Z_95 = 1.959963984540054
"""The standard normal quantile of a two-sided 95 % interval."""


@dataclass(frozen=True, slots=True)
class Interval:
    """An estimate and the interval around it, in the unit of what was estimated."""

    low: float
    high: float
    estimate: float


def wilson_interval(successes: int, n: int, z: float = Z_95) -> Interval:
    """Return the Wilson score interval of a proportion (Wilson 1927).

    It stays inside [0, 1] and keeps its width when all episodes fail or all succeed.

    Args:
        successes: How many of ``n`` independent episodes succeeded.
        n: Number of episodes, at least 1.
        z: Standard normal quantile of the wanted coverage.

    Raises:
        ConfigurationError: If not ``0 <= successes <= n`` with ``n >= 1``.
    """
    _check_count(n, successes)
    p = successes / n
    centre = (p + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    # At the ends the exact bound is 0 or 1; rounding must not move the estimate outside.
    low = 0.0 if successes == 0 else max(0.0, centre - half)
    high = 1.0 if successes == n else min(1.0, centre + half)
    return Interval(low, high, p)


def newcombe_difference(
    successes: int, n: int, base_successes: int, base_n: int, z: float = Z_95
) -> Interval:
    """Return the interval of a difference between two independent proportions.

    The square-and-add interval from two Wilson intervals (Newcombe 1998, Statistics in Medicine
    17:873-890, method 10). For two policies scored on the same tasks,
    :func:`paired_bootstrap_difference` is sharper.

    Args:
        successes: Successes of the policy in question.
        n: Its number of episodes.
        base_successes: Successes of the policy compared against.
        base_n: Its number of episodes.
        z: Standard normal quantile of the wanted coverage.

    Returns:
        ``successes / n - base_successes / base_n`` and its interval, in [-1, 1].

    Raises:
        ConfigurationError: If a number of successes and its ``n`` do not fit.
    """
    new = wilson_interval(successes, n, z)
    base = wilson_interval(base_successes, base_n, z)
    difference = new.estimate - base.estimate
    below = sqrt((new.estimate - new.low) ** 2 + (base.high - base.estimate) ** 2)
    above = sqrt((new.high - new.estimate) ** 2 + (base.estimate - base.low) ** 2)
    return Interval(difference - below, difference + above, difference)


def pass_at_k(n: int, c: int, k: int) -> float:
    """Return the unbiased estimate that at least one of ``k`` attempts succeeds (pass@k).

    ``1 - C(n - c, k) / C(n, k)`` (Chen et al. 2021, arXiv:2107.03374).

    Args:
        n: Attempts made at one task.
        c: How many of them succeeded.
        k: Attempts asked about, at most ``n``.

    Raises:
        ConfigurationError: If not ``0 <= c <= n`` and ``1 <= k <= n``.
    """
    _check_attempts(n, c, k)
    return 1.0 - comb(n - c, k) / comb(n, k)


def pass_hat_k(n: int, c: int, k: int) -> float:
    """Return the unbiased estimate that all of ``k`` attempts succeed (pass^k).

    ``C(c, k) / C(n, k)`` (Yao et al. 2024, arXiv:2406.12045).

    Args:
        n: Attempts made at one task.
        c: How many of them succeeded.
        k: Attempts asked about, at most ``n``.

    Raises:
        ConfigurationError: If not ``0 <= c <= n`` and ``1 <= k <= n``.
    """
    _check_attempts(n, c, k)
    return comb(c, k) / comb(n, k)


def bootstrap_mean_interval(
    values: Mapping[str, Sequence[float]],
    *,
    seed: int = 0,
    resamples: int = 1000,
    level: float = 0.95,
) -> Interval:
    """Return the mean over tasks with a percentile interval from resampling tasks.

    Every task weighs the same, however often it was attempted: the estimate is the mean of the
    tasks' means. The result follows from the arguments alone; the order of tasks does not matter.

    Args:
        values: Results by task id, at least one task and one result for each.
        seed: Seed of the resampling.
        resamples: Number of resamples.
        level: Coverage, between 0 and 1.

    Raises:
        ConfigurationError: If ``values`` is empty, a task has no results, or ``resamples`` or
            ``level`` is out of range.
    """
    return _bootstrap(_task_means(values), seed, resamples, level)


def paired_bootstrap_difference(
    values: Mapping[str, Sequence[float]],
    base: Mapping[str, Sequence[float]],
    *,
    seed: int = 0,
    resamples: int = 1000,
    level: float = 0.95,
) -> Interval:
    """Return how much better one policy does than another on the same tasks, with an interval.

    Tasks are resampled with both policies' results together, so the difficulty that the tasks have
    in common cancels out.

    Args:
        values: Results of the policy in question, by task id.
        base: Results of the policy compared against, for the same task ids.
        seed: Seed of the resampling.
        resamples: Number of resamples.
        level: Coverage, between 0 and 1.

    Raises:
        ConfigurationError: As :func:`bootstrap_mean_interval`, or if the task ids differ.
    """
    if values.keys() != base.keys():
        unpaired = sorted(values.keys() ^ base.keys())
        raise ConfigurationError(
            f"Both policies need results on the same tasks; {len(unpaired)} have only one, such as "
            f"{unpaired[0]!r}."
        )
    return _bootstrap(_task_means(values) - _task_means(base), seed, resamples, level)


def clustered_interval(
    values: Mapping[str, Sequence[float]],
    clusters: Mapping[str, str],
    *,
    seed: int = 0,
    resamples: int = 1000,
    level: float = 0.95,
) -> Interval:
    """Return the mean over tasks with a percentile interval from resampling clusters of tasks.

    Tasks that share a patient, a chart or a case succeed and fail together; drawn one by one they
    would seem to be more than they are. Here a cluster is drawn with all of its tasks.

    Args:
        values: Results by task id, at least one task and one result for each.
        clusters: What each task shares with others, by task id.
        seed: Seed of the resampling.
        resamples: Number of resamples.
        level: Coverage, between 0 and 1.

    Raises:
        ConfigurationError: As :func:`bootstrap_mean_interval`, or if a task has no cluster.
    """
    homeless = sorted(values.keys() - clusters.keys())
    if homeless:
        raise ConfigurationError(f"Task {homeless[0]!r} is in no cluster.")
    means = _task_means(values)
    groups: dict[str, list[float]] = {}
    for task, mean in zip(sorted(values), means, strict=True):
        groups.setdefault(clusters[task], []).append(float(mean))
    sums = np.array([sum(groups[name]) for name in sorted(groups)])
    sizes = np.array([len(groups[name]) for name in sorted(groups)])
    _check_resampling(resamples, level)
    rng = np.random.default_rng(np.random.SeedSequence(seed))
    drawn = (rng.integers(len(sums), size=len(sums)) for _ in range(resamples))
    ratios = [float(sums[picked].sum() / sizes[picked].sum()) for picked in drawn]
    low, high = np.quantile(ratios, [(1 - level) / 2, (1 + level) / 2])
    return Interval(float(low), float(high), float(means.mean()))


def cohen_kappa(pairs: Sequence[tuple[bool, bool]]) -> float | None:
    """Return Cohen's kappa of two judgements of the same things (Cohen 1960).

    ``(p_o - p_e) / (1 - p_e)``: agreement beyond what chance gives to two who say yes as often.

    Args:
        pairs: What the one and the other say of each thing, at least one.

    Returns:
        Kappa in [-1, 1]; None where both always say the same thing, for then chance alone agrees.

    Raises:
        ConfigurationError: If there is no pair.
    """
    if not pairs:
        raise ConfigurationError("Agreement needs at least one pair of judgements.")
    n = len(pairs)
    ours, theirs = (sum(pair[side] for pair in pairs) / n for side in (0, 1))
    chance = ours * theirs + (1 - ours) * (1 - theirs)
    if chance == 1:
        return None
    return (sum(one == other for one, other in pairs) / n - chance) / (1 - chance)


def kappa_interval(
    pairs: Mapping[str, Sequence[tuple[bool, bool]]],
    *,
    seed: int = 0,
    resamples: int = 1000,
    level: float = 0.95,
) -> Interval | None:
    """Return Cohen's kappa with a percentile interval from resampling tasks.

    A resample in which kappa is not defined is left out.

    Args:
        pairs: What the one and the other say, by task id; at least one pair.
        seed: Seed of the resampling.
        resamples: Number of resamples.
        level: Coverage, between 0 and 1.

    Returns:
        Kappa and its interval; None where kappa is not defined.

    Raises:
        ConfigurationError: If there is no pair, or ``resamples`` or ``level`` is out of range.
    """
    _check_resampling(resamples, level)
    groups = [pairs[task] for task in sorted(pairs)]
    estimate = cohen_kappa([pair for group in groups for pair in group])
    if estimate is None:
        return None
    rng = np.random.default_rng(np.random.SeedSequence(seed))
    drawn = (rng.integers(len(groups), size=len(groups)) for _ in range(resamples))
    found = (cohen_kappa([pair for n in picked for pair in groups[n]]) for picked in drawn)
    defined = [kappa for kappa in found if kappa is not None]
    low, high = np.quantile(defined or [estimate], [(1 - level) / 2, (1 + level) / 2])
    return Interval(float(low), float(high), estimate)


def _bootstrap(
    task_means: NDArray[np.float64], seed: int, resamples: int, level: float
) -> Interval:
    _check_resampling(resamples, level)
    rng = np.random.default_rng(np.random.SeedSequence(seed))
    n = len(task_means)
    # One resample at a time: an index matrix for all of them would not fit for large evaluations.
    means = [task_means[rng.integers(n, size=n)].mean() for _ in range(resamples)]
    low, high = np.quantile(means, [(1 - level) / 2, (1 + level) / 2])
    return Interval(float(low), float(high), float(task_means.mean()))


def _task_means(values: Mapping[str, Sequence[float]]) -> NDArray[np.float64]:
    if not values:
        raise ConfigurationError("A mean over tasks needs at least one task.")
    empty = [task for task in sorted(values) if len(values[task]) == 0]
    if empty:
        raise ConfigurationError(f"Task {empty[0]!r} has no results.")
    return np.array([float(np.mean(values[task])) for task in sorted(values)])


def _check_resampling(resamples: int, level: float) -> None:
    if resamples < 1:
        raise ConfigurationError(f"A bootstrap needs at least one resample, not {resamples}.")
    if not 0.0 < level < 1.0:
        raise ConfigurationError(f"A coverage lies between 0 and 1, not {level}.")


def _check_count(n: int, successes: int) -> None:
    if n < 1 or not 0 <= successes <= n:
        raise ConfigurationError(f"{successes} successes of {n} episodes is not a count.")


def _check_attempts(n: int, c: int, k: int) -> None:
    _check_count(n, c)
    if not 1 <= k <= n:
        raise ConfigurationError(f"With {n} attempts, k must lie between 1 and {n}, not {k}.")
