"""An episode of care management: what each step leaves, and what a person remembers."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from healthgym.core.journal import InjectedFault
from healthgym.errors import ToolError
from healthgym.worlds.managed_care.charts.chart import ChartLibrary
from healthgym.worlds.managed_care.conversation.acts import Meant
from healthgym.worlds.managed_care.machines import care_edges
from healthgym.worlds.managed_care.refusals import Refusal, RefusalCode
from healthgym.worlds.managed_care.rules import Rules
from healthgym.worlds.managed_care.vocabulary.care import (
    CMAssessmentStatus,
    CMCaseStatus,
    CMOutreachOutcome,
)
from healthgym.worlds.managed_care.voices import CallContext, Consent, Memory, Reply, Topic
from healthgym.worlds.managed_care.world import ManagedCareWorld
from tests.worlds.managed_care.apps.care_management.walk import (
    ASK,
    BEGIN,
    CASE,
    COMPLETE,
    HELLO,
    MIND,
    OPEN,
    PATIENT,
    PERSON,
    RING,
    SESSION,
    SOCIAL,
    at_stage,
    end,
    make,
    of_case,
    play,
    refused,
    say,
    section,
    told,
    walk,
)
from tests.worlds.managed_care.finals_care import world_of
from tests.worlds.managed_care.voices import Answer, LineDown, PlainVoice, ScriptedVoice


@pytest.mark.parametrize("rules", Rules)
def test_the_whole_way_is_accepted(rules: Rules) -> None:
    world = at_stage("closed", rules)
    assert world.referrals.cases[CASE].status is CMCaseStatus.CLOSED
    moves = [row for row in world.history.entries if row.kind == "transition"]
    assert {row.app for row in moves} == {"cm_case"}
    assert [row.action for row in moves] == [
        "intake_complete",
        "chart_reviewed",
        "outreach_complete",
        "assessment_in_progress",
        "assessment_complete",
        "care_plan_draft",
        "care_plan_finalized",
        "closed",
    ]


def test_closing_stamps_the_case_under_strict_rules_only() -> None:
    strict, compat = (at_stage("closed", rules) for rules in (Rules.STRICT, Rules.COMPAT))
    assert strict.referrals.cases[CASE].closed_at == strict.clock.now
    assert compat.referrals.cases[CASE].closed_at is None


def test_a_referral_shows_who_it_is_about() -> None:
    world = make()
    known, unknown = play(world, ("cm_intake.list_referral_queue", {}))
    assert (known["patient_name"], known["patient_age"]) == ("Ida Roe", 76)
    assert (unknown["patient_name"], unknown["patient_age"]) == (None, None)
    one = play(world, ("cm_intake.get_referral", {"referral_id": "REF-1"}))
    assert one == known


def test_ids_that_nobody_has_are_refused() -> None:
    world = make()
    for call in (
        ("cm_intake.get_referral", {"referral_id": "REF-9"}),
        ("cm_chart.get_chart_data", {"case_id": "CM-X"}),
        ("cm_outreach.start_outreach_call", {"case_id": "CM-X"}),
        say("hello", "SES-X"),
        ("cm_outreach.get_transcript", {"session_id": "SES-X"}),
        end("SES-X"),
        ("cm_assessment.start_assessment", {"case_id": "CM-X"}),
        ("cm_assessment.complete_assessment", {"case_id": "CM-X"}),
        ("cm_care_plan.create_draft", {"case_id": "CM-X"}),
        ("cm_care_plan.finalize", {"case_id": "CM-X"}),
    ):
        assert refused(world, call) is RefusalCode.NOT_FOUND


def test_broken_days_and_words_never_reach_the_world() -> None:
    world = at_stage("assessing")
    before = world.digest()
    for data in (
        {"phq9_score": 28},
        {"phq9_administered_at": "2026-02-30"},
        {"phq9_administered_at": "yesterday"},
        {"anxiety_severity": "terrible"},
        {"mood": "low"},
    ):
        with pytest.raises(ToolError):
            play(world, section("behavioral_health", data))
    with pytest.raises(ToolError):
        play(world, section("dental", {}))
    assert world.digest() == before


# -- the person ----------------------------------------------------------------------------------


def test_a_second_call_meets_the_same_person() -> None:
    voice = _Curt()
    for rules, consent in ((Rules.STRICT, Consent.GIVEN), (Rules.COMPAT, Consent.OPEN)):
        world = at_stage("greeted", rules, voice)
        for call in (ASK, say("Goodbye."), RING):
            play(world, call)
        assert world.outreach.memory(CASE).consent is consent
    assert world.outreach.memory(CASE).calls == 1


class _Curt(PlainVoice):
    """Somebody who hangs up when told goodbye."""

    def reply(
        self,
        message: str,
        heard: Memory,
        acts: tuple[Meant, ...] = (),
        call: CallContext | None = None,
    ) -> Reply:
        if message.startswith("Goodbye"):
            return Reply(text="Bye.", stop=True)
        return super().reply(message, heard, acts)


def test_a_refusal_is_filed_as_one_and_leaves_disenrolment() -> None:
    world = at_stage("greeted", voice=PlainVoice(agrees=False))
    play(world, ASK)
    filed = play(world, end(engagement_status="refused", consent_obtained=False))
    assert filed.outcome is CMOutreachOutcome.DECLINED
    play(world, of_case("cm_intake.disenroll_case", reason="Said no, and wants no calls."))
    assert world.referrals.cases[CASE].closed_at is not None
    assert world.history.entries[-1].details == {"reason": "Said no, and wants no calls."}


def test_who_is_asked_again_after_a_refusal_hangs_up() -> None:
    world = at_stage("greeted", voice=PlainVoice(agrees=False))
    assert not play(world, ASK)["stopped"]
    assert play(world, ASK)["stopped"]
    assert refused(world, HELLO) is RefusalCode.ENDED
    assert world.outreach.sessions[SESSION].termination_reason == "patient_ended"


def test_what_is_told_is_kept_once() -> None:
    world = at_stage("agreed")
    for _ in range(2):
        play(world, say("May I ask the PHQ-9?"))
    items = [told.item for told in world.outreach.memory(CASE).disclosed]
    assert items == [str(n) for n in range(1, 10)]
    assert world.outreach.memory(CASE).disclosed[0].topic is Topic.PHQ9


def test_a_broken_line_leaves_nothing_and_can_be_tried_again() -> None:
    world = at_stage("ringing", voice=ScriptedVoice((LineDown(), Reply(text="Yes?"))))
    assert refused(world, HELLO) is RefusalCode.BLOCKED
    assert play(world, HELLO)["patient_response"] == "Yes?"


def test_nobody_answers_where_there_is_nobody() -> None:
    assert refused(at_stage("ringing", voice=None), HELLO) is RefusalCode.NOT_FOUND


def test_a_call_that_lasts_too_long_is_over() -> None:
    world = at_stage("greeted")
    world.clock.advance(timedelta(minutes=31))
    assert refused(world, HELLO) is RefusalCode.ENDED
    play(world, RING)  # a call that is over stands in nobody's way
    world = at_stage("agreed")
    world.clock.advance(timedelta(minutes=31))
    play(world, end())
    assert world.outreach.sessions[SESSION].termination_reason == "timeout"


def test_twenty_messages_end_a_call() -> None:
    world = at_stage("ringing")
    for number in range(1, 11):
        shown = play(world, HELLO)
        assert shown["turn_number"] == 2 * number
    assert shown["session_status"] == "ended"
    assert not shown["stopped"]
    read = play(world, ("cm_outreach.get_transcript", {"session_id": SESSION}))
    assert [message.turn_number for message in read["messages"]] == list(range(1, 21))


def test_hours_are_those_of_the_persons_state() -> None:
    world = make()
    chart = world.charts[PATIENT]
    west = replace(chart, patient=replace(chart.patient, address_state="CA"))
    early = world.clock.now - timedelta(hours=1)
    world = ManagedCareWorld(replace(world.start, now=early, charts=ChartLibrary([west])))
    for call in walk("reviewed"):
        play(world, call)
    assert refused(world, RING) is RefusalCode.OUT_OF_HOURS  # seven in the morning there
    world.clock.advance(timedelta(hours=1))
    play(world, RING)


def test_operations_say_how_often_and_how_long_one_calls() -> None:
    given = make().start
    few = replace(given.operations, outreach_attempts_least=1, outreach_messages_most=2)
    world = ManagedCareWorld(replace(given, operations=few))
    for call in (*walk("reviewed"), RING, HELLO):
        play(world, call)
    assert world.outreach.sessions[SESSION].status == "ended"
    assert refused(world, RING) is RefusalCode.LIMIT_REACHED


# -- assessment ----------------------------------------------------------------------------------


def test_a_blocked_assessment_is_taken_up_again_with_what_it_held() -> None:
    world = at_stage("filled")
    blocked = play(world, section("sdoh", SOCIAL, 'ill: "I am too ill for this."'))
    assert blocked.status is CMAssessmentStatus.BLOCKED
    again = play(world, BEGIN)
    assert again.assessment_id == blocked.assessment_id
    assert (again.status, again.blocked_reason) == (CMAssessmentStatus.IN_PROGRESS, None)
    assert play(world, COMPLETE).clinical is not None


def test_a_blocked_section_may_be_left_empty() -> None:
    world = at_stage("assessing")
    saved = play(world, section("behavioral_health", {}, 'private: "I will not talk about that."'))
    assert saved.behavioral_health is None


def test_a_score_that_the_chart_documents_needs_no_call() -> None:
    world = at_stage("agreed")
    for call in (end(), BEGIN):
        play(world, call)
    documented = MIND | {"phq9_score": 11, "phq9_administered_at": "2026-02-01"}
    asked = documented | {"gad7_score": 0, "anxiety_severity": "none"}
    assert refused(world, section("behavioral_health", asked)) is RefusalCode.UNSUPPORTED_CLAIM
    world = at_stage("assessing")
    play(world, section("behavioral_health", documented))


def test_two_answers_that_find_nothing_are_screening_enough() -> None:
    two = Answer(cues=("phq",), words="Not really.", tells=told(Topic.PHQ9, (0, 1)))
    world = at_stage("assessing", voice=PlainVoice(answers=(two, *PERSON.answers[1:])))
    open_score = MIND | {"phq9_score": None, "phq9_administered_at": None}
    assert refused(world, section("behavioral_health", open_score)) is RefusalCode.INCOMPLETE
    noted = open_score | {"depression_screen_notes": "Two questions asked, one point."}
    play(world, section("behavioral_health", noted))
    world = at_stage("assessing")
    play(world, section("behavioral_health", MIND))
    low = Answer(cues=("phq",), words="Every day.", tells=told(Topic.PHQ9, (3, 3)))
    world = at_stage("assessing", voice=PlainVoice(answers=(low, *PERSON.answers[1:])))
    assert refused(world, section("behavioral_health", noted)) is RefusalCode.INCOMPLETE


def test_an_episode_that_began_before_goes_by_what_is_on_file() -> None:
    world = at_stage("called")
    dict.clear(world.outreach.memories)
    play(world, BEGIN)


# -- statuses, faults ----------------------------------------------------------------------------


@pytest.mark.parametrize("rules", Rules)
def test_every_ordered_pair_of_statuses(rules: Rules) -> None:
    for source in CMCaseStatus:
        for target in CMCaseStatus:
            world = world_of({"from": source})
            world.rules = rules
            legal = target in care_edges().get(source, ())
            itself = source is target and rules is Rules.COMPAT
            if legal or itself:
                assert world.referrals.move(CASE, target, "W-1").status is target
                (row,) = world.history.entries
                assert (row.source, row.action, row.actor) == (source, target, "W-1")
            else:
                with pytest.raises(Refusal):
                    world.referrals.move(CASE, target, "W-1")


def test_a_fault_at_any_write_leaves_nothing() -> None:
    world = make()
    faults = 0
    for call in walk():
        number = 0
        while True:
            number += 1
            before = world.digest()
            twin = world.clone()
            twin.journal.fail_at(number)
            try:
                play(twin, call)
            except InjectedFault:
                twin.journal.fail_at(None)
                faults += 1
                assert twin.digest() == before, (call, number)
            else:
                break
        play(world, call)
    assert faults > 60
    assert world.digest() == at_stage("closed").digest()


def test_a_referral_opens_one_case() -> None:
    world = make()
    play(world, OPEN)
    assert refused(world, OPEN) is RefusalCode.DUPLICATE
