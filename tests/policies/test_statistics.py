"""Intervals against published values and properties they must have."""

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from healthgym.errors import ConfigurationError
from healthgym.policies.statistics import (
    Interval,
    bootstrap_mean_interval,
    clustered_interval,
    cohen_kappa,
    kappa_interval,
    newcombe_difference,
    paired_bootstrap_difference,
    pass_at_k,
    pass_hat_k,
    wilson_interval,
)


def rounded(interval: Interval) -> tuple[float, float]:
    return round(interval.low, 4), round(interval.high, 4)


# Table I of Newcombe 1998, Statistics in Medicine 17:857-872, method 3.
@pytest.mark.parametrize(
    ("successes", "n", "expected"),
    [
        (81, 263, (0.2553, 0.3662)),
        (15, 148, (0.0624, 0.1605)),
        (0, 20, (0.0, 0.1611)),
        (1, 29, (0.0061, 0.1718)),
    ],
)
def test_wilson_gives_the_published_intervals(
    successes: int, n: int, expected: tuple[float, float]
) -> None:
    assert rounded(wilson_interval(successes, n)) == expected


@given(st.integers(1, 2000), st.data())
def test_wilson_is_symmetric_and_holds_its_estimate(n: int, data: st.DataObject) -> None:
    successes = data.draw(st.integers(0, n))
    interval = wilson_interval(successes, n)
    mirror = wilson_interval(n - successes, n)
    assert 0.0 <= interval.low <= interval.estimate <= interval.high <= 1.0
    assert interval.low < interval.high
    assert interval.low == pytest.approx(1 - mirror.high, abs=1e-12)


# Table II of Newcombe 1998, Statistics in Medicine 17:873-890, method 10.
@pytest.mark.parametrize(
    ("counts", "expected"),
    [
        ((56, 70, 48, 80), (0.0524, 0.3339)),
        ((9, 10, 3, 10), (0.1705, 0.8090)),
        ((10, 10, 0, 10), (0.6075, 1.0)),
    ],
)
def test_newcombe_gives_the_published_intervals(
    counts: tuple[int, int, int, int], expected: tuple[float, float]
) -> None:
    assert rounded(newcombe_difference(*counts)) == expected


def test_newcombe_turns_its_sign_with_the_order() -> None:
    forth = newcombe_difference(130, 200, 90, 200)
    back = newcombe_difference(90, 200, 130, 200)
    assert forth.estimate == pytest.approx(0.2)
    assert (forth.low, forth.high) == pytest.approx((-back.high, -back.low))


@given(st.integers(1, 7), st.data())
def test_pass_rates_are_those_of_all_draws(n: int, data: st.DataObject) -> None:
    c = data.draw(st.integers(0, n))
    k = data.draw(st.integers(1, n))
    draws = list(combinations([True] * c + [False] * (n - c), k))
    assert pass_at_k(n, c, k) == pytest.approx(sum(map(any, draws)) / len(draws))
    assert pass_hat_k(n, c, k) == pytest.approx(sum(map(all, draws)) / len(draws))


def test_pass_rates_of_many_attempts_do_not_overflow() -> None:
    assert pass_at_k(4000, 2000, 2000) == pytest.approx(1.0)
    assert pass_hat_k(4000, 3999, 2000) == pytest.approx(0.5)


@pytest.mark.parametrize(("n", "c", "k"), [(4, 5, 1), (4, -1, 1), (4, 2, 0), (4, 2, 5), (0, 0, 1)])
@pytest.mark.parametrize("rate", [pass_at_k, pass_hat_k])
def test_impossible_attempts_are_refused(rate, n: int, c: int, k: int) -> None:
    with pytest.raises(ConfigurationError):
        rate(n, c, k)


@pytest.mark.parametrize(("successes", "n"), [(0, 0), (3, 2), (-1, 2)])
def test_impossible_counts_are_refused(successes: int, n: int) -> None:
    with pytest.raises(ConfigurationError):
        wilson_interval(successes, n)


def test_a_bootstrap_weighs_tasks_not_episodes() -> None:
    values = {"often": [1.0] * 9, "once": [0.0]}
    assert bootstrap_mean_interval(values).estimate == 0.5


def test_a_bootstrap_follows_from_its_seed_and_not_from_the_order() -> None:
    values = {f"t{i}": [float(i % 3 == 0), float(i % 2 == 0)] for i in range(40)}
    turned = dict(reversed(values.items()))
    first = bootstrap_mean_interval(values, seed=3)
    assert first == bootstrap_mean_interval(turned, seed=3)
    assert first != bootstrap_mean_interval(values, seed=4)


def test_repeats_of_a_task_do_not_narrow_its_interval() -> None:
    once = {f"t{i}": [float(i % 2)] for i in range(30)}
    often = {task: result * 50 for task, result in once.items()}
    assert bootstrap_mean_interval(often) == bootstrap_mean_interval(once)


