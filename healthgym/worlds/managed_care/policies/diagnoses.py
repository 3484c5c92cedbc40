"""ICD-10-CM: titles of the codes that charts and orders give, and codes that may be reported."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from importlib.resources import files

from healthgym.core.borders import JsonObject


@cache
def _table() -> JsonObject:
    path = files(__package__) / "data" / "diagnoses.json"
    table: JsonObject = json.loads(path.read_text("utf-8"))
    return table


@cache
def titles() -> Mapping[str, str]:
    """Return the title of each code, as of the edition of October 2025."""
    return {str(code): str(title) for code, title in _table()["titles"].items()}


def title_of(code: str, otherwise: str = "") -> str:
    """Return a code's title.

    Args:
        code: ICD-10-CM code.
        otherwise: What to return of a code that is not in the table.
    """
    return titles().get(code, otherwise)


def billable(prefix: str) -> tuple[str, ...]:
    """Return codes with a prefix that may be reported: a category alone may not.

    Args:
        prefix: Beginning of codes, as policies give it; itself a code where it has a title.
    """
    if prefix in titles():
        return (prefix,)
    return tuple(_table()["billable"].get(prefix, ()))


@cache
def spoken_for(code: str) -> tuple[str, ...]:
    """Return the keys of findings of which a diagnosis says something, too.

    On a problem list such a code would answer, in part, what a criterion asks of the finding.
    """
    return tuple(_spoken().get(code, ()))


@cache
def _spoken() -> Mapping[str, list[str]]:
    path = files(__package__) / "data" / "spoken_for.json"
    table: Mapping[str, list[str]] = json.loads(path.read_text("utf-8"))
    return table
