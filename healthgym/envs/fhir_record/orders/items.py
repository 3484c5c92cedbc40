"""What can be ordered: the names and codes it goes by, and which texts name it and nothing else."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache

from healthgym.core.borders import JsonDict, JsonObject
from healthgym.envs.fhir_record.orders.quantities import Dimension, amount, filler, unit_names
from healthgym.envs.fhir_record.orders.sig import Sig, form_fits, plain, read_words
from healthgym.envs.fhir_record.orders.tables import read_table
from healthgym.envs.fhir_record.orders.words import objects, system_of
from healthgym.envs.fhir_record.task import OrderSpec


@dataclass(frozen=True, slots=True)
class Item:
    """Something that can be ordered.

    Attributes:
        names: What it is called; a text must hold one of them.
        words: Further words that a name of it may hold.
        codes: Its codes by short name of their system: each may stand for it beside another.
        asked: Further codes that a question may ask for; they stand for it only if it does.
        per_ml: Least and greatest strength per mL of its solutions; None if there are none.
        solid: Strengths of its tablets or sprays.
        each_ml: How many mL one spray is; 0 if a strength per mL is of a solution.
        against: Words that ask for the opposite, such as to leave what is to be removed.
        finding: Words of a denial that are the reason for the order.
        thing: What an order takes away is called, as a pattern; empty if it takes nothing away.
        taken: Ways to say that this is to be taken away, and the plain one.
        reasons: Words that a name of it may give as its reason, behind "for" or a dash.
    """

    names: tuple[str, ...]
    words: frozenset[str]
    codes: Mapping[str, frozenset[str]]
    asked: Mapping[str, frozenset[str]]
    per_ml: tuple[float, float] | None
    solid: tuple[float, ...]
    each_ml: float
    against: re.Pattern[str] | None
    finding: re.Pattern[str] | None
    thing: str
    taken: tuple[re.Pattern[str], str] | None
    reasons: frozenset[str]


@cache
def _items() -> Mapping[str, Item]:
    table = read_table("items")
    return {
        name: Item(
            names=tuple(sorted(map(_unpointed, row["names"]), key=len, reverse=True)),
            words=frozenset(row["words"]),
            codes={system: frozenset(codes) for system, codes in row["codes"].items()},
            asked={system: frozenset(codes) for system, codes in row.get("asked", {}).items()},
            per_ml=tuple(row["per_ml"]) if "per_ml" in row else None,
            solid=tuple(row.get("solid", ())),
            each_ml=row.get("each_ml", 0.0),
            against=re.compile(row["against"]) if "against" in row else None,
            finding=re.compile(row["finding"]) if "finding" in row else None,
            thing=row.get("thing", ""),
            taken=_taken(row),
            reasons=frozenset(row.get("reasons", ())),
        )
        for name, row in table.items()
    }


def _taken(row: JsonDict) -> tuple[re.Pattern[str], str] | None:
    """Return the ways to say that a thing is to be taken away, the plain one apart."""
    if "taken" not in row:
        return None
    plainly, *others = row["taken"]
    ways = "|".join(others).replace("{thing}", row["thing"])
    return re.compile(rf"\b(?:{ways})(?![\w-])"), plainly


def item_of(spec: OrderSpec) -> Item:
    """Return what a specification asks for."""
    return _items()[spec.item]


#: Systems whose code for a drug nobody can check here: its own display has to name the drug. ATC
#: has one code for a drug by one way, and it is listed.
_OPEN_SYSTEMS = frozenset({"", "local", "rxnorm", "ndc", "snomed"})
#: Those in which a product may be named beside the code that was asked for.
_OF_PRODUCTS = frozenset({"local", "rxnorm"})


def is_right_code(spec: OrderSpec, coding: JsonObject) -> bool:
    """Return whether a coding is one that the specification asks for, in a system that fits."""
    if coding.get("code") not in spec.codes:
        return False
    system = system_of(coding.get("system"))
    item = item_of(spec)
    if spec.system:
        asked = system_of(spec.system)
        # A code of the item needs no system to be told by, whichever question asks for it.
        bare = not system and coding["code"] in item.codes.get(asked, ())
        return system == asked or bare
    known = item.codes.get(system, frozenset()) | item.asked.get(system, frozenset())
    return system in ("", "local") or coding["code"] in known


def fits_code(spec: OrderSpec, coding: JsonObject) -> bool:
    """Return whether a coding says nothing else than the specification."""
    code, system = coding.get("code"), system_of(coding.get("system"))
    if is_right_code(spec, coding):
        return True
    if code is None:
        return isinstance(coding.get("display"), str)
    if not isinstance(code, str):
        return False
    if code in item_of(spec).codes.get(system, ()):
        return True
    named = isinstance(coding.get("display"), str)
    if not spec.codes:
        open_systems = _OPEN_SYSTEMS
    else:  # a house's own code, or a product of the drug, beside the one asked for
        open_systems = _OF_PRODUCTS if spec.dose else frozenset({"local"})
    return named and system in open_systems and not _is_code_of_other(code, system)


def _is_code_of_other(code: str, system: str) -> bool:
    """Return whether a code is known as that of another item, or of a drug that is none."""
    if any(code in codes for item in _items().values() for codes in item.codes.values()):
        return True
    return any(code in codes for name, codes in _others().items() if system in ("", name))


@cache
def _others() -> Mapping[str, frozenset[str]]:
    """Return codes of drugs that are no item, by the short name of their system."""
    return {system: frozenset(drugs.values()) for system, drugs in read_table("others").items()}


def names_in(concept: object) -> Iterator[str]:
    """Yield the texts by which a CodeableConcept says what it means."""
    if not isinstance(concept, dict):
        return
    texts = [concept.get("text"), *(c.get("display") for c in objects(concept.get("coding")))]
    yield from (text for text in texts if isinstance(text, str) and text.strip())


# -- names of medications --------------------------------------------------------------------------


def read_drug_name(spec: OrderSpec, text: str) -> Sig:
    """Return what a medication's name claims beside the drug; unread if it names another one.

    Bare amounts in a name are strengths: a name is of the product.
    """
    item = item_of(spec)
    rest, count = _without_names(item, plain(text))
    codes = {code.lower() for code in spec.codes}
    if not count and rest.strip() in codes:
        return Sig()
    sig = read_words(rest)
    sig.unread = {word for word in sig.unread if not is_of(item.words | codes, word)}
    if not count or not form_fits(spec.route, rest):
        sig.unread.add(text)
    sig.strengths |= sig.doses
    sig.doses = set()
    return sig


#: The pause before a second dose of what is given for need; longer ones are another frequency.
_AGAIN = re.compile(
    r"\brepeat(?:ed)? (?:in|after) (?:\d ?(?:-|to|or) ?)?\d ?min(?:ute)?s?\b"
    r"|\bif (?:there is )?no (?:response|improvement)\b"
)
#: How long before a meal a daily dose is taken.
_BEFORE_MEALS = re.compile(
    r"\b(?:\d\d ?(?:-|to) ?)?\d\d ?min(?:ute)?s? (?=before (?:breakfast|food|meals?|eating)\b)"
)


def read_instruction(spec: OrderSpec, text: str) -> Sig:
    """Return what the words of a dosage claim; the drug may be named in it."""
    item = item_of(spec)
    rest, _ = _without_names(item, plain(text))
    sig = read_words((_AGAIN if spec.as_needed else _BEFORE_MEALS).sub(" ", rest))
    known = item.words | filler("prescription")
    sig.unread = {word for word in sig.unread if not is_of(known, word)}
    return sig


#: What may stand between the words of a name.
_BETWEEN = r"[\s,;()]+"


def _unpointed(text: str) -> str:
    """Return a text without the commas and brackets that formularies set differently."""
    return " ".join(re.sub(r"[,;()]+(?=\s|$)|(?<=\s)[(]|^[(]", " ", text).split())


def without_names(spec: OrderSpec, text: str, *, pointed: bool = False) -> str:
    """Return a text in the form it is scanned in, less what names the thing ordered.

    Args:
        spec: The order.
        text: The text.
        pointed: Whether commas and brackets stay, where they are the borders of clauses.
    """
    return _without_names(item_of(spec), plain(text), pointed=pointed)[0]


def has_name(spec: OrderSpec, text: str) -> bool:
    """Return whether a text holds a name of what is ordered, such as its brand."""
    return _without_names(item_of(spec), plain(text))[1] > 0


def names_other(spec: OrderSpec, text: str) -> bool:
    """Return whether a text names another service or drug than the one ordered."""
    rest = without_names(spec, text)
    others = (item for name, item in _items().items() if name not in (spec.item, "ending"))
    return any(_without_names(item, rest)[1] for item in others)


def _without_names(item: Item, text: str, *, pointed: bool = False) -> tuple[str, int]:
    count = 0
    text = text if pointed else _unpointed(text)
    for name in item.names:
        words = _BETWEEN.join(map(re.escape, name.split()))
        text, found = re.subn(rf"(?<![\w-]){words}(?![\w-])", " ", text)
        count += found
    return text, count


# -- names of services -----------------------------------------------------------------------------

_UNIT = "|".join(unit_names(Dimension.TIME))
#: Hours beyond which a time is as far as any.
_FAR = 1e6
_OFFSET = re.compile(rf"(?<![\w/])(\d+)[ -]?({_UNIT})\b(?: from now| later)?")
CLOCK = re.compile(r"(?<![\d/])(\d{1,2})(?::(\d\d))?(?::00)? ?(am|pm|a\.m\.|p\.m\.)?(?![\w/.-])")
DATE = re.compile(r"\b(?:(\d{4})-)?(\d{1,2})[-/](\d{1,2})(?:/(\d{4}))?\b")


def names_service(spec: OrderSpec, text: str, now: datetime) -> bool:
    """Return whether a text names a service and claims nothing that contradicts the order."""
    item = item_of(spec)
    words = plain(text)
    codes = {code.lower() for code in spec.codes}
    if words in codes or _letters(text) in _official(spec.item, spec.codes):
        return True
    rest, count = _without_names(item, words)
    kept, fits = _times(spec, rest, item, now)
    named, _, reason = kept.partition(" for ") if " for " in kept else kept.partition(" - ")
    known = item.words | filler("service") | codes | {""}
    understood = _are_of(known, named) and _are_of(known | item.reasons, reason)
    return bool(count) and fits and understood and "?" not in text


def _are_of(known: Set[str], text: str) -> bool:
    words = {word for word in re.findall(r"[\w.+'-]*\w", text) if any(c.isalnum() for c in word)}
    return all(is_of(known, word.strip(".'-/")) for word in words)


@cache
def _official(item: str, codes: tuple[str, ...]) -> frozenset[str]:
    """Return the letters of what terminologies print for an item, and for the codes asked for."""
    names = read_table("official").get(item, {})
    return frozenset(_letters(name) for code in ("", *codes) for name in names.get(code, ()))


def _letters(text: str) -> str:
    return "".join(letter for letter in text.lower() if letter.isalnum())


def is_of(known: Set[str], word: str) -> bool:
    """Return whether a word, or each word of a compound such as preservative-free, is known."""
    return word in known or all(part.isalpha() and part in known for part in word.split("-"))


def _times(spec: OrderSpec, text: str, item: Item, now: datetime) -> tuple[str, bool]:
    """Return a text without its times, and whether all of them lie in the order's window."""
    fits = True
    window = spec.occurrence

    def offset(found: re.Match[str]) -> str:
        nonlocal fits
        span = amount(float(found[1]), found[2])
        if item.words.issuperset({found[1], found[2]}):
            return " "
        at = now + timedelta(hours=min(span.value, _FAR)) if span else now
        fits &= window is not None and window[0] <= at <= window[1]
        return " "

    def date(found: re.Match[str]) -> str:
        nonlocal fits
        if found[0] in item.words or (found[1] is None and int(found[2]) > 12):
            return found[0]
        year = int(found[1] or found[4] or (window[0] if window else now).year)
        days = {(w.year, w.month, w.day) for w in window or ()}
        fits &= (year, int(found[2]), int(found[3])) in days
        return " "

    def clock(found: re.Match[str]) -> str:
        nonlocal fits
        if not (found[2] or found[3]):
            return found[0]
        hour = int(found[1]) % 12 if found[3] else int(found[1])
        hour += 12 if (found[3] or "").startswith("p") else 0
        fits &= window is not None and window[0].hour <= hour <= window[1].hour
        return " "

    text = _OFFSET.sub(offset, text)
    text = DATE.sub(date, text)
    text = CLOCK.sub(clock, text)
    if "tomorrow" in text:
        tomorrow = (now + timedelta(days=1)).date()
        fits &= window is not None and window[0].date() <= tomorrow <= window[1].date()
        text = text.replace("tomorrow", " ")
    return text, fits
