"""All 87 tools are as they were published: names, arguments, types, words, defaults, records.

``published.json`` states the surface in words of its own: an argument is its name, its type and,
if it may be left out, its default. Where ours differs, it is by one of the rules below.
"""

from __future__ import annotations

import dataclasses
import json
from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import date, datetime
from enum import Enum
from functools import cache
from pathlib import Path
from types import NoneType
from typing import Any, Literal, get_args, get_origin

import pytest

from healthgym.core.parts import (
    REQUIRED,
    Facets,
    argument_parts,
    is_record,
    is_row,
    options_of,
    peel,
    plain_value,
    record_parts,
    variants,
)
from healthgym.core.tool import ToolKind, ToolSpec
from tests.worlds.managed_care.replay import catalog

PUBLISHED: Mapping[str, Any] = json.loads(
    (Path(__file__).parent / "published.json").read_text("utf-8")
)
TOOLS: Mapping[str, Any] = PUBLISHED["tools"]
RECORDS: Mapping[str, Any] = PUBLISHED["records"]
ENUMS: Mapping[str, list[str]] = PUBLISHED["enums"]
#: What a record's field is made of each time, where it has no fixed default.
MADE = "<made>"
BARE = {str: "string", int: "integer", float: "number", bool: "boolean", dict: "map", Any: "any"}
#: The source's hand-offs end nothing here, and so are entries like others.
KINDS = {"read": ToolKind.READ, "write": ToolKind.WRITE, "submit": ToolKind.WRITE}
#: A file travels in a JSON call as base64 text.
_BYTES = (["binary"], ["string"])
#: Ids that the source draws while it checks the arguments, the world draws when it keeps the plan;
#: left out, they are blank.
_DRAWN = (["string", MADE], ["string", ""])
#: The differences that stay: what was published, and what is here.
DIFFERENT: Mapping[tuple[str, str], tuple[list[Any], list[Any]]] = {
    ("docs.upload_evidence_file", "file_bytes"): _BYTES,
    ("CMProblem", "problem_id"): _DRAWN,
    ("CMGoal", "goal_id"): _DRAWN,
    ("CMIntervention", "intervention_id"): _DRAWN,
}


def told(hint: Any, facets: Facets | None = None) -> str:
    """Return a type in the words of the fixture."""
    if facets is not None and facets.discriminator:
        names = " ".join(record.__name__ for record in dict.fromkeys(variants(facets).values()))
        return f"one by {facets.discriminator} of {names}"
    options = options_of(hint)
    known = [option for option in options if option is not NoneType]
    mark = "?" if len(known) < len(options) else ""
    if len(known) > 1:
        return " | ".join(told(option) for option in known) + mark
    low = {} if facets is None else facets.bounds
    if "minimum" in low:
        return f"{BARE[known[0]]} {low['minimum']}..{low['maximum']}{mark}"
    return _bare(known[0]) + mark


def _bare(hint: Any) -> str:
    origin, args = get_origin(hint), get_args(hint)
    if origin is Literal:
        values = [str(plain_value(value)) for value in args]
        return f"const {values[0]}" if len(values) == 1 else "words " + " ".join(values)
    if origin is list or is_row(hint):
        return f"list of {told(peel(args[0]).hint)}"
    if origin is dict or (origin is not None and issubclass(origin, Mapping)):
        value = told(args[1])
        return f"map of {value}" if value == "string" else "map"
    if hint is datetime or hint is date:
        return "date-time" if hint is datetime else "date"
    if is_record(hint):
        return f"record {hint.__name__}"
    if isinstance(hint, type) and issubclass(hint, Enum):
        return _enum(hint)
    return BARE[hint]


def _enum(enum: type[Enum]) -> str:
    values = [str(member.value) for member in enum]
    if ENUMS.get(enum.__name__) == values:
        return f"enum {enum.__name__}"
    return "words " + " ".join(values)


@cache
def records() -> Mapping[str, type]:
    """Return every record that the published tools take, by name."""
    found: dict[str, type] = {}
    for name in TOOLS:
        for part in argument_parts(catalog()[name][0].function):
            _gather(part.facets, found)
    return found


def _gather(facets: Facets, found: dict[str, type]) -> None:
    hints = [facets.hint]
    while hints:
        hint = hints.pop()
        if is_record(hint) and hint.__name__ not in found:
            found[hint.__name__] = hint
            for part in record_parts(hint):
                _gather(part.facets, found)
        hints += [peel(arg).hint for arg in get_args(hint) if arg is not Ellipsis]


def arguments(spec: ToolSpec) -> dict[str, list[Any]]:
    """Return the arguments of a tool as the fixture states them."""
    found = {}
    for part in argument_parts(spec.function):
        row = [told(part.facets.hint, part.facets)]
        found[part.name] = row if part.default is REQUIRED else [*row, plain_value(part.default)]
    return found


def fields(record: type) -> dict[str, list[Any]]:
    """Return the fields of a record as the fixture states them."""
    defaults = {}
    for item in dataclasses.fields(record):
        given = MADE if item.default is dataclasses.MISSING else plain_value(item.default)
        defaults[item.name] = MADE if given == () else given
    found = {}
    for part in record_parts(record):
        row = [told(part.facets.hint, part.facets)]
        found[part.name] = row if part.default is REQUIRED else [*row, defaults[part.key]]
    return found


def differences(
    place: str, published: list[list[Any]], ours: Mapping[str, list[Any]]
) -> Iterator[tuple[str, str, list[Any] | None, list[Any] | None]]:
    theirs = {name: rest for name, *rest in published}
    for name in sorted({*theirs, *ours}):
        one, other = theirs.get(name), ours.get(name)
        if one != other and DIFFERENT.get((place, name)) != (one, other):
            yield place, name, one, other


def test_there_are_87_of_them_on_three_surfaces() -> None:
    assert set(TOOLS) <= set(catalog())
    counted = Counter(surface for row in TOOLS.values() for surface in row["surfaces"])
    # The three tools of a peer-to-peer call are on both sides of it.
    assert len(TOOLS) == counted.total() - 3 == 84
    assert counted == {"provider": 30, "payer": 41, "care_management": 16}


@pytest.mark.parametrize("name", TOOLS)
def test_a_tool_takes_what_was_published(name: str) -> None:
    spec = catalog()[name][0]
    assert list(differences(name, TOOLS[name]["takes"], arguments(spec))) == []
    assert spec.kind is KINDS[TOOLS[name]["kind"]]


def test_no_tool_takes_a_record_that_was_not_published() -> None:
    assert set(records()) == set(RECORDS)


@pytest.mark.parametrize("name", RECORDS)
def test_a_record_has_the_published_fields(name: str) -> None:
    record = records()[name]
    assert list(differences(name, RECORDS[name], fields(record))) == []
