"""How much somebody writes into a field: a strict world refuses more, as an office's forms do."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import fields, is_dataclass
from functools import cache
from operator import attrgetter
from types import NoneType
from typing import TYPE_CHECKING

from healthgym.worlds.managed_care.deferred import kind_of
from healthgym.worlds.managed_care.refusals import Refusal, RefusalCode
from healthgym.worlds.managed_care.rules import Rules

if TYPE_CHECKING:
    from healthgym.worlds.managed_care.world import ManagedCareWorld

#: Most characters of a text that is written at a payer's desk; a page has about 3,000.
LONGEST = 10_000
#: What many fields hold in which there is no text.
_TEXTLESS = frozenset({NoneType, bool, int, float})


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
    if _longest(values.values()) <= LONGEST:
        return
    for name, value in values.items():
        for where, text in _texts(name, value):
            if len(text) > LONGEST:
                raise Refusal(
                    RefusalCode.UNREASONABLE_TEXT,
                    f"{where} has {len(text)} characters; at most {LONGEST} are accepted.",
                )


def _longest(values: Iterable[object]) -> int:
    """Return the length of the longest text in some values, without asking where it stands."""
    longest = 0
    for value in values:
        kind: type = value.__class__
        if kind in _TEXTLESS:
            continue
        if isinstance(value, str):
            length = len(value)
        elif isinstance(value, tuple | list):
            length = _longest(value)
        else:
            length = _longest(_reader(kind)(value))
        if length > longest:
            longest = length
    return longest


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
def _reader(kind: type) -> Callable[[object], Iterable[object]]:
    """Return what reads all fields of a record of a kind; none of what is no record."""
    names = _parts(kind)
    read = attrgetter(*names) if names else lambda _: ()
    return (lambda record: (read(record),)) if len(names) == 1 else read


def _parts(kind: type) -> tuple[str, ...]:
    """Return the names of a record's fields; none of what is no record."""
    return tuple(part.name for part in fields(kind)) if is_dataclass(kind) else ()
