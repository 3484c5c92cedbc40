"""What task types ask of real charts: which rows, under which codes, and when answers change."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from healthgym.core.clock import Clock
from healthgym.envs.fhir_record.kinds import recording, referral
from healthgym.envs.fhir_record.people import Person
from healthgym.envs.fhir_record.stated import published
from healthgym.envs.fhir_record.view import ChartView
from healthgym.worlds.fhir.base import Base
from healthgym.worlds.fhir.store import FhirStore

#: Codes under which real charts hold what a question asks about, the likeliest first.
BINDINGS: Mapping[str, tuple[str, ...]] = {
    "magnesium": ("19123-9", "2601-3", "MG"),
    "glucose": ("2339-0", "2345-7", "41653-7", "GLU"),
    "potassium": ("6298-4", "2823-3", "K"),
    "a1c": ("4548-4", "17856-6", "A1C"),
    "tsh": ("3016-3", "11580-8", "TSH"),
    "ft4": ("3024-7", "FT4"),
    "heart_rate": ("8867-4", "HEARTRATE"),
    "qtc": ("8634-8", "QTCINTERVAL"),
}
#: Codes of vaccines (CVX, influenza), any of which counts.
VACCINES: tuple[str, ...] = (
    *("140", "141", "150", "158", "161", "88", "15", "16", "111", "135", "144", "149", "151"),
    *("153", "155", "166", "168", "171", "185", "186", "197", "205"),
)


@dataclass(frozen=True, slots=True)
class Readings:
    """A question about measurements.

    Attributes:
        concepts: The concepts without which a chart says nothing, keys of ``BINDINGS``.
        ages: Ages of a reading at which the branch may change.
    """

    concepts: tuple[str, ...]
    ages: tuple[timedelta, ...] = ()


READINGS: Mapping[str, Readings] = {
    "v1-t4": Readings(("magnesium",), (timedelta(hours=24),)),
    "v1-t5": Readings(("magnesium",), (timedelta(hours=24),)),
    "v1-t6": Readings(("glucose",), (timedelta(hours=24),)),
    "v1-t7": Readings(("glucose",)),
    "v1-t9": Readings(("potassium",)),
    "v1-t10": Readings(("a1c",), (timedelta(days=365), timedelta(days=366))),
    "v2-t3": Readings(("heart_rate",), (timedelta(hours=6), timedelta(hours=12))),
    "v2-t6": Readings(("tsh", "ft4")),
}
#: Types whose questions dictate what is to be written, so that any chart will do.
DICTATED = {"v1-t3": recording.draw_details, "v1-t8": referral.draw_details}
LOOKUP, AGE, DRUG, VACCINE = "v1-t1", "v1-t2", "own-t1", "own-t2"
#: How old an immunization may be.
VACCINE_AGE = timedelta(days=published(VACCINE).numbers["days"])

#: Every type that can be asked of real charts.
ASKED = frozenset({*READINGS, *DICTATED, LOOKUP, AGE, DRUG, VACCINE})


def view_of(base: Base, now: datetime) -> ChartView:
    """Return a base as it is read at a moment."""
    return ChartView(FhirStore(base, clock=Clock(now)))


def code_held(view: ChartView, patient: str, concept: str) -> str | None:
    """Return the first code of a concept under which a patient was measured."""
    return next((code for code in BINDINGS[concept] if view.readings(patient, code)), None)


def times_of_readings(view: ChartView, patient: str, codes: Iterable[str]) -> Iterator[datetime]:
    """Yield when a patient was measured."""
    for code in codes:
        yield from (reading.time for reading in view.readings(patient, code))


def times_of_doses(view: ChartView, patient: str, codes: str) -> Iterator[datetime]:
    """Yield when a patient was immunized."""
    for dose in view.immunizations(patient, codes):
        if dose.time is not None:
            yield dose.time


def orders_by_drug(view: ChartView, patient: str) -> dict[str, list[datetime]]:
    """Return when each drug of a patient was ordered, by its name in the chart."""
    found: dict[str, list[datetime]] = {}
    for order in view.medication_orders(patient, status=""):
        if order.time is not None and order.text:
            found.setdefault(order.text, []).append(order.time)
    return found


def drugs_of(people: Iterable[Person]) -> list[str]:
    """Return the names of all drugs that any of some people was ever ordered, sorted."""
    names: set[str] = set()
    for person in people:
        if person.rows:
            view = view_of(person.chart, person.rows[-1].when)
            names |= orders_by_drug(view, person.id).keys()
    return sorted(names)
