"""How much somebody writes into a field: a strict world refuses more, as an office's forms do."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from functools import cache
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
    for name, value in values.items():
        found = _too_long(value)
        if found is not None:
            where, length = found
            raise Refusal(
                RefusalCode.UNREASONABLE_TEXT,
                f"{name}{where} has {length} characters; at most {LONGEST} are accepted.",
            )


def _too_long(value: object) -> tuple[str, int] | None:
    """Return where in a value the first text is that is too long, and its length, or None."""
    if isinstance(value, str):
        return ("", len(value)) if len(value) > LONGEST else None
    if isinstance(value, tuple | list):
        return next(filter(None, map(_too_long, value)), None)
    for part in _parts(kind_of(value)):
        inner = getattr(value, part)
        found = None if type(inner) in _TEXTLESS else _too_long(inner)
        if found is not None:
            return f".{part}{found[0]}", found[1]
    return None


@cache
def _parts(kind: type) -> tuple[str, ...]:
    """Return the names of a record's fields; none of what is no record."""
    return tuple(part.name for part in fields(kind)) if is_dataclass(kind) else ()
