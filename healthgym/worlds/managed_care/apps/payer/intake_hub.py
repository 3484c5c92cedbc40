"""The payer's intake desk: what was asked for, by whom, for whom, and whether it can be reviewed.

A record is new until the first entry, then in progress, and complete once the four decisions of
intake are confirmed. A submission is handed over by :meth:`IntakeHub.receive`; what a packet fills
is in ``intake_handoff``, what a strict world refuses besides in ``intake_rules``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields

from healthgym.core.records import replace
from healthgym.core.state import table
from healthgym.worlds.managed_care import deadlines, duty
from healthgym.worlds.managed_care.apps.app import App
from healthgym.worlds.managed_care.apps.payer import intake_rules
from healthgym.worlds.managed_care.apps.payer.front_doors import WAITING
from healthgym.worlds.managed_care.apps.payer.intake_handoff import refreshed
from healthgym.worlds.managed_care.apps.payer.replies import replies
from healthgym.worlds.managed_care.apps.texts import require_length
from healthgym.worlds.managed_care.dates import normalized_day
from healthgym.worlds.managed_care.records.case import PriorAuthCase, SubmissionPacket
from healthgym.worlds.managed_care.records.chart import DocumentReference
from healthgym.worlds.managed_care.records.intake import (
    IntakeAuthHeaderData,
    IntakeCase,
    IntakeLineItem,
    IntakeProviderInfo,
    SaveDiagnosesPayload,
)
from healthgym.worlds.managed_care.refusals import Refusal, RefusalCode
from healthgym.worlds.managed_care.staff import WorkerRole
from healthgym.worlds.managed_care.vocabulary.authorization import (
    AuthorizationType,
    CaseStatus,
    IntakeStatus,
    ProviderNetworkStatus,
)
from healthgym.worlds.managed_care.workflow import state_of

_DAYS_OF_LINE = ("request_date", "start_date", "end_date")
_DAYS_OF_HEADER = ("request_date", "state_date")


class IntakeHub(App):
    """Intake records.

    Attributes:
        intakes: Intake records, by id.
    """

    name = "payer_intake_hub"
    intakes = table[str, IntakeCase]()

    # -- for the other applications --------------------------------------------------------------

    def find(self, case_id: str) -> IntakeCase | None:
        """Return the intake record of a case; None if it has none."""
        for intake in self.intakes.values():
            if intake.case_id == case_id:
                return intake
        return None

    def get(self, case_id: str) -> IntakeCase:
        """Return the intake record of a case.

        Raises:
            Refusal: If it has none.
        """
        intake = self.find(case_id)
        if intake is None:
            raise Refusal(
                RefusalCode.NOT_FOUND,
                f"There is no intake record of case {case_id[:60]!r}; "
                "payer_intake_hub.list_intake_queue names those there are.",
            )
        return intake

    def receive(
        self, case_id: str, packet: SubmissionPacket | None, reply: bool = False
    ) -> IntakeCase:
        """Take in what a provider handed in: a submission, a resubmission, or a reply to a pend.

        Args:
            case_id: The case.
            packet: What was handed in; None if the case never had a packet.
            reply: Whether it answers a request for information.
        """
        known = self.find(case_id)
        intake = known or self._begin(case_id, AuthorizationType.SP)
        doors = self.world.start.front_doors and packet is not None and not reply
        if doors and packet is not None and packet.channel in WAITING:
            self.world.doors.receive(case_id, packet)
        else:
            intake = self._take_in(intake, packet, reply=reply)
        if self.strict:
            deadlines.watch(self.world, case_id)
        return intake

    def open_door(self, case_id: str) -> IntakeCase:
        """Fill the record of a request whose door has done its work."""
        packet = self.world.authorizations.packet(case_id)
        return self._take_in(self.get(case_id), packet, reply=False)

    def clerks(self) -> Iterator[str]:
        """Return the ids of those who work at the desk."""
        return self.world.staff.with_role(*self._roles())

    def member_state(self, case_id: str) -> str | None:
        """Return the state in which the member of a case lives; None if nobody knows."""
        chart = self.world.charts.get(self.world.cases.get(case_id).patient_id)
        return (chart.patient.address_state or None) if chart else None

    def documents(self, case_id: str) -> tuple[DocumentReference, ...]:
        """Return the documents of a case that the payer can see: none while it waits at a door."""
        return () if self.world.doors.waiting(case_id) else self.sent(case_id)

    def sent(self, case_id: str) -> tuple[DocumentReference, ...]:
        """Return the documents that the payer was sent for a case.

        They are those of its packets; of a case that was with the payer before the episode began,
        those that are filed under it.
        """
        packets = self.world.authorizations.packets.values()
        sent = [packet for packet in packets if packet.case_id == case_id]
        if not sent:
            filed = self.world.documents.of_case(case_id)
            return tuple(document for document in filed if document.case_id == case_id)
        listed: dict[str, DocumentReference] = {}
        for packet in sent:
            for name in packet.attached_document_ids:
                listed[name] = self.world.documents.get(name)
        return tuple(listed.values())

    # -- at the desk -----------------------------------------------------------------------------

    def queue(self) -> Mapping[str, object]:
        """Return every intake record, as the desk shows it."""
        return {"items": [self._shown(intake) for intake in self.intakes.values()]}

    def show(self, case_id: str) -> Mapping[str, object]:
        """Return the intake record of a case, as the desk shows it."""
        return self._shown(self.get(case_id))

    def create(self, case_id: str, auth_type: AuthorizationType) -> IntakeCase:
        """Open the intake record of a case; what is there already is returned.

        Args:
            case_id: The case.
            auth_type: What kind of authorization is asked for.
        """
        case = self.world.cases.get(case_id)
        known = self.find(case_id)
        if self.strict:
            intake_rules.require_submitted(case)
            intake_rules.require_first(known)
            self._clerk()
        if known is not None:
            self.audit("create_intake_case", case_id)
            return known
        return self._begin(case_id, auth_type)

    def save_header(self, case_id: str, data: IntakeAuthHeaderData) -> IntakeCase:
        """Enter fields of the header; those left out stay as they are."""
        given = {name: getattr(data, name) for name in _names(IntakeAuthHeaderData)}
        given = {name: value for name, value in given.items() if value is not None}
        for name in _DAYS_OF_HEADER:
            if name in given:
                given[name] = normalized_day(given[name], name)
        if self.strict:
            intake_rules.require_header_words(data)
        return self._save(case_id, "save_auth_header", **given)

    def save_diagnoses(self, case_id: str, data: SaveDiagnosesPayload) -> IntakeCase:
        """Enter the diagnoses; they replace those on file, unless none are given."""
        given: dict[str, object] = {"diagnoses": data.diagnoses} if data.diagnoses else {}
        if data.diagnosis_type is not None:
            given["diagnosis_type"] = data.diagnosis_type
        if self.strict:
            intake_rules.require_diagnoses(data)
        return self._save(case_id, "save_diagnoses", **given)

    def save_provider(self, case_id: str, data: IntakeProviderInfo) -> IntakeCase:
        """Enter who asks for the service; what was there before is replaced as a whole."""
        if self.strict:
            intake_rules.require_npi(data)
        return self._save(case_id, "save_requesting_provider", requesting_provider=data)

    def save_facility(self, case_id: str, data: IntakeProviderInfo) -> IntakeCase:
        """Enter where the service takes place; what was there before is replaced as a whole."""
        if self.strict:
            intake_rules.require_npi(data)
        return self._save(case_id, "save_servicing_facility", servicing_facility=data)

    def add_line(self, case_id: str, item: IntakeLineItem) -> IntakeCase:
        """Enter a line; number 0 stands for the next free one."""
        intake = self.get(case_id)
        line = _dated(item)
        if line.line_number <= 0:
            most = max((one.line_number for one in intake.line_items), default=0)
            line = replace(line, line_number=most + 1)
        if self.strict:
            intake_rules.require_free_number(intake, line.line_number)
            intake_rules.require_line_words(line)
        return self._save(case_id, "add_line_item", line_items=(*intake.line_items, line))

    def update_line(self, case_id: str, line_number: int, item: IntakeLineItem) -> IntakeCase:
        """Replace a line as a whole; its number stays."""
        intake = self.get(case_id)
        intake_rules.require_line(intake, line_number)
        line = replace(_dated(item), line_number=line_number)
        if self.strict:
            intake_rules.require_line_words(line)
        lines = tuple(line if one.line_number == line_number else one for one in intake.line_items)
        return self._save(case_id, "update_line_item", line_items=lines)

    def remove_line(self, case_id: str, line_number: int) -> IntakeCase:
        """Take a line out; in the source, one that is not there is taken out, too."""
        intake = self.get(case_id)
        if self.strict:
            intake_rules.require_line(intake, line_number)
        lines = tuple(one for one in intake.line_items if one.line_number != line_number)
        return self._save(case_id, "remove_line_item", line_items=lines)

    def list_documents(self, case_id: str) -> Mapping[str, object]:
        """Return what the payer has of a case, without the texts."""
        self.world.cases.get(case_id)
        return {"items": [_entry(document) for document in self.documents(case_id)]}

    def confirm(
        self,
        case_id: str,
        *,
        request_complete: bool,
        member_eligible: bool,
        service_covered: bool,
        network: ProviderNetworkStatus,
    ) -> IntakeCase:
        """Confirm the decisions of intake, which completes it.

        Args:
            case_id: The case.
            request_complete: Whether nothing is missing from the request.
            member_eligible: Whether the member is covered.
            service_covered: Whether the plan covers the service.
            network: Standing of the provider.
        """
        intake = self.get(case_id)
        actor = ""
        if self.strict:
            intake_rules.require_open(intake, self.world.cases.get(case_id))
            intake_rules.require_entries(intake)
            actor = self._clerk()
        done = self._keep(
            replace(
                intake,
                status=IntakeStatus.COMPLETE,
                completed_at=self.world.clock.now,
                # Who says whether somebody is covered has looked it up; the source keeps no note.
                member_eligibility_verified=self.strict or intake.member_eligibility_verified,
                decision_request_complete=request_complete,
                decision_member_eligible=member_eligible,
                decision_service_covered=service_covered,
                decision_provider_network_status=network,
            )
        )
        self.audit("confirm_intake_decisions", case_id, actor)
        return done

    def withdraw(self, case_id: str, reason: str) -> PriorAuthCase:
        """Close a request that its sender takes back.

        Args:
            case_id: The case.
            reason: Why, in the sender's words.
        """
        case = self.world.cases.get(case_id)
        intake_rules.require_withdrawable(case)
        self.world.cases.move(case_id, CaseStatus.CLOSED)
        said = f"Withdrawn by the sender. {reason}".strip()
        kept = replace(self.world.cases.get(case_id), outcome_reason=said)
        self.audit("cancel_request", case_id)
        return self.world.cases.put(kept)

    # -- inside ----------------------------------------------------------------------------------

    def _take_in(
        self, intake: IntakeCase, packet: SubmissionPacket | None, *, reply: bool
    ) -> IntakeCase:
        filled = self._keep(refreshed(self.world, intake, packet, reply=reply))
        self.audit("handoff_submission", intake.case_id)
        self.world.desk.take_in(intake.case_id, reply=reply)
        return filled

    def _begin(self, case_id: str, auth_type: AuthorizationType) -> IntakeCase:
        now = self.world.clock.now
        intake = self._keep(
            IntakeCase(
                id=self.draw_id("intake-"), case_id=case_id, auth_type=auth_type, received_at=now
            )
        )
        case = self.world.cases.get(case_id)
        self.world.cases.put(replace(case, payer_intake_case_id=intake.id))
        self.audit("create_intake_case", case_id)
        return intake

    def _save(self, case_id: str, action: str, **changes: object) -> IntakeCase:
        intake = self.get(case_id)
        actor = ""
        if self.strict:
            intake_rules.require_open(intake, self.world.cases.get(case_id))
            require_length(self.world, **changes)
            actor = self._clerk()
        if intake.status is IntakeStatus.NEW:
            changes["status"] = IntakeStatus.IN_PROGRESS
        changed = replace(intake, **changes)  # type: ignore[arg-type]
        if self.strict and changed == intake:
            raise Refusal(
                RefusalCode.DUPLICATE,
                f"The intake of case {case_id} says all of that already; save what differs.",
            )
        saved = self._keep(changed)
        self.audit(action, case_id, actor)
        return saved

    def _keep(self, intake: IntakeCase) -> IntakeCase:
        self.intakes[intake.id] = intake
        return intake

    def _clerk(self) -> str:
        """Return who makes the entry: whoever uses the desk, or the clerk whose turn it is."""
        return duty.on_desk(self.world, self._roles())

    def _roles(self) -> tuple[WorkerRole, ...]:
        return tuple(WorkerRole(role) for role in self.world.operations.may_confirm_intake)

    def _shown(self, intake: IntakeCase) -> Mapping[str, object]:
        # The look-up of the hand-off is not what the clerk is to confirm unread: not shown.
        known = {name: getattr(intake, name) for name in _names(IntakeCase)}
        state = state_of(self.world, intake.case_id)
        replied = replies(self.world, intake.case_id)
        return {
            **known,
            "member_eligible": None,
            "workflow_state": state,
            "provider_replies": replied,
        }


def _names(kind: type) -> tuple[str, ...]:
    return tuple(item.name for item in fields(kind))


def _dated(item: IntakeLineItem) -> IntakeLineItem:
    days = {name: normalized_day(getattr(item, name), name) for name in _DAYS_OF_LINE}
    return replace(
        item,
        request_date=days["request_date"],
        start_date=days["start_date"],
        end_date=days["end_date"],
    )


def _entry(document: DocumentReference) -> Mapping[str, object]:
    return {
        "id": document.id,
        "kind": document.kind,
        "title": document.title,
        "created_at": document.created_at,
        "author": document.author_name,
        "signed_at": document.signed_at,
    }
