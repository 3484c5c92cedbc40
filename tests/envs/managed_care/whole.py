"""Whole cases in other people's words: put into what the oracle does, call by call."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from healthgym.core.tool import ToolCall

#: By tool and how many calls of it came before: texts by argument, by criterion, or by the way to
#: where they stand (``review/key_findings``), where they may be lists.
Texts = Mapping[str, Mapping[str, Any]]


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


def _with(one: ToolCall, own: Mapping[str, Any]) -> ToolCall:
    given = copy.deepcopy(dict(one.arguments))
    rows = given.get("evaluations")
    for place, text in own.items():
        if "/" in place:
            _put(given, place.split("/"), text)
            continue
        row = next((each for each in rows or () if each["criterion_id"] == place), None)  # type: ignore[attr-defined]
        if row is not None:
            row["notes"] = text
        else:
            given[place] = text
    return replace(one, arguments=given)


def _put(given: Any, way: Sequence[str], text: Any) -> None:
    """Put a text where a way leads, through lists by number."""
    here, *further = way
    key: Any = int(here) if isinstance(given, list) else here
    if further:
        _put(given[key], further, text)
    else:
        given[key] = text
