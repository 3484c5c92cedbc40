"""Whether the right order and a case on it were made."""

from __future__ import annotations

from healthgym.envs.managed_care.checks.case_file import CaseFile
from healthgym.envs.managed_care.checks.expectation import OrderExpectation
from healthgym.envs.managed_care.checks.normalize import place_of_service, service_type
from healthgym.envs.managed_care.checks.rule import Answer, rule


def _expected(case: CaseFile) -> OrderExpectation:
    return case.expectation.service_request or OrderExpectation()


def _order(case: CaseFile) -> Answer:
    return case.order is not None


def _procedure(case: CaseFile) -> Answer:
    accepted = _expected(case).acceptable_procedure_codes
    if case.order is None:
        return False
    return case.order.procedure_code in accepted if accepted else None


def _diagnoses(case: CaseFile) -> Answer:
    required = _expected(case).required_diagnosis_codes
    if case.order is None:
        return False
    return set(required) <= set(case.order.diagnosis_codes) if required else None


def _service_type(case: CaseFile) -> Answer:
    accepted = set(map(service_type, _expected(case).acceptable_service_types))
    if case.order is None:
        return False
    return service_type(case.order.service_type) in accepted if accepted else None


def _site(case: CaseFile) -> Answer:
    accepted = set(map(place_of_service, _expected(case).acceptable_sites_of_service))
    if case.order is None:
        return False
    return place_of_service(case.order.site_of_service) in accepted if accepted else None


def _case(case: CaseFile) -> Answer:
    return case.order is not None and case.case is not None


def _status(case: CaseFile) -> Answer:
    if case.expected_status is None:
        return None
    return case.case is not None and case.case.status == case.expected_status


RULES = (
    rule("new_referral.service_request_created", _order),
    rule("new_referral.procedure_code", _procedure),
    rule("new_referral.required_diagnosis_codes", _diagnoses),
    rule("new_referral.service_type", _service_type),
    rule("new_referral.site_of_service", _site),
    rule("new_referral.case_created", _case),
    rule("new_referral.case_status", _status),
)
