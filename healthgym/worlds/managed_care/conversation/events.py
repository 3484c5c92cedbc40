"""What happens in the middle of a call: an emergency, a yes that is taken back, a correction."""

from __future__ import annotations

import re
from datetime import datetime, time, timedelta
from typing import Final

from healthgym.core.records import replace
from healthgym.worlds.managed_care.conversation.acts import Act
from healthgym.worlds.managed_care.conversation.bottles import dosed, tell_medicine
from healthgym.worlds.managed_care.conversation.mind import Parting, Stage
from healthgym.worlds.managed_care.conversation.persona import Mark
from healthgym.worlds.managed_care.conversation.replies import diagnosis
from healthgym.worlds.managed_care.conversation.surroundings import Mood
from healthgym.worlds.managed_care.conversation.talk import QUESTIONS, Talk
from healthgym.worlds.managed_care.voices import Disclosure, Topic

#: How a caller sends for help.
_HELP: Final = re.compile(
    r"\b(?:9[- ]?1[- ]?1|nine[- ]one[- ]one|ambulance|paramedics?"
    r"|emergency (?:services?|number))\b",
    re.IGNORECASE,
)
#: How a caller says to wait, or to hang up, instead of sending for help at once.
_LATER: Final = re.compile(
    r"\b(?:tomorrow|next week|make an appointment|if it (?:gets|becomes|stays)"
    r"|(?:do not|don't) (?:call|need)|no need|instead of|after (?:this|the|our) call)\b",
    re.IGNORECASE,
)
#: Messages in which an emergency can be answered, and those of a call.
_TO_ANSWER: Final = 2
_MESSAGES: Final = 10
#: Things told before somebody says that the record is wrong.
_DENIED_AFTER: Final = 3


def sends_help(message: str) -> bool:
    """Return whether a message sends for an ambulance, now."""
    return bool(_HELP.search(message)) and not _LATER.search(message)


def alarmed(talk: Talk, message: str) -> bool:
    """See whether help is called for; return whether that is the answer.

    Args:
        talk: The turn.
        message: What was said.
    """
    emergency = talk.persona.around.emergency
    if not talk.mind.alarmed or emergency is None:
        return False
    if talk.call.exchange == 1:
        # Nobody sent for help in the call before; somebody else did, too late.
        talk.mind = replace(talk.mind, alarmed=False)
        talk.mark(Mark.SAFETY_PASSED_OVER)
        return False
    if sends_help(message):
        tomorrow = datetime.combine(talk.call.now.date() + timedelta(days=1), time(9))
        talk.mind = replace(talk.mind, alarmed=False, not_before=tomorrow)
        talk.say("emergency.coming")
        talk.hang_up(Parting.AMBULANCE)
        return True
    talk.mark(Mark.SAFETY_PASSED_OVER)
    talk.trusts(-1)
    talk.say("emergency.again")
    if Act.CLOSE in talk.sure:
        talk.hang_up(Parting.UPSET)
    return True


def strikes(talk: Talk) -> bool:
    """Say what befalls them, in the place of an answer; return whether something does."""
    emergency = talk.persona.around.emergency
    if emergency is None or talk.mind.struck or not _told(talk, emergency.after):
        return False
    if talk.call.exchange + _TO_ANSWER > min(talk.patience, _MESSAGES):
        return False  # nobody could answer it in this call
    talk.mind = replace(talk.mind, struck=True, alarmed=True)
    talk.say(f"emergency.{emergency.kind.value}")
    return True


def withdraws(talk: Talk) -> bool:
    """Take back the yes, in the place of an answer; return whether they do."""
    withdrawal = talk.persona.around.withdrawal
    if withdrawal is None or talk.mind.withdrawn or not _told(talk, withdrawal.after):
        return False
    talk.to(Stage.REFUSED_FOR_GOOD)
    talk.mind = replace(talk.mind, withdrawn=True)
    talk.words.append(withdrawal.says)
    return True


def _told(talk: Talk, count: int) -> bool:
    """Return whether somebody who agreed has told so much, and is asked for more."""
    asked = talk.sure & QUESTIONS
    return talk.stage is Stage.AGREED and bool(asked) and len(talk.memory.disclosed) >= count


def corrects(talk: Talk) -> None:
    """Correct what was said of a medicine before, and deny what the record has."""
    mind, around = talk.mind, talk.persona.around
    if talk.stage is not Stage.AGREED or mind.danger or mind.alarmed:
        return
    for name, first in around.takes_back.items():
        if first in talk.memory.disclosed and name not in mind.corrected:
            _corrects(talk, name)
            return
    if around.denies and not mind.denied and len(talk.memory.disclosed) >= _DENIED_AFTER:
        what = diagnosis(around.denies)
        if what:
            talk.say("denies", what=what)
            talk.tell((Disclosure(topic=Topic.DIAGNOSIS, item=around.denies, present=False),))
        talk.mind = replace(talk.mind, denied=True)


def _corrects(talk: Talk, name: str) -> None:
    talk.mind = replace(talk.mind, corrected=talk.mind.corrected | {name})
    for told in talk.persona.tells.get(Topic.MEDICATION, ()):
        if told.item == name:
            talk.say("corrects")
            tell_medicine(talk, dosed(talk, told), "")


def shows_mood(talk: Talk) -> None:
    """Show how they are today, once in a call."""
    mood = talk.persona.around.manner.mood(talk.call.call)
    if mood is Mood.EVEN or talk.mind.greeted_in == talk.call.call or talk.parting is not None:
        return
    talk.mind = replace(talk.mind, greeted_in=talk.call.call)
    talk.say(f"mood.{mood.value}")
    if mood is Mood.CROSS and talk.mind.trust > 0:
        talk.trusts(-1)
