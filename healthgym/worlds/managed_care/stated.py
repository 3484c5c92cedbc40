"""What a free text states that can be looked up: days, numbers, codes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import date

from healthgym.core.cache import short_text_cache
from healthgym.worlds.managed_care.numerals import in_digits
from healthgym.worlds.managed_care.word_forms import untitled

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_WORD = (
    r"(?P<word>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|"
    r"sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\.?"
)
_DAY = r"(?P<day>3[01]|[12]\d|0?[1-9])(?:st|nd|rd|th)?"
#: A day, in the forms that offices write: in numbers, and with the name of its month. What begins
#: with a digit is looked for by it, and what may not stand before it is looked at then: digits are
#: few, and a place before each letter would be asked for what is behind it.
_NUMBERED = tuple(
    re.compile(form)
    for form in (
        r"(?P<year>\d(?<!\d\d)\d{3})-(?P<month>\d{1,2})-(?P<day>\d{1,2})(?!\d)",
        r"(?P<month>\d(?<!\d\d)\d?)([/-])(?P<day>\d{1,2})\2(?P<year>\d{4})(?!\d)",
        r"(?P<month>\d(?<![\d/]\d)\d?)/(?P<day>\d{1,2})/(?P<year>\d{2})(?![\d/])",
    )
)
_DAYS = tuple(
    re.compile(form, re.IGNORECASE)
    for form in (
        rf"(?<!\d){_DAY}(?: of)? {_WORD},? (?P<year>\d{{4}})(?!\d)",
        rf"\b{_WORD} {_DAY},? (?P<year>\d{{4}})(?!\d)",
    )
)
#: From one day to another of the same month: "December 25 to 31, 2025".
_FROM = re.compile(
    rf"\b({_WORD.replace('?P<word>', '?:')}) (\d{{1,2}})(?: ?[-\u2013] ?| to | through | and )"
    r"(\d{1,2}),? (\d{4})(?!\d)",
    re.IGNORECASE,
)
#: A month, or a day without its year.
_LOOSE = tuple(
    re.compile(form, re.IGNORECASE)
    for form in (
        rf"\b{_WORD},? (?P<year>\d{{4}})(?!\d)",
        rf"(?<!\w){_DAY}(?: of)? {_WORD}(?![a-z])",
        rf"\b{_WORD} {_DAY}(?!\d)",
    )
)
#: The same in numbers: "4/5" alone is how strong somebody is.
_SHORT = (
    re.compile(r"(?<=\bon )(?P<month>1[0-2]|0?[1-9])/(?P<day>3[01]|[12]\d|0?[1-9])(?![\d/])"),
    re.compile(r"(?<![\d/.])(?P<month>0[1-9])/(?P<day>3[01]|[12]\d|0[1-9])(?![\d/])"),
    re.compile(r"(?<![\d/.])(?P<month>1[0-2])/(?P<day>3[01]|2\d|1[3-9]|0[1-9])(?![\d/])"),
)
#: The end of a time whose beginning has the year: "2025-06-09 to 07-21"; a month of a year; and a
#: day of this year, whose month has its zero.
_ISO = (
    re.compile(
        r"(?P<month>[01](?:(?<=to .)|(?<=and .)|(?<=through .)|(?<=until .)|(?<=till .)|"
        r"(?<=- .)|(?<=\u2013.)|(?<=\u2013 .))(?:(?<=0)[1-9]|(?<=1)[0-2]))"
        r"-(?P<day>3[01]|[12]\d|0[1-9])(?![\d-])"
    ),
    re.compile(r"(?<![\d-])(?P<year>(?:19|20)\d{2})-(?P<month>0[1-9]|1[0-2])(?![\d-])"),
    re.compile(r"(?<![\d.-])(?P<month>0[1-9])-(?P<day>3[01]|[12]\d|0[1-9])(?![\d-])"),
)
#: The same of the last months, where whole days stand beside it: "2025-09-24, 10-23", "(12-29)".
_LATE = re.compile(
    r"1(?<=[ (,;]1)(?P<month>[0-2])-(?P<day>0[1-9]|1[3-9]|2\d|3[01])(?![\d-])"
    r"(?! ?(?:%|mg|mcg|g|kg|ml|l|units?|sessions?|days?|weeks?|months?|years?|yrs?|min(?:utes)?|"
    r"hours?|hrs?|times|doses?|points?|pills?|tablets?|visits?|calls?|steps?|x|of|out)\b)"
)
#: From one whole day to another of the same month, or year: "2025-10-20/24", "2025-02-27/03-01".
_SPANS = (
    re.compile(r"(\d(?<!\d\d)\d{3}-\d\d-)(\d\d)/(\d\d)(?![\d/-])"),
    re.compile(r"(\d(?<!\d\d)\d{3}-)(\d\d-\d\d)/(\d\d-\d\d)(?![\d/-])"),
)
#: Years from one to another, and the digits of one.
_RANGE = re.compile(r"(?<![\w.,/$-])(?:19|20)\d\d ?[-\u2013] ?(?:19|20)\d\d(?!\w|[.,/]\d|-)")
_FOUR = re.compile(r"\d{4}")
#: A year alone; what is so many of something is none.
_ALONE = re.compile(
    r"(?<![\d.,/$-])(?:19[3-9]|20[0-4])\d(?![\d%]|[.,/]\d)"
    r"(?! ?(?:mg|mcg|g|kg|ml|l|units?|iu|kcal|cells?|steps?|feet|m|cm|mm|%)\b)"
)
_TIME = re.compile(r"\d(?<!\d\d)\d?:\d{2}(?::\d{2})?(?!\d)")
#: What each form of a whole day has, without which a text is not gone through for any; and what
#: each has that is in numbers.
_YEAR, _SHORT_YEAR = re.compile(r"\d(?<!\d\d)\d{3}(?!\d)"), re.compile(r"/\d{2}(?!\d)")
_MARKED = re.compile(r"\d[/-]\d{1,2}[/-]\d")
#: The years that two digits may stand for: those of birthdays lie before.
_EARLIEST = 1940
#: How names of months end, and what may stand between them and a number.
_ENDS = (*_MONTHS, "uary", "arch", "pril", "june", "july", "gust", "sept", "mber", "ober")
_BEHIND = "|".join(
    rf"(?<={re.escape(end + mark)} )" for end in _ENDS for mark in ("", ".", ",", ".,")
)
#: The space between a month's name and a number, which every form with a name has: most texts have
#: none, and a space is found much sooner than a name.
_NAMED = re.compile(
    rf" (?:(?=\d)(?:{_BEHIND})|(?=(?:{'|'.join(_MONTHS)}))(?:(?<=[\dtdh] )|(?<=of )))",
    re.IGNORECASE,
)
_DIGIT = re.compile(r"\d")
#: ICD-10-CM, HCPCS and CPT codes; ICD has of letters A and B alone in the third place (no T2D).
_CODE = re.compile(
    r"[A-Z\d](?<![\w.-][A-Z\d])"
    r"(?:(?<!U)(?<!\d)\d[0-9AB](?:\.[0-9A-Z]{1,4})?|(?<![W-Z])\d{4})(?![\w-])"
)
#: What looks like a code of ICD-10, which has none of that name.
_VITAMIN = "B12"
#: A number; the digits of a name (HbA1c, PHQ-9, L4-L5) and of an ordinal are none.
_NUMBER = re.compile(
    r"\d(?<![A-Za-z\d]\d)(?<![A-Za-z]-\d)(?<!\d\.\d)"
    r"(?:\d{0,2}(?:,\d{3})+(?:\.\d+)?|\d*(?:\.\d+)?)(?!\d|st\b|nd\b|rd\b|th\b)(?<!\b0\d\d)"
)
#: A sentence; the point of a number does not end it.
_SENTENCE = re.compile(r"(?:[^.!?\n]|\.(?=\d))+")
#: What is numbered and counted, and states nothing of a patient: ids and criteria, and the entries
#: of a list, with what each of these has.
_COUNTED = re.compile(
    r"[A-Z\d](?<=\b.)(?:(?<=[A-Z])[A-Z]+(?:-[A-Z0-9]+)+\b|(?<=[CG])\d{1,2}\b|"
    r"(?<=\d)\d?(?= (?:attached |enclosed )?(?:documents?|attachments?|pages?|criteri(?:a|on)|"
    r"reports?|notes?)\b))"
)
#: By what a value is carried to another unit, and what there is before it.
_FACTOR = re.compile(r"(?:[\u00d7*]|\btimes|\bfactor(?: of)?|\bdivided by) ?\d+(?:\.\d+)?")
_BY = ("\u00d7", "*", "times", "factor", "divided by")
_LISTED, _ENTRY = re.compile(r"(?m:^\s*\(?\d{1,2}[.)](?=\s))"), re.compile(r"\d[.)]\s")


@dataclass(frozen=True, slots=True)
class Stated:
    """What a text states.

    Attributes:
        days: Whole days.
        loose: Years, months of a year, and days without one, as (year or 0, month or 0, day or 0).
        codes: Diagnosis and procedure codes.
        numbers: Other numbers, in their shortest form.
    """

    days: frozenset[date]
    loose: frozenset[tuple[int, int, int]]
    codes: frozenset[str]
    numbers: frozenset[str]


_NOTHING = Stated(frozenset(), frozenset(), frozenset(), frozenset())


@short_text_cache(256, 20_000)  # a judge reads the same few texts under several questions
def stated(text: str) -> Stated:
    """Return what a text states, in digits or in words."""
    text = in_digits(text)
    if _DIGIT.search(text) is None:
        return _NOTHING
    days, rest, named = _taken_days(text)
    loose: set[tuple[int, int, int]] = set()

    def taken(match: re.Match[str]) -> str:
        if match.groupdict().get("word") == "may":  # "criterion 10 may hold"
            return match[0]
        loose.add(_loose(match))
        return " "

    def late(match: re.Match[str]) -> str:
        loose.add((0, 10 + int(match["month"]), int(match["day"])))
        return " "

    def years(match: re.Match[str]) -> str:
        loose.update((int(each), 0, 0) for each in _FOUR.findall(match[0]))
        return " "

    for form in _LOOSE if named else ():
        rest = form.sub(taken, rest)
    for form in (*(_SHORT if "/" in rest else ()), *(_ISO if "-" in rest else ())):
        rest = form.sub(taken, rest)
    rest = _LATE.sub(late, rest) if days and "-" in rest else rest
    for form in (_RANGE, _ALONE) if _YEAR.search(rest) else ():
        rest = form.sub(years, rest)
    rest = _TIME.sub(" ", rest) if ":" in rest else rest
    rest = _LISTED.sub(" ", rest) if _ENTRY.search(rest) else rest
    rest = _COUNTED.sub(" ", rest)
    rest = _FACTOR.sub(" ", rest) if any(by in rest for by in _BY) else rest
    codes: list[str] = []

    def coded(match: re.Match[str]) -> str:
        if match[0] != _VITAMIN:
            codes.append(match[0])
        return " "

    rest = _CODE.sub(coded, rest)
    numbers = frozenset(map(shortest, _NUMBER.findall(rest)))
    return Stated(days, frozenset(loose), frozenset(codes), numbers)


def unknown(codes: Iterable[str], known: Iterable[str]) -> frozenset[str]:
    """Return the codes that are none of the known ones, nor the category of one: I69 of I69.351."""
    kept = frozenset(known)
    return frozenset(codes) - kept - {one.partition(".")[0] for one in kept}


def days_in(text: str) -> frozenset[date]:
    """Return the whole days that a text names."""
    return _taken_days(text)[0]


def numbers_after(name: str, text: str) -> Iterator[tuple[str, str]]:
    """Yield each number that follows closely on a name, with its sentence; days are passed over.

    Args:
        name: What is measured, in small letters.
        text: The text, in small letters.
    """
    _, rest, named = _taken_days(in_digits(text))
    rest = _TIME.sub(" ", rest) if ":" in rest else rest
    for form in _LOOSE if named else ():
        rest = form.sub(" ", rest)
    close = re.compile(rf"(?<![\w/]){re.escape(name)}(?!\w)[^\d;\n]{{0,40}}?({_NUMBER.pattern})")
    for sentence in _SENTENCE.findall(untitled(rest)):
        for match in close.finditer(sentence):
            yield shortest(match[1]), sentence


def shortest(number: str) -> str:
    """Return a number without thousands separators, and without zeros that say nothing."""
    return f"{float(number.replace(',', '')):.10g}"


@short_text_cache(256, 20_000)  # of a letter each measure and each fact is asked
def _taken_days(text: str) -> tuple[frozenset[date], str, bool]:
    """Return the days of a text, the text without them, and whether a month is left in it."""
    found: set[date] = set()

    def taken(match: re.Match[str]) -> str:
        day = _whole_day(match)
        if day is not None:
            found.add(day)
        return " "

    year = (_YEAR.search(text) or _SHORT_YEAR.search(text)) is not None
    named = _names_month(text)
    text = _FROM.sub(r"\1 \2, \4, \1 \3, \4", text) if year and named else text
    for form in _SPANS if year and "/" in text else ():
        text = form.sub(r"\1\2, \1\3", text)
    for form in _NUMBERED if year else ():
        if not _MARKED.search(text):
            break
        text = form.sub(taken, text)
    named = named and _names_month(text)
    if year and named:
        for form in _DAYS:
            text = form.sub(taken, text)
        named = _names_month(text)
    return frozenset(found), text, named


def _names_month(text: str) -> bool:
    """Return whether a month stands beside a number."""
    small = text.casefold()
    for month in _MONTHS:
        if month in small:
            return _NAMED.search(text) is not None
    return False


def _whole_day(match: re.Match[str]) -> date | None:
    year = int(match["year"])
    if len(match["year"]) == 2:
        year = _EARLIEST + (year - _EARLIEST) % 100
    try:
        return date(year, _month(match), int(match["day"]))
    except ValueError:  # no calendar has it
        return None


def _loose(match: re.Match[str]) -> tuple[int, int, int]:
    parts = match.groupdict()
    return int(parts.get("year") or 0), _month(match), int(parts.get("day") or 0)


def _month(match: re.Match[str]) -> int:
    if "word" in match.re.groupindex:
        return _MONTHS.index(match["word"][:3].casefold()) + 1
    return int(match["month"])
