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
    desk_stems,
    everyday,
    kinds,
    stands,
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
_LEAST_LETTERS = 4
#: Characters of a text whose reading is kept: of such a one there are few enough.
LONGEST = 600
#: Texts are read alike that differ by nothing but numbers, or the kind of an apostrophe.
_ALIKE = str.maketrans("123456789’", "000000000'")
_KEPT = 8192
#: Kinds of words of other desks' readers: of somebody, and of private life.
_MATTERS = frozenset({"private", "conduct"})
#: Kinds of words that matter wherever they stand.
_LOUD = frozenset(
    {"bare", "cue", "gift", "grave", "misdeed", "person", "thing", "trait", "work", "past"}
)
#: Kinds of words that are no thing that a file would have.
_NO_THINGS = frozenset({"allowed", "bodily", "ends", "harmless", "mild", "past", "taught"})
#: What a word is to those around it, as bits: it speaks of what follows as known, it ends what was
#: spoken of so, it speaks of one more of what follows, and there may be one more of it.
_OPENS, _ENDS, _REPEATS, _ROUTINE = 1, 2, 4, 8
_PARTS = {"ends": _ENDS, "repeats": _REPEATS, "routine": _ROUTINE}
#: Words without which nothing is spoken of as known, or as one more, but by an owner.
_OPENERS = _DETERMINERS | {"another", "second", "third", "fourth", "fifth"}


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


@cache
def same() -> Mapping[str, tuple[str, ...]]:
    """Return other words for somebody, by the word."""
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


def is_matter(word: str) -> bool:
    """Return whether a word is one for what happens to somebody, is theirs, or is private."""
    here = own(word)
    return bool(here & {"event", "thing"}) or _is_private(word)


def _is_private(word: str) -> bool:
    return bool(kinds(word) & _MATTERS) and "harmless" not in own(word)


def is_ill(word: str) -> bool:
    """Return whether a word is one for an illness, a symptom or a treatment."""
    return "clinical" in kinds(word) and "bodily" not in own(word)


def is_thing(word: str) -> bool:
    """Return whether a word may be one for something that an office has no part in."""
    if len(word) < _LEAST_LETTERS or own(word) & _NO_THINGS or not word.isascii():
        return False
    return not stands(word, desk_stems(PAGES))


def is_strange(word: str) -> bool:
    """Return whether neither the office nor everyday language nor what is taught has a word."""
    if not word[:1].isalpha():
        return False  # days and numbers are looked up as what they are
    return is_thing(word) and not kinds(word) and not everyday(word)


def is_past(word: str) -> bool:
    """Return whether a word is the past of what not everybody does here."""
    return _has_past(word) and "allowed" not in own(word)


def is_done(word: str) -> bool:
    """Return whether a word is the past of what is more than talk on the phone."""
    return _has_past(word) and "talk" not in own(word)


def _has_past(word: str) -> bool:
    regular = word.endswith("ed") and not word.endswith("eed")
    return regular or "past" in own(word)


# -- texts that take nothing for granted -------------------------------------------------------


def is_plain(text: str) -> bool:
    """Return whether no word of a text can take anything for granted."""
    return _is_plain(text.translate(_ALIKE))


@short_text_cache(4096, LONGEST)
def _is_plain(text: str) -> bool:
    """Return the same of a text with numbers as zeros."""
    text = text.casefold()
    words = _WORD.findall(text)
    if not words or any(map(_is_loud, words)) or is_done(words[0]) or "st time" in text:
        return not words  # figures tell nothing here
    if _OPENERS.isdisjoint(words) and "'" not in text:
        return True
    left, before = 0, 0
    for word in words:
        part = _part(word)
        if before & _REPEATS and not part & _ROUTINE:
            return False
        left = 0 if part & _ENDS else left
        if left and _is_known(word):
            return False
        left = REACH if part & _OPENS else left - 1 if left else 0
        before = part
    return True


@lru_cache(_KEPT)
def _is_loud(word: str) -> bool:
    """Return whether a word matters wherever it stands."""
    name = word.removesuffix("'s").rstrip("'-")
    if own(name) & _LOUD or is_past(name) or _is_private(name):
        return True
    return is_person(name, definite=False)


@lru_cache(_KEPT)
def _part(word: str) -> int:
    """Return what a word is to those around it, as a number, which is sooner asked."""
    name = word.removesuffix("'s").rstrip("'-")
    here = own(name)
    found = sum(part for kind, part in _PARTS.items() if kind in here)
    return found | _OPENS if name != word or word in _DETERMINERS else found


@lru_cache(_KEPT)
def _is_known(word: str) -> bool:
    """Return whether a word matters where it is spoken of as known."""
    name = word.removesuffix("'s").rstrip("'-")
    return is_person(name, definite=True) or is_matter(name) or is_ill(name) or is_strange(name)


# -- data --------------------------------------------------------------------------------------


@cache
def _kinds() -> WordsByKind:
    rows: Mapping[str, list[str]] = dict(_data()["kinds"])
    return WordsByKind(rows)


@cache
def _data() -> JsonObject:
    text = (files(__package__) / "data" / "taken_for_granted.json").read_text("utf-8")
    return dict(json.loads(text))
