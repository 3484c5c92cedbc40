"""Words in other letters than a reader looks for: of other scripts, with digits in them, foreign.

An office writes English in plain letters. A letter that only looks like one of those, or a digit in
its place, is for readers that go by letters; a sentence in another language says to nobody here
what it says.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator
from functools import lru_cache

from healthgym.worlds.managed_care.claim_words import all_of, desk_words, everyday, kind

_WORD = re.compile(r"[^\W\d_]+")
#: A word in which a digit or a sign stands between letters.
_MIXED = re.compile(r"(?<![\w.@$-])(?=[\w@$]*[A-Za-z][\w@$]*[A-Za-z])[A-Za-z0-9@$]{4,}(?![\w@$-])")
#: A digit or a sign beside a letter, which most texts have nowhere; the three characters that begin
#: a code ("J45.50") are no such word.
_BESIDE = re.compile(r"[0-9@$](?:(?=[A-Za-z])|(?<=[A-Za-z][0-9@$])(?!(?<=\b[A-Z]\d)\d\b))")
#: How texts are written as bytes; half of a letter, which only garbage has, is kept as it is.
_BYTES = ("utf-8", "surrogatepass")
#: All that a plain text has, in bytes.
_ASCII = bytes(range(128))
#: Words without another mark in them.
_PLAIN = re.compile(r"[a-z]+")
_LOOKS = str.maketrans("0134578@$", "oieastbas")
#: Fewest letters by which a name is known without its accents.
_LEAST_LETTERS = 3
#: Greek letters of units, proteins and receptors.
_GREEK = frozenset("µμαβγδκλ")

#: Digits of units that stand raised.
_RAISED = "²³"
#: Of each byte what is left in plain words: a small letter or a digit, else a space.
_SPACED = bytes(each if chr(each).isalnum() and each < 128 else 32 for each in range(256))


def plain_letters(text: str) -> str:
    """Return a text without accents, in plain letters where others stand for them.

    Args:
        text: The text; letters of other scripts are left as they are.
    """
    return text if text.isascii() else _in_plain(text, _foreign(text))


def small_letters(text: str) -> str:
    """Return a text in small letters, and plain ones as :func:`plain_letters` has them."""
    if text.isascii():
        return text.casefold()
    foreign = _foreign(text)
    plain = _in_plain(text, foreign)
    if any(letter != letter.casefold() for letter in map(_plain, foreign)):
        return plain.casefold()
    # A dash or a raised digit makes every letter of a text slow to fold, and has no small form.
    return plain.encode(*_BYTES).lower().decode(*_BYTES)


def flattened(text: str) -> str:
    """Return the ASCII letters and digits of a text, with one space between words.

    Args:
        text: The text, in small letters.
    """
    # As a pattern would find them; a file is long, and bytes are gone through in one go.
    return b" ".join(text.encode("ascii", "replace").translate(_SPACED).split()).decode("ascii")


def _foreign(text: str) -> set[str]:
    """Return the letters and signs of a text that no plain one has."""
    # A file is long and has few of them: they are what is left of its bytes.
    return set(text.encode(*_BYTES).translate(None, _ASCII).decode(*_BYTES))


def _in_plain(text: str, foreign: set[str]) -> str:
    for letter in foreign:
        text = text.replace(letter, _plain(letter))
    return text


@lru_cache(4096)
def _plain(letter: str) -> str:
    if unicodedata.category(letter) == "Cf":  # seen by nobody
        return ""
    base = unicodedata.normalize("NFKD", letter)
    bare = "".join(part for part in base if not unicodedata.combining(part))
    return bare if bare.isascii() and bare.isalpha() else letter


def disguised(text: str, has: Callable[[str], bool], pages: tuple[str, ...]) -> Iterator[str]:
    """Yield words that are written so that a reader passes over them.

    Args:
        text: The text as it was written.
        has: Returns whether a word, in small letters, stands on file.
        pages: Folders of the handbook whose words are the desk's own.
    """
    for found in () if text.isascii() else _WORD.findall(text):
        word = found.casefold().rstrip(_RAISED)  # "kg/m²" has a digit at its end
        if not word.isascii() and not _GREEK.issuperset(word):
            bare = plain_letters(word)
            if not has(word) and not (len(bare) >= _LEAST_LETTERS and has(bare)):
                yield f"in letters that nobody here reads: {found}"
    for found in _MIXED.findall(text) if _BESIDE.search(text) else ():
        word = found.casefold()
        if word.isalpha() or word.isdecimal() or has(word):
            continue
        looks = word.translate(_LOOKS)
        if looks.isalpha() and (
            looks in desk_words(pages) or kind("clinical", looks) or everyday(looks)
        ):
            yield f"with digits for letters: {found}"
    for word in sorted(all_of("foreign").intersection(_PLAIN.findall(text.casefold()))):
        if not has(word):
            yield f"in another language: {word}"
