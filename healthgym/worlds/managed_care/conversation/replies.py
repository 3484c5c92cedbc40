"""What a person says, in their own words: lines by situation, drawn from the persona and the turn.

The lines are data: ``lines/*.txt``, headed by what is to be said, each line everybody's or that of
one kind of persona. ``lines/spoken.json`` has the words for scores, days and names.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Final
from zlib import crc32

import numpy as np

from healthgym.worlds.managed_care.conversation.persona import Circumstance, PersonaKind
from healthgym.worlds.managed_care.voices import Topic

_FILES: Final = ("calling.txt", "offer.txt", "telling.txt", "others.txt", "events.txt")
_SENTENCE: Final = re.compile(r"(?:^|(?<=[.?!] ))([a-z])")
_NOON: Final = 12
_EVENING: Final = 18
#: How often a line of the person's own kind is taken where there are others.
_OWN: Final = 0.7


@dataclass(frozen=True, slots=True)
class Line:
    """Something to say.

    Attributes:
        name: What it is called, among those that were said.
        text: The words, with slots in braces.
        kind: Whose words they are; None if anybody's.
        life: How somebody lives who can say it; None if anybody can.
        ready: The words as they are said, if they have no slots.
    """

    name: str
    text: str
    kind: PersonaKind | None = None
    life: Circumstance | None = None
    ready: str = ""

    def said(self, slots: Mapping[str, str]) -> str:
        """Return the words, with what stands in the slots."""
        return self.ready or sentences(self.text.format(**slots))


@dataclass(frozen=True, slots=True)
class ItemWords:
    """How an item of a questionnaire is answered.

    Attributes:
        some: Sentences with a slot for how often.
        none: Sentences that say that it never was.
    """

    some: tuple[str, ...]
    none: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Spoken:
    """Words for what is counted and named.

    Attributes:
        idioms: Ways to say how often something was: by score from 1, several words for each.
        items: What a questionnaire's item is in somebody's own words, by topic and number: how
            they say that they have it so often, and how that they do not have it.
        diagnoses: What a diagnosis is called, by the beginning of its code.
        subjects: What a subject is called.
        numbers: Numbers from 0.
        times: How often, from 0.
        months: Names of months.
        ordinals: First, second, and so on.
        weekdays: Names of days, from Monday.
        empty: Words that say nothing by themselves.
    """

    idioms: tuple[Mapping[str, tuple[str, ...]], ...]
    items: Mapping[str, Mapping[str, ItemWords]]
    diagnoses: Mapping[str, str]
    subjects: Mapping[str, str]
    numbers: tuple[str, ...]
    times: tuple[str, ...]
    months: tuple[str, ...]
    ordinals: tuple[str, ...]
    weekdays: tuple[str, ...]
    empty: frozenset[str]


@cache
def lines() -> Mapping[str, tuple[Line, ...]]:
    """Return all lines, by what is to be said."""
    found: dict[str, list[Line]] = {}
    key = ""
    for name in _FILES:
        for raw in (_folder() / name).read_text("utf-8").splitlines():
            if raw.startswith("["):
                key = raw.strip("[]")
            elif raw and not raw.startswith("#"):
                listed = found.setdefault(key, [])
                listed.append(_line(f"{key}#{len(listed)}", raw))
    return {key: tuple(listed) for key, listed in found.items()}


def _line(name: str, raw: str) -> Line:
    """Return a line, which may begin with whose it is, or how its speaker lives."""
    whose, bar, text = raw.partition("| ")
    text = text if bar else raw
    life = Circumstance(whose) if bar and whose in set(Circumstance) else None
    kind = PersonaKind(whose) if bar and life is None else None
    return Line(name, text, kind, life, "" if "{" in text else sentences(text))


@cache
def spoken() -> Spoken:
    """Return the words for what is counted and named."""
    loaded = json.loads((_folder() / "spoken.json").read_text("utf-8"))
    idioms = (
        {score: tuple(said) for score, said in idiom.items()} for idiom in loaded.pop("idioms")
    )
    items = {
        topic: {
            item: ItemWords(tuple(words["some"]), tuple(words["none"]))
            for item, words in listed.items()
        }
        for topic, listed in loaded.pop("items").items()
    }
    diagnoses, subjects = loaded.pop("diagnoses"), loaded.pop("subjects")
    empty = frozenset(loaded.pop("empty"))
    listed = {name: tuple(words) for name, words in loaded.items()}
    return Spoken(
        idioms=tuple(idioms),
        items=items,
        diagnoses=diagnoses,
        subjects=subjects,
        empty=empty,
        **listed,
    )


def _folder() -> Traversable:
    return files("healthgym.worlds.managed_care.conversation") / "lines"


@dataclass(slots=True, kw_only=True)
class Speaker:
    """Finds words in one turn.

    Attributes:
        kind: What the person is like.
        lives: How they live.
        seed: From which their wording is drawn.
        turn: Number of the turn, over all calls.
        used: Lines that they have said in this call.
    """

    kind: PersonaKind
    lives: frozenset[Circumstance] = frozenset()
    seed: int
    turn: int
    used: set[str] = field(default_factory=set)
    _draws: np.random.Generator | None = field(init=False, default=None)

    def line(self, key: str, **slots: str) -> str:
        """Return a line that was not yet said in this call, mostly of the person's own kind.

        Args:
            key: What is to be said.
            slots: What stands in the slots.
        """
        fresh = [line for line in self._mine(key) if line.name not in self.used]
        own = [line for line in fresh if line.kind is not None]
        # A person's own turns of phrase come first, mostly: who always used them would be a parrot.
        if own and len(own) < len(fresh) and self._stream().random() < _OWN:
            fresh = own
        if not fresh:
            return self._repeated(key, slots)
        line = fresh[self._below(len(fresh))]
        self.used.add(line.name)
        return line.said(slots)

    def fixed(self, key: str, about: str, **slots: str) -> str:
        """Return the line that this person always has for something, because it is a fact.

        Args:
            key: What is to be said.
            about: What it is about.
            slots: What stands in the slots.
        """
        listed = self._mine(key)
        return listed[self.stable(f"{key} {about}", len(listed))].said(slots)

    def said(self, text: str) -> bool:
        """Return whether something was said in this call, which it is from now on."""
        before = f"+{text}" in self.used
        self.used.add(f"+{text}")
        return before

    def whole(self, text: str) -> str:
        """Return an answer that was not given in this call: who gives one again says so."""
        if text and f"={text}" in self.used:
            text = f"{self.line('again')} {text}"
        self.used.add(f"={text}")
        return text

    def score(self, topic: Topic, item: str, points: int) -> str:
        """Return how a person tells how often something was, without the printed words."""
        words = spoken().items[topic.value][item]
        about = f"{topic.value} {item}"
        listed = words.some if points else words.none
        sentence = listed[self.stable(f"{about} words", len(listed))]
        if not points:
            return sentences(sentence)
        often = spoken().idioms[self.seed % len(spoken().idioms)][str(points)]
        return sentences(sentence.format(often=often[self.stable(about, len(often))]))

    def stable(self, about: str, size: int) -> int:
        """Return a number below a size that is always the same of this person."""
        return crc32(f"{self.seed} {about}".encode()) % size

    def _mine(self, key: str) -> list[Line]:
        """Return the lines for something that this person can say."""
        kind, lives = self.kind, self.lives
        return [
            line
            for line in lines()[key]
            if (line.kind is None or line.kind is kind)
            and (line.life is None or line.life in lives)
        ]

    def _stream(self) -> np.random.Generator:
        """Return what draws; it is made for the first draw, since that takes a while."""
        if self._draws is None:
            self._draws = np.random.default_rng([self.seed, self.turn])
        return self._draws

    def _below(self, count: int) -> int:
        """Return a number below a count. Below one there is nothing to draw."""
        return int(self._stream().integers(count)) if count > 1 else 0

    def _repeated(self, key: str, slots: Mapping[str, str]) -> str:
        """Return a line that was said before, and say so."""
        listed = self._mine(key)
        text = sentences(listed[self._below(len(listed))].text.format(**slots))
        pairs = [
            pair
            for opener in self._mine("again")
            if (pair := f"{opener.text} {text}") not in self.used
        ]
        chosen = pairs[self._below(len(pairs))] if pairs else text
        self.used.add(chosen)
        return chosen


def sentences(text: str) -> str:
    """Return a text whose sentences begin with a capital."""
    return _SENTENCE.sub(lambda found: found[1].upper(), text)


def birthday(iso: str) -> str:
    """Return a date of birth as one says it."""
    day = date.fromisoformat(iso)
    said = spoken()
    return f"the {said.ordinals[day.day - 1]} of {said.months[day.month - 1]}, {day.year}"


def number(count: int) -> str:
    """Return a number in words, as far as people count."""
    said = spoken().numbers
    return said[count] if 0 <= count < len(said) else "a lot of"


def times(count: int) -> str:
    """Return how often something was, in words."""
    said = spoken().times
    return said[count] if 0 <= count < len(said) else "many times"


def diagnosis(code: str) -> str:
    """Return what people call a diagnosis; empty if they have no word for it."""
    named = spoken().diagnoses
    fits = [prefix for prefix in named if code.startswith(prefix)]
    return named[max(fits, key=len)] if fits else ""


def when(then: datetime, now: datetime) -> str:
    """Return from when on somebody can talk, as they say it."""
    days = (then.date() - now.date()).days
    clock = f" after {_hour(then.hour)}" if then.hour else ""
    if days <= 0:
        return clock.strip() or "later"
    day = "tomorrow" if days == 1 else f"on {spoken().weekdays[then.weekday()]}"
    return day + ("," if days > 1 and clock else "") + clock


def _hour(hour: int) -> str:
    if hour == _NOON:
        return "noon"
    part = "morning" if hour < _NOON else "afternoon" if hour < _EVENING else "evening"
    return f"{number(hour if hour < _NOON else hour - _NOON)} in the {part}"
