"""What an order says about a medication, gathered from its fields and from its words.

A sig (signatura: the part of a prescription that says how it is taken) is collected as claims.
Fields and words that say the same make one claim; what contradicts makes two, and an order whose
claims are not one each is not one that can be carried out.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cache

from healthgym.envs.fhir_record.orders.quantities import (
    Amount,
    Dimension,
    amount,
    filler,
    squeezed,
    unit_names,
)
from healthgym.envs.fhir_record.orders.tables import read_table


@dataclass
class Sig:
    """The claims of an order, each kind as a set.

    Attributes:
        doses: Amounts given at a time.
        strengths: Amounts of a product: per volume, per tablet, or bare in its name.
        routes: Routes by name.
        intervals: Hours between two doses.
        single: Whether one dose is all, where that is said.
        as_needed: Whether it is given only if needed, where that is said.
        durations: Hours that one dose runs.
        rates: Amounts per hour.
        unread: Words that say nothing known.
    """

    doses: set[Amount] = field(default_factory=set)
    strengths: set[Amount] = field(default_factory=set)
    routes: set[str] = field(default_factory=set)
    intervals: set[float] = field(default_factory=set)
    single: set[bool] = field(default_factory=set)
    as_needed: set[bool] = field(default_factory=set)
    durations: set[float] = field(default_factory=set)
    rates: set[Amount] = field(default_factory=set)
    unread: set[str] = field(default_factory=set)

    def add(self, other: Sig) -> None:
        """Take in the claims of another."""
        for each in fields(self):
            getattr(self, each.name).update(getattr(other, each.name))


@cache
def _routes() -> Mapping[str, Mapping[str, list[str]]]:
    found: Mapping[str, Mapping[str, list[str]]] = read_table("routes")
    return found


@cache
def _route_words() -> Mapping[str, str]:
    return {word: name for name, row in _routes().items() for word in row["words"]}


def route_of_code(code: str) -> str | None:
    """Return the route of a SNOMED, HL7, NCI or EDQM code; None if it is not known."""
    for name, row in _routes().items():
        if code.upper() in row["codes"]:
            return name
    return None


def route_of_field(text: str) -> str | None:
    """Return the route of an abbreviation that is one only where a route stands; else None."""
    word = squeezed(text)
    return next((n for n, row in _routes().items() if word in row.get("only", ())), None)


@cache
def _forms() -> Mapping[str, frozenset[str]]:
    return {route: frozenset(words) for route, words in read_table("forms").items()}


def form_fits(route: str, text: str) -> bool:
    """Return whether the dosage form that a product's name has, if any, is given by a route."""
    known = read_words(route).routes
    named = set(re.findall(r"[a-z]+", plain(text))) & frozenset().union(*_forms().values())
    own = frozenset().union(*(words for name, words in _forms().items() if name in known))
    return not known or named <= own | ({"film"} if "coated" in text.lower() else set())


def sites_of(route: str) -> frozenset[str]:
    """Return the words of the sites at which what goes by a route is given."""
    rows = (_routes().get(name, {}) for name in read_words(route).routes)
    return frozenset(site for row in rows for site in row.get("sites", ()))


def site_fits(route: str, text: str) -> bool:
    """Return whether a body site is one at which what goes by a route is given."""
    known = read_words(route).routes
    sites = sites_of(route) | {"the", "of", "in"}
    return not known or set(re.findall(r"[a-z0-9]+", text.lower())) <= sites


def method_fits(route: str, text: str) -> bool:
    """Return whether a text says how what goes by a route is given, and nothing else."""
    sig, known = read_words(text), read_words(route).routes
    methods = {name: frozenset(row.get("methods", ())) for name, row in _routes().items()}
    own = frozenset().union(*(methods.get(name, frozenset()) for name in known))
    others = frozenset().union(*methods.values()) - own
    said = set(re.findall(r"[a-z]+", plain(text)))
    return sig.routes <= known and sig.unread <= own | {"qualifier"} and not said & others


# -- words --------------------------------------------------------------------------------------

