"""Whether other words say what was to be said, no more and no less.

A sentence of a model is read as what it claims: its words in order, without those that claim
nothing (articles, fillers, thanks), each of several words for one thing as the same. It may be
said if that is what the draft claims, too. A number, a name, a medicine, a condition, a yes or a
no that the draft does not have is one word too many, whatever it is about, so that no list of
what must not be said is needed; and what changes places may change its meaning. The price is that
many a harmless sentence is refused, whose draft is then said instead.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Final

from healthgym.worlds.managed_care.peers.words import tokens

#: How much longer than the draft other words may be: times, and characters besides.
_TIMES: Final = 2
_BESIDES: Final = 120
#: What any sentence may have beside letters of English and digits.
_PLAIN: Final = frozenset(" .,;:!?'-")
_QUOTES: Final = str.maketrans({"\u2018": "'", "\u2019": "'", "\u2013": "-", "\u2014": "-"})
#: Who speaks, as models put it before what they say.
_SPEAKS: Final = re.compile(r"^\W*\w+(?: \w+)?:\s")


@dataclass(frozen=True, slots=True)
class Everyday:
    """Words by what they claim.

    Attributes:
        phrases: Runs of words that claim nothing.
        neutral: Words that claim nothing.
        alike: For each of several words for one thing, the first of them.
    """

    phrases: re.Pattern[str]
    neutral: frozenset[str]
    alike: Mapping[str, str]


@cache
def everyday() -> Everyday:
    """Return the words of ``data/words.json``."""
    table = json.loads((files(__package__) / "data" / "words.json").read_text("utf-8"))
    phrases = "|".join(map(re.escape, sorted(table["phrases"], key=len, reverse=True)))
    return Everyday(
        re.compile(rf"\b(?:{phrases})\b"),
        frozenset(table["neutral"]),
        {word: group[0] for group in table["alike"] for word in group},
    )


def fault(words: str, draft: str) -> str:
    """Return why words may not be said in place of a draft; empty if they may.

    Args:
        words: The sentence of a model.
        draft: What is to be said.
    """
    if not words.strip():
        return "nothing is said"
    if len(words) > _TIMES * len(draft) + _BESIDES:
        return "it is too long"
    said, due = _evened(words), _evened(draft)
    if _marks(said) != _marks(due) or (_SPEAKS.match(said) and not _SPEAKS.match(due)):
        return "it is no plain speech"
    if ("?" in said) != ("?" in due):
        return "a question is made of an answer, or an answer of a question"
    return _difference(claims(said), claims(due))


def claims(text: str) -> tuple[str, ...]:
    """Return what a text claims: its words in order, by what they stand for.

    Args:
        text: A sentence or several.
    """
    known = everyday()
    found: list[str] = []
    for token in tokens(known.phrases.sub(" ", _evened(text).lower())):
        word = known.alike.get(token.text, token.stem)
        if token.text not in known.neutral and found[-1:] != [word]:
            found.append(word)
    return tuple(found)


def _difference(said: tuple[str, ...], due: tuple[str, ...]) -> str:
    if said == due:
        return ""
    more, less = Counter(said) - Counter(due), Counter(due) - Counter(said)
    if more:
        return f"it says more: {', '.join(word.strip() for word in more)}"
    if less:
        return f"it leaves out: {', '.join(word.strip() for word in less)}"
    return "it says things in another order"


def _evened(text: str) -> str:
    return unicodedata.normalize("NFKC", text).translate(_QUOTES).strip()


def _marks(text: str) -> Counter[str]:
    """Return the signs of a text that are not those of plain English: other letters, too.

    A word in other letters would claim something that no reader of English words can see.
    """
    return Counter(
        sign for sign in text if not (sign.isascii() and sign.isalnum()) and sign not in _PLAIN
    )
