"""An episode from referral to closure, in calls that strict rules accept, and ways to leave it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import UTC, datetime, time
from functools import cache
from typing import Any

from healthgym.core.journal import InjectedFault
from healthgym.core.schema import validate
from healthgym.core.tool import Caller
from healthgym.errors import ToolError
from healthgym.worlds.managed_care.charts.chart import ChartLibrary
from healthgym.worlds.managed_care.records.chart import MedicationRequest, Observation
from healthgym.worlds.managed_care.refusals import Refusal, RefusalCode
from healthgym.worlds.managed_care.rules import Rules
from healthgym.worlds.managed_care.staff import Staff, Worker, WorkerRole
from healthgym.worlds.managed_care.start import WorldStart
from healthgym.worlds.managed_care.voices import Disclosure, PatientVoice, Topic
from healthgym.worlds.managed_care.world import ManagedCareWorld
from tests.worlds.managed_care.recorded import build
from tests.worlds.managed_care.replay import catalog
from tests.worlds.managed_care.voices import Answer, PlainVoice

Json = Any
CASE, SESSION = "CM-ACT-001", "SES-0001"
PATIENT = "CM-PAT-001"
#: Points for the nine items of the PHQ-9, and the seven of the GAD-7.
PHQ9, GAD7 = (1, 1, 2, 1, 0, 1, 1, 0, 0), (1, 1, 1, 1, 1, 0, 0)
TODAY = "2026-03-13"


def told(topic: Topic, scores: Iterable[int]) -> tuple[Disclosure, ...]:
    """Return the answers to a questionnaire."""
    return tuple(
        Disclosure(topic=topic, item=str(n), score=score) for n, score in enumerate(scores, 1)
    )


PERSON = PlainVoice(
    answers=(
        Answer(cues=("phq",), words="Mostly fine, I sleep badly.", tells=told(Topic.PHQ9, PHQ9)),
        Answer(cues=("gad",), words="I worry now and then.", tells=told(Topic.GAD7, GAD7)),
        Answer(
            cues=("medicine",),
            words="I take the metformin, most days.",
            tells=(Disclosure(topic=Topic.MEDICATION, item="metformin"),),
        ),
        Answer(
            cues=("get around",),
            words="My car broke down. Food and flat are fine.",
            tells=(
                Disclosure(topic=Topic.TRANSPORTATION),
                Disclosure(topic=Topic.FOOD, present=False),
                Disclosure(topic=Topic.HOUSING, present=False),
            ),
        ),
    )
)

REVIEW = {
    "primary_concerns": ["HbA1c above goal"],
    "preliminary_risk_level": "high",
    "key_findings": "Type 2 diabetes on metformin; two visits to the emergency department.",
}
SUMMARY = {"engagement_status": "engaged", "consent_obtained": True, "call_duration_minutes": 3}
CLINICAL = {
    "major_diagnoses": [
        {
            "code": "E11.9",
            "display": "T2DM",
            "severity": "moderate",
            "control_status": "suboptimal",
        }
    ],
    "disease_control": [
        {"condition": "T2DM", "status": "suboptimal", "notes": "HbA1c 7.9 % on 2026-01-01"}
    ],
}
MEDICATION = {
    "current_medications": [
        {"name": "metformin", "dose": "500 mg twice daily", "adherence": "partial"}
    ]
}
MIND = {
    "phq9_score": sum(PHQ9),
    "phq9_administered_at": TODAY,
    "gad7_score": sum(GAD7),
    "gad7_administered_at": TODAY,
    "anxiety_severity": "mild",
    "motivation_stage": "preparation",
}
SOCIAL = {"transportation_barrier": True}
PLAN: dict[str, Json] = {
    "problems": [
        {
            "description": "Type 2 diabetes above goal",
            "category": "clinical",
            "goals": [
                {
                    "description": "Bring HbA1c down",
                    "target_date": "2026-06-12",
                    "measurable_criteria": "HbA1c below 7.0 %",
                    "interventions": [
                        {
                            "description": "Call about home readings",
                            "owner": "care_manager",
                            "frequency": "weekly",
                        }
                    ],
                }
            ],
        },
        {
            "description": "No way to get to the clinic",
            "category": "sdoh",
            "goals": [
                {
                    "description": "Rides to each visit",
                    "target_date": "2026-04-10",
                    "measurable_criteria": "No visit missed for want of a ride",
                    "interventions": [
                        {
                            "description": "Book the plan's ride benefit",
                            "owner": "social_worker",
                            "due_date": "2026-03-20",
                        }
                    ],
                }
            ],
        },
    ],
    "escalation_conditions": ["Home glucose above 300 mg/dL twice in a day"],
    "follow_up_cadence_kind": "biweekly",
}
Call = tuple[str, Mapping[str, Json]]


def say(words: str, session: str = SESSION) -> Call:
    """Return a call that says something."""
    return ("cm_outreach.send_message", {"session_id": session, "message": words})


def section(name: str, data: Mapping[str, Json], blocked: str | None = None) -> Call:
    """Return a call that saves a section."""
    arguments: dict[str, Json] = {"case_id": CASE, "payload": {"section": name, "data": data}}
    if blocked is not None:
        arguments["blocked_reason"] = blocked
    return ("cm_assessment.save_section", arguments)


def of_case(tool: str, **arguments: Json) -> Call:
    """Return a call about the episode."""
    return (tool, {"case_id": CASE, **arguments})


def review(**changes: Json) -> Call:
    """Return a call that files a chart review."""
    return of_case("cm_chart.submit_chart_review", review=REVIEW | changes)


def end(session: str = SESSION, **changes: Json) -> Call:
    """Return a call that files a telephone call."""
    return (
        "cm_outreach.end_outreach_call",
        {"session_id": session, "summary": SUMMARY | changes},
    )


def plan(**changes: Json) -> Call:
    """Return a call that saves the plan."""
    return of_case("cm_care_plan.save_care_plan", plan_data=PLAN | changes)


OPEN: Call = (
    "cm_intake.open_case",
    {"referral_id": "REF-1", "priority": "high", "program": "chronic_disease"},
)
RING = of_case("cm_outreach.start_outreach_call")
HELLO = say("Good morning, is this Ms Roe? I am calling from care management.")
ASK = say("It means regular calls and help with your diabetes. Do you agree to take part?")
DRAFT = of_case("cm_care_plan.create_draft")
FINALIZE = of_case("cm_care_plan.finalize")
BEGIN = of_case("cm_assessment.start_assessment")
COMPLETE = of_case("cm_assessment.complete_assessment")
DISENROLL = of_case(
    "cm_intake.disenroll_case", reason="Declined after the benefits were explained."
)
#: Stages of the episode, and the calls that lead from each to the next.
STAGES: Mapping[str, tuple[Call, ...]] = {
    "referred": (OPEN,),
    "opened": (review(),),
    "reviewed": (RING,),
    "ringing": (HELLO,),
    "greeted": (ASK,),
    "agreed": (
        say("May I ask the PHQ-9?"),
        say("And the GAD-7?"),
        say("Which medicine do you take?"),
        say("How do you get around?"),
    ),
    "asked": (end(),),
    "called": (BEGIN,),
    "assessing": (
        section("clinical", CLINICAL),
        section("medication", MEDICATION),
        section("behavioral_health", MIND),
        section("sdoh", SOCIAL),
    ),
    "filled": (COMPLETE,),
    "assessed": (DRAFT,),
    "drafted": (plan(),),
    "planned": (FINALIZE,),
    "closed": (),
}


def walk(until: str = "closed") -> tuple[Call, ...]:
    """Return the calls that lead from the referral to a stage."""
    found: list[Call] = []
    for stage, calls in STAGES.items():
        if stage == until:
            break
        found += calls
    return tuple(found)


@cache
def start() -> WorldStart:
    """Return the beginning: one patient with diabetes and metformin, and two referrals."""
    given = build({}, "care_management").start
    chart = given.charts[PATIENT]
    then = datetime(2026, 2, 1, tzinfo=UTC)
    filled = replace(
        chart,
        medications=(
            MedicationRequest(
                id="m1",
                patient_id=PATIENT,
                medication_name="metformin 500 mg",
                status="active",
                authored_on=then,
            ),
        ),
        observations=(
            Observation(
                id="o1",
                patient_id=PATIENT,
                code="44261-6",
                display="PHQ-9",
                value_quantity=11,
                value_unit="{score}",
                observed_at=then,
            ),
        ),
    )
    workers = (
        Worker(id="W-1", name="N One", role=WorkerRole.CARE_MANAGER, organization_id="ORG-CM"),
        Worker(id="W-2", name="N Two", role=WorkerRole.UM_NURSE, organization_id="ORG-CM"),
        Worker(
            id="W-3",
            name="N Three",
            role=WorkerRole.CARE_MANAGER,
            organization_id="ORG-CM",
            hours=(time(18), time(22)),
        ),
    )
    return replace(
        given,
        now=datetime(2026, 3, 13, 15, tzinfo=UTC),  # a Friday, eleven o'clock Eastern time
        charts=ChartLibrary([filled]),
        staff=Staff(workers, (), ()),
    )


def make(rules: Rules = Rules.STRICT, voice: PatientVoice | None = PERSON) -> ManagedCareWorld:
    """Return the world at its beginning.

    Args:
        rules: Which rules it keeps.
        voice: Who answers the phone; nobody if None.
    """
    voices = {} if voice is None else {CASE: voice}
    return ManagedCareWorld(replace(start(), rules=rules, voices=voices))


def play(world: ManagedCareWorld, call: Call) -> Any:
    """Play a call through its tool, as the engine does; return the record or view.

    Raises:
        ToolError: If it is refused; then, as after any fault, everything is as it was.
    """
    tool, arguments = call
    spec, kind = catalog()[tool]
    toolset = kind(world, Caller("care_management", world.actor, world.clock))
    toolset.__dict__["show"] = lambda result: result
    savepoint = world.journal.begin()
    try:
        given = validate(spec.model, spec.identifier, spec.usage, dict(arguments))
        result = spec.function(toolset, **given)
    except (ToolError, InjectedFault):
        world.journal.rollback(savepoint)
        raise
    world.journal.commit()
    return result


def at_stage(
    stage: str, rules: Rules = Rules.STRICT, voice: PatientVoice | None = PERSON
) -> ManagedCareWorld:
    """Return the world at a stage of the walk."""
    world = make(rules, voice)
    for call in walk(stage):
        play(world, call)
    return world


def refused(world: ManagedCareWorld, call: Call) -> RefusalCode | None:
    """Play a call; return why it was refused, or None if it was not.

    Raises:
        AssertionError: If a refused call left anything behind.
    """
    before = world.digest()
    try:
        play(world, call)
    except Refusal as refusal:
        why = refusal
    else:
        return None
    assert world.digest() == before, call
    assert str(why).endswith("."), why
    return why.code
