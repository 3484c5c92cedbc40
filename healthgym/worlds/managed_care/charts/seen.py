"""Encounters before they are written: few of a chart's are ever read."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import date, datetime
from typing import NamedTuple

from healthgym.worlds.managed_care.charts.focus import called, focus_of, topic_of
from healthgym.worlds.managed_care.charts.hours import visit_start
from healthgym.worlds.managed_care.charts.sheets import Binder
from healthgym.worlds.managed_care.charts.structured import encounter_id
from healthgym.worlds.managed_care.facts import AnyFact
from healthgym.worlds.managed_care.population.staff import Workforce
from healthgym.worlds.managed_care.records.chart import Encounter
from healthgym.worlds.managed_care.staff import Worker

#: Where encounters of a type take place; the practice otherwise.
_PLACES = {
    "inpatient": "hospital",
    "emergency": "hospital",
    "day_surgery": "hospital",
    "imaging": "imaging",
    "lab": "laboratory",
}


class Seen(NamedTuple):
    """An encounter, with all that was drawn for it.

    One flat tuple: what hangs on a task is what the collector goes through, too.

    Attributes:
        place: Which of the visits it is.
        at: When it began, or the day on which the patient was seen.
        encounter_type: Of which type it is.
        author: Who saw the patient.
        summary: What its summary is, with a place for what it was about.
        number: What was drawn for the words for that.
        cpt: Its code, and what that stands for.
        named: Code and title of the condition that it was about; None where facts tell that.
        facts: The facts by which it is known.
        noted: Whether a document tells them.
    """

    place: int
    at: date
    encounter_type: str
    author: Worker
    summary: str
    number: int
    cpt: Sequence[str | None]
    named: tuple[str, str] | None
    facts: tuple[AnyFact, ...]
    noted: bool


def written(seen: Iterable[Seen], binder: Binder, staff: Workforce) -> tuple[Encounter, ...]:
    """Return encounters.

    Args:
        seen: What was drawn for them.
        binder: The chart's.
        staff: Who may have seen the patient, and where.
    """
    return tuple(_written(each, binder, staff) for each in seen)


def _written(seen: Seen, binder: Binder, staff: Workforce) -> Encounter:
    patient, at = binder.patient, seen.at
    where = _PLACES.get(seen.encounter_type)
    house = staff.places[where] if where else staff.provider.name
    city = patient.address_city
    return Encounter(
        id=encounter_id(patient.id, seen.place),
        patient_id=patient.id,
        occurred_at=at if isinstance(at, datetime) else visit_start(patient, at),
        encounter_type=seen.encounter_type,
        practitioner_id=seen.author.id,
        summary=seen.summary.format(focus=_said(seen, binder)),
        encounter_cpt_code=seen.cpt[0],
        encounter_cpt_description=seen.cpt[1],
        facility_name=f"{house}, {city}" if city else house,
    )


def _said(seen: Seen, binder: Binder) -> str:
    """Return what an encounter was about."""
    if seen.named is not None:
        return called(*seen.named, seen.number)
    facts, topic = seen.facts, topic_of(seen.facts)
    return focus_of(binder.active, facts, topic, seen.at, seen.number, noted=seen.noted)[0]
