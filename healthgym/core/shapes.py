"""Texts of the same shape as a given one: ids, codes, dates and numbers that nobody has seen."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

_DIGITS, _HEX, _LETTERS = "0123456789", "0123456789abcdef", "abcdefghijklmnopqrstuvwxyz"


def reshaped(rng: np.random.Generator, text: str) -> str:
    """Return a text of the same form: letters and digits drawn anew, all else as it is.

    Where all letters are hexadecimal, as in a UUID, letters and digits are hexadecimal digits.
    """
    body = {each for each in text if each.isalnum()}
    pool = _HEX if body <= set(_HEX) and body & set("abcdef") and body & set(_DIGITS) else ""
    drawn = []
    for each in text:
        if not each.isalnum():
            drawn.append(each)
        elif pool or each.isdigit():
            drawn.append(one_of(rng, pool or _DIGITS))
        else:
            drawn.append(one_of(rng, _LETTERS if each.islower() else _LETTERS.upper()))
    return "".join(drawn)


def one_of(rng: np.random.Generator, choices: Sequence[str]) -> str:
    """Return one of some choices, each as likely as the other."""
    return choices[int(rng.integers(len(choices)))]
