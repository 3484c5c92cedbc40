"""A payer's side that knows what each packet deserves."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import ClassVar

from healthgym.envs.managed_care.prior_auth_arena.payer_call import PayerCall
from healthgym.envs.managed_care.prior_auth_arena.task import ArenaInstance
from healthgym.envs.managed_care.prior_auth_arena.truth import (
    Received,
    truth_of,
    truth_of_appeal,
)
from healthgym.envs.managed_care.prior_auth_arena.working import Seat, Worker
from healthgym.envs.managed_care.utilization_management.hearing import hear
from healthgym.envs.managed_care.utilization_management.oracle import Review
from healthgym.envs.managed_care.utilization_management.task import Path
from healthgym.worlds.managed_care.shared import Moment
from healthgym.worlds.managed_care.vocabulary.authorization import CaseStatus
from healthgym.worlds.managed_care.world import ManagedCareWorld

_APPEALED = (CaseStatus.APPEALED, CaseStatus.EXTERNAL_APPEALED)

_CALLED = (Path.UPHELD, Path.OVERTURNED)
#: So long the first request of the practice is waited for; and after a request, for the other side.
_PATIENCE, _PAUSE = timedelta(days=60), timedelta(minutes=1)


class Reviewing(Review):
    """A review whose right handling follows from what has come by now."""

    calling: ClassVar[type[PayerCall]] = PayerCall

    def __init__(self, seat: Seat, received: Received, instance: ArenaInstance) -> None:
        self.received, self.seat = received, seat
        self.desk, self.wanted = seat, truth_of(received)
        self.case_id, self.before = received.case_id, received.before
        self.rules = instance.start.operations

    def answered(self) -> bool:
        """Wait for the reply, and see what it makes right."""
        came = super().answered()
        self.wanted = truth_of(self.received)
        return came and self.desk.world.cases.get(self.case_id).status is not CaseStatus.CLOSED

    def talk(self) -> None:
        """Hold the call that is due, if one is, and see what it makes right."""
        if self.wanted.path in _CALLED and not self.received.uncalled:
            seat, wanted = self.seat, self.wanted
            self.calling(seat, self.received, wanted.denied_on, wanted.policy).hold()
            self.wanted = truth_of(self.received)
            if self.received.uncalled:
                self.conclude(evaluates=False)  # the times it had offered leave little until due


class Hearing(Review):
    """An appeal that somebody hears who knows what it deserves."""

    def __init__(self, seat: Seat, contested: Received, before: ManagedCareWorld) -> None:
        self.desk, self.before = seat, before
        self.wanted = truth_of_appeal(contested, before)
        self.case_id, self.rules = contested.case_id, before.operations


class PayerOracle(Worker):
    """Works each case that comes in, and waits while there is none.

    Args:
        seat: The payer's desk.
        instance: The task.
    """

    reviewing: ClassVar[type[Reviewing]] = Reviewing
    queueing: ClassVar[type[Review]] = Review

    def __init__(self, seat: Seat, instance: ArenaInstance) -> None:
        super().__init__(seat)
        self.instance = instance
        self._done: set[str] = set()
        self._begun = False
        self._until = seat.now + _PATIENCE

    def turn(self) -> None:
        """See what lies there and what has come in through to its end, and wait for more once.

        A reply is waited for in between.
        """
        world = self.seat.offices
        if not self._begun:
            self._begun = True
            self._clear()
        if not world.received and self.seat.now < self._until:
            self.seat.hand_over(self._until)
            return
        for case_id, before in world.received.items():
            if case_id not in self._done:
                self._done.add(case_id)
                truth = self.instance.reference
                received = Received(before, world, truth.case, case_id, truth.memo)
                review = self.reviewing(self.seat, received, self.instance)
                review.see_through()
                self._stay(received)
        self.seat.do("finish")

    def _clear(self) -> None:
        """See the request of another office through, and let the other side go on after it."""
        queued = self.instance.reference.queued
        if queued is not None:
            self.queueing(self.seat, queued).see_through()
            self.seat.rest(self.seat.now + _PAUSE)

    def _stay(self, received: Received) -> None:
        """Wait for an appeal while a denial can be appealed, and hear it."""
        case_id, seat = received.case_id, self.seat
        case = seat.world.cases.get(case_id)
        if case.status is CaseStatus.DENIED and case.appeal_due_at is not None:
            left = case.appeal_due_at - seat.now + timedelta(minutes=1)
            seat.wait_for(lambda world: world.cases.get(case_id).status in _APPEALED, left)
        world = seat.offices
        before = world.kept(Moment.APPEALED).get(case_id)
        if before is None or world.appeals.open(case_id) is None:
            return
        contested = replace(received, now=world.kept(Moment.CONTESTED)[case_id])
        hearing = Hearing(seat, contested, before)
        hear(seat, hearing.wanted, before, hearing.evaluations)
