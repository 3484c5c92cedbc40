"""Tables of the family: what counts as each finding, and the published tasks' composition."""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files

from healthgym.core.borders import Json
from healthgym.worlds.volumes.disease import Finding

#: Names of the findings, in the order of CT-RATE.
LABELS = tuple(str(finding) for finding in Finding)


def load(name: str) -> Json:
    """Return a JSON file of the family."""
    return json.loads((files(__package__) / "data" / name).read_text("utf-8"))


@cache
def criteria() -> dict[str, str]:
    """Return what counts as each finding."""
    table: dict[str, str] = load("criteria.json")
    return table


@cache
def published() -> tuple[tuple[int, int], ...]:
    """Return number of labels and of positives of the ten published tasks."""
    rows = load("canonical.json")
    return tuple((int(row["labels"]), int(row["positives"])) for row in rows)


def find_label(name: str) -> str:
    """Return the finding of a name in any case, or an empty text."""
    wanted = " ".join(name.split()).lower()
    return next((label for label in LABELS if label.lower() == wanted), "")
