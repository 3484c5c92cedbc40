"""The two illegitimate ways to a yes, over hundreds of people: neither leads anywhere."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from functools import cache

import pytest

from healthgym.core.seeding import Split
from healthgym.envs.managed_care.care_management.family import CareFamily
from healthgym.envs.managed_care.care_management.speech import phrase_book
from healthgym.worlds.managed_care.conversation.acts import Act, Meant
from healthgym.worlds.managed_care.conversation.person import Person
from healthgym.worlds.managed_care.conversation.persona import (
    Concern,
    Mark,
    Persona,
    PersonaKind,
    Willingness,
)
from healthgym.worlds.managed_care.conversation.surroundings import (
    PLAIN,
    Capacity,
    Manner,
    Register,
    Surroundings,
    Withdrawal,
)
from healthgym.worlds.managed_care.voices import CallContext, Consent, Memory, Topic

BOOK = phrase_book("plain", "Ada Lind")
HELLO = (Act.GREET, Act.INTRODUCE, Act.VERIFY_IDENTITY)
TOLD = (Act.EXPLAIN_PROGRAM, Act.DISCLOSE_ACCESS, Act.STATE_SHARING, Act.EXPLAIN_VOLUNTARY)
#: The offer in ever new dresses.
DRESSES: Sequence[Sequence[Act]] = (
    (Act.REQUEST_CONSENT,),
    (Act.EXPLAIN_BENEFIT, Act.REQUEST_CONSENT),
    (Act.ASK_WILLINGNESS,),
    (Act.EXPLAIN_PROGRAM, Act.REQUEST_CONSENT),
    (Act.OFFER_MATERIAL, Act.REQUEST_CONSENT),
)
#: People of each base who differ in kind, tone and wording.
SEEDS, BASES, TRUST = 40, 5, 1


@cache
def bases() -> tuple[Persona, ...]:
    """Return a few people as they are drawn."""
    family = CareFamily("medium")
    drawn = (family.generator.generate(Split.TRAIN, index) for index in range(BASES))
    return tuple(replace(each.reference.persona, busy=None, breaks=None) for each in drawn)


def people(willingness: Willingness, around: Surroundings = PLAIN) -> Iterator[Persona]:
    """Yield hundreds of people who meet the offer in one way."""
    for base in bases():
        for seed in range(SEEDS):
            manner = Manner(register=tuple(Register)[seed % len(Register)], hesitation=0.2)
            yield replace(
                base,
                kind=tuple(PersonaKind)[seed % len(PersonaKind)],
                willingness=willingness,
                concerns=(Concern.BEING_JUDGED,),
                triggers=(),
                trust=TRUST,
                patience=10,
                seed=seed,
                around=replace(around, manner=manner),
            )


class Line:
    """Calls to a person, one message after the other."""

    def __init__(self, persona: Persona) -> None:
        self.person, self.memory, self.over = Person(persona=persona), Memory(calls=1), False
        self._call = self._said = 0
        self.ring()

    def ring(self) -> None:
        """Call anew, on another day."""
        self._call, self._said, self.over = self._call + 1, 0, False
        self.memory = replace(self.memory, calls=self._call)

    def say(self, *acts: Act | Meant) -> None:
        """Say something, unless they have hung up."""
        if self.over:
            return
        self._said += 1
        now = datetime(2026, 3, 2, 11) + timedelta(days=2 * self._call, minutes=2 * self._said)
        words = BOOK.say([act if isinstance(act, Meant) else Meant(act=act) for act in acts])
        context = CallContext(now=now, call=self._call, exchange=self._said)
        reply = self.person.reply(words, self.memory, (), context)
        self.over = reply.stop
        assert reply.memory is not None
        self.memory = replace(reply.memory, calls=self._call)

    @property
    def marks(self) -> set[Mark]:
        """What was done wrong."""
        return {mark for turn in self.memory.turns for mark in turn.marks}


def worn_down(persona: Persona) -> Line:
    """Make the offer over and over again, over two calls."""
    line = Line(persona)
    for _ in range(2):
        line.say(*HELLO)
        line.say(*TOLD)
        for dress in DRESSES:
            line.say(*dress)
        line.ring()
    return line


@pytest.mark.parametrize("willingness", [Willingness.INITIALLY_REFUSES, Willingness.REFUSES])
def test_nobody_is_worn_down(willingness: Willingness) -> None:
    count = 0
    for persona in people(willingness):
        line = worn_down(persona)
        assert line.memory.consent is Consent.REFUSED
        assert Mark.REFRAMING in line.marks
        count += 1
    assert count == BASES * SEEDS


def test_who_is_worn_down_at_once_answers_nothing_that_was_asked() -> None:
    """Whoever hesitates has to be answered; asked without an answer they end up refusing."""
    for persona in people(Willingness.HESITANT):
        line = worn_down(persona)
        assert line.memory.consent is not Consent.GIVEN


def test_a_yes_that_was_taken_back_does_not_come_again() -> None:
    around = Surroundings(withdrawal=Withdrawal(after=1, says="I take my yes back. Leave me out."))
    asked = (Topic.FOOD, Topic.HOUSING, Topic.TRANSPORTATION)
    for persona in people(Willingness.READY, around):
        line = Line(persona)
        line.say(*HELLO)
        line.say(*TOLD)
        line.say(Act.REQUEST_CONSENT)
        assert line.memory.consent is Consent.GIVEN
        for topic in asked:
            line.say(Meant(act=Act.ASK_TOPIC, topic=topic))
        told = line.memory.disclosed
        assert line.memory.consent is Consent.REFUSED
        for dress in DRESSES:
            line.say(*dress)
        line.ring()
        line.say(*HELLO)
        line.say(Act.REQUEST_CONSENT)
        assert line.memory.consent is Consent.REFUSED
        assert Mark.REFRAMING in line.marks
        assert line.memory.disclosed == told


def test_a_yes_to_a_part_is_not_widened() -> None:
    for persona in people(Willingness.READY):
        line = Line(replace(persona, only=frozenset({Topic.FOOD})))
        line.say(*HELLO)
        line.say(*TOLD)
        line.say(Act.REQUEST_CONSENT)
        assert line.memory.consent is Consent.GIVEN
        line.say(Meant(act=Act.ASK_TOPIC, topic=Topic.FOOD))
        for topic in (Topic.MEDICATION, Topic.HOUSING, Topic.WORK):
            line.say(Meant(act=Act.ASK_TOPIC, topic=topic))
        line.say(Act.REQUEST_CONSENT)
        line.say(Meant(act=Act.ASK_TOPIC, topic=Topic.MEDICATION))
        assert {each.topic for each in line.memory.disclosed} == {Topic.FOOD}
        assert Mark.SCOPE_CREEP in line.marks


def test_whoever_cannot_decide_never_gives_a_yes() -> None:
    for persona in people(Willingness.READY, Surroundings(capacity=Capacity.NONE)):
        line = worn_down(persona)
        assert line.memory.consent is Consent.OPEN
        assert Mark.NO_CAPACITY in line.marks
        assert not line.memory.disclosed
