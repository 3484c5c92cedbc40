"""Whether the physician's review was done; outside the public contract also whether it is right."""

from __future__ import annotations

from healthgym.envs.managed_care.checks.case_file import CaseFile
from healthgym.envs.managed_care.checks.criteria import expected_of, items_match, results_match
from healthgym.envs.managed_care.checks.expectation import Stage
from healthgym.envs.managed_care.checks.rule import Answer, rule
from healthgym.worlds.managed_care.records.review import MdCaseDecision, MdReviewRecord
from healthgym.worlds.managed_care.vocabulary.authorization import (
    DecisionOutcome,
    MdReviewDecision,
    PayerRole,
)


def _decision(case: CaseFile) -> MdCaseDecision | None:
    return case.last(case.world.medical.decisions.values())


def _reviews(case: CaseFile) -> tuple[MdReviewRecord, ...]:
    return case.of(case.world.medical.reviews.values())


def _exists(case: CaseFile) -> Answer:
    return _decision(case) is not None


def _matches(case: CaseFile) -> Answer:
    made = _decision(case)
    return None if made is None else made.decision == case.expectation.physician_decision


def _items(case: CaseFile) -> Answer:
    return items_match(expected_of(case, Stage.PHYSICIAN), _reviews(case))


def _results(case: CaseFile) -> Answer:
    return results_match(expected_of(case, Stage.PHYSICIAN), _reviews(case))


def _rationale(case: CaseFile) -> Answer:
    made = _decision(case)
    return None if made is None else bool(made.determination_rationale.strip())


def _signed(case: CaseFile) -> Answer:
    made = _decision(case)
    return None if made is None else made.signed_off == case.expectation.physician_signs


def _denial_rationale(case: CaseFile) -> Answer:
    made = _decision(case)
    if made is None or made.decision != MdReviewDecision.DENY:
        return None
    return bool(made.denial_rationale.strip())


def _role(case: CaseFile) -> Answer:
    denials = [
        made
        for made in case.of(case.world.determinations.decisions.values())
        if made.outcome == DecisionOutcome.DENIED
    ]
    return all(made.reviewer_role == PayerRole.PHYSICIAN_REVIEWER for made in denials)


def _audit(case: CaseFile) -> Answer:
    return case.acted("submit_case_decision")


def _has_truth(case: CaseFile) -> bool:
    expected = case.expectation
    return expected.matches_criteria and expected.physician_decision is not None


def _has_criteria(case: CaseFile) -> bool:
    return bool(expected_of(case, Stage.PHYSICIAN))


def _may_deny(case: CaseFile) -> bool:
    # Without a decision the source asks only where the truth is a denial.
    expected = case.expectation.physician_decision
    return _decision(case) is not None or expected == MdReviewDecision.DENY


RULES = (
    rule("md.decision_exists", _exists),
    rule("md.decision_matches", _matches, _has_truth),
    rule("md.criteria_items_match", _items, _has_criteria),
    rule("md.criteria_results_match", _results, _has_criteria),
    rule("md.rationale_present", _rationale),
    rule("md.signed_off", _signed, lambda c: c.expectation.physician_signs is not None),
    rule("md.denial_rationale_present", _denial_rationale, _may_deny),
    rule("md.role_compliance", _role, lambda c: c.expectation.matches_criteria),
    rule("md.audit", _audit),
)
