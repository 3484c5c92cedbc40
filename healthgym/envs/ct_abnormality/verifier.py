"""The judge of calls, under both profiles."""

from __future__ import annotations

from collections.abc import Mapping

from healthgym.core.verdict import Check, Judgement, Profile
from healthgym.core.verifier import Evidence, Verifier
from healthgym.envs.ct_abnormality.predictions import (
    frames,
    parse_plain,
    parse_published,
    score,
    spread,
)
from healthgym.envs.ct_abnormality.task import CtReference, CtTask
from healthgym.rewards.metrics import Agreement, balanced_accuracy
from healthgym.worlds.volumes.world import VolumeWorld

PAPER_CORRECT = Check(
    "all_correct", "Read as the published evaluator reads them, all calls are right."
)
PLAIN_LINES = Check(
    "plain_lines",
    "Each line is 'finding: yes' or 'finding: no' for a finding that was asked for, in any case, "
    "in any word for yes and no that the source reads or that says seen or not, and as a person "
    "sets it out (in a list or a table, as JSON, under a heading); nothing stands beside it.",
    idle=True,
    loophole="lines the reader skips, or may read either way, cost nothing",
)
CALLED_ONCE = Check(
    "called_once",
    "Each finding asked for is called, and not both ways.",
    loophole="a finding called both ways, of which the last counts",
)
CORRECT = Check("correct", "Each call is right.")


class CtVerifier(Verifier[CtTask, CtReference, VolumeWorld]):
    """Judges the calls as they were handed in.

    Progress is Youden's J: the share of findings that are called where they are, less that of
    those called where they are not.
    """

    def checks(self, profile: Profile) -> tuple[Check, ...]:
        """Return the checks of a profile."""
        if profile is Profile.PAPER:
            return (PAPER_CORRECT,)
        return (PLAIN_LINES, CALLED_ONCE, CORRECT)

    def judge(
        self, evidence: Evidence[CtTask, CtReference, VolumeWorld], profile: Profile
    ) -> Judgement:
        """Return what is found; total over whatever was written."""
        judge = _paper if profile is Profile.PAPER else _strict
        return judge(evidence.after.lines, evidence.reference)


def _paper(lines: tuple[str, ...], reference: CtReference) -> Judgement:
    metrics = score(parse_published(lines), reference.truth)
    right = metrics["accuracy"] == 1.0
    result = PAPER_CORRECT.result(right, _counted(metrics, reference))
    made = _agreement(parse_published(lines), reference)
    return Judgement.of([result], progress=made.reached, chance=made.chance, metrics=metrics)


def _strict(lines: tuple[str, ...], reference: CtReference) -> Judgement:
    labels = tuple(reference.truth)
    stated = (line.strip() for line in spread(lines) if line.strip())
    written = [line for line in stated if not frames(line, labels)]
    calls = [parse_plain(line, labels) for line in written]
    strange = sum(call is None for call in calls)
    said: dict[str, set[bool]] = {label: set() for label in labels}
    for found in calls:
        if found is not None:
            said[found[0]].add(found[1])
    # A finding that is called both ways is not called.
    answers = {label.lower(): next(iter(how)) for label, how in said.items() if len(how) == 1}
    metrics = score(answers, reference.truth)
    once = len(answers)
    results = [
        PLAIN_LINES.result(strange == 0, f"{strange} of {len(written)} lines are not"),
        CALLED_ONCE.result(once == len(labels), f"{once} of {len(labels)} are"),
        CORRECT.result(metrics["accuracy"] == 1.0, _counted(metrics, reference)),
    ]
    made = _agreement({} if strange else answers, reference)
    return Judgement.of(results, progress=made.reached, chance=made.chance, metrics=metrics)


def _agreement(calls: Mapping[str, bool], reference: CtReference) -> Agreement:
    """Return how well findings that are there are told from those that are not."""
    right, wrong, asked = [0, 0], [0, 0], [0, 0]
    for label, present in reference.truth.items():
        call = calls.get(label.lower())
        asked[present] += 1
        right[present] += call is present
        wrong[present] += call is (not present)
    return balanced_accuracy(right, wrong, asked)


def _counted(metrics: dict[str, float], reference: CtReference) -> str:
    total = len(reference.truth)
    return f"{round(metrics['accuracy'] * total)} of {total} calls are right"
