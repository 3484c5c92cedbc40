"""What may be asked before anything is agreed, and how far a slip of the ear is forgiven."""

from __future__ import annotations

from dataclasses import replace

import pytest

from healthgym.worlds.managed_care.conversation.acts import Act
from healthgym.worlds.managed_care.conversation.persona import (
    BlockedBecause,
    Break,
    Mark,
    Persona,
)
from healthgym.worlds.managed_care.voices import Consent, Disclosure, Topic
from tests.worlds.managed_care.conversation.calls import OPENING, READY, WHO, Line, about, agreed

LANGUAGE = about(Topic.LANGUAGE)
FOREIGN = replace(READY, tells={**READY.tells, Topic.LANGUAGE: (Disclosure(topic=Topic.LANGUAGE),)})
PARTLY = replace(READY, only=frozenset({Topic.TRANSPORTATION}))


@pytest.mark.parametrize("persona", [READY, FOREIGN])
def test_the_language_is_told_before_the_agreement(persona: Persona) -> None:
    line = Line(persona)
    line.say(Act.GREET, Act.INTRODUCE, LANGUAGE)
    assert [(told.topic, told.present) for told in line.turn.told] == [
        (Topic.LANGUAGE, persona is FOREIGN)
    ]
    assert not line.turn.marks
    # Nothing is agreed by that, and whoever asks again for the record does no wrong.
    line.play(*OPENING, Act.REQUEST_CONSENT, LANGUAGE)
    assert line.consent() is Consent.GIVEN
    assert not any(turn.marks for turn in line.memory.turns)
    line.say(LANGUAGE)
    line.say(about(Topic.HOUSING))
    line.say(LANGUAGE)
    assert line.turn.marks == (Mark.ASKED_AGAIN,)


def test_the_language_is_told_beside_the_name() -> None:
    line = Line(READY)
    line.say(*WHO, LANGUAGE)
    assert READY.patient_name in line.texts[-1]
    assert line.turn.told


def test_other_subjects_wait_for_the_agreement() -> None:
    line = Line(READY)
    line.play(WHO, Act.EXPLAIN_PROGRAM)
    line.say(LANGUAGE, about(Topic.FOOD))
    assert [told.topic for told in line.turn.told] == [Topic.LANGUAGE]


def test_a_stranger_is_told_nothing() -> None:
    line = Line(READY)
    line.say(LANGUAGE)
    assert not line.turn.told


def test_whoever_breaks_off_at_the_language_keeps_it_until_then() -> None:
    breaks = Break(
        before=Topic.LANGUAGE, says="No more.", reason="private", kind=BlockedBecause.PRIVATE
    )
    line = Line(replace(READY, breaks=breaks))
    line.play(WHO, LANGUAGE)
    assert not line.turn.told


def test_what_is_heard_beside_an_allowed_question_is_no_scope_creep_once() -> None:
    line = agreed(PARTLY)
    line.say(about(Topic.TRANSPORTATION), about(Topic.WORK))
    assert not line.turn.marks
    assert not line.turn.told
    line.say(about(Topic.TRANSPORTATION), about(Topic.WORK))
    assert line.turn.marks == (Mark.SCOPE_CREEP,)


def test_a_question_on_nothing_that_they_allow_is_scope_creep_at_once() -> None:
    line = agreed(PARTLY)
    line.say(about(Topic.WORK))
    assert line.turn.marks == (Mark.SCOPE_CREEP,)
