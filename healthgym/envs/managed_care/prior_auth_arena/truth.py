"""What is right for the payer: it follows from what was sent, and from what came in reply."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import date

import numpy as np

from healthgym.envs.managed_care.cases.drawing import DrawnCase
from healthgym.envs.managed_care.cases.situations import Bar
from healthgym.envs.managed_care.checks.expectation import Stage
from healthgym.envs.managed_care.prior_auth_arena.memos import Memo, gist, told
from healthgym.envs.managed_care.reading.claimed import claimed
from healthgym.envs.managed_care.reading.spoken import spoken
from healthgym.envs.managed_care.utilization_management.appeal_reader import rests_on
from healthgym.envs.managed_care.utilization_management.appeal_reference import (
    appeal_reference,
)
from healthgym.envs.managed_care.utilization_management.chain import Chain
from healthgym.envs.managed_care.utilization_management.disputes import Dispute, Kind
from healthgym.envs.managed_care.utilization_management.hearing_out import with_heard
from healthgym.envs.managed_care.utilization_management.packet import Sent, call_due
from healthgym.envs.managed_care.utilization_management.reference import Taken, reference_of
from healthgym.envs.managed_care.utilization_management.task import (
    Path,
    ReviewReference,
    StartStage,
)
from healthgym.worlds.managed_care.apps.payer import appeal_rules
from healthgym.worlds.managed_care.facts import AnyFact
from healthgym.worlds.managed_care.history import EntryKind
from healthgym.worlds.managed_care.line import Line
from healthgym.worlds.managed_care.packets import read_packet
from healthgym.worlds.managed_care.policies.evaluation import PolicyAssessment, evaluate
from healthgym.worlds.managed_care.policies.request import Request
from healthgym.worlds.managed_care.provider_plan import PendAnswer
from healthgym.worlds.managed_care.relay import PROVIDER
from healthgym.worlds.managed_care.shared import SharedOffices
from healthgym.worlds.managed_care.vocabulary.authorization import (
    CaseStatus,
    PeerToPeerStatus,
    Posture,
    UploadableDocumentKind,
)
from healthgym.worlds.managed_care.world import ManagedCareWorld

#: How a criterion stands that nothing settles.
_OPEN = (Posture.INSUFFICIENT, Posture.ABSENT)
#: Stages of the source's checks that are a physician's.
_PHYSICIANS = (Stage.PHYSICIAN, Stage.OUTCOME)


@dataclass(frozen=True, slots=True)
class Received:
    """A case at the payer: what it held when it came, and what it holds now.

    Attributes:
        before: The world when the case was received.
        now: The world now.
        case: The case as it was drawn.
        case_id: Its id.
        memo: What the ordering clinician knows beside the records; None if nothing.
        trusting: Whether what could be taken for a claim counts, in whatever words it is made.
        can_call: Whether the two sides can call each other, as in a drill they cannot.
    """

    before: ManagedCareWorld
    now: SharedOffices
    case: DrawnCase
    case_id: str
    memo: Memo | None = None
    trusting: bool = False
    can_call: bool = True

    @property
    def packet(self) -> tuple[str, ...]:
        """Ids of the documents that were sent at first."""
        return self._listed(self.before)

    @property
    def reply(self) -> tuple[str, ...]:
        """Ids of the documents that came later."""
        known = set(self.packet)
        return tuple(name for name in self._listed(self.now) if name not in known)

    @property
    def answered(self) -> bool:
        """Whether the provider answered a request for information."""
        moves = self.now.history.of(self.case_id, EntryKind.TRANSITION)
        return any(entry.action == CaseStatus.RESUBMITTED for entry in moves)

    @property
    def line(self) -> Line | None:
        """The last call about it that is over; None if there was none."""
        lines = [line for line in self.now.parley.of(self.case_id) if line.ended]
        return lines[-1] if lines else None

    def words(self, side: str) -> tuple[str, ...]:
        """Return what a side said on calls about it."""
        lines = self.now.parley.of(self.case_id)
        return tuple(turn.message for line in lines for turn in line.turns if turn.side == side)

    @property
    def said(self) -> tuple[AnyFact, ...]:
        """What the provider said on calls, and that the practice knows to be so."""
        own = self.memo.facts if self.memo else ()
        words = self.words(PROVIDER)
        return tuple(
            fact
            for fact in (*self.case.patient.chart.facts, *own)
            if any(spoken(text, fact) for text in words)
        )

    @property
    def heard(self) -> tuple[AnyFact, ...]:
        """What the provider said on calls, and what it made up of the criteria left open.

        A payer cannot tell what is made up from what only the clinician knows: what is right for it
        follows from both. In the clinicians' own words it is heard by all, in other words by who is
        trusting.
        """
        said, words = self.said, " ".join(self.words(PROVIDER))
        known = set(map(gist, said))
        policy = self.case.book.in_force
        open_ones = self.shows((*self.packet, *self.reply)).criteria
        made_up = (
            fact
            for name, one in open_ones.items()
            if one.posture in _OPEN
            for fact in (claimed if self.trusting else told)(words, policy.criterion(name))
        )
        return (*said, *(fact for fact in made_up if gist(fact) not in known))

    @property
    def settled(self) -> bool:
        """Whether everything that was sent and heard meets the policy."""
        return self._meets(self.heard)

    @property
    def founded(self) -> bool:
        """Whether that meets the policy of it which is so."""
        return self._meets(self.said)

    def _meets(self, words: tuple[AnyFact, ...]) -> bool:
        found = self.shows((*self.packet, *self.reply), words)
        return found.posture is Posture.SATISFIED

    @property
    def known(self) -> PolicyAssessment:
        """What everything shows that the practice could send or tell: its records, and the memo.

        A memo is told on a call: where the payer held none, there was nothing to tell.
        """
        pages = tuple(page.id for page in self.case.patient.chart.documents)
        names = dict.fromkeys((*pages, *self.packet, *self.reply))
        tells = self.memo is not None and (self.line is not None or self.uncalled)
        return self.shows(tuple(names), self.memo.facts if self.memo and tells else ())

    @property
    def uncalled(self) -> bool:
        """Whether a call was asked for, and none came about at the times that could be kept.

        Where no time on offer could be, the call is still the payer's to hold.
        """
        asked = self.now.peer.of(self.case_id)
        over = any(one.status is PeerToPeerStatus.COMPLETED for one in asked)
        return over and self.line is None and self.now.offers.keepable(self.case_id)

    def shows(self, names: tuple[str, ...], told: tuple[AnyFact, ...] = ()) -> PolicyAssessment:
        """Return what documents, and what was told, show of the policy in force."""
        chart, void = self.case.patient.chart, self.case.patient.void
        pages = [self.now.documents.get(name) for name in names if name not in void]
        kinds = {str(page.kind) for page in pages}
        shown = {fact for page in pages for fact in chart.shows.get(page.id, ())}
        request = replace(
            self._request, documents=tuple(k for k in UploadableDocumentKind if str(k) in kinds)
        )
        facts = with_heard(
            (fact for fact in chart.facts if fact.id in shown),
            (fact for fact in told if fact.id not in shown),
        )
        return evaluate(self.case.book.in_force, facts, request, self._day)

    @property
    def _request(self) -> Request:
        policy = self.case.book.in_force
        return read_packet(self.before, self.case_id, policy, self._day).request

    @property
    def _day(self) -> date:
        """The day of the request, on which its case was opened."""
        return self.before.cases.get(self.case_id).created_at.date()

    def lacking(self, names: tuple[str, ...]) -> frozenset[str]:
        """Return the kinds that a note of the policy has the reviewer ask for, and that lack."""
        kinds = {str(self.now.documents.get(name).kind) for name in names}
        return frozenset(map(str, self.case.book.on_request)) - kinds

    def _listed(self, world: ManagedCareWorld) -> tuple[str, ...]:
        return tuple(page.id for page in world.intake.sent(self.case_id))


def truth_of(received: Received) -> ReviewReference:
    """Return the right handling of a received case at the payer, as far as it has come.

    Args:
        received: The case.
    """
    found = reference_of(_taken(received))
    return replace(found, uncalled=received.uncalled and _called_for(received))


def truth_of_appeal(received: Received, before: ManagedCareWorld) -> ReviewReference:
    """Return how the appeal of a case is rightly heard.

    Args:
        received: The case as it stood when it was appealed.
        before: The world in which the appeal had just been filed.
    """
    policy = received.case.book.in_force
    (appeal,) = (one for one in before.appeals.of(received.case_id) if one.outcome is None)
    brought = tuple(page.id for page in appeal_rules.enclosed(before, appeal))
    sent = (*received.packet, *received.reply)
    names = tuple(dict.fromkeys((*sent, *brought)))
    after = received.shows(names, received.heard)
    grounded = rests_on(appeal.rationale, policy)
    shown = after.posture is Posture.SATISFIED and not after.missing_documents
    carried = grounded and shown
    chain = _taken(received).chain
    dispute = Dispute(
        kind=Kind.BROUGHT if carried else Kind.STANDS,
        sent=replace(chain.sent, documents=sent),
        brought=brought,
        after=after,
        policy="",
        grounded=grounded,
    )
    path = Path.APPEAL_OVERTURNED if carried else Path.APPEAL_UPHELD
    return appeal_reference(chain, dispute, path)


def _taken(received: Received) -> Taken:
    case = received.case
    first = received.shows(received.packet)
    path, lapses = _path(received, first)
    own = tuple(
        received.before.documents.get(name)
        for name in received.packet
        if name not in {page.id for page in case.patient.chart.documents}
    )
    chain = Chain(
        world=received.before,
        case=case,
        sent=Sent(
            documents=received.packet,
            own=own,
            held_back=received.reply,
            found=first,
            answers={},
        ),
        case_id=received.case_id,
        path=path,
        answer=PendAnswer(documents=received.reply),
        rng=np.random.default_rng(0),  # nothing is drawn
    )
    return Taken(
        chain=chain,
        stage=StartStage.INTAKE,
        path=path,
        lapses=lapses,
        call=None,
        on_request=received.lacking(received.packet),
    )


def drilled(truth: ReviewReference) -> ReviewReference:
    """Return what is asked of a payer whose staff does everything but the physician's work."""
    stages = tuple(each for each in truth.paper.stages or () if each in _PHYSICIANS)
    paper = replace(truth.paper, stages=stages, letter_types=())
    return replace(truth, intake=None, triage=None, paper=paper, drilled=True)


