"""Shared metrics against brute force, and at their edges."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from healthgym.errors import ConfigurationError
from healthgym.rewards.metrics import (
    PrecisionRecall,
    auroc,
    average_precision,
    cluster_recall,
    f1_score,
    precision_recall_f1,
    recall_at_k,
)

small_sets = st.sets(st.integers(0, 12))
# Few distinct scores, so that ties are the rule.
scored = st.lists(st.tuples(st.booleans(), st.integers(-3, 3)), min_size=1, max_size=25)


def pairwise_auroc(labels: list[bool], scores: list[float]) -> float:
    positives = [s for label, s in zip(labels, scores, strict=True) if label]
    negatives = [s for label, s in zip(labels, scores, strict=True) if not label]
    wins = [(p > n) + 0.5 * (p == n) for p, n in product(positives, negatives)]
    return sum(wins) / len(wins)


def threshold_average_precision(labels: list[bool], scores: list[float]) -> float:
    total, last_recall = 0.0, 0.0
    for threshold in sorted(set(scores), reverse=True):
        claimed = [label for label, s in zip(labels, scores, strict=True) if s >= threshold]
        recall = sum(claimed) / sum(labels)
        total += (recall - last_recall) * sum(claimed) / len(claimed)
        last_recall = recall
    return total


@given(scored)
def test_auroc_is_the_share_of_pairs_in_order(pairs: list[tuple[bool, int]]) -> None:
    labels = [label for label, _ in pairs]
    scores = [float(score) for _, score in pairs]
    if len(set(labels)) == 1:
        with pytest.raises(ConfigurationError, match="one class"):
            auroc(labels, scores)
    else:
        assert auroc(labels, scores) == pytest.approx(pairwise_auroc(labels, scores))
        flipped = auroc([not label for label in labels], scores)
        assert auroc(labels, scores) + flipped == pytest.approx(1.0)


@given(scored)
def test_average_precision_sums_over_thresholds(pairs: list[tuple[bool, int]]) -> None:
    labels = [label for label, _ in pairs]
    scores = [float(score) for _, score in pairs]
    if not any(labels):
        with pytest.raises(ConfigurationError, match="without positives"):
            average_precision(labels, scores)
    else:
        expected = threshold_average_precision(labels, scores)
        assert average_precision(labels, scores) == pytest.approx(expected)
        backwards = average_precision(labels[::-1], scores[::-1])
        assert average_precision(labels, scores) == pytest.approx(backwards)


def test_constant_scores_carry_no_information() -> None:
    labels = [True, False, False, False]
    assert auroc(labels, [0.3] * 4) == 0.5
    assert average_precision(labels, [0.3] * 4) == 0.25


def test_infinite_scores_are_ordered() -> None:
    assert auroc([False, True], [-np.inf, np.inf]) == 1.0


@pytest.mark.parametrize("metric", [auroc, average_precision])
@pytest.mark.parametrize(
    ("labels", "scores"),
    [([True, False], [0.1]), ([[True, False]], [[0.1, 0.2]]), ([True, False], [0.1, np.nan])],
    ids=["lengths", "dimensions", "nan"],
)
def test_what_cannot_be_ranked_is_refused(metric, labels, scores) -> None:
    with pytest.raises(ConfigurationError):
        metric(labels, scores)


@given(small_sets, small_sets)
def test_set_scores_follow_their_definition(found: set[int], relevant: set[int]) -> None:
    score = precision_recall_f1(found, relevant)
    if found and relevant:
        assert score.precision == len(found & relevant) / len(found)
        assert score.recall == len(found & relevant) / len(relevant)
        total = score.precision + score.recall
        harmonic = 2 * score.precision * score.recall / total if total else 0.0
        assert score.f1 == pytest.approx(harmonic)
    assert (score.f1 == 1.0) == (found == relevant)


@pytest.mark.parametrize(
    ("found", "relevant", "expected"),
    [
        (set(), set(), PrecisionRecall(1.0, 1.0, 1.0)),
        (set(), {1}, PrecisionRecall(0.0, 0.0, 0.0)),
        ({1}, set(), PrecisionRecall(0.0, 1.0, 0.0)),
    ],
)
def test_set_scores_at_the_empty_edges(
    found: set[int], relevant: set[int], expected: PrecisionRecall
) -> None:
    assert precision_recall_f1(found, relevant) == expected


def test_f1_of_counts() -> None:
    assert f1_score(3, 1, 2) == pytest.approx(2 / 3)
    assert f1_score(0, 0, 0) == 1.0
    assert f1_score(0, 4, 0) == 0.0
    with pytest.raises(ConfigurationError, match="negative"):
        f1_score(1, -1, 0)


@given(
    st.lists(st.integers(0, 12), max_size=20), st.sets(st.integers(0, 12), min_size=1), st.data()
)
def test_recall_at_k_counts_distinct_hits(
    ranked: list[int], relevant: set[int], data: st.DataObject
) -> None:
    k = data.draw(st.integers(1, 25))
    hits = sum(item in ranked[:k] for item in relevant)
    assert recall_at_k(ranked, relevant, k) == hits / len(relevant)
    assert recall_at_k(ranked, relevant, k) <= recall_at_k(ranked, relevant, k + 1)


def test_repeats_take_up_places() -> None:
    assert recall_at_k(["a", "a", "b"], ["a", "b"], k=2) == 0.5
    assert recall_at_k(["a", "b", "a"], ["a", "b"], k=2) == 1.0


@pytest.mark.parametrize(("relevant", "k"), [([], 5), (["a"], 0)])
def test_undefined_recall_is_refused(relevant: list[str], k: int) -> None:
    with pytest.raises(ConfigurationError):
        recall_at_k(["a"], relevant, k)


def test_one_member_catches_a_cluster_by_default() -> None:
    clusters = [{"a", "b"}, {"c"}, {"d", "e", "f"}]
    assert cluster_recall({"a", "f", "other"}, clusters) == pytest.approx(2 / 3)
    assert cluster_recall(set(), clusters) == 0.0
    assert cluster_recall({"a", "c", "d"}, clusters) == 1.0


def test_a_shared_row_does_not_reach_a_fraction() -> None:
    clusters = [{"shared", "a"}, {"shared", "b", "c"}]
    assert cluster_recall({"shared"}, clusters) == 1.0
    assert cluster_recall({"shared"}, clusters, fraction=0.5) == 0.5
    assert cluster_recall({"shared"}, clusters, fraction=1.0) == 0.0


@pytest.mark.parametrize("tenths", range(1, 11))
def test_exactly_the_fraction_is_enough(tenths: int) -> None:
    cluster = set(range(10))
    assert cluster_recall(set(range(tenths)), [cluster], fraction=tenths / 10) == 1.0
    assert cluster_recall(set(range(tenths - 1)), [cluster], fraction=tenths / 10) == 0.0


@pytest.mark.parametrize(
    ("clusters", "fraction"), [([], 0.0), ([set()], 0.0), ([{1}], 1.5), ([{1}], float("nan"))]
)
def test_undefined_cluster_recall_is_refused(clusters: list[set[int]], fraction: float) -> None:
    with pytest.raises(ConfigurationError):
        cluster_recall({1}, clusters, fraction)
