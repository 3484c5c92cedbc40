"""What facts and request say of a criterion's items.

A reading observes a value only where the record decides the item one way or the other. What bears
on the criterion and leaves it open (too old, still going on, no reason given, a unit that cannot be
compared) is named as related, without a value: that is the difference between a gap in the evidence
and no evidence.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from typing import NamedTuple

from healthgym.core.borders import Json
from healthgym.worlds.managed_care.facts import (
    AnyFact,
    Diagnosis,
    Finding,
    Intolerance,
    Measurement,
    MedicationCourse,
    ProcedureDone,
    StopReason,
    TherapyCourse,
)
from healthgym.worlds.managed_care.policies.criteria import (
    AgeCriterion,
    AnyCriterion,
    ContraindicationCriterion,
    CountCriterion,
    DiagnosisCriterion,
    FindingCriterion,
    MeasurementCriterion,
    ProcedureCriterion,
    QuantityCriterion,
    SiteCriterion,
    StepTherapyCriterion,
    TherapyCriterion,
)
from healthgym.worlds.managed_care.policies.dates import months_before, weeks_between
from healthgym.worlds.managed_care.policies.request import Request
from healthgym.worlds.managed_care.policies.units import convert
from healthgym.worlds.managed_care.vocabulary.authorization import ItemOperator


class Reading(NamedTuple):
    """What was found for a criterion.

    Attributes:
        values: Observed value by the last part of the item's id; nothing for what stays open.
        facts: Ids of the facts it rests on, and of those that bear on it and decide nothing.
    """

    values: Mapping[str, Json]
    facts: tuple[str, ...] = ()


def read(
    criterion: AnyCriterion, facts: Iterable[AnyFact], request: Request, today: date
) -> Reading:
    """Return what facts and request say of a criterion on a day; later facts are not seen."""
    match criterion:
        case MeasurementCriterion():
            return _measured(criterion, facts, today)
        case CountCriterion():
            return _counted(criterion, facts, today)
        case StepTherapyCriterion():
            return _tried_drugs(criterion, facts, today)
        case TherapyCriterion():
            return _tried_therapy(criterion, facts, today)
        case FindingCriterion():
            return _seen(criterion, facts, today)
        case DiagnosisCriterion():
            return _diagnosed(criterion, facts, today)
        case ContraindicationCriterion():
            return _contraindicated(criterion, facts, today)
        case ProcedureCriterion():
            return _done(criterion, facts, today)
        case SiteCriterion():
            return Reading({"site": request.site in criterion.sites})
        case QuantityCriterion():
            return Reading({} if request.quantity is None else {"quantity": request.quantity})
        case AgeCriterion():
            return Reading({"minimum": request.age, "maximum": request.age})


#: Of which facts a criterion is read; one about the request is read of none.
_BEARING: Mapping[type[object], tuple[type[object], ...]] = {
    MeasurementCriterion: (Measurement,),
    CountCriterion: (Measurement,),
    StepTherapyCriterion: (MedicationCourse, Intolerance),
    TherapyCriterion: (TherapyCourse,),
    FindingCriterion: (Finding,),
    DiagnosisCriterion: (Diagnosis,),
    ContraindicationCriterion: (Intolerance,),
    ProcedureCriterion: (ProcedureDone,),
}


def by_kind(facts: Iterable[AnyFact]) -> Mapping[type[object], list[AnyFact]]:
    """Return facts by their class, each in the order in which they come."""
    found: dict[type[object], list[AnyFact]] = {}
    for fact in facts:
        found.setdefault(type(fact), []).append(fact)
    return found


def bearing(
    criterion: AnyCriterion, known: Mapping[type[object], list[AnyFact]]
) -> Sequence[AnyFact]:
    """Return the facts of the classes of which a criterion is read.

    Args:
        criterion: The criterion.
        known: Facts by their class.
    """
    kinds = _BEARING.get(type(criterion), ())
    if len(kinds) == 1:
        return known.get(kinds[0], ())
    return [fact for kind in kinds for fact in known.get(kind, ())]


def is_read_of(criterion: AnyCriterion, kind: type[AnyFact]) -> bool:
    """Return whether facts of a class change what is found of a criterion."""
    return kind in _BEARING.get(type(criterion), ())


def compare(value: float, operator: ItemOperator, threshold: float) -> bool:
    """Return whether a value is on the right side of a threshold."""
    match operator:
        case ItemOperator.GTE:
            return value >= threshold
        case ItemOperator.GT:
            return value > threshold
        case ItemOperator.LTE:
            return value <= threshold
        case ItemOperator.LT:
            return value < threshold
    return value == threshold


def _ids(facts: Iterable[AnyFact]) -> tuple[str, ...]:
    return tuple(fact.id for fact in facts)


def _taken(facts: Iterable[AnyFact], code: str, today: date) -> list[Measurement]:
    """Return the measurements of a code up to today, oldest first."""
    found = [
        fact
        for fact in facts
        if isinstance(fact, Measurement) and fact.code == code and fact.taken <= today
    ]
    return sorted(found, key=lambda fact: fact.taken)


def _measured(criterion: MeasurementCriterion, facts: Iterable[AnyFact], today: date) -> Reading:
    found = _taken(facts, criterion.code, today)
    start = months_before(today, criterion.months)
    fresh = [fact for fact in found if fact.taken >= start]
    if criterion.recency == "latest":
        fresh = fresh[-1:]
    readable = [
        (fact, value)
        for fact in fresh
        if (value := convert(fact.value, fact.unit, criterion.unit, criterion.code)) is not None
    ]
    for fact, value in readable:
        if compare(value, criterion.operator, criterion.threshold):
            return Reading({"value": value}, (fact.id,))
    if readable and len(readable) == len(fresh):
        fact, value = readable[-1]
        return Reading({"value": value}, (fact.id,))
    return Reading({}, _ids(found))


def _counted(criterion: CountCriterion, facts: Iterable[AnyFact], today: date) -> Reading:
    found = _taken(facts, criterion.code, today)
    start = months_before(today, criterion.months)
    fresh = [fact for fact in found if fact.taken >= start]
    values = {
        fact.id: convert(fact.value, fact.unit, criterion.unit, criterion.code) for fact in fresh
    }
    good = [
        fact
        for fact in fresh
        if (value := values[fact.id]) is not None
        and compare(value, criterion.operator, criterion.threshold)
    ]
    days = len({fact.taken for fact in good})
    if days >= criterion.minimum:
        return Reading({"days": days}, _ids(good))
    # Enough days were looked at, all readable, and too few of them were as required.
    if len({fact.taken for fact in fresh}) >= criterion.minimum and None not in values.values():
        return Reading({"days": days}, _ids(fresh))
    return Reading({}, _ids(found))


def _tried_drugs(criterion: StepTherapyCriterion, facts: Iterable[AnyFact], today: date) -> Reading:
    courses, forbidden = _courses(criterion, facts, today)
    listed = [course for course in courses if course.medication in criterion.drugs]
    counted = {fact.substance for fact in forbidden}
    passed = [course for course in listed if _passes(course, criterion)]
    agents = {course.medication for course in passed} | counted
    failed = [c for c in listed if c.medication not in agents and _fails(c, criterion)]
    still_open = {c.medication for c in listed} - agents - {c.medication for c in failed}
    related = _ids([*courses, *forbidden])
    if len(agents) >= criterion.agents:
        lengths = sorted((_weeks(course, today) for course in passed), reverse=True)
        values: dict[str, Json] = {"agents": len(agents), "reason": True}
        if lengths:
            values["weeks"] = lengths[: criterion.agents][-1]
        return Reading(values, _ids([*passed, *forbidden]))
    if failed and len(agents) + len(still_open) < criterion.agents:
        accepted = any(course.stop_reason in criterion.reasons for course in failed)
        longest = max(_weeks(course, today) for course in failed)
        values = {"agents": len(agents), "reason": accepted, "weeks": longest}
        return Reading(values, related)
    return Reading({}, related)


def _courses(
    criterion: StepTherapyCriterion, facts: Iterable[AnyFact], today: date
) -> tuple[list[MedicationCourse], list[Intolerance]]:
    """Return the courses of the class, and the contraindications that stand for a trial."""
    courses, forbidden = [], []
    for fact in facts:
        if isinstance(fact, MedicationCourse) and fact.started <= today:
            if fact.drug_class == criterion.drug_class or fact.medication in criterion.drugs:
                courses.append(fact)
        elif (
            isinstance(fact, Intolerance)
            and fact.contraindication
            and StopReason.CONTRAINDICATED in criterion.early
            and fact.recorded <= today
            and fact.substance in criterion.drugs
        ):
            forbidden.append(fact)
    return courses, forbidden


def _weeks(course: MedicationCourse | TherapyCourse, today: date) -> int:
    return weeks_between(course.started, course.ended or today)


def _passes(course: MedicationCourse, criterion: StepTherapyCriterion) -> bool:
    if course.ended is None or course.stop_reason is None:
        return False
    if course.stop_reason in criterion.early:
        return True
    long_enough = weeks_between(course.started, course.ended) >= criterion.weeks
    return long_enough and course.stop_reason in criterion.reasons


def _fails(course: MedicationCourse, criterion: StepTherapyCriterion) -> bool:
    """Return whether a course is over, told in full, and does not count."""
    told = course.ended is not None and course.stop_reason is not None
    return told and not _passes(course, criterion)


def _tried_therapy(criterion: TherapyCriterion, facts: Iterable[AnyFact], today: date) -> Reading:
    found = [
        fact
        for fact in facts
        if isinstance(fact, TherapyCourse)
        and fact.kind == criterion.therapy
        and fact.started <= today
    ]
    start = months_before(today, criterion.months)
    recent = [fact for fact in found if (fact.ended or today) >= start]
    if not recent:
        return Reading({}, _ids(found))
    sessions = sum(fact.sessions for fact in recent)
    weeks = max(_weeks(fact, today) for fact in recent)
    going_on = any(fact.ended is None for fact in recent)
    values: dict[str, Json] = {}
    if sessions >= criterion.sessions or not going_on:
        values["sessions"] = sessions
    if weeks >= criterion.weeks or not going_on:
        values["weeks"] = weeks
    return Reading(values, _ids(recent))


def _seen(criterion: FindingCriterion, facts: Iterable[AnyFact], today: date) -> Reading:
    found = [
        fact
        for fact in facts
        if isinstance(fact, Finding) and fact.key == criterion.key and fact.found <= today
    ]
    found.sort(key=lambda fact: fact.found)
    if criterion.months is not None:
        start = months_before(today, criterion.months)
        fresh = [fact for fact in found if fact.found >= start]
    else:
        fresh = found
    if not fresh or fresh[-1].value not in criterion.scale:
        return Reading({}, _ids(found))
    latest = fresh[-1]
    truth = len(criterion.accepted) > 1 or criterion.scale == ("absent", "present")
    value: Json = latest.value in criterion.accepted if truth else latest.value
    return Reading({"finding": value}, (latest.id,))


def _diagnosed(criterion: DiagnosisCriterion, facts: Iterable[AnyFact], today: date) -> Reading:
    known = [fact for fact in facts if isinstance(fact, Diagnosis) and fact.onset <= today]
    matching = [fact for fact in known if fact.code.startswith(criterion.prefixes)]
    active = [fact for fact in matching if fact.active]
    if active:
        return Reading({"record": True}, _ids(active))
    if matching:
        return Reading({"record": False}, _ids(matching))
    # Another code of the same category says too little: unspecified, other side, other stage.
    categories = {prefix[:3] for prefix in criterion.prefixes}
    near = [fact for fact in known if fact.active and fact.code[:3] in categories]
    return Reading({}, _ids(near))


def _contraindicated(
    criterion: ContraindicationCriterion, facts: Iterable[AnyFact], today: date
) -> Reading:
    found = [
        fact
        for fact in facts
        if isinstance(fact, Intolerance)
        and fact.substance in criterion.substances
        and fact.recorded <= today
    ]
    forbidding = [fact for fact in found if fact.contraindication]
    if forbidding:
        return Reading({"record": True}, _ids(forbidding))
    return Reading({}, _ids(found))


def _done(criterion: ProcedureCriterion, facts: Iterable[AnyFact], today: date) -> Reading:
    found = [
        fact
        for fact in facts
        if isinstance(fact, ProcedureDone)
        and fact.code in criterion.codes
        and fact.performed <= today
    ]
    start = months_before(today, criterion.months)
    recent = [fact for fact in found if fact.performed >= start]
    if recent:
        return Reading({"record": True}, _ids(recent))
    return Reading({}, _ids(found))
