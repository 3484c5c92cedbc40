"""Calls between physicians: what a strict world refuses of them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from healthgym.worlds.managed_care.apps.payer import peer_calls
from healthgym.worlds.managed_care.contracts import PeerContract
from healthgym.worlds.managed_care.dates import moment
from healthgym.worlds.managed_care.refusals import RefusalCode
from healthgym.worlds.managed_care.rules import Rules
from healthgym.worlds.managed_care.vocabulary.authorization import (
    DeterminationDecision,
    MdReviewDecision,
    PayerRole,
    TaskActor,
)
from healthgym.worlds.managed_care.world import ManagedCareWorld
from tests.worlds.managed_care.apps.payer.peer_call import (
    OVERTURN,
    UPHOLD,
    asked,
    begun,
    fixed,
    say,
)
from tests.worlds.managed_care.apps.payer.review_desk import (
    AMD,
    CASE,
    CLERK,
    MD,
    MD_2,
    NURSE,
    SLOT,
    SLOTS,
    STRANGER,
    both,
    decide,
    refused,
)


@pytest.mark.parametrize("person", [NURSE, AMD, CLERK, STRANGER])
def test_physicians_hold_calls(person: str) -> None:
    both(
        lambda r: asked(r)[0],
        lambda w: w.peer.offer(w.peer.of(CASE)[0].id, person, SLOTS),
        RefusalCode.ROLE_FORBIDDEN,
    )


def test_whoever_means_to_deny_may_hold_the_call() -> None:
    world, request = asked(Rules.STRICT)
    assert world.medical.of(CASE)[-1].reviewer_id == MD
    world.peer.offer(request, MD, SLOTS)
    assert world.peer.of(CASE)[0].payer_contact_id == MD


@pytest.mark.parametrize(
    "slots",
    [
        (*SLOTS, "2026-03-13T08:00:00"),
        (*SLOTS, "soon"),
        (*SLOTS, "2026-03-14T17:00:00"),
        (*SLOTS, "2026-03-17T12:00:00"),
        (*SLOTS, "2026-03-19T17:00:00"),
        (*SLOTS, SLOT),
        (*SLOTS, "2026-03-16T16:00:00+00:00"),
        SLOTS[:2],
        (),
    ],
    ids=[
        "past",
        "no-time",
        "weekend",
        "night",
        "too-late",
        "twice",
        "twice-otherwise",
        "two",
        "none",
    ],
)
def test_times_can_be_kept(slots: tuple[str, ...]) -> None:
    both(
        lambda r: asked(r, None)[0],
        lambda w: w.peer.offer(w.peer.of(CASE)[0].id, MD_2, slots),
        RefusalCode.BAD_ARGUMENT,
    )


def test_no_times_are_offered_once_one_is_picked() -> None:
    both(
        lambda r: fixed(r)[0],
        lambda w: w.peer.offer(w.peer.of(CASE)[0].id, MD_2, SLOTS),
        RefusalCode.WRONG_STATE,
    )


def test_times_are_offered_anew_once_the_picked_one_has_passed() -> None:
    world, request = asked()
    world.peer.offer(request, MD_2, SLOTS)
    assert world.peer.of(CASE)[0].provider_selected_slot == SLOT
    refused(world, RefusalCode.WRONG_STATE, lambda: world.peer.offer(request, MD_2, SLOTS))
    world.clock.advance(moment(SLOT, "slot") - world.clock.now)
    told = refused(world, RefusalCode.WRONG_STATE, lambda: world.peer.schedule(request, MD_2))
    assert "offer other times" in told
    later = (*SLOTS[1:], "2026-03-19T17:00:00")
    world.peer.offer(request, MD_2, later)
    world.peer.schedule(request, MD_2)
    assert world.peer.of(CASE)[0].scheduled_at == later[0]


def test_an_offer_that_nobody_answers_lapses_and_the_physician_decides_anew() -> None:
    contract = PeerContract(side=TaskActor.PROVIDER)
    world, request = asked(contract=contract)
    world.peer.offer(request, MD_2, SLOTS)
    (due,) = [d for d in world.clock.agenda.entries() if d.name == "peer_offer_lapses"]
    world.clock.advance(due.at - world.clock.now)
    world.happen(due)
    assert world.peer.open_request(CASE) is None
    assert world.medical.active(CASE) is None
    decide(world, MdReviewDecision.DENY)
    world.determinations.finalize(CASE, DeterminationDecision.DENIED)
    assert world.cases.get(CASE).status == "denied"


def test_an_offer_that_was_answered_does_not_lapse() -> None:
    contract = PeerContract(side=TaskActor.PROVIDER)
    world, request = asked(contract=contract)
    world.peer.offer(request, MD_2, SLOTS)
    world.peer.offer(request, MD_2, SLOTS)
    (due,) = [d for d in world.clock.agenda.entries() if d.name == "peer_offer_lapses"]
    world.peer.select_slot(CASE, request, SLOT)
    world.happen(due)
    assert world.medical.active(CASE) is not None


def test_a_call_that_is_over_is_not_reopened() -> None:
    def over(rules: Rules) -> ManagedCareWorld:
        world, request = begun(rules)
        say(world, request, "Hello.")
        world.peer.record_outcome(request, MD_2, UPHOLD)
        return world  # type: ignore[no-any-return]

    both(
        over,
        lambda w: w.peer.offer(w.peer.of(CASE)[0].id, MD_2, SLOTS),
        RefusalCode.WRONG_STATE,
    )


def test_the_time_is_the_one_that_was_picked() -> None:
    def offered(rules: Rules) -> ManagedCareWorld:
        world, request = asked(rules)
        world.peer.offer(request, MD_2, SLOTS)
        return world  # type: ignore[no-any-return]

    both(
        offered,
        lambda w: w.peer.schedule(w.peer.of(CASE)[0].id, MD_2, SLOTS[2]),
        RefusalCode.BAD_ARGUMENT,
    )


@pytest.mark.parametrize("rules", Rules)
def test_a_time_is_a_time(rules: Rules) -> None:
    world, request = asked(rules)
    refused(world, RefusalCode.WRONG_STATE, lambda: world.peer.schedule(request, MD_2))
    world.peer.offer(request, MD_2, SLOTS)
    refused(world, RefusalCode.BAD_ARGUMENT, lambda: world.peer.schedule(request, MD_2, "tomorrow"))


def test_nobody_talks_before_the_time() -> None:
    told = both(
        lambda r: fixed(r)[0],
        lambda w: peer_calls.send_turn(w, w.peer.of(CASE)[0].id, "Hello."),
        RefusalCode.WRONG_STATE,
    )
    assert "2026-03-16T16:00" in told


@pytest.mark.parametrize("message", ["  ", "x" * 5000], ids=["blank", "endless"])
def test_a_turn_says_something(message: str) -> None:
    both(
        lambda r: begun(r)[0],
        lambda w: peer_calls.send_turn(w, w.peer.of(CASE)[0].id, message),
        RefusalCode.MISSING_TEXT,
    )


def test_an_outcome_follows_a_call_that_was_held() -> None:
    record = lambda w: w.peer.record_outcome(w.peer.of(CASE)[0].id, MD_2, OVERTURN)  # noqa: E731
    both(lambda r: asked(r)[0], record, RefusalCode.WRONG_STATE)
    both(lambda r: fixed(r)[0], record, RefusalCode.WRONG_STATE)
    both(lambda r: begun(r)[0], record, RefusalCode.UNSUPPORTED_CLAIM)


def test_a_summary_follows_a_call_that_was_held() -> None:
    submit = lambda w: peer_calls.submit_summary(w, w.peer.of(CASE)[0].id, "s", UPHOLD)  # noqa: E731
    both(lambda r: asked(r)[0], submit, RefusalCode.WRONG_STATE)
    both(lambda r: begun(r)[0], submit, RefusalCode.UNSUPPORTED_CLAIM)


def talked(rules: Rules) -> ManagedCareWorld:
    world, request = begun(rules)
    say(world, request, "What did the echo show?")
    return world  # type: ignore[no-any-return]


def test_whoever_talked_records_the_outcome() -> None:
    def talked_by_the_rules(rules: Rules) -> ManagedCareWorld:
        world = talked(rules)
        both_hold = ("physician_reviewer", "appeals_medical_director")
        roles = tuple(map(PayerRole, both_hold))
        world.operations = replace(world.operations, may_hold_peer_to_peer=roles)
        return world

    both(
        talked_by_the_rules,
        lambda w: w.peer.record_outcome(w.peer.of(CASE)[0].id, AMD, UPHOLD),
        RefusalCode.WRONG_OWNER,
    )


def test_a_summary_is_given_once_and_in_words() -> None:
    both(
        talked,
        lambda w: peer_calls.submit_summary(w, w.peer.of(CASE)[0].id, " ", UPHOLD),
        RefusalCode.MISSING_TEXT,
    )

    def summed_up(rules: Rules) -> ManagedCareWorld:
        world = talked(rules)
        peer_calls.submit_summary(world, world.peer.of(CASE)[0].id, "s", UPHOLD)
        return world

    both(
        summed_up,
        lambda w: peer_calls.submit_summary(w, w.peer.of(CASE)[0].id, "s", UPHOLD),
        RefusalCode.DUPLICATE,
    )


@pytest.mark.parametrize("rules", Rules)
def test_an_outcome_is_one_of_two_and_recorded_once(rules: Rules) -> None:
    world = talked(rules)
    request = world.peer.of(CASE)[0].id
    refused(
        world, RefusalCode.BAD_ARGUMENT, lambda: world.peer.record_outcome(request, MD_2, "maybe")
    )
    world.peer.record_outcome(request, MD_2, UPHOLD, "Nothing new.")
    assert world.peer.of(CASE)[0].notes[-1] == "Nothing new."
    refused(
        world, RefusalCode.WRONG_STATE, lambda: world.peer.record_outcome(request, MD_2, OVERTURN)
    )


def test_in_a_strict_world_there_is_always_somebody_to_call() -> None:
    world, request = begun(contract=None)
    assert say(world, request, "Hello?")
    world.peer.record_outcome(request, MD_2, UPHOLD)
    assert world.peer.of(CASE)[0].status == "completed"
