"""Reading a shortlist as a person writes it.

The numbers on a list are what it claims. What may stand around them is a grammar and no list of
denials: bullets, ranks, ticked boxes and words that announce a list before them; a trial's own
names, words that say that a patient fits, and that nothing stands against it, after them
(``data/lists.json``). With anything else a line is not read, whatever it means.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import cache

from healthgym.core.files import BYTE_ORDER_MARK
from healthgym.envs.trial_matching.vocabulary import read_data

_ID = re.compile(r"(?<![A-Za-z0-9])NCT\d{8}(?![A-Za-z0-9])", re.IGNORECASE)
#: A number that was begun and is none.
_NEARLY = re.compile(r"NCT[\W_]*\d", re.IGNORECASE)
_URL = re.compile(r"https?://(?:www\.)?clinicaltrials\.gov/(?:[a-z0-9]+/)*(?=NCT\d{8})", re.I)
_TICKED = re.compile(r"\[[xX✓✔]\]")
_UNTICKED = re.compile(r"[\[(]\s*[-_.]?\s*[\])]")
#: What begins a comment in one language or another, but for a rank ("#1").
_COMMENT = re.compile(r"\s*(?:#(?!\d)|;|//|/\*|%|--(?!-))")
_TAG = re.compile(r"</?(?:answer|final_answer|list|shortlist|output|result)>")
_RULE = re.compile(r"-{3,}")
_AGE = re.compile(r"\bage(?:d|:)? \d{1,3}\b|\b\d{1,3}[- ]year[- ]old\b")
#: A sign or a "less than" makes another number of one; a dash before it joins ("NCT... - 95%").
_TOKEN = re.compile(
    r"(?:(?<=\s)[-−]|[<≤]\s*)\d[\d.]*%?|\d+(?:\.\d+)?(?: ?%)?|[^\W\d]+(?:['’][^\W\d]+)?|\S"
)
_WORD = re.compile(r"[^\W\d_]")
#: Marks around numbers; a slash and a dash alone do not make a list.
_MARKS = frozenset("-*+•·‣◦●▪■▶–—−>→➤|:.,()[]{}<\"'`_=&#“”‘’")  # noqa: RUF001
#: What makes a list of some that follow, or of none.
_SOME = re.compile(r"\b\d+ of (?:the|these|those|them)\b")
_JOINS = re.compile(r"[,;&|+]|\b(?:and|plus)\b|^\s+$|[\])}\"']\s")
_TRIALS = r"(?:trials?|studies|study|ones?|matches)(?: (?:in|from|of) (?:the|this) pool)?"
#: What closes a list: that nothing else belongs to it. Before a number it would deny that one.
_CLOSING = re.compile(
    rf"(?:(?:there (?:are|were) )?no (?:other|further|more|additional) "
    rf"(?:(?:eligible|matching|suitable|qualifying) )?{_TRIALS}"
    r"(?: (?:match(?:ed)?|qualif(?:y|ied)|fit|(?:are|were) (?:eligible|suitable|found|identified)|"
    r"found|identified|meet (?:the|all) criteria))?"
    rf"|(?:all|the) (?:other|remaining) {_TRIALS} "
    r"(?:(?:are|were) )?(?:excluded|ruled out|ineligible|not eligible)"
    rf"|(?:the )?patient is not eligible for any (?:other|further|more|additional) {_TRIALS})\.?"
)
_OPENING = re.compile(r"\bafter (?:reviewing|a review of|reading)\b")
#: Words of a patient cut off a title ("Aspirin in Acute Ischemic ...").
_FEWEST_WORDS = 4
_FIVE = 5


@dataclass(frozen=True, slots=True)
class Line:
    """A line as it is read.

    Attributes:
        ids: The registry numbers it names, in upper case and in their order.
        problem: Why it cannot be read; empty if it can.
    """

    ids: tuple[str, ...]
    problem: str = ""


@dataclass(frozen=True, slots=True)
class _Words:
    before: frozenset[str]
    after: frozenset[str]
    nothing_against: re.Pattern[str]


@cache
def _words() -> _Words:
    table = read_data("lists.json")
    phrases = sorted(table["nothing_against"], key=len, reverse=True)
    pattern = re.compile(rf"\b(?:{'|'.join(map(re.escape, phrases))})\b")
    return _Words(frozenset(table["before"]), frozenset(table["after"]), pattern)


def named(line: str) -> tuple[str, ...]:
    """Return the registry numbers that a line names, each once, in upper case."""
    return tuple(dict.fromkeys(match[0].upper() for match in _ID.finditer(line)))


def read_lines(lines: Sequence[str], names: Callable[[str], Sequence[str]]) -> list[Line]:
    """Read the lines of a list; after its last number it may be closed.

    Args:
        lines: The lines.
        names: Returns what a trial is called, as for :func:`read_line`.
    """
    last = max((number for number, line in enumerate(lines) if named(line)), default=-1)
    return [read_line(line, names, after_all=number > last) for number, line in enumerate(lines)]


def read_line(line: str, names: Callable[[str], Sequence[str]], *, after_all: bool = False) -> Line:
    """Read a line.

    Args:
        line: The line.
        names: Returns what a trial is called: its titles and conditions, or nothing if there is no
            such trial.
        after_all: Whether no number follows, so that it may say that no other trial belongs there.
    """
    ids = named(line)
    if after_all and not ids and _CLOSING.fullmatch(" ".join(line.lower().split()).strip("*_-• ")):
        return Line(ids)
    text = _URL.sub("", line.removeprefix(BYTE_ORDER_MARK))
    if _NEARLY.search(_ID.sub(" ", text)):
        return Line(ids, "a registry number is NCT and eight digits")
    return Line(ids, _entry(text, names) if ids else _heading(text))


def _heading(text: str) -> str:
    """Return what in a line without a number is not that of a list's heading or frame."""
    plain = _OPENING.sub(" ", _RULE.sub(" ", _AGE.sub(" ", _TAG.sub(" ", text.lower()))))
    some = _SOME.search(plain)
    # Numbers count or rank there: of nothing, none does.
    unknown = some[0] if some else _unknown(plain, _words().before, ranks=True)
    return f"{unknown!r} is not the heading of a list" if unknown else ""


