"""State that can be undone: what a world is made of.

A tool call is a transaction. Every change of a world is noted in its journal before it is made, so
that a refused call is undone in proportion to what it touched, never by copying a world. For that,
a world keeps what changes in three kinds of places, declared in its class:

* :class:`state`: an attribute whose values are immutable and are replaced, never changed;
* :class:`table`: values by key;
* :class:`log`: a sequence that only grows.

What else a world holds is shared between episodes and must not change. Inside a transaction an
assignment to an attribute that is not declared raises, so that a forgotten declaration is found by
the first call that needs it.
"""

from __future__ import annotations

from typing import Any, ClassVar, Generic, Self, TypeVar, overload

from healthgym.core.borders import JsonDict
from healthgym.core.canonical import canonical
from healthgym.core.journal import Journal, Log, Table
from healthgym.core.seeding import content_hash

__all__ = ["Journal", "Log", "Stateful", "Table", "log", "state", "table"]

Value = TypeVar("Value")
Key = TypeVar("Key")

_MISSING = object()
_KEPT = (Table, Log)  # a pair, since a union is made anew wherever it is asked for


def _put_back(holder: dict[Any, Any], key: object, old: object) -> None:
    if old is _MISSING:
        holder.pop(key, None)
    else:
        holder[key] = old


class state(Generic[Value]):
    """An attribute whose values are replaced, never changed in place.

    Args:
        default: Its value until another is assigned.
        content: Whether it belongs to what the world holds. Where somebody looks (the page that
            is open, looks taken, results kept for paging) does not, and READ tools may change it.
    """

    def __init__(self, default: Value, *, content: bool = True) -> None:
        self.default = default
        self.content = content
        self.name = ""

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    @overload
    def __get__(self, holder: None, owner: type) -> Self: ...

    @overload
    def __get__(self, holder: Stateful, owner: type) -> Value: ...

    def __get__(self, holder: Stateful | None, owner: type) -> Self | Value:
        # Once assigned, the instance's own dictionary answers: this is no data descriptor.
        return self if holder is None else self.default

    def put(self, holder: Stateful, value: Value) -> None:
        """Give a holder another value; an assignment comes here, see :class:`Stateful`."""
        held = holder.__dict__
        old = held.get(self.name, _MISSING)
        holder.journal.note(self.content, _put_back, held, self.name, old)
        held[self.name] = value


class _Container(Generic[Value]):
    """A declaration of a collection, made for each holder when it is first asked for."""

    kind: ClassVar[type[Table[Any, Any]] | type[Log[Any]]]

    def __init__(self, *, content: bool = True) -> None:
        self.content = content
        self.name = ""

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def _of(self, holder: Stateful) -> Any:
        # From now on the instance's own dictionary answers: this is no data descriptor.
        made = holder.__dict__[self.name] = self.kind(holder.journal, content=self.content)
        return made


class table(_Container[Value], Generic[Key, Value]):
    """Values by key: see :class:`Table`. Values are immutable.

    Args:
        content: As for :class:`state`.
    """

    kind = Table

    @overload
    def __get__(self, holder: None, owner: type) -> Self: ...

    @overload
    def __get__(self, holder: Stateful, owner: type) -> Table[Key, Value]: ...

    def __get__(self, holder: Stateful | None, owner: type) -> Self | Table[Key, Value]:
        if holder is None:
            return self
        made: Table[Key, Value] = self._of(holder)
        return made


class log(_Container[Value]):
    """A sequence that only grows: see :class:`Log`. Its items are immutable.

    Args:
        content: As for :class:`state`.
    """

    kind = Log

    @overload
    def __get__(self, holder: None, owner: type) -> Self: ...

    @overload
    def __get__(self, holder: Stateful, owner: type) -> Log[Value]: ...

    def __get__(self, holder: Stateful | None, owner: type) -> Self | Log[Value]:
        if holder is None:
            return self
        made: Log[Value] = self._of(holder)
        return made


_Declaration = state[Any] | table[Any, Any] | log[Any]


class _OwnJournal:
    """The journal of what is part of nothing else, made when it is first asked for."""

    @overload
    def __get__(self, holder: None, owner: type) -> Self: ...

    @overload
    def __get__(self, holder: Stateful, owner: type) -> Journal: ...

    def __get__(self, holder: Stateful | None, owner: type) -> Self | Journal:
        if holder is None:
            return self
        # From now on the instance's own dictionary answers: this is no data descriptor.
        made = holder.__dict__["journal"] = Journal()
        return made


