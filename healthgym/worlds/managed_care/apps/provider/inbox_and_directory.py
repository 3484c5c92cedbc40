"""The inbox, and the directory of people."""

from __future__ import annotations

from healthgym.core.records import replace
from healthgym.core.state import table
from healthgym.worlds.managed_care.apps.app import find
from healthgym.worlds.managed_care.apps.provider.office import ProviderApp, View, listing
from healthgym.worlds.managed_care.apps.provider.opening import ORDERING
from healthgym.worlds.managed_care.records.case import Message
from healthgym.worlds.managed_care.staff import WorkerRole
from healthgym.worlds.managed_care.vocabulary.authorization import MessageBox, OrganizationKind

#: Who reviews for the payer, by what they are employed as.
_REVIEWERS = (
    WorkerRole.UM_NURSE,
    WorkerRole.PHYSICIAN_REVIEWER,
    WorkerRole.APPEALS_MEDICAL_DIRECTOR,
)
#: Box of what the practice's own people write to each other, which the source has not.
PRACTICE = "practice"
#: How ids begin, by kind of message; as in the source.
_PREFIXES = {
    "pend_request": "MSG-PEND-",
    "peer_to_peer": "MSG-P2P-",
    "member_notification": "MSG-MBR-",
    "internal_note": "MSG-INTERNAL-",
}


class InboxAndDirectory(ProviderApp):
    """Inbox and directory.

    Attributes:
        messages: Messages, by id.
    """

    name = "comms"
    messages = table[str, Message]()

    def post(
        self,
        kind: str,
        box: str,
        case_id: str | None,
        subject: str,
        body: str,
        action_required: bool = False,
    ) -> Message:
        """Put a message into a box.

        Args:
            kind: What it is: one of ``MessageKind``.
            box: Whose box: ``payer`` holds what the payer wrote to the provider, ``internal``
                what the payer keeps to itself.
            case_id: The case; None if it is about none.
            subject: Its subject.
            body: Its text.
            action_required: Whether somebody has to act on it.
        """
        message = Message(
            id=self.draw_id(_PREFIXES.get(kind, "MSG-")),
            case_id=case_id,
            kind=kind,
            box=box,
            subject=subject,
            body=body,
            created_at=self.world.clock.now,
            action_required=action_required,
        )
        self.messages[message.id] = message
        return message

    def visible(self, case_id: str | None = None) -> tuple[Message, ...]:
        """Return the messages that the provider sees, oldest first.

        Args:
            case_id: Only those about this case.
        """
        found = [
            message
            for message in self.messages.values()
            if case_id in (None, message.case_id) and self._readable(message)
        ]
        return tuple(sorted(found, key=lambda message: (message.created_at, message.id)))

    def list_messages(self, case_id: str | None = None) -> View:
        """Return the inbox, oldest first.

        Args:
            case_id: Only messages about this case; an unknown one has none, except that a strict
                world says that there is no such case.

        Raises:
            Refusal: In a strict world, if there is no such case.
        """
        if self.strict and case_id is not None:
            self.world.cases.get(case_id)
        self.saw("comms.list_messages", case_id or "")
        return listing(self.visible(case_id))

    def read_message(self, message_id: str) -> Message:
        """Return a message, and note that it was read; the first reading counts.

        Raises:
            Refusal: If there is none that the provider sees.
        """
        hint = "inbox.list_messages names them"
        shown = self._readable if self.strict else None
        message = find(self.messages, message_id, "message", hint, shown)
        if message.read_at is None:
            message = replace(message, read_at=self.world.clock.now)
            self.messages[message_id] = message
        self.noted("comms.read_message", message.case_id or "")
        return message

    def _readable(self, message: Message) -> bool:
        """Return whether a message is the practice's, about a case of its own or about none."""
        if message.box == MessageBox.INTERNAL:
            return False
        case = self.world.cases.cases.get(message.case_id or "")
        return case is None or self.world.knows(case.patient_id)

    # The directory.

    def list_contacts(self, role: str | None = None) -> View:
        """Return the people one can call.

        Args:
            role: Only those with this role, or this role for escalations.
        """
        self.saw("directory.list_contacts")
        everybody = self.world.staff.contacts.values()
        return listing(
            contact
            for contact in everybody
            if role is None or role in (contact.role, contact.escalation_role)
        )

    def list_ordering_providers(self) -> View:
        """Return the clinicians of the provider who may order."""
        self.saw("directory.list_ordering_providers")
        return listing(
            one
            for one in self.world.staff.practitioners.values()
            if one.role in ORDERING and self._is_providers(one.organization_id)
        )

    def list_reviewer_contacts(self, required_role: str | None = None) -> View:
        """Return who reviews for the payer.

        Args:
            required_role: Only those employed as this: ``um_nurse``, ``physician_reviewer`` or
                ``appeals_medical_director``.
        """
        self.saw("payer_um_workbench.list_reviewer_contacts")
        roles = [role for role in _REVIEWERS if required_role in (None, role)]
        contacts = self.world.staff.contacts
        return listing(
            contacts[person] for person in self.world.staff.with_role(*roles) if person in contacts
        )

    def _is_providers(self, organization_id: str) -> bool:
        payer = self.world.start.payer
        return payer.kind is not OrganizationKind.PAYER or organization_id != payer.id
