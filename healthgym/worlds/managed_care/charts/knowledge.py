"""What the tables say of measures, topics and forms of documents."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files
from operator import attrgetter

from healthgym.core.borders import JsonObject
from healthgym.worlds.managed_care.facts import (
    AnyFact,
    Diagnosis,
    Finding,
    Measurement,
    MedicationCourse,
    TherapyCourse,
)
from healthgym.worlds.managed_care.policies.units import (
    convert,
    leads_to_usual,
    other_units,
    printed_units,
    usual_unit,
)
from healthgym.worlds.managed_care.vocabulary.authorization import DocumentKind


@dataclass(frozen=True, slots=True)
class Measure:
    """How a measure is written.

    Attributes:
        names: Names under which notes give it.
        panel: The laboratory panel it belongs to.
        low: Lower end of the reference range, in the usual unit; None where there is none.
        high: Upper end.
        vital: Whether it is a vital sign.
        items: Items of an instrument that sum to its score.
        most: Most points an item gives.
        decimals: Decimals that are reported.
        other_decimals: Decimals that are given in another unit.
    """

    names: tuple[str, ...]
    panel: str = ""
    low: float | None = None
    high: float | None = None
    vital: bool = False
    items: tuple[str, ...] = ()
    most: int = 0
    decimals: int = 0
    other_decimals: int = 2

    def flag(self, value: float) -> str | None:
        """Return ``high``, ``low`` or ``normal`` for a value in the usual unit; None if unknown."""
        if self.low is None or self.high is None:
            return None
        if value < self.low:
            return "low"
        return "high" if value > self.high else "normal"


# There is one of each, so that what it is can be told without looking into it.
@dataclass(frozen=True, slots=True, eq=False)
class Topic:
    """A field of medicine that ties facts to a problem and to a specialist.

    Attributes:
        name: Its name, and the suffix of phrases about it.
        icd: Beginnings of ICD-10-CM codes.
        codes: Measures that follow it.
        classes: Drug classes that treat it.
        keys: Parts of the keys of findings and therapies.
        systems: What an examiner must not call normal offhand.
        specialty: Who treats it.
    """

    name: str
    icd: tuple[str, ...]
    codes: frozenset[str]
    classes: frozenset[str]
    keys: tuple[str, ...]
    systems: frozenset[str]
    specialty: str

    def covers(self, kind: str, text: str) -> bool:
        """Return whether facts of a class with this code, drug class or key belong to it."""
        if kind == Diagnosis.__name__:
            return text.startswith(self.icd)
        if kind == Measurement.__name__:
            return text in self.codes
        if kind == MedicationCourse.__name__:
            return text in self.classes
        return any(part in text for part in self.keys)


@dataclass(frozen=True, slots=True)
class Form:
    """How documents of a kind are made.

    Attributes:
        titles: Wordings of the title, with ``{focus}``, ``{specialty}`` or ``{panel}``.
        note_type: What the record calls it.
        author: Who writes it: primary, specialist, hospital, psychiatry, social_work, radiology,
            laboratory.
        encounter: Type of the encounter it belongs to; empty where it is written at the desk.
        layouts: Orders of its sections.
    """

    titles: tuple[str, ...]
    note_type: str
    author: str
    encounter: str
    layouts: tuple[tuple[str, ...], ...]


@cache
def _load(name: str) -> JsonObject:
    """Return a table, read once: of some a row is asked for at a time."""
    value: JsonObject = json.loads((files(__package__) / name).read_text("utf-8"))
    return value


@cache
def measures() -> Mapping[str, Measure]:
    """Return all measures by their code."""
    return {code: _measure(row) for code, row in _load("measures.json").items()}


def _measure(row: JsonObject) -> Measure:
    score = row.get("score", {"items": [], "most": 0})
    return Measure(
        names=tuple(row["names"]),
        panel=row.get("panel", ""),
        low=row.get("low"),
        high=row.get("high"),
        vital=row.get("vital", False),
        items=tuple(score["items"]),
        most=score["most"],
        decimals=row.get("decimals", 0),
        other_decimals=row.get("other_decimals", 2),
    )


@cache
def topics() -> tuple[Topic, ...]:
    """Return all topics, in the order in which they claim a fact."""
    return tuple(
        Topic(
            row["name"],
            tuple(row["icd"]),
            frozenset(row["codes"]),
            frozenset(row["classes"]),
            tuple(row["keys"]),
            frozenset(row["systems"]),
            row["specialty"],
        )
        for row in _load("topics.json")["topics"]
    )


#: What of a fact tells its topics, by its class; others have none.
_TELLING: Mapping[type[object], Callable[[AnyFact], str]] = {
    Diagnosis: attrgetter("code"),
    Measurement: attrgetter("code"),
    MedicationCourse: attrgetter("drug_class"),
    Finding: attrgetter("key"),
    TherapyCourse: attrgetter("kind"),
}


def topics_of(fact: AnyFact) -> tuple[Topic, ...]:
    """Return the topics that cover a fact."""
    kind = type(fact)
    read = _TELLING.get(kind)
    return _topics_of(kind.__name__, read(fact)) if read else ()


@lru_cache(maxsize=4096)
def _topics_of(kind: str, text: str) -> tuple[Topic, ...]:
    return tuple(topic for topic in topics() if topic.covers(kind, text))


@cache
def systems_of_chapter(letter: str) -> frozenset[str]:
    """Return the systems that diagnoses of an ICD-10-CM chapter may show in an examination."""
    return frozenset(_load("topics.json")["chapters"].get(letter, ()))


@cache
def short_names(code: str) -> tuple[str, ...]:
    """Return what a diagnosis is called among colleagues, by its code; empty if nothing else."""
    return tuple(_load("short_names.json").get(code, ()))


@cache
def brands() -> Mapping[str, tuple[str, ...]]:
    """Return the brands under which medicines are sold, by the name of what is in them."""
    return {name: tuple(sold) for name, sold in _load("brands.json").items()}


@cache
def _generics() -> Mapping[str, str]:
    """Return what is in a brand, by its name in small letters."""
    return {each.casefold(): name for name, sold in brands().items() for each in sold}


@lru_cache(maxsize=4096)
def generic_name(medicine: str) -> str:
    """Return a medicine's name in small letters, by what is in it where it begins with a brand."""
    said = medicine.casefold()
    first, _, rest = said.partition(" ")
    return " ".join(filter(None, (_generics().get(first, first), rest)))


