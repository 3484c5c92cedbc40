"""Carrying out calls: one transaction each, then the time they take, and what falls due in it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from types import MappingProxyType
from typing import Generic, NamedTuple, Self, TypeAlias

from healthgym.core.borders import JsonObject
from healthgym.core.catalog import Invocation, invoke
from healthgym.core.clock import Clock, Due
from healthgym.core.commands import CommandLine
from healthgym.core.family import EpisodeConfig, Event, Family, Seat
from healthgym.core.faults import refusal
from healthgym.core.images import Image
from healthgym.core.seating import EpisodeState, SeatState
from healthgym.core.settlement import Bench
from healthgym.core.task import ReferenceIn, StartIn, TaskIn
from healthgym.core.tool import AnyToolset, Caller, Scope, ToolCall, ToolKind, ToolSpec
from healthgym.core.verbs import EngineToolset
from healthgym.core.world import WORLD, WorldIn
from healthgym.errors import EpisodeStateError, OutOfTimeError, ToolError

# Reasons may quote what the agent wrote, which may be long.
_MAX_REASON = 4000
# What may fall due by one call; more is a world that puts down the same thing again and again.
_MOST_EVENTS = 10_000
_LONGEST_WAIT = timedelta(days=366)

#: Why calls of an action are refused, by their place among them.
Reasons: TypeAlias = Mapping[int, str]
_NO_REASONS: Reasons = MappingProxyType({})


class Result(NamedTuple):
    """What a call is answered.

    Attributes:
        name: Name of the tool, as a heading; empty if no call could be made out.
        text: The answer.
        images: Pictures shown with it.
    """

    name: str
    text: str
    images: tuple[Image, ...] = ()


@dataclass(frozen=True, slots=True)
class Lapsed:
    """An action that was taken before, of which calls were refused by a clock of the machine.

    Taken again they are refused again: on another machine, or an idler one, they might be carried
    out, and all that follows would be another story.

    Attributes:
        action: The action.
        reasons: What was said, by the place of the call among the action's.
    """

    action: object
    reasons: Reasons

    @classmethod
    def parts(cls, action: object) -> tuple[object, Reasons]:
        """Return an action, and which of its calls are refused: mostly none."""
        return (action.action, action.reasons) if isinstance(action, cls) else (action, _NO_REASONS)


class _Desk:
    """What the engine's verbs act on: a role's place in the episode."""

    def __init__(self, seat: SeatState, clock: Clock, commands: CommandLine | None) -> None:
        self._seat = seat
        self._commands = commands
        self._clock = clock
        self.waits: timedelta | None = None

    def more(self) -> str:
        text, self._seat.rest = self._seat.rest, ""
        return text

    def manual(self, topic: str) -> str:
        if self._commands is None:
            raise ToolError("There is no manual: tools are listed with what they take.")
        return self._commands.manual(topic)

    def wait_until(self, time: datetime) -> str:
        now = self._clock.now
        if time <= now:
            raise ToolError(f"until: it is {now:%Y-%m-%dT%H:%M} already.")
        if time - now > _LONGEST_WAIT:
            raise ToolError(f"until: at most {_LONGEST_WAIT.days} days from now.")
        self.waits = time - now
        return ""  # how long it was is known when it is over


class CallRunner(Generic[TaskIn, ReferenceIn, StartIn, WorldIn]):
    """Carries out the calls of an episode.

    Args:
        family: The family.
        config: The rules.
        seats: The seats by role.
        cases: Ids of the cases, where the episode has some.
        bench: Where it is noted what a call may have changed.
    """

    def __init__(
        self,
        family: Family[TaskIn, ReferenceIn, StartIn, WorldIn],
        config: EpisodeConfig,
        seats: Mapping[str, Seat],
        cases: tuple[str, ...],
        bench: Bench[TaskIn, ReferenceIn, StartIn, WorldIn],
    ) -> None:
        self._family = family
        self._config = config
        self._seats = seats
        self._cases = cases
        self._bench = bench
        # Toolsets at work on the world, by role and place in its catalog.
        self._bound: dict[tuple[str, int], AnyToolset] = {}
        self._world: WorldIn | None = None

    def fresh(self) -> Self:
        """Return a runner for a clone, which may be played in another thread."""
        twin: Self = object.__new__(type(self))
        twin.__dict__.update(self.__dict__, _bound={}, _world=None)
        return twin

    def run(self, state: EpisodeState[WorldIn], role: str, request: ToolCall) -> Result:
        """Carry out one call; one that is refused leaves nothing behind but its record.

        Raises:
            InfrastructureError: If what no call can cause fails, such as a disk; and likewise
                DataError and OSError.
        """
        world, seat = state.world, state.seats[role]
        journal, case = world.journal, ""
        savepoint, changes = journal.begin(), journal.changes
        try:
            if self._cases:
                case = self._case(world, role, request)
            if case:
                self._count(seat, case, self._seats[role].catalog.closes_case(request.name))
            world.entered(role)
            done, waits = self._invoke(state, role, request)
            spec = done.spec
            if spec.kind is ToolKind.SUBMIT:
                self._close(seat, case, done)
            step = self._paced(spec, done.arguments)
        except BaseException as error:
            journal.rollback(savepoint)
            reason, late = refusal(error, role, request), isinstance(error, OutOfTimeError)
            name, arguments = request.name, request.arguments
            return self.refuse(state, role, name, arguments, reason, case, late=late)
        finally:
            world.exited(role)
        journal.commit()
        images = done.result.images
        event = self._note(
            state, role, spec.name, done.arguments, spec.kind, case=case, images=len(images)
        )
        self._bench.touch(event, journal.changes != changes, state.seats)
        if waits is None:
            self.pass_time(state, step)
            return Result(spec.identifier, done.result.text, images)
        if len(state.seats) > 1:  # the others go on meanwhile; time passes when all wait
            seat.waits, seat.away = world.clock.now + waits, True
            seat.spell = 0  # the turn was handed over, whether or not anybody takes it
            text = f"You wait, until {seat.waits:%Y-%m-%d %H:%M} at the latest."
            return Result(spec.identifier, text)
        self.pass_time(state, waits, waiting=role)
        return Result(spec.identifier, f"Waited until {world.clock.minute}.", images)

    def _paced(self, spec: ToolSpec, arguments: JsonObject) -> timedelta:
        """Return the time that a call takes of the clock; whole seconds, where it is shared."""
        takes, config = spec.takes, self._config
        if takes is None:
            takes = config.step_time
        elif callable(takes):
            takes = takes(arguments)
        if config.pace == 1:
            return takes
        return timedelta(seconds=math.ceil(takes.total_seconds() / config.pace))

    def _case(self, world: WorldIn, role: str, request: ToolCall) -> str:
        """Return the case that a call is about; what an agent wrote there need not be text."""
        name = self._seats[role].catalog.full_name(request.name)
        named = request if name == request.name else replace(request, name=name)
        return self._about(world, named)

    def _about(self, world: WorldIn, request: ToolCall) -> str:
        case: object = self._family.case_of(world, request)
        return case if isinstance(case, str) else ""

    def refuse(
        self,
        state: EpisodeState[WorldIn],
        role: str,
        name: str,
        arguments: JsonObject,
        reason: str,
        case: str = "",
        *,
        late: bool = False,
    ) -> Result:
        """Record a refused call, and return its answer.

        Args:
            state: The episode.
            role: Who called.
            name: What was called, as far as that can be told.
            arguments: With what.
            reason: Why it is refused.
            case: The case it was about, where there are cases.
            late: Whether a clock of the machine refused it.
        """
        reason = reason[:_MAX_REASON]
        self._note(state, role, name, arguments, None, reason, case, unrepeatable=late)
        return Result(name[:80], reason if self._config.plain else f"Error: {reason}")

    def pass_time(
        self, state: EpisodeState[WorldIn], amount: timedelta, *, waiting: str = ""
    ) -> None:
        """Let time pass; what falls due happens at its time, each in a transaction of its own.

        Then the roles are done for whom the world has nothing left to do.

        Args:
            state: The episode.
            amount: How long.
            waiting: A role that waits for news: time stops when it is told something. What others
                do meanwhile does not wake it, and so does not show.

        Raises:
            Exception: If the world fails.
        """
        world = state.world
        if world.clock.agenda:
            self._pass_events(state, world.clock.now + amount, waiting)
        else:
            world.clock.advance(amount)
        for role, seat in state.seats.items():
            if not seat.done and not world.left_to_do(role):
                seat.submission = MappingProxyType({})

    def _pass_events(
        self, state: EpisodeState[WorldIn], target: datetime, waiting: str = ""
    ) -> None:
        """Move the clock to a time, by way of what falls due until then."""
        clock, notices = state.world.clock, state.world.notices
        known = len(notices)
        for _ in range(_MOST_EVENTS):
            if waiting and any(notice.role == waiting for notice in notices[known:]):
                return
            due = clock.agenda.first()
            if due is None or due.at > target:
                clock.advance(target - clock.now)
                return
            clock.advance(max(due.at - clock.now, timedelta(0)))
            self._happen(state, due)
        raise EpisodeStateError(f"More than {_MOST_EVENTS} things fell due in one call.")

    def _happen(self, state: EpisodeState[WorldIn], due: Due) -> None:
        world = state.world
        journal = world.journal
        case = self._about(world, ToolCall(due.name, due.facts)) if self._cases else ""
        savepoint, changes = journal.begin(), journal.changes
        try:
            world.clock.agenda.cancel(due.number)
            world.happen(due)
        except BaseException:
            journal.rollback(savepoint)
            raise
        journal.commit()
        event = self._note(state, WORLD, due.name, due.facts, ToolKind.EVENT, case=case)
        self._bench.touch(event, journal.changes != changes, state.seats)

    def _invoke(
        self, state: EpisodeState[WorldIn], role: str, request: ToolCall
    ) -> tuple[Invocation, timedelta | None]:
        """Run a tool; return what it did, and how long it waited if that was its purpose."""
        world, seat = state.world, self._seats[role]
        if self._world is not world:
            self._world, self._bound = world, {}
        spec, place = seat.catalog.resolve(request.name)
        toolset = self._bound.get((role, place))
        if toolset is None:
            toolset = seat.catalog.toolsets[place](world, Caller(role, seat.actor, world.clock))
            self._bound[role, place] = toolset
        if not isinstance(toolset, EngineToolset):
            return invoke(spec, toolset, request.arguments), None
        toolset.desk = desk = _Desk(state.seats[role], world.clock, seat.commands)
        return invoke(spec, toolset, request.arguments), desk.waits

    def _count(self, seat: SeatState, case: str, closing: bool) -> None:
        """Take a call off the budget of its case; one that closes it can always be made."""
        limit, made = self._config.case_turns, seat.case_calls.get(case, 0)
        if case in seat.closed:
            raise ToolError(f"Case {case} is closed.")
        if limit is not None and made >= limit and not closing:
            raise ToolError(f"No calls are left for case {case} but the one that closes it.")
        seat.case_calls = {**seat.case_calls, case: made + 1}

    def _close(self, seat: SeatState, case: str, done: Invocation) -> None:
        """Note what a role has handed in."""
        arguments = MappingProxyType(dict(done.arguments))
        parts = frozenset(self._bench.parts)
        closed = {case} if done.spec.closes is Scope.CASE else set()
        seat.stale |= parts & closed or parts
        if done.spec.closes is Scope.FORFEIT:
            seat.forfeited = True
            return
        if done.spec.closes is Scope.SESSION:
            seat.submission = arguments
            return
        if case not in self._cases:
            raise ToolError(f"There is no case {case[:80]!r} to close.")
        seat.closed = {**seat.closed, case: arguments}
        if len(seat.closed) == len(self._cases):
            seat.submission = arguments

    def _note(
        self,
        state: EpisodeState[WorldIn],
        role: str,
        tool: str,
        arguments: JsonObject,
        kind: ToolKind | None,
        error: str = "",
        case: str = "",
        images: int = 0,
        *,
        unrepeatable: bool = False,
    ) -> Event:
        """Put what happened on record, and return it."""
        seat, now = self._seats.get(role), state.world.clock.now
        actor = "" if seat is None else seat.actor
        frozen = MappingProxyType(dict(arguments))
        event = Event(role, tool, frozen, kind, error, now, images, actor, case, unrepeatable)
        state.events.append(event)
        return event
