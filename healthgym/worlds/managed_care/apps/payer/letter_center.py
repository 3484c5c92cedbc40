"""Letters to the provider, and notices to members.

A letter follows a decision. In a strict world its text is rendered from the records and states
everything the type of letter must state; the source takes whatever the writer says.
"""

from __future__ import annotations

from collections.abc import Mapping

from healthgym.core.records import replace
from healthgym.core.state import table
from healthgym.worlds.managed_care.apps.app import App, find
from healthgym.worlds.managed_care.apps.payer import letter_audit, letter_texts, notices
from healthgym.worlds.managed_care.apps.payer.letter_remarks import AGAIN, REMARKS, require_sound
from healthgym.worlds.managed_care.apps.payer.letter_rules import (
    require_citations,
    require_complete,
    require_deliverable,
    require_due,
    require_fitting_notice,
)
from healthgym.worlds.managed_care.apps.payer.reviewers import (
    PAYER_STAFF,
    acting,
    require_desk,
    require_role,
)
from healthgym.worlds.managed_care.apps.texts import require_length
from healthgym.worlds.managed_care.records.case import Message, PriorAuthCase
from healthgym.worlds.managed_care.records.decision import Letter, PayerLetterRequest
from healthgym.worlds.managed_care.refusals import Refusal, RefusalCode
from healthgym.worlds.managed_care.vocabulary.authorization import (
    LetterType,
    MemberNotification,
    MessageBox,
    MessageKind,
    SubmissionChannel,
)

_HINT = "payer_letter_center.list names them"
#: What a denial of the source leaves blank.
_OF_DENIALS = ("supporting_basis", "policy_citations", "appeal_information")


