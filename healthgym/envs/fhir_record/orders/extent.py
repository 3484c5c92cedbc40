"""How much an order comes to in all: its limits, how long it goes on, and what is dispensed."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta

from healthgym.core.borders import JsonObject
from healthgym.envs.fhir_record.orders.periods import in_reach, read_period
from healthgym.envs.fhir_record.orders.quantities import (
    MOST_DIFFERENT,
    Amount,
    Dimension,
    amount,
    read_quantity,
    read_ratio,
)
from healthgym.envs.fhir_record.orders.sig import Sig, read_words
from healthgym.envs.fhir_record.orders.words import objects, texts_in
from healthgym.envs.fhir_record.task import OrderSpec

_HOUR, _DAY, _YEAR = timedelta(hours=1), timedelta(days=1), timedelta(days=366)
#: Most refills of a drug that is kept at home: one a month. What is given once has none.
_YEAR_OF_REFILLS = 11
#: Most doses that are dispensed of what is given once, as packs are, and of what is kept for need.
_PACK, _KEPT = 10, 100
#: Courses of therapy by the displays of HL7's value set.
_COURSES = {
    "continuous": "continuous",
    "continuous long term therapy": "continuous",
    "acute": "acute",
    "short course (acute) therapy": "acute",
    "seasonal": "seasonal",
}
#: Most tablets, vials or sprays that make a dose.
_PIECES = 10


def exceeded_limits(dosage: JsonObject, sig: Sig) -> bool:
    """Return whether a dosage states a largest dose that it exceeds itself, or an unreadable one.

    Args:
        dosage: The FHIR Dosage.
        sig: The dose and the times that it was read to state.
    """
    for name in ("maxDosePerAdministration", "maxDosePerLifetime"):
        limit = read_quantity(dosage[name]) if name in dosage else None
        if name in dosage and not (limit and any(_within(dose, limit) for dose in sig.doses)):
            return True
    if "maxDosePerPeriod" not in dosage:
        return False
    given = dosage["maxDosePerPeriod"]
    ratios = objects(given)
    if not ratios or (isinstance(given, list) and len(ratios) < len(given)):
        return True
    # What is given for need may come at once, and its limit is of a day.
    intervals = set() if True in sig.as_needed else sig.intervals
    for ratio in ratios:
        rate, once = read_ratio(ratio), read_quantity(ratio.get("numerator"))
        if rate is None or once is None or rate.per is not Dimension.TIME:
            return True
        doses = [dose for dose in sig.doses if _within(dose, once)]
        if not any(
            all(dose.value <= rate.value * each * (1 + MOST_DIFFERENT) for each in intervals)
            for dose in doses
        ):
            return True
    return False


def _within(dose: Amount, limit: Amount) -> bool:
    return dose.of == limit.of and dose.value <= limit.value * (1 + MOST_DIFFERENT)


def most_lasting(spec: OrderSpec) -> timedelta:
    """Return how long an order can go on at most: what is given once, no longer than a day."""
    if spec.frequency or spec.as_needed:
        return _YEAR
    return max(spec.course, _HOUR * spec.hours, _DAY)


def dispensing_faults(spec: OrderSpec, resource: JsonObject, begin: datetime) -> Iterator[str]:
    """Yield what is wrong with what is to be dispensed.

    Args:
        spec: What is asked for.
        resource: The MedicationRequest.
        begin: When the question was asked.
    """
    goes_on = courses_of(resource.get("courseOfTherapyType")) & {"continuous", "seasonal"}
    if goes_on and not spec.frequency and not spec.as_needed:
        yield "course"
    for request in objects(resource.get("dispenseRequest")):
        refills = request.get("numberOfRepeatsAllowed", 0)
        most = _YEAR_OF_REFILLS if spec.frequency or spec.as_needed else 0
        if isinstance(refills, bool) or not isinstance(refills, int) or not 0 <= refills <= most:
            yield "refills"
        if "expectedSupplyDuration" in request:
            supply = read_quantity(request["expectedSupplyDuration"])
            if (
                supply is None
                or supply.of is not Dimension.TIME
                or supply.per
                or supply.value > most_lasting(spec) / _HOUR
            ):
                yield "supply"
        if not _is_plausible(spec, request.get("quantity")):
            yield "quantity"
        yield from _validity(spec, request.get("validityPeriod"), begin)


def courses_of(value: object) -> frozenset[str]:
    """Return the courses of therapy that an element names as HL7 does; empty if it has others."""
    said = {text.strip().lower() for text in texts_in(value) if text.strip()}
    coded = {
        str(coding.get("code")).lower()
        for concept in objects(value)
        for coding in objects(concept.get("coding"))
        if "code" in coding
    }
    said = {_COURSES.get(text, text) for text in said} | coded
    return frozenset(said) if said <= set(_COURSES.values()) else frozenset()


def _is_plausible(spec: OrderSpec, quantity: object) -> bool:
    """Return whether so much can be dispensed; what has no unit that is known is not judged."""
    given = read_quantity(quantity)
    if given is None or given.per or spec.dose is None:
        return True
    dose = amount(spec.dose.value, spec.dose.unit)
    doses = float(_KEPT if spec.as_needed else _PACK)
    if spec.frequency:
        doses = max(_YEAR / _HOUR / each for each in read_words(spec.frequency).intervals)
    if given.of is Dimension.COUNT:
        return given.value <= doses * _PIECES
    return dose is None or given.of != dose.of or given.value <= dose.value * doses


def _validity(spec: OrderSpec, period: object, begin: datetime) -> Iterator[str]:
    if period is None:
        return
    ends = read_period(period)
    if ends is None:
        yield "validity"
        return
    start, end = ends
    if start and not in_reach(start, begin - _DAY, begin + spec.within):
        yield "validity"
    if end and end < begin + spec.course:
        yield "validity"
