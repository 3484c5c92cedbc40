"""The normal form of a medication order: one dose, one route, one timing, put together from all."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from healthgym.core.borders import JsonDict, JsonObject
from healthgym.envs.fhir_record.orders.extent import exceeded_limits, most_lasting
from healthgym.envs.fhir_record.orders.items import item_of, read_drug_name, read_instruction
from healthgym.envs.fhir_record.orders.periods import in_reach, read_period
from healthgym.envs.fhir_record.orders.quantities import (
    MOST_DIFFERENT,
    Amount,
    Dimension,
    amount,
    number,
    read_quantity,
    read_ratio,
    same,
)
from healthgym.envs.fhir_record.orders.remarks import REPEATED
from healthgym.envs.fhir_record.orders.shorthand import written_out
from healthgym.envs.fhir_record.orders.sig import (
    Sig,
    method_fits,
    read_timing_code,
    read_words,
    route_of_code,
    route_of_field,
    site_fits,
)
from healthgym.envs.fhir_record.orders.words import listed, objects, texts_in, unknown_elements
from healthgym.envs.fhir_record.task import OrderSpec
from healthgym.envs.fhir_record.view import parse_time


@dataclass
class Dosage:
    """What is read of an order's dosage.

    Attributes:
        sig: The claims of fields and words.
        starts: When it begins, where that is said.
        ends: When it ends, where that is said.
        courses: Hours that it goes on, where that is said.
        problems: Parts that could not be read whole.
    """

    sig: Sig = field(default_factory=Sig)
    starts: list[datetime] = field(default_factory=list)
    ends: list[datetime] = field(default_factory=list)
    courses: list[float] = field(default_factory=list)
    problems: set[str] = field(default_factory=set)


def dosage_faults(spec: OrderSpec, resource: JsonObject, begin: datetime) -> Iterator[str]:
    """Yield what is wrong with the dosage of a medication order, its name included.

    Args:
        spec: What is asked for.
        resource: The MedicationRequest.
        begin: When the question was asked.
    """
    dosages = listed(resource.get("dosageInstruction"))
    if len(dosages) != 1 or not isinstance(dosages[0], dict):
        yield "dosage"
        return
    read = read_dosage(spec, dosages[0])
    read.sig.add(_named(spec, resource))
    if read.sig.unread:
        read.problems.add("words")
    yield from sorted(read.problems)
    yield from _compare(spec, read, begin)


def _named(spec: OrderSpec, resource: JsonObject) -> Sig:
    """Return the claims of the medication's name and of its codes' displays."""
    sig = Sig()
    concept = resource.get("medicationCodeableConcept")
    if isinstance(concept, dict):
        displays = [coding.get("display") for coding in objects(concept.get("coding"))]
        for text in (concept.get("text"), *displays):
            if isinstance(text, str) and text.strip():
                sig.add(read_drug_name(spec, text))
    return sig


# -- reading -----------------------------------------------------------------------------------


def read_dosage(spec: OrderSpec, dosage: JsonObject) -> Dosage:
    """Return what a FHIR Dosage says, with the parts that cannot be read."""
    read = Dosage()
    if unknown_elements(dosage, "Dosage"):
        read.problems.add("dosage")
    if isinstance(dosage.get("text"), str):
        read.sig.add(read_instruction(spec, written_out(dosage["text"])))
    elif dosage.get("text") is not None:
        read.problems.add("words")
    _read_amounts(read, dosage)
    _read_route(read, dosage.get("route"))
    _read_timing(spec, read, dosage.get("timing"))
    if not all(site_fits(spec.route, site) for site in texts_in(dosage.get("site"))):
        read.problems.add("site")
    if not all(method_fits(spec.route, said) for said in texts_in(dosage.get("method"))):
        read.problems.add("method")
    if dosage.get("asNeededBoolean") is True or dosage.get("asNeededCodeableConcept"):
        read.sig.as_needed.add(True)
        needs = list(texts_in(dosage.get("asNeededCodeableConcept")))
        for reason in needs:
            read.sig.add(read_instruction(spec, reason))
        if dosage.get("asNeededCodeableConcept") and not needs:
            read.problems.add("as needed")  # a need that is a bare code is read by nobody
    elif dosage.get("asNeededBoolean") not in (None, False):
        read.problems.add("as needed")
    if exceeded_limits(dosage, read.sig):
        read.problems.add("dose")
    return read


def _read_amounts(read: Dosage, dosage: JsonObject) -> None:
    rates = listed(dosage.get("doseAndRate"))
    if len(rates) > 1 or not all(isinstance(rate, dict) for rate in rates):
        read.problems.add("dose")
        return
    for rate in rates:
        if unknown_elements(rate, "doseAndRate"):
            read.problems.add("dose")
        if "doseQuantity" in rate:
            _keep(read, read.sig.doses, read_quantity(rate["doseQuantity"]), "dose")
        if "rateRatio" in rate:
            _keep(read, read.sig.rates, read_ratio(rate["rateRatio"]), "rate")
        if "rateQuantity" in rate:
            given = read_quantity(rate["rateQuantity"])
            if given is not None and given.of is Dimension.TIME and given.per is None:
                read.sig.durations.add(given.value)
            else:
                _keep(read, read.sig.rates, given, "rate")


def _keep(read: Dosage, claims: set[Amount], given: Amount | None, part: str) -> None:
    if given is None:
        read.problems.add(part)
    else:
        claims.add(given)


def routes_of(route: object) -> set[str]:
    """Return the routes that a text or a CodeableConcept names."""
    read = Dosage()
    _read_route(read, route)
    return read.sig.routes


def _read_route(read: Dosage, route: object) -> None:
    if route is None:
        return
    texts = [route] if isinstance(route, str) else []
    if isinstance(route, dict):
        texts += [route["text"]] if isinstance(route.get("text"), str) else []
        for coding in objects(route.get("coding")):
            known = route_of_code(str(coding.get("code", "")))
            if known is None:
                texts.append(str(coding.get("code", "")))
            else:
                read.sig.routes.add(known)
            if isinstance(coding.get("display"), str):
                texts.append(coding["display"])
    elif not isinstance(route, str):
        read.problems.add("route")
    for text in texts:
        known = route_of_field(text)
        if known is None:
            read.sig.add(read_words(text))
        else:
            read.sig.routes.add(known)


def _read_timing(spec: OrderSpec, read: Dosage, timing: object) -> None:
    if timing is None:
        return
    if not isinstance(timing, dict) or timing.keys() - {"event", "repeat", "code", "id"}:
        read.problems.add("timing")
        return
    code = timing.get("code")
    if isinstance(code, str):
        read.sig.add(read_instruction(spec, code))
    elif isinstance(code, dict):
        if isinstance(code.get("text"), str):
            read.sig.add(read_instruction(spec, code["text"]))
        for coding in objects(code.get("coding")):
            for name in ("code", "display"):
                if isinstance(coding.get(name), str):
                    read.sig.add(read_timing_code(coding[name]))
    elif code is not None:
        read.problems.add("timing")
    events = listed(timing.get("event"))
    if events:
        when = parse_time(events[0]) if isinstance(events[0], str) else None
        if len(events) > 1 or when is None:
            read.problems.add("timing")
        else:
            read.starts.append(when)
            read.sig.single.add(True)
    if "repeat" in timing:
        _read_repeat(read, timing["repeat"])


def _read_repeat(read: Dosage, repeat: object) -> None:
    if not isinstance(repeat, dict) or unknown_elements(repeat, "repeat"):
        read.problems.add("timing")
        return
    for name in ("frequency", "period", "duration"):
        most = f"{name}Max"
        if most in repeat and repeat[most] != repeat.get(name):
            read.problems.add("timing")
    if "offset" in repeat and not repeat.get("when"):
        read.problems.add("timing")
    count = number(repeat.get("count"))
    if "count" in repeat and count is None:
        read.problems.add("timing")
    interval = _interval(read, repeat)
    if count == 1:
        read.sig.single.add(True)
    elif interval is not None:
        read.sig.intervals.add(interval)
        if count is not None:
            read.courses.append(count * interval)
    elif count is not None:
        read.problems.add("timing")
    if "duration" in repeat:
        span = amount(repeat["duration"], repeat.get("durationUnit"))
        if span is None or span.of is not Dimension.TIME:
            read.problems.add("timing")
        else:
            read.sig.durations.add(span.value)
    _read_bounds(read, repeat)


def _interval(read: Dosage, repeat: JsonDict) -> float | None:
    """Return the hours between doses that a repeat states."""
    times = len(listed(repeat.get("timeOfDay")) or listed(repeat.get("when")))
    daily = round(24.0 / times, 9) if times else None
    if "period" not in repeat and "periodUnit" not in repeat:
        if repeat.get("frequency") not in (None, 1):
            read.problems.add("timing")
        return daily
    period = amount(repeat.get("period"), repeat.get("periodUnit"))
    frequency = number(repeat.get("frequency", 1))
    if period is None or period.of is not Dimension.TIME or not frequency or frequency < 0:
        read.problems.add("timing")
        return None
    interval = round(period.value / frequency, 9)
    if daily is not None and abs(interval - daily) > MOST_DIFFERENT:
        read.problems.add("timing")
    return interval


def _read_bounds(read: Dosage, repeat: JsonDict) -> None:
    if "boundsDuration" in repeat:
        span = read_quantity(repeat["boundsDuration"])
        if span is None or span.of is not Dimension.TIME or span.per:
            read.problems.add("timing")
        else:
            read.courses.append(span.value)
    if "boundsPeriod" in repeat:
        ends = read_period(repeat["boundsPeriod"])
        if ends is None:
            read.problems.add("timing")
            return
        start, end = ends
        if start:
            read.starts.append(start)
        if end:
            read.ends.append(end)
        if start and end:
            read.courses.append((end - start) / timedelta(hours=1))


# -- comparing ---------------------------------------------------------------------------------


def _compare(spec: OrderSpec, read: Dosage, begin: datetime) -> Iterator[str]:
    sig = read.sig
    if spec.dose and not _dose_fits(spec, sig):
        yield "dose"
    if not _speed_fits(spec, sig):
        yield "rate"
    wanted = read_words(spec.route)
    if spec.route and sig.routes != wanted.routes:
        yield "route"
    if not _frequency_fits(spec, sig):
        yield "frequency"
    if True in sig.as_needed and not spec.as_needed:
        yield "as needed"
    if any(not in_reach(start, begin, begin + spec.within) for start in read.starts):
        yield "start"
    least = max(spec.course / timedelta(hours=1), spec.hours)
    short = any(hours < least * (1 - MOST_DIFFERENT) for hours in read.courses)
    long = any(hours > most_lasting(spec) / timedelta(hours=1) for hours in read.courses)
    if short or long or any(end < begin + spec.course for end in read.ends):
        yield "course"


def _dose_fits(spec: OrderSpec, sig: Sig) -> bool:
    assert spec.dose is not None, "only orders with a dose are asked for theirs"
    wanted = amount(spec.dose.value, spec.dose.unit)
    assert wanted is not None, f"{spec.dose} is not in the table of units"
    item, per_count, bare = item_of(spec), set(), set()
    for strength in sig.strengths:
        if strength.per is Dimension.VOLUME and item.each_ml and strength.of is wanted.of:
            per_count.add(round(strength.value * item.each_ml, 9))
        elif strength.per is Dimension.VOLUME:
            low, high = item.per_ml or (1.0, 0.0)
            if strength.of is not wanted.of or not low <= strength.value <= high:
                return False
        elif strength.per is Dimension.COUNT:
            per_count.add(strength.value)
        elif strength.of is not Dimension.COUNT:
            bare.add(_as(strength, wanted))
    solids = [Amount(value, wanted.of) for value in item.solid]
    for value in per_count:
        each = Amount(value, wanted.of)
        if not any(same(each, solid) for solid in solids):
            return False
        if item.each_ml and not _divides(each, wanted):
            return False  # no part of a spray can be given
    for strength in bare:
        parts = any(same(strength, solid) for solid in solids) and _divides(strength, wanted)
        if not parts and not same(strength, wanted, spec.dose.tolerance):
            return False
        per_count.add(strength.value)
    doses = {_as(dose, wanted) for dose in sig.doses}
    counted = {dose for dose in doses if dose.of is Dimension.COUNT}
    if counted and len(per_count) == 1:
        one = next(iter(per_count))
        doses = (doses - counted) | {Amount(dose.value * one, wanted.of) for dose in counted}
    return bool(doses) and all(same(dose, wanted, spec.dose.tolerance) for dose in doses)


def _as(given: Amount, wanted: Amount) -> Amount:
    """Return an amount in equivalents where it is of a salt of one charge, such as KCl."""
    if given.of is Dimension.SUBSTANCE and wanted.of is Dimension.EQUIVALENTS and not given.per:
        return Amount(given.value, wanted.of)
    return given


def _divides(part: Amount, whole: Amount) -> bool:
    times = whole.value / part.value
    return part.of == whole.of and times >= 1 and abs(times - round(times)) < MOST_DIFFERENT


def _speed_fits(spec: OrderSpec, sig: Sig) -> bool:
    """Return whether one dose runs for as long as is asked for, said as a time or as a rate."""
    if not spec.hours:
        return not sig.durations and not sig.rates
    assert spec.dose is not None, "what runs has a dose"
    dose = amount(spec.dose.value, spec.dose.unit)
    assert dose is not None, f"{spec.dose} is not in the table of units"
    rate = dose.over(Amount(spec.hours, Dimension.TIME))
    if not sig.durations and not sig.rates:
        return False
    if any(abs(hours - spec.hours) > MOST_DIFFERENT * spec.hours for hours in sig.durations):
        return False
    return all(same(given, rate) for given in sig.rates)


def _frequency_fits(spec: OrderSpec, sig: Sig) -> bool:
    if spec.frequency:
        wanted = read_words(spec.frequency).intervals
        return {round(i, 6) for i in sig.intervals} == wanted and True not in sig.single
    if spec.as_needed:
        return all(0 < interval <= REPEATED for interval in sig.intervals)
    return not sig.intervals
