"""Records one text of which is written when somebody first reads it.

A world has hundreds of notes and pages, and an episode reads a few of them. A deferred record is
like the record it stands for in everything, comparison included; a copy of it, pickled or with
other fields, is such a record.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    from typing import Self

    from _typeshed import DataclassInstance


class Deferred:
    """Mixed into a subclass of a frozen dataclass with slots, which adds the slot ``_write``."""

    __slots__ = ()

    #: The record that it stands for.
    plain: ClassVar[type[DataclassInstance]]
    #: Name of the field that is written late.
    late: ClassVar[str]

    def __new__(cls, *values: object, **known: object) -> DataclassInstance:  # type: ignore[misc]
        """Return the record itself: who makes one with all its fields has nothing to defer."""
        return cls.plain(*values, **known)

    @classmethod
    def later(cls, write: Callable[[], str], **known: object) -> Self:
        """Return a record without its late field.

        Args:
            write: Makes the late field; the same text every time.
            **known: All other fields.
        """
        made: Self = object.__new__(cls)
        for name, value in known.items():
            object.__setattr__(made, name, value)
        object.__setattr__(made, "_write", write)
        return made

    def __getattr__(self, name: str) -> str:
        # Asked only while a slot is empty.
        if name != self.late:
            raise AttributeError(name)
        text: str = object.__getattribute__(self, "_write")()
        object.__setattr__(self, name, text)
        return text

    def __eq__(self, other: object) -> bool:
        return isinstance(other, self.plain) and self._values() == [
            getattr(other, item.name) for item in fields(other)
        ]

    def __hash__(self) -> int:
        return hash(tuple(self._values()))

    def __reduce__(self) -> tuple[object, ...]:
        return _made, (self.plain, *self._values())

    def _values(self) -> list[object]:
        return [getattr(self, item.name) for item in fields(self.plain)]


def _made(kind: type[DataclassInstance], *values: object) -> DataclassInstance:
    return kind(**{item.name: value for item, value in zip(fields(kind), values, strict=True)})
