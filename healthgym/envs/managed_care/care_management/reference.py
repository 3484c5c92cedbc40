"""What the right handling of a referral is, worked out from chart, referral, person and rules."""

from __future__ import annotations

from dataclasses import replace

from healthgym.envs.managed_care.care_management.answers import (
    GAD7,
    PHQ9,
    SOCIAL,
    Answers,
    documented,
)
from healthgym.envs.managed_care.care_management.history import History
from healthgym.envs.managed_care.care_management.referrals import Referred
from healthgym.envs.managed_care.care_management.rulings import level_of, priority_of, program_of
from healthgym.envs.managed_care.care_management.task import CareReference, Ending, Needs
from healthgym.envs.managed_care.checks.care_expectation import CareExpectation, PlanStructure
from healthgym.envs.managed_care.checks.care_expectation import Willingness as Expected
from healthgym.envs.managed_care.checks.expectation import Contract, Expectation, Stage
from healthgym.worlds.managed_care.conversation.persona import Persona, Willingness
from healthgym.worlds.managed_care.handbook.rules import OperatingRules
from healthgym.worlds.managed_care.start import WorldStart
from healthgym.worlds.managed_care.vocabulary.care import (
    CMAssessmentSection,
    CMCaseStatus,
    CMInterventionOwner,
    CMProblemCategory,
    CMProgram,
    DiseaseControlStatus,
    EscalationReason,
)
from healthgym.worlds.managed_care.voices import Topic

#: Points of the first two items from which on the other seven are asked.
_SCREEN = 3
#: Social barriers that ask for a social worker.
_SOCIAL_WORK = (Topic.TRANSPORTATION, Topic.FOOD, Topic.HOUSING, Topic.FINANCES)
_STATUSES = {
    Ending.PLANNED: CMCaseStatus.CLOSED,
    Ending.DECLINED: CMCaseStatus.DISENROLLED,
    Ending.BLOCKED: CMCaseStatus.ASSESSMENT_BLOCKED,
    Ending.WITHDRAWN: CMCaseStatus.DISENROLLED,
    Ending.PARTIAL: CMCaseStatus.ASSESSMENT_BLOCKED,
    Ending.UNABLE: CMCaseStatus.DISENROLLED,
    Ending.UNREACHABLE: CMCaseStatus.DISENROLLED,
}
_WILLING = {
    Willingness.READY: Expected.READY,
    Willingness.HESITANT: Expected.HESITANT,
    Willingness.INITIALLY_REFUSES: Expected.INITIALLY_REFUSES,
    Willingness.REFUSES: Expected.INITIALLY_REFUSES,
}
_BEHAVIORAL = (Topic.MOOD, Topic.PHQ9, Topic.GAD7, Topic.SUBSTANCE_USE, Topic.SAFETY)
_CLINICAL = (Topic.DIAGNOSIS, Topic.HOSPITAL_STAY)


def category_of(topic: Topic) -> CMProblemCategory:
    """Return the kind of problem of a subject."""
    if topic is Topic.MEDICATION:
        return CMProblemCategory.MEDICATION
    if topic in _BEHAVIORAL:
        return CMProblemCategory.BEHAVIORAL_HEALTH
    return CMProblemCategory.CLINICAL if topic in _CLINICAL else CMProblemCategory.SDOH


def asked_of(history: History, answers: Answers, start: WorldStart) -> frozenset[Topic]:
    """Return the subjects that the assessment needs, and that the chart does not settle.

    Safety is one where item 9 of the PHQ-9 is not asked: the record has the sum, or the first two
    questions find nothing.
    """
    today, rules = start.now.date(), start.operations
    wanted = {Topic.MEDICATION, *SOCIAL} - history.social
    if history.member.patient.preferred_language == "English":
        wanted.discard(Topic.LANGUAGE)
    for topic, code in ((Topic.PHQ9, PHQ9), (Topic.GAD7, GAD7)):
        if documented(history, code, today, rules) is None:
            wanted.add(topic)
    if Topic.PHQ9 not in wanted or depression_sum(history, answers, start) is None:
        wanted.add(Topic.SAFETY)
    return frozenset(wanted)


def depression_sum(history: History, answers: Answers, start: WorldStart) -> int | None:
    """Return the sum of the PHQ-9; None where the first two questions find nothing."""
    known = documented(history, PHQ9, start.now.date(), start.operations)
    if known is not None:
        return known
    return sum(answers.phq9) if sum(answers.phq9[:2]) >= _SCREEN else None


