"""The offices with somebody at both desks: what one side sends, the other is told of.

Nobody's staff works by itself here. What crosses is the packet with copies of its documents, the
request for information and its letter, the reply, the times and the words of a call, and letters;
each crossing is a notice to the other side, and the payer's rules are bound to a case when it is
handed in, whatever id the provider gave it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import ClassVar

from healthgym.core.clock import Due
from healthgym.core.records import replace
from healthgym.core.state import table
from healthgym.worlds.managed_care import offers, parley, relay
from healthgym.worlds.managed_care.apps.payer import peer_lapses
from healthgym.worlds.managed_care.apps.provider.deadlines import PEND_LAPSES
from healthgym.worlds.managed_care.charts.chart import ChartLibrary
from healthgym.worlds.managed_care.covering import covering
from healthgym.worlds.managed_care.dates import moment
from healthgym.worlds.managed_care.history import EntryKind
from healthgym.worlds.managed_care.offers import Offers
from healthgym.worlds.managed_care.packets import quantity
from healthgym.worlds.managed_care.parley import Limits, Parley
from healthgym.worlds.managed_care.payer_desk import PayerDesk
from healthgym.worlds.managed_care.policies.policy import catalog
from healthgym.worlds.managed_care.provider_desk import ProviderDesk
from healthgym.worlds.managed_care.records.decision import Letter
from healthgym.worlds.managed_care.records.peer import PayerPeerToPeerRequest
from healthgym.worlds.managed_care.refusals import Refusal, RefusalCode
from healthgym.worlds.managed_care.relay import PAYER, PROVIDER
from healthgym.worlds.managed_care.staff import WorkerRole
from healthgym.worlds.managed_care.start import WorldStart
from healthgym.worlds.managed_care.vocabulary.authorization import CaseStatus, PeerToPeerStatus
from healthgym.worlds.managed_care.world import ManagedCareWorld

#: What the payer is told of when the episode begins.
_LIES = "queued_request"
#: Noted where the provider let times pass of which it could have taken one.
_TOO_LATE = "The times on offer passed, and none was taken; no call took place."
#: How a case comes to the payer.
_HANDED_IN = (CaseStatus.SUBMITTED, CaseStatus.RESUBMITTED)


class Moment(StrEnum):
    """When the world is kept as it is."""

    RECEIVED = "received"  #: the payer first receives a case
    CONTESTED = "contested"  #: the provider is about to appeal
    APPEALED = "appealed"  #: the payer has the appeal
    UPHELD = "upheld"  #: the provider is about to go to the review outside


@dataclass(frozen=True, slots=True, eq=False)
class Kept:
    """A world that is looked at and never played, as one value.

    Attributes:
        world: The world.
    """

    world: SharedOffices

    def content_hash(self) -> str:
        """Return the digest of the world."""
        return self.world.digest()


class PayerSeat(PayerDesk):
    """Where the provider's submissions arrive for whoever plays the payer."""

    world: SharedOffices

    def take_in(self, case_id: str, *, reply: bool = False) -> None:
        """Bind the payer's rules to a case, and tell the payer what has come."""
        if reply:
            told = f"The provider has answered about case {case_id}."
            self.world.notify(PAYER, told)
            if self.world.came(case_id) >= self.world.limits.cycles:
                self._last(case_id)
            return
        self.bind(case_id)
        self.world.notify(PAYER, f"A request has come in: case {case_id} lies at intake.")

    def bind(self, case_id: str) -> None:
        """Bind the payer's rules to a case that has come, and keep the world as it is then."""
        policy = covering(self.world, case_id)
        if policy is not None:
            listed = catalog(policy, "nurse_review")
            self.world.nursing.set_catalog(case_id, listed, policy.criteria)
        self.world.history.audit("relay", relay.BOUND, case_id, "relay")
        self.world.keep(case_id)

    def coming(self, case_id: str) -> None:
        """Enter how much the form asks for on the line, where the reviewers look."""
        policy, lines = covering(self.world, case_id), self.world.cases.lines
        asked = quantity(self.world, case_id, policy) if policy is not None else None
        line = self.world.cases.line(case_id)
        if asked is not None:
            lines[line.id] = replace(line, requested_units=int(asked))

    def contested(self, case_id: str) -> None:
        """Keep the world as the payer left it before its denial is appealed, here or outside."""
        again = bool(self.world.appeals.of(case_id))
        self.world.keep(case_id, Moment.UPHELD if again else Moment.CONTESTED)

    def appealed(self, case_id: str, level: str) -> None:
        """Tell the payer of an appeal."""
        self.world.keep(case_id, Moment.APPEALED)
        self.world.notify(PAYER, f"The provider has filed an {level} appeal of case {case_id}.")

    def called(self, case_id: str) -> bool:
        """Leave what follows from a call to whoever plays the payer."""
        return True

    def call_wanted(self, case_id: str, contact: str) -> str:
        """Tell the payer of a wish for a call."""
        return self.world.parley.ask(case_id, contact)

    def slot_answered(self, request: PayerPeerToPeerRequest, slot: str | None, note: str) -> None:
        """Tell the payer how its offer was answered; after the last round there is no call."""
        if not slot and self.world.parley.unanswered(request):
            return
        said = f"takes {slot} UTC; confirm it with p2p.schedule" if slot else "takes none of them"
        words = f" It says: {note}" if note.strip() else ""
        self.world.notify(
            PAYER, f"Of the times for the call of request {request.id} the provider {said}.{words}"
        )

    def _last(self, case_id: str) -> None:
        """Tell both sides that nothing more can be asked for."""
        for side in (PROVIDER, PAYER):
            self.world.notify(
                side,
                f"Case {case_id} has come to the payer {self.world.limits.cycles} times, which is "
                "the most: nothing more is asked for, and it is decided on what is there.",
            )


