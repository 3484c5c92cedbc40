"""How much somebody writes into a field: a strict world refuses more, as an office's forms do."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import fields, is_dataclass
from functools import cache
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from healthgym.worlds.managed_care.deferred import kind_of
from healthgym.worlds.managed_care.refusals import Refusal, RefusalCode
from healthgym.worlds.managed_care.rules import Rules

if TYPE_CHECKING:
    from healthgym.worlds.managed_care.world import ManagedCareWorld

#: Most characters of a text that is written at a payer's desk; a page has about 3,000.
LONGEST = 10_000


def require_length(world: ManagedCareWorld, **values: object) -> None:
    """Refuse, in a strict world, texts that are longer than anybody would read.

    Args:
        world: The world.
        values: What was written, by the names of the arguments; the texts of records and lists
            count too.

    Raises:
        Refusal: ``unreasonable_text``, naming the first that is too long.
    """
    if world.rules is Rules.COMPAT:
        return
    if not any(len(text) > LONGEST for text in within(values.values()) if isinstance(text, str)):
        return
    for name, value in values.items():
        for where, text in _texts(name, value):
            if len(text) > LONGEST:
                raise Refusal(
                    RefusalCode.UNREASONABLE_TEXT,
                    f"{where} has {len(text)} characters; at most {LONGEST} are accepted.",
                )


def within(values: Iterable[object]) -> list[object]:
    """Return some values, and what is in the records and lists among them, however deep.

    Where each stands is not told: to say that takes longer, and mostly nobody has to know.
    """
    found = list(values)
    for value in found:  # it grows meanwhile
        if value and not isinstance(value, str):
            kind: type = value.__class__
            found += _reader(kind)(value)
    return found


def _texts(name: str, value: object) -> Iterator[tuple[str, str]]:
    if isinstance(value, str):
        yield name, value
    elif isinstance(value, tuple | list):
        for item in value:
            yield from _texts(name, item)
    else:
        for part in _parts(kind_of(value)):
            yield from _texts(f"{name}.{part}", getattr(value, part))


@cache
def _reader(kind: type) -> Callable[[Any], Iterable[object]]:
    """Return what reads the parts of values of a kind; none of what is no record and no list."""
    if issubclass(kind, tuple | list):
        return iter
    names = _parts(kind)
    read = attrgetter(*names) if names else lambda _: ()
    return (lambda record: (read(record),)) if len(names) == 1 else read


def _parts(kind: type) -> tuple[str, ...]:
    """Return the names of a record's fields; none of what is no record."""
    return tuple(part.name for part in fields(kind)) if is_dataclass(kind) else ()
