"""The clinical vocabulary: conditions, findings, measures and drugs, read from JSON.

Findings and drug classes form small hierarchies: whoever has ulcerative colitis has inflammatory
bowel disease, whoever takes warfarin takes an oral anticoagulant.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files

from healthgym.core.borders import Json, JsonObject
from healthgym.core.choice import Weighted
from healthgym.core.seeding import Split, stable_hash


@dataclass(frozen=True, slots=True)
class Unit:
    """Another unit of a measure: ``value * factor + offset``, to so many decimals."""

    name: str
    factor: float
    offset: float
    decimals: int

    def convert(self, value: float) -> float:
        """Return a value in this unit."""
        return round(value * self.factor + self.offset, self.decimals)


@dataclass(frozen=True, slots=True)
class Measure:
    """Something measured or counted.

    Attributes:
        key: Its name in the data.
        names: How it is called; the first is the plain name, the last often an abbreviation.
        unit: Unit in which values are kept; empty for scores.
        decimals: Decimals of a kept value.
        normal: Mean and deviation where nothing is wrong.
        range: Lowest and highest plausible value.
        include: Operators and thresholds that inclusion criteria use.
        exclude: Operators and thresholds that exclusion criteria use.
        alternative: A second unit in use, if there is one.
        step: Values are multiples of it.
    """

    key: str
    names: tuple[str, ...]
    unit: str
    decimals: int
    normal: tuple[float, float]
    range: tuple[float, float]
    include: tuple[tuple[str, float], ...]
    exclude: tuple[tuple[str, float], ...]
    alternative: Unit | None
    step: float


@dataclass(frozen=True, slots=True)
class Attribute:
    """A property of a condition with a few values, such as a stage.

    Attributes:
        key: Its name in the data.
        label: What it is called.
        values: Value key -> how the value is worded; the first wording is the plain one.
        shares: How common each value is.
    """

    key: str
    label: str
    values: Mapping[str, tuple[str, ...]]
    shares: Weighted[str]


@dataclass(frozen=True, slots=True)
class Condition:
    """A condition that trials are about, and what goes with it.

    Attributes:
        key: Its name in the data; also the name of the finding.
        group: Medical field.
        sex: The sex it is confined to, or empty.
        ages: Youngest and oldest patient.
        complaints: What brings patients to hospital.
        attributes: Stages, types, mutations.
        measures: Measure -> mean and deviation in patients who have it.
        drugs: Drug classes taken for it.
        past_drugs: Drug classes taken for it earlier.
        lines: Regimens of systemic therapy -> their drugs; for cancers.
        untreated: Attribute values that mean no therapy has been given.
        comorbid: Conditions that go with it.
        events: Events that happen to those who have it.
        duration: How long patients have had it: days, weeks, months, years.
        exclude: Findings its trials exclude.
        exclude_drugs: Drug classes its trials exclude.
        mechanisms: What is tried in it.
    """

    key: str
    group: str
    sex: str
    ages: tuple[int, int]
    complaints: tuple[str, ...]
    attributes: tuple[Attribute, ...]
    measures: Mapping[str, tuple[float, float]]
    drugs: tuple[str, ...]
    past_drugs: tuple[str, ...]
    lines: Mapping[str, tuple[str, ...]]
    untreated: Mapping[str, str]
    comorbid: tuple[str, ...]
    events: tuple[str, ...]
    duration: tuple[str, ...]
    exclude: tuple[str, ...]
    exclude_drugs: tuple[str, ...]
    mechanisms: tuple[str, ...]

    def mechanisms_of(self, split: Split) -> tuple[str, ...]:
        """Return the mechanisms tried in a split: no other split tries them in this condition.

        Half go to training, a quarter each to validation and test, by a hash of the names.
        """
        ranked = sorted(self.mechanisms, key=lambda name: stable_hash(f"{self.key}/{name}"))
        quarter = max(len(ranked) // 4, 1)
        parts = {
            Split.TEST: ranked[:quarter],
            Split.VALIDATION: ranked[quarter : 2 * quarter],
            Split.TRAIN: ranked[2 * quarter :],
        }
        return tuple(parts[split])


@dataclass(frozen=True)
class Vocabulary:
    """Everything that patients and trials are made of.

    Attributes:
        conditions: Conditions that trials are about.
        measures: Measures by key.
        findings: Finding -> its names, the plain one first.
        drug_classes: Drug class -> its names, the plain one first.
        members: Drug class -> its drugs.
        class_of: Drug -> its class.
        wider: Finding, or drug class -> itself and every wider term.
        general: Lists that hold for every patient and every trial.
    """

    conditions: Mapping[str, Condition]
    measures: Mapping[str, Measure]
    findings: Mapping[str, tuple[str, ...]]
    drug_classes: Mapping[str, tuple[str, ...]]
    members: Mapping[str, tuple[str, ...]]
    class_of: Mapping[str, str]
    wider: Mapping[str, frozenset[str]]
    general: JsonObject

    def is_event(self, finding: str) -> bool:
        """Return whether a finding happens at a time, rather than lasting."""
        return finding in self._events

    @property
    def _events(self) -> frozenset[str]:
        events: frozenset[str] = self.general["events"]
        return events


def read_data(name: str) -> Json:
    """Return one of the JSON files beside this module."""
    return json.loads((files(__package__) / "data" / name).read_text(encoding="utf-8"))


@lru_cache(maxsize=1)
def vocabulary() -> Vocabulary:
    """Return the vocabulary; immutable, and read once."""
    findings, drugs = read_data("concepts.json"), read_data("drugs.json")
    general = read_data("general.json")
    parents = {key: entry.get("parents", ()) for key, entry in (findings | drugs).items()}
    return Vocabulary(
        conditions={key: _condition(key, raw) for key, raw in read_data("conditions.json").items()},
        measures={key: _measure(key, raw) for key, raw in read_data("measures.json").items()},
        findings={key: tuple(entry["names"]) for key, entry in findings.items()},
        drug_classes={key: tuple(entry["names"]) for key, entry in drugs.items()},
        members={key: tuple(entry["members"]) for key, entry in drugs.items()},
        class_of={drug: key for key, entry in drugs.items() for drug in entry["members"]},
        wider={key: frozenset(_closure(key, parents)) for key in parents},
        general={
            key: frozenset(value) if key in ("events", "resolvable") else value
            for key, value in general.items()
        },
    )


def _closure(key: str, parents: JsonObject) -> set[str]:
    found = {key}
    for parent in parents[key]:
        found |= _closure(parent, parents)
    return found


def _measure(key: str, raw: JsonObject) -> Measure:
    return Measure(
        key=key,
        names=tuple(raw["names"]),
        unit=raw["unit"],
        decimals=raw["decimals"],
        normal=(raw["normal"][0], raw["normal"][1]),
        range=(raw["range"][0], raw["range"][1]),
        include=tuple((op, float(value)) for op, value in raw["include"]),
        exclude=tuple((op, float(value)) for op, value in raw["exclude"]),
        alternative=Unit(*raw["alt"]) if "alt" in raw else None,
        step=raw.get("step", 10.0 ** -raw["decimals"]),
    )


def _condition(key: str, raw: JsonObject) -> Condition:
    attributes = tuple(
        Attribute(
            name,
            part["label"],
            {value: tuple(words) for value, words in part["values"].items()},
            Weighted(zip(part["values"], part["weights"], strict=True), "values"),
        )
        for name, part in raw["attributes"].items()
    )
    return Condition(
        key=key,
        group=raw["group"],
        sex=raw.get("sex", ""),
        ages=(raw["age"][0], raw["age"][1]),
        complaints=tuple(raw["complaint"]),
        attributes=attributes,
        measures={name: (mean, sd) for name, (mean, sd) in raw["measures"].items()},
        drugs=tuple(raw["drugs"]),
        past_drugs=tuple(raw["past_drugs"]),
        lines={name: tuple(parts) for name, parts in raw.get("lines", {}).items()},
        untreated=raw.get("untreated", {}),
        comorbid=tuple(raw["comorbid"]),
        events=tuple(raw["events"]),
        duration=tuple(raw["duration"]),
        exclude=tuple(raw["exclude"]),
        exclude_drugs=tuple(raw["exclude_drugs"]),
        mechanisms=tuple(raw["mechanisms"]),
    )
