"""Tables of ``data/orders``, by which orders and the words beside them are read."""

from __future__ import annotations

import json
from importlib import resources

from healthgym.core.borders import JsonDict


def read_table(name: str) -> JsonDict:
    """Return a table of ``data/orders``, read anew each time.

    Args:
        name: Name of its file, without the ending.
    """
    folder = resources.files("healthgym.envs.fhir_record")
    text = folder.joinpath(f"data/orders/{name}.json").read_text(encoding="utf-8")
    table: JsonDict = json.loads(text)
    return table
