"""What a person tells who has agreed: when it may be asked, how much, and how often."""

from __future__ import annotations

from dataclasses import replace

import pytest

from healthgym.worlds.managed_care.conversation.acts import Act, Heard, Meant, Said
from healthgym.worlds.managed_care.conversation.mind import Parting, Stage
from healthgym.worlds.managed_care.conversation.persona import (
    BlockedBecause,
    Break,
    Circumstance,
    Mark,
    Rhythm,
)
from healthgym.worlds.managed_care.conversation.recognition import understand
from healthgym.worlds.managed_care.conversation.replies import lines
from healthgym.worlds.managed_care.voices import Consent, Disclosure, Part, Topic
from tests.worlds.managed_care.conversation.calls import (
    OPENING,
    READY,
    Line,
    about,
    agreed,
    hears,
    items,
    may,
    meant,
)

ASK = Act.REQUEST_CONSENT
FORGIVING = frozenset[Mark]()
REASONS = ("reason.missed", "reason.stopped")


def test_nothing_is_told_before_the_agreement() -> None:
    line = Line(READY)
    line.play(*OPENING, about(Topic.FOOD), may(Topic.MOOD), items(Topic.PHQ9, 1))
    assert not line.memory.disclosed


def test_a_private_subject_is_told_once_it_may_be_asked_about() -> None:
    line = agreed()
    line.say(about(Topic.SUBSTANCE_USE))
    assert line.turn.marks == (Mark.UNASKED,)
    assert not line.memory.disclosed
    line.play(may(Topic.SUBSTANCE_USE), about(Topic.SUBSTANCE_USE))
    assert not line.turn.marks
    assert line.turn.told[0].present
    line.say(about(Topic.FINANCES))
    assert line.turn.marks == (Mark.UNASKED,)


def test_who_may_i_asks_about_what_is_no_secret_is_told_at_once() -> None:
    line = agreed()
    line.say(may(Topic.TRANSPORTATION))
    assert [told.topic for told in line.turn.told] == [Topic.TRANSPORTATION]


def test_asked_when_to_call_again_they_say_when() -> None:
    line = agreed()
    line.say(Act.OFFER_CALLBACK)
    assert line.texts[-1] in {each.text for each in lines()["next.when"]}


def test_an_open_question_is_answered_with_what_is_on_their_mind() -> None:
    line = agreed(replace(READY, hint="It's a long way.", hint_topic=Topic.TRANSPORTATION))
    line.say(Act.ASK_TOPIC)
    assert [told.topic for told in line.turn.told] == [Topic.TRANSPORTATION]
    line.say(Act.ASK_TOPIC)
    assert not line.turn.told
    assert not line.turn.marks


def test_a_permission_without_a_subject_holds_for_one() -> None:
    line = agreed()
    line.play(may(None), about(Topic.SUBSTANCE_USE))
    assert not line.turn.marks
    line.say(about(Topic.FINANCES))
    assert line.turn.marks == (Mark.UNASKED,)


def test_a_permission_to_ask_about_mood_holds_for_both_instruments() -> None:
    line = agreed()
    line.play(may(Topic.MOOD), items(Topic.PHQ9, 1), items(Topic.GAD7, 1))
    assert len(line.memory.disclosed) == 2


def test_a_permission_without_a_subject_holds_for_both_instruments() -> None:
    line = agreed()
    line.play(may(None), items(Topic.PHQ9, 1), items(Topic.GAD7, 1))
    assert not line.turn.marks
    assert len(line.memory.disclosed) == 2
    line.say(about(Topic.FINANCES))
    assert line.turn.marks == (Mark.UNASKED,)


def test_who_may_ask_about_safety_may_ask_about_self_harm_and_no_other_item() -> None:
    line = agreed()
    line.play(may(Topic.SAFETY), (*items(Topic.PHQ9, 9), about(Topic.SAFETY)))
    assert not line.turn.marks
    assert {told.topic for told in line.turn.told} == {Topic.PHQ9, Topic.SAFETY}
    line = agreed()
    line.play(may(Topic.SAFETY), tuple(items(Topic.PHQ9, 8, 9)))
    assert line.turn.marks == (Mark.UNASKED,)


