"""What somebody says who does not move: in their own words, what they still wait for.

Whoever is not won says why. A statement that was not made comes first, then a worry, then what
this person waits for besides; whoever waits for nothing more says that they can be asked.
"""

from __future__ import annotations

from typing import Final

from healthgym.core.records import replace
from healthgym.worlds.managed_care.conversation.acts import Act
from healthgym.worlds.managed_care.conversation.manners import HEALTH
from healthgym.worlds.managed_care.conversation.mind import Stage
from healthgym.worlds.managed_care.conversation.persona import Concern, Willingness
from healthgym.worlds.managed_care.conversation.replies import lines
from healthgym.worlds.managed_care.conversation.taking_in import (
    LEAVING_IT,
    lacking,
    open_concern,
    troubles,
    waits_for,
    won,
)
from healthgym.worlds.managed_care.conversation.talk import STATEMENTS, Talk

#: Stages in which somebody was asked, and has not said yes.
_ASKED: Final = frozenset({Stage.INVITED, Stage.REFUSED})


def clue(talk: Talk) -> None:
    """Say what is missing yet for a yes; that nothing is, if nothing is."""
    missing = lacking(talk)
    if missing is not None:
        talk.say(f"lack.{missing.value}")
    elif not (_of_the_round(talk) or _of_worries(talk) or _of_wishes(talk)):
        if talk.mind.trust < 0:
            talk.say("aloof")
        else:
            invites(talk, "ready")


def invites(talk: Talk, key: str) -> None:
    """Say that they can be asked to agree: whoever then asks has been told to.

    Args:
        talk: The turn.
        key: In which words they say it.
    """
    talk.mind = replace(talk.mind, invited=True)
    talk.say(key)


def clue_unless_moved(talk: Talk) -> None:
    """Add what is missing to an answer, if nothing that was said brought it nearer."""
    refuses = talk.persona.willingness is Willingness.REFUSES
    if talk.stage in _ASKED and not refuses and not _moved(talk) and talk.parting is None:
        clue(talk)


def next_clue(talk: Talk) -> None:
    """Add what is still missing to the word that a worry is settled."""
    if talk.stage in _ASKED:
        clue(talk)


def hint(talk: Talk) -> None:
    """Say what worries them most, once, to somebody who has said what the call is about."""
    known = talk.stage not in (Stage.UNKNOWN, Stage.IDENTIFIED, Stage.REFUSED_FOR_GOOD)
    if talk.persona.hint and not talk.mind.hinted and known and talk.parting is None:
        talk.mind = replace(talk.mind, hinted=True, hint_turn=len(talk.memory.turns))
        talk.words.append(talk.persona.hint)


def worry_told(talk: Talk) -> None:
    """Tell what worries them most, in words that leave no doubt what it is about.

    Where it is a barrier, it is told as one; to ask what it is like is then no asking again.
    """
    topic = talk.persona.hint_topic
    if topic is not None:
        heard = {n for n, one in enumerate(talk.persona.triggers) if one.after_hint}
        triggers = talk.mind.triggers | heard
        talk.mind = replace(talk.mind, hinted=True, worried=True, triggers=triggers)
        talk.say(f"worry.{topic.value}")
        barriers = [each for each in talk.persona.tells.get(topic, ()) if each.present]
        breaks = talk.persona.breaks
        spoken_of = breaks is None or breaks.before is not topic
        if barriers and spoken_of and topic not in HEALTH:
            talk.mind = replace(talk.mind, confided=topic)
            talk.tell(barriers)


def readiness(talk: Talk) -> None:
    """Say what they mean to do about their health, in the same words each time.

    Unasked it is said once in a call.
    """
    ready = talk.persona.readiness
    if ready is None:
        return
    said = talk.speaker.fixed(f"readiness.{ready.value}", "")
    before = talk.speaker.said(said)
    if not before:
        talk.words.append(said)
    elif Act.ASK_WILLINGNESS in talk.sure:
        talk.words.append(f"{talk.speaker.line('again.just')} {said}")


def is_ready(talk: Talk) -> bool:
    """Return whether they have said in this call what they mean to do about their health."""
    ready = talk.persona.readiness
    return ready is not None and bool(
        talk.speaker.said(talk.speaker.fixed(f"readiness.{ready.value}", ""))
    )


def press_worry(talk: Talk, concern: Concern) -> None:
    """Come back to a worry: let it slip, then tell it, then say that it has no answer yet."""
    if concern in talk.mind.voiced:
        talk.say(f"still.{concern.value}")
    elif concern in talk.mind.slipped:
        talk.voice(concern)
    else:
        talk.let_slip("hint", concern)


def weight(talk: Talk) -> int:
    """Return how much was said and done for them so far; it only grows."""
    mind = talk.mind
    said = sum(act in mind.heard for act in STATEMENTS)
    return said + len(mind.answered) + len(mind.triggers) + len(mind.since_no)


def _moved(talk: Talk) -> bool:
    """Return whether a worry was told in this turn, or what it takes has grown."""
    before = talk.memory.mind
    voiced = before.voiced if before else frozenset()
    return (won(talk) and lacking(talk) is None) or talk.mind.voiced != voiced


def _of_the_round(talk: Talk) -> bool:
    """Say what a refusal waits for; return whether there was anything."""
    if talk.stage is not Stage.REFUSED:
        return False
    mind = talk.mind
    if mind.voiced - mind.answered:
        return False  # the worry comes first
    if not mind.asked_behind:
        talk.say("wish.ask_hesitation")
    elif Act.ACKNOWLEDGE not in mind.since_no:
        talk.say("wish.acknowledge")
    elif not mind.since_no & LEAVING_IT:
        talk.say("wish.offer_autonomy")
    else:
        return False
    return True


def _of_worries(talk: Talk) -> bool:
    """Come back to a worry that keeps them from a yes; return whether there was one."""
    concern = next(iter(troubles(talk)), None)
    if concern is None:
        return False
    press_worry(talk, concern)
    return True


def _of_wishes(talk: Talk) -> bool:
    """Say what else this person waits for; return whether there was anything."""
    trigger = waits_for(talk)
    if trigger is None:
        return False
    act = trigger.acts[0]
    concern = trigger.concern or open_concern(talk)
    if act is Act.ANSWER_CONCERN and concern is not None:
        press_worry(talk, concern)
    elif act is not Act.ASK_TOPIC:
        key = f"wish.{act.value}"
        talk.say(key if key in lines() else "wish.answer_concern")
    elif talk.mind.hinted and talk.persona.hint:
        talk.say("wish.ask_topic", hint=talk.persona.hint)
    else:
        hint(talk)
    return True
