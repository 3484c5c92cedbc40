"""The vocabulary of synthetic records: codes, rates, and what diseases do to both."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

from pydantic import BaseModel, ConfigDict

from healthgym.core.borders import JsonDict


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Lab(_Frozen):
    """A measurement: mean and standard deviation in healthy adults, and how it is printed."""

    name: str
    code: str
    unit: str
    mean: float
    sd: float
    decimals: int
    panel: str


class Named(_Frozen):
    """A code and its meaning."""

    code: str
    name: str


class Background(_Frozen):
    """A chronic condition that is no target: a comorbidity and a confounder.

    ``share`` is its prevalence at 40, ``slope`` the change of its logarithm by decade; ``labs``
    are shifts in standard deviations.
    """

    name: str
    code: str
    share: float
    slope: float
    drugs: tuple[Named, ...]
    labs: dict[str, float]


class General(_Frozen):
    """An event that tells nothing, with its rate at inpatient, outpatient and emergency visits."""

    code: str
    table: str
    rates: tuple[float, float, float]
    name: str


class Precursor(_Frozen):
    """A sign of a target before its diagnosis.

    ``base`` is its probability at a visit of anybody, ``peak`` that at the height of the
    prodrome, and ``also`` what background conditions add: they make it ambiguous.
    """

    code: str
    table: str
    name: str
    base: float
    peak: float
    also: dict[str, float]


class Disease(_Frozen):
    """A target: who gets it, what precedes it for ``lead`` days, and what follows."""

    code: str
    name: str
    lead: int
    inpatient: float
    risk: dict[str, float]
    precursors: tuple[Precursor, ...]
    labs: dict[str, float]
    treatments: tuple[Named, ...]


class Vocabulary(_Frozen):
    """All of it."""

    labs: tuple[Lab, ...]
    panels: dict[str, tuple[float, float, float]]
    backgrounds: tuple[Background, ...]
    general: tuple[General, ...]
    targets: dict[str, Disease]


class Published(_Frozen):
    """The source's figures of a target: test rows, pass bar, and positives (inferred)."""

    rows: int
    bar: float
    positives: int


@cache
def vocabulary() -> Vocabulary:
    """Return the vocabulary."""
    return Vocabulary.model_validate_json(_text("vocabulary.json"))


@cache
def published() -> dict[str, Published]:
    """Return the source's figures by target."""
    import json

    raw: JsonDict = json.loads(_text("published.json"))
    return {name: Published.model_validate(entry) for name, entry in raw.items()}


def _text(name: str) -> str:
    return files("healthgym.envs.ehr_event_modelling").joinpath(f"data/{name}").read_text("utf-8")
