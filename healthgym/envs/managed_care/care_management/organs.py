"""Words for an organ, known of whoever has an illness of it: a heart attack is a cardiac event."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from functools import cache
from importlib.resources import files


def organs_of(names: Iterable[str]) -> str:
    """Return the words for the organs that illnesses are of.

    Args:
        names: What the illnesses, stays and procedures are called.
    """
    told = " ".join(names).casefold()
    return " ".join(
        word for word, others in _organs().items() if any(other in told for other in others)
    )


@cache
def _organs() -> Mapping[str, tuple[str, ...]]:
    """Return the beginnings of other words for the same organ, by the word for it."""
    text = (files(__package__) / "data" / "organs.json").read_text("utf-8")
    loaded: dict[str, list[str]] = json.loads(text)
    return {word: tuple(others) for word, others in loaded.items()}
