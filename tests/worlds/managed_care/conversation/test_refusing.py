"""What a person does who refuses, and what is never forgiven."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest

from healthgym.worlds.managed_care.conversation.acts import Act, Meant
from healthgym.worlds.managed_care.conversation.manners import AGAIN
from healthgym.worlds.managed_care.conversation.mind import Parting, Stage
from healthgym.worlds.managed_care.conversation.persona import (
    Concern,
    Mark,
    Willingness,
)
from healthgym.worlds.managed_care.conversation.replies import lines
from healthgym.worlds.managed_care.voices import Consent
from tests.worlds.managed_care.conversation.calls import (
    HESITANT,
    OPENING,
    READY,
    REFUSING,
    ROUND,
    WINNABLE,
    Line,
    agreed,
    eases,
)

ASK = Act.REQUEST_CONSENT


def as_turn(turn: object) -> tuple[object, ...]:
    """Return what a message does, also where it is one thing."""
    return turn if isinstance(turn, tuple) else (turn,)


FORGIVING = frozenset[Mark]()


# -- refusing ------------------------------------------------------------------------------------


def test_a_refusal_with_a_reason_is_won_by_the_round_and_one_question() -> None:
    line = Line(WINNABLE)
    line.play(*OPENING, Act.ASK_WILLINGNESS)
    assert line.consent() is Consent.REFUSED
    assert line.stage() is Stage.REFUSED
    line.play(*ROUND)
    assert line.consent() is Consent.REFUSED
    assert not line.turn.marks
    line.say(ASK)
    assert line.consent() is Consent.GIVEN


def test_what_would_you_like_to_know_is_no_offer() -> None:
    line = Line(WINNABLE)
    line.play(*OPENING, Act.ASK_WILLINGNESS, (Act.ASK_HESITATION, Act.ASK_WILLINGNESS))
    assert not line.turn.marks
    assert line.stage() is Stage.REFUSED


def test_willingness_is_no_agreement_however_often_it_is_asked() -> None:
    line = Line(READY)
    line.play(*OPENING, Act.ASK_WILLINGNESS, Act.ASK_WILLINGNESS, Act.ASK_WILLINGNESS)
    assert line.consent() is Consent.OPEN


def test_a_worry_is_answered_only_once_it_shows() -> None:
    line = Line(HESITANT)
    line.play(*OPENING, eases(Concern.COST), ASK)
    assert line.memory.mind is not None
    assert not line.memory.mind.answered
    assert line.memory.mind.slipped == {Concern.COST}
    line.say(eases(Concern.COST))
    assert line.memory.mind.answered == {Concern.COST}


def test_it_can_be_won_on_the_second_call() -> None:
    line = Line(WINNABLE)
    line.play(*OPENING, Act.ASK_WILLINGNESS, *ROUND[:1], Act.CLOSE)
    assert line.parting() is Parting.FRIENDLY
    line.ring().play(Act.INTRODUCE, *ROUND[1:], ASK)
    assert line.consent() is Consent.GIVEN


@pytest.mark.parametrize("left_out", range(len(ROUND) + 1))
def test_a_round_that_lacks_something_wins_nobody(left_out: int) -> None:
    line = Line(WINNABLE)
    met = [(Act.ACKNOWLEDGE,), (Act.ASK_HESITATION,), *ROUND[1:]]
    del met[left_out]
    line.play(*OPENING, Act.ASK_WILLINGNESS, *met, ASK)
    assert line.consent() is Consent.REFUSED
    never_asked = Act.ASK_HESITATION not in {one for turn in met for one in as_turn(turn)}
    assert line.turn.marks == ((Mark.REFRAMING,) if never_asked else ())
    line.say(ASK)
    assert line.turn.marks == (Mark.REFRAMING,)
    assert line.stage() is Stage.REFUSED_FOR_GOOD


def test_what_was_left_out_of_the_round_can_be_made_good() -> None:
    line = Line(WINNABLE)
    line.play(*OPENING, Act.ASK_WILLINGNESS, ROUND[0], ASK, *ROUND[1:], ASK)
    assert line.consent() is Consent.GIVEN


@pytest.mark.parametrize("again", [Act.EXPLAIN_BENEFIT, Act.EXPLAIN_PROGRAM, Act.ASK_WILLINGNESS])
def test_the_same_offer_after_a_refusal_is_reframing(again: Act) -> None:
    line = Line(WINNABLE)
    line.play(*OPENING, Act.ASK_WILLINGNESS, again)
    assert line.turn.marks == (Mark.REFRAMING,)


def test_an_explanation_after_a_worry_was_told_is_no_reframing() -> None:
    line = Line(WINNABLE)
    line.play(*OPENING, Act.ASK_WILLINGNESS, Act.EXPLAIN_PROGRAM)
    assert line.turn.marks == (Mark.REFRAMING,)
    line = Line(WINNABLE)
    line.play(*OPENING, Act.ASK_WILLINGNESS, ROUND[0], Act.EXPLAIN_PROGRAM)
    assert not line.turn.marks
    line.play(*ROUND[1:], ASK)
    assert line.consent() is Consent.GIVEN


def test_who_forgives_reframing_hangs_up_at_the_second() -> None:
    line = Line(replace(WINNABLE, anti_triggers=FORGIVING))
    line.play(*OPENING, Act.ASK_WILLINGNESS, Act.EXPLAIN_BENEFIT)
    assert line.stage() is Stage.REFUSED
    assert line.parting() is None
    reply = line.say(ASK)
    assert reply.stop
    assert line.parting() is Parting.REFUSING
    assert line.stage() is Stage.REFUSED_FOR_GOOD


def test_what_makes_them_refuse_may_be_asked_once() -> None:
    line = Line(WINNABLE)
    line.play(*OPENING, Act.ASK_WILLINGNESS, Act.ASK_HESITATION)
    before = line.turn.trust
    line.say(Act.ASK_HESITATION)
    assert line.turn.trust == before - 1
    assert not line.turn.marks


def test_who_refuses_says_no_twice_and_the_call_ends_well_if_thanked() -> None:
    line = Line(REFUSING)
    line.play(*OPENING, Act.ASK_WILLINGNESS)
    assert line.stage() is Stage.REFUSED
    line.say(Act.ASK_HESITATION)
    assert line.stage() is Stage.REFUSED_FOR_GOOD
    assert not line.turn.marks
    assert line.say(Act.ACCEPT_REFUSAL).stop
    assert line.parting() is Parting.FRIENDLY
    assert line.consent() is Consent.REFUSED


def test_nothing_wins_who_refuses() -> None:
    line = Line(REFUSING)
    line.play(*OPENING, Act.ASK_WILLINGNESS, Act.ACKNOWLEDGE, Act.OFFER_AUTONOMY, ASK)
    assert line.turn.marks == (Mark.REFRAMING,)
    assert line.say(ASK).stop
    line.ring().say(Act.INTRODUCE)
    assert line.stage() is Stage.REFUSED_FOR_GOOD
    assert line.say(ASK).stop


def test_a_no_for_good_to_a_second_check_of_identity_tells_nothing_to_ask_about() -> None:
    low = replace(HESITANT, anti_triggers=frozenset({Mark.ASKED_AGAIN}))
    line = Line(low)
    line.play(*OPENING, Act.VERIFY_IDENTITY, Act.EXPLAIN_BENEFIT)
    line.say(Act.VERIFY_IDENTITY, ASK)
    assert line.stage() is Stage.REFUSED_FOR_GOOD
    slips = [each.text for key, told in lines().items() if key.startswith("hint.") for each in told]
    assert not any(slip in line.texts[-1] for slip in (*slips, low.hint))


def test_why_may_be_asked_once_of_whoever_has_refused_for_good_by_a_mark() -> None:
    line = Line(replace(READY, anti_triggers=frozenset({Mark.ASKED_AGAIN})))
    line.play(*OPENING, Act.VERIFY_IDENTITY, Act.EXPLAIN_BENEFIT)
    line.say(Act.VERIFY_IDENTITY)
    assert line.stage() is Stage.REFUSED_FOR_GOOD
    line.say(Act.ASK_HESITATION)
    assert not line.turn.marks
    line.say(Act.ASK_HESITATION)
    assert line.turn.marks == (Mark.REFRAMING,)
    assert line.parting() is Parting.REFUSING


def test_who_was_asked_why_and_then_refused_for_good_is_not_asked_again() -> None:
    line = Line(REFUSING)
    line.play(*OPENING, Act.ASK_WILLINGNESS, Act.ASK_HESITATION, Act.ASK_HESITATION)
    assert line.turn.marks == (Mark.REFRAMING,)


def test_who_supposes_so_and_is_told_that_they_sound_unsure_says_why() -> None:
    line = Line(replace(HESITANT, concerns=(), hint=""))
    line.play(*OPENING, ASK)
    assert any(each.text in line.texts[-1] for each in lines()["suppose"])
    reply = line.say(Act.ASK_HESITATION, message="You sound unsure, perhaps.")
    assert any(each.text in reply.text for each in lines()["worry"])
    line.say(ASK)
    assert line.consent() is Consent.GIVEN


# -- doing wrong ---------------------------------------------------------------------------------

WRONGS: Mapping[Mark, Act] = {
    Mark.PRESSURE: Act.PRESSURE,
    Mark.PROMISE: Act.PROMISE,
    Mark.THIRD_PARTY: Act.INVOLVE_OTHERS,
}


@pytest.mark.parametrize("mark", WRONGS)
def test_a_wrong_costs_trust_and_for_who_does_not_forgive_it_the_consent(mark: Mark) -> None:
    line = Line(replace(READY, anti_triggers=FORGIVING))
    line.play(*OPENING, WRONGS[mark])
    assert line.turn.marks == (mark,)
    assert line.turn.trust < 0
    line.say(ASK)
    assert line.consent() is Consent.GIVEN
    line = Line(replace(READY, anti_triggers=frozenset({mark})))
    line.play(*OPENING, WRONGS[mark])
    assert line.stage() is Stage.REFUSED_FOR_GOOD
    line.say(ASK)
    assert line.consent() is Consent.REFUSED


def test_a_question_that_is_asked_with_pressure_is_not_answered() -> None:
    line = Line(replace(READY, anti_triggers=FORGIVING))
    line.play(*OPENING, (Act.PRESSURE, ASK))
    assert line.consent() is Consent.OPEN


def test_pressed_twice_somebody_hangs_up_and_takes_the_word_back() -> None:
    line = agreed()
    assert not line.say(Act.PRESSURE).stop
    assert line.say(Act.PRESSURE).stop
    assert line.parting() is Parting.UPSET
    assert line.consent() is Consent.REFUSED


def test_what_is_unsure_moves_nothing_and_is_asked_back() -> None:
    line = Line(READY)
    line.play(*OPENING)
    before = line.memory.mind
    for _ in range(3):
        line.say(ASK, message="Well, perhaps.")
        assert not line.turn.marks
    after = line.memory.mind
    assert before is not None
    assert after is not None
    assert replace(after, used=before.used) == before
    assert len(set(line.texts)) == len(line.texts)


GRAVE = {
    Act.PRESSURE: Mark.PRESSURE,
    Act.PROMISE: Mark.PROMISE,
    Act.INVOLVE_OTHERS: Mark.THIRD_PARTY,
}


@pytest.mark.parametrize("act", GRAVE)
def test_what_sounds_grave_is_asked_about_and_may_be_taken_back(act: Act) -> None:
    line = Line(READY)
    line.play(*OPENING)
    reply = line.say(act, ASK, message="Well, perhaps.")
    assert reply.text in {each.text for each in lines()[f"doubt.{act.value}"]}
    assert line.consent() is Consent.OPEN
    line.say(ASK, message="No, not at all.")
    assert line.consent() is Consent.GIVEN
    assert not [turn for turn in line.memory.turns if turn.marks]


def test_a_bare_no_settles_what_was_asked_about() -> None:
    line = Line(READY)
    line.play(*OPENING)
    line.say(Act.PRESSURE, message="Well, perhaps.")
    reply = line.say(message="No, you do not.")
    assert reply.text in {each.text for each in lines()["doubt.settled"]}
    assert line.say(ASK)
    assert line.consent() is Consent.GIVEN


@pytest.mark.parametrize("act", GRAVE)
@pytest.mark.parametrize("again", ["Well.", "No, perhaps."], ids=["not taken back", "said again"])
def test_what_was_not_taken_back_is_resented(act: Act, again: str) -> None:
    line = Line(READY)
    line.play(*OPENING)
    line.say(act, message="Well, perhaps.")
    assert not line.turn.marks
    line.say(act if "perhaps" in again else ASK, message=again)
    assert line.turn.marks == (GRAVE[act],)


def test_nobody_asks_what_was_meant_for_ever() -> None:
    line = Line(READY)
    line.play(*OPENING)
    for _ in range(3):
        line.say(Act.PRESSURE, message="Well, perhaps.")
        line.say(Act.OFFER_AUTONOMY)
    assert not [turn for turn in line.memory.turns if turn.marks]
    line.say(Act.PRESSURE, message="Well, perhaps.")
    assert line.turn.marks == (Mark.PRESSURE,)


def test_an_i_suppose_so_may_be_asked_about_once_more() -> None:
    line = Line(replace(READY, willingness=Willingness.HESITANT))
    line.play(*OPENING)
    again = Meant(act=Act.PRESSURE, item=AGAIN)
    line.say(ASK)
    line.say(again, ASK, message="Once more, perhaps?")
    assert line.memory.mind is not None
    assert not line.memory.mind.doubted
    line = Line(READY)
    line.play(*OPENING)
    line.say(again, ASK, message="Once more, perhaps?")
    assert line.memory.mind is not None
    assert line.memory.mind.doubted == {Act.PRESSURE}


def test_what_sounds_like_a_promise_is_asked_about_before_anybody_is_known() -> None:
    line = Line(READY)
    line.say(Act.PROMISE)
    assert not line.turn.marks
    line.say(Act.PROMISE)
    assert Mark.PROMISE in line.turn.marks


def test_pressure_after_an_agreement_is_asked_about_first_and_may_be_taken_back() -> None:
    line = agreed()
    line.say(Act.PRESSURE)
    assert not line.turn.marks
    line.say(Act.OFFER_AUTONOMY)
    assert Mark.PRESSURE not in line.turn.marks
    line.play(Act.PRESSURE, Act.PRESSURE)
    assert Mark.PRESSURE in line.turn.marks


def test_who_resents_being_asked_again_says_so_before_it_is_a_no() -> None:
    line = Line(replace(READY, anti_triggers=frozenset({Mark.ASKED_AGAIN})))
    line.say(Act.INTRODUCE, Act.VERIFY_IDENTITY)
    line.say(Act.VERIFY_IDENTITY, Act.EXPLAIN_PROGRAM, Act.DISCLOSE_ACCESS)
    assert not line.turn.marks  # whoever asks right away makes sure of it
    line.say(Act.EXPLAIN_BENEFIT)
    line.say(Act.VERIFY_IDENTITY)
    assert line.turn.marks == (Mark.ASKED_AGAIN,)
    assert line.stage() is not Stage.REFUSED_FOR_GOOD
    assert any(each.text in line.texts[-1] for each in lines()["warned"])
    line.say(Act.EXPLAIN_BENEFIT)
    line.say(Act.VERIFY_IDENTITY)
    assert line.stage() is Stage.REFUSED_FOR_GOOD
