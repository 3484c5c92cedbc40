"""What may be seen of an episode: its record, who is still playing, and its verdicts."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Generic, NamedTuple

from healthgym.core.borders import JsonDict
from healthgym.core.family import EpisodeConfig, Event, Family, Seat
from healthgym.core.images import Image
from healthgym.core.seating import EpisodeState
from healthgym.core.task import Instance, ReferenceIn, StartIn, Task, TaskIn
from healthgym.core.trajectory import Turn
from healthgym.core.verdict import Profile, Verdict
from healthgym.core.world import WorldIn
from healthgym.errors import EpisodeStateError, SeatCrashedError


class StepOutcome(NamedTuple):
    """The answer to one action.

    Attributes:
        observation: What the role reads.
        images: Pictures shown with it.
        reward: The step's reward.
        terminated: The role has submitted, or given up.
        truncated: The role is out of turns.
        errors: Why calls were refused, empty if none was.
        settled: What the other roles earned by this step, if it ended the episode.
    """

    observation: str
    images: tuple[Image, ...]
    reward: float
    terminated: bool
    truncated: bool
    errors: tuple[str, ...] = ()
    settled: Mapping[str, float] = MappingProxyType({})


class EpisodeView(Generic[TaskIn, ReferenceIn, StartIn, WorldIn]):
    """The side of an episode that changes nothing.

    Attributes:
        config: The rules.
        role: The role that is meant where none is named: the first that no counterpart plays.
    """

    config: EpisodeConfig
    role: str
    _family: Family[TaskIn, ReferenceIn, StartIn, WorldIn]
    _instance: Instance[TaskIn, ReferenceIn, StartIn]
    _seats: Mapping[str, Seat]
    _state: EpisodeState[WorldIn]

    @property
    def task(self) -> Task:
        """The agent-visible half of the task."""
        return self._instance.task

    @property
    def world(self) -> WorldIn:
        """The live world."""
        return self._state.world

    @property
    def roles(self) -> tuple[str, ...]:
        """The roles, in their order of play."""
        return tuple(self._seats)

    @property
    def counterparts(self) -> tuple[str, ...]:
        """The roles that are played from inside."""
        return tuple(self._state.players)

    @property
    def turns(self) -> tuple[Turn, ...]:
        """The transcript so far."""
        return tuple(self._state.turns)

    @property
    def events(self) -> tuple[Event, ...]:
        """Every call so far, refused ones included, and what fell due."""
        return tuple(self._state.events)

    def seat(self, role: str = "") -> Seat:
        """Return the seat of a role."""
        return self._seats[role or self.role]

    def instruction(self, role: str = "") -> str:
        """Return the text a role reads first."""
        return self._seats[role or self.role].instruction

    def turns_left(self, role: str = "") -> int:
        """Return how many calls a role may still make."""
        role = role or self.role
        return max(self.config.budget(role) - self._state.seats[role].calls, 0)

    def subjects(self, role: str = "") -> tuple[str, ...]:
        """Return the case that each turn of a role was about; empty ones were about none."""
        wanted = role or self.role
        return tuple(case for who, case in self._state.subjects if who == wanted)

    def total_reward(self, role: str = "") -> float:
        """Return the sum of a role's rewards so far."""
        return self._state.seats[role or self.role].total_reward

    def submitted(self, role: str = "") -> bool:
        """Return whether a role has handed in its answer."""
        return self._state.seats[role or self.role].submission is not None

    def stopped(self, role: str = "") -> bool:
        """Return whether a role was ended by :meth:`stop`."""
        return self._state.seats[role or self.role].stopped

    @property
    def settled(self) -> bool:
        """Whether the episode is over and has its verdicts."""
        return self._state.verdicts is not None

    def done(self, role: str | None = None) -> bool:
        """Return whether a role, or every role, has submitted or run out of turns.

        An episode that was ended by a crash is over for all.
        """
        state = self._state
        return state.over if role is None or state.crash is not None else state.seats[role].done

    @property
    def crash(self) -> SeatCrashedError | None:
        """What ended the episode without a score, the policy in a seat having failed."""
        return self._state.crash

    def to_act(self) -> str | None:
        """Return whose turn it is; None if the episode is over, or all wait.

        A role that handed the turn over by waiting is not asked.

        Raises:
            EpisodeStateError: If the family names a role that can no longer act.
        """
        ready = self._state.ready()
        role = self._family.to_act(self.world, ready) if ready else None
        if role is not None and role not in ready:
            raise EpisodeStateError(f"{self.task.task_id}: it cannot be the turn of {role!r}.")
        return role

    def verdict(self, role: str = "", profile: Profile | None = None) -> Verdict:
        """Return the verdict on a role: the one there is, reached when the episode was over.

        Raises:
            EpisodeStateError: If the episode is not over, or has no score because judging failed.
        """
        verdicts = self._state.verdicts
        if verdicts is None:
            raise self._unsettled()
        return verdicts[role or self.role][profile or self.config.profile]

    def verdicts(self, role: str = "") -> dict[str, JsonDict]:
        """Return the verdicts under every profile, as JSON values.

        Raises:
            EpisodeStateError: If the episode is not over, or has no score because judging failed.
        """
        return {str(profile): self.verdict(role, profile).to_dict() for profile in Profile}

    def _unsettled(self) -> EpisodeStateError:
        reason = "has no score: judging it failed" if self.done() else "is not over"
        if self.crash is not None:
            return EpisodeStateError(
                f"The episode of {self.task.task_id} has no score: {self.crash}"
            )
        return EpisodeStateError(
            f"The episode of {self.task.task_id} {reason}. To see what its verdict would be, "
            "stop() a clone of it."
        )
