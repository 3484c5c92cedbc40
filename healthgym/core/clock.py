"""Simulated time, what falls due in it, and simulated identifiers: the only sources of these."""

from __future__ import annotations

import bisect
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from operator import attrgetter

from healthgym.core.borders import JsonObject
from healthgym.core.state import Stateful, state, table
from healthgym.errors import ConfigurationError

_NO_TIME = timedelta(0)


@dataclass(frozen=True, slots=True)
class Due:
    """Something that will happen by itself.

    Attributes:
        at: When, timezone-aware, in UTC.
        number: Counts what was ever put on the agenda; of what is due at one time, and is as
            urgent, the smaller number comes first.
        name: What it is, for the world and the record.
        facts: What the world needs to know of it: JSON values.
        rank: Of what is due at one time, the smaller rank comes first.
    """

    at: datetime
    number: int
    name: str
    facts: JsonObject = field(default_factory=dict)
    rank: int = 0

    @property
    def order(self) -> tuple[datetime, int, int]:
        """Time, rank and number: the order in which things happen."""
        return (self.at, self.rank, self.number)


_ORDER = attrgetter("order")


class Agenda(Stateful):
    """What will happen by itself, in a stated order: by time, then rank, then as put down."""

    # In the order in which they happen, so that the next one is at hand at every call.
    _entries = state[tuple[Due, ...]](())
    _next = state(1)

    def put(self, at: datetime, name: str, *, rank: int = 0, **facts: object) -> int:
        """Put something down, and return its number.

        Args:
            at: When it is due, timezone-aware; what lies in the past is due at once.
            name: What it is.
            rank: Of what is due at one time, the smaller rank comes first.
            facts: What the world will need to know of it: JSON values.
        """
        number = self._next
        self._next = number + 1
        due = Due(_utc(at), number, name, facts, rank)
        place = bisect.bisect(self._entries, due.order, key=_ORDER)
        self._entries = (*self._entries[:place], due, *self._entries[place:])
        return number

    def put_all(self, entries: Iterable[tuple[datetime, str, JsonObject]]) -> None:
        """Put several things down, as :meth:`put` would one after the other.

        Args:
            entries: Of each when it is due, what it is, and its facts.
        """
        first = self._next
        more = [Due(_utc(at), n, name, facts) for n, (at, name, facts) in enumerate(entries, first)]
        if more:
            self._next = first + len(more)
            self._entries = tuple(sorted((*self._entries, *more), key=_ORDER))

    def cancel(self, number: int) -> None:
        """Take something off, if it has not happened yet."""
        entries = self._entries
        for place, due in enumerate(entries):  # mostly the first: it happens now
            if due.number == number:
                self._entries = entries[:place] + entries[place + 1 :]
                return

    def first(self) -> Due | None:
        """Return what happens next; None if nothing will."""
        return self._entries[0] if self._entries else None

    def __len__(self) -> int:
        return len(self._entries)

    def __bool__(self) -> bool:
        return bool(self._entries)

    def entries(self) -> tuple[Due, ...]:
        """Return everything on the agenda, in the order in which it will happen."""
        return self._entries


class Clock(Stateful):
    """A world's clock, and its agenda. It moves only when :meth:`advance` is called.

    Args:
        start: Timezone-aware start of the episode; converted to UTC.

    Attributes:
        agenda: What will happen by itself.
    """

    derived = frozenset({"_worded"})

    _now = state(datetime.min.replace(tzinfo=UTC), content=False)

    def __init__(self, start: datetime) -> None:
        self.agenda = Agenda()
        self._now = _utc(start)
        self._worded = (self._now, self._now.isoformat())

    @property
    def now(self) -> datetime:
        """The current simulated time, timezone-aware, in UTC."""
        return self._now

    @property
    def text(self) -> str:
        """The current simulated time as ISO 8601, such as ``2024-03-01T09:00:00+00:00``."""
        now = self._now
        at, text = self._worded
        if at is not now:  # asked for several times a step
            text = now.isoformat()
            self._worded = now, text
        return text

    @property
    def minute(self) -> str:
        """The current simulated time as roles read it, such as ``2024-03-01 09:00``."""
        return self.text[:16].replace("T", " ")

    def advance(self, amount: timedelta) -> None:
        """Move the clock forward; what falls due on the way is for the engine to carry out.

        Raises:
            ConfigurationError: If ``amount`` is negative.
        """
        if amount < _NO_TIME:
            raise ConfigurationError("A world's clock cannot run backwards.")
        if amount:
            self._now += amount


def _utc(time: datetime) -> datetime:
    if time.tzinfo is None:
        raise ConfigurationError("A world's clock needs timezone-aware times.")
    return time if time.tzinfo is UTC else time.astimezone(UTC)


class Counters(Stateful):
    """Named counters from which a world draws identifiers, so that ids repeat with the seed."""

    _next = table[str, int]()

    def __init__(self, start: Mapping[str, int] | None = None) -> None:
        self._next.put_all(start or {})

    def draw(self, name: str) -> int:
        """Return the next number of ``name``, counting from 1 unless a start was given."""
        value = self._next.get(name, 1)
        self._next[name] = value + 1
        return value

    def draw_several(self, name: str, count: int) -> int:
        """Return the first of so many numbers of ``name``, as if each were drawn."""
        value = self._next.get(name, 1)
        if count:
            self._next[name] = value + count
        return value

    def numbers(self) -> Mapping[str, int]:
        """Return the next number of each counter, with which another world can go on."""
        return dict(self._next.items())
