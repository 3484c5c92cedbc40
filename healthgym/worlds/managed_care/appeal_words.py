"""What somebody's own words tell of appeals, beside what the rules say of them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date

from healthgym.worlds.managed_care.numerals import SMALL_NUMBERS, in_digits
from healthgym.worlds.managed_care.stated import days_in
from healthgym.worlds.managed_care.word_forms import form

_SENTENCE = re.compile(r"(?:[^.!?;\n]|\.(?=\d))+")
#: Larger numbers are put in digits before a sentence is read.
_COUNTS: Mapping[str, int] = {
    **{word: place for place, word in enumerate(SMALL_NUMBERS) if place},
    **{"a": 1, "an": 1},
}
_SPAN = re.compile(
    rf"\b(?P<count>\d+|{'|'.join(_COUNTS)})[ -](?:(?:calendar|business|working|full) )?"
    r"(?P<unit>hour|day|week|month|year)s?\b"
)
_NEVER = ("same", "threat", "odds", "shut")
_DAYS: Mapping[str, float] = {"hour": 1 / 24, "day": 1, "week": 7, "month": 30, "year": 365}


@dataclass(frozen=True, slots=True)
class AppealRights:
    """What holds of appeals.

    Attributes:
        written: The day of the text.
        last: The last day on which the decision can be appealed; None where it is not known.
        filing: Days within which an appeal is to be filed, by the rules.
        spans: Days that anything about appeals takes by the rules.
    """

    written: date
    last: date | None
    filing: frozenset[float]
    spans: frozenset[float]

    @property
    def left(self) -> int:
        """Days until the last one; 0 where it is not known."""
        return (self.last - self.written).days if self.last else 0


def misinforms(text: str, rights: AppealRights, *, about: bool = False) -> str:
    """Return a sentence that tells of appeals what does not hold; blank if none does.

    Args:
        text: The text.
        rights: What holds.
        about: Whether every sentence is about appeals, whatever it names.
    """
    for sentence in _SENTENCE.findall(in_digits(text.casefold().replace("’", "'"))):
        plain = " ".join(sentence.split())
        if form("appeals_final").search(plain) or (
            (about or form("appeals_about").search(plain)) and any(_wrong(plain, rights))
        ):
            return plain
    return ""


def _wrong(sentence: str, rights: AppealRights) -> Iterator[bool]:
    """Yield whether a sentence about appeals errs on the right, its end, its way, or its price.

    That what comes too late is not heard is no denial of the right. Who decided hears no appeal,
    an appeal takes nothing from anybody, and how it ends is not foretold.
    """
    yield any(form(f"appeals_{kind}").search(sentence) for kind in _NEVER)
    yield bool(form("appeals_no_right").search(sentence)) and not form("appeals_late").search(
        sentence
    )
    spans = rights.spans if form("appeals_deciding").search(sentence) else rights.filing
    yield any(not _holds(span, spans, rights.left) for span in _SPAN.finditer(sentence))
    yield bool(form("appeals_soon").search(sentence))
    yield any(not _near(sentence, day, rights) for day in days_in(sentence))
    ways = (found["how"] or found["which"] for found in form("appeals_only").finditer(sentence))
    yield any(not form("appeals_ways").search(way) for way in ways)
    yield bool(form("appeals_costs").search(sentence)) and not form("appeals_free").search(sentence)


def _holds(span: re.Match[str], spans: frozenset[float], left: int) -> bool:
    count = _COUNTS.get(span["count"]) or float(span["count"])
    days = count * _DAYS[span["unit"]]
    return days in spans or (left > 0 and abs(days - left) <= 1)


def _near(sentence: str, day: date, rights: AppealRights) -> bool:
    """Return whether a day is the last one, or, where none is given, one that is past."""
    if rights.last is None or day == rights.last:
        return True
    return day <= rights.written and not form("appeals_until").search(sentence)
