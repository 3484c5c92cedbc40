"""What pages state in numbers, and which statements about the same thing differ.

A statement is a number with its unit in a sentence, an entry or a row. Numbers that the rules give
are known by the name of their place, so that a number printed beside one that a task may change
counts as different from it, even where both are the same today.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations

from healthgym.worlds.managed_care.handbook.words import words_of

#: How alike two sentences are that are taken to be about the same thing, from 0 to 1: where one
#: number is printed, where both are given by rules, each of which has a subject of its own, and
#: where one page amends or supersedes the other.
PRINTED, RULED, RELATED = 0.17, 0.34, 0.1
#: What a word is worth in the heading or the title above a sentence, against one in it.
_ABOVE = 0.35
_WORDS = (
    *("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"),
    *("eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen"),
    *("nineteen", "twenty"),
)
_VALUES = {
    **{word: number for number, word in enumerate(_WORDS) if number},
    **{"thirty": 30, "forty": 40, "sixty": 60, "ninety": 90},
}
_UNIT = (
    r"(?:business |calendar |full |different )?"
    r"(?:minutes?|hours?|days?|weeks?|months?|years?|percent|dollars|turns|slots|attempts|pages|"
    r"documents|requests|problems|conditions|medicines|admissions|visits|calls|points|times|items|"
    r"subjects|MiB|miles)|and above|or more"
)
_NUMBER = rf"\{{\{{([a-zA-Z0-9_.]+)(?:\|words)?\}}\}}|(\d+(?:[.,]\d+)*)|\b({'|'.join(_VALUES)})\b"
_STATED = re.compile(
    rf"(?:{_NUMBER})(?:\*\*)?(?: or more(?= [a-z]+s\b)| new| decided)? ({_UNIT})\b", re.IGNORECASE
)
_LINK = re.compile(r"\[([^\]]*)\]\([^)]*\)")
#: What is quoted, or set apart as an example, states no rule.
_ILLUSTRATION = re.compile(r"(?m)^>.*$|\"[^\"\n]*\"|(?<![*\w])\*(?![*\s])[^*\n]+\*(?!\*)")
_PART = re.compile(r"(?<=[.;:!?])\s+(?=[A-Z\"*`{])|\n+")
_FAMILIES = dict.fromkeys(("minute", "hour", "day", "week", "month", "year"), "time")


@dataclass(frozen=True, slots=True)
class Statement:
    """A number in a sentence.

    Attributes:
        page: Path of the page.
        value: The number, or the name of the rule that gives it, with the unit.
        family: What kind of unit it is; only statements of one kind can differ.
        ruled: Whether a rule gives the number.
        text: The sentence.
        weights: Its words, and those above it, by what they are worth.
    """

    page: str
    value: str
    family: str
    ruled: bool
    text: str
    weights: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Difference:
    """Two statements about the same thing that differ.

    Attributes:
        one: The first.
        other: The second.
        alike: How alike their sentences are.
    """

    one: Statement
    other: Statement
    alike: float

    @property
    def key(self) -> tuple[str, ...]:
        """The two pages with what they state."""
        sides = sorted(f"{each.page}: {each.value}" for each in (self.one, self.other))
        return tuple(sides)


def statements(path: str, title: str, text: str) -> Iterator[Statement]:
    """Yield what a page states in numbers.

    Args:
        path: Its path.
        title: Its title.
        text: Its text, with the places for numbers.
    """
    heading = ""
    for part in _PART.split(_ILLUSTRATION.sub(" ", _LINK.sub(r"\1", text))):
        if part.startswith("#"):
            heading = part.lstrip("# ")
            continue
        for match in _STATED.finditer(part):
            placeholder, digits, word, unit = match.groups()
            number = placeholder or (digits or "").replace(",", "") or str(_VALUES[word.lower()])
            unit = unit.lower().replace("calendar ", "").rstrip("s")
            unit = "score" if unit in ("and above", "or more") else unit
            last = unit.split()[-1]
            rest = part[: match.start()] + part[match.end() :]
            yield Statement(
                path,
                f"{number} {unit}",
                _FAMILIES.get(last, last),
                placeholder is not None,
                " ".join(part.split()),
                _weights(rest, f"{heading} {title}"),
            )


def _weights(text: str, above: str) -> dict[str, float]:
    inside = dict.fromkeys(words_of(re.sub(r"\{\{[^}]*\}\}", " ", text)), 1.0)
    return dict.fromkeys(words_of(above), _ABOVE) | inside


def differences(
    stated: Iterable[Statement], related: frozenset[frozenset[str]] = frozenset()
) -> list[Difference]:
    """Return the pairs of statements about the same thing that differ, the most alike first.

    Two rules on one page are two subjects, or the page would not name both.

    Args:
        stated: What the pages state.
        related: Pages of which one amends or supersedes the other.
    """
    found = list(stated)
    spread = Counter(word for each in found for word in each.weights)
    rare = {word: math.log(len(found) / times) for word, times in spread.items()}
    lengths = [
        math.sqrt(sum((w * rare[k]) ** 2 for k, w in each.weights.items())) for each in found
    ]
    pairs = []
    for (i, one), (j, other) in combinations(enumerate(found), 2):
        if one.family != other.family or one.value == other.value or one.text == other.text:
            continue
        shared = one.weights.keys() & other.weights.keys()
        dot = sum(one.weights[word] * other.weights[word] * rare[word] ** 2 for word in shared)
        alike = dot / (lengths[i] * lengths[j] or 1.0)
        ruled = one.ruled and other.ruled
        if ruled and one.page == other.page:
            continue
        least = RULED if ruled else PRINTED
        if frozenset({one.page, other.page}) in related:
            least = RELATED
        if alike >= least:
            pairs.append(Difference(one, other, alike))
    return sorted(pairs, key=lambda each: (-each.alike, each.key))
