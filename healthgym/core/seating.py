"""What an episode changes: the seats, the record, and where they stand."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Generic, NamedTuple, TypeVar, overload

from healthgym.core.borders import JsonObject
from healthgym.core.images import Image, fingerprint
from healthgym.core.players import Player
from healthgym.core.task import Task
from healthgym.core.trajectory import Turn
from healthgym.core.verdict import Profile, Verdict
from healthgym.core.verifier import Event
from healthgym.core.world import WorldIn
from healthgym.errors import EpisodeStateError, SeatCrashedError, ToolError

Item = TypeVar("Item")
Done = TypeVar("Done")


class History(Sequence[Item]):
    """The first items of a list that only grows: a record as it was, without a copy.

    Args:
        items: The list.
        length: How many of its items belong to the view; all that it has now if None.
    """

    __slots__ = ("_items", "_length")

    def __init__(self, items: Sequence[Item], length: int | None = None) -> None:
        self._items = items
        self._length = len(items) if length is None else length

    def __len__(self) -> int:
        return self._length

    @overload
    def __getitem__(self, place: int) -> Item: ...

    @overload
    def __getitem__(self, place: slice) -> tuple[Item, ...]: ...

    def __getitem__(self, place: int | slice) -> Item | tuple[Item, ...]:
        places = range(self._length)[place]
        if isinstance(places, range):
            return tuple(self._items[number] for number in places)
        return self._items[places]

    def __iter__(self) -> Iterator[Item]:
        for number in range(self._length):
            yield self._items[number]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and tuple(self) == tuple(other)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return repr(tuple(self))


@dataclass
class SeatState:
    """What changes about a role in the course of an episode.

    Attributes:
        calls: Calls it made.
        case_calls: Calls it made about each case.
        submission: Arguments of the call by which it was done; None until then.
        closed: Arguments of the calls that closed cases, by case.
        truncated: Whether it ran out of turns, or was stopped.
        stopped: Whether it was ended from outside.
        forfeited: Whether it gave up, by a tool that says so.
        total_reward: Sum of its rewards.
        progress: Its potential, by part.
        stale: Parts of which the potential has to be asked for anew.
        rest: What is left of the last result that was too long.
        waits: Until when it waits, having handed the turn over; None if it does not.
        away: Whether it handed the turn over, and has not been told yet that it has it again.
        spell: Calls it made since it last got the turn.
        told: How many of the world's notices it has been shown, its own or not.
        news: What it was told since its last turn, apart from an observation.
        shown: What it last read; for players, who answer it.
    """

    calls: int = 0
    case_calls: Mapping[str, int] = field(default_factory=dict)
    submission: JsonObject | None = None
    closed: Mapping[str, JsonObject] = field(default_factory=dict)
    truncated: bool = False
    stopped: bool = False
    forfeited: bool = False
    total_reward: float = 0.0
    progress: Mapping[str, float] = field(default_factory=dict)
    stale: frozenset[str] = frozenset()
    rest: str = ""
    waits: datetime | None = None
    away: bool = False
    spell: int = 0
    told: int = 0
    news: str = ""
    shown: str = ""

    @property
    def done(self) -> bool:
        """Whether the role has submitted, given up or run out of turns."""
        return self.submission is not None or self.forfeited or self.truncated

    @property
    def potential(self) -> float:
        """The mean of the progress of all parts."""
        return sum(self.progress.values()) / len(self.progress) if self.progress else 0.0

    def copy(self) -> SeatState:
        """Return an independent copy; what is held is replaced, never changed."""
        # Before every step: a fifth of what replace() takes.
        twin = object.__new__(SeatState)
        twin.__dict__.update(self.__dict__)
        return twin


class Acted(NamedTuple):
    """What came of an action, before it is paid for.

    Attributes:
        role: Who acted.
        text: The action, as it is recorded.
        observation: The answer.
        images: Pictures shown with it.
        calls: Calls made.
        errors: Why calls were refused.
        place: Its place in the transcript; -1 for what is no turn.
        unrepeatable: Whether a call was refused by a clock of the machine.
    """

    role: str
    text: str = ""
    observation: str = ""
    images: tuple[Image, ...] = ()
    calls: int = 0
    errors: tuple[str, ...] = ()
    place: int = -1
    unrepeatable: bool = False

    def turn(self, reward: float, time: str, news: str) -> Turn:
        """Return the turn that stands for it in the transcript.

        Args:
            reward: What it earned.
            time: When it was done, as the clock shows it.
            news: What its role was told before, apart from an observation.
        """
        return Turn(
            self.role,
            self.text,
            self.observation,
            reward,
            time,
            self.errors,
            len(self.images),
            tuple(map(fingerprint, self.images)) if self.images else (),
            news,
            self.unrepeatable,
        )


@dataclass(slots=True)
class EpisodeState(Generic[WorldIn]):
    """All that an episode changes; a snapshot is a copy of it.

    Attributes:
        world: The live world.
        seats: What changes about each role.
        players: Who plays the seats that are not played from outside.
        events: Every call, refused ones included, and what fell due.
        turns: The transcript.
        subjects: Who acted and the case that it was about, where there are cases; empty if none.
        last: The role that acted last.
        verdicts: The verdicts by role and profile; None until the episode is settled.
        owed: The last action, until it is paid for.
        crash: What ended the episode in place of its rules: whoever played a seat failed.
    """

    world: WorldIn
    seats: dict[str, SeatState]
    players: dict[str, Player]
    events: list[Event] = field(default_factory=list)
    turns: list[Turn] = field(default_factory=list)
    subjects: list[tuple[str, str]] = field(default_factory=list)
    last: str = ""
    verdicts: Mapping[str, Mapping[Profile, Verdict]] | None = None
    owed: Acted | None = None
    crash: SeatCrashedError | None = None

    def copy(self) -> EpisodeState[WorldIn]:
        """Return an independent copy with the same past and the same possible futures."""
        return EpisodeState(
            self.world.clone(),
            {role: seat.copy() for role, seat in self.seats.items()},
            {role: player.clone() for role, player in self.players.items()},
            list(self.events),
            list(self.turns),
            list(self.subjects),
            self.last,
            self.verdicts,
            self.owed,
            self.crash,
        )

    def bookmark(self) -> Bookmark:
        """Return where the episode stands, the world aside, which has a journal of its own."""
        return Bookmark(
            {role: seat.copy() for role, seat in self.seats.items()},
            {role: player.position for role, player in self.players.items()},
            len(self.events),
            len(self.turns),
            len(self.subjects),
            self.last,
        )

    def return_to(self, mark: Bookmark) -> None:
        """Forget what happened since a bookmark."""
        self.seats, self.last, self.owed, self.crash = mark.seats, mark.last, None, None
        self.players = {role: self.players[role].at(at) for role, at in mark.players.items()}
        del self.events[mark.events :]
        del self.turns[mark.turns :]
        del self.subjects[mark.subjects :]

    def whole(self, act: Callable[[], Done], task: Task) -> Done:
        """Do something as a whole: if it fails, the episode is as it was before.

        Args:
            act: What is done.
            task: The episode's task, for a failure to name.

        Raises:
            EpisodeStateError: If it is refused, where no agent asked for anything.
        """
        journal = self.world.journal
        mark, savepoint = self.bookmark(), journal.begin()
        try:
            done = act()
        except BaseException as error:
            journal.rollback(savepoint)
            self.return_to(mark)
            if isinstance(error, ToolError):
                raise EpisodeStateError(f"{task.task_id} broke its rules: {error}") from error
            raise
        journal.commit()
        return done

    @property
    def over(self) -> bool:
        """Whether every role is done, or the episode was ended by a crash."""
        if self.crash is not None:
            return True
        for seat in self.seats.values():  # noqa: SIM110 (asked several times a step)
            if not seat.done:
                return False
        return True

    def live(self) -> list[str]:
        """Return the roles that are not done, beginning with the one after who acted last."""
        order = list(self.seats)
        start = order.index(self.last) + 1 if self.last in self.seats else 0
        return [role for role in order[start:] + order[:start] if not self.seats[role].done]

    def ready(self) -> list[str]:
        """Return the roles that are not done and do not wait, in the order of :meth:`live`."""
        return [role for role in self.live() if self.seats[role].waits is None]

    def wake(self) -> None:
        """End the waiting of the roles whose time has come, or that were told something."""
        for role, seat in self.seats.items():
            if seat.waits is not None and (
                seat.waits <= self.world.clock.now
                or any(notice.role == role for notice in self.world.notices[seat.told :])
            ):
                seat.waits = None


class Bookmark(NamedTuple):
    """Where an episode stood, the world aside."""

    seats: dict[str, SeatState]
    players: dict[str, int]
    events: int
    turns: int
    subjects: int
    last: str
