"""The verdict on predictions: the source's rule, and ours."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from healthgym.core.verdict import Check, CheckResult, Judgement, Profile
from healthgym.core.verifier import Evidence, Verifier
from healthgym.envs.ehr_event_modelling import paper
from healthgym.envs.ehr_event_modelling.baseline import bar_of
from healthgym.envs.ehr_event_modelling.task import EventReference, EventTask, Predictions
from healthgym.envs.ehr_event_modelling.timeline import Floats
from healthgym.envs.ehr_event_modelling.world import ModellingWorld
from healthgym.rewards.metrics import auroc, average_precision

COMPLETE = Check(
    "complete",
    "Every test row has a prediction that is a number from 0 to 1, and no further column that is "
    "handed in has an empty cell.",
    loophole="Leaving out hard rows, or scoring them with no number; the published aligner raises "
    "on empty cells, wherever they are.",
)
ONCE = Check(
    "once",
    "Every test row has one prediction, and there are no others.",
    loophole="Rows predicted several times count several times in the source's AUROC, so that "
    "repeating the easy ones raises it.",
)
CUT_OFF = Check(
    "cut_off",
    "No feature of the submitted models looks past the prediction time.",
    loophole="Reading the outcome off the future of a record.",
)
SKILL = Check(
    "skill",
    "AUROC exceeds what scores without information reach once in a thousand test sets.",
    loophole="With few positives, any score passes the source's bar by luck now and then.",
)
BAR = Check(
    "bar",
    "AUROC is at least the source's bar, or that of counts and boosted trees on cleaned records.",
)

STRICT = (COMPLETE, ONCE, CUT_OFF, SKILL, BAR)
PAPER = (paper.VALID, paper.REACHED)

#: What reaching the bar is worth where another check fails.
_REACHED = 0.9


class EventModellingVerifier(Verifier[EventTask, EventReference, ModellingWorld]):
    """Judges predictions that were handed in by the labels of the test rows."""

    def checks(self, profile: Profile) -> tuple[Check, ...]:
        """Return the checks of a profile."""
        return PAPER if profile is Profile.PAPER else STRICT

    def judge(
        self, evidence: Evidence[EventTask, EventReference, ModellingWorld], profile: Profile
    ) -> Judgement:
        """Return what is found; total over whatever was drafted."""
        judge = by_the_source if profile is Profile.PAPER else by_our_rule
        return judge(evidence.after.predictions, evidence.reference)


def by_our_rule(made: Predictions | None, reference: EventReference) -> Judgement:
    """Return what our rule finds."""
    if made is None:
        missing = [check.result(False, "there are no predictions") for check in STRICT]
        return Judgement.of(missing, progress=0.0)
    scores, complete, once = _align(made, reference)
    cut_off = CUT_OFF.result(not made.peeks, "a feature looks ahead" if made.peeks else "")
    results = [complete, once, cut_off]
    if scores is None or not all(result.passed for result in results):
        results += [check.result(False, "not scored") for check in (SKILL, BAR)]
        return Judgement.of(results, progress=0.0)
    bar = bar_of(reference)
    wanted = threshold(reference)
    labels = reference.labels
    reached = auroc(labels, scores)
    results.append(SKILL.result(reached > bar.chance, f"AUROC {reached:.4f}"))
    results.append(BAR.result(reached >= pass_mark(reference), f"AUROC {reached:.4f}"))
    gain = (reached - 0.5) / (wanted - 0.5)
    return Judgement.of(
        results,
        progress=_REACHED * min(max(gain, 0.0), 1.0),
        metrics=_rounded(
            auroc=reached,
            average_precision=average_precision(labels, scores),
            brier=float(np.mean((scores - labels) ** 2)),
            bar=bar.auroc,
            bar_error=bar.error,
            chance=bar.chance,
            threshold=wanted,
        ),
    )


def pass_mark(reference: EventReference) -> float:
    """Return the AUROC that the source's rule asks for: its own figure where these are its rows."""
    return reference.published or bar_of(reference).auroc


def threshold(reference: EventReference) -> float:
    """Return the AUROC that our profile asks for, which is never less than the source's rule."""
    return max(pass_mark(reference), bar_of(reference).chance)


def by_the_source(made: Predictions | None, reference: EventReference) -> Judgement:
    """Return what the source's rule finds, with AUROC against the bar as progress."""
    outcome = paper.evaluate(made, reference)
    metrics: Mapping[str, float] = {}
    gain = 0.0
    bar = 0.0
    if outcome.auroc is not None:
        bar = pass_mark(reference)
        gain = (outcome.auroc - 0.5) / max(bar - 0.5, 1e-9)
        metrics = _rounded(
            auroc=outcome.auroc,
            average_precision=outcome.average_precision,
            brier=outcome.brier,
            bar=bar,
        )
    results = [
        paper.VALID.result(outcome.auroc is not None, outcome.fault),
        paper.REACHED.result(outcome.auroc is not None and outcome.auroc >= bar),
    ]
    progress = _REACHED * min(max(gain, 0.0), 1.0)
    return Judgement.of(results, progress=progress, metrics=metrics)


def _rounded(**values: float) -> dict[str, float]:
    # Six digits: enough to compare, and the same where sums differ in the last place.
    return {name: round(value, 6) for name, value in values.items()}


def _align(
    made: Predictions, reference: EventReference
) -> tuple[Floats | None, CheckResult, CheckResult]:
    """Return the score of each test row, if all can be scored, and the checks of form."""
    study = reference.study
    ids = study.timeline.patient_ids[study.test.patient]
    wanted = list(zip(ids.tolist(), study.test.time.tolist(), strict=True))
    known = set(wanted)
    given: dict[tuple[int, int], float] = {}
    double = stray = 0
    for patient, time, value in zip(
        made.patient_id.tolist(), made.time.tolist(), made.probability.tolist(), strict=True
    ):
        key = (patient, time)
        stray += key not in known
        double += key in given
        given[key] = value
    scores = np.array([given.get(key, np.nan) for key in wanted])
    with np.errstate(invalid="ignore"):
        bad = int((~((scores >= 0.0) & (scores <= 1.0))).sum())
    gaps = [f"{bad} of {len(wanted)} rows have none"] * bool(bad)
    gaps += ["a further column has an empty cell"] * made.holes
    complete = COMPLETE.result(not gaps, ", ".join(gaps))
    faults = [f"{double} double"] * bool(double) + [f"{stray} of other rows"] * bool(stray)
    once = ONCE.result(not faults, ", ".join(faults))
    return (None if gaps else scores), complete, once
