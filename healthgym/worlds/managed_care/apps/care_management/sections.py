"""What a section of an assessment must hold, and what it may rest on; asked by strict worlds.

A section is complete if what the handbook asks for is there. It is sourced if nothing in it is
neither in the chart nor told by the person.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from typing import Final, TypeAlias

from healthgym.core.records import replace
from healthgym.worlds.managed_care.apps.care_management.evidence import (
    Evidence,
    rules,
    same_medicine,
)
from healthgym.worlds.managed_care.records.assessment import (
    BehavioralHealthAssessment,
    BehavioralHealthSectionPayload,
    ClinicalAssessment,
    ClinicalSectionPayload,
    CMAssessment,
    MedicationAssessment,
    MedicationSectionPayload,
    SDoHAssessment,
    SDoHSectionPayload,
)
from healthgym.worlds.managed_care.refusals import Refusal, RefusalCode
from healthgym.worlds.managed_care.vocabulary.care import (
    AdherenceLevel,
    AnxietySeverity,
    CapabilityLevel,
    SymptomBurden,
)
from healthgym.worlds.managed_care.voices import Part, Topic

#: The four sections, in the order in which they are asked for.
SECTIONS: Final = ("clinical", "medication", "behavioral_health", "sdoh")
Payload: TypeAlias = (
    ClinicalSectionPayload
    | MedicationSectionPayload
    | BehavioralHealthSectionPayload
    | SDoHSectionPayload
)
_Data: TypeAlias = (
    ClinicalAssessment | MedicationAssessment | BehavioralHealthAssessment | SDoHAssessment
)
#: Fields of the clinical section on which only the person can tell, by what was to be asked for
#: them, and the levels of what was told; the form has a value for each where nobody asked.
_OPEN: Final[Mapping[str, tuple[Part, tuple[str, ...]]]] = {
    "symptom_burden": (Part.BAD_DAY, tuple(SymptomBurden)),
    "self_monitoring_capability": (Part.SELF_MONITORING, tuple(CapabilityLevel)),
}
_LEFT_OPEN: Final = ClinicalAssessment()
#: Lowest sum of the GAD-7 of each severity, highest first (Spitzer et al. 2006; below 5 there is
#: none or a minimal one).
_ANXIETY: Final = (
    (15, (AnxietySeverity.SEVERE,)),
    (10, (AnxietySeverity.MODERATE,)),
    (5, (AnxietySeverity.MILD,)),
    (0, (AnxietySeverity.NONE, AnxietySeverity.MINIMAL)),
)
#: Points of the first two items of the PHQ-9 from which on the others are asked.
_POSITIVE_SCREEN: Final = 3
#: The item of the PHQ-9 that asks for thoughts of death or self-harm.
_SELF_HARM_ITEM: Final = "9"


def is_blank(data: _Data) -> bool:
    """Return whether nothing was filled in."""
    return data == type(data)()


def with_section(assessment: CMAssessment, payload: Payload) -> CMAssessment:
    """Return an assessment with a section in the place of what it held."""
    match payload:
        case ClinicalSectionPayload(data=data):
            return replace(assessment, clinical=data)
        case MedicationSectionPayload(data=data):
            return replace(assessment, medication=data)
        case BehavioralHealthSectionPayload(data=data):
            return replace(assessment, behavioral_health=data)
        case SDoHSectionPayload(data=data):
            return replace(assessment, sdoh=data)


def require_complete(payload: Payload, evidence: Evidence) -> None:
    """Refuse a section that lacks what it must hold.

    Raises:
        Refusal: Naming what is missing.
    """
    match payload:
        case ClinicalSectionPayload(data=data):
            _complete_clinical(data)
        case MedicationSectionPayload(data=data):
            _complete_medication(data, evidence)
        case BehavioralHealthSectionPayload(data=data):
            _complete_behavioral_health(data, evidence)
        case SDoHSectionPayload():
            _complete_sdoh(evidence)


def require_sourced(payload: Payload, evidence: Evidence, *, blocked: bool = False) -> None:
    """Refuse a section that holds what is neither in the chart nor told.

    Args:
        payload: The section.
        evidence: What there is.
        blocked: Whether the person broke off in it, and named what stands in the way by that.

    Raises:
        Refusal: Naming what rests on nothing.
    """
    match payload:
        case ClinicalSectionPayload(data=data):
            _sourced_clinical(data, evidence)
        case MedicationSectionPayload(data=data):
            _sourced_medication(data, evidence)
            if data.adherence_barriers and not (blocked or evidence.about(Topic.MEDICATION)):
                raise _unfounded("The patient named no barrier to taking medicines")
        case BehavioralHealthSectionPayload(data=data):
            _sourced_behavioral_health(data, evidence)
        case SDoHSectionPayload(data=data):
            _sourced_sdoh(data, evidence)


def _missing(section: str, what: str) -> Refusal:
    return Refusal(
        RefusalCode.INCOMPLETE,
        f"The {section} section lacks {what}; fill it in, or give a blocked_reason.",
    )


def _unfounded(what: str) -> Refusal:
    return Refusal(
        RefusalCode.UNSUPPORTED_CLAIM,
        f"{what}; record what the chart holds or the patient told.",
    )


# -- clinical ------------------------------------------------------------------------------------


def _complete_clinical(data: ClinicalAssessment) -> None:
    if not data.major_diagnoses:
        raise _missing("clinical", "major_diagnoses")
    if not data.disease_control:
        raise _missing("clinical", "disease_control")
    for item in data.disease_control:
        if not item.notes.strip():
            raise _missing("clinical", f"the value on which control of {item.condition[:60]} rests")
    if not all(flag.strip() for flag in data.red_flags):
        raise _missing("clinical", "the words of a red flag")


def _sourced_clinical(data: ClinicalAssessment, evidence: Evidence) -> None:
    for entry in data.major_diagnoses:
        if not evidence.knows_diagnosis(entry.code):
            raise _unfounded(f"Nothing says that the patient has {entry.code[:60]}")
    for item in data.disease_control:
        if not evidence.knows_condition(item.condition):
            raise _unfounded(f"Nothing says that the patient has {item.condition[:60]}")
    for name, (part, levels) in _OPEN.items():
        value, level = getattr(data, name), evidence.level(part)
        if value is getattr(_LEFT_OPEN, name):
            continue
        if level is None:
            raise _unfounded(
                f"The patient was not asked about {name}, which is left out while open"
            )
        if value != levels[level]:
            raise _unfounded(f"The patient told otherwise than {name} says")
    told = sum(item.score or 1 for item in evidence.about(Topic.HOSPITAL_STAY) if item.present)
    known = max(evidence.stays(), told)
    if not 0 <= data.recent_hospitalizations <= known:
        raise _unfounded(f"{data.recent_hospitalizations} recent hospitalizations are not known of")


# -- medication ----------------------------------------------------------------------------------


def _complete_medication(data: MedicationAssessment, evidence: Evidence) -> None:
    recorded = [entry.name for entry in data.current_medications]
    recorded += [item.chart_med for item in data.discrepancies]
    for name in evidence.medicines():
        if not any(same_medicine(name, other) for other in recorded):
            raise _missing("medication", f"{name}, which the chart has as active")
    if not recorded and not evidence.about(Topic.MEDICATION):
        raise _missing("medication", "current_medications, which the patient was not asked about")
    for entry in data.current_medications:
        if not entry.dose.strip():
            raise _missing("medication", f"the dose of {entry.name[:60]}")


def _sourced_medication(data: MedicationAssessment, evidence: Evidence) -> None:
    for entry in data.current_medications:
        told = evidence.told_medicine(entry.name)
        if not told and not evidence.charted_medicine(entry.name):
            raise _unfounded(f"Nothing says that the patient takes {entry.name[:60]}")
        if not told and entry.adherence is not AdherenceLevel.UNKNOWN:
            raise _unfounded(f"The patient did not tell how {entry.name[:60]} is taken")
    for item in data.discrepancies:
        name = item.chart_med.strip()
        if name and not evidence.charted_medicine(name):
            raise _unfounded(f"The chart does not have {name[:60]}")
        if not item.patient_report.strip() or not evidence.about(Topic.MEDICATION):
            raise _unfounded("The patient did not report the discrepancy")


# -- behavioral health ---------------------------------------------------------------------------


def _complete_behavioral_health(data: BehavioralHealthAssessment, evidence: Evidence) -> None:
    needed = ["gad7_score", "gad7_administered_at"]
    if data.phq9_score is not None or not _screened_negative(evidence):
        needed = ["phq9_score", "phq9_administered_at", *needed]
    elif not data.depression_screen_notes.strip():
        raise _missing("behavioral_health", "depression_screen_notes on the two questions asked")
    for name in needed:
        if getattr(data, name) is None:
            raise _missing("behavioral_health", name)
    if data.motivation_stage is None:
        raise _missing("behavioral_health", "motivation_stage")
    if data.escalation_required:
        if data.escalation_reason_kind is None:
            raise _missing("behavioral_health", "escalation_reason_kind")
        if not data.escalation_notes.strip():
            raise _missing("behavioral_health", "escalation_notes")


def _screened_negative(evidence: Evidence) -> bool:
    """Return whether the first two questions of the PHQ-9 were asked and found nothing.

    Then the other seven are not asked (Kroenke et al. 2003: positive from 3 points on).
    """
    answers = {item.item: item.score for item in evidence.about(Topic.PHQ9)}
    first, second = answers.get("1"), answers.get("2")
    return first is not None and second is not None and first + second < _POSITIVE_SCREEN


def _sourced_behavioral_health(data: BehavioralHealthAssessment, evidence: Evidence) -> None:
    _sourced_score(Topic.PHQ9, data.phq9_score, data.phq9_administered_at, evidence)
    _sourced_score(Topic.GAD7, data.gad7_score, data.gad7_administered_at, evidence)
    if data.gad7_score is not None and data.anxiety_severity is not None:
        score = data.gad7_score
        accepted = next(names for lowest, names in _ANXIETY if score >= lowest)
        if data.anxiety_severity not in accepted:
            raise _unfounded(f"A GAD-7 of {score} is not {data.anxiety_severity} anxiety")
    self_harm = any(
        item.item == _SELF_HARM_ITEM and (item.score or 0) > 0
        for item in evidence.about(Topic.PHQ9)
    )
    if self_harm and not data.safety_concerns:
        raise _unfounded("The patient answered the question about self-harm, and not with never")
    _agrees("safety_concerns", data.safety_concerns, Topic.SAFETY, evidence, known=self_harm)
    _agrees(
        "substance_use_concerns",
        data.substance_use_concerns,
        Topic.SUBSTANCE_USE,
        evidence,
        # F10 to F19 are the disorders due to psychoactive substances.
        known=evidence.has_code("F1"),
    )
    _agrees(
        "mood_affecting_adherence",
        data.mood_affecting_adherence,
        Topic.MOOD,
        evidence,
        known=False,
    )
    if data.bh_treatment_connected is not bool(evidence.treated):
        raise _unfounded(
            "The patient was not asked about bh_treatment_connected, which is left out while open"
            if evidence.treated is None
            else "The patient told otherwise than bh_treatment_connected says"
        )


def _sourced_score(topic: Topic, score: int | None, day: date | None, evidence: Evidence) -> None:
    """Refuse a score that is neither the sum of what was answered nor documented."""
    if score is None:
        return
    code, items = rules().instruments[topic]
    name = topic.name.replace("9", "-9").replace("7", "-7")
    if day is not None and day > evidence.today:
        raise Refusal(
            RefusalCode.IMPLAUSIBLE_DATE,
            f"The {name} cannot have been taken on {day}; it is {evidence.today}.",
        )
    # Who answers a question again means the later answer.
    answers = {item.item: item.score for item in evidence.about(topic) if item.score is not None}
    answered = len(answers) == items and sum(answers.values()) == score
    if answered and (day is None or day in evidence.called):
        return
    documented = evidence.documented(code, score)
    if documented and (day is None or day in documented):
        return
    raise _unfounded(
        f"A {name} of {score} is neither the sum of {items} answers given on a day of a call nor "
        "documented on its day"
    )


def _agrees(name: str, recorded: bool, topic: Topic, evidence: Evidence, *, known: bool) -> None:
    """Refuse a flag that says otherwise than the person did, or that rests on nothing."""
    told = evidence.about(topic)
    if told and not known and recorded != told[-1].present:
        raise _unfounded(f"The patient told otherwise than {name} says")
    if recorded and not told and not known:
        raise _unfounded(f"Nothing supports {name}")


# -- social determinants -------------------------------------------------------------------------


def barriers_of(data: SDoHAssessment) -> Mapping[Topic, bool]:
    """Return which social barriers a section records, by subject."""
    return {
        Topic.TRANSPORTATION: data.transportation_barrier,
        Topic.FOOD: data.food_insecurity,
        Topic.HOUSING: data.housing_instability,
        Topic.CAREGIVER: data.caregiver_support is not CapabilityLevel.ADEQUATE,
        Topic.FINANCES: data.financial_constraints,
        Topic.LITERACY: data.health_literacy is not CapabilityLevel.ADEQUATE,
        Topic.LANGUAGE: bool(data.language_barrier),
        Topic.PHONE_ACCESS: not data.phone_internet_access,
        Topic.WORK: data.work_schedule_barrier,
    }


def _complete_sdoh(evidence: Evidence) -> None:
    unknown = [t for t in rules().required_social if evidence.barrier(t) is None]
    if unknown:
        raise _missing("sdoh", f"{', '.join(unknown)}, of which neither chart nor patient tells")


def _sourced_sdoh(data: SDoHAssessment, evidence: Evidence) -> None:
    for topic, barrier in barriers_of(data).items():
        known = evidence.barrier(topic)
        if known is not None and known != barrier:
            coded = evidence.coded_barrier(topic) and not evidence.about(topic)
            raise _unfounded(
                f"The problem list has {coded}, a barrier in {topic}, which the section denies or "
                "leaves out"
                if coded
                else f"The patient tells otherwise of {topic}"
            )
        # Whoever prefers another language may well manage in English: the chart only allows it.
        allowed = topic is Topic.LANGUAGE and evidence.speaks_another_language()
        if known is None and barrier and not allowed:
            raise _unfounded(f"Nothing tells of a barrier in {topic}")
