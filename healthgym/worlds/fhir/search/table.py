"""The table of search parameters, read from ``parameters.json`` beside this file."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cache
from importlib.resources import files

from healthgym.core.borders import JsonObject

_STEP = re.compile(r"(?P<name>\w+)(?:\[(?P<key>\w+)=(?P<value>\w+)\])?")


class Kind(StrEnum):
    """How the values of a parameter are read and compared."""

    TOKEN = "token"
    DATE = "date"
    STRING = "string"
    REFERENCE = "reference"
    QUANTITY = "quantity"
    URI = "uri"
    COMPOSITE = "composite"


@dataclass(frozen=True, slots=True)
class Step:
    """One element name of a path, optionally with an ``[element=value]`` condition."""

    name: str
    key: str | None = None
    value: str | None = None


@dataclass(frozen=True, slots=True)
class Parameter:
    """One search parameter of one resource type.

    Attributes:
        name: Name in the query string.
        kind: Value type.
        paths: Where the values are; several paths are alternatives that all count. For a composite
            these are the elements that its parts are read from.
        target: The only resource type that a reference may point to, or None for any.
        parts: The two parameters that a composite joins.
    """

    name: str
    kind: Kind
    paths: tuple[tuple[Step, ...], ...]
    target: str | None = None
    parts: tuple[Parameter, ...] = ()


@dataclass(frozen=True)
class TypeTable:
    """What is known of one resource type: parameters by name and required elements."""

    parameters: Mapping[str, Parameter]
    required: tuple[str, ...] = ()
    names: tuple[str, ...] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "names", tuple(sorted(self.parameters)))


@dataclass(frozen=True)
class ParameterTable:
    """Search parameters of every resource type, with the common ones for all others."""

    types: Mapping[str, TypeTable]
    common: TypeTable

    def of(self, resource_type: str) -> TypeTable:
        """Return the entry of a type; a type without one has the common parameters only."""
        return self.types.get(resource_type, self.common)


def _path(text: str) -> tuple[Step, ...]:
    if not text:
        return ()
    steps = []
    for part in text.split("."):
        match = _STEP.fullmatch(part)
        if match is None:
            raise ValueError(f"malformed path {text!r} in the search parameter table")
        steps.append(Step(match["name"], match["key"], match["value"]))
    return tuple(steps)


def _parameters(rows: Mapping[str, JsonObject]) -> dict[str, Parameter]:
    simple = {
        name: Parameter(
            name, Kind(row["kind"]), tuple(map(_path, row["paths"])), target=row.get("target")
        )
        for name, row in rows.items()
    }
    for name, row in rows.items():
        if parts := row.get("parts"):
            composite = simple[name]
            simple[name] = Parameter(
                name, composite.kind, composite.paths, parts=tuple(simple[p] for p in parts)
            )
    return simple


@cache
def parameter_table() -> ParameterTable:
    """Return the table; the file is read once, at the first call."""
    text = files(__package__).joinpath("parameters.json").read_text(encoding="utf-8")
    data = json.loads(text)
    common = _parameters(data["common"])
    types = {
        name: TypeTable({**common, **_parameters(entry["parameters"])}, tuple(entry["required"]))
        for name, entry in data["types"].items()
    }
    return ParameterTable(types, TypeTable(common))
