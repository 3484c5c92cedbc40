"""What the office decides before it sends a request."""

from __future__ import annotations

from enum import StrEnum


class RequirementOutcome(StrEnum):
    """Answer of the plan to whether a service needs authorization."""

    REQUIRED = "required"
    NOT_REQUIRED = "not_required"
    NOT_COVERED = "not_covered"
    OUT_OF_NETWORK = "out_of_network"


class ProviderDeterminationAction(StrEnum):
    """What the office does with a case before submission."""

    SUBMIT_PA = "submit_pa"
    GATHER_MORE_EVIDENCE = "gather_more_evidence"
    DO_NOT_SUBMIT = "do_not_submit"


class ProviderCaseStrength(StrEnum):
    """How well a packet supports its request."""

    STRONG = "strong"
    WEAK = "weak"
    #: No authorization is needed, or none can be had.
    NOT_APPLICABLE = "not_applicable"


class ProviderFindingCode(StrEnum):
    """Reason of the office against submitting a case now."""

    SERVICE_NOT_PA_REQUIRED = "service_not_pa_required"
    COVERAGE_INACTIVE = "coverage_inactive"
    PROVIDER_OUT_OF_NETWORK = "provider_out_of_network"
    MISSING_REQUIRED_DOCUMENTS = "missing_required_documents"
    INSUFFICIENT_SUPPORTING_EVIDENCE = "insufficient_supporting_evidence"
    MISSING_REQUIRED_FORM_FIELDS = "missing_required_form_fields"
    MISSING_REQUIRED_QUESTIONNAIRE_ANSWERS = "missing_required_questionnaire_answers"
    DIAGNOSIS_POLICY_MISMATCH = "diagnosis_policy_mismatch"


class SufficiencyOutcome(StrEnum):
    """Whether a submission holds what the policy asks for."""

    SUFFICIENT = "sufficient"
    INSUFFICIENT = "insufficient"
    MISSING_REQUIRED_DOCUMENTS = "missing_required_documents"
    MISSING_QUESTIONNAIRE = "missing_questionnaire"
    INVALID_DIAGNOSIS_ASSOCIATION = "invalid_diagnosis_association"
