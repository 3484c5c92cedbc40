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
_DATE = re.compile(r"\d{4}-\d\d-\d\d")
_WORD = re.compile(r"\b[A-Za-z]{4,12}\b")
#: How few and how many stand in a list: from short ones it is learned soonest how to look up.
_FEW, _MANY = 2, 8
#: Share of the lists that hold dates alone, which are told apart by a digit.
_OF_DATES = 0.3
_ASKED, _ASKED_AFTER = "Say it again.", "Say what comes after {}."


def copies(texts: Iterable[str], count: int, tokenizer: AnyTokenizer, seed: int) -> list[Talk]:
    """Return conversations in which ids and dates of a list are repeated, all or each by its word.

    In lists there is nothing to learn but to name what was read, and where. In games in which it
    asked for something a small model named a wrong day in 12 of 27 after lists of eight, and in 1
    of 28 after twice as many of two to eight, some of them among its games (one seed each).

    Args:
        texts: Where ids, dates and words are taken from.
        count: How many conversations; half of them ask for what comes after words.
        tokenizer: The tokenizer.
        seed: Of what stands in the lists.

    Raises:
        ValueError: If no text holds an id or a date, or there are too few words.
    """
    held = list(texts)
    named = sorted({each for text in held for each in _NAMED.findall(text)})
    words = sorted({each for text in held for each in _WORD.findall(text)})
    if not named or len(words) < _MANY:
        raise ValueError("The texts hold no id, or few words: give texts of demonstrations.")
    dates = [each for each in named if _DATE.fullmatch(each)] or named
    rng, found = np.random.default_rng(seed), []
    for number in range(count):
        listed = int(rng.integers(_FEW, _MANY + 1))
        drawn = dates if rng.random() < _OF_DATES else named
        values = [drawn[int(place)] for place in rng.integers(len(drawn), size=listed)]
        shown, asked, order = values, _ASKED, list(range(listed))
        if number % 2:
            keys = [str(word) for word in rng.choice(words, listed, replace=False)]
            shown = [f"{key} {value}" for key, value in zip(keys, values, strict=True)]
            order = [int(place) for place in rng.permutation(listed)]
            asked = _ASKED_AFTER.format(", ".join(keys[place] for place in order))
        talk = Talk("copying")
        talk.hear(tokenizer, ", ".join(shown), asked)
        ids = tokenizer.encode(", ".join(values[place] for place in order) + chat.END)
        talk.add(ids, own=True)
        found.append(talk)
    return found
