"""The chronic diseases of the clinical model, as data."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from functools import cache
from importlib.resources import files

from healthgym.core.borders import JsonObject
from healthgym.worlds.managed_care.vocabulary.authorization import DocumentKind


@dataclass(frozen=True, slots=True)
class Course:
    """A measure over the years: a start, a drift, and what treatment takes off.

    Attributes:
        code: LOINC code, or one of ours.
        display: Its name.
        unit: UCUM unit.
        decimals: Decimals that are reported.
        start: Range of the untreated value.
        least: Lowest value that is possible.
        most: Highest.
        drop: Range of what one effective step of treatment takes off; negative where treatment
            raises it.
        drift: Change in a year without treatment.
        noise: Standard deviation from one measurement to the next.
        cv: The same as a share of the value, besides: what varies more where it is high.
        every: Taken at every so many visits.
        lab: Whether it is drawn ahead of the visit and reported by the laboratory.
        form: Whether the patient fills in a form.
        source: Code of the measure it follows from; empty if it stands for itself.
    """

    code: str
    display: str
    unit: str
    decimals: int
    start: tuple[float, float]
    least: float
    most: float
    drop: tuple[float, float]
    drift: float
    noise: float
    cv: float
    every: int
    lab: bool
    form: bool
    source: str


@dataclass(frozen=True, slots=True)
class Prescription:
    """A medicine as a step of treatment offers it."""

    drug_class: str
    medication: str
    dose: str
    frequency: str


@dataclass(frozen=True, slots=True)
class Therapy:
    """A therapy without medicines, with its range of sessions."""

    kind: str
    display: str
    least: int
    most: int


@dataclass(frozen=True, slots=True)
class Sign:
    """A finding the disease may show, and the kind of document that tells it."""

    key: str
    display: str
    values: tuple[str, ...]
    told: DocumentKind


@dataclass(frozen=True, slots=True)
class Orderable:
    """Something commonly ordered for the disease."""

    service_type: str
    code: str
    description: str
    site: str


@dataclass(frozen=True, slots=True)
class Condition:
    """A chronic disease.

    Attributes:
        name: Its name in the model.
        weight: How common it is, in relation to the others; 0 for one that only those have for whom
            it is asked for.
        ages: Ages at which patients have it.
        sex: Whom it affects; empty for everybody.
        diagnoses: Codes and names, of which a patient has one.
        years: For how long patients have had it.
        goal: Treatment is intensified where the first measure is above; below, if negative.
        add: Whether a further step is added rather than put in the place of the last.
        courses: What is measured.
        steps: Steps of treatment, each a choice of medicines.
        always: Medicines of which one is taken from the beginning, beside the steps.
        therapies: Therapies without medicines.
        procedures: CPT code, name and possible results.
        signs: Findings.
        orders: What is commonly ordered.
        bmi: Range of the body mass index it brings; None if it says nothing of it.
    """

    name: str
    weight: int
    ages: tuple[int, int]
    sex: str
    diagnoses: tuple[tuple[str, str], ...]
    years: tuple[int, int]
    goal: float
    add: bool
    courses: tuple[Course, ...]
    steps: tuple[tuple[Prescription, ...], ...]
    always: tuple[Prescription, ...]
    therapies: tuple[Therapy, ...]
    procedures: tuple[tuple[str, str, tuple[str, ...]], ...]
    signs: tuple[Sign, ...]
    orders: tuple[Orderable, ...]
    bmi: tuple[float, float] | None

    def worse(self, value: float) -> bool:
        """Return whether a value of the first measure asks for more treatment."""
        return value < -self.goal if self.goal < 0 else value > self.goal


@cache
def _approvals() -> Mapping[str, date]:
    rows = json.loads((files(__package__) / "approvals.json").read_text("utf-8"))
    return {name: date.fromisoformat(day) for name, day in rows.items()}


def available(medication: str, day: date) -> date:
    """Return the day, or the first on which a medicine could be had in the United States."""
    return max(day, _approvals().get(medication, day))


@cache
def conditions() -> Mapping[str, Condition]:
    """Return all diseases by name."""
    table: JsonObject = json.loads((files(__package__) / "conditions.json").read_text("utf-8"))
    return {name: _condition(name, row) for name, row in table.items()}


def _condition(name: str, row: JsonObject) -> Condition:
    return Condition(
        name=name,
        weight=row["weight"],
        ages=tuple(row["ages"]),
        sex=row.get("sex", ""),
        diagnoses=tuple((code, display) for code, display in row["diagnoses"]),
        years=tuple(row["years"]),
        goal=row["goal"],
        add=row["add"],
        courses=tuple(_course(each) for each in row["measures"]),
        steps=tuple(tuple(Prescription(*each) for each in step) for step in row["steps"]),
        always=tuple(Prescription(*each) for each in row.get("always", ())),
        therapies=tuple(Therapy(*each) for each in row["therapies"]),
        procedures=tuple((code, said, tuple(out)) for code, said, out in row["procedures"]),
        signs=tuple(
            Sign(key, display, tuple(values), DocumentKind(told))
            for key, display, values, told in row["findings"]
        ),
        orders=tuple(Orderable(*each) for each in row["orders"]),
        bmi=tuple(row["bmi"]) if "bmi" in row else None,
    )


def _course(row: JsonObject) -> Course:
    return Course(
        code=row["code"],
        display=row["display"],
        unit=row["unit"],
        decimals=row["decimals"],
        start=tuple(row["start"]),
        least=row["least"],
        most=row["most"],
        drop=tuple(row["drop"]),
        drift=row.get("drift", 0.0),
        noise=row["noise"],
        cv=row.get("cv", 0.0),
        every=row["every"],
        lab=row["lab"],
        form=row.get("form", False),
        source=row.get("from", ""),
    )
