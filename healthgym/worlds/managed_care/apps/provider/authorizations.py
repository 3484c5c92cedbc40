"""The provider's determination, submission and what follows it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from healthgym.core.borders import JsonObject
from healthgym.core.records import replace
from healthgym.core.state import table
from healthgym.worlds.managed_care import adjudication
from healthgym.worlds.managed_care.apps.app import newest
from healthgym.worlds.managed_care.apps.payer import replies
from healthgym.worlds.managed_care.apps.provider import submission
from healthgym.worlds.managed_care.apps.provider.documents_and_forms import EDITABLE
from healthgym.worlds.managed_care.apps.provider.office import ProviderApp, View
from healthgym.worlds.managed_care.apps.provider.readiness import preview
from healthgym.worlds.managed_care.apps.texts import require_length
from healthgym.worlds.managed_care.records.case import (
    PriorAuthCase,
    ProviderDeterminationRecord,
    SubmissionLineUpdate,
    SubmissionPacket,
)
from healthgym.worlds.managed_care.records.decision import Appeal
from healthgym.worlds.managed_care.refusals import Refusal, RefusalCode
from healthgym.worlds.managed_care.vocabulary.authorization import (
    CaseStatus,
    PayerMode,
    ProviderDeterminationAction,
    SubmissionChannel,
)
from healthgym.worlds.managed_care.workflow import next_actions

#: From where a case can be sent, and what it is then.
_SENT = {
    CaseStatus.DOCS_NEEDED: CaseStatus.SUBMITTED,
    CaseStatus.READY_TO_SUBMIT: CaseStatus.SUBMITTED,
    CaseStatus.PENDED_ACTION_REQUIRED: CaseStatus.RESUBMITTED,
}
#: What is said of an information request that was answered; as in the source.
_ANSWERED = "PROVIDER_RESPONDED_TO_PEND"


class Authorizations(ProviderApp):
    """Authorizations.

    Attributes:
        determinations: What the provider decided, by id.
        packets: What was submitted, by id.
    """

    name = "payer_hub"
    determinations = table[str, ProviderDeterminationRecord]()
    packets = table[str, SubmissionPacket]()

    # What other applications ask for.

    def packet(self, case_id: str) -> SubmissionPacket | None:
        """Return the newest submission of a case; None if there is none."""
        return newest(self.packets, case_id)

    def determination(self, case_id: str) -> ProviderDeterminationRecord | None:
        """Return what the provider decided last on a case; None if nothing was decided."""
        return newest(self.determinations, case_id)

    # The provider's own decision.

    def finalize(
        self,
        case_id: str,
        final_action: ProviderDeterminationAction,
        override_reason: str | None = None,
        bundle_document_id: str | None = None,
        questionnaire_answers: Mapping[str, str] | None = None,
        line_updates: Sequence[JsonObject] | None = None,
    ) -> View:
        """Record what the provider decided: to submit, to gather more evidence, or neither.

        Args:
            case_id: The case.
            final_action: The decision.
            override_reason: Why; a strict world wants it for whatever is no submission.
            bundle_document_id: The packet it is about.
            questionnaire_answers: Answers that count besides the saved ones.
            line_updates: Codes that replace those of lines: ``line_id`` and ``diagnosis_codes``.

        Raises:
            Refusal: If there is no such case, or it was sent or closed. A strict world also
                refuses what :func:`submission.require_decidable` names.
        """
        case = self.world.cases.get(case_id)
        if case.status not in EDITABLE:
            raise Refusal(
                RefusalCode.WRONG_STATE,
                f"Case {case_id} is {case.status}; the provider decides before submission only.",
            )
        updates = submission.line_updates(self.world, case_id, line_updates or ())
        if bundle_document_id is not None:
            self.world.documents.bundle(case_id, bundle_document_id)
        require_length(self.world, override_reason=override_reason)
        if self.strict:
            bundle_document_id = submission.require_decidable(
                self.world, case, final_action, override_reason, bundle_document_id
            )
        advice = preview(
            self.world,
            case,
            bundle_document_id=bundle_document_id,
            answers=questionnaire_answers,
            updates=updates,
        )
        made = submission.determined(
            self.world, self.draw_id("PDET-"), advice, final_action, override_reason or ""
        )
        self.determinations[made.id] = made
        self._follow(case, final_action, override_reason)
        self.world.history.audit(
            "auth",
            "finalize_provider_determination",
            case_id,
            self.world.actor,
            final_action=str(final_action),
            bundle_document_id=bundle_document_id,
        )
        return {
            "case": self.world.cases.get(case_id),
            "next_actions": next_actions(self.world, case_id),
            "message": f"{final_action} is recorded for {case_id}.",
        }

    def _follow(
        self, case: PriorAuthCase, action: ProviderDeterminationAction, reason: str | None
    ) -> None:
        self.world.cases.put(replace(case, outcome_reason=reason or str(action)))
        if case.status is not submission.FOLLOWS[action]:
            self.world.cases.move(case.id, submission.FOLLOWS[action])
        self.world.history.stage(case.id, "provider_determination", action, self.world.actor)

    # Submission, and the answer to it.

    def submit(
        self,
        case_id: str,
        channel: SubmissionChannel,
        bundle_document_id: str | None = None,
        questionnaire_answers: Mapping[str, str] | None = None,
        line_updates: Sequence[SubmissionLineUpdate] | None = None,
    ) -> View:
        """Send a case to the payer, who decides at once or takes it in.

        Args:
            case_id: The case.
            channel: How it is sent.
            bundle_document_id: The packet that goes with it.
            questionnaire_answers: Answers that go with it.
            line_updates: Codes that replace those of lines.

        Raises:
            Refusal: If there is no such case, it cannot be sent from its status, the policy asks
                for no authorization, the packet is not the case's, or the channel takes no
                requests. A strict world also refuses what
                :func:`submission.require_submittable` names.
        """
        case = self.world.cases.get(case_id)
        submission.require_channel(channel)
        if case.status not in _SENT:
            raise Refusal(
                RefusalCode.WRONG_STATE,
                f"Case {case_id} is {case.status}; a case is sent from docs_needed, "
                "ready_to_submit or pended_action_required.",
            )
        card = self.world.cases.policy(case_id)
        if card is not None and not card.authorization_required:
            raise Refusal(
                RefusalCode.WRONG_STATE,
                f"The plan asks for no authorization of the service of {case_id}; "
                "do_not_submit closes the case.",
            )
        if bundle_document_id is not None:
            self.world.documents.bundle(case_id, bundle_document_id)
        updates = tuple(line_updates or ())
        answers = dict(questionnaire_answers or {})
        if self.strict:
            bundle_document_id = submission.require_submittable(
                self.world, case, bundle_document_id, answers, updates
            )
        target = _SENT[case.status]
        packet_id = self.draw_id("SUB-")
        self.packets[packet_id] = submission.packed(
            self.world, packet_id, case, channel, bundle_document_id, answers, updates, target
        )
        auto = self.world.payer_mode is PayerMode.AUTO
        if auto or self.strict:
            submission.apply(self.world, updates)
        found = submission.evaluated(self.world, case) if auto else None
        self.world.cases.put(replace(self.world.cases.get(case_id), submission_channel=channel))
        self.world.cases.move(case_id, target)
        if found is not None:
            return self._adjudicated(case_id, found, "payer_hub.submit_authorization")
        self.world.history.stage(case_id, "provider_submission", target, self.world.actor)
        self.world.history.stage(case_id, "payer_intake", "received", self.world.actor)
        return self._handed_over(case_id, "payer_hub.submit_authorization")

    def check_status(self, case_id: str, channel: SubmissionChannel) -> View:
        """Ask how a case stands.

        Args:
            case_id: The case.
            channel: How it is asked.

        Raises:
            Refusal: If there is no such case, or the channel takes no inquiries.
        """
        case = self.world.cases.get(case_id)
        submission.require_channel(channel)
        self.saw("payer_hub.check_status", case_id)
        self.saw("comms.list_messages", case_id)
        # What the payer has written and not sent is the payer's own affair.
        letters = (
            letter
            for letter in self.world.letters.of(case_id)
            if letter.delivered_at is not None or not self.strict
        )
        return {
            "case": case,
            "messages": self.world.inbox.visible(case_id),
            "letters": tuple(letters),
        }

    def respond_to_pend(
        self, case_id: str, note: str, document_ids: Sequence[str] | None = None
    ) -> View:
        """Answer what the payer asked for; review goes on where it stopped.

        Args:
            case_id: The case, pended.
            note: What is said.
            document_ids: Documents that go with it.

        Raises:
            Refusal: If there is no such case, nothing is asked of it, or a document is unknown or
                not this patient's. A strict world also refuses what
                :func:`submission.require_reply` names.
        """
        case = self.world.cases.get(case_id)
        if case.status is not CaseStatus.PENDED_ACTION_REQUIRED:
            raise Refusal(
                RefusalCode.WRONG_STATE,
                f"Case {case_id} is {case.status}; the payer asks for nothing.",
            )
        self.world.documents.require_of_patient(case, document_ids or ())
        if self.strict:
            submission.require_reply(self.world, case, note, document_ids or ())
        auto = self.world.payer_mode is PayerMode.AUTO
        self._attach(case_id, document_ids or ())
        found = submission.evaluated(self.world, case) if auto else None
        self.world.cases.move(case_id, CaseStatus.RESUBMITTED)
        replies.keep(self.world, case_id, note, document_ids or ())
        if found is not None:
            return self._adjudicated(case_id, found, "payer_hub.respond_to_pend")
        self.world.nursing.supersede_requests(case_id, _ANSWERED)
        self.world.medical.supersede_requests(case_id, _ANSWERED)
        return self._handed_over(case_id, "payer_hub.respond_to_pend", reply=True)

    # Peer-to-peer and appeals.

    def request_peer_to_peer(self, case_id: str, preferred_contact_id: str | None = None) -> View:
        """Ask for a call with the payer's physician; its desk refuses where only it may ask."""
        told = self.world.desk.call_wanted(case_id, preferred_contact_id or "")
        self.noted("payer_hub.request_peer_to_peer", case_id)
        return {"case": self.world.cases.get(case_id), "message": told}

    def respond_to_peer_to_peer(
        self, case_id: str, request_id: str, note: str = "", selected_slot: str | None = None
    ) -> View:
        """Choose a time for a call that the payer asked for, or say something about it.

        Args:
            case_id: The case.
            request_id: The request.
            note: What is said.
            selected_slot: The time that is chosen.

        Raises:
            Refusal: If there is neither note nor time, and for what the payer's desk refuses.
        """
        self.world.cases.get(case_id)
        if not note.strip() and not selected_slot:
            raise Refusal(
                RefusalCode.MISSING_TEXT, "There is neither a note nor a time; give one of them."
            )
        view = self.world.peer.select_slot(case_id, request_id, selected_slot, note)
        self.noted("payer_hub.respond_to_peer_to_peer", case_id)
        return {"case": self.world.cases.get(case_id), **view}

    def file_appeal(
        self, case_id: str, rationale: str, document_ids: Sequence[str] | None = None
    ) -> View:
        """Appeal a denial to the payer.

        Args:
            case_id: The case, denied.
            rationale: Why the denial is wrong.
            document_ids: Documents that go with it.

        Raises:
            Refusal: If there is no such case, it is not denied, or a document is unknown or not
                this patient's. A strict world also refuses what
                :func:`submission.require_appeal` names.
        """
        return self._file(
            case_id, rationale, document_ids or (), CaseStatus.DENIED, CaseStatus.APPEALED
        )

    def file_external_appeal(
        self, case_id: str, rationale: str, document_ids: Sequence[str] | None = None
    ) -> View:
        """Take a denial that the payer upheld to an outside reviewer.

        Args:
            case_id: The case, whose appeal was upheld.
            rationale: Why the denial is wrong.
            document_ids: Documents that go with it.

        Raises:
            Refusal: As for :meth:`file_appeal`.
        """
        return self._file(
            case_id,
            rationale,
            document_ids or (),
            CaseStatus.APPEAL_UPHELD,
            CaseStatus.EXTERNAL_APPEALED,
        )

    # Helpers.

    def _file(
        self,
        case_id: str,
        rationale: str,
        document_ids: Sequence[str],
        needed: CaseStatus,
        target: CaseStatus,
    ) -> View:
        case = self.world.cases.get(case_id)
        if case.status is not needed:
            raise Refusal(
                RefusalCode.WRONG_STATE,
                f"Case {case_id} is {case.status}; this appeal is made from {needed}.",
            )
        self.world.documents.require_of_patient(case, document_ids)
        if self.strict:
            submission.require_appeal(self.world, case, rationale, document_ids)
        external = target is CaseStatus.EXTERNAL_APPEALED
        self.world.desk.contested(case_id)
        self._attach(case_id, document_ids)
        level = "external" if external else "internal"
        if self.world.payer_mode is PayerMode.AUTO:
            self.world.cases.move(case_id, target)
            appeal: Appeal = adjudication.decide_appeal(self.world, case_id, rationale, level)
        else:
            appeal = self.world.appeals.file(case_id, rationale, tuple(document_ids), level)
        self.noted(f"payer_hub.file_{'external_' if external else ''}appeal", case_id)
        return {"case": self.world.cases.get(case_id), "appeal": appeal}

    def _attach(self, case_id: str, document_ids: Sequence[str]) -> None:
        """Put documents into the newest submission of a case, if there is one."""
        if not document_ids:
            return
        sent = self.packet(case_id)
        if sent is not None:
            together = dict.fromkeys((*sent.attached_document_ids, *document_ids))
            self.packets[sent.id] = replace(sent, attached_document_ids=tuple(together))
        self.noted("payer_hub.submit_attachment", case_id)

    def _adjudicated(self, case_id: str, found: adjudication.Evaluation, name: str) -> View:
        case = adjudication.carry_out(self.world, case_id, found)
        self.noted(name, case_id)
        return {
            "case": case,
            "decision": found.outcome,
            "route": found.route,
            "missing_document_kinds": found.missing_document_kinds,
            "rationale": found.rationale,
        }

    def _handed_over(self, case_id: str, name: str, reply: bool = False) -> View:
        self.world.desk.coming(case_id)
        intake = self.world.intake.receive(case_id, self.packet(case_id), reply=reply)
        case = self.world.cases.get(case_id)
        if case.payer_intake_case_id != intake.id:
            self.world.cases.put(replace(case, payer_intake_case_id=intake.id))
        if reply and self.world.triage.requeue(case_id) is None:
            self.noted("payer_hub.respond_to_pend_no_task_to_requeue", case_id)
        self.noted(name, case_id)
        return {"case": self.world.cases.get(case_id), "intake_case": intake}
