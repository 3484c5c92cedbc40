"""Understanding what a person says on the phone: the solver's ears.

What one knows beforehand is how people talk; nothing of this person. Each reading is a pattern of
``data/hearing.json``, and what was asked tells which to try.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from healthgym.core.borders import JsonObject
from healthgym.worlds.managed_care.conversation.acts import Act
from healthgym.worlds.managed_care.conversation.persona import Concern
from healthgym.worlds.managed_care.numerals import SMALL_NUMBERS
from healthgym.worlds.managed_care.vocabulary.care import AdherenceLevel, MotivationStage
from healthgym.worlds.managed_care.voices import Topic

_SENTENCE = re.compile(r"(?:\bSt\. |[^.?!])+[.?!]?")
#: How a sentence begins that goes on about the medicine of the one before.
_GOES_ON = re.compile(
    r"\s*(?:The other|Five (?:days|times)|Not |I quit|I haven't had|"
    r"I don't (?:miss|take|feel|like)|It |It's |"
    r"Every dose|The bottle|One day|Two days|Three times|I can't afford)"
)
_WHEN = re.compile(
    r"\b(?:(?P<tomorrow>tomorrow)|on (?P<weekday>\w+day))?,? ?"
    r"(?:after (?:(?P<noon>noon)|(?P<hour>\w+) in the (?P<part>morning|afternoon|evening)))?"
)
_HOURS = SMALL_NUMBERS[:13]
_DAYS = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]


@cache
def _table() -> JsonObject:
    table: JsonObject = json.loads(
        (files(__package__) / "data" / "hearing.json").read_text("utf-8")
    )
    return table


@cache
def _form(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


def sounds(text: str, name: str) -> bool:
    """Return whether a text sounds like something of the table, such as ``final``."""
    return any(_form(each).search(text) for each in _table()[name])


def plain(text: str) -> str:
    """Return what somebody says without the sounds and asides before it."""
    before = ""
    while before != text:
        before = text
        for each in _table()["sounds"]:
            text = _form(each).sub("", text)
    return text


def part(text: str) -> Topic | None:
    """Return the subject to which alone somebody agrees; None if it is no yes to a part."""
    if not sounds(text, "only"):
        return None
    return next((Topic(name) for name in _found(text, "part")), None)


def worries(text: str) -> list[Concern]:
    """Return the worries that a text tells of."""
    return [Concern(name) for name in _found(text, "concerns")]


def hint(text: str) -> Topic | None:
    """Return the subject of a hint in a text; None if there is none."""
    return next((Topic(name) for name in _found(text, "hints")), None)


def missed_statements(text: str) -> set[Act]:
    """Return the statements that somebody asks for before they say yes."""
    return {Act(name) for name in _found(text, "lack")}


def _found(text: str, name: str) -> Iterator[str]:
    for key, forms in _table()[name].items():
        if any(_form(each).search(text) for each in forms):
            yield key


def subject(text: str, topic: Topic) -> bool | None:
    """Return whether somebody tells of a barrier or concern; None if they tell nothing of it."""
    there, absent = _table()["subjects"].get(topic.value, ("(?!)", "(?!)"))
    if _form(there).search(text):
        return True
    return False if _form(absent).search(text) else None


def points(text: str, asked: Iterable[tuple[Topic, str]]) -> Mapping[Topic, Mapping[str, int]]:
    """Return the points of each item of an instrument that a text answers.

    Args:
        text: What the person says.
        asked: The items that were asked about: instrument and number.
    """
    found: dict[Topic, dict[str, int]] = {}
    for topic, item in asked:
        some, none = _table()["items"][topic.value][item]
        for sentence in _SENTENCE.findall(text):
            score = 0 if _form(none).search(sentence) else _score(sentence)
            if score is not None and (score == 0 or _form(some).search(sentence)):
                found.setdefault(topic, {})[item] = score
    return found


def _score(said: str) -> int | None:
    return next((score for score, form in _table()["points"] if _form(form).search(said)), None)


def readiness(text: str) -> MotivationStage | None:
    """Return what somebody says they will do about their health; None if nothing."""
    return next((MotivationStage(name) for name in _found(text, "stages")), None)


@dataclass(frozen=True, slots=True)
class Taken:
    """How somebody takes a medicine, as they tell.

    Attributes:
        level: How regularly.
        at_all: Whether they take it.
    """

    level: AdherenceLevel
    at_all: bool = True


def medicines(text: str, known: Sequence[str]) -> Mapping[str, Taken]:
    """Return how medicines are taken, of those known and of others that are told of.

    Args:
        text: What the person says.
        known: Names of the medicines in the chart.
    """
    found: dict[str, Taken] = {}
    names = [*known, *_unlisted(text, known)]
    current, said = "", ""
    for sentence in _SENTENCE.findall(text):
        named = _named(sentence, names)
        if named:
            _settle(found, current, said)
            current, said = named, sentence
        elif current and _GOES_ON.match(sentence):
            said += sentence
        else:
            _settle(found, current, said)
            current, said = "", ""
    _settle(found, current, said)
    return found


def _settle(found: dict[str, Taken], name: str, said: str) -> None:
    if not name:
        return
    for level, form in _table()["missed"]:
        if _form(form).search(said):
            taken = level != "not_taken"
            found[name] = Taken(AdherenceLevel(level if taken else "non_adherent"), taken)
            return


def _named(sentence: str, names: Sequence[str]) -> str:
    """Return the medicine that a sentence names, the longest name first; empty if none is."""
    small = sentence.lower()
    return next((n for n in sorted(names, key=len, reverse=True) if _short(n) in small), "")


def _short(name: str) -> str:
    """Return a name as people say it: without what stands behind a comma."""
    return name.split(",")[0].lower()


def _unlisted(text: str, known: Sequence[str]) -> list[str]:
    shorts = {_short(name) for name in known}
    found = []
    for form in _table()["unlisted"]:
        for match in re.finditer(form, text):
            name = match["drug"].strip()
            if name.lower() not in shorts:
                found.append(name)
    return found


@dataclass(frozen=True, slots=True)
class Appointment:
    """When somebody wants to be called, as they say it.

    Attributes:
        weekday: Day of the week, from Monday; None if it is another.
        tomorrow: Whether it is tomorrow.
        hour: First hour, 0 to 23; None if they do not say.
    """

    weekday: int | None = None
    tomorrow: bool = False
    hour: int | None = None


def appointment(text: str) -> Appointment:
    """Return when somebody wants to be called again."""
    best = Appointment()
    for match in _WHEN.finditer(text.lower()):
        day = match["weekday"]
        hour = _hour(match)
        if hour is not None or match["tomorrow"] or day in _DAYS:
            best = Appointment(
                weekday=_DAYS.index(day) if day in _DAYS else best.weekday,
                tomorrow=bool(match["tomorrow"]) or best.tomorrow,
                hour=best.hour if hour is None else hour,
            )
    return best


def _hour(match: re.Match[str]) -> int | None:
    if match["noon"]:
        return 12
    if match["hour"] not in _HOURS:
        return None
    hour = _HOURS.index(match["hour"])
    return hour if match["part"] == "morning" or hour == len(_HOURS) - 1 else hour + 12
