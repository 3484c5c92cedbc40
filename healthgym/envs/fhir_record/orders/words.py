"""Reading FHIR's containers, and free words that an order carries beside what is asked for."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Set
from functools import cache
from importlib import resources

from healthgym.core.borders import Json, JsonDict, JsonObject
from healthgym.envs.fhir_record.orders.quantities import squeezed

#: Words by which somebody takes back, forbids or doubts what is ordered.
_DENIAL = re.compile(
    r"\b(?:not|no|never|none|nor|don'?t|cannot|can'?t|shouldn'?t|without|false|untrue|wrong|"
    r"incorrect|cancel\w*|void\w*|disregard\w*|ignore\w*|hold|held|withh[eo]ld\w*|stop\w*|"
    r"discontinu\w*|mistake\w*|error\w*|erroneous\w*|instead|avoid\w*|refus\w*|declin\w*|"
    r"contraindicat\w*|unless|only if|withdr[ae]w\w*|revok\w*|invalid\w*|retract\w*|delete\w*|"
    r"unnecessary|unneeded|rejected|abort\w*|suspend\w*|postpone\w*|defer\w*|fake|allerg\w*)\b"
)
_DRUGS = (
    r"(?:(?:all|the|active|offending|qtc?[- ]prolonging|these|those|and|,) ?)*"
    r"(?:drugs?|medications?|medicines?|agents?|ondansetron|prochlorperazine|haloperidol|quetiapine|"
    r"olanzapine|risperidone|ziprasidone|clozapine|chlorpromazine|enoxaparin|dalteparin|warfarin|"
    r"amiodarone|citalopram|levofloxacin|azithromycin|methadone|"
    r"fondaparinux|apixaban|rivaroxaban|dabigatran)(?:,? (?:and )?\w+)?"
)
#: What sounds like denial and states a finding: that something else is absent, or was ended.
_FINDING = re.compile(
    r"\b(?:no|without)(?: any| an?)? (?:prior|previous|recent|active|current|existing|documented|"
    r"recorded)(?: \w+){0,4}|\b(?:no|without)(?: an?)?(?: [\w-]+){1,4} order\b"
    r"|\b(?:no|without)(?: an?)?(?: [\w-]+){0,4}"
    r" (?:on record|on file|recorded|found|available|documented|in (?:the )?chart)\b"
    rf"|\b(?:stopp(?:ed|ing)|discontinu(?:ed|ing)|after stop of) {_DRUGS}"
    rf"|\b{_DRUGS} (?:(?:was|were|has been|have been|is|are) )?(?:stopped|discontinued)\b"
)
#: What sounds like denial and is ordinary advice.
_ADVICE = re.compile(
    r"\bdo(?:es)? not (?:crush|chew|break|split|swallow whole)"
    r"(?:,? (?:or|and) (?:crush|chew|break|split))?\b|\bno response\b|\bno improvement\b"
    r"|\bno known (?:drug )?allergies\b|\bdo not repeat more often than every 2 minutes\b"
)
_TAG = re.compile(r"<[^<>]*>")
#: Elements whose strings are codes, names of things, days and numbers, and no words.
_CODED = frozenset(
    {"system", "code", "unit", "value", "reference", "url", "uri", "id", "versionId",
     "lastUpdated", "source", "language", "resourceType", "status", "intent", "priority", "start",
     "end", "authoredOn", "issued", "use", "comparator", "time", "event", "when", "dayOfWeek",
     "timeOfDay", "periodUnit", "durationUnit", "instantiatesCanonical", "instantiatesUri",
     "profile", "contentType", "hash", "data"}
)  # fmt: skip
#: So many words are a sentence, in whatever element.
_SENTENCE = 3
#: Those of them that may be lists.
_CODED_LISTS = frozenset(
    {"event", "when", "dayOfWeek", "timeOfDay", "profile", "instantiatesCanonical",
     "instantiatesUri"}
)  # fmt: skip


def denies(text: str) -> bool:
    """Return whether a text takes back, forbids or doubts what it stands beside."""
    plain = squeezed(text).replace("\u2019", "'")
    return _DENIAL.search(_FINDING.sub(" ", _ADVICE.sub(" ", plain))) is not None


def texts_in(value: object) -> Iterator[str]:
    """Yield the words of a FHIR element, at any depth: what is written and is no code or day.

    What stands where R4 has no text, such as a sentence in a list of codes, is read as well.
    """
    if isinstance(value, str):
        yield _TAG.sub(" ", value)
    elif isinstance(value, list):
        for item in value:
            yield from texts_in(item)
    elif isinstance(value, dict):
        for key, item in value.items():
            coded = key in _CODED or _is_dated(key)
            if not (coded and _is_token(item)) and key not in _CODED_LISTS:
                yield from texts_in(item)


def _is_token(value: object) -> bool:
    """Return whether a value is a code, a unit, an address or a day, and no sentence."""
    return isinstance(value, str) and len(value.split()) < _SENTENCE


def _is_dated(key: str) -> bool:
    return key.endswith(("DateTime", "Date", "Instant", "Canonical"))


def has_modifier(value: object) -> bool:
    """Return whether an element that may turn the meaning around stands anywhere in a value."""
    if isinstance(value, list):
        return any(has_modifier(item) for item in value)
    if not isinstance(value, dict):
        return False
    if value.get("modifierExtension") or value.get("implicitRules"):
        return True
    return any(has_modifier(item) for item in value.values())


def is_one_of(value: object, words: Set[str]) -> bool:
    """Return whether a value, which may be anything that JSON has, is one of some words."""
    return isinstance(value, str) and value in words


def listed(value: object) -> list[Json]:
    """Return a list; FHIR's lists are sometimes sent as their only element."""
    if isinstance(value, list):
        return value
    return [] if value is None else [value]


def objects(value: object) -> list[JsonDict]:
    """Return the JSON objects among one or several elements."""
    return [item for item in listed(value) if isinstance(item, dict)]


@cache
def element_names() -> Mapping[str, frozenset[str]]:
    """Return the R4 elements that each part of an order may have."""
    table = _table()
    common = frozenset(table["common"])
    names = {key: frozenset(value) for key, value in table.items() if key not in ("systems",)}
    for kind in ("MedicationRequest", "ServiceRequest", "Observation"):
        names[kind] = names[kind] | common
    return names


def unknown_elements(value: JsonObject, part: str) -> set[str]:
    """Return the elements of a part of an order that R4 does not know, or that are not read."""
    return {key for key in value if key not in element_names()[part] and not key.startswith("_")}


def system_of(url: object) -> str:
    """Return the short name of a code system, ``""`` without one, ``"local"`` if unknown."""
    if not isinstance(url, str) or not url.strip():
        return ""
    plain = url.strip().lower().rstrip("/").replace("https://loinc", "http://loinc")
    return str(_systems().get(plain, "local"))


@cache
def _systems() -> Mapping[str, str]:
    return {url.lower(): name for url, name in _table()["systems"].items()}


@cache
def _table() -> JsonDict:
    folder = resources.files("healthgym.envs.fhir_record")
    text = folder.joinpath("data/orders/elements.json").read_text(encoding="utf-8")
    table: JsonDict = json.loads(text)
    return table
