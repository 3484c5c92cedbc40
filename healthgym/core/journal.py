"""Undoing what a transaction changed, in proportion to what it touched."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from itertools import takewhile
from typing import Any, NoReturn, SupportsIndex, TypeVar

from healthgym.errors import InfrastructureError

Value = TypeVar("Value")
Key = TypeVar("Key")


class InjectedFault(InfrastructureError):
    """What a test makes a write fail with, as a disk might; see :meth:`Journal.fail_at`."""


class Journal:
    """The changes of a world since its transaction began, and how to undo them.

    Attributes:
        writes: Changes so far, of any kind.
        changes: Changes of contents so far, which leave out where somebody looks.
        used: Whether there has been a transaction.
        open: Whether a transaction is under way.
    """

    __slots__ = ("_doom", "_marks", "_undo", "changes", "used", "writes")

    def __init__(self) -> None:
        self.writes = 0
        self.changes = 0
        self.used = False
        self._undo: list[tuple[Callable[..., object], tuple[Any, ...]]] = []
        self._marks = 0
        self._doom = 0

    @property
    def open(self) -> bool:
        """Whether a transaction is under way."""
        return self._marks > 0

    @property
    def idle(self) -> bool:
        """Whether what is noted now will never be undone, and nothing is made to fail."""
        return not (self._marks or self._doom)

    def note(self, content: bool, undo: Callable[..., object], *arguments: object) -> None:
        """Note a change that is about to be made.

        Args:
            content: Whether it changes contents.
            undo: What undoes it.
            arguments: What ``undo`` is called with.

        Raises:
            InjectedFault: If a test asked for it.
        """
        self.writes += 1
        if self._doom and self.writes >= self._doom:
            raise InjectedFault(f"write {self.writes} was made to fail")
        self.changes += content
        if self._marks:
            self._undo.append((undo, arguments))

    def begin(self) -> int:
        """Begin a transaction and return its savepoint. Transactions may lie in each other."""
        self.used = True
        self._marks += 1
        return len(self._undo)

    def commit(self) -> None:
        """Keep the changes of the innermost transaction."""
        self._marks -= 1
        if not self._marks:
            self._undo.clear()

    def rollback(self, savepoint: int) -> None:
        """Undo the changes since a savepoint, latest first, and end its transaction."""
        undo = self._undo
        while len(undo) > savepoint:
            function, arguments = undo.pop()
            function(*arguments)
        self._marks -= 1

    def fail_at(self, number: int | None) -> None:
        """Make a write fail; for tests of what is left behind.

        Args:
            number: Which write from now on, counted from 1; none any more if None.
        """
        self._doom = 0 if number is None else self.writes + number


def _refuse(*_: object, **__: object) -> NoReturn:
    raise TypeError("Tables and logs of a world change one item at a time.")


class Table(dict[Key, Value]):
    """A dictionary whose changes can be undone; reading costs what a dictionary costs."""

    __slots__ = ("content", "journal")

    def __init__(self, journal: Journal, *, content: bool = True) -> None:
        super().__init__()
        self.journal = journal
        self.content = content

    def __setitem__(self, key: Key, value: Value) -> None:
        if key in self:
            self.journal.note(self.content, dict.__setitem__, self, key, self[key])
        else:
            self.journal.note(self.content, dict.pop, self, key)
        dict.__setitem__(self, key, value)

    def __delitem__(self, key: Key) -> None:
        later = list(takewhile(lambda other: other != key, reversed(self)))
        self.journal.note(self.content, self._put_back, key, self[key], later)
        super().__delitem__(key)

    def _put_back(self, key: Key, value: Value, later: list[Key]) -> None:
        """Undo a removal, the order of the keys included."""
        super().__setitem__(key, value)
        for other in reversed(later):
            super().__setitem__(other, super().pop(other))

    def discard(self, key: Key) -> None:
        """Remove a key, if it is there."""
        if key in self:
            del self[key]

    def put_all(self, values: Mapping[Key, Value]) -> None:
        """Set several values."""
        if self.journal.idle:  # as where a world begins, with hundreds of them
            self.journal.writes += len(values)
            self.journal.changes += self.content * len(values)
            dict.update(self, values)
            return
        for key, value in values.items():
            self[key] = value

    def keep(self, keys: Iterable[Key]) -> None:
        """Remove every key but these."""
        for key in self.keys() - set(keys):
            del self[key]

    def copied(self, journal: Journal) -> Table[Key, Value]:
        """Return an independent table with the same values."""
        twin: Table[Key, Value] = Table(journal, content=self.content)
        dict.update(twin, self)
        return twin

    pop = popitem = update = setdefault = clear = __ior__ = _refuse

    def __reduce__(self) -> NoReturn:
        raise TypeError("A running world cannot be pickled; reset the environment instead.")


class Log(list[Value]):
    """A list that only grows, and whose growth can be undone."""

    __slots__ = ("content", "journal")

    def __init__(self, journal: Journal, *, content: bool = True) -> None:
        super().__init__()
        self.journal = journal
        self.content = content

    def append(self, value: Value) -> None:
        """Add an item at the end."""
        self.journal.note(self.content, list.pop, self)
        list.append(self, value)

    def copied(self, journal: Journal) -> Log[Value]:
        """Return an independent log with the same items."""
        twin: Log[Value] = Log(journal, content=self.content)
        list.extend(twin, self)
        return twin

    def __setitem__(self, place: SupportsIndex | slice, value: object) -> NoReturn:
        _refuse()

    def __delitem__(self, place: SupportsIndex | slice) -> NoReturn:
        _refuse()

    extend = insert = remove = pop = clear = sort = reverse = _refuse
    __iadd__ = __imul__ = _refuse

    def __reduce__(self) -> NoReturn:
        raise TypeError("A running world cannot be pickled; reset the environment instead.")
