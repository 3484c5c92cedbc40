"""The words a synthetic chart is written in: typed rows read from the package's JSON tables.

Codes and shapes follow what MedAgentBench's server holds (base-name lab codes, local order codes,
formulary-style medication texts); the rows themselves are ours. Every row carries class tags, so
that a task generator can keep a whole class, such as ``anticoagulant``, out of a background chart.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from datetime import date
from functools import cache
from importlib.resources import files
from typing import Any, Literal

from healthgym.core.borders import JsonDict, JsonObject
from healthgym.errors import DamagedDataError

Scale = Literal["linear", "log"]


@dataclass(frozen=True, slots=True)
class Signal:
    """How one measured quantity behaves.

    ``mean`` is in the reported unit. ``between`` (spread over patients), ``within`` (spread over
    time), ``male_shift`` and ``decade_slope`` (per decade of age above 50) are in the reported
    unit on a linear scale and in natural-log units on a log scale. ``tau_days`` is the time after
    which a deviation has decayed to 1/e. ``anchor`` correlates the patient's level with that of
    another signal; ``twin`` correlates the fluctuations of two signals taken together.
    """

    name: str
    mean: float
    between: float
    within: float
    tau_days: float
    scale: Scale
    floor: float
    ceiling: float
    decimals: int
    male_shift: float = 0.0
    decade_slope: float = 0.0
    anchor: str = ""
    anchor_r: float = 0.0
    twin: str = ""
    twin_r: float = 0.0


@dataclass(frozen=True, slots=True)
class Lab:
    """A laboratory or ECG result; ``loinc`` is the code under which it is ordered."""

    code: str
    display: str
    loinc: str
    units: tuple[str, ...]
    reference: tuple[float, float]
    tags: frozenset[str]
    signal: Signal


@dataclass(frozen=True, slots=True)
class Vital:
    """A flowsheet row, reported as a string; ``template`` is filled with the channel values."""

    name: str
    display: str
    template: str
    channels: tuple[Signal, ...]


@dataclass(frozen=True, slots=True)
class Panel:
    """Labs resulted together, how often by setting, and the order code that asks for them."""

    name: str
    codes: tuple[str, ...]
    inpatient: float
    outpatient: float
    order: str
    boosts: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class VitalRound:
    """Vitals charted together, and how often by setting."""

    name: str
    vitals: tuple[str, ...]
    inpatient: float
    outpatient: float


@dataclass(frozen=True, slots=True)
class ConditionForm:
    """One way a chart spells a disease: an ICD-10 code and its display."""

    code: str
    display: str


@dataclass(frozen=True, slots=True)
class Disease:
    """A latent disease: who has it, what it does to the signals, how charts spell it.

    ``prevalence`` is for women aged 18-39, 40-64 and 65 or more, ``male_factor`` multiplies it in
    men, ``raised_by`` in patients with another disease. ``effects`` shift signals at average
    severity, in the units of :class:`Signal`.
    """

    name: str
    prevalence: tuple[float, float, float]
    male_factor: float
    raised_by: Mapping[str, float]
    excludes: tuple[str, ...]
    effects: Mapping[str, float]
    tags: frozenset[str]
    forms: tuple[ConditionForm, ...]


@dataclass(frozen=True, slots=True)
class Finding:
    """A symptom, encounter reason or history entry without an effect on physiology.

    Only patients with one of ``requires``, if there are any, have it.
    """

    code: str
    display: str
    weight: float
    requires: tuple[str, ...]
    tags: frozenset[str]
    since: date | None = None


@dataclass(frozen=True, slots=True)
class Medication:
    """A formulary entry as it stands in ``medicationCodeableConcept.text``.

    Weights say how often it is ordered, those of ``indications`` on top of the general ones.
    ``since`` is the day it came into use, for what is younger than a chart may be.
    """

    text: str
    route: str
    dose: float | None
    unit: str
    timing: str
    inpatient: float
    outpatient: float
    indications: Mapping[str, float]
    tags: frozenset[str]
    since: date | None = None


@dataclass(frozen=True, slots=True)
class Procedure:
    """An order or procedure under a local or CPT code."""

    code: str
    display: str
    inpatient: float
    outpatient: float
    tags: frozenset[str]
    since: date | None = None


@dataclass(frozen=True, slots=True)
class City:
    """A place of residence; ``zip3`` is the start of its postal codes."""

    city: str
    state: str
    zip3: str
    area_code: str


@dataclass(frozen=True, slots=True)
class People:
    """Names and places. ``either`` holds given names borne by women and men."""

    female: tuple[str, ...]
    male: tuple[str, ...]
    either: tuple[str, ...]
    family: tuple[str, ...]
    streets: tuple[str, ...]
    suffixes: tuple[str, ...]
    cities: tuple[City, ...]
    race: tuple[tuple[str, float], ...]
    ethnicity: tuple[tuple[str, float], ...]

    def given(self, gender: str) -> tuple[str, ...]:
        """Return the given names in use for ``gender``."""
        return (self.female if gender == "female" else self.male) + self.either


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """All tables, in file order, with look-ups by code."""

    labs: tuple[Lab, ...]
    vitals: tuple[Vital, ...]
    panels: tuple[Panel, ...]
    rounds: tuple[VitalRound, ...]
    diseases: tuple[Disease, ...]
    findings: tuple[Finding, ...]
    medications: tuple[Medication, ...]
    procedures: tuple[Procedure, ...]
    people: People
    lab_by_code: Mapping[str, Lab] = field(repr=False)
    procedure_by_code: Mapping[str, Procedure] = field(repr=False)
    disease_by_name: Mapping[str, Disease] = field(repr=False)
    signals: tuple[Signal, ...] = field(repr=False)

    def medications_tagged(
        self, *tags: str, without: Collection[str] = ()
    ) -> tuple[Medication, ...]:
        """Return the medications that carry all of ``tags`` and none of ``without``."""
        wanted, unwanted = frozenset(tags), frozenset(without)
        return tuple(
            row for row in self.medications if wanted <= row.tags and not unwanted & row.tags
        )

    def tags(self) -> frozenset[str]:
        """Return every tag in use, in any table."""
        tables = (self.labs, self.diseases, self.findings, self.medications, self.procedures)
        return frozenset(tag for table in tables for row in table for tag in row.tags)


@cache
def vocabulary() -> Vocabulary:
    """Return the vocabulary, reading its files on first use.

    Raises:
        DamagedDataError: If a packaged table does not have the expected fields.
    """
    try:
        return _load()
    except (KeyError, TypeError, ValueError) as error:
        raise DamagedDataError(f"A vocabulary table of the cohort is damaged: {error}") from error


def _load() -> Vocabulary:
    labs = tuple(
        Lab(**_typed(row) | {"signal": Signal(name=row["code"], **row["signal"])})
        for row in _read("labs.json")
    )
    vitals = tuple(
        Vital(**row | {"channels": tuple(Signal(name=n, **s) for n, s in row["channels"].items())})
        for row in _read("vitals.json")
    )
    diseases = tuple(
        Disease(**_typed(row) | {"forms": tuple(ConditionForm(**form) for form in row["forms"])})
        for row in _read("diseases.json")
    )
    procedures = tuple(Procedure(**_typed(row)) for row in _read("procedures.json"))
    people = _read("people.json")
    return Vocabulary(
        labs=labs,
        vitals=vitals,
        panels=tuple(Panel(**_typed(row)) for row in _read("panels.json")),
        rounds=tuple(VitalRound(**_typed(row)) for row in _read("rounds.json")),
        diseases=diseases,
        findings=tuple(Finding(**_typed(row)) for row in _read("findings.json")),
        medications=tuple(Medication(**_typed(row)) for row in _read("medications.json")),
        procedures=procedures,
        people=People(
            **_typed(people)
            | {
                "cities": tuple(City(**city) for city in people["cities"]),
                "race": tuple((name, share) for name, share in people["race"]),
                "ethnicity": tuple((name, share) for name, share in people["ethnicity"]),
            }
        ),
        lab_by_code={lab.code: lab for lab in labs},
        procedure_by_code={procedure.code: procedure for procedure in procedures},
        disease_by_name={disease.name: disease for disease in diseases},
        signals=tuple(lab.signal for lab in labs)
        + tuple(channel for vital in vitals for channel in vital.channels),
    )


def _read(name: str) -> Any:
    return json.loads(files(__package__).joinpath("data", name).read_text(encoding="utf-8"))


def _typed(row: JsonObject) -> JsonDict:
    """Return ``row`` with its lists as tuples, its tags as a set and its day as a date."""
    typed: JsonDict = {
        key: tuple(value) if isinstance(value, list) else value for key, value in row.items()
    }
    if "tags" in typed:
        typed["tags"] = frozenset(typed["tags"])
    if "since" in typed:
        typed["since"] = date.fromisoformat(typed["since"])
    return typed
