"""What the pages of care management say of people is what the people on the phone do."""

from __future__ import annotations

import json
from datetime import timedelta

import pytest

from healthgym.envs.managed_care.care_management import answers
from healthgym.envs.managed_care.tools.cm_assessment import AssessmentTools
from healthgym.worlds.managed_care.apps.care_management import sections
from healthgym.worlds.managed_care.conversation import consenting, telling
from healthgym.worlds.managed_care.conversation.acts import Act
from healthgym.worlds.managed_care.conversation.mind import Supposed
from healthgym.worlds.managed_care.conversation.persona import (
    Concern,
    Persona,
    PersonaKind,
    Willingness,
)
from healthgym.worlds.managed_care.handbook.edition import written_library
from healthgym.worlds.managed_care.records.assessment import (
    BehavioralHealthAssessment,
    ClinicalAssessment,
)
from healthgym.worlds.managed_care.voices import Consent, Topic
from tests.worlds.managed_care.conversation.calls import (
    HESITANT,
    OPENING,
    WINNABLE,
    Line,
    about,
    agreed,
    eases,
    items,
    may,
)

OPERATIONAL = "care-manager/operational/"
PROTOCOL = written_library().read(f"{OPERATIONAL}outreach-protocol.md")
ASSESSMENT = written_library().read(f"{OPERATIONAL}assessment-standards.md")
#: How the page calls the subjects that need a question first.
NAMES = {
    Topic.MOOD: "Mood",
    Topic.PHQ9: "PHQ-9",
    Topic.GAD7: "GAD-7",
    Topic.SUBSTANCE_USE: "alcohol and other substances",
    Topic.SAFETY: "safety at home",
    Topic.FINANCES: "money",
}
ASK = Act.REQUEST_CONSENT
WORDS = ("none", "one", "two", "three", "four", "five")


def test_the_page_lists_what_is_sensitive():
    person = Persona(
        kind=PersonaKind.ANXIOUS,
        willingness=Willingness.READY,
        patient_name="Ada Moss",
        birth_date="1950-01-01",
    )
    assert person.sensitive == set(NAMES)
    text = PROTOCOL.section("Sensitive subjects")
    assert all(name in text for name in NAMES.values())


def test_the_page_says_how_much_may_be_asked_at_once():
    text = PROTOCOL.section("Sensitive subjects")
    assert f"{WORDS[telling._SENSITIVE_MOST]} sensitive subjects in one turn" in text
    assert f"not more than {WORDS[telling._SUBJECTS_MOST]} subjects of any kind" in text


def test_the_third_version_of_an_offer_is_the_one_that_is_refused():
    assert consenting._VERSIONS_MOST == 2
    text = written_library().read(f"{OPERATIONAL}consent.md").text
    assert "after the third version of the same offer" in text


def test_after_i_suppose_so_the_question_may_be_put_a_third_time_and_after_two_noes_not():
    line = Line(HESITANT)
    line.play(*OPENING, ASK, eases(Concern.COST), Act.ACKNOWLEDGE, ASK)
    assert line.consent() is Consent.OPEN
    assert line.memory.mind.supposed is Supposed.SAID
    line.play(Act.ASK_HESITATION, ASK)
    assert line.consent() is Consent.GIVEN
    line = Line(WINNABLE)
    line.play(*OPENING, ASK, (Act.ACKNOWLEDGE, Act.ASK_HESITATION), ASK, ASK)
    assert line.consent() is Consent.REFUSED
    text = PROTOCOL.section("When they hesitate or refuse")
    assert "After another no there is no third time." in text
    assert "asked what makes them unsure, also for the third time" in text
    script = written_library().read(f"{OPERATIONAL}consent.md").section("A script")
    assert "the question is put again, however often it was put before" in script


def test_after_danger_the_rest_may_be_asked_on_the_next_day():
    line = agreed()
    line.play(may(Topic.PHQ9), items(Topic.PHQ9, 9), Act.RESPOND_SAFETY)
    assert line.say(Act.OFFER_CALLBACK, Act.CLOSE).stop
    line.ring(timedelta(days=1)).play(Act.INTRODUCE, items(Topic.PHQ9, 1), about(Topic.FOOD))
    assert {told.topic for told in line.memory.disclosed} == {
        Topic.PHQ9,
        Topic.SAFETY,
        Topic.FOOD,
    }
    assert not any(turn.marks for turn in line.memory.turns)
    page = written_library().read(f"{OPERATIONAL}escalation-rules.md").section("Now")
    assert "asked in a call on the next day" in page


@pytest.mark.parametrize(
    ("missed", "level", "words"),
    [
        (0, "adherent", "none or one dose missed in a week is adherent"),
        (1, "adherent", "none or one dose missed in a week is adherent"),
        (2, "partial", "two to four are partial"),
        (4, "partial", "two to four are partial"),
        (5, "non_adherent", "five or more non-adherent"),
        (7, "non_adherent", "five or more non-adherent"),
    ],
)
def test_missed_doses_give_the_level_that_the_page_gives_them(missed, level, words):
    assert answers._level(missed) == level
    assert words in ASSESSMENT.section("Medication")


def test_the_screen_and_the_bands_are_those_of_the_world():
    text = ASSESSMENT.section("Behavioural health")
    assert f"From {WORDS[sections._POSITIVE_SCREEN]} points on it is positive" in text
    for least, (name, *_) in sections._ANXIETY[:-1]:
        assert f"`{name}` from {least}" in text


def test_page_and_manual_say_what_stands_in_a_section_where_nobody_asked():
    (save,) = (each for each in AssessmentTools.specs() if each.name.endswith("save_section"))
    manual, left_out = json.dumps(save.parameters), ClinicalAssessment()
    named = {
        left_out.symptom_burden: "for the symptom burden",
        left_out.self_monitoring_capability: "for self-monitoring",
    }
    for value, words in named.items():
        assert f"left out, it stands as '{value}'" in manual
        assert f"`{value}` {words}" in ASSESSMENT.text
    mind = BehavioralHealthAssessment()
    assert not mind.mood_affecting_adherence
    assert not mind.bh_treatment_connected
    assert manual.count("left out, it stands as false") == 2
    assert "no for mood that affects adherence and for being in behavioural-" in ASSESSMENT.text


def test_every_social_subject_of_the_section_is_named():
    listed = ASSESSMENT.section("Social").lower()
    words = {
        Topic.TRANSPORTATION: "transport",
        Topic.FOOD: "food",
        Topic.HOUSING: "housing",
        Topic.FINANCES: "money",
        Topic.CAREGIVER: "carers",
        Topic.LITERACY: "written instructions",
        Topic.WORK: "hours of work",
        Topic.LANGUAGE: "language",
        Topic.PHONE_ACCESS: "telephone",
    }
    assert set(words) == set(answers.SOCIAL)
    assert all(word in listed for word in words.values())
    assert "each is asked of everybody" in listed