def test_three_private_subjects_in_a_turn_are_harvesting_and_two_are_not() -> None:
    line = agreed()
    three = (Topic.SUBSTANCE_USE, Topic.FINANCES, Topic.SAFETY)
    line.play(*map(may, three), tuple(map(about, three)))
    assert line.turn.marks == (Mark.HARVESTING,)
    assert not line.turn.told
    line.say(*map(about, three[:2]))
    assert not line.turn.marks
    assert len(line.turn.told) == 2


def test_as_many_items_are_answered_as_can_be_taken_in() -> None:
    line = agreed(replace(READY, items_at_once=2))
    line.play(may(Topic.PHQ9), items(Topic.PHQ9, 1, 2, 3, 4))
    assert [(told.item, told.score) for told in line.turn.told] == [("1", 2), ("2", 1)]
    line.say(*items(Topic.PHQ9, 3, 4))
    assert [told.score for told in line.turn.told] == [3, 0]
    assert not line.turn.marks


def test_medicines_are_told_by_name_or_from_the_bottles() -> None:
    line = agreed()
    line.say(about(Topic.MEDICATION, "metformin"))
    (told,) = line.turn.told
    assert told.present
    assert told.score == 3
    assert "500" not in line.texts[-1]
    line.say(about(Topic.MEDICATION, "warfarin"))
    assert not line.turn.told
    assert "warfarin" in line.texts[-1].casefold()
    line.say(about(Topic.MEDICATION))
    rest = {told.item: (told.present, told.score) for told in line.turn.told}
    assert rest == {
        "lisinopril 10 mg": (True, 0),
        "atorvastatin": (False, 7),
        "ibuprofen": (True, 1),
        "melatonin": (True, 0),
    }


def test_bottles_are_gone_through_a_few_at_a_time() -> None:
    line = agreed(replace(READY, items_at_once=1))
    counts = []
    for _ in range(3):
        line.say(about(Topic.MEDICATION))
        counts.append(len(line.turn.told))
    assert counts == [2, 2, 1]
    line.play(Act.ACKNOWLEDGE, about(Topic.MEDICATION))
    assert line.turn.marks == (Mark.ASKED_AGAIN,)


def test_who_asks_why_medicines_are_left_out_is_told_and_has_not_asked_again() -> None:
    why = {each.text.split("{drug}")[-1] for key in REASONS for each in lines()[key]}
    line = agreed(replace(READY, hint="It's a long way.", hint_topic=Topic.TRANSPORTATION))
    line.say(about(Topic.MEDICATION, "metformin"), about(Topic.MEDICATION, "atorvastatin"))
    line.say(Act.ASK_HESITATION)
    assert sum(each in line.texts[-1] for each in why) == 2
    assert not line.turn.marks
    line.play(about(Topic.FOOD), Act.ASK_HESITATION)
    assert not any(each in line.texts[-1] for each in why)  # a reason is given once


def test_who_names_a_medicine_is_told_why_that_one_is_left_out_after_other_subjects_too() -> None:
    line = agreed(replace(READY, items_at_once=1))
    for name in ("metformin", "atorvastatin"):
        line.say(about(Topic.MEDICATION, name))
    line.play(about(Topic.FOOD))
    line.say(
        about(Topic.TRANSPORTATION),
        Act.ASK_HESITATION,
        message="How do you get around, and what keeps you from the metformin?",
    )
    assert [told.item for told in line.turn.told if told.topic is Topic.MEDICATION] == [
        "metformin 500 mg"
    ]
    assert line.memory.mind.explained == {"metformin 500 mg"}


@pytest.mark.parametrize(
    "words", ["Why do you leave it out?", "What gets in the way?", "Why is that?"]
)
def test_a_question_for_the_reason_is_understood(words: str) -> None:
    assert understand(words).has(Act.ASK_HESITATION)


def test_who_comes_back_to_a_medicine_that_is_left_out_asks_why_once() -> None:
    line = agreed()
    for name in ("metformin", "atorvastatin", "lisinopril"):
        line.say(about(Topic.MEDICATION, name))
    line.play(about(Topic.FOOD), about(Topic.MEDICATION, "metformin"))
    assert not line.turn.marks
    line.say(about(Topic.MEDICATION, "atorvastatin"))
    assert not line.turn.marks
    line.play(about(Topic.HOUSING), about(Topic.MEDICATION, "metformin"))
    assert line.turn.marks == (Mark.ASKED_AGAIN,)
    line.play(about(Topic.HOUSING), about(Topic.MEDICATION, "lisinopril"))
    assert line.turn.marks == (Mark.ASKED_AGAIN,)  # nothing is left out of it


