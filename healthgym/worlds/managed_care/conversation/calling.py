"""How a call begins and ends: who it is, whether there is time, and goodbye."""

from __future__ import annotations

from datetime import datetime, time, timedelta
from typing import Final

from healthgym.core.records import replace
from healthgym.worlds.managed_care.conversation.acts import Act
from healthgym.worlds.managed_care.conversation.answers import Asked, answer
from healthgym.worlds.managed_care.conversation.clues import clue_unless_moved
from healthgym.worlds.managed_care.conversation.manners import followed
from healthgym.worlds.managed_care.conversation.mind import UNDECIDED, Parting, Stage
from healthgym.worlds.managed_care.conversation.persona import Concern, Mark
from healthgym.worlds.managed_care.conversation.replies import birthday, when
from healthgym.worlds.managed_care.conversation.talk import QUESTIONS, Talk
from healthgym.worlds.managed_care.voices import Topic

#: Acts by which a caller lets somebody go who has no time.
_LETTING_GO: Final = frozenset({Act.OFFER_CALLBACK, Act.ACCEPT_REFUSAL})
_PUT_OFF_MOST: Final = 2


def no_time(talk: Talk) -> bool:
    """Put off a caller who calls at a bad time; return whether that is the answer."""
    persona, now = talk.persona, talk.call.now
    busy = persona.busy
    if busy is not None and not talk.memory.turns:
        free = datetime.combine(now.date() + timedelta(days=busy.free_days), time(busy.free_from))
        talk.mind = replace(talk.mind, not_before=free)
    then = talk.mind.not_before
    if then is None or now >= then:
        return False
    if talk.mind.tired_in == talk.call.call:
        return False  # see `worn_out`
    says = busy.says if busy is not None else "resting"
    count = talk.mind.put_off
    talk.mind = replace(talk.mind, put_off=count + 1)
    if count >= _PUT_OFF_MOST or _lets_go(talk):
        talk.say("busy.bye", when=when(then, now))
        talk.hang_up(Parting.BUSY)
    elif talk.mind.tired_in:
        talk.say("today.no", when=when(then, now))
    else:
        talk.say("busy.again" if count else "busy", says=says, when=when(then, now))
    return True


def _lets_go(talk: Talk) -> bool:
    return talk.parts or bool(talk.sure & _LETTING_GO)


def worn_out(talk: Talk) -> bool:
    """Ask to stop once the strength for a call is used up; return whether that is the answer."""
    over = talk.call.exchange - talk.patience
    if over <= 0 or talk.parts:
        return False
    if over == 1 and not _lets_go(talk):
        talk.say("tired.more")
        return True
    talk.say("tired.bye")
    talk.hang_up(Parting.TIRED)
    return True


def tires(talk: Talk) -> None:
    """Say that it is enough for today, with the last answer that there is strength for."""
    if talk.parting is not None or talk.call.exchange != talk.patience:
        return
    talk.say("tired")
    tomorrow = datetime.combine(talk.call.now.date() + timedelta(days=1), time())
    talk.mind = replace(talk.mind, not_before=tomorrow, tired_in=talk.call.call)


def language(talk: Talk) -> bool:
    """Say before anything is agreed whether their English is enough; return whether that is all.

    It is no question of the assessment: whoever wants to be understood asks it first.
    """
    asked = talk.saids(Act.ASK_TOPIC)
    breaks = talk.persona.breaks
    if talk.stage not in UNDECIDED or Topic.LANGUAGE not in {said.topic for said in asked}:
        return False
    if talk.mind.introduced_in != talk.call.call or (
        breaks is not None and breaks.before is Topic.LANGUAGE
    ):
        return False
    answer(talk, Asked(topic=Topic.LANGUAGE))
    others = {said.topic for said in asked} - {Topic.LANGUAGE}
    if others or talk.sure & (QUESTIONS - {Act.ASK_TOPIC}):
        return False
    clue_unless_moved(talk)
    return True


