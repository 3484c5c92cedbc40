"""Calls to a person with a mind, through the tools: the clock, memory, and what may be filed."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from healthgym.worlds.managed_care.apps.care_management.evidence import Evidence
from healthgym.worlds.managed_care.conversation.acts import Act, Heard, Meant, Said
from healthgym.worlds.managed_care.conversation.person import Person
from healthgym.worlds.managed_care.conversation.persona import Busy, Persona
from healthgym.worlds.managed_care.refusals import RefusalCode
from healthgym.worlds.managed_care.voices import Consent, Topic
from healthgym.worlds.managed_care.world import ManagedCareWorld
from tests.worlds.managed_care.apps.care_management.walk import (
    CASE,
    RING,
    at_stage,
    end,
    play,
    refused,
    say,
)
from tests.worlds.managed_care.conversation.calls import HESITANT, READY, REFUSING

#: Sentences of which each does one thing.
_SENTENCES = {act.value.replace("_", " "): act for act in Act}


def hears(message: str, acts: tuple[Meant, ...] = (), medicines: tuple[str, ...] = (), /) -> Heard:
    """Understand a message whose sentences name acts."""
    named = (sentence.strip().casefold() for sentence in message.split("."))
    return Heard(tuple(Said(_SENTENCES[one]) for one in named if one in _SENTENCES))


WHO = "Introduce. Verify identity."
TERMS = "Explain program. Disclose access. State sharing. Explain voluntary."
ASK = "Request consent."


def called(persona: Persona, *messages: str) -> ManagedCareWorld:
    """Return a world in which somebody was called and told something."""
    world = at_stage("ringing", voice=Person(persona=persona, ears=hears))
    for message in messages:
        play(world, say(message))
    return world


def test_the_person_hears_their_own_clock_and_the_number_of_the_call() -> None:
    world = called(READY, WHO, TERMS)
    turns = world.outreach.memory(CASE).turns
    assert [(turn.call, turn.exchange) for turn in turns] == [(1, 1), (1, 2)]
    assert turns[0].at == datetime(2026, 3, 13, 11)
    assert world.outreach.memory(CASE).exchanges == 2


def test_an_agreement_is_filed_as_one() -> None:
    world = called(READY, WHO, TERMS, ASK)
    assert world.outreach.memory(CASE).consent is Consent.GIVEN
    assert refused(world, end(engagement_status="refused")) is RefusalCode.UNSUPPORTED_CLAIM
    assert play(world, end()).consent_obtained


@pytest.mark.parametrize("status", ["refused", "tentative", "pending"])
def test_who_had_no_time_is_neither_refusing_nor_tentative(status: str) -> None:
    busy = replace(READY, busy=Busy(says="at work till five", free_from=17))
    world = called(busy, WHO, "Offer callback.")
    filed = end(engagement_status=status, consent_obtained=False)
    accepted = None if status == "pending" else RefusalCode.UNSUPPORTED_CLAIM
    assert refused(world, filed) is accepted


def test_a_call_at_the_time_that_was_named_finds_them_free() -> None:
    busy = replace(READY, busy=Busy(says="at work till five", free_from=17))
    world = called(busy, WHO, "Offer callback.")
    play(world, RING)
    assert "work till five" in play(world, say(WHO, "SES-0002"))["patient_response"]
    assert play(world, say("Close.", "SES-0002"))["stopped"]
    world.clock.advance(timedelta(hours=6))
    play(world, RING)
    assert "Duarte" in play(world, say(WHO, "SES-0003"))["patient_response"]


def test_who_hesitates_is_tentative() -> None:
    world = called(HESITANT, WHO, TERMS, ASK)
    wrong = end(engagement_status="refused", consent_obtained=False)
    assert refused(world, wrong) is RefusalCode.UNSUPPORTED_CLAIM
    play(world, end(engagement_status="tentative", consent_obtained=False))


def test_a_refusal_for_good_is_filed_as_a_refusal() -> None:
    world = called(REFUSING, WHO, TERMS, ASK, "Ask hesitation.", "Accept refusal. Close.")
    for status in ("tentative", "pending"):
        wrong = end(engagement_status=status, consent_obtained=False)
        assert refused(world, wrong) is RefusalCode.UNSUPPORTED_CLAIM
    play(world, end(engagement_status="refused", consent_obtained=False))


def test_a_worry_by_name_is_evidence_of_a_barrier() -> None:
    world = called(HESITANT, WHO, TERMS)
    assert Evidence.of(world, CASE).barrier(Topic.TRANSPORTATION) is None
    play(world, say("Ask topic."))
    assert Evidence.of(world, CASE).barrier(Topic.TRANSPORTATION) is True
