"""Predictions and verdicts on them, without an episode."""

from __future__ import annotations

from typing import Any

import numpy as np

from healthgym.core.verdict import Profile, Verdict
from healthgym.envs.ehr_event_modelling.task import EventReference, Predictions
from healthgym.envs.ehr_event_modelling.verifier import by_our_rule, by_the_source


def strict(made: Predictions | None, reference: EventReference) -> Verdict:
    """Return our verdict on predictions that were handed in."""
    return Verdict.from_judgement(Profile.STRICT, by_our_rule(made, reference))


def paper(made: Predictions | None, reference: EventReference) -> Verdict:
    """Return the source's verdict on predictions that were handed in."""
    return Verdict.from_judgement(Profile.PAPER, by_the_source(made, reference))


def predict(reference: EventReference, scores: Any) -> Predictions:
    """Return predictions of the test rows, in their order."""
    study = reference.study
    ids = study.timeline.patient_ids[study.test.patient]
    return Predictions(ids, study.test.time, np.asarray(scores, dtype=np.float64))
