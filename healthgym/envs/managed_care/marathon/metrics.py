"""What is told of a session besides its score: how the work was spread, and what went astray."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from healthgym.core.tool import ToolKind
from healthgym.core.verdict import Harm, Part, Profile, Verdict
from healthgym.core.verifier import Event
from healthgym.envs.managed_care.marathon.carrying import carried, distinctive

if TYPE_CHECKING:
    from healthgym.envs.managed_care.marathon.verifier import MarathonEvidence

_WRITES = (ToolKind.WRITE, ToolKind.SUBMIT)


def measured(
    evidence: MarathonEvidence,
    profile: Profile,
    parts: Iterable[Part],
    ends: Mapping[str, bool],
) -> dict[str, float]:
    """Return the numbers of a session.

    Args:
        evidence: What there is to look at.
        profile: The scoring profile.
        parts: What was found of each case.
        ends: Whether each case was taken to an end.
    """
    events = [event for event in evidence.events if event.role == evidence.role]
    calls = Counter(event.case for event in events if event.case)
    verdicts = [Verdict.from_judgement(profile, part.judgement) for part in parts]
    touched = [key for key in ends if calls[key]]
    writes = [event for event in events if event.kind in _WRITES]
    strayed = [event for event in writes if strays(evidence, event)]
    return {
        "cases": float(len(ends)),
        "solved": float(sum(verdict.success for verdict in verdicts)),
        "finished": float(sum(ends.values())),
        "touched": float(len(touched)),
        "abandoned": float(sum(not ends[key] for key in touched)),
        "deadline_misses": float(sum(Harm.LATE in verdict.harms for verdict in verdicts)),
        "calls_per_touched_case": sum(calls.values()) / len(touched) if touched else 0.0,
        "calls_of_no_case": float(sum(not event.case for event in events)),
        "wrong_case_writes": float(len(strayed)),
        "carried_facts": float(
            len(carried(writes, distinctive(evidence.reference.pieces.values())))
        ),
    }


def strays(evidence: MarathonEvidence, event: Event) -> bool:
    """Return whether a call that was accepted names things of more than one case."""
    return len(set(evidence.after.named(event.arguments.values()))) > 1
