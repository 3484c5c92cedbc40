"""The verdict on a shortlist.

The paper profile is HealthAgentBench's rule to the letter: recall@50 of the eligible trials, with
its reading of the submitted file. The strict profile asks for the eligible trials and no others.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from healthgym.core.family import Evidence
from healthgym.core.verdict import Check, CheckResult, Profile, Verdict
from healthgym.envs.trial_matching.task import EXCLUDED, MatchingReference
from healthgym.rewards.metrics import precision_recall_f1, recall_at_k
from healthgym.worlds.corpus import CorpusWorld

CUTOFF = 50
_ID = re.compile(r"NCT\d{8}", re.IGNORECASE)

SUBMITTED = Check(
    "submitted",
    "The agent hands in its shortlist; running out of turns counts as failing.",
    weight=0.0,
)
RECALL = Check(
    "recall_at_50",
    "Every eligible trial is among the first fifty of the pool's trials on the list.",
)
COMPLETE = Check("complete", "Every trial the patient is eligible for is on the list.")
PRECISE = Check(
    "precise",
    "The list holds trials the patient is eligible for and no others (for judged data: at least "
    "the stated share of its lines are).",
    loophole="Listing fifty trials, or the whole pool, passes a rule without precision.",
)
PLAIN = Check(
    "plain_lines",
    "Each line is one registry number of the pool, and none comes twice.",
    idle=True,
    loophole="Numbers outside the pool are free upstream, and a sentence that says a patient is "
    "not eligible for a trial counts as naming it.",
)


def paper_picks(lines: Sequence[str], pool: Collection[str]) -> list[str]:
    """Return the trials that the published evaluator reads from a file.

    Of each line that is neither blank nor begins with ``#`` the first registry number counts, in
    any case; whatever else the line says does not. The first mention of a trial keeps its place.
    Numbers outside the pool are dropped before ranks are counted.
    """
    picks: dict[str, None] = {}
    for line in lines:
        text = line.strip()
        match = None if text.startswith("#") else _ID.search(text)
        if match is not None and match[0].upper() in pool:
            picks[match[0].upper()] = None
    return list(picks)


@dataclass(frozen=True, slots=True)
class _Shortlist:
    """A list as the strict profile reads it: every line that is not blank is a claim."""

    lines: tuple[str, ...]
    hits: frozenset[str]
    plain: bool

    @classmethod
    def read(cls, draft: Sequence[str], reference: MatchingReference) -> _Shortlist:
        lines = tuple(line.strip() for line in draft if line.strip())
        plain = len(set(lines)) == len(lines) and all(line in reference.grades for line in lines)
        return cls(lines, reference.eligible.intersection(lines), plain)

    @property
    def precision(self) -> float:
        """Share of the lines that name an eligible trial."""
        return len(self.hits) / len(self.lines) if self.lines else 0.0


class TrialMatchingVerifier:
    """Judges the shortlist as it stood when it was handed in."""

    def verify(self, evidence: Evidence[CorpusWorld], profile: Profile) -> Verdict:
        """Return the verdict under a profile.

        Before the list is handed in the progress is 0, whatever is on it: a reward for each change
        of the draft would tell which trials are right.
        """
        reference = evidence.reference
        assert isinstance(reference, MatchingReference)
        submitted = evidence.submission is not None
        draft = evidence.after.draft
        results = [SUBMITTED.result(submitted)]
        judge = _paper if profile is Profile.PAPER else _strict
        found, progress = judge(draft, reference)
        if not submitted:
            found = [CheckResult(item.check, item.check.idle) for item in found]
        results += found
        return Verdict.of(
            profile,
            results,
            progress=progress if submitted else 0.0,
            metrics=metrics_of(draft, reference) if submitted else {},
        )


def _paper(draft: Sequence[str], reference: MatchingReference) -> tuple[list[CheckResult], float]:
    picks = paper_picks(draft, reference.grades.keys())
    recall = recall_at_k(picks, reference.eligible, CUTOFF)
    return [RECALL.result(recall == 1.0, f"recall@50 is {recall:.3f}", credit=recall)], recall


def _strict(draft: Sequence[str], reference: MatchingReference) -> tuple[list[CheckResult], float]:
    shortlist = _Shortlist.read(draft, reference)
    recall = len(shortlist.hits) / len(reference.eligible)
    precision = shortlist.precision
    enough = precision >= reference.min_precision
    f1 = 2 * recall * precision / (recall + precision) if recall + precision else 0.0
    results = [
        COMPLETE.result(recall == 1.0, f"recall is {recall:.3f}", credit=recall),
        PRECISE.result(enough, f"precision is {precision:.3f}", credit=precision),
        PLAIN.result(shortlist.plain),
    ]
    return results, f1 if shortlist.plain else 0.0


def metrics_of(draft: Sequence[str], reference: MatchingReference) -> dict[str, float]:
    """Return the figures the source reports, over the picks as its evaluator reads them."""
    picks = paper_picks(draft, reference.grades.keys())
    eligible = reference.eligible
    scores = precision_recall_f1(frozenset(picks), eligible)
    barred = sum(reference.grades[id_] == EXCLUDED for id_ in picks)
    return {
        "recall": scores.recall,
        "recall_at_20": recall_at_k(picks, eligible, 20),
        "recall_at_50": recall_at_k(picks, eligible, CUTOFF),
        "precision": scores.precision,
        "f1": scores.f1,
        "submitted": float(len(picks)),
        "submitted_excluded": float(barred),
    }
