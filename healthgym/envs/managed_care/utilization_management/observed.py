"""Values that a reviewer enters beside a finding: those that the packet states, or none."""

from __future__ import annotations

from collections.abc import Iterator

from healthgym.core.borders import Json
from healthgym.envs.managed_care.checks.normalize import plain
from healthgym.worlds.managed_care.policies.criteria import (
    AnyCriterion,
    CountCriterion,
    MeasurementCriterion,
    StepTherapyCriterion,
)
from healthgym.worlds.managed_care.policies.evaluation import Assessment
from healthgym.worlds.managed_care.policies.evidence import evidence_items, item_result
from healthgym.worlds.managed_care.policies.units import convert, other_units
from healthgym.worlds.managed_care.records.review import (
    ClinicalEvidenceItemObservation,
    NurseCriterionEvaluation,
)
from healthgym.worlds.managed_care.vocabulary.authorization import CriterionResult

#: How far a value may be off that was carried to another unit and rounded.
_ROUNDED = 0.02
#: Weeks by which a duration may be off: some count those that were begun.
_BEGUN = 1.0


def misread(criterion: AnyCriterion, shown: Assessment, entry: NurseCriterionEvaluation) -> bool:
    """Return whether a number or a yes is entered that the packet does not show.

    A number may be in any unit in which the quantity is measured, and a count may end where it is
    enough. What is left blank, or described in words, is not compared.

    Args:
        criterion: The criterion.
        shown: What the packet shows of it.
        entry: The finding.
    """
    known = {item.item_id: item for item in shown.items}
    for seen in entry.item_observations:
        item, value = known.get(seen.item_id), plain(seen.observed_value)
        if item is None or value is None or isinstance(value, str | list | dict):
            continue
        right = plain(item.observed_value)
        agrees = _agrees(value, right, criterion, item.observed_unit)
        if not agrees and not _counted_enough(criterion, item, value):
            return True
    return False


def _counted_enough(
    criterion: AnyCriterion, item: ClinicalEvidenceItemObservation, value: Json
) -> bool:
    """Return whether somebody stopped counting where it was enough, or counted too few so far."""
    right = item.observed_value
    if not isinstance(criterion, CountCriterion | StepTherapyCriterion):
        return False
    if isinstance(right, bool | str | list | dict) or isinstance(value, bool):
        return False
    template = next(one for one in evidence_items(criterion) if one.item_id == item.item_id)
    told = item_result(template, value)
    if right is None:
        return told is CriterionResult.NOT_MET
    return float(value) <= right and told is item.item_result


def _agrees(value: Json, right: Json, criterion: AnyCriterion, unit: str) -> bool:
    if right is None:
        return value is False
    if isinstance(value, bool) or isinstance(right, bool):
        return value is right or not isinstance(right, bool)
    if isinstance(right, str | list | dict):
        return True
    off = abs(float(value) - float(right))
    if unit == "weeks":
        return off <= _BEGUN
    return any(
        abs(float(value) - each) <= _ROUNDED * abs(each) for each in _forms(right, criterion, unit)
    )


def _forms(right: float, criterion: AnyCriterion, unit: str) -> Iterator[float]:
    """Yield a value in each unit in which it can be given."""
    yield float(right)
    if isinstance(criterion, MeasurementCriterion):
        for other in other_units(criterion.code, unit):
            carried = convert(float(right), unit, other, criterion.code)
            if carried is not None:
                yield carried
