"""Lines and compact tables taken back from a tool's answer.

The other direction of ``presentation``: a name and a value in one line, or a name and under it, set
in, a table, a record or a text.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from healthgym.errors import DataError


class UnreadableAnswerError(DataError):
    """A tool's answer lacks what it ought to hold: the call was refused, perhaps."""


#: A record, or a row of a table.
Row = Mapping[str, str]

_HEAD = re.compile(
    r"\A(?:\[\d{4}-\d\d-\d\d \d\d:\d\d\]\n)?(?:\(\d{4}-\d\d-\d\d \d\d:\d\d\) .*\n?)*"
)
_CUT = re.compile(r"\n\(\d+ more characters; read_more continues\)\Z")
_NAMED = re.compile(r"(\w+):(?: (.*))?")
_CELLS = re.compile(r" \|(?: |$)")


def is_cut(observation: str) -> bool:
    """Return whether there is more to read."""
    return _CUT.search(observation) is not None


def body(observation: str) -> str:
    """Return what a tool answered, without the clock, the news before it, or the note of a cut."""
    return _CUT.sub("", observation[_end_of_head(observation) :])


def news(observation: str) -> str:
    """Return what arrived meanwhile; empty if nothing did."""
    head = observation[: _end_of_head(observation)]
    return "\n".join(line for line in head.splitlines() if line.startswith("("))


def _end_of_head(observation: str) -> int:
    found = _HEAD.match(observation)
    return found.end() if found else 0


def sections(text: str) -> dict[str, list[str]]:
    """Return what stands under each name of an answer, as lines without their indent.

    Args:
        text: An answer, or what stands under one of its names.
    """
    found: dict[str, list[str]] = {}
    under: list[str] = []
    for line in text.split("\n"):
        if line.startswith("  "):
            under.append(line[2:])
            continue
        named = _NAMED.fullmatch(line.rstrip())
        if named is not None:
            under = [named[2]] if named[2] is not None else []
            found[named[1]] = under
    return found


def fields(lines: Sequence[str]) -> Row:
    """Return the values in single lines of a record."""
    return {name: under[0] for name, under in sections("\n".join(lines)).items() if under}


def rows(lines: Sequence[str]) -> Sequence[Row]:
    """Return the rows of a table; what was too long for it stands in lines under its row."""
    if not lines:
        return []
    names = _CELLS.split(lines[0])
    found: list[dict[str, str]] = []
    for line in lines[1:]:
        named = _NAMED.fullmatch(line[2:]) if line.startswith("  ") else None
        if named is not None and found:
            found[-1][named[1]] = named[2] or ""
            continue
        cells = _CELLS.split(line)
        cells += [""] * (len(names) - len(cells))
        found.append(dict(zip(names, cells, strict=False)))
    return found


def table(text: str, name: str) -> Sequence[Row]:
    """Return the rows of the table under a name; none if there is no such table."""
    return rows(sections(text).get(name, []))


def record(text: str, name: str) -> Row:
    """Return the record under a name; empty if there is none."""
    return fields(sections(text).get(name, []))


def value(text: str, name: str, under: str = "") -> str:
    """Return a value of an answer, or of a record in it.

    Args:
        text: The answer.
        name: The value's name.
        under: Name of the record; the answer itself if left out.

    Raises:
        UnreadableAnswerError: If there is none.
    """
    found = record(text, under) if under else fields(text.split("\n"))
    if name not in found:
        raise UnreadableAnswerError(f"The answer tells no {under} {name}: {text[:120]!r}.")
    return found[name]
