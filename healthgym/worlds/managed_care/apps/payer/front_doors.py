"""The doors by which requests come in, each with a way of its own to lose them.

Where a world keeps them (``WorldStart.front_doors``), a request by fax, EDI or telephone is
received when it comes in, which starts the clock, and is opened at the intake desk when its door
has done its work: a fax is indexed and attached, an EDI request has a complete envelope, the note
of a call is filed. Until then the intake record is empty and no reviewer sees a document. Portal
and API open a request at once.
"""

from __future__ import annotations

from collections.abc import Mapping

from healthgym.core.records import replace
from healthgym.core.state import table
from healthgym.worlds.managed_care import deadlines
from healthgym.worlds.managed_care.apps.app import App, find
from healthgym.worlds.managed_care.apps.payer import arriving
from healthgym.worlds.managed_care.dates import moment
from healthgym.worlds.managed_care.records.case import PriorAuthCase, SubmissionPacket
from healthgym.worlds.managed_care.records.chart import DocumentReference
from healthgym.worlds.managed_care.records.doors import Arrival, Callback, CallNote
from healthgym.worlds.managed_care.refusals import Refusal, RefusalCode
from healthgym.worlds.managed_care.vocabulary.authorization import (
    DocumentKind,
    MessageBox,
    MessageKind,
    SubmissionChannel,
    Urgency,
)

#: The doors at which a request waits.
WAITING = frozenset({SubmissionChannel.FAX, SubmissionChannel.EDI, SubmissionChannel.PHONE})


