"""What pays under the source's rule and not under ours."""

from typing import Any

import numpy as np
import pytest

from healthgym.core.levels import Level
from healthgym.core.seeding import Split
from healthgym.envs.ehr_event_modelling.baseline import baseline_scores, fit_bar
from healthgym.envs.ehr_event_modelling.env import EhrEventModellingEnv
from healthgym.envs.ehr_event_modelling.generator import EventModellingGenerator
from healthgym.envs.ehr_event_modelling.sizes import CohortConfig
from healthgym.envs.ehr_event_modelling.task import (
    EventInstance,
    EventReference,
    Predictions,
    Target,
)
from tests.envs.ehr_event_modelling.judging import paper, strict


def both(reference: EventReference, made: Predictions) -> tuple[bool, bool]:
    return (paper(made, reference).success, strict(made, reference).success)


def rows_of(reference: EventReference, scores: Any, order: Any) -> Predictions:
    study = reference.study
    ids = study.timeline.patient_ids[study.test.patient]
    return Predictions(ids[order], study.test.time[order], np.asarray(scores)[order])


def test_repeating_the_easy_rows(tiny_instance: EventInstance) -> None:
    """H16: a poor model passes by handing in its surest rows many times."""
    reference = tiny_instance.reference
    noise = np.random.default_rng(1).random(len(reference.labels))
    rank = np.argsort(np.argsort(baseline_scores(reference))) / len(noise)
    scores = 0.5 * rank + 0.5 * noise
    plain = np.arange(len(scores))
    assert both(reference, rows_of(reference, scores, plain)) == (False, False)
    ranked = np.argsort(scores)
    order = np.concatenate([plain, np.repeat(ranked[:12], 400)])
    assert both(reference, rows_of(reference, scores, order)) == (True, False)


def test_luck_with_few_positives() -> None:
    """H16: where positives are as rare as the source's, guessing often enough passes."""
    rare = CohortConfig(patients=(300, 120, 300), least_positive=0.0, signal=0.3)
    generator = EventModellingGenerator(
        [Level("rare", rare)], (Target.CELIAC, Target.LUPUS), name="rare"
    )
    outcomes = []
    for index in range(6):
        reference = generator.generate(Split.TEST, index).reference
        rng = np.random.default_rng(index)
        plain = np.arange(len(reference.labels))
        for _ in range(20):
            outcomes.append(both(reference, rows_of(reference, rng.random(len(plain)), plain)))
    paper, strict = np.mean(outcomes, axis=0)
    assert paper > 0.1
    assert strict < 0.02
    assert fit_bar(reference).chance > 0.7


def test_rows_for_other_times(tiny_instance: EventInstance) -> None:
    """Predictions for moments nobody asked about are ignored by the source."""
    reference = tiny_instance.reference
    scores = np.where(reference.labels, 0.9, 0.1)
    made = rows_of(reference, scores, np.arange(len(scores)))
    later = Predictions(
        np.concatenate([made.patient_id, made.patient_id]),
        np.concatenate([made.time, made.time + 30 * 1440]),
        np.concatenate([made.probability, made.probability]),
    )
    assert both(reference, later) == (True, False)


def test_features_that_look_ahead(desk: Any, ask: Any) -> None:
    """A model that reads the future of train patients is refused, however it scores."""
    env: EhrEventModellingEnv = desk()
    assert "looks past" in ask(env, "build_features", name="future", days_after=365)
    shown = ask(env, "train_model", name="leaky", features=["future"], trees=60)
    # The outcome itself is among the features, so validation looks perfect ...
    assert float(shown.split("AUROC ")[2].split(",")[0]) > 0.97
    assert "looks past" in shown
    ask(env, "build_features", name="counts")
    ask(env, "train_model", name="fair", features=["counts"], trees=60)
    ask(env, "draft_predictions", models=["leaky"])
    made = env.episode.world.predictions
    assert made is not None
    reference = env.family.generator.generate(Split.TRAIN, 0).reference
    # ... and on test patients, who have no future, it is worth less than an honest one.
    ask(env, "draft_predictions", models=["fair"])
    fair = paper(env.episode.world.predictions, reference).metrics["auroc"]
    assert paper(made, reference).metrics["auroc"] < fair
    perfect = Predictions(made.patient_id, made.time, reference.labels * 0.9, peeks=True)
    assert both(reference, perfect) == (True, False)


@pytest.mark.parametrize("name", ["flood", "constant", "patient_id"])
def test_uninformed_policies_fail_both(desk: Any, name: str) -> None:
    env: EhrEventModellingEnv = desk()
    instance = env.family.generator.generate(Split.TRAIN, 0)
    script = env.family.baselines()[name](instance, np.random.default_rng(0))
    for action in script:
        *_, info = env.step(action)
    assert [info["verdict"][profile]["success"] for profile in ("paper", "strict")] == [False] * 2
