"""Whatever write fails at the review desks, the call leaves nothing behind."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from healthgym.core.journal import InjectedFault
from healthgym.worlds.managed_care.apps.payer import peer_calls
from healthgym.worlds.managed_care.vocabulary.authorization import (
    AppealOutcome,
    DeterminationDecision,
    LetterType,
    MdReviewDecision,
    MemberNotification,
    NurseReviewRecommendation,
    PayerRouteTarget,
    PeerToPeerOutcome,
    SubmissionChannel,
    TaskActor,
)
from healthgym.worlds.managed_care.world import ManagedCareWorld
from tests.sized import some
from tests.worlds.managed_care.apps.payer.review_desk import (
    AMD,
    CASE,
    MD_2,
    NURSE,
    SLOTS,
    appealed_case,
    asked_for_call,
    decide,
    decided,
    desk,
    escalated,
    finalized,
    find_as_nurse,
    on_the_line,
)

Made = Callable[[], ManagedCareWorld]
Act = Callable[[ManagedCareWorld], object]
APPROVED, DENIED = DeterminationDecision.APPROVED, DeterminationDecision.DENIED
#: Enough for the longest call; each must have come to its end before.
MOST = 60


def _request(world: ManagedCareWorld) -> str:
    return world.peer.of(CASE)[0].id


def _given() -> ManagedCareWorld:
    world = appealed_case()
    world.appeals.assign_internal_appeal_reviewer(world.appeals.of(CASE)[0].id, AMD)
    return world


def _lettered() -> ManagedCareWorld:
    world = finalized(APPROVED)
    world.letters.generate(CASE, LetterType.APPROVAL, actor=NURSE)
    return world


def _sum_up(world: ManagedCareWorld) -> object:
    uphold = PeerToPeerOutcome.UPHOLD_INTENDED_ADVERSE_DECISION
    return peer_calls.submit_summary(world, _request(world), "We talked.", uphold)


def _overturn(world: ManagedCareWorld) -> object:
    appeal = world.appeals.of(CASE)[0].id
    outcome = AppealOutcome.APPEAL_OVERTURNED
    return world.appeals.decide_internal_appeal(appeal, AMD, outcome, "It is met.")


CALLS: dict[str, tuple[Made, Act]] = {
    "find": (desk, find_as_nurse),
    "pend": (
        desk,
        lambda w: w.nursing.submit(
            CASE, NurseReviewRecommendation.REQUEST_INFO, info_requested="ECG", reviewer_id=NURSE
        ),
    ),
    "deny": (escalated, lambda w: decide(w, MdReviewDecision.DENY)),
    "ask for a call": (escalated, lambda w: decide(w, MdReviewDecision.P2P_REVIEW)),
    "offer": (asked_for_call, lambda w: w.peer.offer(_request(w), MD_2, SLOTS)),
    "offer to a person": (
        lambda: asked_for_call(TaskActor.PROVIDER),
        lambda w: w.peer.offer(_request(w), MD_2, SLOTS),
    ),
    "talk": (on_the_line, lambda w: peer_calls.send_turn(w, _request(w), "And?")),
    "sum up": (on_the_line, _sum_up),
    "sum up and determine": (lambda: on_the_line(TaskActor.PROVIDER), _sum_up),
    "finalize": (
        lambda: decided(MdReviewDecision.DENY),
        lambda w: w.determinations.finalize(CASE, DENIED),
    ),
    "fast lane": (
        lambda: desk(status="submitted"),
        lambda w: w.determinations.approve_fast_lane(
            CASE, PayerRouteTarget.GOLD_CARD_LANE, "C-INT"
        ),
    ),
    "write": (
        lambda: finalized(DENIED),
        lambda w: w.letters.generate(CASE, LetterType.DENIAL, actor=NURSE),
    ),
    "notify": (
        lambda: finalized(DENIED),
        lambda w: w.letters.notify_member(CASE, MemberNotification.DENIAL, NURSE),
    ),
    "deliver": (_lettered, lambda w: w.letters.deliver("LET-0001", SubmissionChannel.FAX)),
    "appeal": (lambda: finalized(DENIED), lambda w: w.appeals.file(CASE, "It is met.")),
    "overturn": (_given, _overturn),
}


@pytest.mark.parametrize("name", CALLS)
def test_a_call_that_fails_on_our_account_leaves_nothing(name: str) -> None:
    make, act = CALLS[name]
    for number in range(1, MOST, some(1, 3)):
        world = make()
        before = world.digest()
        savepoint = world.journal.begin()
        world.journal.fail_at(number)
        try:
            act(world)
        except InjectedFault:
            world.journal.rollback(savepoint)
            assert world.digest() == before
        else:
            world.journal.fail_at(None)
            world.journal.commit()
            assert number > 1
            assert world.digest() != before
            return
    pytest.fail(f"{name} takes more than {MOST} writes")


@pytest.mark.parametrize("name", CALLS)
def test_a_clone_and_its_original_come_to_the_same(name: str) -> None:
    make, act = CALLS[name]
    world = make()
    twin = world.clone()
    act(world)
    act(twin)
    assert world.digest() == twin.digest()
