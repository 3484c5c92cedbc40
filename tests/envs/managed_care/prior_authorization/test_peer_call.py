"""A call between peers, from the provider's seat: held rightly, held badly, and not held."""

from __future__ import annotations

from datetime import timedelta
from itertools import islice

import pytest

from healthgym.core.tool import ToolCall, call
from healthgym.envs.managed_care.cases.situations import Course
from healthgym.worlds.managed_care import payer_calls
from healthgym.worlds.managed_care.rules import Rules
from healthgym.worlds.managed_care.vocabulary.authorization import (
    CaseStatus,
    LetterType,
    PeerToPeerOutcome,
)
from tests.envs.managed_care.prior_authorization.playing import (
    CASE,
    FINISH,
    Kind,
    changed,
    fails,
    play,
    position,
    solution,
    task,
    without,
)

TURN, PICK = "p2p_session.send_turn", "auth.respond_to_peer_to_peer"


def script(rules: Rules = Rules.STRICT, index: int = 0) -> tuple[Kind, list[ToolCall]]:
    kind = Kind(Course.PEER_CALL, rules=rules, index=index)
    return kind, solution(task(kind))


@pytest.mark.parametrize("rules", Rules)
@pytest.mark.parametrize("index", range(3))
def test_naming_the_version_in_force_turns_the_denial(rules: Rules, index: int) -> None:
    kind, calls = script(rules, index)
    episode = play(task(kind), calls)
    assert not fails(episode)
    world = episode.world
    (request,) = world.peer.requests.values()
    assert request.outcome is PeerToPeerOutcome.OVERTURN_TO_APPROVAL
    (letter,) = world.letters.of(CASE)
    assert letter.letter_type is LetterType.APPROVAL
    policy = task(kind).reference.policy
    assert f"version {policy.version}" in (letter.supporting_basis or "")
    assert world.cases.get(CASE).status is CaseStatus.APPROVED


def test_the_reviewer_and_who_holds_the_call_are_two_people() -> None:
    kind, calls = script()
    world = play(task(kind), calls).world
    (request,) = world.peer.requests.values()
    asked = world.medical.of(CASE)[0]
    assert request.payer_contact_id
    assert request.payer_contact_id != asked.reviewer_id


@pytest.mark.parametrize(
    "message",
    ["Please reconsider, she has suffered enough.", "The version before says the same."],
    ids=["plea", "wrong"],
)
def test_what_names_no_version_changes_nothing(message: str) -> None:
    kind, calls = script()
    bad = changed(calls, TURN, message=message)
    episode = play(task(kind), bad)
    (request,) = episode.world.peer.requests.values()
    assert request.outcome is PeerToPeerOutcome.UPHOLD_INTENDED_ADVERSE_DECISION
    assert episode.world.cases.get(CASE).status is CaseStatus.DENIED
    assert fails(episode) == {"ends_right"}


@pytest.mark.parametrize("left_out", ["answer", "attendance"])
def test_a_call_that_nobody_holds_ends_in_the_denial(left_out: str) -> None:
    kind, calls = script()
    sent = calls[: position(calls, PICK)]
    if left_out == "attendance":
        sent = calls[: position(calls, PICK) + 1]
    until = task(kind).start.now + timedelta(days=20)
    patience = [call("wait", until=f"{until:%Y-%m-%dT%H:%M}")] * 4
    episode = play(task(kind), [*sent, *patience, FINISH], refused=True)
    world = episode.world
    assert world.cases.get(CASE).status is CaseStatus.DENIED
    assert [each.letter_type for each in world.letters.of(CASE)] == [LetterType.DENIAL]
    assert fails(episode) == {"ends_right"}


def test_nobody_can_sum_up_a_call_that_was_not_held() -> None:
    kind, calls = script()
    episode = play(task(kind), without(calls, TURN), refused=True)
    assert any("Nothing was said on the call" in each.error for each in episode.events)
    assert "ends_right" in fails(episode)


def test_a_call_is_held_at_its_time() -> None:
    kind, calls = script()
    place = position(calls, PICK)
    early = [*calls[: place + 1], calls[position(calls, TURN)], *calls[place + 1 :]]
    episode = play(task(kind), early, refused=True)
    assert any("begins at" in each.error for each in episode.events)
    assert not fails(episode)


def test_a_call_is_offered_before_the_decision_is_due() -> None:
    """The defect: times after the limit alone, by which the request was denied as out of time."""
    for index in range(26, 29):
        kind, calls = script(index=index)
        at = position(calls, PICK)
        # Whoever reads for two hours first is asked later in the day.
        slow = [call("wait", until=f"{task(kind).start.now + timedelta(hours=2):%Y-%m-%dT%H:%M}")]
        world = play(task(kind), [*slow, *calls[:at]]).world
        (request,) = world.peer.requests.values()
        first = f"{world.cases.get(CASE).decision_due_at:%Y-%m-%dT%H:%M:%S}"
        assert min(request.offered_slots) < first


def test_who_works_other_hours_offers_any_half_hour(monkeypatch: pytest.MonkeyPatch) -> None:
    usual = payer_calls._times
    monkeypatch.setattr(payer_calls, "_times", lambda *given: islice(usual(*given), 1))
    kind, calls = script()
    (request,) = play(task(kind), calls).world.peer.requests.values()
    assert len(set(request.offered_slots)) == 3
    assert request.offered_slots == tuple(sorted(request.offered_slots))


def test_where_no_times_can_be_offered_the_reviewer_decides(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    kind, calls = script()
    for name in ("_times", "_before"):
        monkeypatch.setattr(payer_calls, name, lambda *_: iter(()))
    episode = play(task(kind), [*calls[: position(calls, PICK)], FINISH], refused=True)
    world = episode.world
    (request,) = world.peer.requests.values()
    assert request.outcome is PeerToPeerOutcome.UPHOLD_INTENDED_ADVERSE_DECISION
    assert request.notes[-1] == payer_calls.NO_TIME
    assert world.cases.get(CASE).status is CaseStatus.DENIED
    assert [letter.letter_type for letter in world.letters.of(CASE)] == [LetterType.DENIAL]
