"""Whatever write fails at the front desks, the call leaves nothing behind."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from healthgym.core.journal import InjectedFault
from healthgym.worlds.managed_care.records.case import SubmissionPacket
from healthgym.worlds.managed_care.records.intake import IntakeAuthHeaderData
from healthgym.worlds.managed_care.vocabulary.authorization import (
    DocumentKind,
    IntakeStatus,
    ProviderNetworkStatus,
    SubmissionChannel,
    TriageDisposition,
    TriageUrgency,
)
from healthgym.worlds.managed_care.world import ManagedCareWorld
from tests.worlds.managed_care.apps.payer.desk import CASE, NOW, intake, policy, world

PACKET = SubmissionPacket(
    id="SUB-1",
    case_id=CASE,
    channel=SubmissionChannel.FAX,
    payload={},
    attached_document_ids=("DOC-1",),
    submitted_at=NOW,
    status="submitted",
)
#: Enough for the longest call; each must have come to its end before.
MOST = 60


def _triaged(card: bool = False) -> ManagedCareWorld:
    desk = world(intake(), policy(gold_card_eligible=card))
    _dispose(desk, card)
    return desk


def _dispose(desk: ManagedCareWorld, card: bool = False) -> object:
    return desk.triage.set_disposition(
        CASE,
        urgency=TriageUrgency.ROUTINE,
        deadline="2026-03-16T14:00",
        hours=72,
        rule_source="state:TX",
        gold_card=card,
        disposition=TriageDisposition.NURSE_REVIEW,
        reason="Nothing urgent.",
        actor="W-INT",
    )


def _faxed() -> ManagedCareWorld:
    desk = ManagedCareWorld(replace(world(PACKET).start, front_doors=True))
    desk.intake.receive(CASE, PACKET)
    fax = next(iter(desk.doors.arrivals))
    desk.doors.index(fax, CASE, "M-1", DocumentKind.OTHER)
    return desk


def _confirm(desk: ManagedCareWorld) -> object:
    return desk.intake.confirm(
        CASE,
        request_complete=True,
        member_eligible=True,
        service_covered=True,
        network=ProviderNetworkStatus.IN_NETWORK,
    )


CALLS: dict[str, tuple[Callable[[], ManagedCareWorld], Callable[[ManagedCareWorld], Any]]] = {
    "hand over": (lambda: world(PACKET), lambda desk: desk.intake.receive(CASE, PACKET)),
    "header": (
        lambda: world(intake(IntakeStatus.NEW)),
        lambda desk: desk.intake.save_header(CASE, IntakeAuthHeaderData(owner="x")),
    ),
    "confirm": (lambda: world(intake(IntakeStatus.IN_PROGRESS)), _confirm),
    "dispose": (lambda: world(intake()), _dispose),
    "route": (_triaged, lambda desk: desk.triage.route(CASE, "W-INT", None)),
    "fast lane": (lambda: _triaged(True), lambda desk: desk.triage.route(CASE, "W-INT", None)),
    "attach": (_faxed, lambda desk: desk.doors.attach(next(iter(desk.doors.arrivals)))),
    "withdraw": (world, lambda desk: desk.intake.withdraw(CASE, "")),
}


@pytest.mark.parametrize("name", CALLS)
def test_a_call_that_fails_on_our_account_leaves_nothing(name: str) -> None:
    make, act = CALLS[name]
    for number in range(1, MOST):
        desk = make()
        before = desk.digest()
        savepoint = desk.journal.begin()
        desk.journal.fail_at(number)
        try:
            act(desk)
        except InjectedFault:
            desk.journal.rollback(savepoint)
            assert desk.digest() == before
        else:
            desk.journal.fail_at(None)
            desk.journal.commit()
            assert number > 1
            assert desk.digest() != before
            return
    pytest.fail(f"{name} takes more than {MOST} writes")


@pytest.mark.parametrize("name", CALLS)
def test_a_clone_and_its_original_come_to_the_same(name: str) -> None:
    make, act = CALLS[name]
    desk = make()
    twin = desk.clone()
    act(desk)
    act(twin)
    assert desk.digest() == twin.digest()
