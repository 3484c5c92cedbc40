"""What somebody says who is not won: a clue to what is missing, and each time another."""

from __future__ import annotations

from dataclasses import replace

import pytest

from healthgym.worlds.managed_care.conversation.acts import Act, Heard, Meant, Said
from healthgym.worlds.managed_care.conversation.person import Person
from healthgym.worlds.managed_care.conversation.persona import (
    BlockedBecause,
    Break,
    Circumstance,
    Concern,
    Mark,
    Trigger,
    Willingness,
)
from healthgym.worlds.managed_care.conversation.replies import lines
from healthgym.worlds.managed_care.conversation.talk import STATEMENTS
from healthgym.worlds.managed_care.vocabulary.care import MotivationStage, TriggerKind
from healthgym.worlds.managed_care.voices import Consent, Topic
from tests.worlds.managed_care.conversation.calls import (
    HESITANT,
    OPENING,
    READY,
    ROUND,
    SURELY,
    WHO,
    WINNABLE,
    Line,
    about,
    agreed,
    eases,
    may,
)

ASK = Act.REQUEST_CONSENT
HINT = Trigger(
    kind=TriggerKind.SIGNAL_INFERENCE,
    acts=(Act.ASK_TOPIC, Act.ASK_PERMISSION),
    topic=Topic.TRANSPORTATION,
    after_hint=True,
)


def says(text: str, *keys: str) -> bool:
    """Return whether a line of one of some kinds stands in an answer."""
    return any(line.text in text for key in keys for line in lines()[key])


# -- a question of willingness -------------------------------------------------------------------


def test_who_would_like_to_asks_whether_that_is_the_question() -> None:
    line = Line(READY)
    line.play(*OPENING, Act.ASK_WILLINGNESS)
    assert says(line.texts[-1], "will.straight")
    line.say(Act.ASK_WILLINGNESS)
    assert says(line.texts[-1], "will.straight")
    assert line.consent() is Consent.OPEN
    line.say(ASK)
    assert line.consent() is Consent.GIVEN


@pytest.mark.parametrize("missing", STATEMENTS[2:])
@pytest.mark.parametrize("persona", [READY, HESITANT], ids=["ready", "hesitant"])
def test_who_would_like_to_says_what_was_not_told_before_the_agreement_is_asked_for(
    missing: Act, persona: object
) -> None:
    line = Line(READY if persona is READY else HESITANT)
    told = [act for act in (Act.EXPLAIN_PROGRAM, *STATEMENTS[2:]) if act is not missing]
    line.play(WHO, tuple(told), Act.ASK_WILLINGNESS)
    assert says(line.texts[-1], f"lack.{missing.value}")


# -- what worries somebody -----------------------------------------------------------------------


@pytest.mark.parametrize(
    "turns",
    [
        (Act.ACKNOWLEDGE,),
        (Act.ASK_TOPIC,),
        (Act.ACKNOWLEDGE, about(Topic.TRANSPORTATION)),
        (Act.ASK_TIME, Act.ASK_TOPIC),
    ],
    ids=["reflected", "openly", "in two sentences", "later"],
)
def test_a_hint_can_be_picked_up_in_many_ways(turns: tuple[Act | Meant, ...]) -> None:
    line = Line(replace(HESITANT, triggers=(HINT,), concerns=()))
    line.play(*OPENING, *turns)
    assert line.memory.mind is not None
    assert line.memory.mind.triggers == {0}
    assert any(says(text, "worry.transportation") for text in line.texts)
    assert line.consent() is Consent.OPEN
    line.play(*SURELY)
    assert line.consent() is Consent.GIVEN


def test_a_kind_word_long_after_the_hint_does_not_pick_it_up() -> None:
    line = Line(replace(HESITANT, triggers=(HINT,), concerns=()))
    line.play(*OPENING, Act.OFFER_AUTONOMY, Act.ACKNOWLEDGE)
    assert line.memory.mind is not None
    assert not line.memory.mind.triggers


def test_what_worries_most_is_told_to_whoever_asks_openly() -> None:
    for private in (Topic.MOOD, Topic.TRANSPORTATION, Topic.MEDICATION):
        line = agreed(replace(READY, hint="It's not easy.", hint_topic=private))
        line.say(Act.ASK_HESITATION)
        assert says(line.texts[-1], f"worry.{private.value}")
        assert not line.turn.marks
        assert not [told for told in line.turn.told if told.topic is Topic.MOOD]


