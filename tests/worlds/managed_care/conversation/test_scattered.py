"""Answers to every worry there is answer none."""

from __future__ import annotations

import pytest

from healthgym.worlds.managed_care.conversation.acts import Act, Meant
from healthgym.worlds.managed_care.conversation.persona import INTRODUCED, Concern
from healthgym.worlds.managed_care.voices import Consent
from tests.worlds.managed_care.conversation.calls import (
    HESITANT,
    OPENING,
    SURELY,
    TERMS,
    Line,
    eases,
)

OTHERS = [each for each in Concern if each is not Concern.COST]
EVERY = (eases(Concern.COST), *map(eases, OTHERS[:4]))


def asked() -> Line:
    """Return a call in which somebody has told that they worry about the cost."""
    line = Line(HESITANT)
    line.play(*OPENING, Act.ASK_WILLINGNESS, Act.ASK_HESITATION)
    mind = line.memory.mind
    assert mind is not None
    assert mind.voiced == {Concern.COST}
    return line


def answered(line: Line) -> bool:
    mind = line.memory.mind
    return mind is not None and Concern.COST in mind.answered


def test_who_answers_all_at_once_is_not_heard_and_loses_a_turn() -> None:
    line = asked()
    line.say(*EVERY)
    assert not answered(line)
    assert not line.turn.marks
    line.say(eases(Concern.COST))
    assert answered(line)
    line.play(*SURELY)
    assert line.consent() is Consent.GIVEN


@pytest.mark.parametrize("beside", [0, 1, 2])
def test_some_reassurance_beside_the_matter_is_no_harm(beside: int) -> None:
    line = asked()
    line.say(eases(Concern.COST), *map(eases, OTHERS[:beside]))
    assert answered(line)


def test_who_scatters_them_over_messages_is_not_heard_either() -> None:
    line = asked()
    line.say(*map(eases, OTHERS[:2]))
    line.say(*map(eases, OTHERS[2:4]))
    line.say(eases(Concern.COST), eases(OTHERS[4]))
    assert not answered(line)
    line.say(eases(Concern.COST))
    assert answered(line)


def test_what_everybody_is_told_before_they_are_asked_counts_for_nothing() -> None:
    others = sorted(INTRODUCED - {Concern.COST})
    line = Line(HESITANT)
    line.play(OPENING[0], (Act.EXPLAIN_PROGRAM, *TERMS, *map(eases, others)))
    line.play(Act.ASK_WILLINGNESS, Act.ASK_HESITATION)
    line.say(eases(Concern.COST), eases(Concern.TIME))
    assert answered(line)


def test_after_the_question_it_counts_again() -> None:
    line = asked()
    for each in sorted(INTRODUCED - {Concern.COST}):
        line.say(eases(each))
    line.say(eases(Concern.COST), eases(Concern.TIME))
    assert not answered(line)


def test_unasked_nothing_is_answered() -> None:
    line = Line(HESITANT)
    line.play(*OPENING, (Meant(act=Act.ACKNOWLEDGE), eases(Concern.COST)))
    assert not answered(line)
