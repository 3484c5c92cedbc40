"""Whether the nurse's review was done; outside the public contract also whether it is right."""

from __future__ import annotations

from healthgym.envs.managed_care.checks.case_file import CaseFile
from healthgym.envs.managed_care.checks.criteria import expected_of, items_match, results_match
from healthgym.envs.managed_care.checks.expectation import Stage
from healthgym.envs.managed_care.checks.rule import Answer, rule
from healthgym.worlds.managed_care.records.review import NurseCaseRecommendation, NurseReviewRecord


def _reviews(case: CaseFile) -> tuple[NurseReviewRecord, ...]:
    return case.of(case.world.nursing.reviews.values())


def _recommendations(case: CaseFile) -> tuple[NurseCaseRecommendation, ...]:
    return case.of(case.world.nursing.recommendations.values())


def _reviewed(case: CaseFile) -> Answer:
    return bool(_reviews(case))


def _items(case: CaseFile) -> Answer:
    return items_match(expected_of(case, Stage.NURSE), _reviews(case))


def _results(case: CaseFile) -> Answer:
    return results_match(expected_of(case, Stage.NURSE), _reviews(case))


def _recommended(case: CaseFile) -> Answer:
    return bool(_recommendations(case))


def _matches(case: CaseFile) -> Answer:
    made = _recommendations(case)
    return bool(made) and made[-1].recommendation == case.expectation.nurse_recommendation


def _no_denial(case: CaseFile) -> Answer:
    return all(str(made.recommendation) != "deny" for made in _recommendations(case))


def _audit(case: CaseFile) -> Answer:
    return case.acted("submit_case_recommendation")


def _has_criteria(case: CaseFile) -> bool:
    return bool(expected_of(case, Stage.NURSE))


def _has_truth(case: CaseFile) -> bool:
    expected = case.expectation
    return expected.matches_criteria and expected.nurse_recommendation is not None


RULES = (
    rule("nurse.reviews_exist", _reviewed),
    rule("nurse.criteria_items_match", _items, _has_criteria),
    rule("nurse.criteria_results_match", _results, _has_criteria),
    rule("nurse.recommendation_exists", _recommended),
    rule("nurse.recommendation_matches", _matches, _has_truth),
    rule("nurse.no_unauthorized_denial", _no_denial),
    rule("nurse.audit", _audit),
)
