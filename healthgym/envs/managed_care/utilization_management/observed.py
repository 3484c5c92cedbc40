"""Values that a reviewer enters beside a finding: what a number decides is entered, as it is."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import date

from healthgym.core.borders import Json
from healthgym.envs.managed_care.utilization_management.entered import (
    Entered,
    entered,
    is_number,
    weeks_of,
)
from healthgym.worlds.managed_care.facts import (
    AnyFact,
    Measurement,
    MedicationCourse,
    TherapyCourse,
)
from healthgym.worlds.managed_care.policies.criteria import (
    REQUEST_KINDS,
    AnyCriterion,
    CountCriterion,
    DiagnosisCriterion,
    FindingCriterion,
    MeasurementCriterion,
    ProcedureCriterion,
    StepTherapyCriterion,
)
from healthgym.worlds.managed_care.policies.dates import months_before, weeks_between
from healthgym.worlds.managed_care.policies.evaluation import Assessment
from healthgym.worlds.managed_care.policies.evidence import evidence_items, item_result
from healthgym.worlds.managed_care.policies.units import convert, other_units
from healthgym.worlds.managed_care.records.review import (
    ClinicalEvidenceItemObservation,
    NurseCriterionEvaluation,
)
from healthgym.worlds.managed_care.stated import stated
from healthgym.worlds.managed_care.vocabulary.authorization import CriterionResult

#: How far a value may be off that was carried to another unit and rounded.
_ROUNDED = 0.02
#: Weeks by which a duration may be off: some count those that were begun.
_BEGUN = 1.0
_WEEKS = "weeks"
#: Days beside a finding that nothing which it rests on has: one of an earlier entry, say.
_BESIDE_MOST = 2
#: What contradicts a finding.
_OPPOSITE = {
    CriterionResult.MET: CriterionResult.NOT_MET,
    CriterionResult.NOT_MET: CriterionResult.MET,
}
#: What is known from an entry of a day.
_DATED = (DiagnosisCriterion, ProcedureCriterion, FindingCriterion)


def misread(
    criterion: AnyCriterion,
    shown: Assessment,
    entry: NurseCriterionEvaluation,
    facts: Iterable[AnyFact] = (),
    today: date | None = None,
) -> bool:
    """Return whether a number, a yes or a result is entered that the packet does not show.

    A number may be in any unit in which the quantity is measured; where a unit is named, it is in
    that one. A count may end where it is enough, and where one of several values is enough, or one
    of several trials, any of them will do. What the packet leaves open may be entered as far as it
    goes: a therapy's sessions to date, a value that is too old, a reason that counts. What is
    described in words is not compared. The result of an item may not contradict both the packet and
    the finding that it belongs to.

    Args:
        criterion: The criterion.
        shown: What the packet shows of it.
        entry: The finding.
        facts: What the packet shows.
        today: The day of the request.
    """
    known = {item.item_id: item for item in shown.items}
    for seen in entry.item_observations:
        item = known.get(seen.item_id)
        if item is None:
            continue
        contrary = _OPPOSITE.get(seen.item_result)
        if contrary is not None and contrary is item.item_result is entry.result:
            return True
        given = entered(seen)
        value = given.value
        if value is None or isinstance(value, str | list | dict):
            continue
        right: list[Json] = [entered(item).value]
        bearing = [fact for fact in facts if fact.id in shown.facts]
        if is_number(value) and today is not None:
            if is_number(right[0]):
                right += _as_good(criterion, item, facts, today)
            elif right[0] is None and entry.result is CriterionResult.UNCLEAR:
                right += _left_open(criterion, item, bearing, today)
        if right[0] is None and entry.result is CriterionResult.UNCLEAR:
            right += _reasons(criterion, bearing)
        agrees = any(_agrees(given, each, criterion, item.observed_unit) for each in right)
        if not agrees and not _counted_enough(criterion, item, value):
            return True
    return False


def bare(
    criterion: AnyCriterion,
    shown: Assessment,
    entry: NurseCriterionEvaluation,
    days: frozenset[date] = frozenset(),
    beside: frozenset[date] = frozenset(),
) -> bool:
    """Return whether a finding stands without the numbers, or the day, that it is known from.

    Asked for is the value of each item that is compared as a number, where the packet shows one,
    and one of the days of what a diagnosis, a procedure or a finding is read from; not of what is
    left unclear, nor of what the request itself states. Whoever names every day of the packet
    beside it has named none.

    Args:
        criterion: The criterion.
        shown: What the packet shows of it.
        entry: The finding.
        days: Days of what it rests on; none where it rests on silence.
        beside: Days that may stand there as well: of the request, and of the pages it names.
    """
    if entry.result is CriterionResult.UNCLEAR or isinstance(criterion, REQUEST_KINDS):
        return False
    given = {seen.item_id for seen in entry.item_observations if is_number(entered(seen).value)}
    measured = [item for item in shown.items if is_number(entered(item).value)]
    if any(item.item_id not in given for item in measured):
        return True
    if not isinstance(criterion, _DATED) or not days:
        return False
    said = stated(_told(entry))
    # A day without its year, or a month, is the one on file that it may be.
    forms = {day: {(0, day.month, day.day), (day.year, day.month, 0)} for day in days | beside}
    told = said.days | {day for day, each in forms.items() if each & said.loose}
    return not days & told or len(told - days - beside) > _BESIDE_MOST


def _told(entry: NurseCriterionEvaluation) -> str:
    """Return what is said beside a finding, in words."""
    items = entry.item_observations
    values = (seen.observed_value for seen in items if isinstance(seen.observed_value, str))
    return "\n".join((entry.notes, *(seen.notes for seen in items), *values))


def _as_good(
    criterion: AnyCriterion,
    item: ClinicalEvidenceItemObservation,
    facts: Iterable[AnyFact],
    today: date,
) -> Iterator[float]:
    """Yield values besides the one that is reckoned with, by which an item is the same."""
    if isinstance(criterion, MeasurementCriterion) and criterion.recency != "latest":
        template = evidence_items(criterion)[0]
        start = months_before(today, criterion.months)
        for fact in facts:
            if isinstance(fact, Measurement) and fact.code == criterion.code:
                value = convert(fact.value, fact.unit, criterion.unit, criterion.code)
                fresh = start <= fact.taken <= today and value is not None
                if fresh and item_result(template, value) is item.item_result:
                    yield float(value or 0.0)
    if isinstance(criterion, StepTherapyCriterion) and item.observed_unit == _WEEKS:
        for fact in facts:
            if isinstance(fact, MedicationCourse) and fact.medication in criterion.drugs:
                yield float(weeks_between(fact.started, fact.ended or today))


def _left_open(
    criterion: AnyCriterion,
    item: ClinicalEvidenceItemObservation,
    facts: Iterable[AnyFact],
    today: date,
) -> Iterator[float]:
    """Yield what the packet has of an item that this leaves open: too old, or going on."""
    for fact in facts:
        if isinstance(fact, TherapyCourse | MedicationCourse) and item.observed_unit == _WEEKS:
            yield float(weeks_between(fact.started, fact.ended or today))
        elif isinstance(fact, TherapyCourse):
            yield float(fact.sessions)
        elif isinstance(fact, Measurement) and isinstance(criterion, MeasurementCriterion):
            carried = convert(fact.value, fact.unit, criterion.unit, criterion.code)
            yield fact.value if carried is None else carried


def _reasons(criterion: AnyCriterion, facts: Iterable[AnyFact]) -> Iterator[bool]:
    """Yield a yes where some trial ended for a reason that counts, though there are too few."""
    if isinstance(criterion, StepTherapyCriterion) and any(
        isinstance(fact, MedicationCourse) and fact.stop_reason in criterion.reasons
        for fact in facts
    ):
        yield True


def _counted_enough(
    criterion: AnyCriterion, item: ClinicalEvidenceItemObservation, value: Json
) -> bool:
    """Return whether somebody stopped counting where it was enough, or counted too few so far."""
    right = item.observed_value
    if not isinstance(criterion, CountCriterion | StepTherapyCriterion):
        return False
    if (
        item.observed_unit == _WEEKS
        or isinstance(right, bool | str | list | dict)
        or isinstance(value, bool)
    ):
        return False
    template = next(one for one in evidence_items(criterion) if one.item_id == item.item_id)
    told = item_result(template, value)
    if right is None:
        return told is CriterionResult.NOT_MET
    return float(value) <= right and told is item.item_result


def _agrees(given: Entered, right: Json, criterion: AnyCriterion, unit: str) -> bool:
    value = given.value
    if right is None:
        return value is False
    if isinstance(value, bool) or isinstance(right, bool):
        return value is right or not isinstance(right, bool)
    if isinstance(value, str | list | dict | None) or isinstance(right, str | list | dict):
        return True
    if unit == _WEEKS:
        return abs(float(value) * weeks_of(given.unit) - float(right)) <= _BEGUN
    return any(
        abs(float(value) - each) <= _ROUNDED * abs(each)
        for each in _forms(right, criterion, unit, given.measured_in)
    )


def _forms(right: float, criterion: AnyCriterion, unit: str, named: str | None) -> Iterator[float]:
    """Yield a value in each unit in which it can be given; in the one that is named, if one is."""
    if named in (None, unit) or not isinstance(criterion, MeasurementCriterion):
        yield float(right)
    if isinstance(criterion, MeasurementCriterion):
        for other in other_units(criterion.code, unit):
            carried = convert(float(right), unit, other, criterion.code)
            if carried is not None and named in (None, other):
                yield carried