_ONE_TO_TWELVE = (
    "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven",
    "twelve",
)  # fmt: skip
_DIGITS = {word: str(digit) for digit, word in enumerate(_ONE_TO_TWELVE, 1)}
_NUMBER = r"\d+(?:\.\d+)?|\.\d+"
_OF_DAY = ("morning", "evening", "night", "bedtime", "am", "pm", "hs")
_PER_DAY = {
    "bid": 2,
    "b.i.d.": 2,
    "tid": 3,
    "t.i.d.": 3,
    "tds": 3,
    "qid": 4,
    "q.i.d.": 4,
    "qd": 1,
    "q.d.": 1,
    "qday": 1,
    "q day": 1,
    "daily": 1,
    "every day": 1,
    "each day": 1,
    "qam": 1,
    "qpm": 1,
    "qhs": 1,
    "nightly": 1,
    "at bedtime": 1,
    **{f"{each} {part}": 1 for each in ("every", "each", "q") for part in _OF_DAY},
    "in the morning": 1,
    "once daily": 1,
    "once a day": 1,
    "once per day": 1,
    "once every day": 1,
    "twice daily": 2,
    "twice a day": 2,
    "thrice daily": 3,
    "thrice a day": 3,
}
_HOURS_OF_WORD = {
    "every other day": 48.0,
    "qod": 48.0,
    "m/w/f": 56.0,
    "mwf": 56.0,
    "alternate days": 48.0,
    "am and pm": 12.0,
    "morning and evening": 12.0,
    "weekly": 168.0,
    "once weekly": 168.0,
    "once a week": 168.0,
    "monthly": 730.5,
    "hourly": 1.0,
    "every hour": 1.0,
    "continuous": 0.0,
    "continuously": 0.0,
}
_ONCE = (
    "once only", "one time only", "1 time only", "once now", "one-time", "1 time", "1-time",
    "single dose", "1 dose", "x1 dose", "x 1", "x1", "1x", "once", "now", "stat", "immediately",
)  # fmt: skip
_AS_NEEDED = ("as needed", "if needed", "as required", "when needed", "prn", "p.r.n.")
_NAMED_CODES = {"am": 24.0, "pm": 24.0, "bed": 24.0, "wk": 168.0, "mo": 730.5}


def _any(words: Sequence[str]) -> str:
    return "|".join(re.escape(word) for word in sorted(words, key=len, reverse=True))


@cache
def _scanner() -> re.Pattern[str]:
    unit, time = _any(unit_names()), _any(unit_names(Dimension.TIME))
    number = _NUMBER
    parts = {
        "percent": rf"(?:{number}) ?%",
        "lab": rf"(?:{number}) ?(?:m?g|mmol|meq|u?iu|ng|pg|miu)/d?l(?!\w)",
        "rate": rf"(?P<rn>{number}) ?(?P<ru>{unit}) ?(?:/|per) ?(?P<rt>{time})(?!\w)",
        "conc": rf"(?P<cn>{number}) ?(?P<cu>{unit}) ?(?:/|per|in) ?(?P<dn>{number})? ?"
        rf"(?P<du>{_any((*unit_names(Dimension.VOLUME), *unit_names(Dimension.COUNT)))})(?!\w)",
        "spread": rf"(?:q|every|each) ?(?P<s1>{number}) ?(?:-|to|or) ?(?P<s2>{number}) ?-?"
        rf"(?P<su>{time})(?!\w)",
        "every": rf"(?:q|every|each) ?\.?(?P<en>{number}) ?-?(?P<eu>{time})?(?!\w|-\d)",
        "hourly": rf"(?P<hn>{number})[ -]hourly",
        "times": rf"(?P<tn>{number}) ?(?:(?:times?|x) ?(?:a|per|/|each|every)?|a|per|/)"
        r" ?(?:day|daily)(?!\w)",
        "over": rf"(?:over|duration|for the duration of) (?P<on>{number}) ?-?(?P<ou>{time})(?!\w)",
        "day": rf"(?:{_any((*_PER_DAY, *_HOURS_OF_WORD))})(?!\w)",
        "once": rf"(?:{_any(_ONCE)})(?!\w)",
        "needed": rf"(?:{_any(_AS_NEEDED)})(?!\w)",
        "route": rf"(?:{_any(tuple(_route_words()))})(?!\w)",
        "dose": rf"(?P<an>{number}) ?-?(?P<au>{unit})(?!\w|/)",
        "word": r"[\w.%+'-]+|[^\w\s]",
    }
    return re.compile("|".join(f"(?P<{name}>{part})" for name, part in parts.items()))


