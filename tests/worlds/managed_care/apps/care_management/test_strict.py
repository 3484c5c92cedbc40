"""Each strict rule refuses a call that the compatibility mode accepts, and leaves nothing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from healthgym.worlds.managed_care.refusals import RefusalCode
from healthgym.worlds.managed_care.rules import Rules
from healthgym.worlds.managed_care.world import ManagedCareWorld
from tests.worlds.managed_care.apps.care_management.entries import (
    control,
    diagnosis,
    discrepancy,
    disenroll,
    goal,
    medicine,
    mind,
    step,
)
from tests.worlds.managed_care.apps.care_management.walk import (
    BEGIN,
    CLINICAL,
    COMPLETE,
    DISENROLL,
    DRAFT,
    PLAN,
    RING,
    SOCIAL,
    Call,
    at_stage,
    end,
    plan,
    play,
    refused,
    review,
    say,
    section,
    start,
    walk,
)

Json = Any
Code = RefusalCode


#: A rule: the stage at which the call comes, the call, and why it is refused.
RULES: Mapping[str, tuple[str, Call, RefusalCode]] = {
    # What has been done is not done again.
    "second review": ("reviewed", review(), Code.ILLEGAL_TRANSITION),
    "second filing": ("called", end(), Code.ILLEGAL_TRANSITION),
    "second assessment": ("assessing", BEGIN, Code.ILLEGAL_TRANSITION),
    "second completion": ("assessed", COMPLETE, Code.ILLEGAL_TRANSITION),
    "completion after closing": ("closed", COMPLETE, Code.ILLEGAL_TRANSITION),
    "second draft": ("planned", DRAFT, Code.ILLEGAL_TRANSITION),
    "finalized plan saved again": ("closed", plan(), Code.WRONG_STATE),
    # The review has content, and is a care manager's.
    "review without concern": ("opened", review(primary_concerns=[" "]), Code.INCOMPLETE),
    "review without findings": ("opened", review(key_findings=""), Code.MISSING_TEXT),
    "review by nobody": ("opened", review(reviewer_id="W-9"), Code.ROLE_FORBIDDEN),
    "review by a nurse": ("opened", review(reviewer_id="W-2"), Code.ROLE_FORBIDDEN),
    "review by who is out": ("opened", review(reviewer_id="W-3"), Code.OFF_DUTY),
    "enormous review": ("opened", review(key_findings="x" * 5000), Code.UNREASONABLE_TEXT),
    "endless review": ("opened", review(primary_concerns=["x"] * 99), Code.UNREASONABLE_TEXT),
    # One call at a time, and words that can be said.
    "call during a call": ("ringing", RING, Code.WRONG_STATE),
    "disenrolment during a call": ("ringing", DISENROLL, Code.WRONG_STATE),
    "blank words": ("ringing", say(" \n"), Code.MISSING_TEXT),
    "enormous words": ("ringing", say("a" * 2001), Code.UNREASONABLE_TEXT),
    "binary words": ("ringing", say("hello \x00\x07"), Code.UNREASONABLE_TEXT),
    # What is filed of a call has happened.
    "filing without a word": ("ringing", end(), Code.UNSUPPORTED_CLAIM),
    "consent not given": ("greeted", end(), Code.UNSUPPORTED_CLAIM),
    "consent denied": ("agreed", end(consent_obtained=False), Code.UNSUPPORTED_CLAIM),
    "refusal not given": ("agreed", end(engagement_status="refused"), Code.UNSUPPORTED_CLAIM),
    "invented length": ("agreed", end(call_duration_minutes=90), Code.UNSUPPORTED_CLAIM),
    "negative length": ("agreed", end(call_duration_minutes=-1), Code.UNSUPPORTED_CLAIM),
    "enormous note": ("agreed", end(notes="n" * 5000), Code.UNREASONABLE_TEXT),
    # A section holds what it must.
    "empty clinical": ("assessing", section("clinical", {}), Code.INCOMPLETE),
    "empty medication": ("assessing", section("medication", {}), Code.INCOMPLETE),
    "empty behavioral health": ("assessing", section("behavioral_health", {}), Code.INCOMPLETE),
    "no diagnosis": (
        "assessing",
        section("clinical", CLINICAL | {"major_diagnoses": []}),
        Code.INCOMPLETE,
    ),
    "no control": (
        "assessing",
        section("clinical", CLINICAL | {"disease_control": []}),
        Code.INCOMPLETE,
    ),
    "control on nothing": ("assessing", control(notes=" "), Code.INCOMPLETE),
    "blank red flag": (
        "assessing",
        section("clinical", CLINICAL | {"red_flags": [""]}),
        Code.INCOMPLETE,
    ),
    "no dose": ("assessing", medicine(dose=""), Code.INCOMPLETE),
    "no day of a score": ("assessing", mind(phq9_administered_at=None), Code.INCOMPLETE),
    "no motivation": ("assessing", mind(motivation_stage=None), Code.INCOMPLETE),
    "escalation without reason": ("assessing", mind(escalation_required=True), Code.INCOMPLETE),
    "escalation of no kind": (
        "assessing",
        mind(escalation_required=True, escalation_notes="Told the clinic at noon."),
        Code.INCOMPLETE,
    ),
    "escalation without words": (
        "assessing",
        mind(escalation_required=True, escalation_reason_kind="other"),
        Code.INCOMPLETE,
    ),
    "enormous section": (
        "assessing",
        mind(motivation_notes="x" * 5000),
        Code.UNREASONABLE_TEXT,
    ),
    # A section holds nothing that neither chart nor person says.
    "invented diagnosis": ("assessing", diagnosis(code="I50.9"), Code.UNSUPPORTED_CLAIM),
    "invented condition": ("assessing", control(condition="asthma"), Code.UNSUPPORTED_CLAIM),
    "invented stay": (
        "assessing",
        section("clinical", CLINICAL | {"recent_hospitalizations": 2}),
        Code.UNSUPPORTED_CLAIM,
    ),
    "negative stays": (
        "assessing",
        section("clinical", CLINICAL | {"recent_hospitalizations": -1}),
        Code.UNSUPPORTED_CLAIM,
    ),
    "invented burden": (
        "assessing",
        section("clinical", CLINICAL | {"symptom_burden": "high"}),
        Code.UNSUPPORTED_CLAIM,
    ),
    "invented self-monitoring": (
        "assessing",
        section("clinical", CLINICAL | {"self_monitoring_capability": "limited"}),
        Code.UNSUPPORTED_CLAIM,
    ),
    "invented medicine": ("assessing", medicine(name="warfarin"), Code.UNSUPPORTED_CLAIM),
    "medicine that nobody knows": (
        "assessing",
        medicine(name="warfarin", adherence="unknown"),
        Code.UNSUPPORTED_CLAIM,
    ),
    "discrepancy of no medicine": (
        "assessing",
        discrepancy("warfarin 5 mg", "takes half"),
        Code.UNSUPPORTED_CLAIM,
    ),
    "discrepancy that nobody reports": (
        "assessing",
        discrepancy("metformin", " "),
        Code.UNSUPPORTED_CLAIM,
    ),
    "wrong sum of the PHQ-9": ("assessing", mind(phq9_score=12), Code.UNSUPPORTED_CLAIM),
    "wrong sum of the GAD-7": (
        "assessing",
        mind(gad7_score=9, anxiety_severity=None),
        Code.UNSUPPORTED_CLAIM,
    ),
    "PHQ-9 on a day without a call": (
        "assessing",
        mind(phq9_administered_at="2026-03-01"),
        Code.UNSUPPORTED_CLAIM,
    ),
    "PHQ-9 to come": (
        "assessing",
        mind(phq9_administered_at="2026-04-01"),
        Code.IMPLAUSIBLE_DATE,
    ),
    "severity other than the score": (
        "assessing",
        mind(anxiety_severity="severe"),
        Code.UNSUPPORTED_CLAIM,
    ),
    "invented substance use": (
        "assessing",
        mind(substance_use_concerns=True),
        Code.UNSUPPORTED_CLAIM,
    ),
    "invented danger": ("assessing", mind(safety_concerns=True), Code.UNSUPPORTED_CLAIM),
    "invented mood": ("assessing", mind(mood_affecting_adherence=True), Code.UNSUPPORTED_CLAIM),
    "invented treatment": (
        "assessing",
        mind(bh_treatment_connected=True),
        Code.UNSUPPORTED_CLAIM,
    ),
    "barrier that was denied": (
        "assessing",
        section("sdoh", SOCIAL | {"food_insecurity": True}),
        Code.UNSUPPORTED_CLAIM,
    ),
    "barrier left out": ("assessing", section("sdoh", {}), Code.UNSUPPORTED_CLAIM),
    "invented barrier": (
        "assessing",
        section("sdoh", SOCIAL | {"work_schedule_barrier": True}),
        Code.UNSUPPORTED_CLAIM,
    ),
    # An assessment is worked on while it is under way.
    "section after completion": ("assessed", section("sdoh", SOCIAL), Code.WRONG_STATE),
    "section after closing": ("closed", section("sdoh", SOCIAL), Code.WRONG_STATE),
    "block without a reason": ("assessing", section("sdoh", SOCIAL, "x"), Code.MISSING_TEXT),
    "block without their words": ("assessing", section("sdoh", SOCIAL, "legal"), Code.MISSING_TEXT),
    "block of no known kind": (
        "assessing",
        section("sdoh", SOCIAL, 'rude: "I will not answer."'),
        Code.MISSING_TEXT,
    ),
    "block after completion": (
        "assessed",
        section("sdoh", SOCIAL, "asked to stop for today"),
        Code.WRONG_STATE,
    ),
    # A plan can be followed.
    "target in the past": ("drafted", goal(target_date="2026-03-01"), Code.IMPLAUSIBLE_DATE),
    "target in years": ("drafted", goal(target_date="2029-03-01"), Code.IMPLAUSIBLE_DATE),
    "due yesterday": ("drafted", step(due_date="2026-03-12"), Code.IMPLAUSIBLE_DATE),
    "follow-up in the past": (
        "drafted",
        plan(follow_up_start_date="2020-01-01"),
        Code.IMPLAUSIBLE_DATE,
    ),
    "blank goal": ("drafted", goal(description=" "), Code.MISSING_TEXT),
    "blank intervention": ("drafted", step(description=""), Code.MISSING_TEXT),
    "blank escalation": ("drafted", plan(escalation_conditions=[""]), Code.MISSING_TEXT),
    "doubled problem": (
        "drafted",
        plan(problems=[PLAN["problems"][0]] * 2),
        Code.DUPLICATE,
    ),
    "enormous plan": (
        "drafted",
        plan(follow_up_cadence_notes="x" * 5000),
        Code.UNREASONABLE_TEXT,
    ),
    # An episode ends for a reason, once.
    "disenrolment for no reason": ("opened", disenroll("declined"), Code.MISSING_TEXT),
    "enormous disenrolment": ("opened", disenroll("no no no " * 900), Code.UNREASONABLE_TEXT),
    "blank disenrolment": ("opened", disenroll(""), Code.MISSING_TEXT),
}


@pytest.mark.parametrize("rule", RULES)
def test_a_strict_world_refuses_what_a_compatible_one_accepts(rule: str) -> None:
    stage, call, code = RULES[rule]
    assert refused(at_stage(stage), call) is code
    assert refused(at_stage(stage, Rules.COMPAT), call) is None


def test_who_opened_the_episode_reviews_its_chart_at_any_hour() -> None:
    world = ManagedCareWorld(replace(start(), rules=Rules.STRICT, voices={}, actor="W-3"))
    for call in walk("opened"):
        play(world, call)
    assert refused(world, review(reviewer_id="W-3")) is None
