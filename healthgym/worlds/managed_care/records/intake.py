"""What the payer's intake desk writes down."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from healthgym.worlds.managed_care.vocabulary.authorization import (
    AuthorizationType,
    IntakeStatus,
    ProviderNetworkStatus,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class IntakeProviderContact:
    """TODO intake provider contact.

    Attributes:
        name: TODO.
        phone_code: TODO.
        phone_number: TODO.
        phone_ext: TODO.
        fax_number: TODO.
    """

    name: str | None = None
    phone_code: str | None = None
    phone_number: str | None = None
    phone_ext: str | None = None
    fax_number: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class IntakeProviderInfo:
    """TODO intake provider info.

    Attributes:
        provider_name: TODO.
        provider_id: TODO.
        npi: TODO.
        in_network: TODO.
        provider_group_name: TODO.
        provider_specialty: TODO.
        phone_code: TODO.
        phone_number: TODO.
        phone_ext: TODO.
        auth_specific_contact: TODO.
    """

    provider_name: str | None = None
    provider_id: str | None = None
    npi: str | None = None
    in_network: bool | None = None
    provider_group_name: str | None = None
    provider_specialty: str | None = None
    phone_code: str | None = None
    phone_number: str | None = None
    phone_ext: str | None = None
    auth_specific_contact: IntakeProviderContact | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class IntakeDiagnosis:
    """TODO intake diagnosis.

    Attributes:
        name: TODO.
        code: TODO.
        code_set: TODO.
        is_primary: TODO.
    """

    name: str
    code: str
    code_set: str = "ICD10"
    is_primary: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class IntakeProcedure:
    """TODO intake procedure.

    Attributes:
        name: TODO.
        code: TODO.
        code_set: TODO.
        is_primary: TODO.
    """

    name: str
    code: str
    code_set: str = "CPT"
    is_primary: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class IntakeLineItem:
    """TODO intake line item.

    Attributes:
        line_number: TODO.
        service_type: TODO.
        request_date: TODO.
        line_item_type: TODO.
        level_of_urgency: TODO.
        urgency_requested_by: TODO.
        start_date: TODO.
        end_date: TODO.
        applied_eligibility: TODO.
        place_of_service: TODO.
        requested_units: TODO.
        unit_type: TODO.
        procedures: TODO.
        servicing_provider: TODO.
        same_as_requesting_provider: TODO.
    """

    line_number: int
    service_type: str | None = None
    request_date: str | None = None
    line_item_type: str | None = None
    level_of_urgency: str | None = None
    urgency_requested_by: str | None = None
    start_date: str | None = None
    end_date: str | None = None
    applied_eligibility: str | None = None
    place_of_service: str | None = None
    requested_units: int | None = None
    unit_type: str | None = None
    procedures: tuple[IntakeProcedure, ...] = ()
    servicing_provider: IntakeProviderInfo | None = None
    same_as_requesting_provider: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class IntakeAuthHeaderData:
    """TODO intake auth header data.

    Attributes:
        owner: TODO.
        request_date: TODO.
        state: TODO.
        state_date: TODO.
        request_source: TODO.
        method: TODO.
        level_of_urgency: TODO.
        urgency_requested_by: TODO.
        continuity_of_care: TODO.
        member_eligibility_verified: TODO.
        court_ordered: TODO.
        single_case_agreement: TODO.
    """

    owner: str | None = None
    request_date: str | None = None
    state: str | None = None
    state_date: str | None = None
    request_source: str | None = None
    method: str | None = None
    level_of_urgency: str | None = None
    urgency_requested_by: str | None = None
    continuity_of_care: bool | None = None
    member_eligibility_verified: bool | None = None
    court_ordered: bool | None = None
    single_case_agreement: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SaveDiagnosesPayload:
    """TODO save diagnoses payload.

    Attributes:
        diagnosis_type: TODO.
        diagnoses: TODO.
    """

    diagnosis_type: str | None = None
    diagnoses: tuple[IntakeDiagnosis, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class IntakeCase:
    """TODO intake case.

    Attributes:
        id: TODO.
        case_id: TODO.
        auth_type: TODO.
        status: TODO.
        received_at: TODO.
        owner: TODO.
        request_date: TODO.
        state: TODO.
        state_date: TODO.
        request_source: TODO.
        method: TODO.
        level_of_urgency: TODO.
        urgency_requested_by: TODO.
        continuity_of_care: TODO.
        member_eligibility_verified: TODO.
        court_ordered: TODO.
        single_case_agreement: TODO.
        diagnosis_type: TODO.
        diagnoses: TODO.
        requesting_provider: TODO.
        line_items: TODO.
        servicing_facility: TODO.
        member_eligible: TODO.
        plan_type: TODO.
        coverage_details: TODO.
        provider_network_status: TODO.
        provider_verification_details: TODO.
        decision_request_complete: TODO.
        decision_member_eligible: TODO.
        decision_service_covered: TODO.
        decision_provider_network_status: TODO.
        completed_at: TODO.
    """

    id: str
    case_id: str
    auth_type: AuthorizationType = AuthorizationType.SP
    status: IntakeStatus = IntakeStatus.NEW
    received_at: datetime
    owner: str | None = None
    request_date: str | None = None
    state: str | None = None
    state_date: str | None = None
    request_source: str | None = None
    method: str | None = None
    level_of_urgency: str | None = None
    urgency_requested_by: str | None = None
    continuity_of_care: bool = False
    member_eligibility_verified: bool = False
    court_ordered: bool = False
    single_case_agreement: bool = False
    diagnosis_type: str | None = None
    diagnoses: tuple[IntakeDiagnosis, ...] = ()
    requesting_provider: IntakeProviderInfo | None = None
    line_items: tuple[IntakeLineItem, ...] = ()
    servicing_facility: IntakeProviderInfo | None = None
    member_eligible: bool | None = None
    plan_type: str | None = None
    coverage_details: str | None = None
    provider_network_status: ProviderNetworkStatus | None = None
    provider_verification_details: str | None = None
    decision_request_complete: bool | None = None
    decision_member_eligible: bool | None = None
    decision_service_covered: bool | None = None
    decision_provider_network_status: ProviderNetworkStatus | None = None
    completed_at: datetime | None = None
