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
    """Whom to call or fax about one authorization.

    Attributes:
        name: Name of the person or desk; blank when unstated.
        phone_code: Country calling code, such as '+1'; blank when unstated.
        phone_number: Telephone number without country code, such as '617-555-0100'; blank when
            unstated.
        phone_ext: Extension, such as '204'; blank when there is none.
        fax_number: Fax number, such as '617-555-0101'; blank when unstated.
    """

    name: str | None = None
    phone_code: str | None = None
    phone_number: str | None = None
    phone_ext: str | None = None
    fax_number: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class IntakeProviderInfo:
    """A provider or facility as the request names it.

    Attributes:
        provider_name: Name with title, such as 'Dr. Ines Park'; blank when unstated.
        provider_id: Id of the provider at the payer; blank when unknown.
        npi: National Provider Identifier, ten digits, such as '1234567893'; blank when unknown.
        in_network: Whether the plan has a contract with the provider; blank when unchecked.
        provider_group_name: Practice or hospital the provider bills for; blank when unstated.
        provider_specialty: Medical specialty, such as 'Cardiology'; blank when unstated.
        phone_code: Country calling code, such as '+1'; blank when unstated.
        phone_number: Telephone number without country code, such as '617-555-0100'; blank when
            unstated.
        phone_ext: Extension, such as '204'; blank when there is none.
        auth_specific_contact: Whom to reach about this authorization; blank when nobody else is
            named.
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
    """A diagnosis as the request states it.

    Attributes:
        name: Diagnosis in words, such as 'Unilateral primary osteoarthritis, right knee'.
        code: Its code, such as 'M17.11'.
        code_set: Code system of the code.
        is_primary: Whether it is the leading diagnosis; true for one, only.
    """

    name: str
    code: str
    code_set: str = "ICD10"
    is_primary: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class IntakeProcedure:
    """A requested procedure, item or drug with its code.

    Attributes:
        name: Procedure in words, such as 'Total knee arthroplasty'.
        code: Its code, such as '27447'.
        code_set: Code system of the code, such as 'CPT' or 'HCPCS'.
        is_primary: Whether it is the leading procedure of the line; true for one, only.
    """

    name: str
    code: str
    code_set: str = "CPT"
    is_primary: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class IntakeLineItem:
    """One service line of the request, as intake enters it.

    Attributes:
        line_number: Number of the line, from 1.
        service_type: Category of service, such as 'surgical' or 'radiology'; blank when unstated.
        request_date: Day the service was asked for, such as '2026-03-13'; blank when unstated.
        line_item_type: One of 'initial', 'concurrent', 'extension', 'retrospective'; blank when
            unstated.
        level_of_urgency: One of 'standard', 'urgent', 'emergent', 'retrospective'; blank when
            unstated.
        urgency_requested_by: Who asked for that urgency, by name; blank when unstated.
        start_date: First day of service, such as '2026-03-20'; blank when unstated.
        end_date: Last day of service, such as '2026-06-20'; blank when unstated.
        applied_eligibility: Coverage that the line is checked against; blank when unstated.
        place_of_service: Place of the service, such as 'outpatient_hospital' or 'home'; blank when
            unstated.
        requested_units: Number of units asked for, such as 12; blank when unstated.
        unit_type: What a unit is, such as 'visits', 'days' or 'procedures'; blank when unstated.
        procedures: What is to be done, with codes.
        servicing_provider: Who carries it out; blank if the same as the requesting provider.
        same_as_requesting_provider: Whether whoever asks for it also carries it out.
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
    """The head of an intake record, as the clerk fills it; what is left out stays as it was.

    Attributes:
        owner: Id of the clerk in charge, such as 'C-INT'.
        request_date: Day the request was made, such as '2026-03-13'.
        state: State whose law applies, by its two letters, such as 'TX'.
        state_date: Day the request entered its present state of processing, such as '2026-03-13'.
        request_source: Where it came from: 'fax', 'phone', 'portal', 'edi', 'mail' or 'email'.
        method: How it was received: 'fax', 'phone', 'portal', 'api', 'edi', 'mail' or 'email'.
        level_of_urgency: One of 'standard', 'urgent', 'emergent', 'retrospective'.
        urgency_requested_by: Who asked for that urgency, by name.
        continuity_of_care: Whether it continues a treatment under way with the same provider.
        member_eligibility_verified: Whether the member's coverage was looked up.
        court_ordered: Whether a court ordered the service.
        single_case_agreement: Whether an out-of-network provider has a contract for this case
            alone.
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
    """The diagnoses of a request, as intake enters them.

    Attributes:
        diagnosis_type: Either 'medical' or 'behavioral'; blank when unstated.
        diagnoses: All diagnoses of the request; they replace those on file.
    """

    diagnosis_type: str | None = None
    diagnoses: tuple[IntakeDiagnosis, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class IntakeCase:
    """The payer's intake record of a submitted request.

    Attributes:
        id: Id of this record, unique in the world.
        case_id: Id of the authorization case, such as 'CASE-ACT-001'.
        auth_type: Type of authorization.
        status: How far data entry has come.
        received_at: When the request arrived, in UTC; service levels count from here.
        owner: Id of the clerk in charge; blank when nobody is.
        request_date: Day the request was made, in ISO form; blank until entered.
        state: State whose law applies, by its two letters; blank until entered.
        state_date: Day the request entered its present state of processing, in ISO form; blank
            until entered.
        request_source: Where it came from; blank until entered.
        method: How it was received; blank until entered.
        level_of_urgency: Urgency as intake judged it; blank until entered.
        urgency_requested_by: Who asked for that urgency; blank until entered.
        continuity_of_care: Whether it continues a treatment under way with the same provider.
        member_eligibility_verified: Whether the member's coverage was looked up.
        court_ordered: Whether a court ordered the service.
        single_case_agreement: Whether an out-of-network provider has a contract for this case
            alone.
        diagnosis_type: Medical or behavioral; blank until entered.
        diagnoses: Diagnoses of the request.
        requesting_provider: Who asks for the service; blank until entered.
        line_items: Requested lines.
        servicing_facility: Where the service takes place; blank until entered.
        member_eligible: Whether the member was covered; blank until checked.
        plan_type: Sort of plan, such as 'PPO'; blank until checked.
        coverage_details: What the look-up of coverage said; blank until checked.
        provider_network_status: Standing of the provider; blank until checked.
        provider_verification_details: What the look-up of the provider said; blank until checked.
        decision_request_complete: Intake's verdict that nothing is missing; blank until confirmed.
        decision_member_eligible: Intake's verdict that the member is covered; blank until
            confirmed.
        decision_service_covered: Intake's verdict that the plan covers the service; blank until
            confirmed.
        decision_provider_network_status: Intake's verdict on the provider; blank until confirmed.
        completed_at: When intake was confirmed, in UTC; blank while it is open.
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
