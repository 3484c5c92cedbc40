"""Words of a turn: split into clauses, written one way, and compared by their stems."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

from healthgym.core.cache import short_text_cache

_CONTRACTED = (
    (re.compile(r"\bwon't\b"), "will not"),
    (re.compile(r"\bcan't\b|\bcannot\b"), "can not"),
    (re.compile(r"n't\b"), " not"),
    (re.compile(r"'re\b"), " are"),
    (re.compile(r"'m\b"), " am"),
    (re.compile(r"'ll\b"), " will"),
    (re.compile(r"'ve\b"), " have"),
    (re.compile(r"'d\b"), " would"),
    (re.compile(r"\b(let|it|that|there|here|what|who|how|when|where|she|he)'s\b"), r"\1 is"),
    (re.compile(r"'s\b"), ""),
)
_CRITERION = re.compile(
    r"\b(?:criterion|criteria|number|item|point)\s*(?:no\.?|number|#|nr\.?)?\s*c?(\d{1,2})\b"
    r"|\bc\s?[-.]?\s?0*(\d{1,2})\b"
)
#: What parts clauses: what is set aside in one may be asked for in the next.
_BREAK = re.compile(r"[.;:!?\n,]|\s-+\s|\u2014|\u2013|\bbut\b|\binstead\b(?! of)")
_IN_NUMBER = re.compile(r"(?<=\d)[.,](?=\d)")
_NAMED = re.compile(r"criterion(\d+)")
_CAPITALS = re.compile(r"\b[A-Z0-9]{2,}\b")
_WORD = re.compile(r"[a-z0-9]+(?:[./][a-z0-9]+)*")
_MARKED = re.compile(r"[a-z0-9]+(?:[./][a-z0-9]+)*|[?:!]")
_DASH = re.compile(r"(?<=\w)[-\u2010\u2011](?=\w)")
_ARTICLES = frozenset({"the", "this", "that", "your", "my", "our", "a", "each"})
_STOP = frozenset(
    {
        "of",
        "the",
        "a",
        "an",
        "to",
        "for",
        "at",
        "on",
        "in",
        "with",
        "or",
        "and",
        "by",
        "from",
        "about",
        "one",
        "most",
        "any",
        "same",
    }
)
_ENDINGS = ("ings", "ing", "ers", "er", "ies", "es", "ed", "s", "e", "y")
_LEAST = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Token:
    """A word of a turn.

    Attributes:
        text: In lower case, contractions written out.
        stem: What it is compared by.
        clause: In which clause it stands, from 0.
        capital: Whether it was written in capitals.
        after_article: Whether an article stands before it.
        criterion: The number, where it names a criterion; else empty.
    """

    text: str
    stem: str
    clause: int
    capital: bool = False
    after_article: bool = False
    criterion: str = ""


@short_text_cache(512, 1000)
def tokens(message: str) -> tuple[Token, ...]:
    """Return the words of a turn.

    Args:
        message: The words as they were written.
    """
    text = _evened(message)
    capitals = {word.lower() for word in _CAPITALS.findall(text)}
    found: list[Token] = []
    for number, clause in enumerate(_clauses(_spread(text))):
        before = ""
        for word in _WORD.findall(clause):
            found.append(_token(word, number, word in capitals, before in _ARTICLES))
            before = word
    return tuple(found)


def plain(message: str) -> str:
    """Return words in lower case, contractions written out, with question marks and colons."""
    return " ".join(_MARKED.findall(_spread(_evened(message))))


def _evened(message: str) -> str:
    return unicodedata.normalize("NFKC", message).replace("\u2019", "'")


def _spread(text: str) -> str:
    """Return a text in lower case, contractions and criteria written out."""
    low = text.lower()
    if "'" in low or "cannot" in low:  # of which every contraction has one
        for pattern, written in _CONTRACTED:
            low = pattern.sub(written, low)
    low = _CRITERION.sub(lambda found: f" criterion{found[1] or found[2]} ", low)
    return _DASH.sub(" ", low)


def _clauses(text: str) -> list[str]:
    # A full stop inside a number or an abbreviation of a criterion parts nothing.
    held = _IN_NUMBER.sub("\x00", text)
    return [part.replace("\x00", ".") for part in _BREAK.split(held)]


def _token(word: str, clause: int, capital: bool, after_article: bool) -> Token:
    named = _NAMED.fullmatch(word)
    return Token(
        text=word,
        stem=stem(word),
        clause=clause,
        capital=capital,
        after_article=after_article,
        criterion=named[1] if named else "",
    )


@short_text_cache(1 << 14, 60)
def stem(word: str) -> str:
    """Return what a word is compared by: British spelling and common endings left out."""
    if word == "not":  # "notes" would have the same stem
        return "not "
    word = word.replace("ae", "e").replace("oe", "e")
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= _LEAST and len(word) > 4:
            return word[: -len(ending)]
    if len(word) == 4 and word.endswith("s") and not word.endswith("ss"):
        return word[:-1]
    return word


@short_text_cache(1 << 12, 200)
def stems(term: str) -> tuple[str, ...]:
    """Return the stems of a term's words, small words left out."""
    low = _DASH.sub(" ", unicodedata.normalize("NFKC", term).lower()).replace("'", "")
    return tuple(dict.fromkeys(stem(word) for word in _WORD.findall(low) if word not in _STOP))


@short_text_cache(1 << 14, 120)
def alike(word: str, other: str, *, least: int) -> bool:
    """Return whether two longer words differ by one letter: more, less, another, or swapped."""
    if len(other) < least or abs(len(word) - len(other)) > 1 or word[0] != other[0]:
        return False
    start = 0
    while start < min(len(word), len(other)) and word[start] == other[start]:
        start += 1
    left, right = word[start:], other[start:]
    if len(left) == len(right):
        swapped = len(left) > 1 and left[0] == right[1] and left[1] == right[0]
        return left[1:] == right[1:] or (swapped and left[2:] == right[2:])
    return left[1:] == right if len(left) > len(right) else left == right[1:]
