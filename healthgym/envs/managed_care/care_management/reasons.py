"""Why an episode was ended, as the reason on record says it."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from enum import StrEnum
from functools import cache
from importlib.resources import files


class EndedBecause(StrEnum):
    """Reasons for which an episode ends, as the handbook has them."""

    DECLINED = "declined"
    UNREACHABLE = "unreachable"
    GOALS_MET = "goals_met"
    NOT_ELIGIBLE = "not_eligible"
    MOVED = "moved"


def read_ending(text: str) -> frozenset[EndedBecause]:
    """Return the reasons that a text gives for ending an episode; what it negates is none.

    ``Could not be reached`` and ``did not want it`` are reasons in themselves; ``has not declined``
    is none.
    """
    flat = " ".join(text.lower().replace("\N{RIGHT SINGLE QUOTATION MARK}", "'").split())
    return frozenset(
        kind
        for kind, form in _forms().items()
        if any(not _negated().search(flat[: each.start()]) for each in form.finditer(flat))
    )


@cache
def _forms() -> Mapping[EndedBecause, re.Pattern[str]]:
    return {
        EndedBecause(kind): re.compile(rf"(?<![a-z])(?:{'|'.join(words)})")
        for kind, words in _loaded()["ended"].items()
    }


@cache
def _negated() -> re.Pattern[str]:
    return re.compile(_loaded()["negated"])


@cache
def _loaded() -> dict[str, dict[str, list[str]]] | dict[str, str]:
    text = (files(__package__) / "data" / "reasons.json").read_text("utf-8")
    return json.loads(text)
