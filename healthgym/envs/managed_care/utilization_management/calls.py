"""The call with the ordering clinician: whether it was held, what it established, what followed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from functools import cached_property

from healthgym.envs.managed_care.reading.reasons import read_reason
from healthgym.envs.managed_care.utilization_management.task import ReviewReference
from healthgym.worlds.managed_care.apps.payer import peer_session
from healthgym.worlds.managed_care.contracts import PeerContract, PeerFact
from healthgym.worlds.managed_care.peers.answering import raised
from healthgym.worlds.managed_care.peers.hearing import heard
from healthgym.worlds.managed_care.records.peer import P2PSessionRecord, PayerPeerToPeerRequest
from healthgym.worlds.managed_care.stated import stated
from healthgym.worlds.managed_care.vocabulary.authorization import PeerToPeerStatus, RevealMode
from healthgym.worlds.managed_care.world import ManagedCareWorld

#: Criteria that may be raised although nobody disputes them: one may be a slip of the ear.
_BESIDE_MOST = 1
_SENTENCE_END = re.compile(r"(?<=[.!?;])\s+")


class Call:
    """Looks at the last call about a case.

    Args:
        after: The world now; it is not changed.
        reference: The right handling; it has a call.
        contract: What the clinician holds.
        disputed: Criteria that the call is about.
    """

    def __init__(
        self,
        after: ManagedCareWorld,
        reference: ReviewReference,
        contract: PeerContract,
        disputed: frozenset[str],
    ) -> None:
        self.after, self.reference, self.contract = after, reference, contract
        self.disputed = disputed

    @property
    def right(self) -> bool:
        """Whether it was held, asked what matters, ended as it must and was summed up."""
        return self.held and self.asked and self.followed and self.summed_up

    @cached_property
    def request(self) -> PayerPeerToPeerRequest | None:
        """The last request for a call."""
        found = self.after.peer.of(self.reference.case_id)
        return found[-1] if found else None

    @cached_property
    def session(self) -> P2PSessionRecord | None:
        """What was said on it."""
        return self.after.peer.session_of(self.request.id) if self.request else None

    @property
    def held(self) -> bool:
        """Whether somebody spoke, not before its time, for a physician who may."""
        request, session = self.request, self.session
        if request is None or session is None or not request.scheduled_at:
            return False
        roles = map(str, self.after.operations.may_hold_peer_to_peer)
        physician = self.after.staff.role_of(request.payer_contact_id or "")
        begins = _moment(request.scheduled_at)
        said = [turn for turn in session.transcript if turn.speaker == session.benchmark_side]
        return (
            physician is not None
            and str(physician) in set(roles)
            and bool(said)
            and begins is not None
            and all(turn.created_at >= begins for turn in said)
        )

    @property
    def asked(self) -> bool:
        """Whether each criterion in dispute was raised, and everything told that can be had.

        A second one that was not disputed is not brought up; whoever asks about everything has
        not found out what the case hangs on.
        """
        if self.session is None:
            return False
        revealed = set(self.session.revealed_fact_ids)
        about = self.disputed & {one.id for one in self.contract.subjects}
        told = all(point.id in revealed for point in self._points())
        brought_up = raised(self.contract, self.session)
        return told and about <= brought_up and len(self._beside(brought_up)) <= _BESIDE_MOST

    def _beside(self, brought_up: frozenset[str]) -> frozenset[str]:
        """Return the criteria that the payer brought up although nobody disputes them.

        One that goes by a word of one in dispute comes up with it. What the clinician spoke of
        first may be taken up, and who is calling about which service opens a call.

        Args:
            brought_up: What was brought up in turns that could be answered.
        """
        subjects, opened, session = self.contract.subjects, False, self.session
        words = {term for one in subjects if one.id in self.disputed for term in one.terms}
        free = {*self.disputed, *(one.id for one in subjects if not words.isdisjoint(one.terms))}
        found: set[str] = set()
        for turn in session.transcript if session else ():
            if session and turn.speaker == session.benchmark_side:
                said = turn.message if opened else self._past_greeting(turn.message)
                opened = True
                found |= {*heard(said, subjects).subjects} - free
            else:
                free |= {*heard(turn.message, subjects).subjects}
        # What a policy asks of one value in several places is one matter.
        terms = {one.id: frozenset(one.terms) for one in subjects}
        kept: list[str] = []
        for name in sorted(found & brought_up):
            if all(terms[name].isdisjoint(terms[each]) for each in kept):
                kept.append(name)
        return frozenset(kept)

    def _past_greeting(self, message: str) -> str:
        """Return a first turn from the sentence on that speaks of a criterion in dispute."""
        sentences = _SENTENCE_END.split(message)
        for place, each in enumerate(sentences):
            if not self.disputed.isdisjoint(heard(each, self.contract.subjects).subjects):
                return " ".join(sentences[place:])
        return message

    @property
    def followed(self) -> bool:
        """Whether the outcome is the one that follows from what was established."""
        request, session = self.request, self.session
        if request is None or session is None:
            return False
        ended = request.status is PeerToPeerStatus.COMPLETED
        follows = peer_session.outcome(self.contract, session)
        return ended and request.outcome is self.reference.outcome is follows

    @property
    def summed_up(self) -> bool:
        """Whether the summary names a criterion in dispute, and what was established on it."""
        request, session = self.request, self.session
        if request is None or session is None:
            return False
        text = session.submitted_summary or (request.notes[-1] if request.notes else "")
        if self.disputed and not read_reason(text).criteria & self.disputed:
            return False
        known = stated(text)
        return all(_told(point, known.days, known.numbers) for point in self._points())

    def _points(self) -> Iterator[PeerFact]:
        """Yield the facts that the case hangs on, of those that can be had."""
        for fact in self.contract.facts:
            hangs_on = fact.id in self.contract.required_points or fact.criterion in self.disputed
            if hangs_on and fact.reveal_mode is not RevealMode.NEVER:
                yield fact


def _told(point: PeerFact, days: frozenset[object], numbers: frozenset[str]) -> bool:
    """Return whether a text states a day or a number of a fact, if the fact has any."""
    has = stated(point.text)
    return not (has.days or has.numbers) or bool(has.days & days or has.numbers & numbers)


def _moment(text: str) -> datetime | None:
    try:
        at = datetime.fromisoformat(text)
        return at.replace(tzinfo=UTC) if at.tzinfo is None else at.astimezone(UTC)
    except (ValueError, OverflowError):  # the year 9999 of one zone is 10000 in another
        return None
