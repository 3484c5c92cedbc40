"""What gets in the way is asked about, and not what it gets in the way of."""

from __future__ import annotations

import pytest

from healthgym.worlds.managed_care.conversation.acts import Act
from healthgym.worlds.managed_care.conversation.recognition import understand
from healthgym.worlds.managed_care.voices import Part, Topic

ONLY = {
    "Does your job keep you from going to appointments?": Topic.WORK,
    "Do your shifts make it hard to take your medicines on time?": Topic.WORK,
    "I know shift work is hard. Does it ever keep you from eating?": Topic.WORK,
    "How is your mood, and does it keep you from taking care of yourself?": Topic.MOOD,
    "How are things with money, and do they keep you from filling your prescriptions?": (
        Topic.FINANCES
    ),
    "Does having no car keep you from getting to work?": Topic.TRANSPORTATION,
    "Do you have a working telephone and internet?": Topic.PHONE_ACCESS,
    "Is there working heat in your apartment?": Topic.HOUSING,
}
ALL = {
    # Nothing is named that hinders: what gets hindered is asked about.
    "What keeps you from taking your medicines?": {Topic.MEDICATION},
    "Does anything make it hard to get to the clinic?": {Topic.TRANSPORTATION},
    # A question of its own after it is one all the same.
    "Does your job keep you from resting, and do you drink?": {Topic.WORK, Topic.SUBSTANCE_USE},
    "Are you working, and do you have a phone?": {Topic.WORK, Topic.PHONE_ACCESS},
}


def asked(message: str) -> list[tuple[Act, Topic | None]]:
    return [(said.act, said.topic) for said in understand(message).acts if said.sure]


@pytest.mark.parametrize("message", ONLY)
def test_a_question_is_about_what_hinders(message: str) -> None:
    beside = {Act.ACKNOWLEDGE}  # "I know that is hard"
    found = [each for each in asked(message) if each[0] not in beside]
    assert found == [(Act.ASK_TOPIC, ONLY[message])]


@pytest.mark.parametrize("message", ALL)
def test_other_questions_keep_their_subjects(message: str) -> None:
    assert {topic for _, topic in asked(message)} == ALL[message]


def test_a_statement_hinders_nothing() -> None:
    said = "My job kept me from calling. Do you take your pills every day?"
    assert asked(said) == [(Act.ASK_TOPIC, Topic.MEDICATION)]


@pytest.mark.parametrize(
    "message",
    [
        "What do you measure at home, for example your blood pressure?",
        "And what do you measure at home, like your sugar or your blood pressure?",
        "What do you measure at home?",
        "What readings do you take at home?",
        "Do you check anything yourself at home and write it down?",
    ],
)
def test_what_is_measured_at_home_is_asked_about_as_such(message: str) -> None:
    acts = understand(message).acts
    assert Part.SELF_MONITORING in {said.part for said in acts if said.sure}
    assert Act.VERIFY_IDENTITY not in {said.act for said in acts}
