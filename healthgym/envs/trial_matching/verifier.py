"""The verdict on a shortlist.

The paper profile is HealthAgentBench's rule to the letter: recall@50 of the eligible trials, with
its reading of the submitted file. The strict profile asks for the eligible trials and no others.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from healthgym.core.verdict import Check, Judgement, Profile
from healthgym.core.verifier import Evidence, Verifier
from healthgym.envs.trial_matching.record import TrialRecord
from healthgym.envs.trial_matching.shortlist import read_lines
from healthgym.envs.trial_matching.task import (
    EXCLUDED,
    MatchingReference,
    MatchingTask,
    MatchingWorld,
)
from healthgym.rewards.metrics import agreement, precision_recall_f1, recall_at_k
from healthgym.worlds.corpus import Corpus

CUTOFF = 50
_ID = re.compile(r"NCT\d{8}", re.IGNORECASE)

RECALL = Check(
    "recall_at_50",
    "Every eligible trial is among the first fifty of the pool's trials on the list.",
)
COMPLETE = Check("complete", "Every trial the patient is eligible for is on the list.")
PRECISE = Check(
    "precise",
    "The list holds trials the patient is eligible for and no others (for judged data: at least "
    "the stated share of them are).",
    loophole="Listing fifty trials, or the whole pool, passes a rule without precision.",
)
PLAIN = Check(
    "plain_lines",
    "Each line names trials of the pool, and around them stand bullets, ranks, their own titles "
    "and words that say that the patient fits, and nothing else; or it is a heading, or says at "
    "the end that no other trial belongs there.",
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
    """A list as the strict profile reads it: every number on it is a claim.

    Attributes:
        claims: The trials named, those of lines that cannot be read and of no pool among them.
        hits: Eligible trials that are named by lines that can be read.
        problem: Why a line cannot be read; empty if all can, and name trials of the pool.
    """

    claims: frozenset[str]
    hits: frozenset[str]
    problem: str

    @classmethod
    def read(
        cls, draft: Sequence[str], reference: MatchingReference, corpus: Corpus[TrialRecord]
    ) -> _Shortlist:
        def names(id_: str) -> tuple[str, ...]:
            return corpus.document(id_).names if id_ in corpus else ()

        lines = read_lines([line for line in draft if line.strip()], names)
        claims = frozenset(id_ for line in lines for id_ in line.ids)
        readable = frozenset(id_ for line in lines if not line.problem for id_ in line.ids)
        problem = next((line.problem for line in lines if line.problem), "")
        if not problem and not claims <= reference.grades.keys():
            problem = "a trial of another pool"
        return cls(claims, reference.eligible & readable, problem)

    @property
    def precision(self) -> float:
        """Share of the trials named that are eligible, as far as they can be read."""
        return len(self.hits) / len(self.claims) if self.claims else 0.0


class TrialMatchingVerifier(Verifier[MatchingTask, MatchingReference, MatchingWorld]):
    """Judges the shortlist as it was handed in."""

    def checks(self, profile: Profile) -> tuple[Check, ...]:
        """Return the checks of a profile."""
        return (RECALL,) if profile is Profile.PAPER else (COMPLETE, PRECISE, PLAIN)

    def judge(
        self, evidence: Evidence[MatchingTask, MatchingReference, MatchingWorld], profile: Profile
    ) -> Judgement:
        """Return what is found; total over whatever was listed."""
        world, reference = evidence.after, evidence.reference
        if profile is Profile.PAPER:
            return _paper(world.draft, reference)
        return _strict(world.draft, reference, world.corpus)


def _paper(draft: Sequence[str], reference: MatchingReference) -> Judgement:
    picks = paper_picks(draft, reference.grades.keys())
    recall = recall_at_k(picks, reference.eligible, CUTOFF)
    result = RECALL.result(recall == 1.0, f"recall@50 is {recall:.3f}", credit=recall)
    # As many picks at random find that share of what is eligible.
    chance = min(len(picks), CUTOFF) / max(len(reference.grades), 1)
    return Judgement.of(
        [result], progress=recall, chance=chance, metrics=metrics_of(draft, reference)
    )


def _strict(
    draft: Sequence[str], reference: MatchingReference, corpus: Corpus[TrialRecord]
) -> Judgement:
    shortlist = _Shortlist.read(draft, reference, corpus)
    recall = len(shortlist.hits) / len(reference.eligible)
    precision = shortlist.precision
    enough = precision >= reference.min_precision
    results = [
        COMPLETE.result(recall == 1.0, f"recall is {recall:.3f}", credit=recall),
        PRECISE.result(enough, f"precision is {precision:.3f}", credit=precision),
        PLAIN.result(not shortlist.problem, shortlist.problem),
    ]
    claims = frozenset() if shortlist.problem else shortlist.claims
    made = agreement(claims, reference.eligible, reference.grades.keys())
    return Judgement.of(
        results,
        progress=made.reached,
        chance=made.chance,
        metrics=metrics_of(draft, reference),
    )


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