def reference_of(
    history: History,
    referred: Referred,
    answers: Answers,
    persona: Persona,
    ending: Ending,
    start: WorldStart,
) -> CareReference:
    """Return what is right.

    Args:
        history: What the chart knows.
        referred: The referral.
        answers: What the person has to tell.
        persona: Who answers the phone.
        ending: What is right in the end.
        start: The beginning of the world.
    """
    rules = start.operations
    known = history.known(score=referred.known.score, safety=referred.known.safety)
    program = program_of(referred.known, rules)
    level = level_of(known, rules)
    asked = asked_of(history, answers, start) if ending.assessed else frozenset()
    phq9 = depression_sum(history, answers, start)
    control = known.control(rules)
    planned = ending is Ending.PLANNED
    needs = _needs(history, answers, phq9, control, program, rules) if planned else None
    if needs is not None and needs.escalation is not EscalationReason.SAFETY:
        struck = persona.around.emergency is not None
        needs = replace(needs, escalation=EscalationReason.CLINICAL) if struck else needs
    return CareReference(
        referral_id=referred.record.referral_id,
        patient_id=history.member.patient.id,
        case_id=referred.record.case_id,
        program=program,
        label=history.condition.label,
        priority=priority_of(referred.known, rules),
        risk_level=level,
        ending=ending,
        persona=persona,
        asked=asked & persona.only if persona.only else asked,
        phq9=phq9,
        gad7=sum(answers.gad7),
        adherence=answers.adherence(),
        discrepancies=answers.untaken | frozenset(answers.unlisted),
        barriers=answers.barriers,
        control=control,
        needs=needs,
        paper=_paper(referred, persona, ending, program, rules),
        status=_STATUSES[ending],
    )


def _needs(
    history: History,
    answers: Answers,
    phq9: int | None,
    control: dict[str, DiseaseControlStatus],
    program: CMProgram,
    rules: OperatingRules,
) -> Needs:
    """Return what the plan must hold, by the page on care plans."""
    many = len(history.medicines) >= rules.polypharmacy_medicines
    differs = bool(answers.untaken or answers.unlisted)
    partly = any(level != "adherent" for level in answers.adherence().values())
    score = phq9 or 0
    low = score >= rules.phq9_problem or sum(answers.gad7) >= rules.gad7_problem
    open_ones = {DiseaseControlStatus.SUBOPTIMAL, DiseaseControlStatus.UNCONTROLLED}
    due = {
        CMProblemCategory.CLINICAL: bool(open_ones & set(control.values())),
        CMProblemCategory.MEDICATION: many or differs or partly,
        CMProblemCategory.BEHAVIORAL_HEALTH: low or program is CMProgram.BEHAVIORAL_HEALTH,
        CMProblemCategory.SDOH: any(answers.barriers.values()),
        CMProblemCategory.COORDINATION: program is CMProgram.TRANSITIONS_OF_CARE,
    }
    owners = {
        CMInterventionOwner.PHARMACIST: many or differs,
        CMInterventionOwner.BEHAVIORAL_HEALTH_PROVIDER: score >= rules.phq9_provider,
        CMInterventionOwner.SOCIAL_WORKER: any(answers.barriers[each] for each in _SOCIAL_WORK),
    }
    complex_care = program is CMProgram.COMPLEX_CARE
    escalation = EscalationReason.BEHAVIORAL_HEALTH if score >= rules.phq9_escalate else None
    first = category_of(answers.worry)
    return Needs(
        problems_least=rules.complex_problems_least if complex_care else rules.problems_least,
        categories=frozenset(kind for kind, is_due in due.items() if is_due),
        owners=frozenset(owner for owner, is_due in owners.items() if is_due),
        first=CMProblemCategory.BEHAVIORAL_HEALTH if answers.safety else first,
        cadence=rules.cadences[program],
        escalation=EscalationReason.SAFETY if answers.safety else escalation,
    )


def _structure(least: int) -> PlanStructure:
    """Return how the source wants a plan to be built, with so many problems at least."""
    return PlanStructure(
        min_problem_count=least,
        require_goal_per_problem=True,
        require_goal_target_date=True,
        require_goal_measurable_criteria=True,
        require_intervention_per_goal=True,
        require_intervention_owner=True,
        require_intervention_temporal_anchor=True,
        require_escalation_conditions=True,
        require_follow_up_cadence_kind=True,
    )


def _paper(
    referred: Referred,
    persona: Persona,
    ending: Ending,
    program: CMProgram,
    rules: OperatingRules,
) -> Expectation:
    """Return what the source's checks expect; of a refusal, that the episode was ended."""
    planned, actions = ending is Ending.PLANNED, ["open_case", "submit_chart_review"]
    actions.append("end_outreach_call")
    if planned:
        actions += ["complete_assessment", "finalize"]
    stages = (Stage.CHART_REVIEW, Stage.ASSESSMENT, Stage.CARE_PLAN)
    complex_care = program is CMProgram.COMPLEX_CARE
    least = rules.complex_problems_least if complex_care else rules.problems_least
    return Expectation(
        contract=Contract.CM4,
        target_patient_id=referred.record.patient_id or "",
        target_case_id=referred.record.case_id,
        stages=stages if planned else stages[:1],
        care=CareExpectation(
            target_status=_STATUSES[ending],
            audit_actions=tuple(actions),
            required_sections=tuple(CMAssessmentSection) if planned else (),
            plan=_structure(least) if planned else PlanStructure(),
            willingness=_WILLING[persona.willingness],
        ),
    )
