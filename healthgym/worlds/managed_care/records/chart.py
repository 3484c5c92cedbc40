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
    """A member of the plan, as registration knows the person.

    Attributes:
        id: Id of the patient in the chart.
        member_id: Member id of the health plan.
        first_name: Given name.
        last_name: Family name.
        dob: Date of birth.
        sex: Administrative sex, such as 'F'.
        address_line: Street and number; blank when unknown.
        address_city: City; blank when unknown.
        address_state: State by its two letters; blank when unknown.
        address_zip: ZIP code; blank when unknown.
        phone: Telephone number; blank when unknown.
        race: Race as the patient states it; blank when unasked.
        ethnicity: Ethnicity as the patient states it; blank when unasked.
        preferred_language: Language the patient wants to speak.
        marital_status: Marital status; blank when unasked.
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
    """A patient's policy with a health plan.

    Attributes:
        id: Id of this record, unique in the world.
        patient_id: Id of the patient in the chart.
        payer_name: Name of the insurer.
        plan_name: Name of the product, such as a PPO.
        member_number: Member number on the card.
        group_number: Group number on the card; blank for individual plans.
        active: Whether the coverage is in force.
        network_status: Standing of the patient's providers, 'in_network' or 'out_of_network'.
        effective_date: First day of coverage; blank when unknown.
        termination_date: Last day of coverage; blank while it runs on.
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
    """A visit, stay or call in the chart.

    Attributes:
        id: Id of this record, unique in the world.
        patient_id: Id of the patient in the chart.
        occurred_at: When it began, in UTC.
        encounter_type: Kind of visit, such as 'office'.
        practitioner_id: Id of the clinician seen; blank when the chart names none.
        summary: What happened, in a few sentences.
        encounter_cpt_code: CPT code that was billed; blank when none was.
        encounter_cpt_description: Wording of that code; blank when none was.
        facility_name: Place of the visit; blank when unrecorded.
        facility_npi: NPI of the place; blank when unrecorded.
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
    """An entry of the problem list.

    Attributes:
        id: Id of this record, unique in the world.
        patient_id: Id of the patient in the chart.
        code: ICD-10-CM code.
        display: Wording of the code.
        active: Whether the problem is current.
        onset_date: Day it began; blank when unknown.
    """

    id: str
    patient_id: str
    code: str
    display: str
    active: bool = True
    onset_date: date | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    """A measured value: laboratory, vital sign, score or finding.

    Attributes:
        id: Id of this record, unique in the world.
        patient_id: Id of the patient in the chart.
        code: LOINC code.
        display: Wording of the code.
        value_quantity: Number measured, in ``value_unit``; blank for a result in words.
        value_unit: Unit of the number, as UCUM has it; blank when it has none.
        value_text: Result in words; blank for a number.
        observed_at: When it was taken, in UTC.
        interpretation: Flag against the reference range, such as 'high'; blank when unflagged.
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
    """A procedure that was carried out.

    Attributes:
        id: Id of this record, unique in the world.
        patient_id: Id of the patient in the chart.
        code: CPT or HCPCS code.
        display: Wording of the code.
        performed_at: When it was done, in UTC.
        notes: Remarks on how it went; blank when there are none.
    """

    id: str
    patient_id: str
    code: str
    display: str
    performed_at: datetime
    notes: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MedicationRequest:
    """A prescription in the chart.

    Attributes:
        id: Id of this record, unique in the world.
        patient_id: Id of the patient in the chart.
        medication_name: Name of the drug.
        status: Whether it is taken, such as 'active' or 'discontinued'.
        authored_on: When it was prescribed, in UTC.
        dose: Strength of one dose with its unit; blank when unrecorded.
        frequency: How often a dose is taken; blank when unrecorded.
        discontinued_reason: Why it was stopped; blank while it is taken.
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
    """An allergy or intolerance.

    Attributes:
        id: Id of this record, unique in the world.
        patient_id: Id of the patient in the chart.
        substance: What the patient reacts to.
        substance_code: Code of the substance; blank when uncoded.
        category: Kind of substance, such as 'medication' or 'food'.
        reaction: What happens on exposure; blank when unrecorded.
        severity: How bad the reaction was; blank when unrecorded.
        criticality: How dangerous a next exposure would be; blank when unjudged.
        status: Whether it still holds, such as 'active'.
        onset_date: Day of the first reaction; blank when unknown.
        recorded_at: When it was charted, in UTC.
        notes: Remarks; blank when there are none.
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
    """A clinician's order for a service that may need authorization.

    Attributes:
        id: Id of this record, unique in the world.
        patient_id: Id of the patient in the chart.
        ordering_practitioner_id: Id of the clinician who ordered.
        service_type: Kind of service, such as 'cardiology'.
        procedure_code: CPT or HCPCS code of the service.
        description: The service in words.
        priority: How soon it is needed.
        diagnosis_codes: ICD-10-CM codes that justify it, the leading one first.
        site_of_service: Place where it is to be done, such as 'outpatient_hospital'.
        requested_date: When it was ordered, in UTC.
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
    """A document of the chart or of a case.

    Attributes:
        id: Id of this record, unique in the world.
        patient_id: Id of the patient in the chart.
        case_id: Id of the case it is attached to; blank while it only belongs to the chart.
        encounter_id: Id of the visit it reports on; blank when there is none.
        kind: What sort of document it is.
        title: Heading.
        content: Whole text.
        created_at: When it was written, in UTC.
        note_type: Sort of clinical note, as the chart names it; blank for other documents.
        author_name: Who wrote it; blank when unrecorded.
        author_npi: NPI of the author; blank when unrecorded.
        signed_at: When it was signed, in UTC; blank while unsigned.
        signed_by_name: Who signed; blank while unsigned.
        signed_by_npi: NPI of the signer; blank while unsigned.
        structured_data: Where the document comes from, such as the parts of a packet.
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
