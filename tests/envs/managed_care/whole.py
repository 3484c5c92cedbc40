"""Whole cases in other people's words: put into what the oracle does, call by call."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from healthgym.core.tool import ToolCall

#: By tool and how many calls of it came before: texts by argument, or by criterion.
Texts = Mapping[str, Mapping[str, str]]


def cases(path: Path) -> Iterator[tuple[str, int, Texts]]:
    """Yield the difficulty, the index and the texts of each case of a file."""
    written: Mapping[str, Texts] = json.loads(path.read_text("utf-8"))
    for name, texts in written.items():
        difficulty, index = name.split()
        yield difficulty, int(index), texts


def reworded(script: Sequence[ToolCall], texts: Texts) -> list[ToolCall]:
    """Return a script in other words; each of them has to have its place."""
    found, met, put = [], dict[str, int](), 0
    for one in script:
        nth = met.get(one.name, 0)
        met[one.name] = nth + 1
        own = texts.get(f"{one.name} {nth}", {})
        found.append(_with(one, own))
        put += len(own)
    assert put == sum(map(len, texts.values())), "a text has no place"
    return found


def _with(one: ToolCall, own: Mapping[str, str]) -> ToolCall:
    given = copy.deepcopy(dict(one.arguments))
    rows = given.get("evaluations")
    for place, text in own.items():
        row = next((each for each in rows or () if each["criterion_id"] == place), None)  # type: ignore[attr-defined]
        if row is not None:
            row["notes"] = text
        else:
            given[place] = text
    return replace(one, arguments=given)
