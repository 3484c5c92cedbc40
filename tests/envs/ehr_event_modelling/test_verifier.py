"""Parity with the source's evaluator, and mutations of a perfect submission."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from healthgym.core.seeding import Split
from healthgym.core.verdict import Profile, Verdict
from healthgym.envs.ehr_event_modelling import paper as source
from healthgym.envs.ehr_event_modelling import verifier
from healthgym.envs.ehr_event_modelling.baseline import Bar, bar_of, chance
from healthgym.envs.ehr_event_modelling.env import EhrEventModellingEnv
from healthgym.envs.ehr_event_modelling.task import (
    EventInstance,
    EventReference,
    Predictions,
    Target,
)
from healthgym.envs.ehr_event_modelling.verifier import by_our_rule, threshold
from healthgym.envs.ehr_event_modelling.vocabulary import published
from tests.envs.ehr_event_modelling.judging import paper, predict, strict


@pytest.fixture
def reference(tiny_instance: EventInstance) -> EventReference:
    return tiny_instance.reference


def perfect(reference: EventReference) -> Predictions:
    return predict(reference, np.where(reference.labels, 0.9, 0.1))


def failed(verdict: Verdict) -> set[str]:
    return {result.check.name for result in verdict.checks if not result.passed}


def repeated(made: Predictions, rows: Any, times: int) -> Predictions:
    order = np.concatenate([np.arange(len(made)), np.repeat(rows, times)])
    return replace(
        made,
        patient_id=made.patient_id[order],
        time=made.time[order],
        probability=made.probability[order],
    )


def without(made: Predictions, row: int) -> Predictions:
    keep = np.arange(len(made)) != row
    return replace(
        made,
        patient_id=made.patient_id[keep],
        time=made.time[keep],
        probability=made.probability[keep],
    )


# -- the source's evaluator ------------------------------------------------------------------------


def test_missing_row_is_invalid(reference: EventReference) -> None:
    outcome = source.evaluate(without(perfect(reference), 3), reference)
    assert outcome.auroc is None
    assert "no prediction" in outcome.fault


@pytest.mark.parametrize("value", [np.nan, 1.0001, -0.1, np.inf])
def test_missing_or_impossible_probability_is_invalid(
    reference: EventReference, value: float
) -> None:
    made = perfect(reference)
    made.probability[5] = value
    assert source.evaluate(made, reference).auroc is None
    assert not paper(made, reference).success


def test_auroc_equal_to_the_bar_passes(reference: EventReference) -> None:
    scores = np.random.default_rng(0).random(len(reference.labels)) + reference.labels * 0.4
    made = predict(reference, scores / 2)
    reached = source.evaluate(made, reference).auroc
    assert reached is not None
    assert paper(made, replace(reference, published=reached)).success
    above = replace(reference, published=float(np.nextafter(reached, 1)))
    assert failed(paper(made, above)) == {"auroc"}


@pytest.mark.parametrize("target", Target)
def test_constant_probability_fails_on_every_published_bar(
    reference: EventReference, target: Target
) -> None:
    made = predict(reference, np.full(len(reference.labels), 0.3))
    barred = replace(reference, published=published()[target].bar)
    verdict = paper(made, barred)
    assert failed(verdict) == {"auroc"}
    assert verdict.metrics["auroc"] == 0.5


@pytest.mark.parametrize("holes", [False, True])
@pytest.mark.parametrize("rows", [slice(None), slice(1, None)])
def test_strict_is_never_looser_than_paper(
    reference: EventReference, rows: slice, holes: bool
) -> None:
    made = perfect(reference)
    part = Predictions(made.patient_id[rows], made.time[rows], made.probability[rows], holes=holes)
    assert strict(part, reference).success == paper(part, reference).success
    assert ("complete" in failed(strict(part, reference))) == (holes or rows.start is not None)


def test_rows_of_other_keys_are_ignored(reference: EventReference) -> None:
    made = perfect(reference)
    extended = Predictions(
        np.concatenate([made.patient_id, made.patient_id[:2], [1]]),
        np.concatenate([made.time, made.time[:2] + 1440, [0]]),
        np.concatenate([made.probability, [0.5, 0.5, 0.5]]),
    )
    assert source.evaluate(extended, reference) == source.evaluate(made, reference)


def test_duplicates_are_scored_as_often_as_they_are_there(reference: EventReference) -> None:
    scores = np.random.default_rng(2).random(len(reference.labels))
    made = predict(reference, scores)
    twice = repeated(made, np.arange(len(made)), 1)
    assert source.evaluate(twice, reference).auroc == pytest.approx(
        source.evaluate(made, reference).auroc
    )
    highest = np.flatnonzero(reference.labels)[np.argmax(scores[reference.labels])]
    one = source.evaluate(repeated(made, [highest], 500), reference).auroc
    assert one is not None
    assert one > 0.8


def test_order_of_rows_does_not_matter(reference: EventReference) -> None:
    made = predict(reference, np.random.default_rng(2).random(len(reference.labels)))
    order = np.random.default_rng(3).permutation(len(made))
    shuffled = Predictions(made.patient_id[order], made.time[order], made.probability[order])
    assert source.evaluate(shuffled, reference) == source.evaluate(made, reference)


# -- ours ------------------------------------------------------------------------------------------


def test_perfect_predictions_pass_both(reference: EventReference) -> None:
    assert strict(perfect(reference), reference).progress == 1.0
    assert paper(perfect(reference), reference).progress == 1.0


def test_mutations_fail_the_named_check(reference: EventReference) -> None:
    made = perfect(reference)
    unscored = {"skill", "bar"}
    assert failed(strict(None, reference)) == {"complete", "once", "cut_off", *unscored}
    assert failed(strict(without(made, 0), reference)) == {"complete", *unscored}
    assert failed(strict(repeated(made, [0], 1), reference)) == {"once", *unscored}
    assert failed(strict(replace(made, peeks=True), reference)) == {"cut_off", *unscored}
    for value in (np.nan, 2.0, -1.0, np.inf, -np.inf):
        broken = predict(reference, np.where(reference.labels, 0.9, 0.1))
        broken.probability[-1] = value
        assert failed(strict(broken, reference)) == {"complete", *unscored}
    late = replace(made, time=np.where(np.arange(len(made)) == 4, made.time + 1, made.time))
    assert failed(strict(late, reference)) == {"complete", "once", *unscored}
    assert failed(strict(replace(made, probability=1 - made.probability), reference)) == unscored


def test_constant_and_one_sided_scores_have_no_skill(reference: EventReference) -> None:
    for score in (0.0, 0.5, 1.0):
        verdict = strict(predict(reference, np.full(len(reference.labels), score)), reference)
        assert {"skill", "bar"} <= failed(verdict)
        assert verdict.progress == 0.0


def test_progress_grows_with_auroc_and_is_capped_at_the_threshold(
    reference: EventReference,
) -> None:
    noise = np.random.default_rng(5).random(len(reference.labels))
    steps = []
    for weight in (0.0, 0.1, 0.3, 0.9):
        mixed = (1 - weight) * noise + weight * reference.labels
        judgement = by_our_rule(predict(reference, mixed), reference)
        assert judgement.progress is not None
        steps.append(judgement.progress)
    assert steps == sorted(steps)
    assert steps[-1] == pytest.approx(0.9)
    assert 0.0 <= steps[0] < 0.5


@pytest.mark.parametrize("published", [0.0, 0.6, 0.9])
@pytest.mark.parametrize("bar", [Bar(0.8, 0.02, 0.6), Bar(0.62, 0.08, 0.75)])
def test_our_profile_never_asks_for_less_than_the_source(
    reference: EventReference, published: float, bar: Bar, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(verifier, "bar_of", lambda reference: bar)
    theirs = replace(reference, published=published)
    assert verifier.pass_mark(theirs) == (published or bar.auroc)
    assert threshold(theirs) == max(verifier.pass_mark(theirs), bar.chance)


def test_bar_is_reproducible_and_its_error_that_of_the_test_set(reference: EventReference) -> None:
    bar = bar_of(reference)
    positives, negatives = int(reference.labels.sum()), int((~reference.labels).sum())
    assert 0.6 < bar.auroc < 0.95
    # Hanley and McNeil (1982): the standard error of an AUROC from its size and the class sizes.
    area = bar.auroc
    one, two = area / (2 - area), 2 * area**2 / (1 + area)
    variance = area * (1 - area) + (positives - 1) * (one - area**2)
    variance += (negatives - 1) * (two - area**2)
    assert bar.error == pytest.approx(np.sqrt(variance / (positives * negatives)), rel=0.25)
    assert bar_of(replace(reference, key="another name, the same content")).auroc == bar.auroc


def test_chance_is_rarely_exceeded_by_random_scores() -> None:
    rng = np.random.default_rng(0)
    labels = np.arange(300) < 12
    ranks = np.array([rng.permutation(300)[:12].sum() for _ in range(4000)])
    found = (ranks - 12 * 11 / 2) / (12 * 288)
    assert (found > chance(labels)).mean() < 0.003


def test_a_draft_that_is_not_handed_in_is_not_judged(desk: Any) -> None:
    env: EhrEventModellingEnv = desk()
    instance = env.family.generator.generate(Split.TRAIN, 0)
    for action in env.family.oracle(instance, np.random.default_rng(0))[:-1]:
        assert "error" not in env.step(action)[4]
    env.episode.stop()
    for profile in Profile:
        verdict = env.episode.verdict(profile=profile)
        assert failed(verdict) == {check.name for check in env.family.checks(profile)}
        assert (verdict.progress, verdict.metrics) == (0.0, {})


@pytest.mark.parametrize("profile", Profile)
def test_the_checks_are_those_of_a_verdict(reference: EventReference, profile: Profile) -> None:
    judge = paper if profile is Profile.PAPER else strict
    listed = EhrEventModellingEnv.family_class.verifier.checks(profile)
    for made in (None, perfect(reference)):
        verdict = judge(made, reference)
        assert verdict.profile is profile
        assert tuple(result.check for result in verdict.checks) == listed
