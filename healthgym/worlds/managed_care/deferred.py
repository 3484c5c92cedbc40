"""Records of which a part is written when somebody first reads it.

A world has hundreds of notes and pages, and an episode reads a few of them. A deferred record is
like the record it stands for in everything, comparison included; a copy of it, pickled or with
other fields, is such a record.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, TypeVar

from healthgym.core.records import replace

if TYPE_CHECKING:
    from typing import Self

    from _typeshed import DataclassInstance

Record = TypeVar("Record", bound="DataclassInstance")


class _Writer(Protocol):
    """Makes late fields of what a record is written from."""

    def __call__(self, source: Any, /) -> object: ...


def _called(write: Callable[[], object]) -> object:
    return write()


@dataclass(frozen=True, slots=True)
class _Made:
    """What has late fields, once it is made."""

    value: object


class Deferred:
    """Mixed into a subclass of a frozen dataclass with slots, which adds the slot ``_write``."""

    __slots__ = ()

    #: The kind of record that it stands for.
    plain: ClassVar[type[DataclassInstance]]
    #: Names of the fields that are written late.
    late: ClassVar[tuple[str, ...]]
    #: Makes what `later` says of what it was handed. That is called, unless records of a kind are
    #: written from something that writes other kinds, too: a method for each would be an object
    #: more for each.
    written: ClassVar[_Writer] = staticmethod(_called)

    def __init_subclass__(cls, **keywords: object) -> None:
        super().__init_subclass__(**keywords)
        cls.__qualname__ = cls.plain.__qualname__  # so it is told, and digested, as the record

    def __new__(cls, *values: object, **known: object) -> DataclassInstance:  # type: ignore[misc]
        """Return the record itself: who makes one with all its fields has nothing to defer."""
        return cls.plain(*values, **known)

    @classmethod
    def later(cls, write: object, **known: object) -> Self:
        """Return a record without its late fields.

        Args:
            write: Makes the late field, or what has the late fields as attributes; the same ones
                every time. It is called, or what :attr:`written` takes.
            **known: All other fields.
        """
        made: Self = object.__new__(cls)
        put = object.__setattr__  # of hundreds of records a task, field by field
        for name, value in known.items():
            put(made, name, value)
        put(made, "_write", write)
        return made

    def __getattr__(self, name: str) -> object:
        # Asked only while a slot is empty.
        if name not in self.late:
            raise AttributeError(name)
        value = self.made()
        if len(self.late) > 1:
            value = getattr(value, name)
        object.__setattr__(self, name, value)
        return value

    def made(self) -> object:
        """Return the late field, or what has the late fields as attributes."""
        write = object.__getattribute__(self, "_write")
        if isinstance(write, _Made):
            return write.value
        value = self.written(write)
        if len(self.late) > 1:
            # Of several, each is made when it is read itself, all from one.
            object.__setattr__(self, "_write", _Made(value))
        return value

    @property
    def begun(self) -> bool:
        """Whether one of several late fields was read, so that what has the others is made."""
        return isinstance(object.__getattribute__(self, "_write"), _Made)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, self.plain) and self._values() == [
            getattr(other, item.name) for item in fields(other)
        ]

    def __hash__(self) -> int:
        return hash(tuple(self._values()))

    def __reduce__(self) -> tuple[object, ...]:
        return _made, (self.plain, *self._values())

    def varied(self, changes: Mapping[str, object]) -> Self:
        """Return a record with other fields, its late ones as late; see :func:`varied`."""
        names = (item.name for item in fields(self.plain))
        known = {name: getattr(self, name) for name in names if name not in self.late}
        return self.later(object.__getattribute__(self, "_write"), **(known | dict(changes)))

    def _values(self) -> list[object]:
        return [getattr(self, item.name) for item in fields(self.plain)]


def _made(kind: type[DataclassInstance], *values: object) -> DataclassInstance:
    return kind(**{item.name: value for item, value in zip(fields(kind), values, strict=True)})


def kind_of(record: object) -> type:
    """Return the kind of a record, of a deferred one that of what it stands for."""
    return record.plain if isinstance(record, Deferred) else type(record)


def varied(record: Record, **changes: object) -> Record:
    """Return a record with other fields; what is not written yet stays so.

    Args:
        record: A deferred record, or a plain one.
        **changes: The fields, none of them late.
    """
    if isinstance(record, Deferred):
        return record.varied(changes)
    return replace(record, **changes)
