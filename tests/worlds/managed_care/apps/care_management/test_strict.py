"""Each strict rule refuses a call that the compatibility mode accepts, and leaves nothing."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import time
from typing import Any

import pytest

from healthgym.worlds.managed_care.refusals import RefusalCode
from healthgym.worlds.managed_care.rules import Rules
from healthgym.worlds.managed_care.voices import (
    Answer,
    CallingHours,
    Disclosure,
    PlainVoice,
    Reply,
    ScriptedVoice,
    Topic,
)
from tests.worlds.managed_care.apps.care_management.walk import (
    ASK,
    BEGIN,
    CLINICAL,
    COMPLETE,
    DISENROLL,
    DRAFT,
    FINALIZE,
    HELLO,
    MEDICATION,
    MIND,
    OPEN,
    PERSON,
    PLAN,
    RING,
    SOCIAL,
    Call,
    at_stage,
    end,
    make,
    of_case,
    plan,
    play,
    refused,
    review,
    say,
    section,
    told,
)

Json = Any
Code = RefusalCode


def goal(**changes: Json) -> Call:
    """Return a plan whose first goal is changed."""
    problem = PLAN["problems"][0]
    return plan(problems=[problem | {"goals": [problem["goals"][0] | changes]}])


def step(**changes: Json) -> Call:
    """Return a plan whose first intervention is changed."""
    first = PLAN["problems"][0]["goals"][0]["interventions"][0]
    kept = {key: value for key, value in (first | changes).items() if value is not None}
    return goal(interventions=[kept])


def medicine(**changes: Json) -> Call:
    return section(
        "medication", {"current_medications": [MEDICATION["current_medications"][0] | changes]}
    )


def diagnosis(**changes: Json) -> Call:
    named = [CLINICAL["major_diagnoses"][0] | changes]
    return section("clinical", CLINICAL | {"major_diagnoses": named})


def control(**changes: Json) -> Call:
    named = [CLINICAL["disease_control"][0] | changes]
    return section("clinical", CLINICAL | {"disease_control": named})


def mind(**changes: Json) -> Call:
    return section("behavioral_health", MIND | changes)


def discrepancy(chart_med: str, report: str) -> Call:
    row = {"chart_med": chart_med, "patient_report": report, "issue_type": "dose"}
    return section("medication", MEDICATION | {"discrepancies": [row]})


def disenroll(reason: str) -> Call:
    return of_case("cm_intake.disenroll_case", reason=reason)


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
    "review by nobody": ("opened", review(reviewer_id="W-9"), Code.NOT_FOUND),
    "review by a nurse": ("opened", review(reviewer_id="W-2"), Code.ROLE_FORBIDDEN),
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
    "invented medicine": ("assessing", medicine(name="warfarin"), Code.UNSUPPORTED_CLAIM),
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
    "block after completion": (
        "assessed",
        section("sdoh", SOCIAL, "asked to stop for today"),
        Code.WRONG_STATE,
    ),
    # A plan can be followed.
    "target in the past": ("drafted", goal(target_date="2026-03-01"), Code.IMPLAUSIBLE_DATE),
    "due today": ("drafted", step(due_date="2026-03-13"), Code.IMPLAUSIBLE_DATE),
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
    "blank disenrolment": ("opened", disenroll(""), Code.MISSING_TEXT),
}


@pytest.mark.parametrize("rule", RULES)
def test_a_strict_world_refuses_what_a_compatible_one_accepts(rule: str) -> None:
    stage, call, code = RULES[rule]
    assert refused(at_stage(stage), call) is code
    assert refused(at_stage(stage, Rules.COMPAT), call) is None


#: Plans that may be saved, and may not be finalized.
UNFINISHED: Mapping[str, Call] = {
    "no target date": goal(target_date=None),
    "no criteria": goal(measurable_criteria=""),
    "neither due nor repeated": step(frequency=None),
    "blank frequency": step(frequency=" "),
    "custom cadence without words": plan(follow_up_cadence_kind="custom"),
}


@pytest.mark.parametrize("rule", UNFINISHED)
def test_a_plan_that_nobody_could_follow_is_not_finalized(rule: str) -> None:
    for rules, answer in ((Rules.STRICT, Code.INCOMPLETE), (Rules.COMPAT, None)):
        world = at_stage("drafted", rules)
        play(world, UNFINISHED[rule])
        assert refused(world, FINALIZE) is answer


def test_a_plan_whose_days_have_passed_is_not_finalized() -> None:
    for rules, answer in ((Rules.STRICT, Code.IMPLAUSIBLE_DATE), (Rules.COMPAT, None)):
        world = at_stage("planned", rules)
        world.clock.advance(world.clock.now - world.clock.now.replace(month=1))
        assert refused(world, FINALIZE) is answer


def test_disenrolment_happens_once() -> None:
    for rules, answer in ((Rules.STRICT, Code.ILLEGAL_TRANSITION), (Rules.COMPAT, None)):
        world = at_stage("opened", rules)
        play(world, DISENROLL)
        assert refused(world, DISENROLL) is answer


def test_a_person_is_called_in_their_hours() -> None:
    late = PlainVoice(hours=CallingHours(opens=time(10), closes=time(12)))
    for rules, answer in ((Rules.STRICT, Code.OUT_OF_HOURS), (Rules.COMPAT, None)):
        assert refused(at_stage("reviewed", rules, late), RING) is answer


def test_a_person_is_called_three_times_and_no_more() -> None:
    curt = ScriptedVoice((Reply(text="Not now.", stop=True),) * 9)
    for rules, answer in ((Rules.STRICT, Code.LIMIT_REACHED), (Rules.COMPAT, None)):
        world = at_stage("reviewed", rules, curt)
        for number in (1, 2, 3):
            play(world, RING)
            play(world, say("Good morning.", f"SES-000{number}"))
        assert refused(world, RING) is answer


def test_the_latest_call_is_the_one_that_is_filed() -> None:
    curt = ScriptedVoice((Reply(text="Not now.", stop=True),) * 9)
    claim = end(engagement_status="pending", consent_obtained=False)
    for rules, answer in ((Rules.STRICT, Code.WRONG_STATE), (Rules.COMPAT, None)):
        world = at_stage("ringing", rules, curt)
        for call in (HELLO, RING, say("Hello again.", "SES-0002")):
            play(world, call)
        assert refused(world, claim) is answer


def test_nobody_is_assessed_who_has_not_agreed() -> None:
    unwilling = PlainVoice(agrees=False)
    summary = end(engagement_status="refused", consent_obtained=False)
    for rules, answer in ((Rules.STRICT, Code.NO_CONSENT), (Rules.COMPAT, None)):
        world = at_stage("greeted", rules, unwilling)
        for call in (ASK, summary):
            play(world, call)
        assert refused(world, BEGIN) is answer


def test_scores_that_nobody_answered_are_not_recorded() -> None:
    for rules, answer in ((Rules.STRICT, Code.UNSUPPORTED_CLAIM), (Rules.COMPAT, None)):
        world = at_stage("agreed", rules)
        for call in (end(), BEGIN):
            play(world, call)
        assert refused(world, mind()) is answer
        assert refused(world, medicine()) is answer
        sdoh = None if rules is Rules.COMPAT else Code.INCOMPLETE
        assert refused(world, section("sdoh", {})) is sdoh


def test_thoughts_of_self_harm_are_not_left_out() -> None:
    scores = (0, 0, 0, 0, 0, 0, 0, 0, 2)
    answer = Answer(cues=("phq",), words="Sometimes.", tells=told(Topic.PHQ9, scores))
    grave = PlainVoice(answers=(answer, *PERSON.answers[1:]))
    for rules, code in ((Rules.STRICT, Code.UNSUPPORTED_CLAIM), (Rules.COMPAT, None)):
        world = at_stage("assessing", rules, grave)
        assert refused(world, mind(phq9_score=2)) is code
        assert refused(world, mind(phq9_score=2, safety_concerns=True)) is None


def test_a_flag_does_not_say_otherwise_than_the_person() -> None:
    drinks = Answer(
        cues=("gad",),
        words="I drink more than I should.",
        tells=(*told(Topic.GAD7, (1, 1, 1, 1, 1, 0, 0)), Disclosure(topic=Topic.SUBSTANCE_USE)),
    )
    voice = PlainVoice(answers=(PERSON.answers[0], drinks))
    for rules, code in ((Rules.STRICT, Code.UNSUPPORTED_CLAIM), (Rules.COMPAT, None)):
        world = at_stage("assessing", rules, voice)
        assert refused(world, mind()) is code
        assert refused(world, mind(substance_use_concerns=True)) is None


def test_a_medicine_of_the_chart_is_not_left_out() -> None:
    takes = Answer(
        cues=("medicine",),
        words="Only something for my heart.",
        tells=(Disclosure(topic=Topic.MEDICATION, item="aspirin"),),
    )
    voice = PlainVoice(answers=(takes,))
    for rules, code in ((Rules.STRICT, Code.INCOMPLETE), (Rules.COMPAT, None)):
        world = at_stage("assessing", rules, voice)
        assert refused(world, medicine(name="aspirin", dose="81 mg daily")) is code


def test_a_blocked_assessment_takes_no_section_until_it_is_begun_again() -> None:
    for rules, codes in (
        (Rules.STRICT, (Code.WRONG_STATE, Code.ILLEGAL_TRANSITION)),
        (Rules.COMPAT, (None, None)),
    ):
        world = at_stage("filled", rules)
        play(world, section("sdoh", SOCIAL, "asked to stop for today"))
        assert refused(world, section("sdoh", SOCIAL)) is codes[0]
        assert refused(world, COMPLETE) is codes[1]


def test_a_referral_without_a_patient_opens_nothing() -> None:
    nobody = (OPEN[0], {**OPEN[1], "referral_id": "REF-2"})
    assert refused(make(), nobody) is Code.BAD_ARGUMENT
