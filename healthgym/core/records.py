"""Records with other fields, made without asking each field what it is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from dataclasses import replace as _replaced
from functools import cache, cached_property
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
        for name in changes:
            if name not in layout.places:
                raise TypeError(f"{record.__class__.__name__} has no field {name!r}.")
        made = object.__new__(record.__class__)
        if not layout.puts:
            if len(record.__dict__) != len(layout.places):  # something is kept beside the fields
                return _replaced(record, **changes)
            held = made.__dict__
            held.update(record.__dict__)
            held.update(changes)
            return made
        values = [*layout.read(record)]
        for name, value in changes.items():
            values[layout.places[name]] = value
        for put, value in zip(layout.puts, values, strict=True):
            put(made, value)
        return made


class _Layout(NamedTuple):
    """How records of a kind are read and written.

    Attributes:
        read: Returns the values of all fields.
        places: The place of each field among them.
        puts: What sets each field; nothing of records without slots, which are a dictionary that
            is copied at once.
    """

    read: Callable[[object], tuple[object, ...]]
    places: dict[str, int]
    puts: tuple[Callable[[object, object], None], ...]


@cache
def _layout(kind: Any) -> _Layout | None:
    """Return the layout of a kind of plain records; None of those that make themselves."""
    every = fields(kind)
    own = kind.__new__ is not object.__new__ or hasattr(kind, "__post_init__")
    if own or len(every) < 2 or not all(item.init for item in every):
        return None
    names = [item.name for item in every]
    slots = [getattr(kind, name, None) for name in names]
    puts = [slot.__set__ for slot in slots if isinstance(slot, MemberDescriptorType)]
    if len(puts) != len(names) and (puts or not _is_open(kind)):
        return None
    return _Layout(attrgetter(*names), {name: at for at, name in enumerate(names)}, tuple(puts))


def _is_open(kind: type) -> bool:
    """Return whether all that records of a kind hold is their fields, in a dictionary."""
    held = [value for base in kind.__mro__ for value in vars(base).values()]
    slotted = any(isinstance(value, MemberDescriptorType | cached_property) for value in held)
    return not slotted and not hasattr(kind, "__getattr__")
