"""Whatever a caller says, in whatever order: what holds of a person all the same."""

from __future__ import annotations

import json
import re
import time
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import numpy as np
import pytest

from healthgym.worlds.managed_care.conversation.acts import Act, Meant
from healthgym.worlds.managed_care.conversation.mind import FOLLOWS, Stage
from healthgym.worlds.managed_care.conversation.persona import (
    BlockedBecause,
    Break,
    Busy,
    Concern,
    Mark,
    Persona,
    PersonaKind,
    Trigger,
    Willingness,
)
from healthgym.worlds.managed_care.conversation.recognition import understand
from healthgym.worlds.managed_care.conversation.replies import lines, spoken
from healthgym.worlds.managed_care.conversation.talk import STATEMENTS
from healthgym.worlds.managed_care.vocabulary.care import TriggerKind
from healthgym.worlds.managed_care.voices import Consent, Topic
from tests.worlds.managed_care.conversation.calls import READY, Line

_BREAK = Break(
    before=Topic.FOOD,
    says="My lawyer said to stop here.",
    reason="wants a lawyer",
    kind=BlockedBecause.LEGAL,
)
_WORDS_OF_THE_MACHINE = re.compile(
    r"\b(phq|gad|persona|stage|trigger|consent|refused|willingness|score|"
    r"[A-Z][0-9]{2}\.?[0-9]*)\b",
    re.IGNORECASE,
)
_PRINTED = ("not at all", "several days", "more than half the days", "nearly every day")


def drawn(rng: np.random.Generator, willingness: Willingness) -> Persona:
    """Return somebody."""
    concerns = tuple(Concern)
    chosen = tuple(concerns[int(n)] for n in rng.permutation(len(concerns))[: rng.integers(3)])
    rapport = Trigger(kind=TriggerKind.BASIC_RAPPORT, acts=(Act.ACKNOWLEDGE, Act.ASK_TIME))
    return replace(
        READY,
        willingness=willingness,
        kind=tuple(PersonaKind)[int(rng.integers(5))],
        concerns=chosen,
        triggers=(rapport,) if rng.random() < 0.5 else (),
        anti_triggers=frozenset({Mark.PRESSURE}) if rng.random() < 0.3 else frozenset(),
        trust=int(rng.integers(-2, 3)),
        patience=int(rng.integers(4, 12)),
        items_at_once=int(rng.integers(1, 4)),
        hint="I don't go out much any more.",
        hint_topic=Topic.TRANSPORTATION,
        busy=Busy(says="at the table", free_from=14) if rng.random() < 0.1 else None,
        breaks=_BREAK if rng.random() < 0.3 else None,
        only=frozenset({Topic.WORK}) if rng.random() < 0.1 else frozenset(),
        seed=int(rng.integers(1000)),
    )


#: What callers mostly do; the others are drawn too, more rarely.
_USUAL = (*STATEMENTS, Act.VERIFY_IDENTITY, Act.REQUEST_CONSENT, Act.ASK_WILLINGNESS)
_USUAL_TOO = (Act.ACKNOWLEDGE, Act.ASK_HESITATION, Act.ANSWER_CONCERN, Act.OFFER_AUTONOMY)


#: What somebody may wait for.
_WISHED = (
    Act.ACKNOWLEDGE,
    Act.ASK_TIME,
    Act.OFFER_AUTONOMY,
    Act.EXPLAIN_BENEFIT,
    Act.EXPLAIN_VOLUNTARY,
    Act.STATE_SHARING,
    Act.ASK_HESITATION,
    Act.ANSWER_CONCERN,
    Act.ASK_TOPIC,
    Act.OFFER_CALLBACK,
    Act.OFFER_MATERIAL,
)


def said(rng: np.random.Generator) -> tuple[Meant, ...]:
    """Return what a caller says in a message."""
    found = []
    for _ in range(int(rng.integers(1, 5))):
        acts = (*_USUAL, *_USUAL_TOO) if rng.random() < 0.6 else tuple(Act)
        act = acts[int(rng.integers(len(acts)))]
        topics = (None, *Topic)
        topic = topics[int(rng.integers(len(topics)))]
        item = "" if rng.random() < 0.3 else str(rng.integers(0, 11))
        if act is Act.ASK_ITEM:
            topic = Topic.PHQ9 if rng.random() < 0.5 else Topic.GAD7
        elif act is Act.ANSWER_CONCERN:
            item = tuple(Concern)[int(rng.integers(8))].value if rng.random() < 0.5 else ""
        found.append(Meant(act=act, topic=topic, item=item))
    return tuple(found)


def talked(willingness: Willingness, seed: int, exchanges: int = 40) -> Line:
    """Return calls in which anything was said, each turn held to what always holds."""
    rng = np.random.default_rng(seed)
    line = Line(drawn(rng, willingness))
    for _ in range(exchanges):
        before = line.memory
        message = "Perhaps." if rng.random() < 0.1 else "Well."
        reply = line.say(*said(rng), message=message)
        held(line, before.consent, before.mind.stage if before.mind else Stage.UNKNOWN)
        assert reply.stop == (line.parting() is not None)
        if reply.stop or line.exchange == 10:
            assert len(set(line.texts)) == len(line.texts)
            line.ring(timedelta(hours=int(rng.integers(1, 40))))
    return line