def test_a_why_makes_no_old_question_a_new_one() -> None:
    line = agreed()
    line.play(about(Topic.TRANSPORTATION), about(Topic.FOOD))
    line.say(about(Topic.TRANSPORTATION), Act.ASK_HESITATION)
    assert line.turn.marks == (Mark.ASKED_AGAIN,)


def test_the_reason_may_be_asked_with_the_question() -> None:
    line = agreed()
    line.say(about(Topic.MEDICATION, "metformin"), Act.ASK_HESITATION)
    assert [told.item for told in line.turn.told] == ["metformin 500 mg"]
    assert line.memory.mind is not None
    assert line.memory.mind.explained == {"metformin 500 mg"}


def test_what_was_told_is_told_again_but_not_gladly() -> None:
    line = agreed()
    line.say(about(Topic.TRANSPORTATION))
    first = line.texts[-1]
    line.say(about(Topic.TRANSPORTATION))  # to make sure of it
    assert not line.turn.marks
    line.play(about(Topic.FOOD), about(Topic.TRANSPORTATION))
    assert line.turn.marks == (Mark.ASKED_AGAIN,)
    assert line.texts[-1].endswith(first)
    line.ring().play(Act.INTRODUCE, about(Topic.TRANSPORTATION))
    assert line.turn.marks == (Mark.ASKED_AGAIN,)
    assert len(line.memory.disclosed) == 2


def test_who_narrows_a_question_that_was_too_wide_has_not_asked_again() -> None:
    line = agreed()
    line.person = replace(line.person, ears=understand)
    line.say(message="How do you get to the clinic?")
    line.say(message="What is it like, how much and how often?")
    line.say(message="I mean the way to the clinic: how do you get there?")
    assert not line.turn.marks


def test_how_somebody_wants_to_be_reached_is_another_matter_than_their_telephone() -> None:
    line = agreed()
    line.person = replace(line.person, ears=understand)
    line.say(message="Do you have a telephone and internet that work?")
    line.say(message="Do you have enough food in the house?")
    line.say(message="How do you prefer that I reach you?")
    assert not line.turn.marks
    assert line.texts[-1] in {each.text for each in lines()["reach"]}


def test_other_subjects_are_told_as_they_are() -> None:
    line = agreed()
    line.say(about(Topic.DIAGNOSIS), about(Topic.HOSPITAL_STAY))
    assert "sugar" in line.texts[-1]
    assert "twice" in line.texts[-1].casefold()
    assert [told.item for told in line.turn.told] == ["E11.9", "I50.9", ""]
    line.say(about(Topic.HOUSING))
    assert not line.turn.told[0].present


def test_a_subject_outside_what_was_agreed_is_scope_creep() -> None:
    line = agreed(replace(READY, only=frozenset({Topic.TRANSPORTATION})))
    assert line.consent() is Consent.GIVEN
    assert "rides" in line.texts[-1]
    line.say(about(Topic.TRANSPORTATION))
    assert line.turn.told
    assert not line.turn.marks
    line.say(about(Topic.MEDICATION))
    assert line.turn.marks == (Mark.SCOPE_CREEP,)
    assert not line.turn.told
    line.say(ASK)
    assert line.turn.marks == (Mark.SCOPE_CREEP,)


def test_a_word_about_danger_wants_an_answer_next() -> None:
    for follows, marks in ((Act.ACKNOWLEDGE, (Mark.SAFETY_PASSED_OVER,)), (Act.RESPOND_SAFETY, ())):
        line = agreed()
        line.play(may(Topic.PHQ9), items(Topic.PHQ9, 9), follows)
        assert line.turn.marks == marks
        assert any(told.topic is Topic.SAFETY for told in line.memory.disclosed) == (not marks)
    line = agreed()
    line.play(may(Topic.PHQ9), items(Topic.PHQ9, 9))
    line.say(Act.SUMMARIZE, message="It is perhaps so.")
    assert not line.turn.marks  # what was unsure passes over nothing
    line.say(Act.RESPOND_SAFETY)
    assert not line.turn.marks


def test_who_asks_about_safety_again_is_not_resented() -> None:
    line = agreed()
    line.play(may(Topic.PHQ9), items(Topic.PHQ9, 9), Act.RESPOND_SAFETY, about(Topic.FOOD))
    line.say(Act.RESPOND_SAFETY)
    assert not line.turn.marks
    assert line.turn.told[0].topic is Topic.SAFETY


