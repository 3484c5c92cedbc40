"""Words and expressions by which a text takes something for granted.

``data/taken_for_granted.json`` has the kinds of words, other words for the same person, and the
expressions. Most texts have no word of a kind that matters, which is found by one look at each.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import cache, lru_cache
from importlib.resources import files

from healthgym.core.borders import JsonObject
from healthgym.core.cache import short_text_cache
from healthgym.worlds.managed_care.claim_words import (
    WordsByKind,
    kinds,
)
from healthgym.worlds.managed_care.expressions import Expression

#: Folders of the handbook whose words are this desk's own.
PAGES = ("care-manager", "platform")
#: How many words behind one that speaks of something as known belong to it.
REACH = 3
#: Words that are looked up are no longer than this; what is longer is none.
_LONG = 40
_WORD = re.compile(rf"\b[a-zé][a-zé'-]{{0,{_LONG - 1}}}\b")
_DETERMINERS = frozenset(
    {"the", "this", "these", "those", "his", "her", "their", "my", "our", "its", "both"}
)
#: Characters of a text whose reading is kept: of such a one there are few enough.
LONGEST = 600
#: Texts are read alike that differ by nothing but numbers, or the kind of an apostrophe.
_ALIKE = str.maketrans("123456789’", "000000000'")
_KEPT = 8192
#: Kinds of words that matter wherever they stand.
_LOUD = frozenset({"bare", "cue", "gift", "grave", "misdeed", "person", "thing", "trait", "work"})


def own(word: str) -> frozenset[str]:
    """Return the kinds that a word, in small letters, is of here; most are of none."""
    return _own(word) if len(word) <= _LONG else frozenset()


@lru_cache(_KEPT)
def _own(word: str) -> frozenset[str]:
    return _kinds().kinds(word)


@cache
def form(name: str) -> Expression:
    """Return the expression of a name."""
    return Expression(_data()["forms"][name])


def other_words(word: str) -> tuple[str, ...]:
    """Return other words for somebody."""
    return _same().get(word, ())


@cache
def _same() -> Mapping[str, tuple[str, ...]]:
    return {row[0]: tuple(row[1:]) for row in _data()["same"]}


def opens(word: str) -> bool:
    """Return whether a word speaks of what follows as known."""
    return word in _DETERMINERS


def is_person(word: str, *, definite: bool) -> bool:
    """Return whether a word is one for somebody who is not anybody's.

    Who is called by a field, or by what a desk deals with, is so only as somebody in particular.
    """
    here = own(word)
    if here & {"person", "taught"}:
        return "person" in here
    shared = kinds(word)
    return ("kin" in shared or (definite and "others" in shared)) and "free" not in here


def is_ill(word: str) -> bool:
    """Return whether a word is one for an illness, a symptom or a treatment."""
    return "clinical" in kinds(word) and "bodily" not in own(word)


def is_done(word: str) -> bool:
    """Return whether a word is the past of what is more than talk on the phone."""
    here = own(word)
    regular = word.endswith("ed") and not word.endswith("eed")
    return (regular or "past" in here) and "talk" not in here


# -- texts that take nothing for granted -------------------------------------------------------


def is_plain(text: str) -> bool:
    """Return whether no word of a text can take anything for granted."""
    return _is_plain(text.translate(_ALIKE))


@short_text_cache(4096, LONGEST)
def _is_plain(text: str) -> bool:
    """Return the same of a text with numbers as zeros."""
    text = text.casefold()
    words = _WORD.findall(text)
    if not words or any(map(_is_loud, words)) or is_done(words[0]):
        return not words  # figures tell nothing here
    if _DETERMINERS.isdisjoint(words) and "'" not in text:
        return True
    left = 0
    for word in words:
        name, ends = _part(word)
        left = 0 if ends else left
        if left and is_person(name, definite=True):
            return False
        left = REACH if name != word or word in _DETERMINERS else left - 1 if left else 0
    return True


@lru_cache(_KEPT)
def _is_loud(word: str) -> bool:
    """Return whether a word matters wherever it stands."""
    name = word.removesuffix("'s").rstrip("'-")
    return bool(own(name) & _LOUD) or is_person(name, definite=False)


@lru_cache(_KEPT)
def _part(word: str) -> tuple[str, bool]:
    """Return a word without an owner's ending, and whether it ends what was spoken of as known."""
    name = word.removesuffix("'s").rstrip("'-")
    return name, "ends" in own(name)


# -- data --------------------------------------------------------------------------------------


@cache
def _kinds() -> WordsByKind:
    rows: Mapping[str, list[str]] = dict(_data()["kinds"])
    return WordsByKind(rows)


@cache
def _data() -> JsonObject:
    text = (files(__package__) / "data" / "taken_for_granted.json").read_text("utf-8")
    return dict(json.loads(text))
