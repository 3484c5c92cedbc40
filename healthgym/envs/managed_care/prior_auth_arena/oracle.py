"""What both sides do who know what each deserves, and what those do who do not look."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import timedelta

import numpy as np

from healthgym.core.family import Baseline, Script
from healthgym.core.task import Instance, Task
from healthgym.envs.managed_care.prior_auth_arena.payer import PayerOracle
from healthgym.envs.managed_care.prior_auth_arena.task import ArenaInstance, ArenaReference
from healthgym.envs.managed_care.prior_auth_arena.working import ArenaEpisode, Seat, Table, Worker
from healthgym.envs.managed_care.prior_authorization import oracle
from healthgym.envs.managed_care.prior_authorization.task import AuthorizationReference
from healthgym.worlds.managed_care.dates import moment
from healthgym.worlds.managed_care.relay import PAYER, PROVIDER
from healthgym.worlds.managed_care.start import WorldStart
from healthgym.worlds.managed_care.vocabulary.authorization import (
    CaseStatus,
    PeerToPeerOutcome,
    PeerToPeerStatus,
)

_PATIENCE = timedelta(days=55)
#: It looks that often, for no letter tells of a denial by the calendar, which can be appealed for
#: 30 days where that is least.
_LOOK = timedelta(days=20)
_NO_RECORD = "There is no record of it that could be sent; the ordering clinician can be called."
_NO_MORE = "There is nothing more that we know of it."
_OPEN = frozenset(
    {
        CaseStatus.SUBMITTED,
        CaseStatus.UNDER_REVIEW,
        CaseStatus.RESUBMITTED,
        CaseStatus.PENDED_ACTION_REQUIRED,
        CaseStatus.APPEALED,
    }
)
#: How a denial is taken on, by where the case stands.
_APPEALS = {
    CaseStatus.DENIED: "auth.file_appeal",
    CaseStatus.APPEAL_UPHELD: "auth.file_external_appeal",
}
#: Where a request stands rightly that deserves something.
_DESERVED = (CaseStatus.APPROVED, CaseStatus.PARTIALLY_APPROVED)


class ProviderOracle(Worker):
    """Sends what is right, answers what is asked, and stays until there is a word.

    Args:
        seat: The provider's desk.
        instance: The task.
    """

    def __init__(self, seat: Seat, instance: ArenaInstance) -> None:
        super().__init__(seat)
        self.start, self.wanted = instance.start, instance.reference.provider
        self.memo = instance.reference.memo
        self._begun = False
        self._until = self.start.now + _PATIENCE

    def turn(self) -> None:
        """Begin, or see to what has come; ask for a word that is overdue."""
        if not self._begun:
            self._begun = True
            self.begin()
        elif self.seat.offices.speaker == PROVIDER:
            self.speak()
            return
        elif self._status is CaseStatus.PENDED_ACTION_REQUIRED:
            self.answer()
        elif self._status in _APPEALS and self.wanted.status in _DESERVED:
            self.appeal(_APPEALS[self._status])
        else:
            self.choose()
        if self._status in _OPEN and self.seat.now < self._until:
            self.seat.hand_over(min(self._until, self.seat.now + _LOOK))
            return
        if self._status in _OPEN:
            self.seat.do("auth.check_status", case_id=oracle.CASE, channel="portal")
        self.seat.do("finish")

    def appeal(self, filed: str) -> None:
        """Appeal a denial of what deserves approval, by the policy in force."""
        policy = self.wanted.policy
        self._until = self.seat.now + _PATIENCE
        self.seat.do(
            filed,
            case_id=oracle.CASE,
            rationale=(
                f"{policy.id} {policy.version} is in force for this plan, and the packet shows "
                "what it requires."
            ),
        )

    def begin(self) -> None:
        """Look, decide, and send what is to be sent."""
        for each in oracle.opening(self.wanted, self.start):
            self.seat.do(each.name, **each.arguments)

    @property
    def _status(self) -> CaseStatus | None:
        case = self.seat.world.cases.cases.get(oracle.CASE)
        return case.status if case else None

    def answer(self) -> None:
        """Send the latest document of the kind that is sent on request, or say that none is."""
        documents = self.start.charts[self.wanted.patient_id].documents
        asked = [page.id for page in documents if str(page.kind) in self.wanted.on_request]
        self.seat.do(
            "auth.respond_to_pend",
            case_id=oracle.CASE,
            note="As asked for." if asked else _NO_RECORD,
            document_ids=asked[-1:],
        )

    def choose(self) -> None:
        """Take the first time on offer that can still be kept; ask for others if none can."""
        world = self.seat.world
        for request in world.peer.of(oracle.CASE):
            slots = request.offered_slots
            if request.status is not PeerToPeerStatus.SLOTS_OFFERED:
                continue
            ahead = [one for one in slots if moment(one, "slots") > world.clock.now]
            self.seat.do(
                "auth.respond_to_peer_to_peer",
                case_id=oracle.CASE,
                request_id=request.id,
                note="" if ahead else f"All times to {slots[-1]} are past; please offer others.",
                selected_slot=ahead[0] if ahead else None,
            )

    def speak(self) -> None:
        """Say what the clinician knows, in the memo's words, and that there is no more."""
        known = self.memo is not None and self.memo.settles
        position = PeerToPeerOutcome.UPHOLD_INTENDED_ADVERSE_DECISION
        if known:
            position = PeerToPeerOutcome.OVERTURN_TO_APPROVAL
        line = self.seat.offices.parley.open_line
        begins = line is not None and not line.turns
        said = f"On {self.memo.criterion}: {self.memo.said}" if self.memo and begins else _NO_MORE
        self.seat.do("call.speak", message=said, position=str(position), ready=True)


#: Makes those who know the answer, by side.
KNOWING: Mapping[str, Callable[[Seat, ArenaInstance], Worker]] = {
    PROVIDER: ProviderOracle,
    PAYER: PayerOracle,
}


def pair(
    instance: ArenaInstance,
    rng: np.random.Generator,
    episode: ArenaEpisode,
    makers: Mapping[str, Callable[[Seat, ArenaInstance], Worker]] = KNOWING,
) -> Table:
    """Return a table at which both sides know the answer; those that are filled stay so.

    Args:
        instance: The task.
        rng: Who of several able people does something.
        episode: Where it is played.
        makers: Makes those who sit there.
    """
    table = Table(episode)
    for role, make in makers.items():
        if role not in episode.counterparts:
            table.workers[role] = make(Seat(episode, rng, role, table.others), instance)
    return table


def baselines() -> Mapping[str, Baseline[Task, ArenaReference, WorldStart]]:
    """Return the provider's scripts of prior authorization, which do not read what decides."""

    def adapted(
        play: Baseline[Task, AuthorizationReference, WorldStart],
    ) -> Baseline[Task, ArenaReference, WorldStart]:
        def script(instance: ArenaInstance, rng: np.random.Generator) -> Script:
            request = Instance(instance.task, instance.reference.provider, instance.start)
            return play(request, rng)

        return script

    return {name: adapted(play) for name, play in oracle.baselines().items()}
