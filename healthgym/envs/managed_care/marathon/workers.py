"""Those who know the answer of one case, at a desk where they are not alone."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import datetime, timedelta

import numpy as np

from healthgym.core.borders import Json
from healthgym.core.episode import StepOutcome
from healthgym.core.family import Script
from healthgym.core.tool import ToolCall, call
from healthgym.envs.managed_care.care_management import blind
from healthgym.envs.managed_care.care_management.oracle import Worker
from healthgym.envs.managed_care.care_management.rehearsal import Rehearsal
from healthgym.envs.managed_care.care_management.speech import caller_of, phrase_book
from healthgym.envs.managed_care.cases.situations import Course
from healthgym.envs.managed_care.marathon.crew import Crew, Holds
from healthgym.envs.managed_care.marathon.task import CaseInstance
from healthgym.envs.managed_care.prior_authorization import oracle
from healthgym.envs.managed_care.utilization_management import drill, habits
from healthgym.envs.managed_care.utilization_management.oracle import Review
from healthgym.envs.managed_care.utilization_management.working import Desk
from healthgym.worlds.managed_care.queue import QueueOffices
from healthgym.worlds.managed_care.records.case import PriorAuthCase
from healthgym.worlds.managed_care.records.peer import PayerPeerToPeerRequest
from healthgym.worlds.managed_care.vocabulary.authorization import CaseStatus
from healthgym.worlds.managed_care.world import ManagedCareWorld

#: Where a nurse finds the cases of a drill.
QUEUE = "payer_intake_hub.list_intake_queue"
_OPENS = "cases.create_from_order"
_PATIENCE, _NEAR = timedelta(days=55), timedelta(days=30)
#: Where a case stands while the payer is at it.
_SENT = frozenset(
    {
        CaseStatus.SUBMITTED,
        CaseStatus.RESUBMITTED,
        CaseStatus.UNDER_REVIEW,
        CaseStatus.APPEALED,
        CaseStatus.EXTERNAL_APPEALED,
    }
)


class RequestWorker:
    """Somebody who knows what an order deserves, at the provider's desk.

    Args:
        crew: Where calls are made.
        instance: The case.
    """

    def __init__(self, crew: Crew, instance: CaseInstance) -> None:
        self.crew, self.wanted, self.start = crew, instance.reference, instance.start

    def work(self) -> None:
        """Open, decide, send what is to be sent, and see it through."""
        self._open()
        if self.wanted.action is not oracle.SENDS:
            return
        if self.wanted.course is Course.PEER_CALL:
            self._rest(lambda world: bool(self._requests(world)))
            request = self._requests(self.crew.world)[0]
            self.play(oracle.called(self.wanted, request, self.crew.now))
            return
        self._rest(self._answered)
        chart = self.start.charts[self.wanted.patient_id]
        self.play(oracle.answers(self.wanted, self.start, chart))

    def _open(self) -> None:
        """Open the case and decide; what is said of days is said as of the day it was opened."""
        script = oracle.opening(self.wanted, self.start)
        opens = [made.name for made in script].index(_OPENS) + 1
        self.play(script[:opens])
        case = self._case(self.crew.world)
        start = replace(self.start, now=case.created_at) if case else self.start
        self.play(oracle.opening(self.wanted, start)[opens:])

    def play(self, script: Iterable[object]) -> None:
        """Make the calls of a script that was written for the case alone."""
        for made in script:
            if isinstance(made, ToolCall) and made.name != "finish":
                self._do(made)

    def _do(self, made: ToolCall) -> None:
        if made.name == "wait":
            until = datetime.fromisoformat(f"{made.arguments['until']}+00:00")
            # A day that is near is the time of a call; else an answer is waited for.
            near = until < self.crew.now + _NEAR
            self.crew.rest(_never if near else self._answered, until)
            return
        self.crew.step(ToolCall(made.name, _renamed(made.arguments, dict(self._names()))))

    def _names(self) -> Iterator[tuple[str, str]]:
        """Yield the ids of the case, by those that it has where it is alone."""
        case, world = self._case(self.crew.world), self.crew.world
        if case is None:
            return
        yield oracle.CASE, case.id
        bundle = world.documents.newest_bundle(case.id)
        if bundle is not None:
            yield oracle.BUNDLE, bundle
        for document in world.documents.documents.values():
            if document.case_id == case.id and document.id.startswith("DOC-UP-"):
                yield oracle.UPLOAD, document.id

    def _case(self, world: ManagedCareWorld) -> PriorAuthCase | None:
        own = [c for c in world.cases.cases.values() if c.patient_id == self.wanted.patient_id]
        return own[-1] if own else None

    def _answered(self, world: ManagedCareWorld) -> bool:
        case = self._case(world)
        return case is not None and case.status not in _SENT

    def _requests(self, world: ManagedCareWorld) -> list[PayerPeerToPeerRequest]:
        case = self._case(world)
        found = world.peer.requests.values()
        return [one for one in found if case and one.case_id == case.id and one.offered_slots]

    @property
    def _late(self) -> datetime:
        return self.crew.now + _PATIENCE

    def _rest(self, holds: Holds) -> None:
        self.crew.rest(holds, self._late)


def _never(world: ManagedCareWorld) -> bool:
    return False


def _renamed(value: Mapping[str, Json], names: Mapping[str, str]) -> dict[str, Json]:
    """Return arguments with other ids."""

    def other(each: Json) -> Json:
        if isinstance(each, str):
            return names.get(each, each)
        if isinstance(each, list):
            return [other(one) for one in each]
        return each

    return {name: other(each) for name, each in value.items()}


class Guest:
    """An episode as somebody sees it who believes that the case is the only one.

    Args:
        crew: Where calls are made.
    """

    def __init__(self, crew: Crew) -> None:
        self._crew = crew

    @property
    def world(self) -> QueueOffices:
        """The offices as they are now."""
        return self._crew.world

    def done(self, role: str | None = None) -> bool:
        """Return whether the episode is over."""
        return self._crew.episode.done(role)

    def step(self, action: object, role: str = "") -> StepOutcome:
        """Make a call; others work while this one waits, and nobody ends the work of all."""
        made = action if isinstance(action, ToolCall) else call("")
        if made.name == "wait":
            until = datetime.fromisoformat(f"{made.arguments['until']}+00:00")
            self._crew.rest(_never, until)
        elif made.name != "finish":
            return self._crew.step(made)
        return StepOutcome("", (), 0.0, False, False)


class CrewDesk(Desk):
    """A payer's desk at which others work as well.

    Args:
        crew: They.
        rng: Who of several able people does something.
    """

    def __init__(self, crew: Crew, rng: np.random.Generator) -> None:
        super().__init__(Guest(crew), rng)
        self._crew = crew

    def wait(self, until: datetime) -> None:
        """Let the others work until a time."""
        if self.now < until:
            self._crew.rest(_never, until)

    def wait_for(self, holds: Holds, at_most: timedelta) -> None:
        """Let the others work until something holds, or so long."""
        if not holds(self.world):
            self._crew.rest(holds, self.now + at_most)


#: Works one case at a desk of a crew.
Job = Callable[[Crew, CaseInstance, np.random.Generator], None]


def request(crew: Crew, instance: CaseInstance, rng: np.random.Generator) -> None:
    """Work an order at the provider's."""
    RequestWorker(crew, instance).work()


