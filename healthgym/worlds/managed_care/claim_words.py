"""Words by kind: what names a fact, somebody, a deed or a day, and what names nothing.

``data/claim_words.json`` has the kinds; everyday language is what people say on the phone here, and
``data/plain_words.txt``: words of any office that name no fact, nobody and no event.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from enum import StrEnum
from functools import cache
from importlib.resources import files

from healthgym.core.cache import short_text_cache
from healthgym.worlds.managed_care.conversation.ears.grammar import spelling
from healthgym.worlds.managed_care.vocabulary import authorization, care

_WORD = re.compile(r"[A-Za-z][A-Za-z'-]*[A-Za-z]|[A-Za-z]")
#: Letters by which forms of a word are known for one.
STEM = 5
_LEAST_LETTERS = 4
#: Fewest letters of what a word may be a form of.
_LEAST_BASE = 3
#: Endings of forms of a word, each with what stands in its place, and beginnings that turn it.
_ENDINGS = (
    ("s", ""), ("es", ""), ("d", ""), ("ed", ""), ("ing", ""), ("ing", "e"), ("ly", ""),
    ("ies", "y"), ("ied", "y"), ("er", ""), ("est", ""), ("ness", ""), ("iness", "y"),
)  # fmt: skip
#: Endings of words for what something is like, or for doing: no thing that a file would have.
_ABSTRACT = re.compile(
    r"\w{3,}(?:ity|ities|[st]ions?|ness|less|ful|fully|ments?|[ae]nc(?:e|es|y)|ive|ively|ous|ously|"
    r"[ai]bl[ey]|ical|ically|ally|wise|wards?|hood|ship)"
)
_BEGINNINGS = ("un", "re", "over", "mis", "dis", "in", "non")
_FREE_OF_POLICIES = (
    "that this which what they them there with from have been does must criteria criterion "
    "document documents documented documentation record records evidence chart packet notes "
    "review reviewed clinical nurse physician shown show proof member patient service request "
    "requested medical necessity necessary version page case each every more than only also "
    "here such would could should same other both these those when where approve deny to of the "
    "a an in on for be is it by or and not no all any as at its i me who per least most minimum "
    "maximum within fewer less longer shorter under over one up down authorization approval level "
    "way reserve reserves nothing stage"
)


class WordsByKind:
    """The kinds of words; a row is a word, or a beginning or an end with a star beside it.

    There are far more rows than lengths of them: a word is looked up whole, and by each beginning
    and end that it has of such a length.
    """

    def __init__(self, rows: Mapping[str, Iterable[str]]) -> None:
        self._whole: dict[str, set[str]] = {}
        self._begins: dict[str, set[str]] = {}
        self._ends: dict[str, set[str]] = {}
        for kind, row in ((kind, row) for kind, each in rows.items() for row in each):
            place = self._whole
            if row.startswith("*"):
                place = self._ends
            elif row.endswith("*"):
                place = self._begins
            place.setdefault(row.strip("*"), set()).add(kind)
        self._begun = sorted(set(map(len, self._begins)))
        self._ended = sorted(set(map(len, self._ends)))

    def kinds(self, word: str) -> frozenset[str]:
        """Return the kinds that a word, in small letters, is of."""
        found = [self._whole.get(word)]
        found += [self._begins.get(word[:letters]) for letters in self._begun]
        found += [self._ends.get(word[-letters:]) for letters in self._ended]
        return frozenset().union(*filter(None, found))


@short_text_cache(8192, 60)
def kinds(word: str) -> frozenset[str]:
    """Return the kinds that a word, in small letters, is of; most are of none."""
    return _lexicon().kinds(word)


def kind(name: str, word: str) -> bool:
    """Return whether a word, in small letters, is of a kind."""
    return name in kinds(word)


@cache
def all_of(name: str) -> frozenset[str]:
    """Return the words of a kind that stand for themselves alone."""
    return frozenset(row for row in _table()[name] if "*" not in row)


@cache
def _lexicon() -> WordsByKind:
    return WordsByKind(_table())


@cache
def _table() -> Mapping[str, tuple[str, ...]]:
    folder = files("healthgym.worlds.managed_care") / "data"
    rows = dict(json.loads((folder / "claim_words.json").read_text("utf-8")))
    rows["everyday"] += (folder / "plain_words.txt").read_text("utf-8").split()
    return {name: tuple(words) for name, words in rows.items()}


@short_text_cache(8192, 60)
def everyday(word: str) -> bool:
    """Return whether a word, or what it is a form of, is one of everyday language.

    Words for qualities and for doing are, by their endings; what is a fact is of another kind.
    """
    if _ABSTRACT.fullmatch(word):
        return True
    written = spelling()
    known = (written.known, written.fillers, written.spread)
    forms = _bases(word)
    forms |= {
        each.removeprefix(start)
        for each in forms
        for start in _BEGINNINGS
        if each.startswith(start) and len(each) >= len(start) + _LEAST_LETTERS
    }
    if "-" in word:
        return all(len(part) < _LEAST_LETTERS or everyday(part) for part in word.split("-"))
    return any(kind("everyday", each) or any(each in words for words in known) for each in forms)


def _bases(word: str) -> set[str]:
    """Return a word, and what it may be a form of."""
    forms = {word}
    forms |= {word.removesuffix(end) + put for end, put in _ENDINGS if word.endswith(end)}
    return forms | {
        each[:-1] for each in forms if len(each) > _LEAST_LETTERS and each[-1:] == each[-2:-1]
    }


@short_text_cache(8192, 60)
def inflected(word: str) -> frozenset[str]:
    """Return a word in all its regular forms: who says "I drink" drinks, and was drinking."""
    found = {word}
    for base in _bases(word):
        if len(base) < _LEAST_BASE:
            continue
        short = base.removesuffix("e") if base.endswith("e") else base
        soft = f"{base[:-1]}i" if base.endswith("y") else short
        found |= {base, f"{base}s", f"{short}es", f"{soft}es", f"{short}ed", f"{soft}ed"}
        found |= {f"{short}ing", f"{base}{base[-1]}ing", f"{base}{base[-1]}ed"}
    return frozenset(found)


def contracted(word: str) -> bool:
    """Return whether a word is short for several that name nothing, as "doesn't" is."""
    return "'" in word and word in spelling().spread


@cache
def _desk(pages: tuple[str, ...]) -> str:
    """What an office prints: its pages of the handbook, the letters, and the terms of its forms."""
    root = files("healthgym.worlds.managed_care")
    folders = [root / "data" / "letters"]
    folders += [root.joinpath("handbook", "pages", *name.split("/")) for name in pages]
    terms = (one for each in (authorization, care) for one in vars(each).values())
    found = [
        str(member).replace("_", " ")
        for term in terms
        if isinstance(term, type) and issubclass(term, StrEnum)
        for member in term
    ]
    while folders:
        for each in folders.pop().iterdir():
            if each.is_dir():
                folders.append(each)
            elif each.name.endswith((".md", ".json")):
                found.append(each.read_text("utf-8"))
    return "\n".join(found)


@cache
def desk_words(pages: tuple[str, ...]) -> frozenset[str]:
    """Return the words that an office prints."""
    return frozenset(small(_desk(pages)))


@cache
def desk_stems(pages: tuple[str, ...]) -> frozenset[str]:
    """Return the beginnings of the words that an office prints."""
    return stems(_desk(pages))


@cache
def free_of_policies() -> frozenset[str]:
    """Return the beginnings of what may be said of any policy."""
    return stems(_FREE_OF_POLICIES)


def small(text: str) -> list[str]:
    """Return the words of a text in small letters, in their order."""
    return [word.casefold().removesuffix("'s") for word in _WORD.findall(text)]


def stems(text: str) -> frozenset[str]:
    """Return the beginnings of the words of a text."""
    return frozenset(word[:STEM] for word in small(text))


def stands(word: str, known: frozenset[str]) -> bool:
    """Return whether a word, or each part of a compound, begins as a known one does."""
    parts = word.split("-")
    return word[:STEM] in known or (len(parts) > 1 and all(part[:STEM] in known for part in parts))
