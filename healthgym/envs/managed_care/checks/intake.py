"""Whether intake was done, and done rightly."""

from __future__ import annotations

from healthgym.envs.managed_care.checks.case_file import CaseFile
from healthgym.envs.managed_care.checks.expectation import Contract
from healthgym.envs.managed_care.checks.rule import Answer, rule


def _exists(case: CaseFile) -> Answer:
    return case.intake is not None


def _diagnoses(case: CaseFile) -> Answer:
    if case.intake is None:
        return None
    recorded = {one.code for one in case.intake.diagnoses}
    return set(case.expectation.intake.diagnosis_codes) <= recorded


def _npi(case: CaseFile) -> Answer:
    if case.intake is None:
        return None
    truth, provider = case.expectation.intake.provider_npi, case.intake.requesting_provider
    return not truth or (provider is not None and provider.npi == truth)


def _lines(case: CaseFile) -> Answer:
    return None if case.intake is None else bool(case.intake.line_items)


def _complete(case: CaseFile) -> Answer:
    if case.intake is None:
        return None
    return case.intake.decision_request_complete == case.expectation.intake.request_complete


def _eligible(case: CaseFile) -> Answer:
    if case.intake is None:
        return None
    return case.intake.decision_member_eligible == case.expectation.intake.member_eligible


def _covered(case: CaseFile) -> Answer:
    if case.intake is None:
        return None
    return case.intake.decision_service_covered == case.expectation.intake.service_covered


def _audit(case: CaseFile) -> Answer:
    if case.expectation.contract is Contract.V3:
        return case.acted("confirm_intake_decisions")
    return case.acted("confirm_intake_decisions", "get_member_coverage", "verify_provider")


RULES = (
    rule("intake.case_exists", _exists),
    rule("intake.diagnoses_match", _diagnoses),
    rule("intake.provider_npi_matches", _npi, lambda c: c.expectation.intake.checks_provider),
    rule("intake.line_items_populated", _lines),
    rule(
        "intake.decision_request_complete",
        _complete,
        lambda c: c.expectation.intake.request_complete is not None,
    ),
    rule(
        "intake.decision_member_eligible",
        _eligible,
        lambda c: c.expectation.intake.member_eligible is not None,
    ),
    rule(
        "intake.decision_service_covered",
        _covered,
        lambda c: c.expectation.intake.service_covered is not None,
    ),
    rule("intake.audit", _audit),
)