def review(crew: Crew, instance: CaseInstance, rng: np.random.Generator) -> None:
    """Work a case at the payer's."""
    Review(CrewDesk(crew, rng), instance).see_through()


def blind_request(name: str) -> Job:
    """Return somebody at the provider's who does not read what decides."""

    def work(crew: Crew, instance: CaseInstance, rng: np.random.Generator) -> None:
        RequestWorker(crew, instance).play(oracle.baselines()[name](instance, rng))

    return work


def blind_review(name: str) -> Job:
    """Return somebody at the payer's who does not."""

    def work(crew: Crew, instance: CaseInstance, rng: np.random.Generator) -> None:
        habits.baselines(lambda _: lambda: Guest(crew))[name](instance, rng)

    return work


def drill_nurse(crew: Crew, instance: CaseInstance, rng: np.random.Generator) -> None:
    """Find what a note shows on two criteria, as a reader would come to it.

    Who is first looks where the cases are, and nobody reads a page again.
    """
    page, data, saved, _ = drill.solve(instance, rng)
    found = () if crew.calls else (call(QUEUE),)
    _play(crew, [each for each in (*found, data, page, saved) if each not in crew.calls])


def blind_drill(name: str) -> Job:
    """Return a nurse who does not read."""

    def work(crew: Crew, instance: CaseInstance, rng: np.random.Generator) -> None:
        _play(crew, drill.baselines()[name](instance, rng))

    return work


def _play(crew: Crew, script: Script) -> None:
    """Make the calls of a case that ends without waiting; nobody ends the work of all."""
    for made in script:
        if isinstance(made, ToolCall) and made.name != "finish":
            crew.step(made)


def blind_referral(name: str) -> Job:
    """Return a care manager who does not."""

    def work(crew: Crew, instance: CaseInstance, rng: np.random.Generator) -> None:
        blind.baselines(lambda _: Rehearsal(Guest(crew)))[name](instance, rng)

    return work


def referral(crew: Crew, instance: CaseInstance, rng: np.random.Generator) -> None:
    """Work a referral."""
    Worker(instance, Rehearsal(Guest(crew)), phrase_book("plain", caller_of(instance.start))).work()
