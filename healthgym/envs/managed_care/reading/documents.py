"""Documents as they were read, and which of them count.

A draft that nobody signed, a page that bears another patient's name and a note that an addendum
puts right prove nothing; see ``provider-pa/operational/evidence-standards.md``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import date, datetime

_MONTHS = "Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec"
#: Any of the ways in which documents write a date, as an expression.
DAY = (
    rf"\d{{4}}-\d\d-\d\d|\d\d/\d\d/\d{{4}}"
    rf"|(?:{_MONTHS}) \d{{1,2}}, \d{{4}}|\d\d (?:{_MONTHS}) \d{{4}}"
)
ANY_DAY = re.compile(DAY)
_FORMATS = ("%Y-%m-%d", "%m/%d/%Y", "%b %d, %Y", "%d %b %Y")
_WORD = re.compile(r"[\w.%/]*\w")
#: Words that join a finding to its value, and differ from page to page.
_JOINTS = frozenset({"noted", "as", "is"})
_ADDENDUM = "Addendum to: "
#: Lines of a header: whose the page is, and when and by whom it was written.
_HEADER = 2


@dataclass(frozen=True, slots=True)
class Document:
    """A document that was read.

    Attributes:
        id: Its id.
        kind: What it is.
        title: Its title.
        day: The day it was made.
        text: Its text.
    """

    id: str
    kind: str
    title: str
    day: date
    text: str


def read_day(text: str) -> date:
    """Return a date, in any of the ways in which documents write one.

    Raises:
        ValueError: If it is none.
    """
    for form in _FORMATS:
        try:
            return datetime.strptime(text, form).date()
        except ValueError:
            continue
    raise ValueError(f"{text!r} is no date.")


@dataclass(frozen=True, slots=True)
class _Error:
    """What an addendum puts right: where it stands, whose it is, and the words it is told in."""

    title: str
    author: str
    days: frozenset[date]
    words: frozenset[str]

    def stands_in(self, page: Document) -> bool:
        """Return whether a page is the one that errs; its neighbor may have its title and day."""
        alike = page.title == self.title and page.day in self.days
        return alike and _author(page) == self.author and self.words <= _words(page.text)


def counting(documents: Iterable[Document], patient_id: str) -> tuple[Document, ...]:
    """Return the documents of a patient that nobody put right, addenda without what they put right.

    Args:
        documents: What is on file, signed.
        patient_id: Whose chart it is.
    """
    own = [each for each in documents if patient_id in each.text.partition("\n")[0]]
    errors: list[_Error] = []
    kept = []
    for each in own:
        place = _error_line(each) if each.title.startswith(_ADDENDUM) else 0
        if place:
            lines = each.text.split("\n")
            errors.append(_error(each, lines.pop(place)))
            each = replace(each, text="\n".join(lines))
        kept.append(each)
    return tuple(each for each in kept if not any(error.stands_in(each) for error in errors))


def _error_line(addendum: Document) -> int:
    """Return which line tells the error: the first under the header that names a day; 0 if none."""
    lines = addendum.text.split("\n")
    for place, line in enumerate(lines):
        if place >= _HEADER and ANY_DAY.search(line):
            return place
    return 0


def _error(addendum: Document, line: str) -> _Error:
    days = frozenset(map(read_day, ANY_DAY.findall(line)))
    told = ANY_DAY.sub("", line).partition(": ")[2].partition(". ")[0]
    words = _words(told) - _JOINTS
    # A measure goes by several names, and its value by one.
    numbers = frozenset(word for word in words if word[0].isdigit())
    title = addendum.title.removeprefix(_ADDENDUM)
    return _Error(title, _author(addendum), days, numbers or words)


def _author(page: Document) -> str:
    """Return who wrote a page, by the last line of its header."""
    header = page.text.split("\n")[:_HEADER]
    return header[-1].rpartition("|")[2].strip()


def _words(text: str) -> frozenset[str]:
    return frozenset(_WORD.findall(text.casefold()))
