"""The texts and tables of the family, read once."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from importlib.resources import files

from healthgym.core.borders import JsonObject

_DATA = "healthgym.envs.ehr_format_conversion"


@cache
def text(name: str) -> str:
    """Return a text file of the family."""
    return files(_DATA).joinpath(f"data/{name}").read_text(encoding="utf-8")


@cache
def grammar() -> JsonObject:
    """Return what requests may ask for."""
    return dict(json.loads(text("grammar.json")))


@cache
def dictionary() -> Mapping[str, JsonObject]:
    """Return what each table and column of the raw data means."""
    return dict(json.loads(text("dictionary.json")))


def meaning(table: str, column: str) -> str:
    """Return what a column means, in a few words."""
    return str(dictionary()[table]["columns"][column])