class Stateful:
    """Something whose state is declared: a world, or a part of one.

    A part that is assigned to an attribute of another joins its journal, so that a transaction
    covers both. Everything else an instance holds is shared with its clones.
    """

    #: Attributes that are neither state nor start: caches that may be lost, or shared, at any time.
    derived: ClassVar[frozenset[str]] = frozenset()

    _declared: ClassVar[dict[str, _Declaration]] = {}
    journal = _OwnJournal()

    def __init_subclass__(cls, **keywords: object) -> None:
        super().__init_subclass__(**keywords)
        found: dict[str, _Declaration] = {}
        for base in reversed(cls.__mro__):
            for name, value in vars(base).items():
                if isinstance(value, state | table | log):
                    found[name] = value
        cls._declared = found

    def __setattr__(self, name: str, value: object) -> None:
        declared = self._declared.get(name)
        if isinstance(declared, state):
            declared.put(self, value)
            return
        if declared is not None:
            raise TypeError(f"{type(self).__name__}.{name} is changed item by item, not replaced.")
        if self.journal.open and name not in self.derived:
            raise TypeError(
                f"{type(self).__name__}.{name} changes in a transaction; declare it with "
                "state(), table() or log()."
            )
        if isinstance(value, Stateful):
            value.join(self.journal)
        object.__setattr__(self, name, value)

    def __delattr__(self, name: str) -> None:
        raise TypeError(f"{type(self).__name__}.{name} cannot be taken away, only changed.")

    def join(self, journal: Journal) -> None:
        """Note changes in another journal from now on.

        Raises:
            TypeError: If it is part of a world that is played already: its changes would no longer
                be undone there.
        """
        own = self.__dict__.get("journal")
        if own is journal:
            return
        if own is not None and own.used:
            raise TypeError(f"A {type(self).__name__} is part of another world that is in use.")
        self.__dict__["journal"] = journal
        if own is None:  # there has been nothing to note a change of
            return
        for value in self.__dict__.values():
            if isinstance(value, _KEPT):
                value.journal = journal
            elif isinstance(value, Stateful):
                value.join(journal)

    def clone(self) -> Self:
        """Return an independent copy with the same state; what does not change is shared.

        Raises:
            TypeError: If a part of it has become part of another world.
        """
        return self._fork({})

    def _fork(self, twins: dict[int, Any]) -> Self:
        twin: Self = object.__new__(type(self))
        twins[id(self)] = twin
        journal: Journal | None = twins.get(id(self.journal))
        if journal is None:
            journal = twins[id(self.journal)] = Journal()
        held = twin.__dict__
        for name, value in self.__dict__.items():
            if isinstance(value, _KEPT):
                value = value.copied(journal)
            elif isinstance(value, Stateful):
                if value.journal is not self.journal:
                    raise TypeError(f"{type(self).__name__}.{name} is part of another world.")
                # Two parts may hold the same third one, such as the clock; an empty one is false.
                known = twins.get(id(value))
                value = value._fork(twins) if known is None else known
            held[name] = value
        held["journal"] = journal
        twin.forked()
        return twin

    def forked(self) -> None:
        """Forget what must not be shared with the original; called on each new clone."""

    def state_of(self, *, content_only: bool) -> JsonDict:
        """Return the declared state, parts included, as values that compare by content.

        A part that several hold is told where it is met first.

        Args:
            content_only: Whether to leave out what is no content.
        """
        return self._gathered(content_only, set())

    def _gathered(self, content_only: bool, met: set[int]) -> JsonDict:
        met.add(id(self))
        found: JsonDict = {}
        for name, declared in self._declared.items():
            if declared.content or not content_only:
                value = getattr(self, name)
                # A listing shows a table in its order, which is no content but is state.
                ordered = isinstance(value, Table) and not content_only
                found[name] = canonical(list(value.items()) if ordered else value)
        for name, value in self.__dict__.items():
            if isinstance(value, Stateful) and name not in self.derived and id(value) not in met:
                inner = value._gathered(content_only, met)
                if inner:
                    found[name] = inner
        return found

    def digest(self) -> str:
        """Return a hex digest of all state: equal digests, equal futures."""
        return content_hash(self.state_of(content_only=False))

    def content_digest(self) -> str:
        """Return a hex digest of the contents, which reading leaves as they are."""
        return content_hash(self.state_of(content_only=True))
