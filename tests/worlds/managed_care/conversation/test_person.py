"""The person on the phone: who is told what, when somebody agrees, and what is not forgiven."""

from __future__ import annotations

from dataclasses import replace

import pytest

from healthgym.worlds.managed_care.conversation.acts import Act, Meant
from healthgym.worlds.managed_care.conversation.mind import Stage, Supposed
from healthgym.worlds.managed_care.conversation.persona import (
    Concern,
    Mark,
    Trigger,
)
from healthgym.worlds.managed_care.conversation.replies import lines
from healthgym.worlds.managed_care.conversation.talk import STATEMENTS
from healthgym.worlds.managed_care.vocabulary.care import TriggerKind
from healthgym.worlds.managed_care.voices import Consent, Topic
from tests.worlds.managed_care.conversation.calls import (
    HESITANT,
    OPENING,
    READY,
    SURELY,
    TERMS,
    WHO,
    Line,
    about,
    eases,
    items,
    named,
)

ASK = Act.REQUEST_CONSENT


# -- who is calling ------------------------------------------------------------------------------


def test_a_name_is_given_only_to_somebody_who_said_theirs() -> None:
    line = Line(READY)
    assert "Duarte" not in line.say(Act.VERIFY_IDENTITY).text
    assert "Duarte" not in line.say(Act.GREET, Act.INTRODUCE).text
    assert line.stage() is Stage.UNKNOWN
    reply = line.say(Act.VERIFY_IDENTITY)
    assert "Anselmo Duarte" in reply.text
    assert "ninth of May, 1952" in reply.text
    assert line.stage() is Stage.IDENTIFIED


def test_who_asks_about_health_first_is_asked_who_they_are() -> None:
    line = Line(READY)
    line.say(about(Topic.MEDICATION))
    assert line.turn.marks == (Mark.HEALTH_BEFORE_IDENTITY,)
    assert not line.memory.disclosed
    assert "who" in line.texts[0].casefold()
    line = Line(READY)
    line.play(Act.INTRODUCE, items(Topic.PHQ9, 1))
    assert line.turn.marks == (Mark.HEALTH_BEFORE_IDENTITY,)
    line = Line(READY)
    line.say(about(Topic.WORK))
    assert not line.turn.marks


def test_a_private_fact_is_not_named_before_identity_and_purpose() -> None:
    line = Line(READY)
    line.say(Act.INTRODUCE, named(Topic.MOOD))
    assert set(line.turn.marks) == {Mark.PRIVACY, Mark.HEALTH_BEFORE_IDENTITY}
    line = Line(READY)
    line.play(WHO, named(Topic.SUBSTANCE_USE))
    assert line.turn.marks == (Mark.PRIVACY,)
    line = Line(READY)
    line.play(*OPENING, named(Topic.SUBSTANCE_USE))
    assert not line.turn.marks


def test_who_fears_a_scam_wants_a_number_first() -> None:
    wary = replace(READY, concerns=(Concern.SCAM,))
    for proof in (Act.OFFER_CALLBACK, eases(Concern.SCAM)):
        line = Line(wary)
        assert "Duarte" not in line.play(WHO).text
        assert line.memory.mind is not None
        assert Concern.SCAM in line.memory.mind.voiced
        assert "Duarte" in line.play(proof).text
        assert line.stage() is Stage.IDENTIFIED


def test_asked_for_the_name_twice_in_a_call_is_asked_again() -> None:
    line = Line(READY)
    line.play(WHO, Act.VERIFY_IDENTITY)
    assert not line.turn.marks  # right away it makes sure
    line.play(Act.EXPLAIN_BENEFIT, Act.VERIFY_IDENTITY)
    assert line.turn.marks == (Mark.ASKED_AGAIN,)
    line.ring().play(WHO)
    assert not line.turn.marks
    assert "Duarte" in line.texts[-1]


def test_a_known_caller_is_recognized_in_the_next_call() -> None:
    line = Line(READY)
    line.play(*OPENING, ASK, Act.CLOSE)
    line.ring().say(about(Topic.FOOD))
    assert not line.memory.disclosed  # a voice without a name, so far
    line.say(about(Topic.FOOD))
    assert [told.topic for told in line.memory.disclosed] == [Topic.FOOD]


# -- agreeing ------------------------------------------------------------------------------------


def test_who_is_ready_agrees_when_all_was_said_and_it_is_asked() -> None:
    line = Line(READY)
    line.play(*OPENING, Act.ASK_WILLINGNESS)
    assert line.consent() is Consent.OPEN
    assert line.stage() is Stage.INVITED
    line.say(ASK)
    assert line.consent() is Consent.GIVEN
    assert line.stage() is Stage.AGREED
    line.say(ASK)
    assert line.consent() is Consent.GIVEN
    assert not line.turn.marks


@pytest.mark.parametrize("missing", STATEMENTS)
def test_nobody_agrees_while_a_statement_is_missing(missing: Act) -> None:
    line = Line(READY)
    given = [act for act in (*TERMS, Act.EXPLAIN_PROGRAM) if act is not missing]
    if missing is Act.INTRODUCE:
        line.say(*given, ASK)
    else:
        line.play(WHO, tuple(given), ASK, ASK, ASK)
    assert line.consent() is Consent.OPEN
    line.play(WHO, missing, ASK)
    assert line.consent() is Consent.GIVEN


