"""The four sections of an assessment."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime
from typing import Literal

from healthgym.worlds.managed_care.vocabulary.care import (
    AdherenceLevel,
    AnxietySeverity,
    CapabilityLevel,
    CMAssessmentStatus,
    DiseaseControlStatus,
    EscalationReason,
    MotivationStage,
    SeverityLevel,
    SymptomBurden,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class DiagnosisEntry:
    """TODO diagnosis entry.

    Attributes:
        code: TODO.
        display: TODO.
        severity: TODO.
        control_status: TODO.
    """

    code: str
    display: str
    severity: SeverityLevel
    control_status: DiseaseControlStatus


@dataclass(frozen=True, slots=True, kw_only=True)
class DiseaseControlItem:
    """TODO disease control item.

    Attributes:
        condition: TODO.
        status: TODO.
        notes: TODO.
    """

    condition: str
    status: DiseaseControlStatus
    notes: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClinicalAssessment:
    """TODO clinical assessment.

    Attributes:
        major_diagnoses: TODO.
        symptom_burden: TODO.
        recent_hospitalizations: TODO.
        disease_control: TODO.
        red_flags: TODO.
        self_monitoring_capability: TODO.
    """

    major_diagnoses: tuple[DiagnosisEntry, ...] = ()
    symptom_burden: SymptomBurden = SymptomBurden.MODERATE
    recent_hospitalizations: int = 0
    disease_control: tuple[DiseaseControlItem, ...] = ()
    red_flags: tuple[str, ...] = ()
    self_monitoring_capability: CapabilityLevel = CapabilityLevel.ADEQUATE


@dataclass(frozen=True, slots=True, kw_only=True)
class MedicationEntry:
    """TODO medication entry.

    Attributes:
        name: TODO.
        dose: TODO.
        adherence: TODO.
        issues: TODO.
    """

    name: str
    dose: str
    adherence: AdherenceLevel
    issues: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class MedDiscrepancy:
    """TODO med discrepancy.

    Attributes:
        chart_med: TODO.
        patient_report: TODO.
        issue_type: TODO.
    """

    chart_med: str
    patient_report: str
    issue_type: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MedicationAssessment:
    """TODO medication assessment.

    Attributes:
        current_medications: TODO.
        discrepancies: TODO.
        adherence_barriers: TODO.
        pharmacist_referral_needed: TODO.
    """

    current_medications: tuple[MedicationEntry, ...] = ()
    discrepancies: tuple[MedDiscrepancy, ...] = ()
    adherence_barriers: tuple[str, ...] = ()
    pharmacist_referral_needed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class BehavioralHealthAssessment:
    """TODO behavioral health assessment.

    Attributes:
        phq9_score: TODO.
        phq9_administered_at: TODO.
        depression_screen_notes: TODO.
        gad7_score: TODO.
        gad7_administered_at: TODO.
        anxiety_severity: TODO.
        anxiety_screen_notes: TODO.
        substance_use_concerns: TODO.
        motivation_stage: TODO.
        motivation_notes: TODO.
        mood_affecting_adherence: TODO.
        safety_concerns: TODO.
        bh_treatment_connected: TODO.
        escalation_required: TODO.
        escalation_reason_kind: TODO.
        escalation_notes: TODO.
    """

    phq9_score: int | None = None
    phq9_administered_at: date | None = None
    depression_screen_notes: str = ""
    gad7_score: int | None = None
    gad7_administered_at: date | None = None
    anxiety_severity: AnxietySeverity | None = None
    anxiety_screen_notes: str = ""
    substance_use_concerns: bool = False
    motivation_stage: MotivationStage | None = None
    motivation_notes: str = ""
    mood_affecting_adherence: bool = False
    safety_concerns: bool = False
    bh_treatment_connected: bool = False
    escalation_required: bool = False
    escalation_reason_kind: EscalationReason | None = None
    escalation_notes: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SDoHAssessment:
    """TODO sdo hassessment.

    Attributes:
        transportation_barrier: TODO.
        food_insecurity: TODO.
        housing_instability: TODO.
        caregiver_support: TODO.
        financial_constraints: TODO.
        health_literacy: TODO.
        language_barrier: TODO.
        phone_internet_access: TODO.
        work_schedule_barrier: TODO.
    """

    transportation_barrier: bool = False
    food_insecurity: bool = False
    housing_instability: bool = False
    caregiver_support: CapabilityLevel = CapabilityLevel.ADEQUATE
    financial_constraints: bool = False
    health_literacy: CapabilityLevel = CapabilityLevel.ADEQUATE
    language_barrier: str | None = None
    phone_internet_access: bool = True
    work_schedule_barrier: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class CMAssessment:
    """TODO cmassessment.

    Attributes:
        assessment_id: TODO.
        case_id: TODO.
        assessor_id: TODO.
        started_at: TODO.
        completed_at: TODO.
        status: TODO.
        blocked_reason: TODO.
        clinical: TODO.
        medication: TODO.
        behavioral_health: TODO.
        sdoh: TODO.
    """

    assessment_id: str
    case_id: str
    assessor_id: str
    started_at: datetime
    completed_at: datetime | None = None
    status: CMAssessmentStatus = CMAssessmentStatus.IN_PROGRESS
    blocked_reason: str | None = None
    clinical: ClinicalAssessment | None = None
    medication: MedicationAssessment | None = None
    behavioral_health: BehavioralHealthAssessment | None = None
    sdoh: SDoHAssessment | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ClinicalSectionPayload:
    """TODO clinical section payload.

    Attributes:
        section: TODO.
        data: TODO.
    """

    section: Literal["clinical"] = "clinical"
    data: ClinicalAssessment


@dataclass(frozen=True, slots=True, kw_only=True)
class MedicationSectionPayload:
    """TODO medication section payload.

    Attributes:
        section: TODO.
        data: TODO.
    """

    section: Literal["medication"] = "medication"
    data: MedicationAssessment


@dataclass(frozen=True, slots=True, kw_only=True)
class BehavioralHealthSectionPayload:
    """TODO behavioral health section payload.

    Attributes:
        section: TODO.
        data: TODO.
    """

    section: Literal["behavioral_health"] = "behavioral_health"
    data: BehavioralHealthAssessment


@dataclass(frozen=True, slots=True, kw_only=True)
class SDoHSectionPayload:
    """TODO sdo hsection payload.

    Attributes:
        section: TODO.
        data: TODO.
    """

    section: Literal["sdoh"] = "sdoh"
    data: SDoHAssessment
