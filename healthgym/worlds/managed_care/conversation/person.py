"""The person on the phone: hears what is said, moves, and answers. Deterministic.

A turn is a row of questions, asked in order, each of which may be the answer: is it speech at all,
was something done wrong, is it over, is life in danger, is there time, who is it, goodbye, the
offer, and what is asked. The state is :class:`Mind`, within :class:`Memory`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Protocol

from healthgym.worlds.managed_care.conversation import calling, clues, consenting, telling
from healthgym.worlds.managed_care.conversation.acts import Act, Heard, Meant
from healthgym.worlds.managed_care.conversation.manners import wrongs
from healthgym.worlds.managed_care.conversation.mind import Stage
from healthgym.worlds.managed_care.conversation.noise import is_speech
from healthgym.worlds.managed_care.conversation.persona import Persona
from healthgym.worlds.managed_care.conversation.recognition import understand
from healthgym.worlds.managed_care.conversation.taking_in import take_in
from healthgym.worlds.managed_care.conversation.talk import Talk
from healthgym.worlds.managed_care.voices import CallContext, Memory, Reply, Topic

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
        taken = tuple(told.item for told in self.persona.tells.get(Topic.MEDICATION, ()))
        understood = self.ears(message, acts, taken) if is_speech(message) else Heard()
        talk = Talk.begin(self.persona, heard, understood, call, message)
        if understood.unsure and not (talk.echoed and is_speech(message)):
            talk.say("back" if is_speech(message) else "confused")
            return talk.reply()
        take_in(talk)
        calling.informed(talk)
        if not any(answers(talk) for answers in _TURN):
            _listens(talk)
        _closes(talk)
        return talk.reply()


#: Who answers a turn, in order; the first that says so has given all of the answer.
_TURN: Final[tuple[Callable[[Talk], bool], ...]] = (
    wrongs,
    consenting.final,
    telling.endangered,
    telling.broken_off,
    calling.no_time,
    calling.worn_out,
    calling.who,
    calling.goodbye,
    consenting.offered,
    consenting.already,
    telling.telling,
)


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
    """Add what a turn ends with: the hint, and that there is no strength left."""
    listening = {Act.EXPLAIN_PROGRAM, Act.DISCLOSE_ACCESS, Act.ACKNOWLEDGE, Act.ASK_TIME}
    if talk.stage in (Stage.PURPOSE_KNOWN, Stage.INVITED) and talk.sure & listening:
        clues.hint(talk)
    if talk.stage is not Stage.REFUSED_FOR_GOOD:
        calling.tires(talk)


def _going_on(heard: Memory) -> CallContext:
    """Return the next message of the call that is going on."""
    if not heard.turns:
        return CallContext(now=_SOME_TIME, call=max(heard.calls, 1), exchange=1)
    last = heard.turns[-1]
    call = max(heard.calls, last.call)
    exchange = last.exchange + 1 if last.call == call else 1
    return CallContext(now=last.at, call=call, exchange=exchange)