def test_who_is_told_whom_to_call_and_goodbye_parts() -> None:
    line = agreed()
    line.play(may(Topic.PHQ9), items(Topic.PHQ9, 9), Act.RESPOND_SAFETY, about(Topic.FOOD))
    reply = line.say(Act.RESPOND_SAFETY, Act.CLOSE)
    assert not line.turn.told
    assert reply.stop
    assert line.turn.parting is Parting.FRIENDLY
    other = agreed()
    other.say(Act.RESPOND_SAFETY, Act.CLOSE, message="Are you safe now? Goodbye.")
    assert other.turn.told[0].topic is Topic.SAFETY


def test_who_tells_of_a_danger_only_then_does_not_part() -> None:
    danger = {**READY.tells, Topic.SAFETY: (Disclosure(topic=Topic.SAFETY),)}
    line = agreed(replace(READY, tells=danger))
    line.play(may(Topic.PHQ9), items(Topic.PHQ9, 9))
    assert not line.say(Act.RESPOND_SAFETY, Act.CLOSE).stop
    assert line.say(Act.RESPOND_SAFETY, Act.CLOSE).stop


def test_who_is_asked_something_besides_a_goodbye_stays() -> None:
    line = agreed()
    line.play(may(Topic.PHQ9), items(Topic.PHQ9, 9))
    assert not line.say(Act.RESPOND_SAFETY, Act.CLOSE, about(Topic.FOOD)).stop


def test_who_trusts_a_caller_no_longer_tells_nothing_private() -> None:
    line = agreed(replace(READY, anti_triggers=FORGIVING, trust=-1))
    line.play(Act.PROMISE, Act.INVOLVE_OTHERS, may(Topic.MOOD), items(Topic.PHQ9, 1))
    assert not line.memory.disclosed
    line.play(Act.ACKNOWLEDGE, may(Topic.MOOD), items(Topic.PHQ9, 1))
    assert line.memory.disclosed


def test_who_breaks_off_does_so_before_the_subject_and_for_good() -> None:
    says = "My lawyer said not to talk about that, so I won't go on."
    breaks = Break(
        before=Topic.PHQ9, says=says, reason="wants a lawyer to be asked", kind=BlockedBecause.LEGAL
    )
    line = agreed(replace(READY, breaks=breaks))
    line.say(about(Topic.FOOD))
    assert line.turn.told
    line.say(may(Topic.PHQ9))
    assert says in line.texts[-1]
    assert line.stage() is Stage.BROKEN_OFF
    assert not line.say(about(Topic.HOUSING)).stop
    assert line.say(about(Topic.HOUSING)).stop
    assert line.parting() is Parting.BROKEN_OFF
    assert [told.topic for told in line.memory.disclosed] == [Topic.FOOD]
    line.ring().play(Act.INTRODUCE)
    assert line.say(Act.ACKNOWLEDGE, Act.CLOSE).stop
    assert line.consent() is Consent.GIVEN


def test_what_else_is_taken_is_told_beside_a_medicine_that_is_named() -> None:
    line = agreed()
    line.person = replace(line.person, ears=understand)
    line.say(message="Do you take the metformin, and is there anything you take besides?")
    assert {"metformin 500 mg", "melatonin"} <= {told.item for told in line.turn.told}
    line = agreed()
    line.person = replace(line.person, ears=understand)
    line.say(message="Do you take the metformin?")
    assert {told.item for told in line.turn.told} == {"metformin 500 mg"}


def test_private_subjects_named_with_a_request_for_a_yes_may_be_asked_about() -> None:
    for asked in (Act.REQUEST_CONSENT, may(None)):
        line = agreed()
        heard = Heard((Said(Act.ASK_PERMISSION, Topic.SUBSTANCE_USE, sure=False), _said(asked)))
        line.person = replace(line.person, ears=lambda *_, heard=heard: heard)
        line.say(message="A few questions about alcohol. Are you okay with that?")
        line.person = replace(line.person, ears=hears)
        line.say(about(Topic.SUBSTANCE_USE))
        assert Topic.SUBSTANCE_USE in {told.topic for told in line.turn.told}
        assert not [turn for turn in line.memory.turns if turn.marks]


def _said(asked: Act | Meant) -> Said:
    return Said(meant(asked).act)


