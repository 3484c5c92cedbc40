"""Criteria whose numbers stand in a published summary, a few lines of plain text."""

from __future__ import annotations

import re
from pathlib import Path

from healthgym.core.borders import JsonObject
from healthgym.errors import DamagedDataError, MissingDataError
from healthgym.worlds.managed_care.policies.criteria import AgeCriterion, MeasurementCriterion
from healthgym.worlds.managed_care.policies.tree import Node
from healthgym.worlds.managed_care.vocabulary.authorization import DocumentKind, ItemOperator


def stated(path: Path, name: str, entry: JsonObject) -> list[Node]:
    """Return the criteria of a summary.

    Args:
        path: The summary.
        name: What it is called in sentences.
        entry: What of it counts: under ``stated``, a phrase that a line holds, the pattern of the
            number in that line, and what the number is the threshold of.

    Raises:
        MissingDataError: If there is no such file.
        DamagedDataError: If it is no text, no line holds a phrase, or that line no number.
    """
    if not path.is_file():
        raise MissingDataError(f"{name} is not in the data folder.")
    try:
        lines = path.read_text("utf-8").splitlines()
    except UnicodeDecodeError as error:
        raise DamagedDataError(f"{name}: not UTF-8.") from error
    return [
        _criterion(f"C{place}", row, _number(lines, name, row))
        for place, row in enumerate(entry["stated"], 1)
    ]


def _number(lines: list[str], name: str, row: JsonObject) -> float:
    phrase: str = row["phrase"]
    for place, line in enumerate(lines, 1):
        if phrase in line:
            found = re.search(row["number"], line)
            if found is None:
                raise DamagedDataError(
                    f"{name}, line {place}: no number stands where {phrase!r} has one."
                )
            return float(found[1])
    raise DamagedDataError(f"{name}: no line says {phrase!r}.")


def _criterion(number: str, row: JsonObject, threshold: float) -> Node:
    if "operator" not in row:
        return AgeCriterion(id=number, display="age", minimum=int(threshold))
    return MeasurementCriterion(
        id=number,
        display=row["display"],
        code=row["code"],
        operator=ItemOperator(row["operator"]),
        threshold=threshold,
        unit=row["unit"],
        months=row["months"],
        documented_in=(DocumentKind.PROGRESS_NOTE,),
    )