def brands_of(medicine: str) -> tuple[str, ...]:
    """Return the brands of a medicine, by its name with or without a dose."""
    said = medicine.casefold().replace(",", " ").split()
    for size in range(len(said), 0, -1):
        found = brands().get(" ".join(said[:size]))
        if found:
            return found
    return ()


@cache
def topic_of_code(code: str) -> Topic | None:
    """Return the topic of an ICD-10-CM code, or None."""
    return next((topic for topic in topics() if code.startswith(topic.icd)), None)


@cache
def forms() -> Mapping[DocumentKind, Form]:
    """Return the form of every kind of document."""
    return {
        DocumentKind(kind): Form(
            tuple(row["titles"]),
            row["note_type"],
            row["author"],
            row["encounter"],
            tuple(tuple(layout) for layout in row["layouts"]),
        )
        for kind, row in _load("forms.json").items()
    }


@cache
def order_form(kind: DocumentKind, seen: bool = True) -> Form:
    """Return the form of the note of a visit from which an order comes.

    Args:
        kind: Kind of the note.
        seen: Whether the patient was there in person, and could be examined.
    """
    row = _load("order_note.json")
    usual = forms()[kind]
    told = [[name for name in layout if seen or name != "exam"] for layout in row["layouts"]]
    layouts = tuple(map(tuple, told))
    return Form(tuple(row["titles"]), usual.note_type, "specialist", usual.encounter, layouts)


@dataclass(frozen=True, slots=True)
class Study:
    """A kind of imaging study.

    Attributes:
        examination: What was examined, and how.
        key: Part of the keys of its phrases.
    """

    examination: str
    key: str


@cache
def _studies() -> list[JsonObject]:
    rows: list[JsonObject] = json.loads((files(__package__) / "studies.json").read_text("utf-8"))
    return rows


@lru_cache(maxsize=256)
def study_of(codes: tuple[str, ...]) -> Study | None:
    """Return the study in which findings, measures and procedures with some codes are seen."""
    for row in _studies():
        if any(code.startswith(start) for code in codes for start in row["match"]):
            return Study(row["examination"], row["key"])
    return None


@cache
def panels() -> Mapping[str, tuple[tuple[str, str, float, float, int], ...]]:
    """Return what panels report besides: name, unit, ends of the reference range, decimals."""
    return {name: tuple(map(tuple, rows)) for name, rows in _load("panels.json").items()}


@cache
def complaint_of(code: str) -> str:
    """Return the key of the complaints that a diagnosis brings, by the longest prefix known."""
    table = _load("complaints.json")
    ends = range(len(code), 0, -1)
    return next((str(table[code[:end]]) for end in ends if code[:end] in table), "general")


@cache
def units() -> Mapping[str, str]:
    """Return how notes write UCUM units: shorter than policies, where clinicians do."""
    return {**printed_units(), **_load("units.json")}


def written_unit(unit: str) -> str:
    """Return a UCUM unit as notes write it."""
    return units().get(unit, unit)


def converted(fact: Measurement, unit: str) -> float:
    """Return a measurement's value in another unit, rounded as reports give it.

    Raises:
        ValueError: If no conversion to that unit is known.
    """
    value = convert(fact.value, fact.unit, unit, fact.code)
    if value is None:
        raise ValueError(f"No conversion of {fact.display} ({fact.code}) to {unit} is known.")
    if unit == fact.unit:
        return value
    return round(value, decimals_of(fact, unit) if fact.code in measures() else 2)


def carried(fact: Measurement) -> Iterator[float]:
    """Yield what a measurement is in its other units, and what it is carried back from them.

    A report rounds: 194 mg/dL of glucose stands there as 10.8 mmol/L, which are 195.
    """
    for unit in other_units(fact.code, fact.unit):
        value = convert(fact.value, fact.unit, unit, fact.code)
        if value is not None:
            yield value
            back = convert(converted(fact, unit), unit, fact.unit, fact.code)
            if back is not None:
                yield back


def flagged(fact: Measurement) -> str | None:
    """Return ``high``, ``low`` or ``normal``, whatever the unit; None if it is not known."""
    known = measures().get(fact.code)
    value = convert(fact.value, fact.unit, usual_unit(fact.unit, fact.code), fact.code)
    return None if known is None or value is None else known.flag(value)


def decimals_of(fact: Measurement, unit: str) -> int:
    """Return with how many decimals a measurement is reported in a unit; 0 if unknown."""
    known = measures().get(fact.code)
    if known is None or not unit:
        return 0
    # A fact may be in the other unit: written in the usual one it has the usual decimals.
    usual = unit == fact.unit or leads_to_usual(fact.unit, unit, fact.code)
    return known.decimals if usual else known.other_decimals


def written_number(value: float, decimals: int = 0) -> str:
    """Return a number with at least so many decimals, and no more than it has."""
    plain = f"{value:.10g}"
    return f"{value:.{decimals}f}" if len(plain.partition(".")[2]) < decimals else plain