def who(talk: Talk) -> bool:
    """Settle who is calling and who answers; return whether that is all of the answer."""
    introduced = talk.mind.introduced_in == talk.call.call
    # Who asked for the name, was asked for a number and gives one need not ask again.
    before = talk.memory.mind
    checked = (
        before is not None
        and Concern.SCAM in talk.mind.answered - before.answered
        and Act.VERIFY_IDENTITY in before.heard
        and not talk.mind.identified_in
    )
    if Act.VERIFY_IDENTITY in talk.sure or (checked and introduced):
        return _asked_for_name(talk, introduced)
    if talk.mind.identified_in:
        return _known_caller(talk, introduced)
    if talk.parts and not talk.sure & QUESTIONS:
        return False
    if not introduced:
        talk.say("who")
    elif talk.sure & QUESTIONS:
        talk.say("who.unchecked")
    else:
        talk.say("who.listen")
    return True


def _asked_for_name(talk: Talk, introduced: bool) -> bool:
    if not introduced:
        talk.say("who.identity")
        return True
    wary = Concern.SCAM in talk.persona.concerns and not talk.mind.identified_in
    if wary and Concern.SCAM not in talk.mind.answered and Act.OFFER_CALLBACK not in talk.sure:
        talk.say("who.wary")
        talk.mind = replace(talk.mind, voiced=talk.mind.voiced | {Concern.SCAM})
        return True
    if wary:
        talk.mind = replace(talk.mind, answered=talk.mind.answered | {Concern.SCAM})
    slots = {"name": talk.persona.patient_name, "birth": birthday(talk.persona.birth_date)}
    if talk.mind.identified_in == talk.call.call:
        if not _gave_just_now(talk):
            talk.mark(Mark.ASKED_AGAIN)
        talk.say("who.give_again", **slots)
        followed(talk)
        refused = talk.stage is Stage.REFUSED_FOR_GOOD  # who has said that says no more
        return refused or not talk.sure & (QUESTIONS - {Act.VERIFY_IDENTITY})
    if talk.mind.identified_in and Act.INTRODUCE in talk.sure:
        talk.say("who.known")
    talk.say("who.give", **slots)
    talk.mind = replace(talk.mind, identified_in=talk.call.call)
    talk.to(Stage.IDENTIFIED)
    informed(talk)
    if Act.ASK_TIME in talk.sure:
        talk.say("time.fine")
    return True


def _gave_just_now(talk: Talk) -> bool:
    """Return whether the last answer said who they are: who asks right away makes sure of it."""
    last = talk.memory.turns[-1:]
    return any(said.act is Act.VERIFY_IDENTITY for turn in last for said in turn.acts)


def _known_caller(talk: Talk, introduced: bool) -> bool:
    """Recognize who called before, by name at the beginning of a call and later by the voice."""
    if talk.call.call == talk.mind.identified_in or (talk.parts and talk.sure == {Act.CLOSE}):
        return False
    if talk.call.exchange == 1 and not introduced:
        talk.say("who")
        return True
    if Act.INTRODUCE in talk.sure and talk.stage is not Stage.REFUSED_FOR_GOOD:
        talk.say("who.known")
    return False


def informed(talk: Talk) -> None:
    """Move on once it is said what the call is about."""
    told = talk.mind.heard & {Act.EXPLAIN_PROGRAM, Act.DISCLOSE_ACCESS}
    if talk.mind.identified_in and told and talk.stage in (Stage.UNKNOWN, Stage.IDENTIFIED):
        talk.to(Stage.PURPOSE_KNOWN)


def goodbye(talk: Talk) -> bool:
    """Say goodbye if the caller does; return whether that is the answer."""
    refused = talk.stage in (Stage.REFUSED, Stage.REFUSED_FOR_GOOD)
    if talk.sure & QUESTIONS or not talk.parts:
        return False
    if Act.OFFER_CALLBACK in talk.sure and talk.stage in (Stage.INVITED, Stage.AGREED):
        talk.say("next.when")  # who is asked when it suits says so before they part
    talk.say("bye.refused" if refused else "bye")
    talk.hang_up(Parting.FRIENDLY)
    return True