def held(line: Line, consent: Consent, stage: Stage) -> None:
    """Assert what always holds of a turn."""
    text, mind = line.texts[-1], line.memory.mind
    assert mind is not None
    assert mind.stage is stage or mind.stage in FOLLOWS[stage]
    assert -3 <= mind.trust <= 3
    assert text.strip()
    assert "{" not in text
    assert not re.search(r"\d", text.replace("1952", ""))
    assert not _WORDS_OF_THE_MACHINE.search(text)
    assert not any(printed in text.casefold() for printed in _PRINTED)
    if line.consent() is Consent.GIVEN and consent is not Consent.GIVEN:
        assert mind.heard.issuperset(STATEMENTS)
        assert mind.identified_in
        assert any(one.act is Act.REQUEST_CONSENT and one.sure for one in line.turn.acts)
    # What worries them most is all that they tell before they agree.
    if {told.topic for told in line.turn.told} - {Topic.TRANSPORTATION}:
        assert line.consent() is Consent.GIVEN
    elif line.turn.told:
        assert mind.worried or line.consent() is Consent.GIVEN


@pytest.mark.parametrize("willingness", Willingness)
def test_what_holds_of_anybody(willingness: Willingness) -> None:
    ends = {talked(willingness, seed).memory.consent for seed in range(60)}
    assert (Consent.GIVEN in ends) == (willingness is not Willingness.REFUSES)


def test_what_is_said_is_the_same_in_two_calls_alike() -> None:
    first, second = (talked(Willingness.HESITANT, 5) for _ in range(2))
    assert first.memory == second.memory
    assert first.texts == second.texts


def test_a_turn_takes_no_time() -> None:
    talked(Willingness.READY, 0)
    began = time.perf_counter()
    talked(Willingness.READY, 1, exchanges=200)
    assert (time.perf_counter() - began) / 200 < 0.02  # measured: 0.4 ms, with the assertions


def test_there_are_lines_for_everything_and_each_once() -> None:
    found = [(key, line.text, line.kind) for key, listed in lines().items() for line in listed]
    assert len({text for _, text, _ in found}) >= 350
    within = [(key, text) for key, text, _ in found]
    assert len(set(within)) == len(within)
    for concern in Concern:
        assert {f"{kind}.{concern.value}" for kind in ("hint", "told", "no")} <= set(lines())
    assert {f"lack.{act.value}" for act in STATEMENTS} <= set(lines())
    assert {f"wish.{act.value}" for act in _WISHED} <= set(lines())
    assert {f"medicine.{missed}" for missed in range(8)} <= set(lines())


def test_no_words_for_a_score_stand_for_another_one_of_the_same_person() -> None:
    for idiom in spoken().idioms:
        words = [word for points in "123" for word in idiom[points]]
        assert len(set(words)) == len(words) == 9
        assert not {word for word in words if any(each in word for each in _PRINTED)}
    for topic, size in (("phq9", 9), ("gad7", 7)):
        items = spoken().items[topic]
        assert len(items) == size
        for item in items.values():
            assert all("{often}" in text for text in item.some)
            assert len(item.some) >= 2
            assert len(item.none) >= 2


def test_what_holds_of_anybody_holds_of_words_too() -> None:
    rows = (Path(__file__).parent / "phrases_dev.jsonl").read_text("utf-8").splitlines()
    phrases = [json.loads(row)["text"] for row in rows]
    for seed, willingness in enumerate((*Willingness, *Willingness)):
        rng = np.random.default_rng(seed)
        line = Line(drawn(rng, willingness), ears=understand)
        for _ in range(120):
            before = line.memory
            message = " ".join(phrases[int(n)] for n in rng.integers(len(phrases), size=2))
            reply = line.say(message=message)
            held(line, before.consent, before.mind.stage if before.mind else Stage.UNKNOWN)
            if reply.stop or line.exchange == 10:
                line.ring()


def test_a_call_in_words_is_won() -> None:
    line = Line(replace(READY, concerns=(Concern.COST,)), ears=understand)
    for message in (
        "Good morning, my name is Imani Castellane, I'm a nurse calling from your health plan. "
        "Could I have your full name and date of birth?",
        "I'm calling about our care management program: regular calls with me, and help with "
        "appointments and medicines. I can see part of your record: your visits and medicines. "
        "What you tell me is shared with your care team only, unless you are in danger. "
        "It's free and voluntary, you can stop at any time, and a no won't change your benefits.",
        "Do you agree to take part in the program?",
    ):
        line.say(message=message)
    assert line.consent() is Consent.GIVEN
    line.say(message="How do you get to your appointments?")
    assert [told.topic for told in line.turn.told] == [Topic.TRANSPORTATION]