class ProviderSeat(ProviderDesk):
    """Where what the payer sends arrives for whoever plays the provider."""

    world: SharedOffices

    def _ours(self, case_id: str) -> bool:
        return self.world.practised(case_id)

    def begin(self) -> None:
        """Take nothing up: whoever plays the provider does."""

    def asked(self, case_id: str) -> None:
        """Tell the provider that information is wanted.

        Raises:
            Refusal: If the case has gone back and forth as often as it may.
        """
        if not self._ours(case_id):
            return
        cycles = self.world.limits.cycles
        if self.world.came(case_id) >= cycles:
            raise Refusal(
                RefusalCode.LIMIT_REACHED,
                f"Case {case_id} has come {cycles} times, which is the most; decide it on what is "
                "there.",
            )
        self.world.notify(PROVIDER, f"The payer asks for information about case {case_id}.")

    def offered(self, request: PayerPeerToPeerRequest) -> bool:
        """Tell the provider that times for a call are offered, and which.

        Nobody answers an offer to another office.

        Raises:
            Refusal: If times were offered as often as they may be.
        """
        if not self._ours(request.case_id):
            return False
        rounds = self.world.limits.rounds
        if self.world.parley.offered(request.case_id) >= rounds:
            raise Refusal(
                RefusalCode.LIMIT_REACHED,
                f"Times for a call about case {request.case_id} were offered {rounds} times, which "
                "is the most; decide without it.",
            )
        self.world.notify(
            PROVIDER,
            f"The payer offers times for a call, request {request.id}, case {request.case_id}: "
            f"{', '.join(request.offered_slots)} (UTC). Answer with auth.respond_to_peer_to_peer "
            "before the last of them is past.",
        )
        self.world.offers.keep(request)
        return True

    def scheduled(self, request: PayerPeerToPeerRequest) -> None:
        """Have both sides told when a call is to begin."""
        at = moment(request.scheduled_at or "", "scheduled_at")
        self.world.parley.fix(request.id, request.case_id, at)
        self.world.notify(
            PROVIDER, f"The call of request {request.id} is fixed for {at:%Y-%m-%d %H:%M}."
        )

    def talked(self, request: PayerPeerToPeerRequest) -> bool:
        """Return whether a call was held; it must be over."""
        return self.world.parley.spoken(request.id)

    def concluded(self, request: PayerPeerToPeerRequest) -> None:
        """Have the payer leave the call."""
        self.world.parley.leave(request.id)

    def received(self, letter: Letter) -> None:
        """Tell the provider that a letter is there."""
        if self._ours(letter.case_id):
            self.world.notify(
                PROVIDER, f"A letter about case {letter.case_id} has arrived: {letter.id}."
            )

    def lapsed(self, due: Due, told: str) -> None:
        """Tell both sides what lapsed; a reminder is the provider's own affair."""
        if not told:
            return
        if self._ours(str(due.facts["case_id"])):
            self.world.notify(PROVIDER, told)
        if due.name == PEND_LAPSES and not due.facts.get("notice"):
            self.world.notify(PAYER, told)


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedStart(WorldStart):
    """The beginning of a world in which the payer has more to do than one practice sends it.

    Attributes:
        practice: The charts of the practice that is played; of nobody else it learns anything.
        queued: Cases of other offices that lie with the payer when the episode begins.
    """

    practice: ChartLibrary
    queued: tuple[str, ...] = ()


