"""The conditions for which somebody is referred, as data."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from healthgym.core.borders import JsonObject
from healthgym.worlds.managed_care.population.conditions import Prescription
from healthgym.worlds.managed_care.vocabulary.care import CMProgram
from healthgym.worlds.managed_care.voices import Topic

#: An ICD-10-CM code and its title.
Coded = tuple[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """What brought somebody into the hospital, where the referral is about what comes after it.

    Attributes:
        stay: What the stay was for.
        ages: Youngest and oldest age.
        left: What stays on the problem list; None if nothing does.
        procedure: CPT code, name and result.
        medicines: What was begun.
    """

    stay: Coded
    ages: tuple[int, int]
    left: Coded | None
    procedure: tuple[str, str, str]
    medicines: tuple[Prescription, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CareCondition:
    """A condition for which somebody is referred.

    Attributes:
        name: Its name in task kinds.
        label: How a sentence calls it.
        diseases: Diseases of the clinical model that make it; of those in one entry, one.
        beside: Others that go with it.
        stays: What its hospital stays are for.
        visits: What its emergency visits are for.
        barriers: Social barriers that it often meets.
        behavioral: Whether it is a mental or substance-use disorder.
        event: What it comes after; None if it is no event's.
        never: Drug classes that nobody with it is given.
    """

    name: str
    label: str
    diseases: tuple[tuple[str, ...], ...]
    beside: tuple[str, ...]
    stays: tuple[Coded, ...]
    visits: tuple[Coded, ...]
    barriers: tuple[Topic, ...]
    behavioral: bool
    event: Event | None
    never: frozenset[str]

    @property
    def programs(self) -> tuple[CMProgram, ...]:
        """Programmes that can be right for somebody who is referred with it."""
        if self.behavioral:
            return (CMProgram.TRANSITIONS_OF_CARE, CMProgram.BEHAVIORAL_HEALTH)
        return (CMProgram.TRANSITIONS_OF_CARE, CMProgram.COMPLEX_CARE, CMProgram.CHRONIC_DISEASE)


@cache
def care_conditions() -> Mapping[str, CareCondition]:
    """Return all conditions by name."""
    table: JsonObject = json.loads(
        (files(__package__) / "data" / "conditions.json").read_text("utf-8")
    )
    return {name: _condition(name, row) for name, row in table.items()}


def _condition(name: str, row: JsonObject) -> CareCondition:
    return CareCondition(
        name=name,
        label=row["label"],
        diseases=tuple(tuple(each.split("|")) for each in row["diseases"]),
        beside=tuple(row["beside"]),
        stays=tuple((code, title) for code, title in row["stays"]),
        visits=tuple((code, title) for code, title in row["visits"]),
        barriers=tuple(map(Topic, row["barriers"])),
        behavioral=row.get("behavioral", False),
        event=_event(row["event"]) if "event" in row else None,
        never=frozenset(row.get("never", ())),
    )


def _event(row: JsonObject) -> Event:
    least, most = row["ages"]
    code, title = row["stay"]
    procedure, display, result = row["procedure"]
    return Event(
        stay=(code, title),
        ages=(least, most),
        left=(row["left"][0], row["left"][1]) if row["left"] else None,
        procedure=(procedure, display, result),
        medicines=tuple(Prescription(*each) for each in row["medicines"]),
    )


@cache
def extras() -> tuple[Prescription, ...]:
    """Return medicines that many people take beside whatever else they have."""
    return _prescriptions("usual")


@cache
def after_stays() -> tuple[Prescription, ...]:
    """Return medicines that are begun at discharge whatever the stay was for."""
    return _prescriptions("after_stays")


def _prescriptions(name: str) -> tuple[Prescription, ...]:
    table = json.loads((files(__package__) / "data" / "extras.json").read_text("utf-8"))
    return tuple(Prescription(*row) for row in table[name])
