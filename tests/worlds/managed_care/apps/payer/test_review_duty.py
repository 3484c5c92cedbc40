"""Reviewers work in their hours."""

from __future__ import annotations

from dataclasses import replace
from datetime import time, timedelta

from healthgym.worlds.managed_care import duty
from healthgym.worlds.managed_care.contracts import PeerContract
from healthgym.worlds.managed_care.refusals import RefusalCode
from healthgym.worlds.managed_care.rules import Rules
from healthgym.worlds.managed_care.staff import Staff, Worker, WorkerRole
from healthgym.worlds.managed_care.vocabulary.authorization import (
    MdReviewDecision,
    NurseReviewRecommendation,
    TaskActor,
)
from healthgym.worlds.managed_care.world import ManagedCareWorld
from tests.worlds.managed_care.apps.payer.review_desk import (
    CASE,
    MD_2,
    NURSE,
    SLOTS,
    both,
    decided,
    desk,
    find_as_nurse,
    refused,
)


def with_hours(world: ManagedCareWorld) -> ManagedCareWorld:
    """Return a world whose nurse and second physician keep hours, in Texas."""
    workers = tuple(
        Worker(id=who, name=who, role=role, organization_id="ORG-PAYER", region="TX", hours=hours)
        for who, role, hours in (
            (NURSE, WorkerRole.UM_NURSE, (time(3), time(12))),
            (MD_2, WorkerRole.PHYSICIAN_REVIEWER, (time(8), time(17))),
        )
    )
    contacts = tuple(world.staff.contacts.values())
    world.staff = Staff(workers, contacts, ())
    return world


def test_a_nurse_recommends_while_she_is_in() -> None:
    def evening(rules: Rules) -> ManagedCareWorld:
        world = with_hours(find_as_nurse(desk(rules)))
        world.clock.advance(timedelta(hours=9))
        return world

    approve = NurseReviewRecommendation.APPROVE
    told = both(
        evening,
        lambda w: w.nursing.submit(CASE, approve, reviewer_id=NURSE),
        RefusalCode.OFF_DUTY,
    )
    assert "back on" in told


def test_times_of_a_call_are_in_the_hours_of_member_and_physician() -> None:
    def asked(rules: Rules) -> ManagedCareWorld:
        world = decided(MdReviewDecision.P2P_REVIEW, rules)
        world = with_hours(world)
        workers = world.staff.workers
        early = replace(workers[MD_2], hours=(time(3), time(13)))
        world.staff = Staff((workers[NURSE], early), tuple(world.staff.contacts.values()), ())
        return world

    def offer(world: ManagedCareWorld, slot: str) -> object:
        return world.peer.offer(world.peer.of(CASE)[0].id, MD_2, (*SLOTS[:2], slot))

    noon = "2026-03-18T17:30:00"
    offer(asked(Rules.STRICT), noon)
    after = "2026-03-18T18:30:00"  # the member's office is open, hers is not
    both(asked, lambda w: offer(w, after), RefusalCode.BAD_ARGUMENT)


def test_a_time_is_confirmed_while_the_physician_is_out() -> None:
    contract = PeerContract(side=TaskActor.PAYER)
    world = decided(MdReviewDecision.P2P_REVIEW, contract=contract)
    request = world.peer.of(CASE)[0].id
    world.peer.offer(request, MD_2, SLOTS)
    with_hours(world)
    refused(world, RefusalCode.OFF_DUTY, lambda: duty.require_in(world, MD_2))
    refused(world, RefusalCode.ROLE_FORBIDDEN, lambda: world.peer.schedule(request, NURSE))
    world.peer.schedule(request, MD_2)
    assert world.peer.of(CASE)[0].scheduled_at == SLOTS[0]