class SharedOffices(ManagedCareWorld):
    """Both offices, and nobody in either who works by himself.

    Args:
        start: What it begins with; its plans for staff are those of nobody.
    """

    derived = frozenset({"charts", "_looking"})
    #: Whose look at the world it is, while a call goes on.
    _looking = ""

    payer_side: ClassVar[type[PayerDesk]] = PayerSeat
    provider_side: ClassVar[type[ProviderDesk]] = ProviderSeat

    _kept = table[str, Kept](content=False)

    def __init__(self, start: WorldStart, limits: Limits | None = None) -> None:
        super().__init__(start)
        self.limits = limits or Limits()
        self.parley = Parley(self, self.limits)
        self.offers = Offers(self)
        clerks = start.staff.with_role(WorkerRole.INTAKE_COORDINATOR)
        self._people = {PROVIDER: start.actor, PAYER: next(iter(clerks), start.actor)}
        if isinstance(start, SharedStart):
            for case_id in start.queued:
                self.clock.agenda.put(start.now, _LIES, case_id=case_id)

    @property
    def received(self) -> Mapping[str, SharedOffices]:
        """The world as the payer received each case, by case; never shown or changed."""
        return self.kept(Moment.RECEIVED)

    def kept(self, moment: Moment) -> Mapping[str, SharedOffices]:
        """Return the worlds of a moment, by case; never shown or changed."""
        found = ((name.partition(" "), kept.world) for name, kept in self._kept.items())
        return {case_id: world for (at, _, case_id), world in found if at == moment}

    @property
    def speaker(self) -> str:
        """Whose turn it is in the call that goes on; empty if none does."""
        line = self.parley.open_line
        return line.speaker if line is not None else ""

    def person(self, role: str) -> str:
        """Return who uses a side's applications."""
        return self._people[role]

    def came(self, case_id: str) -> int:
        """Return how often a case has come to the payer."""
        moves = self.history.of(case_id, EntryKind.TRANSITION)
        return sum(entry.action in _HANDED_IN for entry in moves)

    def entered(self, role: str) -> None:
        """Let whoever sits at a side's desk use the applications."""
        if self.actor != self.person(role):
            self.actor = self.person(role)
        self.parley.count()
        if role == PROVIDER:
            self.offers.see()
        if role == PROVIDER and isinstance(self.start, SharedStart):
            self._looking, self.charts = role, self.start.practice

    def exited(self, role: str) -> None:
        """Let everything be seen again: the engine and the judge are no side."""
        self._looking, self.charts = "", self.start.charts

    def knows(self, patient_id: str) -> bool:
        """Return whether whoever uses the applications has anything to do with a patient."""
        return not self._looking or patient_id in self.charts

    def practised(self, case_id: str) -> bool:
        """Return whether a case is of the practice that is played."""
        case, start = self.cases.cases.get(case_id), self.start
        return (
            case is None or not isinstance(start, SharedStart) or case.patient_id in start.practice
        )

    def keep(self, case_id: str, moment: Moment = Moment.RECEIVED) -> None:
        """Keep the world as it is at a moment of a case, the first time that it comes."""
        name = f"{moment} {case_id}"
        if name not in self._kept:
            kept = self.clone()
            kept.exited(PROVIDER)  # in the middle of whose call it is
            self._kept[name] = Kept(kept)

    def happen(self, due: Due) -> None:
        """Carry out what has fallen due; both sides are told of calls, and of offers that lapse."""
        if due.name in parley.NAMES:
            self.parley.on_due(due)
            return
        if due.name == _LIES:
            case_id = due.facts["case_id"]
            self.notify(
                PAYER, f"A request that another office sent lies at intake: case {case_id}."
            )
            return
        if due.name == offers.PASSED:
            request = self.peer.requests[str(due.facts["request_id"])]
            if self.offers.passed(request):
                self._lapses(request.id)
                peer_lapses.give_up(self, request, _TOO_LATE)
            return
        if due.name == peer_lapses.OFFER_LAPSES:
            self._lapses(str(due.facts["request_id"]))
        super().happen(due)

    def _lapses(self, request_id: str) -> None:
        if self.peer.requests[request_id].status is not PeerToPeerStatus.SLOTS_OFFERED:
            return
        ours = self.practised(self.peer.requests[request_id].case_id)
        for side in (PROVIDER, PAYER) if ours else (PAYER,):
            self.notify(
                side,
                f"The times offered for the call of request {request_id} have lapsed; the payer's "
                "physician decides without it.",
            )
