"""The provider's decision, submission, and what follows it."""

from __future__ import annotations

from healthgym.core.borders import Json
from healthgym.core.tool import ToolKind, tool
from healthgym.envs.managed_care.tools.base import DECISION, ENTRY, LOOK, WRITING, OfficeToolset
from healthgym.worlds.managed_care.records.case import SubmissionLineUpdate
from healthgym.worlds.managed_care.vocabulary.authorization import (
    ProviderDeterminationAction,
    SubmissionChannel,
)


class AuthToolset(OfficeToolset):
    """Decide, submit, answer the payer, and appeal."""

    namespace = "auth"

    @tool(ToolKind.WRITE, takes=DECISION)
    def finalize_provider_determination(
        self,
        case_id: str,
        final_action: ProviderDeterminationAction,
        override_reason: str | None = None,
        bundle_document_id: str | None = None,
        questionnaire_answers: dict[str, str] | None = None,
        line_updates: list[dict[str, Json]] | None = None,
    ) -> str:
        """Decide for the provider: submit, gather more evidence, or do not submit.

        To submit makes the case ready, to gather sends it back for documents, not to submit closes
        it for good. Once decided, something new has to come on file before deciding again.

        Args:
            case_id: Id of the case, such as "CASE-ACT-001".
            final_action: The decision. "submit_pa" needs a packet.
            override_reason: Why. Needed for "gather_more_evidence", where it names the policy in
                force and each gap by id or kind of document, such as "MP-SUR-042: C2, C5; missing:
                imaging_report", and for "do_not_submit", where it names the code of the reason and
                what it rests on, such as "coverage_inactive: ended 2026-02-28"; with both, the day
                of follow-up. The handbook says what each names. At most 4,000 characters.
            bundle_document_id: The packet that is decided on, such as "DOC-BUNDLE-0001"; the
                newest one if left out.
            questionnaire_answers: Answers that count besides the saved ones, by key, such as
                {"c1_value": "32.5"}.
            line_updates: Diagnosis codes to count instead of a line's, such as
                [{"line_id": "LINE-CASE-ACT-001", "diagnosis_codes": ["M17.11"]}].
        """
        return self.show(
            self.world.authorizations.finalize(
                case_id,
                final_action,
                override_reason,
                bundle_document_id,
                questionnaire_answers,
                line_updates,
            )
        )

    @tool(ToolKind.WRITE, takes=ENTRY)
    def submit_authorization(
        self,
        case_id: str,
        channel: SubmissionChannel,
        bundle_document_id: str | None = None,
        questionnaire_answers: dict[str, str] | None = None,
        line_updates: list[SubmissionLineUpdate] | None = None,
    ) -> str:
        """Send a case to the payer; this cannot be taken back.

        The provider must have decided to submit this packet, and the forms must be filled. A pend
        is answered with auth.respond_to_pend.

        Args:
            case_id: Id of the case, such as "CASE-ACT-001".
            channel: How it is sent; "fhir" is not accepted.
            bundle_document_id: The packet, such as "DOC-BUNDLE-0001"; the one that was decided on
                if left out.
            questionnaire_answers: Answers that go with it besides the saved ones, by key, such as
                {"c1_value": "32.5"}.
            line_updates: Diagnosis codes to send instead of a line's, such as
                [{"line_id": "LINE-CASE-ACT-001", "diagnosis_codes": ["M17.11"]}].
        """
        return self.show(
            self.world.authorizations.submit(
                case_id, channel, bundle_document_id, questionnaire_answers, line_updates
            )
        )

    @tool(ToolKind.READ, takes=LOOK)
    def check_status(self, case_id: str, channel: SubmissionChannel) -> str:
        """Check how a case stands with the payer: status, messages and letters.

        Args:
            case_id: Id of the case, such as "CASE-ACT-001".
            channel: How to ask; "fhir" is not accepted.
        """
        return self.show(self.world.authorizations.check_status(case_id, channel))

    @tool(ToolKind.WRITE, takes=WRITING)
    def respond_to_pend(
        self, case_id: str, note: str, document_ids: list[str] | None = None
    ) -> str:
        """Answer what the payer asked for, so that review goes on.

        Args:
            case_id: Id of the pended case, such as "CASE-ACT-001".
            note: What is said, at most 4,000 characters, such as "the ejection fraction is
                in the echo report of 2 March".
            document_ids: Documents that go with it, each once, such as ["DOC-2"].
        """
        return self.show(self.world.authorizations.respond_to_pend(case_id, note, document_ids))

    @tool(ToolKind.WRITE, takes=ENTRY)
    def request_peer_to_peer(self, case_id: str, preferred_contact_id: str | None = None) -> str:
        """Ask for a call with the payer's physician; only the payer asks for calls, so it refuses.

        Args:
            case_id: Id of the case, such as "CASE-ACT-001".
            preferred_contact_id: Whom to talk to, such as "C-MD".
        """
        return self.show(
            self.world.authorizations.request_peer_to_peer(case_id, preferred_contact_id)
        )

    @tool(ToolKind.WRITE, takes=ENTRY)
    def respond_to_peer_to_peer(
        self, case_id: str, request_id: str, note: str = "", selected_slot: str | None = None
    ) -> str:
        """Choose a time for the call that the payer asked for, or send a note about it.

        Args:
            case_id: Id of the case, such as "CASE-ACT-001".
            request_id: Id of the request, such as "P2P-0001".
            note: What is said; needed if no time is chosen.
            selected_slot: One of the times offered, such as "2026-03-16T15:00:00".
        """
        return self.show(
            self.world.authorizations.respond_to_peer_to_peer(
                case_id, request_id, note, selected_slot
            )
        )

    @tool(ToolKind.WRITE, takes=WRITING)
    def file_appeal(
        self, case_id: str, rationale: str, document_ids: list[str] | None = None
    ) -> str:
        """Appeal a denial to the payer, within the time that the denial letter names.

        Args:
            case_id: Id of the denied case, such as "CASE-ACT-001".
            rationale: Why the denial is wrong, criterion by criterion, by the policy in force with
                its version, such as "MP-ONC-010 2026.1"; at most 10,000 characters.
            document_ids: Documents that go with it, each once, such as ["DOC-2"].
        """
        return self.show(self.world.authorizations.file_appeal(case_id, rationale, document_ids))

    @tool(ToolKind.WRITE, takes=WRITING)
    def file_external_appeal(
        self, case_id: str, rationale: str, document_ids: list[str] | None = None
    ) -> str:
        """Take a denial that the payer upheld on appeal to an outside reviewer.

        Args:
            case_id: Id of the case whose appeal was upheld, such as "CASE-ACT-001".
            rationale: Why the denial is wrong, criterion by criterion, by the policy in force with
                its version, such as "MP-ONC-010 2026.1"; at most 10,000 characters.
            document_ids: Documents that go with it, each once, such as ["DOC-2"].
        """
        return self.show(
            self.world.authorizations.file_external_appeal(case_id, rationale, document_ids)
        )
