"""Weighted choice."""

from __future__ import annotations

import pickle
from collections import Counter
from typing import Any

import numpy as np
import pytest

from healthgym.core.choice import Weighted
from healthgym.errors import ConfigurationError


def drawn(choice: Weighted[Any], count: int, seed: int = 0) -> list[Any]:
    rng = np.random.default_rng(seed)
    return [choice.draw(rng) for _ in range(count)]


def test_weights_are_shares() -> None:
    counts = Counter(drawn(Weighted({"rare": 1, "common": 2.0, "most": 5}), 8000))
    assert counts["rare"] == pytest.approx(1000, rel=0.1)
    assert counts["common"] == pytest.approx(2000, rel=0.1)
    assert counts["most"] == pytest.approx(5000, rel=0.1)


def test_only_proportions_matter() -> None:
    small, large = ({"a": 1.0 * scale, "b": 3.0 * scale} for scale in (0.25, 64.0))
    assert Weighted(small) == Weighted(large)
    assert drawn(Weighted(small), 50) == drawn(Weighted(large), 50)


def test_pairs_need_no_hash_and_are_read_once() -> None:
    pairs = [([1], 1.0), ([2], 1.0)]
    assert Weighted(pair for pair in pairs).items == Weighted(pairs).items == ([1], [2])


def test_a_draw_takes_one_number_of_the_generator() -> None:
    ours, theirs = np.random.default_rng(3), np.random.default_rng(3)
    Weighted({"only": 1.0}).draw(ours)
    theirs.random()
    assert ours.random() == theirs.random()


def test_it_draws_what_numpy_draws() -> None:
    shares = {"a": 0.2, "b": 0.5, "c": 0.3}
    rng = np.random.default_rng(5)
    theirs = [str(rng.choice(list(shares), p=list(shares.values()))) for _ in range(500)]
    assert drawn(Weighted(shares), 500, seed=5) == theirs


@pytest.mark.parametrize(
    ("number", "item"), [(0.0, "b"), (0.25, "c"), (np.nextafter(1.0, 0.0), "c")]
)
def test_a_weight_of_zero_is_never_drawn(number: float, item: str) -> None:
    choice = Weighted({"a": 0.0, "b": 1.0, "c": 3.0, "d": 0})
    assert choice.items == ("b", "c")
    assert choice.at(number) == item


def test_a_number_stands_for_an_item() -> None:
    choice = Weighted({"a": 1.0, "b": 3.0})
    assert [choice.at(number) for number in (0.0, 0.2, 0.25, 0.9)] == ["a", "a", "b", "b"]


def test_rounding_of_the_last_edge_is_borne() -> None:
    # Ten times a tenth, added one by one, is less than their exact sum.
    choice = Weighted(dict.fromkeys(range(10), 0.1))
    assert choice.edges[-1] < 1.0
    assert choice.at(choice.edges[-1]) == 9


def test_it_is_a_value() -> None:
    choice = Weighted({"a": 1.0, "b": 2.0})
    assert pickle.loads(pickle.dumps(choice)) == choice
    assert hash(choice) == hash(Weighted([("a", 1.0), ("b", 2.0)]))
    with pytest.raises(AttributeError):
        choice.items = ()  # type: ignore[misc]


@pytest.mark.parametrize(
    "weights",
    [
        {},
        [],
        {"a": 0.0, "b": 0},
        {"a": 2.0, "b": -1.0},
        {"a": 1.0, "b": float("nan")},
        {"a": 1.0, "b": float("inf")},
        {"a": float("inf"), "b": -float("inf")},
        {"a": 1e308, "b": 1e308},
        {"a": "1"},
        {"a": None},
    ],
)
def test_weights_that_are_none_are_refused(weights: Any) -> None:
    with pytest.raises(ConfigurationError, match="Weights of levels are positive"):
        Weighted(weights, "levels")
