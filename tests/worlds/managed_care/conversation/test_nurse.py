"""Sentences of a nurse that were misread once, and others like them: what is heard of each."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from healthgym.worlds.managed_care.conversation.acts import SENSITIVE, Act
from healthgym.worlds.managed_care.conversation.recognition import understand
from healthgym.worlds.managed_care.voices import Topic

#: Groups of sentences that hold the same acts; in each the first, or more, is what a nurse said
#: who knew the page and not the grammar, and the others say it otherwise.
_GROUPS = [
    json.loads(line)
    for line in (Path(__file__).parent / "nurse.jsonl").read_text("utf-8").splitlines()
]
_SAID = [(said, group["acts"]) for group in _GROUPS for said in group["say"]]
#: The questions of both instruments as they are printed, those of PHQ-9 first.
_PRINTED = [
    "little interest or pleasure in doing things",
    "feeling down, depressed, or hopeless",
    "trouble falling or staying asleep, or sleeping too much",
    "feeling tired or having little energy",
    "poor appetite or overeating",
    "feeling bad about yourself, or that you are a failure or have let yourself or your family"
    " down",
    "trouble concentrating on things, such as reading the newspaper or watching television",
    "moving or speaking so slowly that other people could have noticed, or the opposite, being so"
    " fidgety or restless that you have been moving around a lot more than usual",
    "thoughts that you would be better off dead, or of hurting yourself in some way",
    "feeling nervous, anxious, or on edge",
    "not being able to stop or control worrying",
    "worrying too much about different things",
    "trouble relaxing",
    "being so restless that it is hard to sit still",
    "becoming easily annoyed or irritable",
    "feeling afraid, as if something awful might happen",
]
_ASKED = [
    "Over the last two weeks, how often have you been bothered by {}?",
    "{}?",
    "And {}: not at all, several days, more than half the days, or nearly every day?",
    "How many days was there {}?",
]


def _heard(message: str) -> set[tuple[str, str, str]]:
    return {
        (each.act.value, each.topic.value if each.topic else "", each.item)
        for each in understand(message).acts
        if each.sure
    }


@pytest.mark.parametrize(("said", "acts"), _SAID, ids=[said for said, _ in _SAID])
def test_a_nurse_is_heard_as_she_meant_it(said: str, acts: list[list[str]]) -> None:
    assert _heard(said) == {tuple(act) for act in acts}


@pytest.mark.parametrize("asked", _ASKED)
@pytest.mark.parametrize("number", range(16))
def test_what_the_instruments_print_is_their_question_and_nothing_grave(
    number: int, asked: str
) -> None:
    topic, item = ("phq9", number + 1) if number < 9 else ("gad7", number - 8)
    heard = _heard(asked.format(_PRINTED[number]))
    assert ("ask_item", topic, str(item)) in heard
    assert not {act for act, _, _ in heard} & SENSITIVE


@pytest.mark.parametrize(
    "said",
    [
        "You'd be letting your family down.",
        "Do you want to let your family down?",
        "How can you let your family down?",
        "You would let your family down, and how often have you felt bad about that?",
        "How often have you felt bad about yourself, and think of your kids, you owe it to them?",
        "Have you felt like a failure, as you should, since you are letting your family down?",
        "How often have you felt ashamed, and if you refuse you will be sorry?",
        "Would you feel like a failure? You will if you refuse, and your children will suffer.",
    ],
)
def test_guilt_that_is_stirred_is_no_question_of_an_instrument(said: str) -> None:
    assert Act.PRESSURE in {each.act for each in understand(said).acts}  # in doubt, perhaps


@pytest.mark.parametrize(
    ("said", "topic"),
    [
        ("May I ask you something: how often do you drink?", "substance_use"),
        ("May I ask a question: do you feel safe at home?", "safety"),
        ("May I ask some things: is there any abuse, and how is your mood?", "safety"),
    ],
)
def test_a_question_after_a_permission_is_a_question(said: str, topic: str) -> None:
    assert ("ask_topic", topic, "") in _heard(said)


#: As a chart writes them: with doses, two in one, and such as no list of names has.
_OWN = (
    "umeclidinium/vilanterol 62.5 mcg",
    "latanoprost eye drops",
    "zorbi cream 2 %",
    "insulin glargine 12 units",
    "artificial tears",
    "potassium chloride 20 mEq",
)


@pytest.mark.parametrize(
    ("said", "names"),
    [
        ("How about the latanoprost drops?", {"latanoprost eye drops"}),
        ("Do you use the inhaler with umeclidinium and vilanterol?", {"umeclidinium/vilanterol"}),
        ("How often do you put the Zorbi cream on?", {"zorbi cream"}),
        ("Is the Zorbi working?", {"zorbi cream"}),
        ("How is it going with the insulin?", {"insulin glargine"}),
        ("Artificial tears and the Zorbi: do you use each?", {"artificial tears", "zorbi cream"}),
        ("Do you have an artificial hip?", set()),
        ("Do you shed tears often?", set()),
        ("Do you take your potassium?", {"potassium chloride"}),
        ("Do you take insulin glargine and potassium?", {"insulin glargine", "potassium chloride"}),
        ("How is your potassium level?", set()),
    ],
)
def test_somebody_knows_their_own_medicines_by_name(said: str, names: set[str]) -> None:
    heard = understand(said, (), _OWN).acts
    assert {each.item for each in heard if each.topic is Topic.MEDICATION} == names


def test_of_two_medicines_that_begin_alike_the_short_name_is_neither() -> None:
    own = ("insulin glargine", "insulin lispro")
    heard = understand("How is the insulin?", (), own).acts
    assert {each.item for each in heard} == {"insulin"}


@pytest.mark.parametrize(
    "said",
    [
        "I see metformin on the list, and your daughters. Do you live with them?",
        "You take metformin. How are the children, do they see each other?",
    ],
)
def test_what_points_at_people_asks_for_no_medicine(said: str) -> None:
    assert ("ask_topic", "medication", "metformin") not in _heard(said)