def _entry(text: str, names: Callable[[str], Sequence[str]]) -> str:
    """Return why a line that names trials cannot be read."""
    if _COMMENT.match(text):
        return "it is a comment"
    ids = [match[0].upper() for match in _ID.finditer(text)]
    pieces = _ID.split(_TICKED.sub(" ", _TAG.sub(" ", text)))
    if _UNTICKED.search(pieces[0]):
        return "its box is not ticked"
    words = _words()
    for number, piece in enumerate(pieces):
        near = ids[max(number - 1, 0) : number + 1] if _WORD.search(piece) else []
        around = [names(id_) for id_ in near]
        said = _without_names(piece.lower(), [name for each in around for name in each])
        first, last = number == 0, number == len(pieces) - 1
        if not (first or last) and ids[number - 1] != ids[number] and not _JOINS.search(piece):
            return f"{piece.strip()!r} does not join two trials"
        allowed = words.before if first else words.after if last else words.before | words.after
        if not first:
            said = _AGE.sub(" ", words.nothing_against.sub(" ", said))
        unknown = _unknown(said, allowed, ranks=not last)
        if unknown:
            return f"{unknown!r} is not what a list says of a trial"
    return ""


def _without_names(text: str, names: Iterable[str]) -> str:
    """Return a text, in lower case, without what a trial is called, be it cut short."""
    cut = "…" in text or "..." in text
    for name in sorted((name.lower() for name in names if name), key=len, reverse=True):
        # Patterns are made where they can match only: a list may have hundreds of lines.
        if name in text:
            text = re.sub(rf"(?<!\w){re.escape(name)}(?!\w)", " ", text)
        words = name.split() if cut else []
        for count in range(len(words) - 1, _FEWEST_WORDS - 1, -1):
            start = " ".join(words[:count])
            if start in text:
                text = re.sub(rf"(?<!\w){re.escape(start)}\s*(?:…|\.\.\.)", " ", text)
    return text


def _unknown(text: str, words: Collection[str], *, ranks: bool = False) -> str:
    """Return the first word or mark of a text, in lower case, that has no place there."""
    for token in _TOKEN.findall(text):
        if token[0].isdecimal():
            if not (_likely(token) or (ranks and _ranks(token))):
                return str(token)
        elif token not in words and token not in _MARKS and token != ";" and token.strip("_"):
            return str(token)
    return ""


def _ranks(number: str) -> bool:
    """Return whether a number can count lines: no list is so long that it takes five digits."""
    return number.isdecimal() and len(number) < _FIVE and int(number) > 0


def _likely(number: str) -> bool:
    """Return whether a number is a score of at least a half: 0.5 to 1.0, or 50% to 100%."""
    if number.endswith("%"):
        return 50 <= float(number[:-1]) <= 100
    return "." in number and 0.5 <= float(number) <= 1


def without(lines: Iterable[str], ids: Collection[str]) -> list[str]:
    """Return lines that no longer name some trials; of a line of several the others are kept."""
    kept: list[str] = []
    for line in lines:
        found = named(line)
        if ids and not set(found).isdisjoint(ids):
            kept += [id_ for id_ in found if id_ not in ids]
        else:
            kept.append(line)
    return kept


def all_named(lines: Sequence[str]) -> frozenset[str]:
    """Return the trials that some lines name."""
    return frozenset(id_ for line in lines for id_ in named(line))