class FrontDoors(App):
    """What waits at the doors.

    Attributes:
        arrivals: Requests that came by fax, EDI or telephone, by id.
        notes: Notes of calls, by id.
        callbacks: Calls that are promised, by id.
        references: The control number under which a document came by EDI, by the document's id.
    """

    name = "payer_front_doors"
    arrivals = table[str, Arrival]()
    notes = table[str, CallNote]()
    callbacks = table[str, Callback]()
    references = table[str, str]()

    def waiting(self, case_id: str) -> Arrival | None:
        """Return what of a case waits at a door; None if nothing does."""
        for arrival in self.arrivals.values():
            if arrival.case_id == case_id and arrival.taken_in_at is None:
                return arrival
        return None

    def receive(self, case_id: str, packet: SubmissionPacket) -> Arrival:
        """Take in at its door what a provider sent."""
        case = self.world.cases.get(case_id)
        patient = self.world.charts[case.patient_id].patient
        come = arriving.came_in(self.world, case, patient, packet, self.sent(case_id))
        arrival = self._keep(replace(come, received_at=self.world.clock.now))
        if self.strict:
            deadlines.watch_door(self.world, arrival)
        self.audit(f"receive_{packet.channel}", case_id)
        return arrival

    def sent(self, case_id: str) -> tuple[DocumentReference, ...]:
        """Return what the provider sent for a case, whether or not anybody can see it."""
        return self.world.intake.sent(case_id)

    # -- the fax room ----------------------------------------------------------------------------

    def tray(self) -> Mapping[str, object]:
        """Return the covers of the faxes that wait, expedited ones first, then as they came."""
        faxes = [
            one
            for one in self.arrivals.values()
            if one.channel is SubmissionChannel.FAX and one.taken_in_at is None
        ]
        faxes.sort(key=lambda one: (not self._expedited(one), one.received_at, one.id))
        self.looked("receive")
        return {"items": tuple(self._cover(one) for one in faxes)}

    def index(self, fax_id: str, case_id: str, member_id: str, kind: DocumentKind) -> Arrival:
        """Index a fax: to which case and member it belongs, and what it is.

        Args:
            fax_id: The fax.
            case_id: The case.
            member_id: The member's id, as on the cover.
            kind: What the fax is.
        """
        fax = self._fax(fax_id)
        case = self.world.cases.get(case_id)
        self._require_readable(fax)
        member = self._member(self.world.cases.get(fax.case_id))
        if member_id.strip() != member or self._member(case) != member:
            raise Refusal(
                RefusalCode.WRONG_OWNER,
                f"Member {member_id[:40]!r} and case {case_id} are not those of fax {fax_id}; "
                "accepted are the member on its cover and a case of that member.",
            )
        indexed = self._keep(replace(fax, indexed_to=case_id, document_kind=kind))
        self.audit("index", case_id)
        return indexed

    def attach(self, fax_id: str) -> Arrival:
        """Attach an indexed fax to its case, which opens the request at the intake desk."""
        fax = self._fax(fax_id)
        if not fax.indexed_to:
            raise Refusal(
                RefusalCode.WRONG_STATE,
                f"Fax {fax_id} is not indexed; payer_fax_room.index comes before attach.",
            )
        if fax.indexed_to != fax.case_id:
            raise Refusal(
                RefusalCode.WRONG_OWNER,
                f"Fax {fax_id} asks for another service than case {fax.indexed_to}; accepted is "
                "the case whose service the cover names, indexed anew.",
            )
        taken = self._open(fax)
        self.audit("attach", fax.case_id)
        return taken

    def mark_unreadable(self, fax_id: str, note: str) -> Arrival:
        """Put aside a fax that cannot be read, and ask the sender for it again.

        Args:
            fax_id: The fax.
            note: Which pages, and why.
        """
        fax = self._fax(fax_id)
        if fax.readable:
            raise Refusal(
                RefusalCode.UNSUPPORTED_CLAIM,
                f"All {fax.pages} pages of fax {fax_id} can be read; accepted is to index it.",
            )
        self.world.inbox.post(
            str(MessageKind.CALL_NOTE),
            str(MessageBox.PAYER),
            fax.case_id,
            f"Fax {fax_id} cannot be read",
            f"Please send again what you faxed on {fax.received_at:%Y-%m-%d}. {note}".strip(),
            action_required=True,
        )
        aside = self._keep(replace(fax, taken_in_at=self.world.clock.now))
        self.audit("mark_unreadable", fax.case_id)
        return aside

    # -- the EDI gateway -------------------------------------------------------------------------

    def open_envelope(
        self, case_id: str, sender: str, receiver: str, control_number: str
    ) -> Arrival:
        """Take a 278 with a complete envelope, which opens the request at the intake desk.

        Args:
            case_id: The case.
            sender: Id of the sender, from the envelope.
            receiver: Id of the receiver: the payer's organization.
            control_number: Number of the interchange, nine digits.
        """
        arrival = self._waits(case_id, SubmissionChannel.EDI)
        payer = self.world.start.payer.id
        faults = [
            name
            for name, right in (
                ("sender", bool(sender.strip())),
                ("receiver", receiver.strip() == payer),
                ("control_number", control_number.isdigit() and len(control_number) == 9),
            )
            if not right
        ]
        if faults:
            raise Refusal(
                RefusalCode.BAD_ARGUMENT,
                f"The envelope lacks {' and '.join(faults)}; accepted are a sender, receiver "
                f"{payer} and a control number of nine digits.",
            )
        if any(one.control_number == control_number for one in self.arrivals.values()):
            raise Refusal(
                RefusalCode.DUPLICATE,
                f"Control number {control_number} was used before; accepted is a new one.",
            )
        named = replace(arrival, sender=sender.strip(), control_number=control_number)
        taken = self._open(named)
        self.audit("submit_278_request", case_id)
        return taken

    def reference(self, control_number: str, document_id: str) -> Mapping[str, object]:
        """Take a 275: a document that belongs to a request, by its control number."""
        arrival = self._by_number(control_number)
        if document_id not in {document.id for document in self.sent(arrival.case_id)}:
            raise Refusal(
                RefusalCode.NOT_FOUND,
                f"Document {document_id[:60]!r} was not sent with request {control_number}; "
                "accepted are documents of its packet.",
            )
        self.references[document_id] = control_number
        self.audit("submit_275_attachment_ref", arrival.case_id)
        return {"control_number": control_number, "document_id": document_id}

    def basket(self) -> Mapping[str, object]:
        """Return the interchanges that wait to be taken in, as they came."""
        waiting = [
            one
            for one in self.arrivals.values()
            if one.channel is SubmissionChannel.EDI and one.taken_in_at is None
        ]
        waiting.sort(key=lambda one: (one.received_at, one.id))
        self.looked("inquire_status")
        return {
            "items": tuple(
                {
                    "id": one.id,
                    "received_at": one.received_at,
                    "acknowledge_by": deadlines.door_deadline(self.world, one),
                    "interchange": arriving.interchange(self.world, one),
                }
                for one in waiting
            )
        }

    def inquire(self, control_number: str) -> Mapping[str, object]:
        """Return where an EDI request stands, and its documents."""
        arrival = self._by_number(control_number)
        self.looked("inquire_status", arrival.case_id)
        return {
            "control_number": control_number,
            "case_id": arrival.case_id,
            "status": self.world.cases.get(arrival.case_id).status,
            "documents": tuple(d for d, n in self.references.items() if n == control_number),
        }

    # -- the call centre -------------------------------------------------------------------------

    def answer(self, case_id: str) -> Mapping[str, object]:
        """Return what a caller said who asked for a service; the note of the call opens it."""
        arrival = self._waits(case_id, SubmissionChannel.PHONE)
        self.looked("create_intake", case_id)
        return {
            "id": arrival.id,
            "case_id": case_id,
            "received_at": arrival.received_at,
            "note_by": deadlines.door_deadline(self.world, arrival),
            "said": arriving.spoken(self.world, arrival),
        }

    def note(
        self,
        case_id: str,
        *,
        caller: str,
        callback_number: str,
        member_id: str,
        service: str,
        urgency_words: str,
    ) -> CallNote:
        """File the note of a call; of a request by telephone, it opens it at the intake desk.

        Args:
            case_id: The case.
            caller: Who called.
            callback_number: Number for calling back.
            member_id: The member's id.
            service: The service, in the caller's words.
            urgency_words: The words in which urgency was claimed; blank if it was not.
        """
        case = self.world.cases.get(case_id)
        given = {"caller": caller, "callback_number": callback_number, "service": service}
        missing = [name for name, text in given.items() if not text.strip()]
        if missing:
            raise Refusal(
                RefusalCode.MISSING_TEXT,
                f"The note lacks {', '.join(missing)}; accepted is a note with caller, number "
                "and service.",
            )
        if member_id.strip() != self._member(case):
            raise Refusal(
                RefusalCode.WRONG_OWNER,
                f"Member {member_id[:40]!r} is not that of case {case_id}; accepted is the "
                "member's id of the case.",
            )
        note = CallNote(
            id=self.draw_id("NOTE-"),
            case_id=case_id,
            caller=caller,
            callback_number=callback_number,
            member_id=member_id.strip(),
            service=service,
            urgency_words=urgency_words,
            filed_at=self.world.clock.now,
        )
        self.notes[note.id] = note
        arrival = self.waiting(case_id)
        if arrival is not None and arrival.channel is SubmissionChannel.PHONE:
            self._open(arrival)
        self.audit("record_note", case_id)
        return note

    def call_back(self, case_id: str, number: str, at: str) -> Callback:
        """Promise a call, in the office hours of the caller's region.

        Args:
            case_id: The case.
            number: Number to call.
            at: When, ISO time in UTC.
        """
        case, time = self.world.cases.get(case_id), moment(at, "at")
        calendar = arriving.caller_calendar(self.world, case.id)
        if time < self.world.clock.now or not calendar.is_open(time):
            opening = calendar.next_opening(max(time, self.world.clock.now))
            raise Refusal(
                RefusalCode.BAD_ARGUMENT,
                f"at {time:%Y-%m-%dT%H:%M} is past, or out of office hours; accepted is, for "
                f"instance, {opening:%Y-%m-%dT%H:%M} UTC.",
            )
        promised = Callback(id=self.draw_id("CALL-"), case_id=case_id, number=number, at=time)
        self.callbacks[promised.id] = promised
        self.audit("create_callback", case_id)
        return promised

    # -- inside ----------------------------------------------------------------------------------

    def _open(self, arrival: Arrival) -> Arrival:
        taken = self._keep(replace(arrival, taken_in_at=self.world.clock.now))
        self.world.intake.open_door(arrival.case_id)
        return taken

    def _waits(self, case_id: str, channel: SubmissionChannel) -> Arrival:
        self.world.cases.get(case_id)
        arrival = self.waiting(case_id)
        if arrival is None or arrival.channel is not channel:
            raise Refusal(
                RefusalCode.WRONG_STATE,
                f"No request of case {case_id} waits here; accepted are cases that came in by "
                f"{channel} and are not opened yet.",
            )
        return arrival

    def _fax(self, fax_id: str) -> Arrival:
        fax = find(self.arrivals, fax_id, "fax", "payer_fax_room.receive lists those that wait")
        if fax.taken_in_at is not None:
            raise Refusal(
                RefusalCode.DUPLICATE,
                f"Fax {fax_id} is filed already; payer_fax_room.receive lists those that wait.",
            )
        return fax

    def _by_number(self, control_number: str) -> Arrival:
        for arrival in self.arrivals.values():
            if control_number and arrival.control_number == control_number:
                return arrival
        raise Refusal(
            RefusalCode.NOT_FOUND,
            f"There is no EDI request {control_number[:40]!r}; accepted is the control number of "
            "one that was opened.",
        )

    def _cover(self, fax: Arrival) -> Mapping[str, object]:
        case = self.world.cases.get(fax.case_id)
        patient = self.world.charts[case.patient_id].patient
        known = {"fax_id": fax.id, "received_at": fax.received_at, "pages": fax.pages}
        due = deadlines.door_deadline(self.world, fax)
        if not fax.readable:
            return {**known, "index_by": due, "readable": False}
        return {
            **known,
            "index_by": due,
            "expedited": self._expedited(fax),
            "member": f"{patient.first_name} {patient.last_name}",
            "member_id": patient.member_id,
            "service": self.world.cases.order(case.service_request_id).description,
            "indexed_to": fax.indexed_to,
        }

    def _expedited(self, fax: Arrival) -> bool:
        return self.world.cases.get(fax.case_id).urgency is Urgency.EXPEDITED

    def _member(self, case: PriorAuthCase) -> str:
        return self.world.charts[case.patient_id].patient.member_id

    def _require_readable(self, fax: Arrival) -> None:
        if not fax.readable:
            raise Refusal(
                RefusalCode.WRONG_STATE,
                f"Fax {fax.id} cannot be read; payer_fax_room.mark_unreadable asks for it again.",
            )

    def _keep(self, arrival: Arrival) -> Arrival:
        self.arrivals[arrival.id] = arrival
        return arrival