def test_a_worry_that_is_named_before_the_agreement_is_told_and_may_be_asked_about_once() -> None:
    line = Line(replace(READY, hint="It's a long way.", hint_topic=Topic.TRANSPORTATION))
    line.play(*OPENING)
    assert not line.memory.disclosed  # a hint tells nothing yet
    line.say(about(Topic.TRANSPORTATION))
    assert [told.topic for told in line.memory.disclosed] == [Topic.TRANSPORTATION]
    line.say(ASK)
    assert line.consent() is Consent.GIVEN
    line.say(about(Topic.TRANSPORTATION))  # what it is like
    assert not line.turn.marks
    line.play(about(Topic.FOOD), about(Topic.TRANSPORTATION))
    assert line.turn.marks == (Mark.ASKED_AGAIN,)


def test_a_barrier_at_which_they_break_off_is_not_told_by_its_name() -> None:
    breaks = Break(
        before=Topic.TRANSPORTATION, says="No more.", reason="ill", kind=BlockedBecause.ILL
    )
    line = Line(replace(HESITANT, breaks=breaks))
    line.play(*OPENING, about(Topic.TRANSPORTATION))
    assert line.memory.mind is not None
    assert line.memory.mind.worried
    assert not line.memory.disclosed


@pytest.mark.parametrize("worry", [Topic.MEDICATION, Topic.DIAGNOSIS, Topic.FOOD])
def test_a_worry_that_is_no_barrier_of_theirs_tells_nothing(worry: Topic) -> None:
    line = Line(replace(HESITANT, hint_topic=worry))
    line.play(*OPENING, about(worry))
    assert line.memory.mind is not None
    assert line.memory.mind.worried
    assert not line.memory.disclosed


# -- clues ---------------------------------------------------------------------------------------


def test_nobody_stays_where_they_are_without_saying_why() -> None:
    waits = Trigger(kind=TriggerKind.PERSONA_JUDGMENT, acts=(Act.EXPLAIN_BENEFIT,))
    line = Line(replace(HESITANT, triggers=(waits,), hint="", trust=0))
    line.play(*OPENING, Act.ASK_WILLINGNESS)
    assert says(line.texts[-1], "hint.cost")
    line.say(Act.GREET)
    assert says(line.texts[-1], "told.cost")
    line.say(Act.OFFER_AUTONOMY)
    assert says(line.texts[-1], "still.cost")
    line.say(eases(Concern.COST))
    assert says(line.texts[-1], "settled")
    assert says(line.texts[-1], "wish.explain_benefit")
    line.say(Act.EXPLAIN_BENEFIT)
    line.say(Act.ASK_HESITATION)
    assert says(line.texts[-1], "ready")


def test_asked_the_same_way_again_and_again_nobody_answers_twice_alike() -> None:
    for turn in (Act.ASK_WILLINGNESS, Act.ASK_HESITATION, Act.ACKNOWLEDGE, Act.GREET):
        for persona in (READY, HESITANT):
            line = Line(replace(persona, anti_triggers=frozenset()))
            line.play(*OPENING, *[turn] * 8)
            assert len(set(line.texts)) == len(line.texts)


def test_a_question_after_what_was_missing_was_made_good_is_no_further_version() -> None:
    waits = Trigger(kind=TriggerKind.PERSONA_JUDGMENT, acts=(Act.EXPLAIN_BENEFIT,))
    persona = replace(HESITANT, triggers=(waits,), hint="")
    line = Line(persona)
    line.play(*OPENING, ASK, eases(Concern.COST), ASK, Act.EXPLAIN_BENEFIT, *SURELY)
    assert line.consent() is Consent.GIVEN
    # What was made good counts for the third question as well: the handbook, "when they hesitate".
    line = Line(persona)
    line.play(*OPENING, ASK, ASK, eases(Concern.COST), Act.EXPLAIN_BENEFIT, *SURELY)
    assert line.consent() is Consent.GIVEN
    line = Line(persona)
    line.play(*OPENING, ASK, ASK, ASK)
    assert line.consent() is Consent.REFUSED


def test_a_worry_is_eased_by_the_statement_that_answers_it() -> None:
    waits = Trigger(
        kind=TriggerKind.PERSONA_JUDGMENT, acts=(Act.ANSWER_CONCERN,), concern=Concern.COST
    )
    line = Line(replace(HESITANT, triggers=(waits,)))
    line.play(*OPENING, Act.ASK_HESITATION, Act.EXPLAIN_VOLUNTARY, *SURELY)
    assert line.consent() is Consent.GIVEN


# -- a no ----------------------------------------------------------------------------------------


def test_the_reason_of_a_no_is_what_is_left() -> None:
    line = Line(WINNABLE)
    line.play(*OPENING, Act.ASK_WILLINGNESS)
    assert says(line.texts[-1], "no.too_many_calls")
    line = Line(WINNABLE)
    line.play(*OPENING, Act.ASK_HESITATION, eases(Concern.TOO_MANY_CALLS), Act.ASK_WILLINGNESS)
    assert line.consent() is Consent.REFUSED
    assert says(line.texts[-1], "no.first")
    line.play((Act.ACKNOWLEDGE, Act.ASK_HESITATION), Act.OFFER_AUTONOMY, ASK)
    assert line.consent() is Consent.GIVEN


