"""Strict rules that take more than one call to break."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from healthgym.worlds.managed_care.charts.chart import ChartLibrary
from healthgym.worlds.managed_care.refusals import RefusalCode
from healthgym.worlds.managed_care.rules import Rules
from healthgym.worlds.managed_care.voices import Disclosure, Reply, Topic
from healthgym.worlds.managed_care.world import ManagedCareWorld
from tests.worlds.managed_care.apps.care_management.entries import (
    goal,
    medicine,
    mind,
    step,
)
from tests.worlds.managed_care.apps.care_management.walk import (
    ASK,
    BEGIN,
    COMPLETE,
    DISENROLL,
    FINALIZE,
    HELLO,
    OPEN,
    PATIENT,
    PERSON,
    RING,
    SOCIAL,
    Call,
    at_stage,
    end,
    make,
    plan,
    play,
    refused,
    say,
    section,
    told,
    walk,
)
from tests.worlds.managed_care.finals_care import world_of
from tests.worlds.managed_care.voices import Answer, PlainVoice, ScriptedVoice

Json = Any
Code = RefusalCode


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
    for rules, answer in ((Rules.STRICT, Code.OUT_OF_HOURS), (Rules.COMPAT, None)):
        for hours, there in ((8, None), (9, answer), (20, answer), (21, None)):
            world = at_stage("reviewed", rules)
            world.clock.advance(timedelta(hours=hours, minutes=59))  # 11:00 Eastern plus that
            assert refused(world, RING) is there


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
        play(world, section("sdoh", SOCIAL, 'ill: "I am too ill for this."'))
        assert refused(world, section("sdoh", SOCIAL)) is codes[0]
        assert refused(world, COMPLETE) is codes[1]


def test_a_referral_without_a_patient_opens_nothing() -> None:
    nobody = (OPEN[0], {**OPEN[1], "referral_id": "REF-2"})
    assert refused(make(), nobody) is Code.BAD_ARGUMENT


def test_a_plan_with_nothing_in_it_is_finalized_nowhere() -> None:
    for rules in Rules:
        assert refused(at_stage("drafted", rules), FINALIZE) is Code.INCOMPLETE


def test_nothing_is_said_once_the_episode_has_moved_on() -> None:
    for rules, answer in ((Rules.STRICT, Code.WRONG_STATE), (Rules.COMPAT, None)):
        world = world_of({"from": "outreach_complete"})
        world.rules = rules
        assert refused(world, say("Good morning.", "SES-1")) is answer


def test_medicines_are_asked_about() -> None:
    data: dict[str, Any] = {
        "current_medications": [
            {"name": "metformin", "dose": "500 mg twice daily", "adherence": "unknown"}
        ],
        "adherence_barriers": ["copay"],
    }
    barrier = section("medication", data)
    for rules, code in ((Rules.STRICT, Code.UNSUPPORTED_CLAIM), (Rules.COMPAT, None)):
        world = at_stage("agreed", rules)
        for call in (end(), BEGIN):
            play(world, call)
        assert refused(world, barrier) is code
        # Who breaks off there names what stands in the way by that.
        broken = section("medication", data, 'private: "I would rather not say that."')
        assert refused(world, broken) is None


def test_who_takes_nothing_was_asked() -> None:
    given = make().start
    chart = replace(given.charts[PATIENT], medications=())
    for rules, code in ((Rules.STRICT, Code.INCOMPLETE), (Rules.COMPAT, None)):
        bare = replace(given, charts=ChartLibrary([chart]), rules=rules)
        world = ManagedCareWorld(bare)
        for call in (*walk("agreed"), end(), BEGIN):
            play(world, call)
        assert refused(world, section("medication", {})) is code
