"""Calls to persons, in acts: what a test says is what was meant by it."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from healthgym.worlds.managed_care.conversation.acts import Act, Heard, Meant, Said
from healthgym.worlds.managed_care.conversation.mind import Parting, Stage, Turn
from healthgym.worlds.managed_care.conversation.person import Ears, Person
from healthgym.worlds.managed_care.conversation.persona import (
    Concern,
    Persona,
    PersonaKind,
    Willingness,
)
from healthgym.worlds.managed_care.voices import (
    CallContext,
    Consent,
    Disclosure,
    Memory,
    Reply,
    Topic,
)

MORNING = datetime(2026, 3, 13, 11)


def hears(message: str, acts: tuple[Meant, ...] = (), medicines: tuple[str, ...] = (), /) -> Heard:
    """Understand what was meant; of what is said with a doubt, nothing surely."""
    sure = "perhaps" not in message
    return Heard(tuple(Said(one.act, one.topic, one.item, sure) for one in acts))


def meant(act: Act | Meant) -> Meant:
    """Return an act as what is meant by a message."""
    return act if isinstance(act, Meant) else Meant(act=act)


def about(topic: Topic, item: str = "") -> Meant:
    """Return a question on a subject."""
    return Meant(act=Act.ASK_TOPIC, topic=topic, item=item)


def may(topic: Topic | None) -> Meant:
    """Return a question whether a subject may be asked about."""
    return Meant(act=Act.ASK_PERMISSION, topic=topic)


def named(topic: Topic) -> Meant:
    """Return a fact that is named."""
    return Meant(act=Act.NAME_FACT, topic=topic)


def items(topic: Topic, *numbers: int) -> tuple[Meant, ...]:
    """Return questions of an instrument."""
    return tuple(Meant(act=Act.ASK_ITEM, topic=topic, item=str(n)) for n in numbers)


def eases(concern: Concern) -> Meant:
    """Return the answer to a worry."""
    return Meant(act=Act.ANSWER_CONCERN, item=concern.value)


def scores(topic: Topic, points: tuple[int, ...]) -> tuple[Disclosure, ...]:
    """Return what is told of an instrument."""
    return tuple(
        Disclosure(topic=topic, item=str(n), score=score) for n, score in enumerate(points, 1)
    )


TELLS = {
    Topic.PHQ9: scores(Topic.PHQ9, (2, 1, 3, 0, 1, 2, 0, 1, 1)),
    Topic.GAD7: scores(Topic.GAD7, (1, 2, 0, 3, 0, 1, 2)),
    Topic.MEDICATION: (
        Disclosure(topic=Topic.MEDICATION, item="metformin 500 mg"),
        Disclosure(topic=Topic.MEDICATION, item="lisinopril 10 mg"),
        Disclosure(topic=Topic.MEDICATION, item="atorvastatin", present=False),
        Disclosure(topic=Topic.MEDICATION, item="ibuprofen"),
        Disclosure(topic=Topic.MEDICATION, item="melatonin"),
    ),
    Topic.TRANSPORTATION: (Disclosure(topic=Topic.TRANSPORTATION),),
    Topic.DIAGNOSIS: (
        Disclosure(topic=Topic.DIAGNOSIS, item="E11.9"),
        Disclosure(topic=Topic.DIAGNOSIS, item="I50.9"),
    ),
    Topic.HOSPITAL_STAY: (Disclosure(topic=Topic.HOSPITAL_STAY, score=2),),
    Topic.SUBSTANCE_USE: (Disclosure(topic=Topic.SUBSTANCE_USE),),
}

READY = Persona(
    kind=PersonaKind.ANXIOUS,
    willingness=Willingness.READY,
    patient_name="Anselmo Duarte",
    birth_date="1952-05-09",
    tells=TELLS,
    adherence={"metformin 500 mg": 3, "ibuprofen": 1},
    patience=99,
    seed=7,
)
HESITANT = replace(
    READY,
    kind=PersonaKind.TENTATIVE,
    willingness=Willingness.HESITANT,
    concerns=(Concern.COST,),
    hint="I don't go out much any more.",
    hint_topic=Topic.TRANSPORTATION,
)
WINNABLE = replace(
    READY,
    kind=PersonaKind.RELUCTANT,
    willingness=Willingness.INITIALLY_REFUSES,
    concerns=(Concern.TOO_MANY_CALLS,),
)
REFUSING = replace(READY, kind=PersonaKind.REFUSING, willingness=Willingness.REFUSES)

WHO = (Act.INTRODUCE, Act.VERIFY_IDENTITY)
TERMS = (Act.DISCLOSE_ACCESS, Act.STATE_SHARING, Act.EXPLAIN_VOLUNTARY)
#: What is said before the agreement is asked for.
OPENING: tuple[Any, ...] = (WHO, (Act.EXPLAIN_PROGRAM, *TERMS))
#: How a refusal is met.
ROUND: tuple[Any, ...] = (
    (Act.ACKNOWLEDGE, Act.ASK_HESITATION),
    eases(Concern.TOO_MANY_CALLS),
    Act.OFFER_AUTONOMY,
)
#: How "I suppose so" becomes a yes.
SURELY: tuple[Any, ...] = (Act.REQUEST_CONSENT, Act.ASK_HESITATION, Act.REQUEST_CONSENT)


class Line:
    """Calls to one person.

    Args:
        persona: Who answers.
        now: What their clock shows at the first call.
        ears: What they understand.
    """

    def __init__(self, persona: Persona, now: datetime = MORNING, ears: Ears = hears) -> None:
        self.person = Person(persona=persona, ears=ears)
        self.memory = Memory(calls=1)
        self.now = now
        self.exchange = 0
        self.texts: list[str] = []

    def say(self, *acts: Act | Meant, message: str = "Well.") -> Reply:
        """Say something; return the answer."""
        self.exchange += 1
        call = CallContext(now=self.now, call=self.memory.calls, exchange=self.exchange)
        reply = self.person.reply(message, self.memory, tuple(map(meant, acts)), call)
        assert reply.memory is not None
        self.memory = reply.memory
        self.texts.append(reply.text)
        return reply

    def play(self, *turns: Act | Meant | tuple[Act | Meant, ...]) -> Reply:
        """Say one thing after the other; return the last answer."""
        for turn in turns:
            reply = self.say(*(turn if isinstance(turn, tuple) else (turn,)))
        return reply

    def ring(self, later: timedelta = timedelta(days=3)) -> Line:
        """Call again."""
        self.memory = replace(self.memory, calls=self.memory.calls + 1)
        self.now += later
        self.exchange = 0
        self.texts.clear()
        return self

    def consent(self) -> Consent:
        """Return whether they agreed."""
        return self.memory.consent

    def stage(self) -> Stage:
        """Return how far they have come."""
        return self.turn.stage

    def parting(self) -> Parting | None:
        """Return why they hung up."""
        return self.turn.parting

    @property
    def turn(self) -> Turn:
        """What the last message did."""
        return self.memory.turns[-1]


def agreed(persona: Persona = READY) -> Line:
    """Return a call with somebody who has just agreed."""
    line = Line(persona)
    line.play(*OPENING, Act.REQUEST_CONSENT)
    return line