def test_what_is_left_of_a_no_is_said_before_it_is_asked_again() -> None:
    waits = Trigger(kind=TriggerKind.PERSONA_JUDGMENT, acts=(Act.EXPLAIN_BENEFIT,))
    line = Line(replace(WINNABLE, triggers=(waits,)))
    line.play(*OPENING, Act.ASK_WILLINGNESS, *ROUND)
    assert says(line.texts[-1], "wish.explain_benefit")
    line.say(Act.ACKNOWLEDGE, Act.EXPLAIN_BENEFIT)
    assert not line.turn.marks
    line.say(ASK)
    assert line.consent() is Consent.GIVEN


def test_who_refuses_for_good_gives_no_clue() -> None:
    line = Line(replace(READY, willingness=Willingness.REFUSES, concerns=(Concern.COST,)))
    line.play(*OPENING, Act.ASK_WILLINGNESS, Act.ACKNOWLEDGE, Act.OFFER_MATERIAL)
    clues = [key for key in lines() if key.startswith(("wish.", "still.", "lack.", "hint."))]
    assert not says(line.texts[-1] + line.texts[-2], "ready", "aloof", *clues)


# -- readiness, and how somebody lives -----------------------------------------------------------


def test_what_somebody_means_to_do_is_told_with_the_agreement_and_when_asked() -> None:
    line = agreed(replace(READY, readiness=MotivationStage.PREPARATION))
    assert says(line.texts[-1], "readiness.preparation")
    line.say(Act.ASK_WILLINGNESS)
    assert says(line.texts[-1], "readiness.preparation")
    # Unasked it is said once in a call: nobody recites it after each answer.
    line.say(about(Topic.DIAGNOSIS))
    assert not says(line.texts[-1], "readiness.preparation")


def test_how_ready_they_feel_is_answered_along_with_a_subject() -> None:
    line = agreed(replace(READY, readiness=MotivationStage.CONTEMPLATION))
    line.say(about(Topic.TRANSPORTATION), Act.ASK_WILLINGNESS)
    assert says(line.texts[-1], "readiness.contemplation")
    assert [told.topic for told in line.turn.told] == [Topic.TRANSPORTATION]
    line.say(may(Topic.SUBSTANCE_USE), Act.ASK_WILLINGNESS)
    assert says(line.texts[-1], "readiness.contemplation")
    line.say(about(Topic.DIAGNOSIS), Act.ASK_WILLINGNESS)
    said = sum(each.text in line.texts[-1] for each in lines()["readiness.contemplation"])
    assert said == 1
    line.say(*map(about, (Topic.FOOD, Topic.HOUSING, Topic.WORK)), Act.ASK_WILLINGNESS)
    assert "what I mean to do" in line.texts[-1]  # three subjects are the most


def test_what_is_said_of_a_life_fits_it() -> None:
    for life, never in (
        (Circumstance.WORKING, "retired"),
        (Circumstance.HUSBAND, "My wife"),
        (Circumstance.WIFE, "My husband"),
    ):
        for seed in range(40):
            line = agreed(replace(READY, circumstances=frozenset({life}), seed=seed))
            line.say(about(Topic.WORK), about(Topic.CAREGIVER))
            assert never not in line.texts[-1]


def test_their_own_words_said_back_pick_up_a_hint_whatever_else_is_understood() -> None:
    hint = "My ride fell through the last time."
    persona = replace(HESITANT, triggers=(HINT,), concerns=(), hint=hint)
    for words, heard in (
        ("You said that your ride fell through, perhaps?", True),
        ("You talk about the last time, perhaps.", False),
    ):
        line = Line(persona)
        line.play(*OPENING, Act.OFFER_AUTONOMY)
        line.say(Act.ASK_TOPIC, message=words)
        assert says(line.texts[-1], "worry.transportation") == heard
        assert line.memory.mind is not None
        assert bool(line.memory.mind.triggers) == heard


def test_a_vague_question_right_after_a_hint_is_about_it() -> None:
    line = Line(replace(HESITANT, triggers=(HINT,), concerns=()))
    line.play(*OPENING)
    doubtful = Heard((Said(Act.ACKNOWLEDGE), Said(Act.ASK_TOPIC, sure=False)))
    reply = Person(persona=line.person.persona, ears=lambda *_: doubtful).reply("Oh.", line.memory)
    assert says(reply.text, "worry.transportation")
