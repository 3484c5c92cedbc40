"""What the other side of a conversation holds; never shown to the agent."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from healthgym.worlds.managed_care.deferred import Deferred
from healthgym.worlds.managed_care.vocabulary.authorization import (
    DeterminationDecision,
    PeerToPeerOutcome,
    RevealMode,
    SlotRule,
    TaskActor,
)


class Remark(StrEnum):
    """What the other side of a call says beside facts."""

    AGREED = "agreed"  #: on a criterion that nobody disputes
    UNKNOWN = "unknown"  #: on a disputed criterion of which it knows nothing
    STILL_UNKNOWN = "still_unknown"  #: the same, asked again
    TOLD = "told"  #: before a fact that it has told already
    MORE = "more"  #: where it knows more of what was asked than one answer holds
    PARTIAL = "partial"  #: on a turn that asks for more than it answers
    TOO_MUCH = "too_much"  #: on a turn that asks for everything at once
    REPEATED = "repeated"  #: on a turn in the words of an earlier one
    ACCUSED = "accused"  #: on being called dishonest
    OFFERED = "offered"  #: on a bargain, or on being told what to say
    PRESSES = "presses"  #: what it puts forward beside the point
    NOTHING = "nothing"  #: on what raises no subject
    CLOSED = "closed"  #: on thanks and leave-taking


@dataclass(frozen=True, slots=True, kw_only=True)
class PeerSubject:
    """What a turn of a call may be about: a criterion of the policy.

    Attributes:
        id: The criterion's id.
        title: What it is about, as a term of the page.
        terms: Terms that raise it; all words of one, near each other.
        again: Whether it is about an earlier one of what may be requested: beside words for a
            request its terms raise it only where something earlier is spoken of, too.
    """

    id: str
    title: str
    terms: tuple[str, ...]
    again: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class PeerFact:
    """Something the other side of a call knows.

    Attributes:
        id: Id within the contract.
        text: What it says about it.
        reveal_mode: When it says so.
        topics: Words that bring it up.
        criterion: The criterion it is about; empty where words alone bring it up.
        fact: Id of the fact of the chart that it tells; empty if it tells none.
    """

    id: str
    text: str
    reveal_mode: RevealMode
    topics: tuple[str, ...] = ()
    criterion: str = ""
    fact: str = ""


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
        subjects: The criteria that a turn may be about.
        disputed: Ids of those on which the denial that is intended rests.
        remarks: What it says beside facts, each kind in the order of its use; usual words for a
            kind that is not named.
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
    subjects: tuple[PeerSubject, ...] = ()
    disputed: tuple[str, ...] = ()
    remarks: Mapping[Remark, tuple[str, ...]] = field(default_factory=dict)


class DeferredContract(Deferred, PeerContract):
    """A contract that is made when somebody calls: of most cases nobody does."""

    __slots__ = ("_write",)

    plain = PeerContract
    late = ("opening", "facts", "required_points", "subjects", "disputed", "remarks")
