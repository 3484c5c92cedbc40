"""From a message to words: spelling evened out, contractions spread, slips of one letter mended."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import IntFlag

from healthgym.worlds.managed_care.apps.care_management.wording import LONGEST_MESSAGE

#: Letters from which a word is long enough to be told in spite of a slip.
LONG = 6
#: Letters beyond which nothing is a word.
_LONGEST = 20
_TOKEN = re.compile(r"[ap]\.m\b|[a-z0-9][a-z0-9_]*(?:[.,/:-][0-9]+)*(?:'[a-z]+)?|[^a-z0-9\s]|\n")
#: Words in single quotation marks, which apostrophes within words are not.
_SINGLE = re.compile(r"(?<![a-z0-9])'(?=[a-z0-9])([^\n]{1,200}?)(?<=[a-z0-9.,!?])'(?![a-z0-9])")
_SPELLINGS = str.maketrans(
    {
        "\u2018": "'",
        "\u2019": "'",
        "\u02bc": "'",
        "\u00b4": "'",
        "\u201c": '"',
        "\u201d": '"',
        "\u201e": '"',
        "\u00ab": '"',
        "\u00bb": '"',
        "\u2014": " ; ",
        "\u2013": " ; ",
        "\u2026": ". ",
    }
)
_OPENS, _CLOSES = "([{<", ")]}>"


class Break(IntFlag):
    """What stands between a word and the one before it."""

    NONE = 0
    COMMA = 1
    STOP = 2  #: the end of a sentence, or of what might be one
    ASKED = 4  #: a question mark
    COLON = 8  #: what announces what follows


@dataclass(frozen=True, slots=True)
class Words:
    """The words of a message.

    Attributes:
        words: The words in small letters, in order; fillers are left out.
        breaks: What stands before each word, and after the last one.
        quoted: One bit a word: whether it stands in quotation marks.
        aside: One bit a word: whether it stands in brackets.
        entered: One bit a word: whether the brackets are those of a record or a command.
    """

    words: tuple[str, ...]
    breaks: tuple[int, ...]
    quoted: int
    aside: int
    entered: int

    @property
    def announced(self) -> int:
        """The words after a colon."""
        colon = int(Break.COLON)
        return sum(1 << place for place, mark in enumerate(self.breaks) if mark & colon)


@dataclass(frozen=True, slots=True, kw_only=True)
class Spelling:
    """What is known of how words are written.

    Attributes:
        spread: Words that stand for several: contractions, with and without their apostrophe.
        fillers: Words that change nothing.
        titles: Words after which a full stop ends no sentence.
        known: Words that are right as they stand.
        right: Words of English that say nothing here, one letter from a word that does: a massage
            is no message.
        same: Each of them as the one object that the grammar has of it.
        slips: The long words of the grammar by what is left of them without one letter.
    """

    spread: Mapping[str, tuple[str, ...]]
    fillers: frozenset[str]
    titles: frozenset[str]
    known: frozenset[str]
    right: frozenset[str]
    same: Mapping[str, str]
    slips: Mapping[str, str]

    def mended(self, word: str) -> str:
        """Return the long word of the grammar that a word with one wrong letter stands for."""
        right = word in self.known or word in self.right
        if right or not LONG <= len(word) <= _LONGEST or not word.isalpha():
            return word
        shorter = (word[:place] + word[place + 1 :] for place in range(1, len(word)))
        for left in (word, *shorter):
            found = self.slips.get(left) or (left if left in self.known else "")
            # A letter too many, one missing, one wrong, or two that changed places.
            if len(found) >= LONG and abs(len(found) - len(word)) <= 1:
                return found
        return word


def slips_of(words: Iterable[str]) -> dict[str, str]:
    """Return long words by what is left of them without one letter that is not the first."""
    made: dict[str, str] = {}
    for word in sorted(words):
        if LONG <= len(word) <= _LONGEST and word.isalpha():
            for place in range(1, len(word)):
                made.setdefault(word[:place] + word[place + 1 :], word)
    return made


def even(message: str) -> str:
    """Return a message in small letters and plain marks, cut where nobody listens any more."""
    text = message[:LONGEST_MESSAGE]
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text.translate(_SPELLINGS)).translate(_SPELLINGS)
    text = text[:LONGEST_MESSAGE].lower().strip()
    if "'" in text:
        text = _SINGLE.sub(r'"\1"', text)
    if text[:1] == '"' == text[-1:] and text.count('"') == 2:
        text = text[1:-1]  # Who writes what they say in quotation marks says it.
    return text.replace(" - ", " ; ").replace("--", " ; ").replace("all right", "okay")


class _Reader:
    """Goes through the tokens of a message once."""

    def __init__(self, spelling: Spelling) -> None:
        self.spelling = spelling
        self.words: list[str] = []
        self.breaks: list[int] = [int(Break.STOP)]
        self.quoted = self.aside = self.entered = 0
        self.in_quotes = False
        self.open = ""

    def mark(self, token: str, written: str) -> None:
        """Take note of a token that is no word.

        Args:
            token: The token.
            written: The last word as it was written: "dr." goes on, and "doctor." ends.
        """
        if token in ".!;\n":
            if token == "." and written in self.spelling.titles:
                return
            self.breaks[-1] |= int(Break.STOP)
        elif token == "?":
            self.breaks[-1] |= int(Break.STOP | Break.ASKED)
        elif token == ",":
            self.breaks[-1] |= int(Break.COMMA)
        elif token == ":":
            self.breaks[-1] |= int(Break.COMMA | Break.COLON)
        elif token == '"':
            self.in_quotes = not self.in_quotes
        elif token in _OPENS:
            self.open = self.open if self.open in _OPENS[1:] and self.open else token
            self.breaks[-1] |= int(Break.COMMA)
        elif self.open and token == _CLOSES[_OPENS.index(self.open)]:
            self.open = ""
            self.breaks[-1] |= int(Break.COMMA)

    def word(self, word: str) -> None:
        """Take note of a word."""
        if self.in_quotes:
            self.quoted |= 1 << len(self.words)
        if self.open:
            self.aside |= 1 << len(self.words)
            self.entered |= (self.open != "(") << len(self.words)
        self.words.append(word)
        self.breaks.append(0)


def words_of(text: str, spelling: Spelling) -> Words:
    """Return the words of a message.

    Args:
        text: The message, made even.
        spelling: What is known of how words are written.
    """
    reader = _Reader(spelling)
    spread, fillers, same = spelling.spread, spelling.fillers, spelling.same
    words, breaks = reader.words, reader.breaks
    plain, written = True, ""
    for token in _TOKEN.findall(text):
        word = same.get(token)
        if plain and word is not None:  # as most are
            written = token
            words.append(word)
            breaks.append(0)
            continue
        if not token[0].isalnum():
            reader.mark(token, written)
            plain = not (reader.in_quotes or reader.open)
            continue
        written = token
        if word is not None:
            reader.word(word)
        elif token in spread:
            for each in spread[token]:
                reader.word(each)
        elif token not in fillers:
            for each in _unknown(token, spelling):
                reader.word(each)
    return Words(
        words=tuple(reader.words),
        breaks=tuple(reader.breaks),
        quoted=reader.quoted,
        aside=reader.aside,
        entered=reader.entered,
    )


def heard_words(message: str, spelling: Spelling) -> Words:
    """Return the words of a message as it was written.

    Args:
        message: Any text.
        spelling: What is known of how words are written.
    """
    return words_of(even(message), spelling)


def _unknown(token: str, spelling: Spelling) -> tuple[str, ...]:
    """Return the words of a token that is not in the grammar."""
    stem, mark, tail = token.partition("'")
    if mark and tail == "s":
        tail = ""  # Whose it is, or short for is; no pattern needs to know which.
    if tail in spelling.spread:
        return (*_unknown(stem, spelling), *spelling.spread[tail])
    if stem in spelling.fillers:
        return ()
    mended = spelling.mended(stem)
    return spelling.spread.get(mended, (mended,))