def test_whether_somebody_treats_them_is_told_and_kept() -> None:
    line = agreed()
    line.person = replace(line.person, ears=understand)
    line.say(message="May I ask you about your mood?")
    line.say(message="Do you see a therapist or a counselor for your mood?")
    told = Disclosure(topic=Topic.DIAGNOSIS, item=Part.TREATMENT, present=False)
    assert line.turn.told == (told,)
    line.say(message="And you see no counselor about your mood, is that right?")
    assert told in line.memory.disclosed


def test_whether_a_doctor_has_seen_them_since_the_hospital_is_told_and_no_stay() -> None:
    line = agreed(replace(READY, circumstances=READY.circumstances | {Circumstance.FOLLOWED_UP}))
    line.person = replace(line.person, ears=understand)
    line.say(message="Since you left the hospital, have you seen your doctor, or is a visit set?")
    told = Disclosure(topic=Topic.DIAGNOSIS, item=Part.FOLLOW_UP, present=True)
    assert line.turn.told == (told,)
    assert line.texts[-1] in {each.text for each in lines()["follow_up.seen"]}
    other = agreed()
    other.person = replace(other.person, ears=understand)
    other.say(message="Is a follow-up visit with your doctor set up?")
    (told,) = other.turn.told
    key = "follow_up.yes" if told.present else "follow_up.no"
    assert other.texts[-1] in {each.text for each in lines()[key]}


def test_since_when_a_medicine_is_taken_is_no_question_how() -> None:
    line = agreed()
    line.person = replace(line.person, ears=understand)
    line.say(message="How do you take the metformin?")
    line.say(message="And the metformin: what do you take it for, and since when?")
    assert not line.turn.marks
    drug = {each.text.format(drug="Metformin") for each in lines()["medicine.history"]}
    assert line.texts[-1] in drug | {each.replace("Metformin", "metformin") for each in drug}


def test_a_medicine_that_is_not_for_every_day_is_not_told_of_like_one() -> None:
    taken = tuple(
        Disclosure(topic=Topic.MEDICATION, item=name, score=0)
        for name in ("albuterol 2 puffs", "dulaglutide 0.75 mg")
    )
    rhythms = {"albuterol 2 puffs": Rhythm.NEEDED, "dulaglutide 0.75 mg": Rhythm.SELDOM}
    person = replace(READY, tells={Topic.MEDICATION: taken}, rhythms=rhythms)
    for name, drug, key in (
        ("albuterol 2 puffs", "Albuterol", "medicine.needed"),
        ("dulaglutide 0.75 mg", "Dulaglutide", "medicine.seldom"),
    ):
        line = agreed(person)
        line.say(about(Topic.MEDICATION, name))
        able = {each.text.format(drug=drug).casefold() for each in lines()[key]}
        assert line.texts[-1].casefold() in able


def test_what_stands_on_a_label_is_read_out_without_the_rest_said_again() -> None:
    line = agreed(replace(READY, doses={"metformin 500 mg": "500 mg", "ibuprofen": "200 mg"}))
    line.person = replace(line.person, ears=understand)
    line.say(message="How do you take the metformin?")
    line.say(message="And what dose of metformin and ibuprofen do you take?")
    assert not line.turn.marks
    assert "Metformin 500 mg" in line.texts[-1] or "metformin 500 mg" in line.texts[-1]
    assert "buprofen 200 mg" in line.texts[-1]
    missed = {each.text.format(drug="Metformin") for each in lines()["medicine.3"]}
    assert not any(each in line.texts[-1] for each in missed)


@pytest.mark.parametrize(
    ("message", "part"),
    [
        ("Have you had any falls lately?", Part.FALLS),
        ("Any chest pain, or new weakness, since March 20?", Part.SYMPTOMS),
        ("Have you noticed any swelling since you came home from the hospital?", Part.SYMPTOMS),
    ],
)
def test_parts_of_an_illness_are_asked_about_like_a_bad_day(message: str, part: Part) -> None:
    line = agreed()
    line.person = replace(line.person, ears=understand)
    line.say(message=message)
    assert [told.item for told in line.turn.told] == [part]
    assert not line.turn.marks


def test_a_plan_with_whom_to_call_in_danger_is_a_plan() -> None:
    line = agreed()
    line.person = replace(line.person, ears=understand)
    line.say(message="I will call your doctor tomorrow. If your chest hurts, call 911. All right?")
    safe = {each.text for each in lines()["safety.still_no"]}
    assert not any(each in line.texts[-1] for each in safe)


