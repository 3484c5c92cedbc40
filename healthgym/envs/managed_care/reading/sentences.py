"""Criteria taken back from sentences.

A sentence is matched against the wordings that policies are written in, with the page's table of
terms to tell where a term begins and ends. A sentence must say one thing: none, or two that differ,
is an error.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache

from healthgym.errors import DataError
from healthgym.worlds.managed_care.facts import StopReason
from healthgym.worlds.managed_care.policies.criteria import (
    AgeCriterion,
    AnyCriterion,
    ContraindicationCriterion,
    CountCriterion,
    DiagnosisCriterion,
    FindingCriterion,
    MeasurementCriterion,
    ProcedureCriterion,
    QuantityCriterion,
    SiteCriterion,
    StepTherapyCriterion,
    TherapyCriterion,
)
from healthgym.worlds.managed_care.policies.units import printed_units
from healthgym.worlds.managed_care.policies.wording import wordings
from healthgym.worlds.managed_care.vocabulary.authorization import (
    ItemOperator,
    PlaceOfService,
    RollUp,
)

Words = Mapping[str, str]


class UnreadableSentenceError(DataError):
    """A sentence of a page does not say one thing."""


@dataclass(frozen=True, slots=True)
class Term:
    """A row of a page's table of terms.

    Attributes:
        name: The term.
        source: Where it is read from, as the table has it.
    """

    name: str
    source: str

    def part(self, before: str, until: str = ";") -> tuple[str, ...]:
        """Return the comma-separated words that follow ``before`` in the source."""
        _, found, rest = self.source.partition(before)
        words = rest.partition(until)[0] if found else ""
        return tuple(word.strip() for word in words.split(",") if word.strip())


#: How each family of wordings begins in the table of terms; None where terms are not in it.
_SOURCES = {
    "measurement": ("LOINC ", "Score or value "),
    "count": ("LOINC ", "Score or value "),
    "step": ("Class ",),
    "therapy": ("Treatment ",),
    "finding": ("Entry ",),
    "diagnosis": ("ICD-10-CM ",),
    "procedure": ("CPT/HCPCS ",),
    "contraindication": ("Substance ",),
}


def criterion_from(sentence: str, criterion_id: str, terms: tuple[Term, ...]) -> AnyCriterion:
    """Return the criterion that a sentence states.

    Args:
        sentence: As the page has it.
        criterion_id: The number it stands under.
        terms: The page's table of terms.

    Raises:
        UnreadableSentenceError: If it says nothing known, or two different things.
    """
    read: list[AnyCriterion] = []
    low = sentence.casefold()
    for variant, templates in wordings()["criteria"].items():
        family = variant.partition("_")[0]
        known = _known(terms, family)
        if known is not None and not known:
            continue
        for template in templates:
            # Most are out by their first and last words, before an expression is made of them.
            head, tail = _ends(template)
            if not (low.startswith(head) and low.endswith(tail)):
                continue
            match = _pattern(template, known).fullmatch(sentence)
            if match is None:
                continue
            words = {name: text for name, text in match.groupdict().items() if text is not None}
            term = _term(terms, words.get("display") or words.get("class", ""), family)
            made = _MAKERS[family](criterion_id, variant, words, term)
            if made not in read:
                read.append(made)
    if len(read) != 1:
        raise UnreadableSentenceError(
            f"{criterion_id}: {sentence!r} has {len(read)} readings; 1 is needed."
        )
    return read[0]


def _known(terms: tuple[Term, ...], family: str) -> tuple[str, ...] | None:
    if family not in _SOURCES:
        return None
    return tuple(term.name for term in terms if term.source.startswith(_SOURCES[family]))


def _term(terms: tuple[Term, ...], name: str, family: str) -> Term:
    for term in terms:
        fits = term.name.lower() == name.lower()
        if fits and family in _SOURCES and term.source.startswith(_SOURCES[family]):
            return term
    return Term(name, "")


@cache
def _ends(template: str) -> tuple[str, str]:
    """Return what a wording begins and ends with, case aside, as far as that is always so."""
    pieces = re.split(r"\{\w+\}|months?", template)
    return pieces[0].casefold(), pieces[-1].casefold()


@lru_cache(maxsize=512)
def _pattern(template: str, known: tuple[str, ...] | None) -> re.Pattern[str]:
    """Return the expression that matches a wording, with a group for each slot."""
    slots = _slot_patterns()
    term = ".+?" if known is None else "|".join(map(re.escape, known))
    slots = {**slots, "display": f"(?P<display>{term})", "class": f"(?P<class>{term})"}
    pieces = re.split(r"\{(\w+)\}", template)
    text = "".join(
        slots[piece] if index % 2 else re.escape(piece).replace("months", "months?")
        for index, piece in enumerate(pieces)
    )
    return re.compile(text, re.IGNORECASE)


@cache
def _slot_patterns() -> dict[str, str]:
    table = wordings()
    phrases = [phrase for options in table["operators"].values() for phrase in options]
    number = r"\d+(?:\.\d+)?"
    units = _either(printed_units().values())
    words = {name: _listing(_either(table[name].values())) for name in ("reasons", "sites")}
    whole = ("months", "minimum", "maximum", "weeks", "sessions")
    return {
        **{name: rf"(?P<{name}>\d+)" for name in whole},
        "bound": rf"(?P<operator>{_either(phrases)}) (?P<threshold>{number}) (?P<unit>{units})",
        "agents": r"(?:(?P<agents>\d+) (?:different )?agents?)",
        "drugs": "(?P<drugs>.+?)",
        "grades": "(?P<grades>.+?)",
        "unit": "(?P<unit>[a-z]+)",
        "reasons": f"(?P<reasons>{words['reasons']})",
        "early": f"(?P<early>{words['reasons']})",
        "sites": f"(?P<sites>{words['sites']})",
    }


def _either(words: object) -> str:
    ordered = sorted(map(str, words), key=len, reverse=True)  # type: ignore[call-overload]
    return "|".join(re.escape(word) for word in ordered)


def _listing(word: str) -> str:
    return f"(?:(?:{word}), )*(?:{word})(?: or (?:{word}))?"


def _split(text: str) -> tuple[str, ...]:
    """Return the words of a list in a sentence."""
    return tuple(re.split(r", | or ", text))


def _back(table: Mapping[str, str], text: str) -> tuple[str, ...]:
    """Return the keys of a phrase table that stand behind the words of a list."""
    keys = {phrase.lower(): key for key, phrase in table.items()}
    return tuple(keys[word.lower()] for word in _split(text))


def _bound(words: Words) -> tuple[ItemOperator, float, str]:
    operators = {
        phrase: name for name, options in wordings()["operators"].items() for phrase in options
    }
    units = {shown.lower(): unit for unit, shown in printed_units().items()}
    operator = ItemOperator(operators[words["operator"].lower()])
    return operator, float(words["threshold"]), units[words["unit"].lower()]


def _code(term: Term) -> str:
    return term.source.removeprefix("LOINC ").removeprefix("Score or value ")


def _measurement(name: str, variant: str, words: Words, term: Term) -> AnyCriterion:
    operator, threshold, unit = _bound(words)
    return MeasurementCriterion(
        id=name,
        display=term.name,
        code=_code(term),
        operator=operator,
        threshold=threshold,
        unit=unit,
        months=int(words["months"]),
        recency="any" if variant.endswith("any") else "latest",
    )


def _count(name: str, variant: str, words: Words, term: Term) -> AnyCriterion:
    operator, threshold, unit = _bound(words)
    return CountCriterion(
        id=name,
        display=term.name,
        code=_code(term),
        operator=operator,
        threshold=threshold,
        unit=unit,
        minimum=int(words["minimum"]),
        months=int(words["months"]),
    )


def _step(name: str, variant: str, words: Words, term: Term) -> AnyCriterion:
    reasons = wordings()["reasons"]
    early = _back(reasons, words["early"]) if "early" in words else ()
    return StepTherapyCriterion(
        id=name,
        display=term.name,
        drug_class=term.part("Class ")[0],
        drugs=_split(words["drugs"]),
        excluded=term.part("not counted: "),
        agents=int(words["agents"]),
        weeks=int(words["weeks"]),
        reasons=tuple(map(StopReason, _back(reasons, words["reasons"]))),
        early=tuple(map(StopReason, early)),
    )


def _therapy(name: str, variant: str, words: Words, term: Term) -> AnyCriterion:
    return TherapyCriterion(
        id=name,
        display=term.name,
        therapy=term.part("Treatment ")[0],
        sessions=int(words.get("sessions", 0)),
        weeks=int(words.get("weeks", 0)),
        months=int(words["months"]),
    )


def _finding(name: str, variant: str, words: Words, term: Term) -> AnyCriterion:
    graded = term.source.partition("graded ")[2]
    scale = tuple(graded.split(" < ")) if graded else ("absent", "present")
    form = variant.removeprefix("finding_").removesuffix("_ever")
    accepted = _split(words["grades"]) if form == "graded" else (form,)
    return FindingCriterion(
        id=name,
        display=term.name,
        key=term.part("Entry ")[0],
        scale=scale,
        accepted=accepted,
        months=int(words["months"]) if "months" in words else None,
    )


def _silent(variant: str) -> RollUp:
    return RollUp.ANY_NOT_MET if variant.endswith("_not") else RollUp.ALL_ITEMS


def _diagnosis(name: str, variant: str, words: Words, term: Term) -> AnyCriterion:
    return DiagnosisCriterion(
        id=name,
        display=term.name,
        prefixes=term.part("ICD-10-CM "),
        examples=term.part("such as "),
        near="".join(term.part("not specific enough: ")),
        wanted=not variant.endswith("_not"),
        roll_up=_silent(variant),
    )


def _contraindication(name: str, variant: str, words: Words, term: Term) -> AnyCriterion:
    return ContraindicationCriterion(
        id=name,
        display=term.name,
        substances=term.part("Substance "),
        wanted=not variant.endswith("_not"),
        roll_up=_silent(variant),
    )


def _procedure(name: str, variant: str, words: Words, term: Term) -> AnyCriterion:
    return ProcedureCriterion(
        id=name,
        display=term.name,
        codes=term.part("CPT/HCPCS "),
        months=int(words["months"]),
        wanted=not variant.endswith("_not"),
        roll_up=_silent(variant),
    )


def _site(name: str, variant: str, words: Words, term: Term) -> AnyCriterion:
    sites = tuple(map(PlaceOfService, _back(wordings()["sites"], words["sites"])))
    return SiteCriterion(id=name, display="place of service", sites=sites)


def _quantity(name: str, variant: str, words: Words, term: Term) -> AnyCriterion:
    display = words["display"][0].lower() + words["display"][1:]
    maximum = int(words["maximum"])
    return QuantityCriterion(id=name, display=display, maximum=maximum, unit=words["unit"])


def _age(name: str, variant: str, words: Words, term: Term) -> AnyCriterion:
    low, high = int(words.get("minimum", 0)), int(words.get("maximum", 120))
    return AgeCriterion(id=name, display="age", minimum=low, maximum=high)


_MAKERS: Mapping[str, Callable[[str, str, Words, Term], AnyCriterion]] = {
    "measurement": _measurement,
    "count": _count,
    "step": _step,
    "therapy": _therapy,
    "finding": _finding,
    "diagnosis": _diagnosis,
    "contraindication": _contraindication,
    "procedure": _procedure,
    "site": _site,
    "quantity": _quantity,
    "age": _age,
}
