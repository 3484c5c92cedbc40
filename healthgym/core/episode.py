"""The engine: one episode of typed tool calls on one world, by one role or several.

``gymnasium.Env``, the PettingZoo arena, TRL's environment class and every other interface are
faces on this class.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, Generic, Protocol, TypeVar

from healthgym.core import action as actions
from healthgym.core.family import (
    AGENT,
    EpisodeConfig,
    Event,
    Evidence,
    Family,
    Seat,
)
from healthgym.core.images import fingerprint
from healthgym.core.task import Instance, Reference, Task
from healthgym.core.tool import Image, Invocation, ToolCall, ToolKind, Toolset
from healthgym.core.trajectory import Turn
from healthgym.core.verdict import Profile, Verdict
from healthgym.core.world import World
from healthgym.errors import EpisodeStateError, HealthGymError, ToolError, VerifierError

WorldT = TypeVar("WorldT", bound=World)

_OVER = "This episode is over."
# Reasons may quote what the agent wrote, which may be long.
_MAX_REASON = 4000


@dataclass(frozen=True, slots=True)
class Transition:
    """What a reward function sees of one step.

    Attributes:
        now: The role's verdict after the step; None where the reward did not ask for one.
        before: The role's verdict before the step, likewise.
        calls: Calls made in the step.
        refused: How many of them were refused.
        terminated: The role has submitted, and the episode is over: no role still plays.
        truncated: The role ran out of turns without submitting, and the episode is over.
    """

    now: Verdict | None
    before: Verdict | None
    calls: int
    refused: int
    terminated: bool
    truncated: bool


class RewardFunction(Protocol):
    """Turns verdicts into numbers."""

    @property
    def dense(self) -> bool:
        """Whether a verdict is needed after every step, not only at the end."""

    def __call__(self, transition: Transition) -> float:
        """Return the reward of one step."""


@dataclass(frozen=True, slots=True)
class StepOutcome:
    """The answer to one action.

    Attributes:
        observation: What the role reads.
        images: Pictures shown with it.
        reward: The step's reward.
        terminated: The role has submitted.
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
    settled: Mapping[str, float] = field(default_factory=dict)


@dataclass(slots=True)
class _SeatState:
    """The mutable part of a seat."""

    calls: int = 0
    submission: Mapping[str, Any] | None = None
    truncated: bool = False
    stopped: bool = False
    verdict: Verdict | None = None
    total_reward: float = 0.0

    def copy(self) -> _SeatState:
        return replace(self)


@dataclass(slots=True)
class _State(Generic[WorldT]):
    """All that an episode changes; a snapshot is a copy of it."""

    world: WorldT
    seats: dict[str, _SeatState]
    events: list[Event] = field(default_factory=list)
    turns: list[Turn] = field(default_factory=list)

    def copy(self) -> _State[WorldT]:
        seats = {role: seat.copy() for role, seat in self.seats.items()}
        return _State(self.world.clone(), seats, list(self.events), list(self.turns))


