"""Taking a request in at its front door: by somebody who knows what came, and by a reader."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import date, time

from healthgym.envs.managed_care.reading.asking import Play
from healthgym.envs.managed_care.reading.layout import Row, table
from healthgym.envs.managed_care.utilization_management.reader import Reader, fields_of
from healthgym.envs.managed_care.utilization_management.working import Desk
from healthgym.errors import DataError
from healthgym.worlds.managed_care.calendar import OfficeCalendar, office_calendar
from healthgym.worlds.managed_care.records.doors import Arrival
from healthgym.worlds.managed_care.vocabulary.authorization import DocumentKind, SubmissionChannel

_FAX, _EDI, _CALLS = "payer_fax_room", "payer_edi_gateway", "payer_call_center"
_CALLER = (
    re.compile(r"this is (.+?) from "),
    re.compile(r"\A(?:Good day, )?(.+?) (?:speaking|here), "),
)
_ASKED = (
    re.compile(r": we ask for (.+?)\. "),
    re.compile(r"We need (.+?) authorized\. "),
    re.compile(r"It is about (.+?)\. "),
)
_SENTENCE = re.compile(r"(?<=[.?]) ")
_URGENT = re.compile(r"(?<!not )\burgent\b|\bexpedited\b|\bcannot wait\b")
_NUMBER = (re.compile(r"(?:me at|number is|Call) ([\d-]+)"),)
_BACK = re.compile(r" on \w+, (\d{4}-\d\d-\d\d)(?: at|,) (\d\d:\d\d) (\w+) time")
#: A region on each clock.
_CLOCKS: dict[str, OfficeCalendar] = {
    office_calendar(state).zone: office_calendar(state) for state in ("NY", "TX", "CO", "CA")
}


def take_in(desk: Desk, case_id: str) -> None:
    """Take a request in as it came.

    Args:
        desk: Where calls are made.
        case_id: The case.
    """
    world = desk.world
    come = world.doors.waiting(case_id)
    if come is None:
        return
    case = world.cases.get(case_id)
    member = world.charts[case.patient_id].patient.member_id
    match come.channel:
        case SubmissionChannel.FAX:
            desk.do(f"{_FAX}.receive")
            _index(desk, come, member)
            desk.do(f"{_FAX}.attach", fax_id=come.id)
        case SubmissionChannel.EDI if come.envelope is not None:
            desk.do(f"{_EDI}.inquire_status")
            desk.do(
                f"{_EDI}.submit_278_request",
                case_id=case_id,
                sender_id=come.envelope.sender,
                receiver_id=come.envelope.receiver,
                control_number=come.envelope.control_number,
            )
        case _ if come.said is not None:
            said = come.said
            desk.do(f"{_CALLS}.create_intake", case_id=case_id)
            desk.do(
                f"{_CALLS}.record_note",
                case_id=case_id,
                caller=said.caller,
                callback_number=said.number,
                member_id=member,
                service=world.cases.order(case.service_request_id).description,
                urgency_words=said.urgency,
            )
            if said.call_back_at is not None:
                desk.do(
                    f"{_CALLS}.create_callback",
                    case_id=case_id,
                    number=said.number,
                    at=f"{said.call_back_at:%Y-%m-%dT%H:%M}",
                )


def _index(desk: Desk, come: Arrival, member: str) -> None:
    desk.do(
        f"{_FAX}.index",
        fax_id=come.id,
        case_id=come.case_id,
        member_id=member,
        document_kind=str(DocumentKind.SUBMISSION_BUNDLE),
    )


class DoorReader(Reader):
    """Somebody who takes in what waits at a front door, from what is shown there."""

    def _open_door(self) -> Play[None]:
        if self.brief.door == "fax":
            yield from self._take_fax()
        elif self.brief.door == "EDI":
            yield from self._take_envelope()
        else:
            yield from self._take_call()

    def _take_fax(self) -> Play[None]:
        tray = yield from self._do(f"{_FAX}.receive")
        own = _only(
            row for row in table(tray, "items") if row.get("member_id") == self.brief.member
        )
        yield from self._do(
            f"{_FAX}.index",
            fax_id=own["fax_id"],
            case_id=self.case_id,
            member_id=self.brief.member,
            document_kind="submission_bundle",
        )
        yield from self._do(f"{_FAX}.attach", fax_id=own["fax_id"])

    def _take_envelope(self) -> Play[None]:
        basket = yield from self._do(f"{_EDI}.inquire_status")
        mark = f"*MI*{self.brief.member}~"
        own = _only(row for row in table(basket, "items") if mark in row["interchange"])
        header = [part.strip() for part in own["interchange"].split("~")[0].split("*")]
        yield from self._do(
            f"{_EDI}.submit_278_request",
            case_id=self.case_id,
            sender_id=header[6],
            receiver_id=header[8],
            control_number=header[13],
        )

    def _take_call(self) -> Play[None]:
        shown = yield from self._do(f"{_CALLS}.create_intake", case_id=self.case_id)
        said = fields_of(shown)["said"]
        number = _part(_NUMBER, said)
        urgent = [each for each in _SENTENCE.split(said) if _URGENT.search(each)]
        yield from self._do(
            f"{_CALLS}.record_note",
            case_id=self.case_id,
            caller=_part(_CALLER, said),
            callback_number=number,
            member_id=self.brief.member,
            service=_part(_ASKED, said),
            urgency_words=urgent[0] if urgent else "",
        )
        back = _BACK.search(said)
        if back is not None:
            at = _CLOCKS[back[3]].utc(date.fromisoformat(back[1]), time.fromisoformat(back[2]))
            yield from self._do(
                f"{_CALLS}.create_callback",
                case_id=self.case_id,
                number=number,
                at=f"{at:%Y-%m-%dT%H:%M}",
            )


def _only(rows: Iterable[Row]) -> Row:
    """Return the one row that there is.

    Raises:
        DataError: If there is none, or several.
    """
    found = list(rows)
    if len(found) != 1:
        raise DataError(f"{len(found)} of what waits are the member's.")
    return found[0]


def _part(patterns: Iterable[re.Pattern[str]], said: str) -> str:
    """Return what the first pattern finds that finds something.

    Raises:
        DataError: If none does.
    """
    for pattern in patterns:
        if found := pattern.search(said):
            return found[1]
    raise DataError("The caller's words are not as usual.")