def test_who_hesitates_hints_then_tells_then_supposes_and_agrees_when_asked_about_it() -> None:
    line = Line(HESITANT)
    line.play(WHO, (Act.EXPLAIN_PROGRAM, *TERMS))
    assert "go out much" in line.texts[-1]
    line.say(ASK)
    assert line.stage() is Stage.INVITED
    line.play(Act.ASK_HESITATION, eases(Concern.COST), ASK)
    assert line.memory.mind is not None
    assert line.memory.mind.supposed is Supposed.SAID
    assert line.consent() is Consent.OPEN
    line.say(Act.ASK_HESITATION)
    assert line.consent() is Consent.OPEN
    line.say(ASK)
    assert line.consent() is Consent.GIVEN


def test_a_suppose_so_that_is_not_asked_about_never_becomes_a_yes() -> None:
    line = Line(HESITANT)
    line.play(*OPENING, Act.ASK_HESITATION, eases(Concern.COST), ASK, ASK)
    assert line.consent() is Consent.OPEN
    line.play(ASK, ASK)
    assert line.consent() is Consent.REFUSED


def test_the_third_version_of_the_offer_is_refused_for_good() -> None:
    line = Line(HESITANT)
    line.play(*OPENING, ASK, ASK, ASK)
    assert line.stage() is Stage.REFUSED_FOR_GOOD


def test_who_said_that_they_can_be_asked_does_not_mind_being_asked() -> None:
    line = Line(HESITANT)
    line.play(*OPENING, ASK, ASK, Act.ASK_HESITATION, eases(Concern.COST))
    assert line.memory.mind is not None
    assert line.memory.mind.invited
    line.say(ASK)
    assert line.stage() is Stage.INVITED
    line.play(ASK, ASK)
    assert line.stage() is Stage.REFUSED_FOR_GOOD


def test_who_is_heard_tells_what_slipped_out() -> None:
    line = Line(HESITANT)
    line.play(*OPENING, Act.ASK_WILLINGNESS, Act.ACKNOWLEDGE)
    assert line.memory.mind is not None
    assert line.memory.mind.voiced == {Concern.COST}


def test_the_answer_to_another_worry_answers_nothing() -> None:
    line = Line(HESITANT)
    line.play(*OPENING, Act.ASK_HESITATION, eases(Concern.TIME), *SURELY)
    assert line.consent() is not Consent.GIVEN


@pytest.mark.parametrize(
    ("trigger", "pull"),
    [
        (Trigger(kind=TriggerKind.BASIC_RAPPORT, acts=(Act.ACKNOWLEDGE,)), (Act.ACKNOWLEDGE,)),
        (
            Trigger(
                kind=TriggerKind.SIGNAL_INFERENCE,
                acts=(Act.ASK_TOPIC,),
                topic=Topic.TRANSPORTATION,
                after_hint=True,
            ),
            (about(Topic.TRANSPORTATION),),
        ),
        (
            Trigger(
                kind=TriggerKind.PERSONA_JUDGMENT,
                acts=(Act.ANSWER_CONCERN,),
                concern=Concern.PRIVACY,
            ),
            (Act.ASK_HESITATION, eases(Concern.PRIVACY)),
        ),
    ],
    ids=lambda value: value.kind if isinstance(value, Trigger) else "",
)
def test_nobody_agrees_before_each_trigger(trigger: Trigger, pull: tuple[Act | Meant, ...]) -> None:
    concerns = (Concern.COST, Concern.PRIVACY)
    persona = replace(HESITANT, triggers=(trigger,), concerns=concerns)
    before = (*OPENING, Act.ASK_HESITATION, eases(Concern.COST))
    line = Line(persona)
    line.play(*before, *SURELY)
    assert line.consent() is not Consent.GIVEN
    line = Line(persona)
    line.play(*before, *pull, *SURELY)
    assert line.consent() is Consent.GIVEN


def test_what_somebody_waits_for_is_let_slip() -> None:
    waits = Trigger(kind=TriggerKind.PERSONA_JUDGMENT, acts=(Act.EXPLAIN_BENEFIT,))
    said = {line.text for line in lines()["wish.explain_benefit"]}
    for turns in (ASK, Act.ASK_HESITATION):
        line = Line(replace(HESITANT, triggers=(waits,), hint=""))
        line.play(*OPENING, Act.ASK_HESITATION, eases(Concern.COST), turns)
        assert any(text in line.texts[-1] for text in said)


def test_a_hint_is_picked_up_only_after_it_was_given() -> None:
    trigger = Trigger(
        kind=TriggerKind.SIGNAL_INFERENCE,
        acts=(Act.ASK_TOPIC,),
        topic=Topic.TRANSPORTATION,
        after_hint=True,
    )
    line = Line(replace(HESITANT, triggers=(trigger,)))
    line.play(WHO, about(Topic.TRANSPORTATION))
    assert line.memory.mind is not None
    assert not line.memory.mind.triggers
    line.play(OPENING[1], about(Topic.TRANSPORTATION))
    assert line.memory.mind.triggers == {0}
    assert [told.topic for told in line.memory.disclosed] == [Topic.TRANSPORTATION]


def test_somebody_who_distrusts_does_not_agree() -> None:
    line = Line(replace(HESITANT, trust=-2))
    line.play(*OPENING, Act.ASK_HESITATION, eases(Concern.COST), *SURELY)
    assert line.consent() is not Consent.GIVEN
    line = Line(replace(HESITANT, trust=-2))
    line.play(*OPENING, Act.ACKNOWLEDGE, Act.ASK_HESITATION, eases(Concern.COST), *SURELY)
    assert line.consent() is Consent.GIVEN