def test_what_worries_them_is_told_beside_something_else() -> None:
    line = agreed(replace(READY, hint="It's a long way.", hint_topic=Topic.TRANSPORTATION))
    line.person = replace(line.person, ears=understand)
    line.say(message="Do you have enough to eat? And what worries you most these days?")
    assert [told.topic for told in line.turn.told] == [Topic.FOOD, Topic.TRANSPORTATION]


def test_who_asks_once_which_of_the_four_it_was_is_told() -> None:
    line = agreed()
    line.play(may(Topic.PHQ9), items(Topic.PHQ9, 1), about(Topic.FOOD))
    first = line.texts[-2]
    line.say(*items(Topic.PHQ9, 1))
    assert not line.turn.marks
    assert line.texts[-1].startswith(first)
    assert "more than half" in line.texts[-1].lower()
    line.say(about(Topic.WORK))
    line.say(*items(Topic.PHQ9, 1))
    assert line.turn.marks == (Mark.ASKED_AGAIN,)


def test_leave_asked_for_along_with_other_questions_is_given_along_with_the_answers() -> None:
    line = agreed()
    line.say(about(Topic.FOOD), may(Topic.SUBSTANCE_USE))
    assert [told.topic for told in line.turn.told] == [Topic.FOOD]
    assert any(line.texts[-1].endswith(each.text) for each in lines()["permission"])
    line.say(about(Topic.SUBSTANCE_USE))
    assert not line.turn.marks
    # What was asked in the same breath needs no leave besides its answer.
    line.say(may(Topic.MOOD), *items(Topic.PHQ9, 2))
    assert not any(each.text in line.texts[-1] for each in lines()["permission"])


def test_safe_is_who_neither_hurts_themselves_nor_is_hurt() -> None:
    """The question may be about either, and the answer must not leave open to which it is one."""
    for each in lines()["safety.no"]:
        assert "safe" in each.text or "nobody" in each.text.lower()


def test_safety_and_self_harm_in_one_breath_are_one_subject() -> None:
    line = agreed()
    line.play(may(Topic.PHQ9), may(Topic.SAFETY))
    line.say(*items(Topic.GAD7, 7), *items(Topic.PHQ9, 9), about(Topic.SAFETY))
    assert Mark.HARVESTING not in line.turn.marks
    line.say(*items(Topic.GAD7, 6), *items(Topic.PHQ9, 1), about(Topic.SAFETY))
    assert Mark.HARVESTING in line.turn.marks


def test_treatment_and_what_mood_keeps_from_are_two_questions_in_one_turn() -> None:
    line = agreed()
    line.person = replace(line.person, ears=understand)
    line.say(message="May I ask about your mood?")
    said = "Is anybody treating you for your nerves? And does your mood keep you from your pills?"
    heard = line.say(message=said)
    assert any(each.text in heard.text for each in lines()["treatment.no"])
    assert any(each.text in heard.text for each in lines()["mood.no"])
    only = line.say(message="Has anyone been treating you for low mood?")
    assert not any(each.text in only.text for each in lines()["mood.no"])


def test_who_is_asked_when_it_suits_says_so_before_they_part() -> None:
    line = agreed()
    line.say(Act.OFFER_CALLBACK, Act.CLOSE)
    assert any(each.text in line.texts[-1] for each in lines()["next.when"])
    assert line.parting() is Parting.FRIENDLY


def test_of_too_many_subjects_those_that_were_left_are_named() -> None:
    line = agreed()
    line.say(*map(about, (Topic.FOOD, Topic.HOUSING, Topic.WORK, Topic.TRANSPORTATION)))
    assert "the rides" in line.texts[-1]


@pytest.mark.parametrize("after_danger", [False, True])
def test_how_often_somebody_thinks_of_dying_is_told_beside_a_word_about_help(
    *, after_danger: bool
) -> None:
    """What is asked as an item is answered as one, so that there is a sum."""
    told = Disclosure(topic=Topic.PHQ9, item="9", score=1)
    line = agreed()
    line.say(may(Topic.PHQ9))
    if after_danger:
        line.say(Act.RESPOND_SAFETY)
        assert [one.topic for one in line.turn.told] == [Topic.SAFETY]
    line.say(Act.RESPOND_SAFETY, *items(Topic.PHQ9, 9))
    assert told in line.turn.told
    line.say(Act.RESPOND_SAFETY)
    assert Mark.SAFETY_PASSED_OVER not in line.memory.turns[-1].marks
