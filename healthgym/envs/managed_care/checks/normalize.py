"""How the source makes two spellings of one value equal."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from functools import cache
from importlib.resources import files

from healthgym.core.borders import Json


def place_of_service(value: str) -> str:
    """Return the canonical form of a site of service; an unknown one as it is."""
    return _synonyms()["place_of_service"].get(_key(value), value)


def service_type(value: str) -> str:
    """Return the canonical form of a type of service; an unknown one as it is."""
    return _synonyms()["service_type"].get(_key(value), value)


def plain(value: Json) -> Json:
    """Return an observed value without its disguise: trimmed, true and false, numbers as numbers.

    ``"35"`` is 35 and ``" true"`` is True; any other text is only trimmed. True stays apart from 1.
    """
    if not isinstance(value, str):
        return value
    text = value.strip()
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    try:
        number = float(text)
    except ValueError:
        return text
    return number if math.isfinite(number) else text


def same(one: Json, other: Json) -> bool:
    """Return whether two observed values are one."""
    first, second = plain(one), plain(other)
    if isinstance(first, bool) is not isinstance(second, bool):
        return False
    return bool(first == second)


def same_set(one: Json, other: Json) -> bool:
    """Return whether two lists of observed values hold the same, in whatever order."""
    return _members(one) == _members(other)


def _members(value: Json) -> frozenset[str]:
    listed: Iterable[Json] = value if isinstance(value, list | tuple) else (value,)
    return frozenset(repr(_number(plain(item))) for item in listed)


def _number(value: Json) -> Json:
    return float(value) if isinstance(value, int) and not isinstance(value, bool) else value


def _key(value: str) -> str:
    return value.strip().lower()


@cache
def _synonyms() -> Mapping[str, Mapping[str, str]]:
    text = (files(__package__) / "data" / "synonyms.json").read_text("utf-8")
    return {
        table: {name: target for target, names in rows.items() for name in names}
        for table, rows in json.loads(text).items()
    }
