"""Matching a reviewer's findings with the truth, item by item: comparison modes and roll-ups.

The rules are the source's (``item_modes`` and ``rollup_rules`` of its published facts). A value
that only comes near is wrong, on whichever side of the threshold it lies.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Mapping, Sequence

from healthgym.core.borders import Json
from healthgym.envs.managed_care.checks.case_file import CaseFile
from healthgym.envs.managed_care.checks.expectation import CriterionTruth, ItemTruth, Stage
from healthgym.envs.managed_care.checks.normalize import plain, same, same_set
from healthgym.worlds.managed_care.records.review import (
    ClinicalEvidenceItemObservation,
    MdReviewRecord,
    NurseCriterionEvaluation,
    NurseReviewRecord,
)
from healthgym.worlds.managed_care.vocabulary.authorization import CriterionResult

_Result = CriterionResult
_OPERATORS: Mapping[str, Callable[[float, float], bool]] = {
    "eq": operator.eq,
    "lt": operator.lt,
    "lte": operator.le,
    "gt": operator.gt,
    "gte": operator.ge,
}

Reviews = Iterable[NurseReviewRecord | MdReviewRecord]


def expected_of(case: CaseFile, stage: Stage) -> tuple[CriterionTruth, ...]:
    """Return the criteria that are matched at a stage; none where a judge has them."""
    if not case.expectation.matches_criteria:
        return ()
    return tuple(one for one in case.expectation.criteria if one.stage == stage)


def items_match(truths: Sequence[CriterionTruth], reviews: Reviews) -> bool:
    """Return whether every expected item was observed as it is."""
    found = _found(reviews)
    for truth in truths:
        evaluation = found.get((truth.line_number, truth.criterion_id))
        seen = {one.item_id: one for one in evaluation.item_observations} if evaluation else {}
        for item in truth.evidence_items:
            if item.item_id not in seen or not item_matches(item, seen[item.item_id]):
                return False
    return True


def results_match(truths: Sequence[CriterionTruth], reviews: Reviews) -> bool:
    """Return whether every expected criterion has its result, and its items roll up to it."""
    found = _found(reviews)
    for truth in truths:
        evaluation = found.get((truth.line_number, truth.criterion_id))
        if evaluation is None or evaluation.result != truth.expected_criterion_result:
            return False
        results = [one.item_result for one in evaluation.item_observations]
        rolled = roll_up(truth.rollup_rule, results)
        if truth.evidence_items and rolled != truth.expected_criterion_result:
            return False
    return True


def item_matches(item: ItemTruth, seen: ClinicalEvidenceItemObservation) -> bool:
    """Return whether an observation is the expected one: value, unit, and what follows from it."""
    if item.expected_unit and seen.observed_unit.strip() != item.expected_unit:
        return False
    return _value_matches(item, seen) and _result(item, seen) == item.expected_item_result


def roll_up(rule: str, results: Sequence[CriterionResult]) -> CriterionResult:
    """Return the result of a criterion from those of its items.

    Args:
        rule: ``all_items`` asks for all; ``any_not_met`` lets what is unclear count as met;
            ``any_unclear_or_not_met`` lets one unclear item make the whole unclear.
        results: Results of the items.

    Raises:
        ValueError: If there is no such rule.
    """
    refuted, unclear = _Result.NOT_MET in results, _Result.UNCLEAR in results
    if rule == "all_items":
        if results and all(result == _Result.MET for result in results):
            return _Result.MET
        return _Result.NOT_MET if refuted else _Result.UNCLEAR
    if rule == "any_not_met":
        return _Result.NOT_MET if refuted else _Result.MET
    if rule == "any_unclear_or_not_met":
        if refuted:
            return _Result.NOT_MET
        return _Result.UNCLEAR if unclear else _Result.MET
    raise ValueError(f"There is no roll-up rule {rule!r}.")


def _found(reviews: Reviews) -> dict[tuple[int, str], NurseCriterionEvaluation]:
    """Return the newest evaluation of each criterion of each line."""
    return {
        (review.line_number, evaluation.criterion_id): evaluation
        for review in reviews
        for evaluation in review.criteria_evaluations
    }


def _value_matches(item: ItemTruth, seen: ClinicalEvidenceItemObservation) -> bool:
    if item.comparison_mode in ("scalar", "enum", "boolean"):
        return same(seen.observed_value, item.expected_observation)
    if item.comparison_mode == "set":
        return same_set(seen.observed_value, item.expected_observation)
    # Presence asks for the row, which is there; an item that must be absent can never pass.
    return item.operator != "absent"


def _result(item: ItemTruth, seen: ClinicalEvidenceItemObservation) -> CriterionResult:
    """Return the item's result as it follows from the value, whatever the reviewer wrote."""
    compare = _OPERATORS.get(item.operator or "")
    if item.comparison_mode == "scalar" and compare is not None:
        return _compared(compare, seen.observed_value, item.threshold_value)
    if item.comparison_mode not in ("enum", "boolean", "set"):
        return seen.item_result
    wanted = item.threshold_value
    if wanted is None:
        if item.expected_item_result != _Result.MET:
            return seen.item_result
        wanted = item.expected_observation
    equal = same_set if item.comparison_mode == "set" else same
    return _Result.MET if equal(seen.observed_value, wanted) else _Result.NOT_MET


def _compared(
    compare: Callable[[float, float], bool], value: Json, threshold: Json
) -> CriterionResult:
    left, right = plain(value), plain(threshold)
    for side in (left, right):
        if isinstance(side, bool) or not isinstance(side, int | float):
            return _Result.UNCLEAR
    return _Result.MET if compare(left, right) else _Result.NOT_MET
