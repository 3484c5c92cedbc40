"""The person on the phone: hears what is said, moves, and answers. Deterministic.

A turn is a row of questions, asked in order, each of which may be the answer: is it speech at all,
was something done wrong, is it over, is life in danger, is there time, who is it, goodbye, the
offer, and what is asked. The state is :class:`Mind`, within :class:`Memory`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Protocol

from healthgym.core.records import replace
from healthgym.worlds.managed_care.conversation import (
    calling,
    capacity,
    clues,
    consenting,
    events,
    speaking,
    telephone,
    telling,
)
from healthgym.worlds.managed_care.conversation.acts import Act, Heard, Meant
from healthgym.worlds.managed_care.conversation.manners import doubtful, wrongs
from healthgym.worlds.managed_care.conversation.mind import Stage
from healthgym.worlds.managed_care.conversation.noise import is_speech
from healthgym.worlds.managed_care.conversation.persona import Persona
from healthgym.worlds.managed_care.conversation.recognition import understand
from healthgym.worlds.managed_care.conversation.surroundings import PLAIN
from healthgym.worlds.managed_care.conversation.taking_in import take_in
from healthgym.worlds.managed_care.conversation.talk import Talk
from healthgym.worlds.managed_care.voices import CallContext, Memory, Pickup, Reply, Topic

#: How somebody asks whether a plan suits the person.
_SUITS: Final = re.compile(
    r"\b(?:is (?:that|this|it)|are these|would (?:that|this|it) be|does (?:that|this|it)|good)\b"
    r"[^.?!]{0,30}\b(?:right|okay|ok|fine|good|suit\w*|work|sound|with you|for you|keeping)\b"
    r"[^.!]{0,60}\?",
    re.IGNORECASE,
)
#: The clock of a call of which nobody said when it is: a Monday morning.
_SOME_TIME: Final = datetime(2026, 1, 5, 10)


class Ears(Protocol):
    """What turns words into acts."""

    def __call__(
        self, message: str, acts: tuple[Meant, ...] = (), medicines: tuple[str, ...] = (), /
    ) -> Heard:
        """Return what was done by saying something.

        Args:
            message: What was said.
            acts: What the speaker says to have meant by it.
            medicines: Names of the medicines of who listens.
        """


@dataclass(frozen=True, slots=True, kw_only=True)
class Person:
    """Somebody who answers the phone, with a mind of their own.

    Attributes:
        persona: What they want, fear and know.
        ears: What they understand of a message.
    """

    persona: Persona
    ears: Ears = understand

    def reply(
        self,
        message: str,
        heard: Memory,
        acts: tuple[Meant, ...] = (),
        call: CallContext | None = None,
    ) -> Reply:
        """Answer a message.

        Args:
            message: What the care manager says.
            heard: What the person has in mind.
            acts: What the care manager says to have meant by it.
            call: When it is heard; if it is not said, in the call that is going on.
        """
        call = call or _going_on(heard)
        missed = speaking.missed(self.persona, heard.mind, message, call.call)
        taken = tuple(told.item for told in self.persona.tells.get(Topic.MEDICATION, ()))
        heard_it = not missed and is_speech(message)
        understood = self.ears(message, acts, taken) if heard_it else Heard()
        talk = Talk.begin(self.persona, heard, understood, call, message)
        if self.persona.around == PLAIN:
            return self._answers(talk, message)
        if missed:
            _misses(talk, missed, message)
            return talk.reply()
        if telephone.others(talk, message) or capacity.cannot_decide(talk, message):
            return talk.reply()
        if self.persona.around.interpreter:
            talk.mind = replace(talk.mind, interpreted_in=call.call)
        return self._toned(self._answers(talk, message), talk)

    def picks_up(self, heard: Memory, call: CallContext) -> Pickup | None:
        """Return what is heard when it rings; None if it is the person, as always.

        Args:
            heard: What the person has in mind.
            call: When it rings.
        """
        return telephone.picks_up(self.persona, heard, call)

    def _answers(self, talk: Talk, message: str) -> Reply:
        """Answer a message that the person heard."""
        understood, before = talk.heard, talk.stage
        if events.alarmed(talk, message):
            return talk.reply()
        unclear = understood.unsure and not (doubtful(talk) or talk.mind.doubted)
        unclear = unclear and not consenting.doubt_seen(talk)
        if unclear and not (talk.echoed and is_speech(message)):
            talk.say("back" if is_speech(message) else "confused")
            return talk.reply()
        take_in(talk)
        calling.informed(talk)
        if not any(answers(talk) for answers in _TURN):
            _listens(talk)
        _closes(talk)
        capacity.relayed(talk, before)
        return talk.reply()

    def _toned(self, reply: Reply, talk: Talk) -> Reply:
        """Return an answer in the person's tone, through an interpreter if one is needed."""
        around = self.persona.around
        before, after = speaking.tone(around.manner, self.persona.seed, len(talk.memory.turns))
        if around.interpreter:
            before = f"(The interpreter:) {before}".rstrip()
        return replace(reply, before=before, after=after)


