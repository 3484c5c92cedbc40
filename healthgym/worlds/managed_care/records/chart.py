"""What a chart holds."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import date, datetime

from healthgym.core.borders import JsonObject
from healthgym.worlds.managed_care.vocabulary.authorization import (
    DocumentKind,
    Urgency,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Patient:
    """TODO patient.

    Attributes:
        id: TODO.
        member_id: TODO.
        first_name: TODO.
        last_name: TODO.
        dob: TODO.
        sex: TODO.
        address_line: TODO.
        address_city: TODO.
        address_state: TODO.
        address_zip: TODO.
        phone: TODO.
        race: TODO.
        ethnicity: TODO.
        preferred_language: TODO.
        marital_status: TODO.
    """

    id: str
    member_id: str
    first_name: str
    last_name: str
    dob: date
    sex: str
    address_line: str = ""
    address_city: str = ""
    address_state: str = ""
    address_zip: str = ""
    phone: str = ""
    race: str = ""
    ethnicity: str = ""
    preferred_language: str = "English"
    marital_status: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Coverage:
    """TODO coverage.

    Attributes:
        id: TODO.
        patient_id: TODO.
        payer_name: TODO.
        plan_name: TODO.
        member_number: TODO.
        group_number: TODO.
        active: TODO.
        network_status: TODO.
        effective_date: TODO.
        termination_date: TODO.
    """

    id: str
    patient_id: str
    payer_name: str
    plan_name: str
    member_number: str
    group_number: str | None = None
    active: bool = True
    network_status: str = "in_network"
    effective_date: date | None = None
    termination_date: date | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Encounter:
    """TODO encounter.

    Attributes:
        id: TODO.
        patient_id: TODO.
        occurred_at: TODO.
        encounter_type: TODO.
        practitioner_id: TODO.
        summary: TODO.
        encounter_cpt_code: TODO.
        encounter_cpt_description: TODO.
        facility_name: TODO.
        facility_npi: TODO.
    """

    id: str
    patient_id: str
    occurred_at: datetime
    encounter_type: str
    practitioner_id: str | None = None
    summary: str
    encounter_cpt_code: str | None = None
    encounter_cpt_description: str | None = None
    facility_name: str = ""
    facility_npi: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Condition:
    """TODO condition.

    Attributes:
        id: TODO.
        patient_id: TODO.
        code: TODO.
        display: TODO.
        active: TODO.
        onset_date: TODO.
    """

    id: str
    patient_id: str
    code: str
    display: str
    active: bool = True
    onset_date: date | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    """TODO observation.

    Attributes:
        id: TODO.
        patient_id: TODO.
        code: TODO.
        display: TODO.
        value_quantity: TODO.
        value_unit: TODO.
        value_text: TODO.
        observed_at: TODO.
        interpretation: TODO.
    """

    id: str
    patient_id: str
    code: str
    display: str
    value_quantity: float | None = None
    value_unit: str | None = None
    value_text: str | None = None
    observed_at: datetime
    interpretation: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Procedure:
    """TODO procedure.

    Attributes:
        id: TODO.
        patient_id: TODO.
        code: TODO.
        display: TODO.
        performed_at: TODO.
        notes: TODO.
    """

    id: str
    patient_id: str
    code: str
    display: str
    performed_at: datetime
    notes: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MedicationRequest:
    """TODO medication request.

    Attributes:
        id: TODO.
        patient_id: TODO.
        medication_name: TODO.
        status: TODO.
        authored_on: TODO.
        dose: TODO.
        frequency: TODO.
        discontinued_reason: TODO.
    """

    id: str
    patient_id: str
    medication_name: str
    status: str
    authored_on: datetime
    dose: str | None = None
    frequency: str | None = None
    discontinued_reason: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Allergy:
    """TODO allergy.

    Attributes:
        id: TODO.
        patient_id: TODO.
        substance: TODO.
        substance_code: TODO.
        category: TODO.
        reaction: TODO.
        severity: TODO.
        criticality: TODO.
        status: TODO.
        onset_date: TODO.
        recorded_at: TODO.
        notes: TODO.
    """

    id: str
    patient_id: str
    substance: str
    substance_code: str | None = None
    category: str = "medication"
    reaction: str | None = None
    severity: str | None = None
    criticality: str | None = None
    status: str = "active"
    onset_date: date | None = None
    recorded_at: datetime
    notes: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceRequest:
    """TODO service request.

    Attributes:
        id: TODO.
        patient_id: TODO.
        ordering_practitioner_id: TODO.
        service_type: TODO.
        procedure_code: TODO.
        description: TODO.
        priority: TODO.
        diagnosis_codes: TODO.
        site_of_service: TODO.
        requested_date: TODO.
    """

    id: str
    patient_id: str
    ordering_practitioner_id: str
    service_type: str
    procedure_code: str
    description: str
    priority: Urgency
    diagnosis_codes: tuple[str, ...]
    site_of_service: str
    requested_date: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentReference:
    """TODO document reference.

    Attributes:
        id: TODO.
        patient_id: TODO.
        case_id: TODO.
        encounter_id: TODO.
        kind: TODO.
        title: TODO.
        content: TODO.
        created_at: TODO.
        note_type: TODO.
        author_name: TODO.
        author_npi: TODO.
        signed_at: TODO.
        signed_by_name: TODO.
        signed_by_npi: TODO.
        structured_data: TODO.
    """

    id: str
    patient_id: str
    case_id: str | None = None
    encounter_id: str | None = None
    kind: DocumentKind
    title: str
    content: str
    created_at: datetime
    note_type: str | None = None
    author_name: str | None = None
    author_npi: str | None = None
    signed_at: datetime | None = None
    signed_by_name: str | None = None
    signed_by_npi: str | None = None
    structured_data: JsonObject = field(default_factory=dict)