def test_a_bootstrap_of_single_episodes_agrees_with_wilson() -> None:
    values = {f"t{i}": [float(i < 120)] for i in range(200)}
    interval = bootstrap_mean_interval(values, resamples=4000)
    expected = wilson_interval(120, 200)
    assert interval.estimate == expected.estimate
    assert interval.low == pytest.approx(expected.low, abs=0.01)
    assert interval.high == pytest.approx(expected.high, abs=0.01)


def test_a_wider_level_holds_a_narrower_one() -> None:
    values = {f"t{i}": [float(i % 3 == 0)] for i in range(60)}
    narrow = bootstrap_mean_interval(values, level=0.5)
    wide = bootstrap_mean_interval(values, level=0.99)
    assert wide.low < narrow.low < narrow.estimate < narrow.high < wide.high


def test_pairing_removes_what_tasks_have_in_common() -> None:
    base = {f"t{i}": [float(i % 10)] for i in range(50)}
    better = {task: [result[0] + 0.5] for task, result in base.items()}
    difference = paired_bootstrap_difference(better, base)
    assert difference == Interval(low=0.5, high=0.5, estimate=0.5)


def test_a_difference_without_effect_holds_zero() -> None:
    base = {f"t{i}": [float(i % 2)] for i in range(50)}
    other = {f"t{i}": [float(i % 4 < 2)] for i in range(50)}
    difference = paired_bootstrap_difference(other, base)
    assert difference.low < 0.0 < difference.high


def test_unpaired_tasks_are_refused() -> None:
    with pytest.raises(ConfigurationError, match="'b'"):
        paired_bootstrap_difference({"a": [1.0]}, {"a": [1.0], "b": [0.0]})


@pytest.mark.parametrize(
    ("values", "options"),
    [
        ({}, {}),
        ({"a": []}, {}),
        ({"a": [1.0]}, {"resamples": 0}),
        ({"a": [1.0]}, {"level": 1.0}),
    ],
    ids=["no tasks", "no results", "no resamples", "level"],
)
def test_an_undefined_bootstrap_is_refused(values, options) -> None:
    with pytest.raises(ConfigurationError):
        bootstrap_mean_interval(values, **options)


def test_tasks_that_share_a_case_are_drawn_together() -> None:
    values = {f"t{n}": [float(n % 2)] for n in range(40)}
    alone = clustered_interval(values, {task: task for task in values})
    # Twenty pairs that end alike carry half as much as forty tasks.
    alike = {f"t{n}": [float(n // 2 % 2)] for n in range(40)}
    paired = clustered_interval(alike, {f"t{n}": f"c{n // 2}" for n in range(40)})
    assert alone.estimate == paired.estimate == 0.5
    assert paired.high - paired.low > 1.25 * (alone.high - alone.low)


def test_clusters_of_one_give_the_bootstrap_over_tasks() -> None:
    values = {f"t{n:02d}": [float(n % 3 == 0)] for n in range(30)}
    own = clustered_interval(values, {task: task for task in values})
    assert own == bootstrap_mean_interval(values)


def test_a_task_without_a_cluster_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="'t1' is in no cluster"):
        clustered_interval({"t0": [1.0], "t1": [0.0]}, {"t0": "c"})


# -- agreement -----------------------------------------------------------------------------------


def table_of(both: int, first: int, second: int, neither: int) -> list[tuple[bool, bool]]:
    return (
        [(True, True)] * both
        + [(True, False)] * first
        + [(False, True)] * second
        + [(False, False)] * neither
    )


# (p_o - p_e) / (1 - p_e) by hand: 0.7 and 0.5; 0.6 and 0.54; 0.6 and 0.46.
@pytest.mark.parametrize(
    ("counts", "kappa"),
    [
        ((20, 5, 10, 15), 0.4),
        ((45, 15, 25, 15), 0.06 / 0.46),
        ((25, 35, 5, 35), 0.14 / 0.54),
        ((10, 0, 0, 10), 1.0),
        ((0, 10, 10, 0), -1.0),
    ],
)
def test_kappa_is_cohens(counts: tuple[int, int, int, int], kappa: float) -> None:
    assert cohen_kappa(table_of(*counts)) == pytest.approx(kappa)


def test_kappa_is_not_defined_where_both_always_say_the_same() -> None:
    assert cohen_kappa(table_of(9, 0, 0, 0)) is None
    assert kappa_interval({"a": table_of(9, 0, 0, 0)}) is None
    # Somebody who says yes to everything agrees by chance alone.
    assert cohen_kappa(table_of(5, 4, 0, 0)) == 0.0
    with pytest.raises(ConfigurationError, match="at least one pair"):
        cohen_kappa([])


def test_the_interval_of_kappa_resamples_tasks() -> None:
    pairs = table_of(20, 5, 10, 15)
    alone = kappa_interval({f"t{n}": [pair] for n, pair in enumerate(pairs)})
    grouped = kappa_interval({f"t{n}": [pair] * 4 for n, pair in enumerate(pairs)})
    assert alone is not None
    assert grouped is not None
    assert alone.low < alone.estimate < alone.high
    # The same said four times of a task is no more than said once.
    assert rounded(grouped) == rounded(alone)
