"""What nobody says on the phone: data, programs, and orders to a machine."""

from __future__ import annotations

import re
from typing import Final

#: Characters of a message that a listener can still follow.
_LONGEST: Final = 2_000
#: Signs that stand in data and not in what is said; a dash in brackets or a blank is no harm yet.
_SIGNS: Final = re.compile(r"[{}\[\]<>|\\=`^~@#]|\b[a-z]+_[a-z_]+\b|\"\s*:")
_SIGNS_MOST: Final = 2
#: Letters beside which other signs are few, in what is said.
_LETTERS_LEAST: Final = 0.6
_ORDERS: Final = re.compile(
    r"\b(ignore|disregard|forget|override)\b.{0,40}\b(instruction|prompt|rule|persona|role)s?\b"
    r"|\b(system|developer) (prompt|message)\b"
    r"|\byou are (now |really )?(an? )?(ai|language model|assistant|simulat\w+|chatbot|npc)\b"
    r"|\b(jailbreak|role-?play|state machine|output only|respond only with)\b",
    re.IGNORECASE | re.DOTALL,
)


def is_speech(message: str) -> bool:
    """Return whether a message is something that one can say to a person."""
    if len(message) > _LONGEST or _ORDERS.search(message):
        return False
    if len(_SIGNS.findall(message)) > _SIGNS_MOST:
        return False
    spoken = sum(letter.isalpha() or letter.isspace() for letter in message)
    return spoken >= _LETTERS_LEAST * len(message)
