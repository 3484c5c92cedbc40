"""The offices with somebody at both desks: what one side sends, the other is told of.

Nobody's staff works by itself here. What crosses is the packet with copies of its documents, the
request for information and its letter, the reply, the times and the words of a call, and letters;
each crossing is a notice to the other side, and the payer's rules are bound to a case when it is
handed in, whatever id the provider gave it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

from healthgym.core.clock import Due
from healthgym.core.state import table
from healthgym.worlds.managed_care import relay
from healthgym.worlds.managed_care.apps.provider.deadlines import PEND_LAPSES
from healthgym.worlds.managed_care.covering import covering
from healthgym.worlds.managed_care.dates import moment
from healthgym.worlds.managed_care.packets import quantity
from healthgym.worlds.managed_care.payer_desk import PayerDesk
from healthgym.worlds.managed_care.policies.policy import catalog
from healthgym.worlds.managed_care.provider_desk import ProviderDesk
from healthgym.worlds.managed_care.records.decision import Letter
from healthgym.worlds.managed_care.records.peer import PayerPeerToPeerRequest
from healthgym.worlds.managed_care.relay import PAYER, PROVIDER
from healthgym.worlds.managed_care.staff import WorkerRole
from healthgym.worlds.managed_care.world import ManagedCareWorld

if TYPE_CHECKING:
    from healthgym.worlds.managed_care.start import WorldStart

_CALL = "call_begins"


@dataclass(frozen=True, slots=True, eq=False)
class Kept:
    """A world that is looked at and never played, as one value.

    Attributes:
        world: The world.
    """

    world: ManagedCareWorld

    def content_hash(self) -> str:
        """Return the digest of the world."""
        return self.world.digest()


class PayerSeat(PayerDesk):
    """Where the provider's submissions arrive for whoever plays the payer."""

    world: SharedOffices

    def take_in(self, case_id: str, *, reply: bool = False) -> None:
        """Bind the payer's rules to a case, and tell the payer what has come."""
        if reply:
            self.world.notify(PAYER, f"The provider has answered about case {case_id}.")
            return
        policy = covering(self.world, case_id)
        if policy is not None:
            listed = catalog(policy, "nurse_review")
            self.world.nursing.set_catalog(case_id, listed, policy.criteria)
        self.world.history.audit("relay", relay.BOUND, case_id, "relay")
        self.world.keep(case_id)
        self.world.notify(PAYER, f"A request has come in: case {case_id} lies at intake.")

    def coming(self, case_id: str) -> None:
        """Enter how much the form asks for on the line, where the reviewers look."""
        policy, lines = covering(self.world, case_id), self.world.cases.lines
        asked = quantity(self.world, case_id, policy) if policy is not None else None
        line = self.world.cases.line(case_id)
        if asked is not None:
            lines[line.id] = replace(line, requested_units=int(asked))

    def appealed(self, case_id: str, level: str) -> None:
        """Tell the payer of an appeal."""
        self.world.notify(PAYER, f"The provider has filed an {level} appeal of case {case_id}.")

    def called(self, case_id: str) -> bool:
        """Leave what follows from a call to whoever plays the payer."""
        return True


class ProviderSeat(ProviderDesk):
    """Where what the payer sends arrives for whoever plays the provider."""

    world: SharedOffices

    def begin(self) -> None:
        """Take nothing up: whoever plays the provider does."""

    def asked(self, case_id: str) -> None:
        """Tell the provider that information is wanted."""
        self.world.notify(PROVIDER, f"The payer asks for information about case {case_id}.")

    def offered(self, request: PayerPeerToPeerRequest) -> bool:
        """Tell the provider that times for a call are offered."""
        told = f"The payer offers times for a call, request {request.id}, case {request.case_id}."
        self.world.notify(PROVIDER, told)
        return True

    def scheduled(self, request: PayerPeerToPeerRequest) -> None:
        """Have both sides told when a call is to begin."""
        at = moment(request.scheduled_at or "", "scheduled_at")
        self.world.clock.agenda.put(at, _CALL, case_id=request.case_id, request=request.id)
        self.world.notify(
            PROVIDER, f"The call of request {request.id} is fixed for {at:%Y-%m-%d %H:%M}."
        )

    def received(self, letter: Letter) -> None:
        """Tell the provider that a letter is there."""
        self.world.notify(
            PROVIDER, f"A letter about case {letter.case_id} has arrived: {letter.id}."
        )

    def lapsed(self, due: Due, told: str) -> None:
        """Tell both sides what lapsed; a reminder is the provider's own affair."""
        if not told:
            return
        self.world.notify(PROVIDER, told)
        if due.name == PEND_LAPSES and not due.facts.get("notice"):
            self.world.notify(PAYER, told)


class SharedOffices(ManagedCareWorld):
    """Both offices, and nobody in either who works by himself.

    Args:
        start: What it begins with; its plans for staff are those of nobody.
    """

    payer_side: ClassVar[type[PayerDesk]] = PayerSeat
    provider_side: ClassVar[type[ProviderDesk]] = ProviderSeat

    _received = table[str, Kept](content=False)

    def __init__(self, start: WorldStart) -> None:
        super().__init__(start)
        clerks = start.staff.with_role(WorkerRole.INTAKE_COORDINATOR)
        self._people = {PROVIDER: start.actor, PAYER: next(iter(clerks), start.actor)}

    @property
    def received(self) -> Mapping[str, ManagedCareWorld]:
        """The world as the payer received each case, by case; never shown or changed."""
        return {case_id: kept.world for case_id, kept in self._received.items()}

    def entered(self, role: str) -> None:
        """Let whoever sits at a side's desk use the applications."""
        if self.actor != self._people[role]:
            self.actor = self._people[role]

    def keep(self, case_id: str) -> None:
        """Keep the world as it is when the payer first receives a case."""
        if case_id not in self._received:
            self._received[case_id] = Kept(self.clone())

    def happen(self, due: Due) -> None:
        """Carry out what has fallen due; the time of a call is told to both sides."""
        if due.name != _CALL:
            super().happen(due)
            return
        for side in (PROVIDER, PAYER):
            self.notify(side, f"It is time for the call of request {due.facts['request']}.")
