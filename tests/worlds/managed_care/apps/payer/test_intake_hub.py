"""The intake desk: entries, the hand-over of a packet, and what a strict desk refuses."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, time, timedelta
from typing import Any

import pytest

from healthgym.worlds.managed_care.records.case import SubmissionPacket
from healthgym.worlds.managed_care.records.intake import (
    IntakeAuthHeaderData,
    IntakeCase,
    IntakeDiagnosis,
    IntakeLineItem,
    IntakeProviderInfo,
    SaveDiagnosesPayload,
)
from healthgym.worlds.managed_care.refusals import RefusalCode
from healthgym.worlds.managed_care.rules import Rules
from healthgym.worlds.managed_care.staff import WorkerRole
from healthgym.worlds.managed_care.vocabulary.authorization import (
    AuthorizationType,
    CaseStatus,
    IntakeStatus,
    ProviderNetworkStatus,
    SubmissionChannel,
    Urgency,
)
from healthgym.worlds.managed_care.world import ManagedCareWorld
from tests.worlds.managed_care.apps.payer import desk as desks
from tests.worlds.managed_care.apps.payer.desk import (
    CASE,
    NOW,
    NPI,
    both,
    case,
    intake,
    refused,
    world,
)

OPEN = IntakeStatus.IN_PROGRESS
EVENING = NOW.replace(hour=23)


def _confirm(desk: ManagedCareWorld) -> IntakeCase:
    return desk.intake.confirm(
        CASE,
        request_complete=True,
        member_eligible=True,
        service_covered=True,
        network=ProviderNetworkStatus.IN_NETWORK,
    )


def _packet(channel: SubmissionChannel = SubmissionChannel.FAX) -> SubmissionPacket:
    return SubmissionPacket(
        id="SUB-1",
        case_id=CASE,
        channel=channel,
        payload={},
        attached_document_ids=("DOC-1",),
        submitted_at=NOW,
        status="submitted",
    )


# -- entries -----------------------------------------------------------------------------------


def test_the_first_entry_turns_a_new_record_into_one_in_progress() -> None:
    desk = world(intake(IntakeStatus.NEW))
    saved = desk.intake.save_header(CASE, IntakeAuthHeaderData(owner="W-INT"))
    assert (saved.status, saved.owner, saved.state) == (OPEN, "W-INT", "TX")


def test_a_header_field_that_is_left_out_stays_and_days_are_kept_in_one_form() -> None:
    desk = world(intake(OPEN))
    saved = desk.intake.save_header(CASE, IntakeAuthHeaderData(request_date="03/12/2026"))
    assert (saved.request_date, saved.request_source) == ("2026-03-12", "fax")


@pytest.mark.parametrize("rules", Rules)
def test_a_day_that_is_none_leaves_nothing_behind(rules: Rules) -> None:
    desk = world(intake(OPEN), rules=rules)
    before = desk.content_digest()
    header = IntakeAuthHeaderData(request_date="soon")
    refused(RefusalCode.BAD_ARGUMENT, lambda: desk.intake.save_header(CASE, header))
    line = IntakeLineItem(line_number=0, start_date="whenever")
    refused(RefusalCode.BAD_ARGUMENT, lambda: desk.intake.add_line(CASE, line))
    assert desk.content_digest() == before


def test_diagnoses_replace_those_on_file_unless_none_are_given() -> None:
    desk = world(intake(OPEN))
    given = (IntakeDiagnosis(name="Migraine", code="G43.9"),)
    saved = desk.intake.save_diagnoses(CASE, SaveDiagnosesPayload(diagnoses=given))
    assert saved.diagnoses == given
    named = SaveDiagnosesPayload(diagnosis_type="medical")
    assert desk.intake.save_diagnoses(CASE, named).diagnoses == given


def test_what_is_on_file_is_not_saved_again() -> None:
    def again(rules: Rules) -> object:
        desk = world(intake(OPEN), rules=rules)
        return desk.intake.save_diagnoses(CASE, SaveDiagnosesPayload())

    both(again, RefusalCode.DUPLICATE)


def test_the_provider_is_replaced_as_a_whole() -> None:
    desk = world(intake(OPEN))
    saved = desk.intake.save_provider(CASE, IntakeProviderInfo(npi="2222222222"))
    assert saved.requesting_provider == IntakeProviderInfo(npi="2222222222")


def test_the_facility_is_entered_beside_the_provider() -> None:
    saved = world(intake(OPEN)).intake.save_facility(CASE, IntakeProviderInfo(npi="3333333333"))
    assert saved.servicing_facility == IntakeProviderInfo(npi="3333333333")
    assert saved.requesting_provider
    assert saved.requesting_provider.npi == NPI


def test_lines_are_numbered_replaced_and_taken_out() -> None:
    desk = world(intake(OPEN))
    desk.intake.add_line(CASE, IntakeLineItem(line_number=7, unit_type="days"))
    added = desk.intake.add_line(CASE, IntakeLineItem(line_number=0))
    assert [line.line_number for line in added.line_items] == [1, 7, 8]
    changed = desk.intake.update_line(CASE, 7, IntakeLineItem(line_number=99))
    assert (changed.line_items[1].line_number, changed.line_items[1].unit_type) == (7, None)
    left = desk.intake.remove_line(CASE, 1)
    assert [line.line_number for line in left.line_items] == [7, 8]


def test_the_desk_does_not_show_what_the_hand_over_looked_up() -> None:
    desk = world(intake(OPEN, member_eligible=True))
    assert desk.intake.show(CASE)["member_eligible"] is None
    assert desk.intake.get(CASE).member_eligible is True


def test_reading_the_queue_is_not_logged() -> None:
    desk = world(intake(OPEN))
    desk.intake.queue()
    desk.intake.show(CASE)
    assert not desk.history.looks
    assert not desk.history.entries


def test_a_case_without_a_record_is_named() -> None:
    sentence = refused(RefusalCode.NOT_FOUND, lambda: world().intake.get(CASE))
    assert "list_intake_queue" in sentence


# -- the hand-over -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("channel", "source", "method"),
    [
        (SubmissionChannel.PORTAL, "portal", "portal"),
        (SubmissionChannel.PHONE, "phone", "phone"),
        (SubmissionChannel.FAX, "fax", "fax"),
        (SubmissionChannel.EDI, "edi", "edi"),
        (SubmissionChannel.API, "edi", "api"),
    ],
)
def test_a_channel_says_where_a_request_came_from(
    channel: SubmissionChannel, source: str, method: str
) -> None:
    received = world().intake.receive(CASE, _packet(channel))
    assert (received.request_source, received.method) == (source, method)


def test_a_packet_fills_the_record() -> None:
    desk = world(case(urgency=Urgency.EXPEDITED))
    received = desk.intake.receive(CASE, _packet())
    assert received.status is OPEN
    assert received.received_at == NOW
    assert received.level_of_urgency == "urgent"
    assert [(one.code, one.name, one.is_primary) for one in received.diagnoses] == [
        ("I48.0", "Atrial fibrillation", True)
    ]
    assert received.requesting_provider
    assert received.requesting_provider.npi == NPI
    assert [line.procedures[0].code for line in received.line_items] == ["93653"]
    assert (received.plan_type, received.state, received.owner) == ("Gold PPO", "TX", "W-INT")
    assert desk.cases.get(CASE).payer_intake_case_id == received.id
    assert [entry.name for entry in desk.history.entries] == [
        "payer_intake_hub.create_intake_case",
        "payer_intake_hub.handoff_submission",
    ]


def test_a_resubmission_opens_the_record_again_and_keeps_when_it_was_received() -> None:
    desk = world(intake(received_at=NOW - timedelta(days=1), completed_at=NOW))
    received = desk.intake.receive(CASE, _packet(SubmissionChannel.EDI))
    assert (received.status, received.completed_at) == (OPEN, None)
    assert (received.id, received.received_at) == ("intake-1", NOW - timedelta(days=1))
    assert received.request_source == "edi"


def test_a_reply_leaves_where_the_request_came_from() -> None:
    desk = world(intake(request_source="fax"))
    received = desk.intake.receive(CASE, None, reply=True)
    assert (received.status, received.request_source, received.method) == (OPEN, "fax", "api")


def test_a_reopened_record_of_a_strict_world_needs_its_verdicts_anew() -> None:
    verdict = {"decision_request_complete": True}
    fresh = world(intake(**verdict)).intake.receive(CASE, _packet())
    assert fresh.decision_request_complete is None
    kept = world(intake(**verdict), rules=Rules.COMPAT).intake.receive(CASE, _packet())
    assert kept.decision_request_complete is True


def test_the_payer_sees_what_was_sent() -> None:
    desk = world(_packet())
    listed = desk.intake.list_documents(CASE)["items"]
    assert [row["id"] for row in listed] == ["DOC-1"]  # type: ignore[attr-defined]
    assert not desk.history.looks


# -- what a strict desk refuses, and the source's does not -------------------------------------

Act = Callable[[ManagedCareWorld], object]


def _line(**fields: Any) -> IntakeLineItem:
    return IntakeLineItem(**{"line_number": 0, **fields})


STRICT: list[tuple[str, RefusalCode, tuple[object, ...], Act]] = [
    (
        "a record of a case that nobody handed in",
        RefusalCode.WRONG_STATE,
        (case(CaseStatus.DRAFT),),
        lambda desk: desk.intake.create(CASE, AuthorizationType.SP),
    ),
    (
        "a second record",
        RefusalCode.DUPLICATE,
        (intake(OPEN),),
        lambda desk: desk.intake.create(CASE, AuthorizationType.SP),
    ),
    (
        "an entry in a confirmed record",
        RefusalCode.DUPLICATE,
        (intake(),),
        lambda desk: desk.intake.save_header(CASE, IntakeAuthHeaderData(owner="x")),
    ),
    ("a second confirmation", RefusalCode.DUPLICATE, (intake(),), _confirm),
    *[
        (
            f"a confirmation without {name}",
            RefusalCode.INTAKE_INCOMPLETE,
            (intake(OPEN, **{name: None if name in _empty else ()}),),
            _confirm,
        )
        for _empty in (
            {
                "request_date",
                "state",
                "request_source",
                "method",
                "level_of_urgency",
                "requesting_provider",
            },
        )
        for name in (*sorted(_empty), "diagnoses", "line_items")
    ],
    (
        "a confirmation without the provider's NPI",
        RefusalCode.INTAKE_INCOMPLETE,
        (intake(OPEN, requesting_provider=IntakeProviderInfo(provider_name="Dr X")),),
        _confirm,
    ),
    (
        "a confirmation of a line without a procedure",
        RefusalCode.INTAKE_INCOMPLETE,
        (intake(OPEN, line_items=(IntakeLineItem(line_number=1),)),),
        _confirm,
    ),
    (
        "a line number twice",
        RefusalCode.DUPLICATE,
        (intake(OPEN),),
        lambda desk: desk.intake.add_line(CASE, _line(line_number=1)),
    ),
    (
        "a line that is not there",
        RefusalCode.NOT_FOUND,
        (intake(OPEN),),
        lambda desk: desk.intake.remove_line(CASE, 42),
    ),
    *[
        (
            f"a line with {field} {value!r}",
            RefusalCode.BAD_ARGUMENT,
            (intake(OPEN),),
            lambda desk, field=field, value=value: desk.intake.add_line(
                CASE, _line(**{field: value})
            ),
        )
        for field, value in (
            ("service_type", "magic"),
            ("line_item_type", "second"),
            ("level_of_urgency", "very"),
            ("place_of_service", "garage"),
            ("unit_type", "boxes"),
            ("requested_units", 0),
        )
    ],
    (
        "a line that ends before it starts",
        RefusalCode.BAD_ARGUMENT,
        (intake(OPEN),),
        lambda desk: desk.intake.add_line(
            CASE, _line(start_date="2026-04-02", end_date="2026-04-01")
        ),
    ),
    *[
        (
            f"a header with {field} {value!r}",
            RefusalCode.BAD_ARGUMENT,
            (intake(OPEN),),
            lambda desk, field=field, value=value: desk.intake.save_header(
                CASE, IntakeAuthHeaderData(**{field: value})
            ),
        )
        for field, value in (
            ("request_source", "pigeon"),
            ("method", "pigeon"),
            ("level_of_urgency", "very"),
            ("state", "Texas"),
        )
    ],
    (
        "a diagnosis without a code",
        RefusalCode.BAD_ARGUMENT,
        (intake(OPEN),),
        lambda desk: desk.intake.save_diagnoses(
            CASE, SaveDiagnosesPayload(diagnoses=(IntakeDiagnosis(name="AF", code=" "),))
        ),
    ),
    (
        "a diagnosis type that there is not",
        RefusalCode.BAD_ARGUMENT,
        (intake(OPEN),),
        lambda desk: desk.intake.save_diagnoses(CASE, SaveDiagnosesPayload(diagnosis_type="odd")),
    ),
    (
        "an NPI of nine digits",
        RefusalCode.BAD_ARGUMENT,
        (intake(OPEN),),
        lambda desk: desk.intake.save_provider(CASE, IntakeProviderInfo(npi="123456789")),
    ),
]


@pytest.mark.parametrize(
    ("code", "records", "act"), [row[1:] for row in STRICT], ids=[row[0] for row in STRICT]
)
def test_only_a_strict_desk_refuses(
    code: RefusalCode, records: tuple[object, ...], act: Act
) -> None:
    both(lambda rules: act(world(*records, rules=rules)), code)


@pytest.mark.parametrize(
    "act", [row[3] for row in STRICT[-1:]] + [_confirm], ids=["save", "confirm"]
)
def test_nobody_makes_entries_after_hours(act: Act) -> None:
    def enter(rules: Rules) -> object:
        desk = world(intake(OPEN), rules=rules, now=EVENING, actor="provider")
        if act is _confirm:
            return _confirm(desk)
        return desk.intake.save_header(CASE, IntakeAuthHeaderData(owner="x"))

    sentence = both(enter, RefusalCode.OFF_DUTY)
    assert "back on 2026-03-16 at 13:00 UTC" in sentence


def test_an_entry_is_made_by_whoever_uses_the_desk_or_by_its_clerk() -> None:
    for actor in ("W-INT", "provider"):
        desk = world(intake(OPEN), actor=actor)
        desk.intake.save_header(CASE, IntakeAuthHeaderData(owner="x"))
        assert desk.history.entries[-1].actor == "W-INT"


def test_who_is_out_has_an_entry_made_by_whoever_is_in(monkeypatch: pytest.MonkeyPatch) -> None:
    evening = ("W-EVE", WorkerRole.INTAKE_COORDINATOR, (time(13), time(21)))
    monkeypatch.setattr(desks, "WORKERS", (*desks.WORKERS, evening))
    desk = world(intake(OPEN), now=EVENING)
    _confirm(desk)
    assert desk.history.entries[-1].actor == "W-EVE"


def test_a_confirmed_record_is_complete_and_says_when() -> None:
    done = _confirm(world(intake(OPEN)))
    assert (done.status, done.completed_at) == (IntakeStatus.COMPLETE, NOW)
    assert done.decision_member_eligible is True
    assert isinstance(done.completed_at, datetime)
    assert replace(done, status=OPEN) != done
