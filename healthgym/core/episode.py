"""The engine: one episode of typed tool calls on one world, by one role or several.

``gymnasium.Env``, the PettingZoo arena, TRL's environment class and every other interface are
faces on this class.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from typing import Any, Self

from healthgym.core import action as actions
from healthgym.core.calls import CallRunner, Lapsed, Reasons, Result
from healthgym.core.family import EpisodeConfig, Family, Seat
from healthgym.core.payment import Payment
from healthgym.core.players import Player
from healthgym.core.reading import Reader
from healthgym.core.reward import RewardFunction
from healthgym.core.rules import FOR_EVER
from healthgym.core.sayings import Saying
from healthgym.core.seating import Acted, EpisodeState, SeatState
from healthgym.core.settlement import Bench
from healthgym.core.task import Instance, ReferenceIn, StartIn, TaskIn
from healthgym.core.tool import ToolCall
from healthgym.core.verbs import Verb
from healthgym.core.view import EpisodeView
from healthgym.core.view import StepOutcome as StepOutcome
from healthgym.core.world import WorldIn
from healthgym.errors import (
    EpisodeStateError,
    InfrastructureError,
    SeatCrashedError,
    ToolError,
)

_OVER = "This episode is over."
# Turns of counterparts and waits that may follow one action; more is a fault of the family.
_MOST_IN_BETWEEN = 10_000
_NO_TIME = timedelta(0)
#: Seconds on the machine's clock after which no further call of one action is begun. What one call
#: may take is bounded by its tool.
_LONGEST_ACTION = 120.0
_LATE = "The calls before this one took too long; make it again by itself."
#: Longest description of a failure in a record, in characters.
_LONGEST_FAULT = 500
_NOTHING_MORE = "Nobody else has anything to do, and nothing will happen by itself."


class Episode(EpisodeView[TaskIn, ReferenceIn, StartIn, WorldIn]):
    """One attempt at one task.

    Args:
        family: The family the instance comes from.
        instance: Task, reference and start state.
        reward: The reward function.
        config: The rules.
        counterparts: Players of the seats that are not played from outside.
        tape: What was heard from outside, if the episode is played again.
    """

    def __init__(
        self,
        family: Family[TaskIn, ReferenceIn, StartIn, WorldIn],
        instance: Instance[TaskIn, ReferenceIn, StartIn],
        reward: RewardFunction,
        config: EpisodeConfig | None = None,
        counterparts: Mapping[str, Player] | None = None,
        tape: Sequence[Saying] | None = None,
    ) -> None:
        self._family = family
        self._instance = instance
        self.config = config or EpisodeConfig()
        self._seats: Mapping[str, Seat] = family.seats(instance)
        filled = counterparts or {}
        self.role = next((role for role in self._seats if role not in filled), "")
        self._alone = len(self._seats) == 1 and type(family).to_act is Family.to_act
        # Calls in a row after which the turn is handed over, where there is anybody to have it.
        self._spell = self.config.spell if len(self._seats) > 1 else None
        world = family.open(instance)
        world.tape = tape
        self._bench = Bench(family, instance, world.clone())
        self._cases = family.cases(instance)
        self._runner = CallRunner(family, self.config, self._seats, self._cases, self._bench)
        self._payment = Payment(self._bench, reward, self.config.profile)
        self._reader = Reader(self.config, self._seats)
        stale = frozenset(self._bench.parts)
        seats = {
            role: SeatState(stale=stale, waits=FOR_EVER if seat.waits else None, away=seat.waits)
            for role, seat in self._seats.items()
        }
        self._state = EpisodeState(world, seats, dict(filled))
        for role, seat in seats.items():
            self._payment.update_progress(self._state, role, seat)
        self._go_on()

    # -- acting ------------------------------------------------------------------------------

    def news(self, role: str = "") -> str:
        """Return what a role was told since it last read anything, and take it as read.

        For a face on which a role's turn may begin long after its last observation; elsewhere the
        next observation brings it.
        """
        role = role or self.role
        seat = self._state.seats[role]
        back = seat.away and role == self.to_act()
        read = self._reader.returned if back else self._reader.told
        text = read(self.world, role, seat)
        seat.news = "\n".join(part for part in (seat.news, text) if part)
        return text

    def step(self, action: object, role: str = "") -> StepOutcome:
        """Carry out one action: one call, or several in the order they were written.

        Nothing an agent can send raises. Each call is a transaction: one that is refused changes
        nothing, is answered with the reason, and costs a turn but no time; calls after a submit, or
        beyond the turn budget, are dropped. Then what has fallen due happens, and seats that are
        filled by counterparts play until it is the turn of somebody outside.

        Where there are several roles, what one has earned may depend on what the others do after
        it is done. So roles are scored when the last of them is done, all of them by that step.

        Args:
            action: Text, a :class:`~healthgym.core.tool.ToolCall`, JSON values, or garbage.
            role: Who acts.

        Raises:
            EpisodeStateError: If the role is done, or there is no such role.
            SeatCrashedError: If a counterpart failed. The episode is over and has no score; its
                record is kept, this action in it.
            InfrastructureError: If judging failed, see :meth:`settle`, or whoever is asked from
                outside is out of reach; then the episode is as it was before the step.
            Exception: If anything else failed on our account. The episode is then as it was
                before the step.
        """
        state, role = self._state, role or self.role
        if role not in state.seats:
            raise EpisodeStateError(f"No role {role!r}; there are {', '.join(self._seats)}.")
        if self.done(role):
            raise EpisodeStateError(f"{_OVER} Call reset() before the next step().")
        acted, earned = state.whole(
            lambda: self._taken(self._act(action, role, self._go_on)), self.task
        )
        if state.crash is not None:
            raise state.crash
        if not earned:  # the step ended the episode
            earned = self._payment.settle(state)
        seat = state.seats[role]
        return StepOutcome(
            acted.observation,
            acted.images,
            earned.pop(role),
            seat.submission is not None or seat.forfeited,
            seat.truncated,
            acted.errors,
            earned,
        )

    def stop(self, role: str = "") -> float:
        """End a role's part for want of something other than turns, and return what this earns.

        The role counts as out of turns: the episode is scored as it stands.

        Raises:
            EpisodeStateError: If the role is done.
        """
        role = role or self.role
        if self.done(role):
            raise EpisodeStateError(_OVER)
        _, earned = self._state.whole(lambda: self._taken(self._leave(role)), self.task)
        if self.crash is not None:
            raise self.crash
        return (self._payment.settle(self._state) if self.done() else earned)[role]

    def fail(self, role: str, error: Exception) -> SeatCrashedError:
        """End the episode because whoever plays a role failed, and return the error to raise.

        The record so far is kept; there is no score.

        Args:
            role: The role.
            error: The failure.
        """
        crash = SeatCrashedError(f"{role}: {type(error).__name__}: {error}"[:_LONGEST_FAULT])
        crash.__cause__ = error
        self._state.crash = crash
        return crash

    def _leave(self, role: str) -> Acted:
        """Take a role out of the game, and let the others go on."""
        seat = self._state.seats[role]
        seat.truncated = seat.stopped = True
        self._go_on()
        return Acted(role)

    def _act(self, action: object, role: str, meanwhile: Callable[[], None]) -> Acted:
        """Run the calls of an action, let happen what follows from them, and word the answer."""
        state, seat = self._state, self._state.seats[role]
        first, place = len(state.events), len(state.turns)
        action, refused = Lapsed.parts(action)
        text = actions.text_of(action)
        if state.last != role:
            seat.spell = 0
        results = self._run(action, text, role, refused)
        if self._out_of_turns(role, seat) and not seat.done:
            seat.truncated = True
        if self._spent(seat):
            seat.waits, seat.away = self.config.rested(self.world.clock.now), True
            until = f", until {seat.waits:%Y-%m-%d %H:%M} at the latest" if self.config.rest else ""
            said = f"(Calls made: {seat.spell} in a row. Now you wait for news{until}.)"
            results.append(Result("", said))
        own = [event for event in state.events[first:] if event.role == role]
        errors = tuple([event.error for event in own if event.error])
        if self._cases:
            about = next((event.case for event in own if event.case), "")
            state.subjects.append((role, about))
        state.last = role
        meanwhile()
        if seat.away and role == self.to_act():
            own_wait = results[-1].name == str(Verb.WAIT)  # said anew, now that it is over
            answers = results[:-1] if own_wait else results
            observation = self._reader.returned(state.world, role, seat, answers)
        else:
            observation = self._reader.observation(state.world, role, seat, results)
        images = tuple([image for result in results for image in result.images])
        late = bool(errors) and any(event.unrepeatable for event in own)
        return Acted(role, text, observation, images, len(own), errors, place, late)

    def _run(self, action: object, text: str, role: str, refused: Reasons) -> list[Result]:
        """Run the calls of an action; return what each is answered."""
        state, seat = self._state, self._state.seats[role]
        try:
            requests = self._requests(action, text, role)
        except ToolError as error:
            seat.calls += 1
            seat.spell += 1
            return [self._runner.refuse(state, role, "", {}, str(error))]
        results: list[Result] = []
        begun = time.monotonic()
        for place, request in enumerate(requests):
            if seat.done or seat.calls >= self.config.budget(role):
                break
            if seat.waits is not None or self._spent(seat):  # the turn is handed over
                break
            seat.calls += 1
            seat.spell += 1
            over = time.monotonic() - begun > _LONGEST_ACTION
            if reason := refused.get(place, _LATE if over else ""):
                name, arguments = request.name, request.arguments
                results.append(self._runner.refuse(state, role, name, arguments, reason, late=True))
            else:
                results.append(self._runner.run(state, role, request))
        return results

    def _out_of_turns(self, role: str, seat: SeatState) -> bool:
        """Return whether a role has made all its calls, or all simulated time has passed."""
        if seat.calls >= self.config.budget(role):
            return True
        limit = self.config.max_time
        return limit is not None and self.world.clock.now - self._bench.begun >= limit

    def _spent(self, seat: SeatState) -> bool:
        """Return whether a role has made as many calls in a row as it may."""
        limit = self._spell
        return limit is not None and seat.spell >= limit and not seat.done and seat.waits is None

    def _requests(self, action: object, text: str, role: str) -> Sequence[ToolCall]:
        if self._family.takes_turns and self.to_act() != role:
            raise ToolError(f"It is not your turn; {self.to_act() or 'nobody'} acts now.")
        seat = self._seats[role]
        return actions.calls_of(action, text, seat.grammar, seat.catalog.schema)

    def _go_on(self) -> None:
        """Let counterparts play, and time pass while all wait, until somebody outside acts."""
        if self._alone and not self._state.players:
            return
        state = self._state
        for _ in range(_MOST_IN_BETWEEN):
            state.wake()
            role = self.to_act()
            if state.over or (role is not None and role not in state.players):
                return
            if role is not None:
                self._play(role)
            else:
                self._let_pass()
        raise EpisodeStateError(f"{self.task.task_id}: nobody outside is ever to act again.")

    def _let_pass(self) -> None:
        """Let time pass to what happens next, while all wait; what never comes is not waited for.

        Who called ``wait`` is told that nothing will come; who waits by the rules of the world is
        out of the game.
        """
        state, now = self._state, self.world.clock.now
        seats = {role: state.seats[role] for role in state.live()}
        due = self.world.clock.agenda.first()
        times = [due.at] if due is not None else []
        times += [s.waits for s in seats.values() if s.waits is not None and s.waits < FOR_EVER]
        if times:
            self._runner.pass_time(state, max(min(times) - now, _NO_TIME))
            return
        for role, seat in seats.items():
            if seat.waits is None:
                seat.truncated = True
            else:
                self.world.notify(role, _NOTHING_MORE)

    def _play(self, role: str) -> None:
        """Let a counterpart take one turn."""
        state, seat = self._state, self._state.seats[role]
        if seat.away:
            seat.news = text = self._reader.returned(self.world, role, seat)
        else:
            seat.news = self._reader.told(self.world, role, seat)
            text = "\n".join(part for part in (seat.news, seat.shown) if part)
        try:
            action = state.players[role].act(text)
        except SeatCrashedError as crash:
            state.crash = crash
            return
        except InfrastructureError:
            raise
        except Exception as error:  # a player may be anybody's code, and its failure is its own
            self.fail(role, error)
            return
        if action is None:
            state.last = role
            seat.truncated = seat.stopped = True
            return
        acted = self._act(action, role, lambda: None)
        seat.shown = acted.observation
        self._record(acted, 0.0)

    def _taken(self, acted: Acted) -> tuple[Acted, dict[str, float]]:
        """Put an action on record, and pay for it, unless the episode is over by it.

        Then its settlement pays, which may fail and be tried again.
        """
        self._state.owed = acted
        earned = {} if self.done() else self._payment.pay(self._state)
        if acted.place >= 0:
            self._record(acted, earned.get(acted.role, 0.0))
        return acted, earned

    def _record(self, acted: Acted, reward: float) -> None:
        """Put an action on record, before what others did in answer to it."""
        seat = self._state.seats[acted.role]
        turn = acted.turn(reward, self.world.clock.text, seat.news)
        seat.news = ""
        self._state.turns.insert(acted.place, turn)

    # -- judging -----------------------------------------------------------------------------

    def settle(self) -> dict[str, float]:
        """Judge an episode that is over, once; pay for its last step, and return who earns what.

        The engine does so by itself. It is for trying again after a judge was out of reach; once
        all is paid, it returns nothing.

        Raises:
            EpisodeStateError: If the episode is not over.
            VerifierError: If the verifier fails; the episode has no score.
            InfrastructureError: If something outside the episode fails, such as a judge.
        """
        if not self.done() or self.crash is not None:
            raise self._unsettled()
        return self._payment.settle(self._state)

    # -- time travel -------------------------------------------------------------------------

    def clone(self) -> Self:
        """Return an independent episode with the same past and the same possible futures."""
        twin: Self = object.__new__(type(self))
        twin.__dict__.update(self.__dict__)
        twin._state = self._state.copy()
        twin._runner = self._runner.fresh()
        return twin

    def snapshot(self) -> Self:
        """Return a frozen copy to be given to :meth:`restore`."""
        return self.clone()

    def restore(self, snapshot: Self) -> None:
        """Return to the state of a snapshot of this episode.

        Raises:
            EpisodeStateError: If the snapshot belongs to another episode.
        """
        if snapshot._bench is not self._bench:
            raise EpisodeStateError("The snapshot was taken from another episode.")
        self._state = snapshot._state.copy()


#: An episode of whatever family.
AnyEpisode = Episode[Any, Any, Any, Any]
