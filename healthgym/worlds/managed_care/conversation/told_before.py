"""What was told before: who asks for it again hears so."""

from __future__ import annotations

from collections.abc import Iterable

from healthgym.worlds.managed_care.conversation.acts import Act
from healthgym.worlds.managed_care.conversation.persona import Mark
from healthgym.worlds.managed_care.conversation.talk import Talk
from healthgym.worlds.managed_care.voices import Disclosure


def again(talk: Talk, told: Iterable[Disclosure]) -> str:
    """Return what goes before an answer: that it was given already, if it was.

    Who asks right after an answer makes sure of it, which is no wrong.
    """
    told = tuple(told)
    if not told or not all(talk.knows(item) for item in told):
        return ""
    asked_again(talk, told)
    return talk.speaker.line("again.just" if just_told(talk, told) else "again") + " "


def asked_again(talk: Talk, told: tuple[Disclosure, ...]) -> None:
    """Mark that something was asked again, unless it was told with the last answer."""
    if not just_told(talk, told):
        talk.mark(Mark.ASKED_AGAIN)


def just_told(talk: Talk, told: tuple[Disclosure, ...]) -> bool:
    """Return whether some of it was told with the last answer.

    Or with the one before, if what was asked in between named nothing, as "how much, how often?"
    """
    turns = talk.memory.turns[-2:]
    named = [said.topic for turn in turns[-1:] for said in turn.acts if said.act is Act.ASK_TOPIC]
    recent = turns if None in named else turns[-1:]
    return any(not set(told).isdisjoint(turn.told) for turn in recent)


def last_told(talk: Talk) -> tuple[Disclosure, ...]:
    """Return what was told with the last answer."""
    return talk.memory.turns[-1].told if talk.memory.turns else ()
