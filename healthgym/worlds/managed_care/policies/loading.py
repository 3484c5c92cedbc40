"""Policies read from JSON, all or none.

A file holds a list of policies. What is missing, unknown, of the wrong type or in contradiction to
itself is said with file and place, and nothing is loaded.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from healthgym.core.borders import Json
from healthgym.errors import DamagedDataError, MissingDataError
from healthgym.worlds.managed_care.policies.checking import contradiction
from healthgym.worlds.managed_care.policies.policy import Policy
from healthgym.worlds.managed_care.vocabulary.authorization import ServiceTypeCategory


@cache
def library() -> Mapping[str, Policy]:
    """Return the policies of this package by id, in the order of files and entries."""
    return load_policies(files(__package__) / "library")


@cache
def _adapter() -> TypeAdapter[Policy]:
    return TypeAdapter(Policy)


def load_policies(folder: Path | Traversable) -> dict[str, Policy]:
    """Return the policies of a folder's JSON files by id.

    Raises:
        MissingDataError: If there is no such folder, or no file in it.
        DamagedDataError: If a file is not what it should be, or two entries share an id.
    """
    if not folder.is_dir():
        raise MissingDataError(f"There is no policy folder {folder}; give one with JSON files.")
    names = sorted(
        (item for item in folder.iterdir() if item.name.endswith(".json")),
        key=lambda item: item.name,
    )
    if not names:
        raise MissingDataError(f"The policy folder {folder} has no JSON file.")
    loaded: dict[str, Policy] = {}
    for source in names:
        for place, policy in _read(source.name, source.read_text("utf-8")):
            if policy.id in loaded:
                raise DamagedDataError(f"{place}: the policy id {policy.id} is used twice.")
            loaded[policy.id] = policy
    for policy in loaded.values():
        for name in policy.related:
            if name not in loaded:
                raise DamagedDataError(f"{policy.id}: related names {name}, which is not there.")
    return loaded


def by_category(policies: Iterable[Policy]) -> dict[ServiceTypeCategory, list[Policy]]:
    """Return policies by category of service, every category named."""
    grouped: dict[ServiceTypeCategory, list[Policy]] = {item: [] for item in ServiceTypeCategory}
    for policy in policies:
        grouped[policy.category].append(policy)
    return grouped


def _read(name: str, text: str) -> list[tuple[str, Policy]]:
    """Return the policies of a file, each with its place for whoever complains of it."""
    try:
        rows: Json = json.loads(text)
    except json.JSONDecodeError as error:
        raise DamagedDataError(
            f"{name}, line {error.lineno}, column {error.colno}: not JSON, {error.msg}."
        ) from error
    if not isinstance(rows, list):
        raise DamagedDataError(f"{name}, line 1: a list of policies is expected.")
    read = []
    for index, row in enumerate(rows):
        place = f"{name}{_line(text, row)}, [{index}]"
        try:
            policy = _adapter().validate_python(row)
        except ValidationError as error:
            first = error.errors()[0]
            path = ".".join(str(part) for part in first["loc"])
            raise DamagedDataError(f"{place}.{path}: {first['msg']}.") from error
        problem = contradiction(policy)
        if problem:
            raise DamagedDataError(f"{place}.{problem}")
        read.append((place, policy))
    return read


def _line(text: str, row: Json) -> str:
    """Return the line on which a row's id stands, if it has one."""
    if not isinstance(row, dict) or not isinstance(row.get("id"), str):
        return ""
    at = text.find(json.dumps(row["id"], ensure_ascii=False))
    return f", line {text.count(chr(10), 0, at) + 1}" if at >= 0 else ""
