"""What nobody says on the phone: data, programs, and orders to a machine."""

from __future__ import annotations

import re
from typing import Final

from healthgym.core.cache import short_text_cache

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
#: Of which one stands in every order.
_ORDERING: Final = (
    *("ignore", "disregard", "forget", "override", "prompt", "message", "you are", "jailbreak"),
    *("role", "state machine", "output only", "respond only"),
)
#: What is neither a letter nor a blank, in plain text.
_OTHER: Final = re.compile(r"[^A-Za-z\s]")


@short_text_cache(2048, 2000)
def is_speech(message: str) -> bool:
    """Return whether a message is something that one can say to a person."""
    if len(message) > _LONGEST or _orders(message):
        return False
    if len(_SIGNS.findall(message)) > _SIGNS_MOST:
        return False
    return _spoken(message) >= _LETTERS_LEAST * len(message)


def _orders(message: str) -> bool:
    """Return whether a message orders a machine about."""
    if message.isascii():
        small = message.lower()
        if not any(word in small for word in _ORDERING):
            return False  # as hardly anything has; the expression takes much longer to say so
    return bool(_ORDERS.search(message))


def _spoken(message: str) -> int:
    """Return how many letters and blanks a message has."""
    if message.isascii():
        return len(message) - len(_OTHER.findall(message))
    return sum(letter.isalpha() or letter.isspace() for letter in message)
