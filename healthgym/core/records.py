"""Records with other fields, made without asking each field what it is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from dataclasses import replace as _replaced
from functools import cache
from operator import attrgetter
from types import MemberDescriptorType
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from dataclasses import replace as replace  # of which mypy knows what may be changed
else:

    def replace(record, /, **changes):
        """Return a record with other fields, as :func:`dataclasses.replace` does, but sooner.

        Args:
            record: A frozen dataclass.
            **changes: The fields.

        Raises:
            TypeError: If it has no such field.
        """
        layout = _layout(record.__class__)
        if layout is None:
            return _replaced(record, **changes)
        values = [*layout.read(record)]
        for name, value in changes.items():
            place = layout.places.get(name)
            if place is None:
                raise TypeError(f"{record.__class__.__name__} has no field {name!r}.")
            values[place] = value
        made = object.__new__(record.__class__)
        for put, value in zip(layout.puts, values, strict=True):
            put(made, value)
        return made


class _Layout(NamedTuple):
    """How records of a kind are read and written.

    Attributes:
        read: Returns the values of all fields.
        places: The place of each field among them.
        puts: What sets each field.
    """

    read: Callable[[object], tuple[object, ...]]
    places: dict[str, int]
    puts: tuple[Callable[[object, object], None], ...]


@cache
def _layout(kind: Any) -> _Layout | None:
    """Return the layout of a kind of plain records in slots; None of those that make themselves."""
    every = fields(kind)
    own = kind.__new__ is not object.__new__ or hasattr(kind, "__post_init__")
    slots = [getattr(kind, item.name, None) for item in every]
    puts = [slot.__set__ for slot in slots if isinstance(slot, MemberDescriptorType)]
    if own or not len(every) == len(puts) > 1 or not all(item.init for item in every):
        return None
    names = [item.name for item in every]
    return _Layout(attrgetter(*names), {name: at for at, name in enumerate(names)}, tuple(puts))
