"""The four sections of an assessment."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime
from typing import Annotated, Literal

from pydantic import Field

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
    """A major diagnosis with its severity and control.

    Attributes:
        code: ICD-10-CM code, such as 'E11.65'.
        display: Diagnosis in words, such as 'Type 2 diabetes with hyperglycemia'.
        severity: How severe it is now.
        control_status: How well it is controlled now.
    """

    code: str
    display: str
    severity: SeverityLevel
    control_status: DiseaseControlStatus


@dataclass(frozen=True, slots=True, kw_only=True)
class DiseaseControlItem:
    """How well one chronic condition is controlled.

    Attributes:
        condition: Condition in words, such as 'hypertension'.
        status: How well it is controlled.
        notes: Value behind the judgement, such as 'BP 158/94 on 2026-02-20'; may be blank.
    """

    condition: str
    status: DiseaseControlStatus
    notes: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClinicalAssessment:
    """The clinical section of an assessment.

    Attributes:
        major_diagnoses: Diagnoses that drive the plan.
        symptom_burden: How much symptoms weigh on daily life; left out, it stands as 'moderate',
            which says that it is open.
        recent_hospitalizations: Hospital stays of the past year, such as 2.
        disease_control: Control of each chronic condition.
        red_flags: Signs that need prompt attention, such as 'chest pain at rest'; empty when there
            are none.
        self_monitoring_capability: Whether the member can take and note readings at home; left
            out, it stands as 'adequate', which says that it is open.
    """

    major_diagnoses: tuple[DiagnosisEntry, ...] = ()
    symptom_burden: SymptomBurden = SymptomBurden.MODERATE
    recent_hospitalizations: int = 0
    disease_control: tuple[DiseaseControlItem, ...] = ()
    red_flags: tuple[str, ...] = ()
    self_monitoring_capability: CapabilityLevel = CapabilityLevel.ADEQUATE


@dataclass(frozen=True, slots=True, kw_only=True)
class MedicationEntry:
    """A drug as the member takes it.

    Attributes:
        name: Name of the drug, such as 'metformin'.
        dose: Dose and frequency, such as '1000 mg twice daily'.
        adherence: How regularly it is taken.
        issues: Trouble with it, such as 'nausea'; empty when there is none.
    """

    name: str
    dose: str
    adherence: AdherenceLevel
    issues: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class MedDiscrepancy:
    """A difference between the chart's drug list and what the member says.

    Attributes:
        chart_med: Drug as the chart has it, such as 'lisinopril 20 mg daily'; blank if it has none.
        patient_report: What the member says, such as 'stopped a month ago for a cough'.
        issue_type: Sort of difference, such as 'omission', 'duplication' or 'dose'.
    """

    chart_med: str
    patient_report: str
    issue_type: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MedicationAssessment:
    """The medication section of an assessment.

    Attributes:
        current_medications: Drugs as the member takes them.
        discrepancies: Differences from the chart; empty when there are none.
        adherence_barriers: What keeps the member from taking them, such as 'copay'; may be empty.
        pharmacist_referral_needed: Whether a pharmacist should look at them.
    """

    current_medications: tuple[MedicationEntry, ...] = ()
    discrepancies: tuple[MedDiscrepancy, ...] = ()
    adherence_barriers: tuple[str, ...] = ()
    pharmacist_referral_needed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class BehavioralHealthAssessment:
    """The behavioral-health section of an assessment.

    Attributes:
        phq9_score: Total of the PHQ-9, 0 to 27; blank when not taken.
        phq9_administered_at: Day it was taken, such as '2026-03-13'; blank when not taken.
        depression_screen_notes: What the depression screen showed; may be blank.
        gad7_score: Total of the GAD-7, 0 to 21; blank when not taken.
        gad7_administered_at: Day it was taken, such as '2026-03-13'; blank when not taken.
        anxiety_severity: Severity of anxiety; blank when not judged.
        anxiety_screen_notes: What the anxiety screen showed; may be blank.
        substance_use_concerns: Whether alcohol or drugs are a worry.
        motivation_stage: Readiness to change, by the stages of change; blank when not judged.
        motivation_notes: What shows that stage, such as 'wants to cut down on salt'; may be blank.
        mood_affecting_adherence: Whether mood keeps the member from following treatment; left out,
            it stands as false, which also says that it was not asked.
        safety_concerns: Whether there is a risk of self-harm, violence or neglect.
        bh_treatment_connected: Whether the member is in behavioral-health treatment; left out, it
            stands as false, which also says that it was not asked.
        escalation_required: Whether somebody must be brought in now.
        escalation_reason_kind: Why; blank when no escalation is needed.
        escalation_notes: Who was told what, and when; blank when no escalation is needed.
    """

    phq9_score: Annotated[int | None, Field(ge=0, le=27)] = None
    phq9_administered_at: date | None = None
    depression_screen_notes: str = ""
    gad7_score: Annotated[int | None, Field(ge=0, le=21)] = None
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
    """The section on social determinants of health.

    Attributes:
        transportation_barrier: Whether getting to care is a problem.
        food_insecurity: Whether food runs short.
        housing_instability: Whether housing is unsafe or about to be lost.
        caregiver_support: Help that family or friends give.
        financial_constraints: Whether money keeps the member from care.
        health_literacy: Ability to understand and use health information.
        language_barrier: Language that needs an interpreter, such as 'Spanish'; blank when there is
            none.
        phone_internet_access: Whether telephone and internet can be relied on.
        work_schedule_barrier: Whether working hours keep the member from care.
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
    """An assessment of a member, in four sections.

    Attributes:
        assessment_id: Id of the assessment.
        case_id: Id of the episode.
        assessor_id: Id of the care manager.
        started_at: When it was begun, in UTC.
        completed_at: When it was completed, in UTC; blank until then.
        status: How far it has come.
        blocked_reason: What stands in the way; blank when nothing does.
        clinical: Clinical section; blank until saved.
        medication: Medication section; blank until saved.
        behavioral_health: Behavioral-health section; blank until saved.
        sdoh: Section on social determinants; blank until saved.
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
    """The clinical section, to be saved.

    Attributes:
        section: Names the section: always 'clinical'.
        data: Findings of the section.
    """

    section: Literal["clinical"] = "clinical"
    data: ClinicalAssessment


@dataclass(frozen=True, slots=True, kw_only=True)
class MedicationSectionPayload:
    """The medication section, to be saved.

    Attributes:
        section: Names the section: always 'medication'.
        data: Findings of the section.
    """

    section: Literal["medication"] = "medication"
    data: MedicationAssessment


@dataclass(frozen=True, slots=True, kw_only=True)
class BehavioralHealthSectionPayload:
    """The behavioral-health section, to be saved.

    Attributes:
        section: Names the section: always 'behavioral_health'.
        data: Findings of the section.
    """

    section: Literal["behavioral_health"] = "behavioral_health"
    data: BehavioralHealthAssessment


@dataclass(frozen=True, slots=True, kw_only=True)
class SDoHSectionPayload:
    """The section on social determinants of health, to be saved.

    Attributes:
        section: Names the section: always 'sdoh'.
        data: Findings of the section.
    """

    section: Literal["sdoh"] = "sdoh"
    data: SDoHAssessment
