"""What comes with a request through a front door: an interchange, a telephone call.

Which words a caller finds and which numbers an envelope has follow from the case, so that the same
request comes in the same way whenever it is played.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

import numpy as np

from healthgym.core.records import replace
from healthgym.core.seeding import stable_hash
from healthgym.worlds.managed_care.calendar import OfficeCalendar, office_calendar
from healthgym.worlds.managed_care.records.case import PriorAuthCase, SubmissionPacket
from healthgym.worlds.managed_care.records.chart import DocumentReference, Patient
from healthgym.worlds.managed_care.records.doors import Arrival, CallerWords, Envelope
from healthgym.worlds.managed_care.staff import Worker
from healthgym.worlds.managed_care.vocabulary.authorization import SubmissionChannel, Urgency

if TYPE_CHECKING:
    from healthgym.worlds.managed_care.world import ManagedCareWorld

#: Said where a request is expedited; from where "because" may go on.
_URGENT = (
    "it is urgent and cannot wait for the standard review",
    "the doctor asks for an expedited review, since waiting could do serious harm",
    "this cannot wait, the doctor fears a lasting loss of function",
    "we need an answer within days, the doctor calls it urgent",
)
#: Said where it is not; none of it claims that anything is urgent.
_CALM = (
    "There is no hurry about it.",
    "It is a routine request.",
    "It would be nice to hear soon, but it is not urgent.",
    "",
)
_GREETINGS = (
    "Hello, this is {caller} from {practice}.",
    "Good day, {caller} speaking, of {practice}.",
    "{caller} here, I am calling for {practice}.",
)
_ASKS = (
    "I would like to ask for an authorization for {member}, member number {id}. It is about "
    "{service}.",
    "We need {service} authorized. The member is {member}, number {id}.",
    "It is about {member}, member number {id}: we ask for {service}.",
)
_REACHED = ("You can reach me at {number}.", "My number is {number}.", "Call {number}, that is me.")
_BACK = (
    "Please call me back on {day} at {clock} {zone} time.",
    "Could somebody ring me on {day}, {clock} {zone} time?",
)
_NO_CALL = ("Nobody has to call back.", "")
#: Chance that a caller wants to be called back.
_CALLED_BACK = 0.5
#: Characters on a page, for the count of a fax's pages; the first one is the cover.
_PAGE = 1800


def came_in(
    world: ManagedCareWorld,
    case: PriorAuthCase,
    patient: Patient,
    packet: SubmissionPacket,
    documents: Sequence[DocumentReference],
) -> Arrival:
    """Return what has come in, with the envelope of an EDI request or the words of a caller.

    Args:
        world: The world in which it comes in.
        case: The case, which need not be in the world yet.
        patient: Whose it is.
        packet: What was sent, when, and by which door.
        documents: The papers of the packet.
    """
    fax = packet.channel is SubmissionChannel.FAX
    arrival = Arrival(
        id=world.doors.draw_id("FAX-" if fax else "ARR-"),
        case_id=case.id,
        channel=packet.channel,
        received_at=packet.submitted_at,
        pages=1 + sum(1 + len(each.content) // _PAGE for each in documents) if fax else 0,
    )
    rng = _rng(arrival, patient.member_id)
    if arrival.channel is SubmissionChannel.EDI:
        return replace(arrival, envelope=_envelope(world, rng))
    if arrival.channel is SubmissionChannel.PHONE:
        return replace(arrival, said=_words(world, case, arrival.received_at, rng))
    return arrival


def interchange(world: ManagedCareWorld, arrival: Arrival) -> str:
    """Return an EDI request as it lies at the gateway: the segments of its 278."""
    envelope = arrival.envelope
    if envelope is None:
        return ""
    case = world.cases.get(arrival.case_id)
    patient, order = _patient(world, case), world.cases.order(case.service_request_id)
    at = arrival.received_at
    sender, receiver = envelope.sender, envelope.receiver
    segments = (
        f"ISA*00*{'':10}*00*{'':10}*ZZ*{sender:15}*ZZ*{receiver:15}*{at:%y%m%d}*{at:%H%M}*^*00501*"
        f"{envelope.control_number}*0*P*:",
        f"GS*HI*{sender}*{receiver}*{at:%Y%m%d}*{at:%H%M}*{envelope.group_number}*X*005010X217",
        "ST*278*0001*005010X217",
        f"BHT*0007*13*{case.external_case_id}*{at:%Y%m%d}*{at:%H%M}",
        f"NM1*IL*1*{patient.last_name}*{patient.first_name}****MI*{patient.member_id}",
        *(f"HI*ABK:{code}" for code in order.diagnosis_codes),
        f"SV1*HC:{order.procedure_code}",
        f"IEA*1*{envelope.control_number}",
    )
    return "~".join(segments) + "~"


def spoken(world: ManagedCareWorld, arrival: Arrival) -> str:
    """Return what the caller said who made a request by telephone."""
    said = arrival.said
    if said is None:
        return ""
    case = world.cases.get(arrival.case_id)
    patient, order = _patient(world, case), world.cases.order(case.service_request_id)
    rng = _rng(arrival, patient.member_id, "spoken")
    calendar = _calendar(world, case)
    back = str(rng.choice(_NO_CALL))
    if said.call_back_at is not None:
        local = calendar.local(said.call_back_at)
        back = str(rng.choice(_BACK)).format(
            day=f"{local:%A, %Y-%m-%d}", clock=f"{local:%H:%M}", zone=calendar.zone
        )
    parts = (
        str(rng.choice(_GREETINGS)).format(caller=said.caller, practice=world.start.provider.name),
        str(rng.choice(_ASKS)).format(
            member=f"{patient.first_name} {patient.last_name}",
            id=patient.member_id,
            service=order.description,
        ),
        f"{said.urgency[0].upper()}{said.urgency[1:]}." if said.urgency else said.calm,
        str(rng.choice(_REACHED)).format(number=said.number),
        back,
    )
    return " ".join(filter(None, parts))


def caller_calendar(world: ManagedCareWorld, case_id: str) -> OfficeCalendar:
    """Return the office hours of whoever asks for the service of a case."""
    return _calendar(world, world.cases.get(case_id))


def _envelope(world: ManagedCareWorld, rng: np.random.Generator) -> Envelope:
    number, group = (int(n) for n in rng.integers((1_000, 100), (999_999, 9_999)))
    return Envelope(
        sender=world.start.provider.id,
        receiver=world.start.payer.id,
        control_number=f"{number:09}",
        group_number=str(group),
    )


def _words(
    world: ManagedCareWorld, case: PriorAuthCase, at: datetime, rng: np.random.Generator
) -> CallerWords:
    line = f"555-01{int(rng.integers(100)):02}"
    asks = _colleagues(world, case)
    worker = asks[int(rng.integers(len(asks)))] if asks else None
    urgent = case.urgency is Urgency.EXPEDITED
    wished = None
    if rng.random() < _CALLED_BACK:
        calendar = _calendar(world, case)
        day = calendar.next_business_day(calendar.local(at).date())
        quarters = int(rng.integers(4, 24))
        wished = calendar.utc(day, calendar.opens) + timedelta(minutes=15 * quarters)
    return CallerWords(
        caller=worker.name if worker else world.start.provider.name,
        number=worker.phone if worker and worker.phone else line,
        urgency=str(rng.choice(_URGENT)) if urgent else "",
        calm="" if urgent else str(rng.choice(_CALM)),
        call_back_at=wished,
    )


def _colleagues(world: ManagedCareWorld, case: PriorAuthCase) -> tuple[Worker, ...]:
    """Return who of the practice may call: whoever has the case, and others of that job."""
    workers = world.staff.workers
    own = workers.get(case.assigned_to)
    if own is None:
        return ()
    able = (workers[one] for one in world.staff.with_role(own.role) if one in workers)
    return tuple(one for one in able if one.region == own.region)


def _rng(arrival: Arrival, member: str, part: str = "") -> np.random.Generator:
    key = f"{arrival.case_id}/{member}/{arrival.received_at:%Y%m%d%H%M}/{arrival.channel}/{part}"
    return np.random.Generator(np.random.PCG64(stable_hash(key)))


def _calendar(world: ManagedCareWorld, case: PriorAuthCase) -> OfficeCalendar:
    worker = world.staff.workers.get(case.assigned_to)
    return office_calendar(worker.region if worker else "")


def _patient(world: ManagedCareWorld, case: PriorAuthCase) -> Patient:
    return world.charts[case.patient_id].patient
