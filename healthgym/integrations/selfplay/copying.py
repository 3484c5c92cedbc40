"""Lists to repeat: what a small model learns before it is to name anything that it has read."""

from __future__ import annotations

import re
from collections.abc import Iterable

import numpy as np

from healthgym.integrations.selfplay.games import Talk
from healthgym.integrations.trl import chat
from healthgym.integrations.trl.foreign import AnyTokenizer

#: Ids, such as DOC-7001 and MP-RAD-037, and dates.
_NAMED = re.compile(r"\b[A-Z]+(?:-[A-Z]+)*-\d+\b|\b\d{4}-\d\d-\d\d\b")
#: How many stand in a list.
_LISTED = 8
_ASKED = "Say it again."


def copies(texts: Iterable[str], count: int, tokenizer: AnyTokenizer, seed: int) -> list[Talk]:
    """Return conversations in which a list of ids and dates is repeated.

    A small model that had imitated games alone for 600 steps won 2 of 30 in which it had asked for
    something; those that were looked at it lost by naming a wrong day or paper. Reward finds too
    little there to strengthen. Lists have nothing in them to learn but to name what was read.

    Args:
        texts: Where ids and dates are taken from.
        count: How many conversations.
        tokenizer: The tokenizer.
        seed: Of what stands in the lists.

    Raises:
        ValueError: If no text holds an id or a date.
    """
    named = sorted({each for text in texts for each in _NAMED.findall(text)})
    if not named:
        raise ValueError("No text holds an id or a date: give texts of demonstrations.")
    rng, found = np.random.default_rng(seed), []
    for _ in range(count):
        listed = ", ".join(named[int(place)] for place in rng.integers(len(named), size=_LISTED))
        talk = Talk("copying")
        talk.hear(tokenizer, listed, _ASKED)
        ids = tokenizer.encode(listed + chat.END)
        talk.add(ids, [0.0] * len(ids))
        found.append(talk)
    return found
