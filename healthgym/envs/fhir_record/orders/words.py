"""Reading FHIR's containers, and free words that an order carries beside what is asked for."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Set
from functools import cache

from healthgym.core.borders import Json, JsonDict, JsonObject
from healthgym.envs.fhir_record.orders.tables import read_table

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


def texts_in(value: object) -> Iterator[str]:
    """Yield the words of a FHIR element, at any depth: what is written and is no code or day.

    What stands where R4 has no text, such as a sentence in a list of codes, is read as well, and so
    is an identifier that is a word.
    """
    if isinstance(value, str):
        yield _TAG.sub(" ", value)
    elif isinstance(value, list):
        for item in value:
            yield from texts_in(item)
    elif isinstance(value, dict):
        for key, item in value.items():
            coded = key in _CODED or _is_dated(key)
            worded = key == "value" and isinstance(item, str) and item.isalpha()
            if (worded or not (coded and _is_token(item))) and key not in _CODED_LISTS:
                yield from texts_in(item)


def _is_token(value: object) -> bool:
    """Return whether a value is a code, a unit, an address or a day, and no sentence."""
    return isinstance(value, str) and len(value.split()) < _SENTENCE


def _is_dated(key: str) -> bool:
    return key.endswith(("DateTime", "Date", "Instant", "Canonical"))


def extensions_in(value: object) -> Iterator[object]:
    """Yield what stands in extensions, those of simple values included, anywhere in an element."""
    if isinstance(value, list):
        for item in value:
            yield from extensions_in(item)
    elif isinstance(value, dict):
        for key, item in value.items():
            if key == "extension" or key.startswith("_"):
                yield item
            else:
                yield from extensions_in(item)


#: ICD-10's chapter of what was not carried out, as codes without a text say it.
_NOT_CARRIED_OUT = "Z53"


def withheld_codes(value: object) -> bool:
    """Return whether a code anywhere in a value says that what is ordered was not carried out."""
    if isinstance(value, list):
        return any(map(withheld_codes, value))
    if not isinstance(value, dict):
        return False
    code = value.get("code")
    if isinstance(code, str) and code.startswith(_NOT_CARRIED_OUT):
        return system_of(value.get("system")) in ("", "icd")
    return any(map(withheld_codes, value.values()))


def has_modifier(value: object) -> bool:
    """Return whether an element that may turn the meaning around stands anywhere in a value."""
    if isinstance(value, list):
        return any(has_modifier(item) for item in value)
    if not isinstance(value, dict):
        return False
    if value.get("modifierExtension") or value.get("implicitRules"):
        return True
    return any(has_modifier(item) for item in value.values())


def references_in(value: object) -> Iterator[str]:
    """Yield the references to other resources that stand anywhere in a value."""
    if isinstance(value, list):
        for item in value:
            yield from references_in(item)
    elif isinstance(value, dict):
        if isinstance(value.get("reference"), str):
            yield value["reference"]
        for item in value.values():
            yield from references_in(item)


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


def inlined(resource: JsonObject) -> JsonObject:
    """Return an order with its medication in place, where that is a contained resource.

    Only a Medication that is nothing but a code stands for one; others are left where they are.
    """
    reference, held = resource.get("medicationReference"), resource.get("contained")
    if not isinstance(reference, dict) or not isinstance(held, list) or len(held) != 1:
        return resource
    drug, shown = held[0], reference.get("display")
    if not isinstance(drug, dict) or drug.keys() - {"resourceType", "id", "code", "status"}:
        return resource
    code = drug.get("code")
    if (
        drug.get("resourceType") != "Medication"
        or reference.get("reference") != f"#{drug.get('id')}"
        or drug.get("status", "active") != "active"
        or not isinstance(code, dict)
        or "medicationCodeableConcept" in resource
    ):
        return resource
    if isinstance(shown, str):
        code = {**code, "coding": [*listed(code.get("coding")), {"display": shown}]}
    rest = {k: v for k, v in resource.items() if k not in ("medicationReference", "contained")}
    return {**rest, "medicationCodeableConcept": code}


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
    plain = url.strip().lower().rstrip("/")
    unsecured = plain.replace("https://", "http://", 1)
    return str(_systems().get(plain, _systems().get(unsecured, "local")))


@cache
def _systems() -> Mapping[str, str]:
    return {url.lower(): name for url, name in _table()["systems"].items()}


@cache
def _table() -> JsonDict:
    table: JsonDict = read_table("elements")
    return table
