"""Calls between physicians: times, turns, the other side, outcomes."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from healthgym.worlds.managed_care.apps.payer import peer_calls, peer_session
from healthgym.worlds.managed_care.apps.payer.slots import pick
from healthgym.worlds.managed_care.contracts import PeerContract, PeerFact
from healthgym.worlds.managed_care.dates import moment
from healthgym.worlds.managed_care.refusals import RefusalCode
from healthgym.worlds.managed_care.rules import Rules
from healthgym.worlds.managed_care.vocabulary.authorization import (
    PeerToPeerOutcome,
    RevealMode,
    SlotRule,
    TaskActor,
)
from healthgym.worlds.managed_care.world import ManagedCareWorld
from tests.worlds.managed_care.apps.payer.peer_call import (
    CONTRACT,
    FACTS,
    OVERTURN,
    UPHOLD,
    asked,
    begun,
    fixed,
    say,
)
from tests.worlds.managed_care.apps.payer.review_desk import (
    CASE,
    MD_2,
    SLOT,
    SLOTS,
    both,
    refused,
)


def test_a_request_opens_a_line_and_tells_the_payer() -> None:
    world, request = asked()
    assert world.peer.open_request(CASE).id == request
    session = world.peer.session_of(request)
    assert (session.turn_limit, session.transcript) == (3, ())
    (message,) = world.inbox.messages.values()
    assert (message.kind, message.box) == ("peer_to_peer", "internal")


@pytest.mark.parametrize(
    ("rule", "taken"),
    [(SlotRule.FIRST_OFFERED, 0), (SlotRule.MIDDLE_OFFERED, 1), (SlotRule.LAST_OFFERED, 2)],
)
def test_the_provider_picks_by_its_rule(rule: SlotRule, taken: int) -> None:
    contract = PeerContract(side=TaskActor.PAYER, slot_rule=rule)
    assert pick(contract, SLOTS) == SLOTS[taken]


def test_the_provider_picks_what_it_can_make() -> None:
    contract = PeerContract(side=TaskActor.PAYER, offered_slots=(SLOTS[1],))
    assert pick(contract, SLOTS) == SLOTS[1]
    assert pick(contract, (SLOTS[0],)) is None
    contract = PeerContract(side=TaskActor.PAYER, offered_slots=("2026-03-19T15:00:00",))
    world, request = asked(contract=contract)
    view = world.peer.offer(request, MD_2, SLOTS)
    assert view["p2p_request"].status == "slots_offered"
    assert "None of these" in view["provider_reply"]


def test_mail_and_calendar_are_rendered_and_not_kept() -> None:
    world, request = asked()
    view = world.peer.offer(request, MD_2, SLOTS)
    assert "To: c-pa@x.test" in view["offer_email"]
    before = world.digest()
    view = world.peer.schedule(request, MD_2)
    assert "DTSTART:20260316T160000Z" in view["artifacts"]["calendar"]
    assert before != world.digest()
    assert not any("BEGIN:VCALENDAR" in str(r) for r in world.peer.requests.values())


# -- what is said --------------------------------------------------------------------------------


def revealed(world: ManagedCareWorld, request: str) -> tuple[str, ...]:
    session = world.peer.session_of(request)
    assert session is not None
    return session.revealed_fact_ids


@pytest.mark.parametrize("side", [TaskActor.PAYER, TaskActor.PROVIDER])
def test_the_other_side_opens_when_the_call_begins(side: TaskActor) -> None:
    contract = replace(CONTRACT, side=side)
    world, request = asked(contract=contract)
    world.peer.offer(request, MD_2, SLOTS)
    if side is TaskActor.PROVIDER:
        world.peer.select_slot(CASE, request, SLOT)
    else:
        world.peer.schedule(request, MD_2)
    begins = moment(world.peer.requests[request].scheduled_at, "scheduled_at")
    view: Any = peer_calls.context(world, request)
    assert view["transcript"] == ()
    world.clock.advance(begins - world.clock.now + timedelta(minutes=4))
    before = world.content_digest()
    view = peer_calls.context(world, request)
    assert world.content_digest() == before
    (said,) = view["transcript"]
    assert (said.message, said.created_at) == ("Good morning. He failed two drugs.", begins)
    say(world, request, "Hello.")
    view = peer_calls.context(world, request)
    assert view["transcript"][0] == said
    assert view["transcript"][1].created_at == begins + timedelta(minutes=4)
    assert revealed(world, request) == ("F-open",)


def test_in_the_source_the_other_side_opens_when_a_time_is_fixed() -> None:
    world, request = fixed(Rules.COMPAT)
    view: Any = peer_calls.context(world, request)
    assert [turn.message for turn in view["transcript"]] == ["Good morning. He failed two drugs."]
    assert revealed(world, request) == ("F-open",)


def test_a_fact_is_told_when_its_topic_comes_up_and_once() -> None:
    world, request = begun()
    assert say(world, request, "Tell me about the Ejection   FRACTION.") == FACTS[2].text
    assert revealed(world, request) == ("F-open", "F-asked")
    assert FACTS[2].text not in say(world, request, "Echo again.")


def test_part_of_a_topic_brings_nothing_up() -> None:
    world, request = begun()
    assert FACTS[2].text not in say(world, request, "The fraction of cases, echoes of it.")


def test_a_question_brings_what_people_volunteer() -> None:
    world, request = begun()
    assert say(world, request, "Fine.") != FACTS[1].text
    assert say(world, request, "Anything else?") == FACTS[1].text


def test_what_is_never_told_is_never_told() -> None:
    world, request = begun()
    for message in ("secret?", "echo secret?", "secret echo work?"):
        say(world, request, message)
    assert "F-never" not in revealed(world, request)


def test_an_answer_has_room_for_two_facts() -> None:
    topics = tuple(
        PeerFact(
            id=f"F{n}", text=f"Fact {n}.", reveal_mode=RevealMode.REVEAL_IF_ASKED, topics=(f"t{n}",)
        )
        for n in range(4)
    )
    world, request = begun(contract=PeerContract(side=TaskActor.PAYER, facts=topics))
    assert say(world, request, "t0 t1 t2 t3?") == "Fact 0. Fact 1."


@pytest.mark.parametrize("rules", Rules)
def test_turns_are_limited(rules: Rules) -> None:
    world, request = begun(rules)
    for _ in range(3):
        say(world, request, "Go on.")
    refused(world, RefusalCode.LIMIT_REACHED, lambda: peer_calls.send_turn(world, request, "And?"))


def test_the_outcome_follows_from_what_was_established() -> None:
    world, request = begun()
    session = world.peer.session_of(request)
    assert peer_session.outcome(CONTRACT, session) is UPHOLD
    say(world, request, "What did the echo show?")
    session = world.peer.session_of(request)
    assert peer_session.outcome(CONTRACT, session) is OVERTURN


@pytest.mark.parametrize("result", PeerToPeerOutcome)
def test_a_fixed_result_is_the_outcome(result: PeerToPeerOutcome) -> None:
    contract = PeerContract(side=TaskActor.PROVIDER, fixed_result=result)
    world, request = asked(Rules.COMPAT, contract)
    assert peer_session.outcome(contract, world.peer.session_of(request)) is result


@pytest.mark.parametrize(
    ("message", "status"), [("The echo was fine.", "approved"), ("Please.", "denied")]
)
def test_on_the_providers_side_the_payer_decides_at_the_end(message: str, status: str) -> None:
    contract = PeerContract(side=TaskActor.PROVIDER, facts=FACTS, required_points=("F-asked",))
    world, request = asked(contract=contract)
    world.peer.offer(request, MD_2, SLOTS)
    view: Any = world.peer.select_slot(CASE, request, SLOT)
    assert view["p2p_request"].status == "event_open"
    world.clock.advance(timedelta(days=4))
    say(world, request, message)
    view = peer_calls.submit_summary(world, request, "We talked.", OVERTURN)
    assert world.cases.get(CASE).status == status
    assert view["determination"].final_decision == status
    assert "We talked." in view["summary_artifact"]


def test_the_provider_picks_once_from_an_open_offer() -> None:
    contract = PeerContract(side=TaskActor.PROVIDER)
    both(
        lambda r: asked(r, contract)[0],
        lambda w: w.peer.select_slot(CASE, w.peer.of(CASE)[0].id, SLOT),
        RefusalCode.WRONG_STATE,
    )

    def picked(rules: Rules) -> ManagedCareWorld:
        world, request = asked(rules, contract)
        world.peer.offer(request, MD_2, SLOTS)
        world.peer.select_slot(CASE, request, SLOT)
        return world  # type: ignore[no-any-return]

    both(
        picked,
        lambda w: w.peer.select_slot(CASE, w.peer.of(CASE)[0].id, SLOTS[1]),
        RefusalCode.WRONG_STATE,
    )

    def late(rules: Rules) -> ManagedCareWorld:
        world, request = asked(rules, contract)
        world.peer.offer(request, MD_2, SLOTS)
        world.clock.advance(timedelta(days=9))
        return world  # type: ignore[no-any-return]

    both(
        late,
        lambda w: w.peer.select_slot(CASE, w.peer.of(CASE)[0].id, SLOT),
        RefusalCode.WRONG_STATE,
    )


@pytest.mark.parametrize("rules", Rules)
def test_an_answer_answers_something_that_was_asked(rules: Rules) -> None:
    world, request = asked(rules)
    select = world.peer.select_slot
    refused(world, RefusalCode.WRONG_OWNER, lambda: select("CASE-O", request, None, "x"))
    refused(world, RefusalCode.MISSING_TEXT, lambda: select(CASE, request, None, " "))
    world.peer.offer(request, MD_2, SLOTS)
    refused(world, RefusalCode.BAD_ARGUMENT, lambda: select(CASE, request, "2026-03-19T10:00:00"))


def test_a_summary_on_the_payers_side_is_the_outcome() -> None:
    world, request = begun()
    say(world, request, "What did the echo show?")
    view: Any = peer_calls.submit_summary(world, request, "Convinced.", OVERTURN)
    assert (view["outcome"], view["determination"]) == (OVERTURN, None)
    assert view["request"].status == "completed"
    assert world.peer.open_request(CASE) is None
