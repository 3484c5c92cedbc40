"""What can be said of a person in a free text, and whether it is claimed, denied or left open.

Symptoms, illnesses, circumstances and deeds have names and words (``data/claims.json``); what has
none claims nothing here.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from importlib.resources import files
from operator import attrgetter, itemgetter
from typing import NamedTuple

from healthgym.core.cache import short_text_cache
from healthgym.worlds.managed_care.conversation.ears.grammar import grammar
from healthgym.worlds.managed_care.voices import Topic

#: Kinds of words in the data besides the claims.
_WORDS = ("negates", "denied", "hedges", "opened", "doubled", "turns", "now")
#: What ends a sentence, and sentences with their ends.
MARKS = ".!?;\n"
SENTENCE = re.compile(r"[^.!?;\n]+[.!?;\n]*")
#: The same up to the first mark of an end: no claim reaches beyond one.
_ENDED = re.compile(r"[^.!?;\n]*[.!?;\n]|[^.!?;\n]+")
#: Numbers but for none claim nothing: sentences are read alike that differ by nothing else.
_NUMBERS = str.maketrans("23456789", "1" * 8)
#: Groups that may be left out or have several ways, letters and classes that may be left out, and
#: the letters that are left without them.
_GROUP = re.compile(r"\(\?[:!=<][^()]*\)[?*+]?")
_OPTIONAL = re.compile(r"[a-z0-9 -]\?|\\[wbd][+*]?|\[[^\]]*\][?*+]?")
_WAYS = re.compile(r"\(\?:([^()]*)\)(?![?*+])")
_LITERAL = re.compile(r"[a-z0-9'-][a-z0-9' -]*")
#: What stands in the place of what may be left out, and fewest letters by which one looks.
_GAP, _LETTERS = "\N{NULL}", 3
#: First words of names of medicines that are words of the kitchen, too.
_KITCHEN = frozenset(
    {"artificial", "calcium", "eye", "ferrous", "fish", "folic", "iron", "magnesium"}
    | {"potassium", "sodium", "vitamin", "zinc"}
)


class Stance(StrEnum):
    """How something is said."""

    CLAIMED = "claimed"
    DENIED = "denied"
    OPEN = "open"  #: asked, feared, supposed


@dataclass(frozen=True, slots=True)
class Form:
    """A way to say something.

    Attributes:
        part: Letters that are in every match, by which places are found without a pattern.
        words: The pattern.
    """

    part: str
    words: re.Pattern[str]

    @classmethod
    def all_of(cls, text: str) -> tuple[Form, ...]:
        """Return what a pattern of the data stands for; several where its beginning is open.

        Raises:
            ValueError: If no letters are in every match, so that it cannot be looked up.
        """
        plain = text
        while (bare := _GROUP.sub(_GAP, plain)) != plain:
            plain = bare
        parts = [part.strip() for part in _LITERAL.findall(_OPTIONAL.sub(_GAP, plain))]
        part = max(parts, key=len, default="")
        if len(part) >= _LETTERS:
            return (cls(part, re.compile(rf"(?<![\w-])(?:{text})(?![\w-])")),)
        group = _WAYS.search(text)
        if group is None:
            raise ValueError(f"{text!r} has no letters that are in every match.")
        before, behind = text[: group.start()], text[group.end() :]
        ways = (f"{before}{way}{behind}" for way in group[1].split("|"))
        return tuple(form for way in ways for form in cls.all_of(way))


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """Something that can be said of a person.

    Attributes:
        name: What it is called.
        forms: The ways to say it.
        codes: How the ICD-10-CM codes begin that a chart has of it.
        topics: Subjects of which the person says it by saying yes.
        items: Questions of instruments by which they say it, as topic and number.
    """

    name: str
    forms: tuple[Form, ...]
    codes: tuple[str, ...]
    topics: frozenset[Topic]
    items: frozenset[tuple[Topic, str]]


@dataclass(frozen=True, slots=True)
class Said:
    """A claim as it stands in a text.

    Attributes:
        claim: What is said.
        stance: How.
        now: Whether it is said of these days, which no page of the chart can know.
    """

    claim: Claim
    stance: Stance
    now: bool


class _Way(NamedTuple):
    """A way to say a claim, and its place among all of them."""

    place: int
    claim: Claim
    form: Form


class _Ways:
    """All ways to say any of some claims, by the letters of each.

    Nearly all of hundreds are not in a text, and each text is looked through for all: a way is
    looked for where its first letters are.
    """

    def __init__(self, claims: Iterable[Claim]) -> None:
        ways = ((claim, form) for claim in claims for form in claim.forms)
        self.all = tuple(_Way(place, *way) for place, way in enumerate(ways))
        self._begun: dict[tuple[str, ...], list[_Way]] = {}
        for way in self.all:
            self._begun.setdefault(tuple(way.form.part[:_LETTERS]), []).append(way)

    def within(self, text: str) -> Iterator[_Way]:
        """Yield the ways whose letters a text, in small letters, has."""
        begun = self._begun.keys() & zip(*(text[at:] for at in range(_LETTERS)), strict=False)
        near = (way for each in begun for way in self._begun[each])
        return (way for way in near if way.form.part in text)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)  # there is one
class Lexicon:
    """The claims, and the words that make none of them.

    Attributes:
        ways: All ways to say any of the claims.
        negates: What denies what follows in a sentence.
        denied: What denies what stands before.
        hedges: What leaves open what follows.
        opened: What leaves open what stands before: "bleeding risk", "swelling to watch".
        doubled: What denies that something is missing.
        turns: Up to where something is denied or left open.
        now: What says that something is so these days.
    """

    ways: _Ways
    negates: re.Pattern[str]
    denied: re.Pattern[str]
    hedges: re.Pattern[str]
    opened: re.Pattern[str]
    doubled: re.Pattern[str]
    turns: re.Pattern[str]
    now: re.Pattern[str]

    def found(self, text: str) -> tuple[Said, ...]:
        """Return what a text says, and how."""
        sentences = _ENDED.findall(text.lower().translate(_NUMBERS))
        said = [each for sentence in sentences for each in self._read(sentence)]
        said.sort(key=itemgetter(0))
        return tuple(each for _, each in said)

    def claims(self, text: str, claim: Claim) -> bool:
        """Return whether a text claims something."""
        flat = text.lower()
        forms = [form for form in claim.forms if form.part in flat]
        sentences = _ENDED.findall(flat) if forms else ()
        return any(
            form.part in each and Stance.CLAIMED in self._stances(each, form)
            for each in sentences
            for form in forms
        )

    @short_text_cache(2048, 400)  # a sentence stands in many texts
    def _read(self, sentence: str) -> tuple[tuple[int, Said], ...]:
        """Return what a sentence says, each with the place of the way to say it."""
        ways = sorted(self.ways.within(sentence), key=attrgetter("place"))
        now = bool(ways and self.now.search(sentence))
        return tuple(
            (place, Said(claim, stance, now))
            for place, claim, form in ways
            for stance in self._stances(sentence, form)
        )

    def _stances(self, sentence: str, form: Form) -> Iterator[Stance]:
        """Yield how a sentence says something, each time that it does."""
        return (self.stance(sentence, *hit.span()) for hit in form.words.finditer(sentence))

    def stance(self, sentence: str, start: int, end: int) -> Stance:
        """Return how something is said at a place of a sentence."""
        turns = [each.end() for each in self.turns.finditer(sentence, 0, start)]
        before = sentence[turns[-1] if turns else 0 : start]
        turned = self.turns.search(sentence, end)
        behind = sentence[end : turned.start() if turned else len(sentence)]
        if self.doubled.search(before):
            return Stance.CLAIMED
        if self.negates.search(before) or self.denied.search(behind):
            return Stance.DENIED
        asked = sentence.endswith("?") or self.hedges.search(before) or self.opened.search(behind)
        return Stance.OPEN if asked else Stance.CLAIMED


@cache
def lexicon() -> Lexicon:
    """Return the claims, read once."""
    loaded = json.loads((files(__package__) / "data" / "claims.json").read_text("utf-8"))
    claims = tuple(
        Claim(
            name=row["claim"],
            forms=tuple(form for text in row["say"] for form in Form.all_of(text)),
            codes=tuple(row.get("codes", ())),
            topics=frozenset(map(Topic, row.get("topics", ()))),
            items=frozenset(map(_item, row.get("items", ()))),
        )
        for row in loaded["claims"]
    )
    return Lexicon(
        ways=_Ways(claims),
        **{key: re.compile(loaded[key]) for key in _WORDS},
    )


def _item(text: str) -> tuple[Topic, str]:
    topic, _, number = text.partition(":")
    return Topic(topic), number


@cache
def medicine_names() -> frozenset[str]:
    """Return the first words of the names of medicines."""
    return frozenset(name.split()[0] for name in grammar().medicines) - _KITCHEN