def plain(text: str) -> str:
    """Return a text as it is scanned: lower case, digits for number words, plain numbers."""
    text = squeezed(text)
    text = re.sub(r"(?<=\d),(?=\d{3}(?!\d))", "", text)
    words = "|".join(_DIGITS)
    return re.sub(rf"\b({words})\b(?!-time)", lambda found: _DIGITS[found[1]], text)


def read_words(text: str) -> Sig:
    """Return what running text claims, and which of its words it could not read."""
    sig = Sig()
    for found in _scanner().finditer(plain(text)):
        kind = next(name for name in _READERS if found.group(name) is not None)
        _READERS[kind](sig, found)
    return sig


def _rate(sig: Sig, found: re.Match[str]) -> None:
    read = amount(float(found["rn"]), f"{found['ru']}/{found['rt']}")
    if read:
        sig.rates.add(read)


def _concentration(sig: Sig, found: re.Match[str]) -> None:
    above = amount(float(found["cn"]), found["cu"])
    below = amount(float(found["dn"] or 1), found["du"])
    if above and below:
        sig.strengths.add(above.over(below))


def _every(sig: Sig, found: re.Match[str]) -> None:
    hours = amount(float(found["en"]), found["eu"] or "h")
    if hours:
        sig.intervals.add(hours.value)


def _spread(sig: Sig, found: re.Match[str]) -> None:
    for end in ("s1", "s2"):
        hours = amount(float(found[end]), found["su"])
        if hours:
            sig.intervals.add(hours.value)


def _times(sig: Sig, found: re.Match[str]) -> None:
    sig.intervals.add(round(24.0 / float(found["tn"]), 9))


def _over(sig: Sig, found: re.Match[str]) -> None:
    hours = amount(float(found["on"]), found["ou"])
    if hours:
        sig.durations.add(hours.value)


def _day(sig: Sig, found: re.Match[str]) -> None:
    word = found["day"]
    sig.intervals.add(_HOURS_OF_WORD[word] if word in _HOURS_OF_WORD else 24.0 / _PER_DAY[word])


def _dose(sig: Sig, found: re.Match[str]) -> None:
    read = amount(float(found["an"]), found["au"])
    if read and read.of in (Dimension.TIME, Dimension.VOLUME):
        sig.unread.add(found[0])
    elif read:
        sig.doses.add(read)


def _word(sig: Sig, found: re.Match[str]) -> None:
    word = found["word"].strip(".'-")
    known = filler("prescription")
    if word in known or all(part in known for part in word.split("-")):
        return
    if any(c.isalnum() or c in "<>=~≥≤" for c in word):
        sig.unread.add(word)


_READERS: Mapping[str, Callable[[Sig, re.Match[str]], None]] = {
    "percent": lambda sig, found: None,
    "lab": lambda sig, found: sig.unread.add(found[0]),
    "rate": _rate,
    "conc": _concentration,
    "spread": _spread,
    "every": _every,
    "hourly": lambda sig, found: sig.intervals.add(float(found["hn"])),
    "times": _times,
    "over": _over,
    "day": _day,
    "once": lambda sig, found: sig.single.add(True),
    "needed": lambda sig, found: sig.as_needed.add(True),
    "route": lambda sig, found: sig.routes.add(_route_words()[found["route"]]),
    "dose": _dose,
    "word": _word,
}


def read_timing_code(code: str) -> Sig:
    """Return what a code of HL7's timing abbreviations claims, such as ``"Q8H"`` or ``"QD"``."""
    sig = Sig()
    hours = _NAMED_CODES.get(code.strip().lower())
    if hours is None:
        return read_words(code)
    sig.intervals.add(hours)
    return sig
