"""Judging: progress on the way, and one verdict for each role and profile at the end."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from types import MappingProxyType
from typing import Generic, TypeVar

from healthgym.core.family import Family
from healthgym.core.seating import History, SeatState
from healthgym.core.task import Instance, ReferenceIn, StartIn, TaskIn
from healthgym.core.verdict import Combine, Judgement, Profile, Verdict
from healthgym.core.verifier import Event, Evidence
from healthgym.core.world import WorldIn
from healthgym.errors import HealthGymError, VerifierError

Answer = TypeVar("Answer")

Verdicts = Mapping[str, Mapping[Profile, Verdict]]


class Bench(Generic[TaskIn, ReferenceIn, StartIn, WorldIn]):
    """Puts the evidence together and asks the family's verifier.

    Args:
        family: The family.
        instance: The task, with its reference.
        before: The world as the episode began.
    """

    def __init__(
        self,
        family: Family[TaskIn, ReferenceIn, StartIn, WorldIn],
        instance: Instance[TaskIn, ReferenceIn, StartIn],
        before: WorldIn,
    ) -> None:
        self._family = family
        self._instance = instance
        self._before = before
        self.begun = before.clock.now
        #: The parts whose progress is told apart; one nameless part where there are none.
        self.parts: tuple[str, ...] = family.parts(instance) or ("",)
        self._every = frozenset(self.parts)

    def evidence(
        self,
        world: WorldIn,
        events: Sequence[Event],
        role: str,
        seat: SeatState,
        worked: dict[object, object] | None = None,
    ) -> Evidence[TaskIn, ReferenceIn, WorldIn]:
        """Return what there is to look at, with what was worked out of it for other roles."""
        return Evidence(
            self._instance.task,
            self._instance.reference,
            self._before,
            world,
            History(events),
            seat.submission,
            role,
            MappingProxyType(dict(seat.closed)),
            {} if worked is None else worked,
        )

    def progress(
        self,
        world: WorldIn,
        events: Sequence[Event],
        role: str,
        seat: SeatState,
        profile: Profile,
    ) -> None:
        """Bring a role's progress up to date, asking only about parts that were touched.

        Raises:
            VerifierError: If the verifier fails.
        """
        if self._family.hand_in.withheld or not seat.stale:
            return
        evidence = self.evidence(world, events, role, seat)
        found = {
            part: self._asked(partial(self._potential, evidence, profile, part))
            for part in self.parts
            if part in seat.stale
        }
        seat.progress = {**seat.progress, **found}
        seat.stale = frozenset()

    def _potential(
        self, evidence: Evidence[TaskIn, ReferenceIn, WorldIn], profile: Profile, part: str
    ) -> float:
        found = float(self._family.verifier.progress(evidence, profile, part))
        if math.isnan(found):
            raise ValueError(f"the progress of {part or 'the task'} is not a number")
        return min(max(found, -1.0), 1.0)

    def touch(self, event: Event, changed: bool, seats: Mapping[str, SeatState]) -> None:
        """Note which parts of the progress an event may have changed."""
        if not changed and not self._family.verifier.reads_events:
            return
        touched = self._family.touched(event)
        parts = self._every if touched is None else frozenset(touched)
        for seat in seats.values():
            if not parts <= seat.stale:
                seat.stale |= parts

    def settle(
        self, world: WorldIn, events: Sequence[Event], seats: Mapping[str, SeatState]
    ) -> Verdicts:
        """Return the verdict of each role under each profile.

        What a judge says is heard by the world, and so on record. Where judging fails, nothing was
        heard: it may be tried again.

        Raises:
            VerifierError: If the verifier fails; never a score.
            InfrastructureError: If something outside the episode fails, such as a judge.
        """
        worked: dict[object, object] = {}
        savepoint = world.journal.begin()
        try:
            verdicts = {
                role: {
                    profile: self._verdict(
                        self.evidence(world, events, role, seat, worked), profile
                    )
                    for profile in Profile
                }
                for role, seat in seats.items()
            }
        except BaseException:
            world.journal.rollback(savepoint)
            raise
        world.journal.commit()
        return verdicts

    def _verdict(
        self, evidence: Evidence[TaskIn, ReferenceIn, WorldIn], profile: Profile
    ) -> Verdict:
        hand_in, verifier = self._family.hand_in, self._family.verifier
        handed_in = evidence.submission is not None
        own = (hand_in.check.result(handed_in),) if hand_in.needed(profile) else ()
        if own and not handed_in and hand_in.withheld:
            untouched = tuple(check.untouched() for check in verifier.checks(profile))
            return Verdict.from_judgement(profile, Judgement(untouched, progress=0.0), own)

        def judged() -> Verdict:
            found = verifier.judge(evidence, profile)
            if found.chance is None and profile is Profile.STRICT:
                found = replace(found, chance=self._family.chance_of(evidence.task.kind))
            verdict = Verdict.from_judgement(profile, found, own)
            if own and not handed_in and found.combine is not Combine.SOLVED:
                # Whatever was paid on the way is paid back, on every face.
                verdict = replace(verdict, progress=0.0)
            if any(result.passed for result in verdict.all_checks()):
                return verdict
            # Nothing applied: that is no success.
            return replace(verdict, success=False, progress=min(verdict.progress, 0.99))

        return self._asked(judged)

    def _asked(self, question: Callable[[], Answer]) -> Answer:
        """Ask the verifier something; its failure is ours, and never a score."""
        try:
            return question()
        except HealthGymError:
            raise
        except Exception as error:  # a verifier may be anybody's code
            raise VerifierError(
                f"The verifier of {self._instance.task.task_id} failed: {error!r}. The episode "
                "has no score."
            ) from error
