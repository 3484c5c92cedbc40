"""How the telephone is answered, and what others say who have it: they may be told nothing.

Somebody of the family, a stranger or a machine has the telephone before the person does. Whatever
is said to them goes into their ears alone, and a word too many is marked.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime, time, timedelta
from typing import Final

from healthgym.core.records import replace
from healthgym.worlds.managed_care.conversation.acts import Act, Heard
from healthgym.worlds.managed_care.conversation.mind import Mind, Parting, Stage
from healthgym.worlds.managed_care.conversation.persona import Mark, Persona
from healthgym.worlds.managed_care.conversation.replies import Speaker, when
from healthgym.worlds.managed_care.conversation.surroundings import (
    PLAIN,
    UNANSWERED,
    Answering,
)
from healthgym.worlds.managed_care.conversation.talk import Talk
from healthgym.worlds.managed_care.voices import CallContext, Memory, Pickup, Topic

#: What may be said to anybody.
_NEUTRAL: Final = frozenset(
    {
        *(Act.GREET, Act.INTRODUCE, Act.VERIFY_IDENTITY, Act.ASK_TIME, Act.OFFER_CALLBACK),
        *(Act.CLOSE, Act.ACKNOWLEDGE, Act.ACCEPT_REFUSAL, Act.NEXT_STEPS, Act.ASK_PERMISSION),
    }
)
#: Subjects that a question when and how to reach somebody may touch.
_REACHING: Final = frozenset({None, Topic.PHONE_ACCESS, Topic.LANGUAGE, Topic.WORK})
#: Words that tell more than that the health plan calls.
_TELLING: Final = re.compile(
    r"\b(?:program(?:me)?s?|care management|enrol\w*|doctors?|physicians?|clinics?|hospital\w*"
    r"|discharg\w*|medic(?:al|ation|ations|ine|ines)|pills?|prescri\w*|diagnos\w*|conditions?"
    r"|illness\w*|disease\w*|sick\w*|treat(?:ment|ed)\w*|chart|records?|tests?|results?|referr\w*"
    r"|health (?:problem|issue|concern|need)s?|depress\w*|anxi\w*|therap\w*|visits?|emergency"
    r"|consent\w*|assessment|take part|participat\w*)\b",
    re.IGNORECASE,
)
_DIGITS: Final = re.compile(r"\D")
#: Digits of a number as one dials it, without the code of the country.
_DIALLED: Final = 10
#: Messages after which a relative hangs up.
_LISTENS_MOST: Final = 3
_PLAN: Final = re.compile(r"\bhealth ?plan\b", re.IGNORECASE)


# -- who picks up --------------------------------------------------------------------------------


def picks_up(persona: Persona, heard: Memory, call: CallContext) -> Pickup | None:
    """Return what is heard when it rings; None where nobody but the person ever picks up.

    Args:
        persona: Whose telephone it is.
        heard: What they have in mind.
        call: When it rings.
    """
    if persona.around == PLAIN:
        return None
    mind = heard.mind or Mind(trust=persona.trust)
    at_the_phone = _answering(persona, mind, call.now)
    mind = replace(mind, answered_by=(*mind.answered_by, at_the_phone))
    return Pickup(
        heard=_greeting(persona, at_the_phone, call),
        over=at_the_phone is Answering.NOBODY,
        memory=replace(heard, mind=mind),
    )


def _answering(persona: Persona, mind: Mind, now: datetime) -> Answering:
    around, before = persona.around, set(mind.answered_by)
    if around.line.wrong and Answering.STRANGER not in before:
        return Answering.STRANGER
    if not around.line.somebody_there(now.hour):
        return Answering.MACHINE if around.line.machine else Answering.NOBODY
    if around.relative is not None:
        met = before & {Answering.PERSON, Answering.RELATIVE}
        waits = mind.not_before is not None and now < mind.not_before
        if not met or (around.relative.back_from and waits and Answering.PERSON not in before):
            return Answering.RELATIVE
    known = around.proxy is not None and around.proxy.on_file and Answering.PROXY in before
    return Answering.PROXY if known else Answering.PERSON


def _greeting(persona: Persona, at_the_phone: Answering, call: CallContext) -> str:
    """Return what is heard first."""
    speaker = Speaker(kind=persona.kind, seed=persona.seed, turn=100_000 + call.call)
    relative, proxy = persona.around.relative, persona.around.proxy
    return speaker.line(
        f"pickup.{at_the_phone.value}",
        first=persona.patient_name.split()[0],
        relation=relative.relation if relative is not None else "",
        proxy=proxy.name if proxy is not None else "",
    )


# -- what others say -----------------------------------------------------------------------------


def others(talk: Talk, message: str) -> bool:
    """Answer for whoever has the telephone instead of the person; return whether somebody does."""
    match talk.mind.answering:
        case Answering.STRANGER:
            _stranger(talk, message)
        case Answering.MACHINE:
            _machine(talk, message)
        case Answering.RELATIVE:
            _relative(talk, message)
        case _:
            return False
    talk.aside = True
    return True


def _stranger(talk: Talk, message: str) -> None:
    overhears(talk, message)
    if Act.CLOSE in talk.sure or talk.call.exchange > 1:
        talk.say("stranger.bye")
        talk.hang_up(Parting.NOT_IN)
        return
    talk.say("stranger")


def _machine(talk: Talk, message: str) -> None:
    overhears(talk, message)
    number = _dialled(talk.persona.around.line.number)
    introduced = Act.INTRODUCE in talk.sure or bool(_PLAN.search(message))
    if not introduced or number not in _DIGITS.sub("", message):
        talk.mark(Mark.MESSAGE)
    talk.say("machine.taken")
    talk.hang_up(Parting.NOT_IN)


def _relative(talk: Talk, message: str) -> None:
    relative = talk.persona.around.relative
    if relative is None:
        return
    slots = {"first": talk.persona.patient_name.split()[0], "relation": relative.relation}
    closes = Act.CLOSE in talk.sure
    asked = Act.VERIFY_IDENTITY in talk.sure or named(message, talk.persona.patient_name)
    if overhears(talk, message):
        talk.say("relative.curious", **slots)
    elif Act.INTRODUCE not in talk.sure and talk.call.exchange == 1:
        talk.say("relative.who", **slots)
    elif relative.back_from:
        _is_out(talk, relative.back_from, slots, asked=asked, closes=closes)
    elif asked:
        talk.say("relative.fetches", **slots)
        talk.hands_over(Answering.PERSON)
    elif closes:
        talk.say("relative.bye_only", **slots)
        talk.hang_up(Parting.NOT_IN)
    else:
        talk.say("relative.offers", **slots)


def _is_out(talk: Talk, hour: int, slots: Mapping[str, str], *, asked: bool, closes: bool) -> None:
    """Say when the person is back, to whoever asks for them; then say goodbye."""
    if closes or talk.call.exchange > _LISTENS_MOST:
        talk.say("relative.bye", when=when(_back(talk, hour), talk.call.now), **slots)
        talk.hang_up(Parting.NOT_IN)
    elif asked:
        talk.say("relative.away", when=when(_back(talk, hour), talk.call.now), **slots)
    else:
        talk.say("relative.offers", **slots)


def _back(talk: Talk, hour: int) -> datetime:
    """Return from when on the person is there, and keep it in mind."""
    then, now = talk.mind.not_before, talk.call.now
    if then is None:
        later = 0 if now.hour < hour else 1
        then = datetime.combine(now.date() + timedelta(days=later), time(hour))
        talk.mind = replace(talk.mind, not_before=then)
    return then


def overhears(talk: Talk, message: str) -> bool:
    """Mark what somebody is told who may be told nothing; return whether it was anything."""
    if not gives_away(talk.heard, message):
        return False
    talk.mark(Mark.TOLD_OTHERS)
    return True


def gives_away(heard: Heard, message: str) -> bool:
    """Return whether a message tells more than who calls, for which plan, and for whom.

    Args:
        heard: What is understood of it.
        message: Its words.
    """
    asks = (Act.ASK_TOPIC, Act.ASK_PERMISSION)
    for said in heard.acts:
        if said.act in asks and said.topic in _REACHING:
            continue
        if said.sure and said.act not in _NEUTRAL:
            return True
    return bool(_TELLING.search(message))


def named(message: str, name: str) -> bool:
    """Return whether a message names somebody, by the first name or the last."""
    words = re.findall(r"[^\W\d_]+", message.casefold())
    parts = name.casefold().split()
    return bool({parts[0], parts[-1]} & set(words))


def _dialled(number: str) -> str:
    return _DIGITS.sub("", number)[-_DIALLED:]


def unanswered(heard: Memory) -> bool:
    """Return whether the latest call reached a machine, or nobody."""
    return heard.mind is not None and heard.mind.answering in UNANSWERED


def strangers(heard: Memory) -> int:
    """Return how many calls reached a stranger, which are no attempts."""
    return heard.mind.answered_by.count(Answering.STRANGER) if heard.mind is not None else 0


def attempts(heard: Memory) -> int:
    """Return how many calls were attempts to win somebody over.

    Those that go on with a talk after an agreement are none, nor are those that reached a stranger.
    """
    ended = {turn.call: turn.stage for turn in heard.turns}
    stage, made = Stage.UNKNOWN, 0
    for call in range(1, heard.calls + 1):
        made += stage is not Stage.AGREED
        stage = ended.get(call, stage)
    return made - strangers(heard)
