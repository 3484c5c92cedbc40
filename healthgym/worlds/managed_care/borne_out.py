"""Whether the sentence in which a word stands that is on no file is borne out by the file besides.

Readers go by words, and honest people use other words than the file. Most of their sentences say
besides what stands on file, by its name, its value or its day; most of what is invented does not. A
word that alone proves nothing, :class:`Slight`, is let pass in a sentence of which most is known.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Self

from healthgym.worlds.managed_care.claim_words import desk_words, kinds
from healthgym.worlds.managed_care.disguises import flattened
from healthgym.worlds.managed_care.seen import Seen

_SENTENCE = re.compile(r"[^.!?;\n]+(?:[.!?;](?=\S)[^.!?;\n]+)*")
_WORD = re.compile(r"[a-z]{3,}(?:-[a-z]+)*")
#: Days and values; telephone numbers of help in need are on every page.
_NUMBER = re.compile(r"\b(?!(?:911|988)\b)\d+(?:[./-]\d+)+\b|\b(?!(?:911|988)\b)\d{2,}\b")
#: Fewest words on file of a sentence that is borne out, and the same beside a number on file.
_WORDS, _BESIDE_NUMBER = 2, 1
#: The most words of it that are not on file, to each that is.
_STRANGE = 2 / 3


class Strange(str):
    """What is doubted of a text for a word of it, or several, that stand nowhere.

    Attributes:
        words: The word, or several.
    """

    words: str

    def __new__(cls, what: str, words: str) -> Self:
        """Make one of what is doubted and the words for which it is."""
        made = super().__new__(cls, f"{what}: {words}")
        made.words = words
        return made


class Slight(Strange):
    """The same of a word that may be another one for what is on file."""


def still_doubted(found: Iterable[str], text: str, seen: Seen) -> Iterator[str]:
    """Yield of what is doubted of a text what the sentence around it does not bear out.

    Args:
        found: What is doubted.
        text: The text, as it was written.
        seen: What could be seen.
    """
    for doubted in found:
        if not (
            isinstance(doubted, Slight) and _is_borne_out(text.casefold(), doubted.words, seen)
        ):
            yield doubted


def _is_borne_out(text: str, words: str, seen: Seen) -> bool:
    sentences = [each for each in _SENTENCE.findall(text) if words in each]
    return bool(sentences) and all(_stands(each, seen) for each in sentences)


def _stands(sentence: str, seen: Seen) -> bool:
    """Return whether most of what a sentence names stands on file."""
    free = desk_words(seen.pages)
    named = {
        word
        for word in _WORD.findall(sentence)
        if word not in free and "joining" not in kinds(word)
    }
    known = sum(map(seen.has, named))
    flat = f" {seen.texts.flat} "
    dated = any(f" {flattened(each)} " in flat for each in _NUMBER.findall(sentence))
    if dated and known >= _BESIDE_NUMBER:
        return True
    return known >= _WORDS and len(named) - known <= _STRANGE * known