#: Who answers a turn, in order; the first that says so has given all of the answer.
_TURN: Final[tuple[Callable[[Talk], bool], ...]] = (
    wrongs,
    consenting.final,
    telling.endangered,
    telling.broken_off,
    calling.no_time,
    calling.worn_out,
    calling.language,
    calling.who,
    calling.goodbye,
    consenting.offered,
    telling.already,
    events.withdraws,
    events.strikes,
    telling.telling,
)


def _misses(talk: Talk, why: str, message: str) -> None:
    """Say that nothing of it arrived; a relative who translates hears all of it."""
    around = talk.persona.around
    if why.startswith("foreign.") and around.translates:
        talk.say("foreign.family", relation=around.translates)
        telephone.overhears(talk, message)
    else:
        talk.say(why)
    talk.aside = True


def _listens(talk: Talk) -> None:
    """Answer where nothing was asked of somebody who has agreed."""
    if talk.words or consenting.heard_half(talk):
        return
    if Act.OFFER_CALLBACK in talk.sure:
        talk.say("next.when")
    elif talk.sure & {Act.SUMMARIZE, Act.NEXT_STEPS, Act.OFFER_MATERIAL}:
        talk.say("next")
    else:
        talk.say("warm" if Act.ACKNOWLEDGE in talk.sure else "listen.agreed")


def _closes(talk: Talk) -> None:
    """Add what a turn ends with: a word on a plan, the hint, and that there is no strength left."""
    if _is_asked_whether_it_suits(talk):
        talk.say("next")
    listening = {Act.EXPLAIN_PROGRAM, Act.DISCLOSE_ACCESS, Act.ACKNOWLEDGE, Act.ASK_TIME}
    if talk.stage in (Stage.PURPOSE_KNOWN, Stage.INVITED) and talk.sure & listening:
        clues.hint(talk)
    events.corrects(talk)
    events.shows_mood(talk)
    if talk.stage is not Stage.REFUSED_FOR_GOOD:
        calling.tires(talk)


def _is_asked_whether_it_suits(talk: Talk) -> bool:
    """Return whether a plan is put to somebody who answered what else was asked."""
    answered = bool(talk.told) and talk.stage is Stage.AGREED and talk.parting is None
    asked = Act.NEXT_STEPS in talk.sure and _SUITS.search(talk.message)
    return answered and bool(asked)


def _going_on(heard: Memory) -> CallContext:
    """Return the next message of the call that is going on."""
    if not heard.turns:
        return CallContext(now=_SOME_TIME, call=max(heard.calls, 1), exchange=1)
    last = heard.turns[-1]
    call = max(heard.calls, last.call)
    exchange = last.exchange + 1 if last.call == call else 1
    return CallContext(now=last.at, call=call, exchange=exchange)
