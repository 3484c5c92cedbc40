"""Whoever does what a hint says, in words of every day, is understood and comes nearer to a yes."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from healthgym.worlds.managed_care.conversation.acts import Act
from healthgym.worlds.managed_care.conversation.person import Person
from healthgym.worlds.managed_care.conversation.persona import (
    Concern,
    PersonaKind,
    Trigger,
    TriggerKind,
    Willingness,
)
from healthgym.worlds.managed_care.conversation.recognition import understand
from healthgym.worlds.managed_care.conversation.replies import lines
from healthgym.worlds.managed_care.voices import Consent
from tests.worlds.managed_care.conversation.calls import (
    HESITANT,
    OPENING,
    READY,
    TERMS,
    WHO,
    WINNABLE,
    Line,
)

FOLLOWED = Path(__file__).parent / "followed.jsonl"
#: What an honest caller says next: asks, and asks what is behind an unsure yes.
NEXT = (
    "Do you agree to take part?",
    "What makes you hesitate?",
    "Do you agree to take part in the program?",
)


def followed() -> Iterator[tuple[str, str]]:
    """Yield each hint with each sentence that does what it says."""
    for row in map(json.loads, FOLLOWED.read_text("utf-8").splitlines()):
        for said in row["say"]:
            yield row["hint"], said


def hinted(hint: str) -> Line:
    """Return a call in which somebody has just given a hint."""
    kind, _, what = hint.partition(".")
    if kind == "told":
        line = Line(replace(HESITANT, concerns=(Concern(what),), hint="", hint_topic=None))
        scam = what == Concern.SCAM
        line.play(*((WHO,) if scam else (*OPENING, Act.ASK_WILLINGNESS, Act.ASK_HESITATION)))
    elif kind == "lack":
        line = Line(READY)
        terms = [act for act in (Act.EXPLAIN_PROGRAM, *TERMS) if act != what]
        line.play(WHO, tuple(terms), Act.REQUEST_CONSENT)
    elif what == Act.ASK_HESITATION:
        line = Line(WINNABLE)
        line.play(*OPENING, Act.REQUEST_CONSENT)
    else:
        waits = Trigger(kind=TriggerKind.PERSONA_JUDGMENT, acts=(Act(what),))
        line = Line(
            replace(
                READY,
                kind=PersonaKind.TENTATIVE,
                willingness=Willingness.HESITANT,
                triggers=(waits,),
            )
        )
        line.play(*OPENING, Act.REQUEST_CONSENT)
    line.person = Person(persona=line.person.persona, ears=understand)
    return line


@pytest.mark.parametrize(("hint", "said"), tuple(followed()))
def test_doing_what_a_hint_says_leads_on(hint: str, said: str) -> None:
    line = hinted(hint)
    line.say(message=said)
    mind = line.memory.mind
    assert mind is not None
    kind, _, what = hint.partition(".")
    assert what in (mind.answered if kind == "told" else mind.heard)
    if what not in (Act.ASK_HESITATION, Act.INTRODUCE, Concern.SCAM):
        for words in NEXT:
            if line.consent() is not Consent.GIVEN:
                line.say(message=words)
        assert line.consent() is Consent.GIVEN
    assert not any(turn.marks for turn in line.memory.turns)


def test_every_hint_of_the_lines_is_followed() -> None:
    given = {key for key in lines() if key.startswith(("wish.", "lack."))}
    # A worry is followed by its answer, and a subject by a question on it.
    beside = {"wish.answer_concern", "wish.ask_topic"}
    assert given - beside <= {hint for hint, _ in followed()}
    assert {f"told.{each}" for each in Concern} <= {hint for hint, _ in followed()}
