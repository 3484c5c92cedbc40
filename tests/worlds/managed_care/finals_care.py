"""Care management's side of the replays: the person on the phone, the cells, the end."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from healthgym.worlds.managed_care.records.assessment import (
    BehavioralHealthAssessment,
    ClinicalAssessment,
    CMAssessment,
    MedicationAssessment,
    SDoHAssessment,
)
from healthgym.worlds.managed_care.records.care import CMCase, ConversationSession
from healthgym.worlds.managed_care.records.care_plan import (
    CMCarePlan,
    CMGoal,
    CMIntervention,
    CMProblem,
)
from healthgym.worlds.managed_care.vocabulary.care import (
    CMCaseStatus,
    CMInterventionOwner,
    CMPriority,
    CMProblemCategory,
    CMProgram,
    CMReferralSource,
    FollowUpCadence,
)
from healthgym.worlds.managed_care.voices import PatientVoice, Reply
from healthgym.worlds.managed_care.world import ManagedCareWorld
from tests.worlds.managed_care.recorded import build
from tests.worlds.managed_care.voices import LineDown, ScriptedVoice

Json = Any
CASE = "CM-ACT-001"
_NOW = datetime(2026, 3, 13, 9, tzinfo=UTC)
_SECTIONS = ("behavioral_health", "clinical", "medication", "sdoh")


def voices_of(setup: Mapping[str, Json]) -> Mapping[str, PatientVoice]:
    """Return who answered the phone in a recording; nobody where no person could be built."""
    if "persona" in setup and setup["persona"] is None:
        return {}
    lines = tuple(
        LineDown() if "raise" in row else Reply(text=row["text"], stop=row.get("stop", False))
        for row in setup.get("patient_script", [])
    )
    return {CASE: ScriptedVoice(lines)}


def world_of(cell: Mapping[str, Json]) -> ManagedCareWorld:
    """Return the world of a cell: an episode with four empty sections, a plan and a call."""
    world = build({}, "care_management")
    world.begin_with(_seeds(CMCaseStatus(cell["from"])))
    return world


def of(world: ManagedCareWorld) -> Mapping[str, Json]:
    """Return the end of a world as it was recorded."""
    return {
        "cases": {
            case.case_id: {
                "status": str(case.status),
                "closed": case.closed_at is not None,
                "priority": str(case.priority),
                "program": str(case.program),
            }
            for case in world.referrals.cases.values()
        },
        "chart_reviews": len(world.care_chart.reviews),
        "outreach": [
            {
                "attempt": record.attempt_number,
                "method": str(record.contact_method),
                "outcome": str(record.outcome),
                "engagement": str(record.engagement_status),
                "consent": record.consent_obtained,
            }
            for record in world.outreach.records.values()
        ],
        "sessions": sorted(
            (
                [
                    str(call.status),
                    None if call.termination_reason is None else str(call.termination_reason),
                    len(call.messages),
                    call.max_turns,
                ]
                for call in world.outreach.sessions.values()
            ),
            key=json.dumps,
        ),
        "assessments": [_assessment(one) for one in world.assessments.assessments.values()],
        "plans": [_plan(plan) for plan in world.plans.plans.values()],
    }


def _assessment(one: CMAssessment) -> Json:
    return {
        "status": str(one.status),
        "blocked": one.blocked_reason is not None,
        "sections": [name for name in _SECTIONS if getattr(one, name) is not None],
        "completed": one.completed_at is not None,
    }


def _plan(plan: CMCarePlan) -> Json:
    cadence = plan.follow_up_cadence_kind
    return {
        "status": str(plan.status),
        "problems": len(plan.problems),
        "escalations": len(plan.escalation_conditions),
        "cadence": None if cadence is None else str(cadence),
        "finalized": plan.finalized_at is not None,
    }


def _seeds(status: CMCaseStatus) -> tuple[object, ...]:
    call = CMIntervention(
        description="call", owner=CMInterventionOwner.CARE_MANAGER, frequency="weekly"
    )
    goal = CMGoal(description="A1c down", measurable_criteria="<7", interventions=(call,))
    problem = CMProblem(description="DM", category=CMProblemCategory.CLINICAL, goals=(goal,))
    return (
        CMCase(
            case_id=CASE,
            patient_id="CM-PAT-001",
            referral_source=CMReferralSource.PAYER_HIGH_RISK,
            referral_reason="high A1c",
            status=status,
            priority=CMPriority.HIGH,
            program=CMProgram.CHRONIC_DISEASE,
            assigned_to="care_manager",
            opened_at=_NOW,
        ),
        CMAssessment(
            assessment_id="ASSESS-1",
            case_id=CASE,
            assessor_id="care_manager",
            started_at=_NOW,
            clinical=ClinicalAssessment(),
            medication=MedicationAssessment(),
            behavioral_health=BehavioralHealthAssessment(),
            sdoh=SDoHAssessment(),
        ),
        CMCarePlan(
            care_plan_id="CP-1",
            case_id=CASE,
            author_id="care_manager",
            created_at=_NOW,
            problems=(problem,),
            escalation_conditions=("glucose over 300",),
            follow_up_cadence_kind=FollowUpCadence.WEEKLY,
        ),
        ConversationSession(
            session_id="SES-1",
            case_id=CASE,
            patient_name="Ida Roe",
            reason_for_call="high A1c",
            created_at=_NOW,
        ),
    )
