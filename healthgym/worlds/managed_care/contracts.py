"""What the other side of a conversation holds; never shown to the agent."""

from __future__ import annotations

from dataclasses import dataclass

from healthgym.worlds.managed_care.vocabulary.authorization import (
    DeterminationDecision,
    PeerToPeerOutcome,
    RevealMode,
    SlotRule,
    TaskActor,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class PeerFact:
    """Something the other side of a call knows.

    Attributes:
        id: Id within the contract.
        text: What it says about it.
        reveal_mode: When it says so.
        topics: Words that bring it up.
    """

    id: str
    text: str
    reveal_mode: RevealMode
    topics: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class PeerContract:
    """What the other side of a peer-to-peer call holds.

    Attributes:
        side: The role that the agent plays in the call.
        turn_limit: Turns the agent has.
        fixed_result: What comes of it where the source fixes it; None where it follows from what
            was established.
        offered_slots: Times the provider can make; any if empty.
        slot_rule: Which of the offered times the provider takes.
        opening: What the other side says first.
        facts: What it knows.
        required_points: Ids of the facts that must be established for the case to be overturned.
        expected_decision: The determination that follows, where the source fixes it.
    """

    side: TaskActor
    turn_limit: int = 8
    fixed_result: PeerToPeerOutcome | None = None
    offered_slots: tuple[str, ...] = ()
    slot_rule: SlotRule = SlotRule.FIRST_OFFERED
    opening: str = ""
    facts: tuple[PeerFact, ...] = ()
    required_points: tuple[str, ...] = ()
    expected_decision: DeterminationDecision | None = None
