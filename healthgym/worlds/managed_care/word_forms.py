"""Expressions by which words of somebody's own are read, from the tables of ``data``.

Each name stands for alternatives, one a row; ``@part@`` in a row is a part that several share.
``own_words.json`` is for everybody, ``dealings.json`` for what a practice tells of its dealings,
``payer_dealings.json`` for what the payer tells of its own.
"""

from __future__ import annotations

import json
import re
from functools import cache
from importlib.resources import files

from healthgym.core.borders import JsonObject
from healthgym.worlds.managed_care.expressions import Expression

_TABLES = ("own_words.json", "dealings.json", "payer_dealings.json")
#: Where a clause of a sentence ends.
CLAUSE = re.compile(r"[,:]\s| - | but | however ")
#: How far from a word what denies or offers it is looked for, in characters: further away it is
#: about something else, and each word of a very long clause would go through all of it.
NEAR = 240
_PART = re.compile(r"@(\w+)@")
#: A point that ends no sentence: of a title, or of a word cut short.
#: Looked for by the point, which is sooner found than a word.
_TITLE = re.compile(
    r"\.(?:(?=\s)(?:(?<=\b[dm]r\.)|(?<=\bms\.)|(?<=\bst\.)|(?<=\bvs\.)|(?<=\bmrs\.)|"
    r"(?<=\bapprox\.))|(?=\s?\d)(?<=\bno\.))",
    re.IGNORECASE,
)


def untitled(text: str) -> str:
    """Return a text in which a point ends a sentence: "Dr Doyle said", not "Dr. Doyle said"."""
    return _TITLE.sub("", text) if "." in text else text


@cache
def form(name: str) -> Expression:
    """Return the expression of a name."""
    return Expression(rows_of(name))


def before(name: str, clause: str, place: int) -> re.Match[str] | None:
    """Return where an expression stands near before a place of a clause."""
    return form(name).search(clause, max(place - NEAR, 0), place)


def rows_of(name: str) -> list[str]:
    """Return the rows of an expression, with their parts written out."""
    return list(map(_whole, _data()[name]))


def _whole(row: str) -> str:
    """Return a row with its parts written out."""
    return _PART.sub(lambda found: _whole(_data()["parts"][found[1]]), row)


@cache
def _data() -> JsonObject:
    folder = files("healthgym.worlds.managed_care") / "data"
    tables = [json.loads((folder / name).read_text("utf-8")) for name in _TABLES]
    parts = {name: row for table in tables for name, row in table.pop("parts").items()}
    return {**{name: rows for table in tables for name, rows in table.items()}, "parts": parts}