class Episode(Generic[WorldT]):
    """One attempt at one task.

    Args:
        family: The family the instance comes from.
        instance: Task, reference and start state.
        reward: The reward function.
        config: The rules.
    """

    def __init__(
        self,
        family: Family[WorldT],
        instance: Instance[Task, Reference],
        reward: RewardFunction,
        config: EpisodeConfig | None = None,
    ) -> None:
        self._family = family
        self._instance = instance
        self._reward = reward
        self.config = config or EpisodeConfig()
        self._seats: Mapping[str, Seat] = family.seats(instance)
        world = family.open(instance)
        self._start = world.clone()
        self._state = _State(world, {role: _SeatState() for role in self._seats})
        self._bound: dict[str, tuple[Toolset[Any], ...]] = {}
        if reward.dense:
            for role, seat in self._state.seats.items():
                seat.verdict = self.verdict(role)

    # -- what a player may see ---------------------------------------------------------------

    @property
    def task(self) -> Task:
        """The agent-visible half of the task."""
        return self._instance.task

    @property
    def world(self) -> WorldT:
        """The live world."""
        return self._state.world

    @property
    def roles(self) -> tuple[str, ...]:
        """The roles, in their order of play."""
        return tuple(self._seats)

    @property
    def turns(self) -> tuple[Turn, ...]:
        """The transcript so far."""
        return tuple(self._state.turns)

    @property
    def events(self) -> tuple[Event, ...]:
        """Every call so far, refused ones included."""
        return tuple(self._state.events)

    def seat(self, role: str = AGENT) -> Seat:
        """Return the seat of a role."""
        return self._seats[role]

    def instruction(self, role: str = AGENT) -> str:
        """Return the text a role reads first."""
        return self._seats[role].instruction or self.task.instruction

    def turns_left(self, role: str = AGENT) -> int:
        """Return how many calls a role may still make."""
        return max(self.config.max_turns - self._state.seats[role].calls, 0)

    def total_reward(self, role: str = AGENT) -> float:
        """Return the sum of a role's rewards so far."""
        return self._state.seats[role].total_reward

    def submitted(self, role: str = AGENT) -> bool:
        """Return whether a role has handed in its answer."""
        return self._state.seats[role].submission is not None

    def done(self, role: str | None = None) -> bool:
        """Return whether a role, or every role, has submitted or run out of turns."""
        roles = self._seats if role is None else (role,)
        states = (self._state.seats[name] for name in roles)
        return all(state.submission is not None or state.truncated for state in states)

    # -- acting ------------------------------------------------------------------------------

    def step(self, action: object, role: str = AGENT) -> StepOutcome:
        """Carry out one action: one call, or several in the order they were written.

        Nothing an agent can send raises. A call that is refused changes nothing, is answered with
        the reason and costs a turn; calls after a submit, or beyond the turn budget, are dropped.

        Where there are several roles, what one has earned may depend on what the others do after
        it is done. So roles are scored when the last of them is done, all of them by that step.

        Args:
            action: Anything :func:`healthgym.core.action.parse` accepts, or garbage.
            role: Who acts.

        Raises:
            EpisodeStateError: If the role is done, or there is no such role.
            VerifierError: If our verifier failed; the episode has no score.
        """
        seat = self._state.seats.get(role)
        if seat is None:
            raise EpisodeStateError(f"No role {role!r}; there are {', '.join(self._seats)}.")
        if self.done(role):
            raise EpisodeStateError(f"{_OVER} Call reset() before the next step().")
        first_event = len(self._state.events)
        text = action_text(action)
        results = self._run(text, role, seat)
        if seat.submission is None and seat.calls >= self.config.max_turns:
            seat.truncated = True
        refused = [event.error for event in self._state.events[first_event:] if event.error]
        reward = self._pay(role, len(self._state.events) - first_event, len(refused))
        others = [other for other in self._seats if other != role] if self.done() else []
        settled = {other: self._pay(other, 0, 0) for other in others}
        observation = self._compose(results, role, self.done(role))
        images = tuple(image for _, _, shown in results for image in shown)
        self._state.turns.append(
            Turn(
                role=role,
                action=text,
                observation=observation,
                reward=reward,
                time=self.world.clock.now.isoformat(),
                errors=tuple(refused),
                images=len(images),
                pictures=tuple(map(fingerprint, images)),
            )
        )
        return StepOutcome(
            observation,
            images,
            reward,
            seat.submission is not None,
            seat.truncated,
            tuple(refused),
            settled,
        )

    def stop(self, role: str = AGENT) -> float:
        """End a role's part for want of something other than turns, and return what this earns.

        The role counts as out of turns: the episode is scored as it stands.

        Raises:
            EpisodeStateError: If the role is done.
        """
        if self.done(role):
            raise EpisodeStateError(_OVER)
        seat = self._state.seats[role]
        seat.truncated = seat.stopped = True
        reward = self._pay(role, 0, 0)
        for other in self._seats:
            if other != role and self.done():
                self._pay(other, 0, 0)
        return reward

    def stopped(self, role: str = AGENT) -> bool:
        """Return whether a role was ended by :meth:`stop`."""
        return self._state.seats[role].stopped

    def _pay(self, role: str, calls: int, refused: int) -> float:
        """Return what a role earns by a step with so many calls, and add it to its total."""
        seat = self._state.seats[role]
        over, before = self.done(), seat.verdict
        now = self.verdict(role) if over or self._reward.dense else None
        seat.verdict = now or before
        transition = Transition(
            now,
            before,
            calls,
            refused,
            terminated=over and seat.submission is not None,
            truncated=over and seat.truncated,
        )
        reward = float(self._reward(transition))
        seat.total_reward += reward
        return reward

    def _run(
        self, action: str, role: str, seat: _SeatState
    ) -> list[tuple[str, str, tuple[Image, ...]]]:
        """Run the calls of an action; return (tool, text, images) for each."""
        try:
            calls = actions.parse(action)
        except ToolError as error:
            seat.calls += 1
            reason = str(error)[:_MAX_REASON]
            self._log(role, "", {}, None, reason)
            return [("", f"Error: {reason}", ())]
        results: list[tuple[str, str, tuple[Image, ...]]] = []
        for request in calls:
            if seat.submission is not None or seat.calls >= self.config.max_turns:
                break
            seat.calls += 1
            try:
                done = self._invoke(request, role)
            except ToolError as error:
                reason = str(error)[:_MAX_REASON]
                self._log(role, request.name, request.arguments, None, reason)
                results.append((request.name[:80], f"Error: {reason}", ()))
                continue
            spec = done.spec
            images = done.result.images
            self._log(role, spec.name, done.arguments, spec.kind, "", len(images))
            if spec.kind is ToolKind.SUBMIT:
                seat.submission = MappingProxyType(dict(done.arguments))
            takes = self.config.step_time if spec.takes is None else spec.takes
            self.world.clock.advance(takes)
            results.append((spec.identifier, done.result.text, images))
        return results

    def _invoke(self, request: ToolCall, role: str) -> Invocation:
        if role not in self._bound:
            toolsets = self._seats[role].catalog.toolsets
            self._bound[role] = tuple(cls(self.world) for cls in toolsets)
        return self._seats[role].catalog.invoke(self._bound[role], request)

    def _log(
        self,
        role: str,
        tool: str,
        arguments: Mapping[str, Any],
        kind: ToolKind | None,
        error: str,
        images: int = 0,
    ) -> None:
        frozen = MappingProxyType(dict(arguments))
        now = self.world.clock.now
        self._state.events.append(Event(role, tool, frozen, kind, error, now, images))

    def _compose(
        self, results: list[tuple[str, str, tuple[Image, ...]]], role: str, finished: bool
    ) -> str:
        if len(results) == 1:
            text = results[0][1]
        else:
            text = "\n\n".join(f"[{name or 'call'}]\n{body}" for name, body, _ in results)
        if self.config.show_clock:
            text = f"[{self.world.clock.now:%Y-%m-%d %H:%M}]\n{text}"
        limit = self.config.max_observation
        if len(text) > limit:
            text = f"{text[:limit]}\n(cut after {limit} characters)"
        if not finished and self.turns_left(role) == 1:
            text += "\n(1 call left)"
        return text.encode("utf-8", "replace").decode("utf-8")

    # -- judging -----------------------------------------------------------------------------

    def verdict(self, role: str = AGENT, profile: Profile | None = None) -> Verdict:
        """Return the verdict on the episode as it stands.

        Raises:
            VerifierError: If the verifier fails for any reason; never a score.
        """
        evidence = Evidence(
            self.task,
            self._instance.reference,
            self._start,
            self.world,
            tuple(self._state.events),
            self._state.seats[role].submission,
            role,
        )
        try:
            return self._family.verifier.verify(evidence, profile or self.config.profile)
        except HealthGymError:
            raise
        except Exception as error:
            raise VerifierError(
                f"The verifier of {self.task.task_id} failed: {error!r}. The episode has no score."
            ) from error

    def verdicts(self, role: str = AGENT) -> dict[str, dict[str, Any]]:
        """Return the verdicts under every profile, as JSON values."""
        return {str(profile): self.verdict(role, profile).to_dict() for profile in Profile}

    # -- time travel -------------------------------------------------------------------------

    def clone(self) -> Episode[WorldT]:
        """Return an independent episode with the same past and the same possible futures."""
        twin: Episode[WorldT] = object.__new__(type(self))
        twin.__dict__.update(self.__dict__)
        twin._state = self._state.copy()
        twin._bound = {}
        return twin

    def snapshot(self) -> Episode[WorldT]:
        """Return a frozen copy to be given to :meth:`restore`."""
        return self.clone()

    def restore(self, snapshot: Episode[WorldT]) -> None:
        """Return to the state of a snapshot of this episode.

        Raises:
            EpisodeStateError: If the snapshot belongs to another episode.
        """
        if snapshot._start is not self._start:
            raise EpisodeStateError("The snapshot was taken from another episode.")
        self._state = snapshot._state.copy()
        self._bound = {}


def action_text(action: object) -> str:
    """Return an action as the text that is carried out, recorded and replayed from.

    What JSON cannot express becomes empty text, which is no call.
    """
    if isinstance(action, str):
        return action
    try:
        return json.dumps(action, default=_plain)
    except (TypeError, ValueError, RecursionError):
        return ""


def _plain(value: object) -> object:
    if isinstance(value, ToolCall):
        return {"name": value.name, "arguments": dict(value.arguments)}
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(type(value).__name__)
