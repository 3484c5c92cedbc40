"""The front doors: what waits there, what opens it, and what each door refuses."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from healthgym.worlds.managed_care import deadlines
from healthgym.worlds.managed_care.records.case import SubmissionPacket
from healthgym.worlds.managed_care.records.doors import Arrival
from healthgym.worlds.managed_care.refusals import RefusalCode
from healthgym.worlds.managed_care.vocabulary.authorization import (
    CaseStatus,
    DocumentKind,
    IntakeStatus,
    SubmissionChannel,
)
from healthgym.worlds.managed_care.world import ManagedCareWorld
from tests.worlds.managed_care.apps.payer.desk import CASE, NOW, case, refused, world

NOTE: dict[str, Any] = {
    "caller": "Dr Orsini",
    "callback_number": "617-555-0100",
    "member_id": "M-1",
    "service": "Ablation",
    "urgency_words": "",
}


def _arrived(
    channel: SubmissionChannel, *, doors: bool = True, records: tuple[object, ...] = ()
) -> ManagedCareWorld:
    """Return a world in which a request has just come in by a channel."""
    packet = SubmissionPacket(
        id="SUB-1",
        case_id=CASE,
        channel=channel,
        payload={},
        attached_document_ids=("DOC-1",),
        submitted_at=NOW,
        status="submitted",
    )
    start = world(packet, *records).start
    desk = ManagedCareWorld(replace(start, front_doors=doors))
    desk.intake.receive(CASE, packet)
    return desk


def _is_open(desk: ManagedCareWorld) -> bool:
    intake, seen = desk.intake.get(CASE), desk.intake.documents(CASE)
    assert bool(seen) == bool(intake.line_items)
    return intake.status is IntakeStatus.IN_PROGRESS


def _fax(desk: ManagedCareWorld) -> str:
    return next(iter(desk.doors.arrivals))


@pytest.mark.parametrize("channel", [SubmissionChannel.PORTAL, SubmissionChannel.API])
def test_portal_and_api_open_a_request_at_once(channel: SubmissionChannel) -> None:
    assert _is_open(_arrived(channel))


WAITING = [SubmissionChannel.FAX, SubmissionChannel.EDI, SubmissionChannel.PHONE]


@pytest.mark.parametrize("channel", WAITING)
def test_other_doors_let_a_request_wait_on_the_clock(channel: SubmissionChannel) -> None:
    desk = _arrived(channel)
    assert not _is_open(desk)
    assert desk.intake.get(CASE).received_at == NOW
    assert {due.name for due in desk.clock.agenda.entries()} >= deadlines.NAMES - {
        deadlines.APPEAL_OVERDUE
    }


@pytest.mark.parametrize("channel", WAITING)
def test_without_front_doors_nothing_waits(channel: SubmissionChannel) -> None:
    assert _is_open(_arrived(channel, doors=False))


@pytest.mark.parametrize(("channel", "hours"), list(zip(WAITING, (4, 1, 2), strict=True)))
@pytest.mark.parametrize("open_in_time", [True, False])
def test_what_waits_too_long_is_told_to_the_supervisor(
    channel: SubmissionChannel, hours: int, open_in_time: bool
) -> None:
    desk = _arrived(channel)
    due = next(d for d in desk.clock.agenda.entries() if d.name == deadlines.DOOR_OVERDUE)
    assert due.at == NOW + timedelta(hours=hours)
    if open_in_time:
        desk.doors.arrivals[_fax(desk)] = replace(desk.doors.arrivals[_fax(desk)], taken_in_at=NOW)
    deadlines.on_due(desk, due)
    assert len(desk.inbox.messages) == (0 if open_in_time else 1)


def test_a_fax_is_indexed_and_attached() -> None:
    desk = _arrived(SubmissionChannel.FAX)
    cover = desk.doors.tray()["items"][0]  # type: ignore[index]
    assert (cover["member_id"], cover["pages"]) == ("M-1", 2)
    assert f"{cover['index_by']:%Y-%m-%dT%H:%M}" == "2026-03-13T18:00"  # four business hours
    fax = desk.doors.index(_fax(desk), CASE, "M-1", DocumentKind.CHART_NOTE)
    assert not _is_open(desk)
    desk.doors.attach(fax.id)
    assert _is_open(desk)
    assert desk.doors.tray()["items"] == ()


def test_an_envelope_opens_an_edi_request_and_documents_follow() -> None:
    desk = _arrived(SubmissionChannel.EDI)
    desk.doors.open_envelope(CASE, "ORG-1", "ORG-2", "000000017")
    assert _is_open(desk)
    desk.doors.reference("000000017", "DOC-1")
    assert desk.doors.inquire("000000017")["documents"] == ("DOC-1",)


def test_the_note_of_a_call_opens_a_request_by_telephone() -> None:
    desk = _arrived(SubmissionChannel.PHONE)
    assert "number M-1" in str(desk.doors.answer(CASE)["said"])
    assert not _is_open(desk)
    desk.doors.note(CASE, **NOTE)
    assert _is_open(desk)


def test_a_call_is_promised_in_office_hours() -> None:
    desk = _arrived(SubmissionChannel.PHONE)
    promised = desk.doors.call_back(CASE, "617-555-0100", "2026-03-16T15:00")
    assert desk.doors.callbacks[promised.id].case_id == CASE


def test_a_fax_that_cannot_be_read_is_asked_for_again() -> None:
    black = Arrival(
        id="FAX-9", case_id=CASE, channel=SubmissionChannel.FAX, received_at=NOW, readable=False
    )
    desk = world(black)
    act = lambda: desk.doors.index("FAX-9", CASE, "M-1", DocumentKind.OTHER)  # noqa: E731
    refused(RefusalCode.WRONG_STATE, act)
    desk.doors.mark_unreadable("FAX-9", "Page 2 is black.")
    assert "Page 2 is black." in next(iter(desk.inbox.messages.values())).body
    assert desk.doors.tray()["items"] == ()


Act = Callable[[ManagedCareWorld], object]
FAX, EDI, PHONE = WAITING
REFUSED: list[tuple[str, SubmissionChannel, RefusalCode, Act]] = [
    (
        "attach before index",
        FAX,
        RefusalCode.WRONG_STATE,
        lambda desk: desk.doors.attach(_fax(desk)),
    ),
    (
        "index to another member",
        FAX,
        RefusalCode.WRONG_OWNER,
        lambda desk: desk.doors.index(_fax(desk), CASE, "M-2", DocumentKind.OTHER),
    ),
    (
        "a readable fax marked unreadable",
        FAX,
        RefusalCode.UNSUPPORTED_CLAIM,
        lambda desk: desk.doors.mark_unreadable(_fax(desk), ""),
    ),
    ("an unknown fax", FAX, RefusalCode.NOT_FOUND, lambda desk: desk.doors.attach("FAX-77")),
    *[
        (
            f"an envelope with {values}",
            EDI,
            RefusalCode.BAD_ARGUMENT,
            lambda desk, values=values: desk.doors.open_envelope(CASE, *values),
        )
        for values in (
            (" ", "ORG-2", "000000017"),
            ("ORG-1", "ORG-1", "000000017"),
            ("ORG-1", "ORG-2", "17"),
        )
    ],
    (
        "an unknown control number",
        EDI,
        RefusalCode.NOT_FOUND,
        lambda desk: desk.doors.reference("000000099", "DOC-1"),
    ),
    (
        "an envelope for a fax",
        FAX,
        RefusalCode.WRONG_STATE,
        lambda desk: desk.doors.open_envelope(CASE, "ORG-1", "ORG-2", "000000017"),
    ),
    (
        "a note without a caller",
        PHONE,
        RefusalCode.MISSING_TEXT,
        lambda desk: desk.doors.note(CASE, **{**NOTE, "caller": " "}),
    ),
    (
        "a note about another member",
        PHONE,
        RefusalCode.WRONG_OWNER,
        lambda desk: desk.doors.note(CASE, **{**NOTE, "member_id": "M-2"}),
    ),
    (
        "a call on Sunday",
        PHONE,
        RefusalCode.BAD_ARGUMENT,
        lambda desk: desk.doors.call_back(CASE, "1", "2026-03-15T15:00"),
    ),
    (
        "a call in the past",
        PHONE,
        RefusalCode.BAD_ARGUMENT,
        lambda desk: desk.doors.call_back(CASE, "1", "2026-03-12T15:00"),
    ),
]


@pytest.mark.parametrize(
    ("channel", "code", "act"), [row[1:] for row in REFUSED], ids=[row[0] for row in REFUSED]
)
def test_a_door_refuses(channel: SubmissionChannel, code: RefusalCode, act: Act) -> None:
    desk = _arrived(channel)
    refused(code, lambda: act(desk))
    assert not _is_open(desk)


def test_a_document_that_was_not_sent_has_no_reference() -> None:
    desk = _arrived(EDI)
    desk.doors.open_envelope(CASE, "ORG-1", "ORG-2", "000000017")
    refused(RefusalCode.NOT_FOUND, lambda: desk.doors.reference("000000017", "DOC-2"))


def test_a_fax_is_filed_once() -> None:
    desk = _arrived(FAX)
    fax = desk.doors.index(_fax(desk), CASE, "M-1", DocumentKind.OTHER)
    desk.doors.attach(fax.id)
    refused(RefusalCode.DUPLICATE, lambda: desk.doors.attach(fax.id))


@pytest.mark.parametrize(
    "status",
    [CaseStatus.SUBMITTED, CaseStatus.UNDER_REVIEW, CaseStatus.PENDED_ACTION_REQUIRED],
)
def test_an_undecided_request_can_be_withdrawn(status: CaseStatus) -> None:
    desk = world(case(status))
    assert desk.intake.withdraw(CASE, "Another treatment.").status is CaseStatus.CLOSED
    assert desk.cases.get(CASE).outcome_reason == "Withdrawn by the sender. Another treatment."


@pytest.mark.parametrize("status", [CaseStatus.DRAFT, CaseStatus.APPROVED, CaseStatus.CLOSED])
def test_nothing_else_can(status: CaseStatus) -> None:
    refused(RefusalCode.WRONG_STATE, lambda: world(case(status)).intake.withdraw(CASE, ""))