class LetterCenter(App):
    """Letters.

    Attributes:
        letters: Letters, by id.
        requests: Letters that were asked for, by id.
    """

    name = "payer_letter_center"
    letters = table[str, Letter]()
    requests = table[str, PayerLetterRequest]()

    def of(self, case_id: str) -> tuple[Letter, ...]:
        """Return the letters about a case, oldest first."""
        return tuple(one for one in self.letters.values() if one.case_id == case_id)

    def waiting(self, case_id: str, letter_type: str) -> PayerLetterRequest | None:
        """Return the oldest letter of a type that was asked for and not written; None if none."""
        wanted = (case_id, letter_type, None)
        for one in self.requests.values():
            if (one.case_id, one.letter_type, one.generated_letter_id) == wanted:
                return one
        return None

    def list_all(self, case_id: str | None = None) -> tuple[Letter, ...]:
        """Return letters, oldest first.

        Args:
            case_id: Only those about this case.

        Raises:
            Refusal: In a strict world, if there is no such case.
        """
        if self.strict and case_id is not None:
            self.world.cases.get(case_id)
        self.looked("list_letters", case_id or "")
        return self.of(case_id) if case_id else tuple(self.letters.values())

    def get(self, letter_id: str) -> Letter:
        """Return a letter.

        Raises:
            Refusal: If there is none.
        """
        found = find(self.letters, letter_id, "letter", _HINT)
        self.looked("get_letter", found.case_id)
        return found

    def queue(
        self, case_id: str, letter_type: LetterType, rationale: str, actor: str
    ) -> PayerLetterRequest:
        """Ask for a letter, for somebody to write.

        Args:
            case_id: The case.
            letter_type: The letter.
            rationale: What it is to say.
            actor: Who asks.
        """
        policy = self.world.cases.policy(case_id)
        made = PayerLetterRequest(
            id=self.draw_id("LREQ-"),
            case_id=case_id,
            letter_type=letter_type,
            rationale=rationale,
            supporting_basis=policy.policy_summary if policy else None,
            policy_citations=policy.policy_citations if policy else (),
            requested_by=actor,
            requested_at=self.world.clock.now,
        )
        self.requests[made.id] = made
        return made

    def generate(
        self,
        case_id: str,
        letter_type: LetterType,
        *,
        actor: str | None = None,
        body: str | None = None,
        supporting_basis: str | None = None,
        policy_citations: tuple[str, ...] | None = None,
        appeal_information: str | None = None,
    ) -> Mapping[str, object]:
        """Write a letter that somebody asks for at the desk.

        Args:
            case_id: The case.
            letter_type: The letter.
            actor: Who writes.
            body: The text; in a strict world a remark under the rendered letter.
            supporting_basis: What the decision rests on; if None, the policy's summary, and in a
                strict world its version and the criteria that the decision turns on.
            policy_citations: Sections of the policy; those of the policy if None.
            appeal_information: How to appeal; a standing phrase on denials if None.

        Raises:
            Refusal: If the case is not where such a letter follows, or, in a strict world, the
                writer may not, the letter is written already, or the records lack what it states.
        """
        require_desk(self.world)
        case = self.world.cases.get(case_id)
        writer = acting(self.world, actor)
        require_role(self.world, writer, PAYER_STAFF, "actor")
        require_due(self.world, case, letter_type)
        require_citations(self.world, case, policy_citations)
        require_length(
            self.world,
            body=body,
            supporting_basis=supporting_basis,
            appeal_information=appeal_information,
        )
        if self.strict:
            require_sound(
                self.world,
                case,
                letter_type,
                body=body,
                supporting_basis=supporting_basis,
                appeal_information=appeal_information,
            )
        letter = self.write(
            case_id,
            letter_type,
            writer,
            body=body,
            supporting_basis=supporting_basis,
            policy_citations=policy_citations,
            appeal_information=appeal_information,
        )
        request = next(r for r in self.requests.values() if r.generated_letter_id == letter.id)
        return {"letter": letter, "letter_request": request}

    def write(
        self,
        case_id: str,
        letter_type: LetterType,
        actor: str,
        *,
        subject: str = "",
        body: str | None = None,
        rationale: str = "",
        supporting_basis: str | None = None,
        policy_citations: tuple[str, ...] | None = None,
        appeal_information: str | None = None,
        quiet: bool = False,
    ) -> Letter:
        """Write a letter without asking whether one is due; offices call it for their own.

        Args:
            case_id: The case.
            letter_type: The letter.
            actor: Who writes.
            subject: The subject, of a letter whose text another office has rendered; the
                standing one, over a text rendered here, if blank.
            body: The text; in a strict world a remark under what is rendered here.
            rationale: What was asked for, if nobody asked before.
            supporting_basis: What the decision rests on; if None, the policy's summary, and in a
                strict world its version and the criteria that the decision turns on.
            policy_citations: Sections of the policy; those of the policy if None.
            appeal_information: How to appeal; a standing phrase on denials if None.
            quiet: Whether the log is silent about it, since it is part of another act.

        Raises:
            Refusal: If there is no such case, or, in a strict world, the records lack what the
                letter has to state.
        """
        case = self.world.cases.get(case_id)
        policy = self.world.cases.policy(case_id)
        request = self.waiting(case_id, letter_type)
        if request is None:
            request = self.queue(case_id, letter_type, rationale, actor)
        if appeal_information is None and letter_type is LetterType.DENIAL:
            appeal_information = letter_texts.appeal_information(self.world, case)
        basis = supporting_basis
        if basis is None:
            basis = self._basis(case, letter_type)
        citations = policy_citations
        if citations is None:
            citations = policy.policy_citations if policy else ()
        letter = Letter(
            id=self.draw_id("LET-"),
            case_id=case_id,
            letter_type=letter_type,
            subject=subject or letter_texts.subject(letter_type),
            body=(subject and body)
            or self._body(case, letter_type, body, request, supporting_basis),
            created_at=self.world.clock.now,
            supporting_basis=basis,
            policy_citations=citations,
            appeal_information=appeal_information,
        )
        self.letters[letter.id] = letter
        self.requests[request.id] = replace(request, generated_letter_id=letter.id)
        if not quiet:
            self.audit(f"generate_{letter_type}_letter", case_id, actor)
        return letter

    def notify_member(
        self, case_id: str, notification: MemberNotification, actor: str | None = None
    ) -> Mapping[str, Message]:
        """Send the member a notice.

        Args:
            case_id: The case.
            notification: What about.
            actor: Who sends it.

        Raises:
            Refusal: If there is no such case, or, in a strict world, the notice does not fit the
                case or was sent already.
        """
        require_desk(self.world)
        case = self.world.cases.get(case_id)
        sender = acting(self.world, actor)
        require_role(self.world, sender, PAYER_STAFF, "actor")
        subject, text = notices.notice(self.world, case, notification)
        require_fitting_notice(self.world, case, notification, subject)
        message = self.world.inbox.post(
            MessageKind.MEMBER_NOTIFICATION,
            MessageBox.PAYER,
            case_id,
            subject,
            text,
            action_required=notification is MemberNotification.DENIAL,
        )
        self.audit("generate_member_notification", case_id, sender)
        return {"message": message}

    def deliver(
        self, letter_id: str, channel: SubmissionChannel, actor: str | None = None
    ) -> Mapping[str, Letter]:
        """Send a letter.

        Args:
            letter_id: The letter.
            channel: How.
            actor: Who sends it.

        Raises:
            Refusal: If there is no such letter, or, in a strict world, it went out on the channel
                already or says what is no longer so.
        """
        letter = find(self.letters, letter_id, "letter", _HINT)
        require_deliverable(self.world, letter, channel)
        sent = replace(letter, delivery_channel=channel, delivered_at=self.world.clock.now)
        self.letters[letter_id] = sent
        who = actor or self.world.actor
        self.world.history.audit(
            self.name, "deliver_letter", letter.case_id, who, letter=letter_id, channel=channel
        )
        self.world.practice.received(sent)
        return {"letter": sent}

    def reissue(self, letter_id: str, reason: str) -> Mapping[str, Letter]:
        """Write a letter again, linked to the first.

        Args:
            letter_id: The letter.
            reason: Why.

        Raises:
            Refusal: If there is no such letter, or, in a strict world, no reason is given.
        """
        letter = find(self.letters, letter_id, "letter", _HINT)
        require_length(self.world, reason=reason)
        if self.strict and not reason.strip():
            raise Refusal(RefusalCode.MISSING_TEXT, "reason: say why the letter is written again.")
        if self.strict:
            case = self.world.cases.get(letter.case_id)
            require_sound(self.world, case, LetterType(letter.letter_type), reason=reason)
        again = replace(
            letter,
            id=self.draw_id("LET-"),
            body=f"{letter.body}{AGAIN}{reason}",
            created_at=self.world.clock.now,
            delivery_channel=None,
            delivered_at=None,
            reissued_from_letter_id=letter.id,
        )
        self.letters[again.id] = again
        self.audit("reissue_letter", letter.case_id)
        return {"letter": again}

    def check(self, letter_id: str) -> Mapping[str, object]:
        """Return what a letter lacks: blank fields, and in a strict world facts it must state.

        It is judged by what held when it was written.

        Raises:
            Refusal: If there is no such letter.
        """
        letter = find(self.letters, letter_id, "letter", _HINT)
        self.looked("audit_letter_completeness", letter.case_id)
        wanted = ("body", *(_OF_DENIALS if letter.letter_type == LetterType.DENIAL else ()))
        missing = [name for name in wanted if not getattr(letter, name)]
        if self.strict:
            missing += letter_audit.lacking(self.world, letter)
        return {"letter_id": letter_id, "complete": not missing, "missing_fields": missing}

    def _basis(self, case: PriorAuthCase, letter_type: LetterType) -> str | None:
        """Return what a decision rests on, where its writer does not say."""
        if self.strict:
            return letter_texts.basis(self.world, case, letter_type) or None
        policy = self.world.cases.policy(case.id)
        return policy.policy_summary if policy else None

    def _body(
        self,
        case: PriorAuthCase,
        letter_type: LetterType,
        given: str | None,
        request: PayerLetterRequest,
        basis: str | None,
    ) -> str:
        if not self.strict:
            options = (
                given,
                request.rationale,
                basis,
                request.supporting_basis,
                case.outcome_reason,
            )
            return next((text for text in options if text), letter_texts.subject(letter_type))
        slots = letter_texts.facts(self.world, case, letter_type)
        text = letter_texts.body(letter_type, slots)
        require_complete(self.world, case.id, letter_type, slots, text)
        return f"{text}{REMARKS}{given.strip()}" if given and given.strip() else text
