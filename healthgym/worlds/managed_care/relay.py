"""What the engine notes between two seats of one case: phases, the call's words, the payer's truth.

In the source a harness writes these around its two agents. Here they are entries of the world's
log, so that whoever plays the seats and whoever judges them mean the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from healthgym.core.records import replace
from healthgym.worlds.managed_care.history import Entry, EntryKind
from healthgym.worlds.managed_care.records.policy import CasePolicy
from healthgym.worlds.managed_care.world import ManagedCareWorld

PROVIDER, PAYER = "provider", "payer"
#: The phase in which the payer is in the call.
CALL = "peer_to_peer"
_ENTERED, _LEFT, _SPOKEN, BOUND = (
    "phase_entered",
    "phase_left",
    "call_transcript",
    "bind_payer_gt",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """One thing said in a call between the two seats.

    Attributes:
        actor: Who said it: ``provider``, ``payer``, or what is neither.
        message: What was said.
    """

    actor: str
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Transcript:
    """What was said in a call, and where both sides stood at its end.

    Attributes:
        request_id: The request for the call.
        at: When it was filed.
        turns: What was said, in order.
        provider_position: The provider's last position; None if not stated.
        payer_position: The payer's.
    """

    request_id: str
    at: datetime
    turns: tuple[Said, ...]
    provider_position: str | None = None
    payer_position: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """The time of a phase; the end is None while it lasts."""

    begin: datetime
    end: datetime | None = None

    def holds(self, at: datetime) -> bool:
        """Return whether a time lies in it."""
        return self.begin <= at and (self.end is None or at <= self.end)


def bind_truth(world: ManagedCareWorld, case_id: str, policy: CasePolicy) -> None:
    """Give the payer's truth to the case that the provider made, after its submission.

    Args:
        world: The world.
        case_id: The case.
        policy: The payer's rule card, of whichever case it was written for.
    """
    kept = next((p.id for p in world.cases.policies.values() if p.case_id == case_id), policy.id)
    world.cases.policies[kept] = replace(policy, id=kept, case_id=case_id)
    world.history.audit("relay", BOUND, case_id, "relay")


def enter_phase(world: ManagedCareWorld, case_id: str, phase: str, side: str) -> None:
    """Note that a side enters a phase."""
    world.history.happened(_ENTERED, case_id, phase=phase, side=side)


def leave_phase(world: ManagedCareWorld, case_id: str, phase: str, side: str) -> None:
    """Note that a side leaves a phase."""
    world.history.happened(_LEFT, case_id, phase=phase, side=side)


def file_transcript(
    world: ManagedCareWorld,
    case_id: str,
    request_id: str,
    turns: Sequence[Said],
    *,
    provider_position: str | None = None,
    payer_position: str | None = None,
) -> None:
    """File what was said in a call, for both sides."""
    world.history.happened(
        _SPOKEN,
        case_id,
        request_id=request_id,
        turns=[[turn.actor, turn.message] for turn in turns],
        provider_position=provider_position,
        payer_position=payer_position,
    )


def windows(world: ManagedCareWorld, case_id: str, phase: str, side: str) -> tuple[Window, ...]:
    """Return when a side was in a phase."""
    found: list[Window] = []
    for entry in _events(world, case_id):
        if (entry.details.get("phase"), entry.details.get("side")) != (phase, side):
            continue
        if entry.action == _ENTERED:
            found.append(Window(begin=entry.at))
        elif entry.action == _LEFT and found:
            found[-1] = replace(found[-1], end=entry.at)
    return tuple(found)


def transcripts(world: ManagedCareWorld, case_id: str) -> tuple[Transcript, ...]:
    """Return the transcripts of the calls about a case, oldest first."""
    return tuple(
        Transcript(
            request_id=entry.details["request_id"],
            at=entry.at,
            turns=tuple(Said(actor=who, message=text) for who, text in entry.details["turns"]),
            provider_position=entry.details["provider_position"],
            payer_position=entry.details["payer_position"],
        )
        for entry in _events(world, case_id)
        if entry.action == _SPOKEN
    )


def _events(world: ManagedCareWorld, case_id: str) -> list[Entry]:
    return world.history.of(case_id, EntryKind.EVENT)
