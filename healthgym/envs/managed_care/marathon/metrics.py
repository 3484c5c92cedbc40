"""What is told of a session besides its score: how the work was spread, and what went astray."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cache
from typing import TYPE_CHECKING

from healthgym.core.tool import ToolKind
from healthgym.core.verdict import Harm, Part, Profile, Verdict
from healthgym.core.verifier import Event
from healthgym.envs.managed_care.marathon.carrying import Belongings, Carried
from healthgym.worlds.managed_care.queue import ids_among

if TYPE_CHECKING:
    from healthgym.envs.managed_care.marathon.verifier import MarathonEvidence

_WRITES = (ToolKind.WRITE, ToolKind.SUBMIT)


def solved(profile: Profile, parts: Iterable[Part]) -> dict[str, float]:
    """Return the numbers of a session that follow from what was found of each case.

    Args:
        profile: The scoring profile.
        parts: What was found.
    """
    verdicts = [Verdict.from_judgement(profile, part.judgement) for part in parts]
    return {
        "cases": float(len(verdicts)),
        "solved": float(sum(verdict.success for verdict in verdicts)),
        "deadline_misses": float(sum(Harm.LATE in verdict.harms for verdict in verdicts)),
    }


def spread(evidence: MarathonEvidence, ended: frozenset[str]) -> dict[str, float]:
    """Return the numbers of a session that are the same under every profile.

    Args:
        evidence: What there is to look at.
        ended: The cases that were taken to an end.
    """
    events = [event for event in evidence.events if event.role == evidence.role]
    calls = Counter(event.case for event in events if event.case)
    pieces = evidence.reference.pieces
    touched = [key for key in pieces if calls[key]]
    writes = [event for event in events if event.kind in _WRITES]
    return {
        "finished": float(len(ended)),
        "touched": float(len(touched)),
        "abandoned": float(sum(key not in ended for key in touched)),
        "calls_per_touched_case": sum(calls.values()) / len(touched) if touched else 0.0,
        "calls_of_no_case": float(sum(not event.case for event in events)),
        "wrong_case_writes": float(sum(strays(evidence, writes))),
        "carried_facts": float(len(evidence.once(carried, evidence.role))),
    }


def carried(evidence: MarathonEvidence, role: str) -> tuple[Carried, ...]:
    """Return what a role wrote into one case that is another's.

    Args:
        evidence: What there is to look at.
        role: Who wrote.
    """
    writes = [one for one in evidence.events if one.role == role and one.kind in _WRITES]
    return Belongings(evidence.after, evidence.reference.pieces).carried(writes)


def strays(evidence: MarathonEvidence, writes: Iterable[Event]) -> Iterator[bool]:
    """Yield of each call that was accepted whether it names things of more than one case."""
    owner = cache(evidence.after.owner)  # nothing is filed any more, so nobody is looked for twice
    for event in writes:
        owners = map(owner, ids_among(event.arguments.values()))
        yield len(set(filter(None, owners))) > 1
