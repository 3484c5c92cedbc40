"""The payer's letters and notices to members, as its staff use them."""

from __future__ import annotations

from typing import Literal

from healthgym.core.tool import ToolKind, tool
from healthgym.envs.managed_care.tools.base import ENTRY, LOOK, WRITING, OfficeToolset
from healthgym.worlds.managed_care.vocabulary.authorization import (
    LetterType,
    MemberNotification,
    SubmissionChannel,
)


class LetterCenterToolset(OfficeToolset):
    """Letters: writing, sending, writing again, checking."""

    namespace = "payer_letter_center"

    @tool(ToolKind.READ, name="list", takes=LOOK)
    def list_letters(self, case_id: str | None = None) -> str:
        """List letters, oldest first.

        Args:
            case_id: Only those about this case, such as "CASE-ACT-001".
        """
        return self.show(self.world.letters.list_all(case_id))

    @tool(ToolKind.READ, takes=LOOK)
    def get(self, letter_id: str) -> str:
        """Read a letter.

        Args:
            letter_id: Id of the letter, such as "LET-0001".
        """
        return self.show(self.world.letters.get(letter_id))

    @tool(ToolKind.WRITE, takes=WRITING)
    def generate_approval(
        self,
        case_id: str,
        actor: str | None = None,
        body: str | None = None,
        supporting_basis: str | None = None,
        policy_citations: tuple[str, ...] | None = None,
    ) -> str:
        """Write the letter of a case that was determined approved. Deliver it afterwards.

        Args:
            case_id: Id of the case, such as "CASE-ACT-001".
            actor: Id of the worker who writes, such as "C-NUR".
            body: A remark of your own. The standing text, the facts and the reason that was
                recorded are filled in and need not be said again.
            supporting_basis: What the decision rests on; the policy's summary if left out.
            policy_citations: Sections of the policy; all that it names if left out.
        """
        return self._write(
            LetterType.APPROVAL, case_id, actor, body, supporting_basis, policy_citations
        )

    @tool(ToolKind.WRITE, takes=WRITING)
    def generate_partial_approval(
        self,
        case_id: str,
        actor: str | None = None,
        body: str | None = None,
        supporting_basis: str | None = None,
        policy_citations: tuple[str, ...] | None = None,
    ) -> str:
        """Write the letter of a case that was determined partially approved.

        Args:
            case_id: Id of the case, such as "CASE-ACT-001".
            actor: Id of the worker who writes, such as "C-MD".
            body: A remark of your own. The standing text, the facts and the reason that was
                recorded are filled in and need not be said again.
            supporting_basis: What the decision rests on; the policy's summary if left out.
            policy_citations: Sections of the policy; all that it names if left out.
        """
        return self._write(
            LetterType.PARTIAL_APPROVAL, case_id, actor, body, supporting_basis, policy_citations
        )

    @tool(ToolKind.WRITE, takes=WRITING)
    def generate_denial(
        self,
        case_id: str,
        actor: str | None = None,
        body: str | None = None,
        supporting_basis: str | None = None,
        policy_citations: tuple[str, ...] | None = None,
        appeal_information: str | None = None,
    ) -> str:
        """Write the letter of a case that was determined denied, with reasons and appeal rights.

        Args:
            case_id: Id of the case, such as "CASE-ACT-001".
            actor: Id of the worker who writes, such as "C-MD".
            body: A remark of your own. The standing text, the facts and the reason that was
                recorded are filled in and need not be said again.
            supporting_basis: What the decision rests on; the policy's summary if left out.
            policy_citations: Sections of the policy; all that it names if left out.
            appeal_information: How the denial can be appealed; the standing words if left out.
        """
        return self.show(
            self.world.letters.generate(
                case_id,
                LetterType.DENIAL,
                actor=actor,
                body=body,
                supporting_basis=supporting_basis,
                policy_citations=policy_citations,
                appeal_information=appeal_information,
            )
        )

    @tool(ToolKind.WRITE, takes=WRITING)
    def generate_pend(
        self,
        case_id: str,
        actor: str | None = None,
        body: str | None = None,
        supporting_basis: str | None = None,
        policy_citations: tuple[str, ...] | None = None,
    ) -> str:
        """Write the letter of a case that waits for information: what is missing, and until when.

        Args:
            case_id: Id of the case, such as "CASE-ACT-001".
            actor: Id of the worker who writes, such as "C-NUR".
            body: A remark of your own. The standing text, the facts and the reason that was
                recorded are filled in and need not be said again.
            supporting_basis: What the request rests on; the policy's summary if left out.
            policy_citations: Sections of the policy; all that it names if left out.
        """
        return self._write(
            LetterType.PEND, case_id, actor, body, supporting_basis, policy_citations
        )

    @tool(ToolKind.WRITE, takes=ENTRY)
    def generate_notification(
        self,
        case_id: str,
        notification_type: Literal["approval", "denial", "pend", "appeal_rights", "appeal_outcome"],
        actor: str | None = None,
    ) -> str:
        """Mail the member a notice that fits where the case stands; nothing is to be delivered.

        Args:
            case_id: Id of the case, such as "CASE-ACT-001".
            notification_type: What it tells.
            actor: Id of the worker who sends it, such as "C-NUR".
        """
        kind = MemberNotification(notification_type)
        return self.show(self.world.letters.notify_member(case_id, kind, actor))

    @tool(ToolKind.WRITE, takes=ENTRY)
    def deliver(self, letter_id: str, channel: SubmissionChannel) -> str:
        """Send a letter to the provider.

        Args:
            letter_id: Id of the letter, such as "LET-0001".
            channel: The channel on which the request was submitted, the method of its intake
                record, such as "portal"; where that was the telephone, "fax".
        """
        return self.show(self.world.letters.deliver(letter_id, channel))

    @tool(ToolKind.WRITE, takes=ENTRY)
    def reissue(self, letter_id: str, reason: str) -> str:
        """Write a letter again, linked to the first, to be delivered anew.

        Args:
            letter_id: Id of the letter, such as "LET-0001".
            reason: Why, in a sentence; it stands under the letter.
        """
        return self.show(self.world.letters.reissue(letter_id, reason))

    @tool(ToolKind.READ, takes=LOOK)
    def audit_completeness(self, letter_id: str) -> str:
        """Check whether a letter states everything that its type has to state.

        Args:
            letter_id: Id of the letter, such as "LET-0001".
        """
        return self.show(self.world.letters.check(letter_id))

    def _write(
        self,
        letter_type: LetterType,
        case_id: str,
        actor: str | None,
        body: str | None,
        supporting_basis: str | None,
        policy_citations: tuple[str, ...] | None,
    ) -> str:
        return self.show(
            self.world.letters.generate(
                case_id,
                letter_type,
                actor=actor,
                body=body,
                supporting_basis=supporting_basis,
                policy_citations=policy_citations,
            )
        )
