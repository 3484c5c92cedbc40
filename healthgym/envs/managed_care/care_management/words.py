"""Words by which free text is read: the reasons that it gives."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files


@dataclass(frozen=True, slots=True, kw_only=True)
class Words:
    """Words of ``data/words.json``.

    Attributes:
        ended: Forms of the reasons for which an episode ends, by reason.
        negated: What stands before a form that is negated.
        blocked: Forms of the reasons for which an assessment is broken off, by kind.
    """

    ended: Mapping[str, tuple[str, ...]]
    negated: str
    blocked: Mapping[str, tuple[str, ...]]


@cache
def words() -> Words:
    """Return the words, read once."""
    loaded = json.loads((files(__package__) / "data" / "words.json").read_text("utf-8"))
    return Words(
        ended={kind: tuple(forms) for kind, forms in loaded["ended"].items()},
        negated=loaded["negated"],
        blocked={kind: tuple(forms) for kind, forms in loaded["blocked"].items()},
    )