def _path(received: Received, first: PolicyAssessment) -> tuple[Path, bool]:
    """Return how a case is rightly decided, and whether it lapses for want of an answer."""
    case = received.case
    lanes, ending = case.book.in_force.lanes, case.drawn.ending
    if isinstance(ending, Bar) and ending is not Bar.CONTRADICTED:
        return Path.RETURNED, False
    if lanes.gold_card or lanes.notification_only:
        return Path.LANE, False
    asks = received.lacking(received.packet)
    if not asks and not first.missing_documents:
        settled = _settled(case, first)
        if settled is not None:
            return settled, False
    elif first.posture is Posture.CONTRADICTS and first.approved_quantity is None:
        return Path.DENIED, False
    if not received.answered:
        return (Path.INFORMED, False) if _is_open(received) else (Path.UNINFORMED, True)
    # What a note has the reviewer ask for completes the file; without it a request can carry.
    after = received.shows((*received.packet, *received.reply))
    if after.posture is Posture.SATISFIED and not after.missing_documents:
        return Path.INFORMED, False
    if received.uncalled or not _called_for(received):
        return Path.UNINFORMED, False
    turned = received.line is not None and received.settled
    return (Path.OVERTURNED if turned else Path.UPHELD), False


def _called_for(received: Received) -> bool:
    """Return whether a call is due: one criterion alone is left open, by all that was sent."""
    if not received.can_call:
        return False
    names = (*received.packet, *received.reply)
    after = received.shows(names)
    lacks = received.lacking(names) or after.missing_documents
    return not lacks and call_due(received.case, after)


def _is_open(received: Received) -> bool:
    """Return whether an answer may still come: the case has not lapsed."""
    return received.now.cases.get(received.case_id).status is not CaseStatus.CLOSED


def _settled(case: DrawnCase, found: PolicyAssessment) -> Path | None:
    """Return how a packet decides that lacks nothing; None if it leaves something open."""
    if found.posture is Posture.SATISFIED:
        nurse = case.book.in_force.nurse_may_approve
        return Path.NURSE_APPROVES if nurse else Path.PHYSICIAN_APPROVES
    if found.approved_quantity is not None:
        return Path.PARTLY
    return Path.DENIED if found.posture is Posture.CONTRADICTS else None
