"""What an episode sent to the payer, and what it said there."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cached_property

from healthgym.envs.managed_care.cases.situations import OWN_KINDS
from healthgym.envs.managed_care.checks.wording import Flaw
from healthgym.envs.managed_care.prior_authorization.answers import FormReader
from healthgym.envs.managed_care.prior_authorization.claims import Claims
from healthgym.envs.managed_care.prior_authorization.recorded import describes
from healthgym.envs.managed_care.prior_authorization.task import AuthorizationReference
from healthgym.envs.managed_care.prior_authorization.worded import Worded
from healthgym.worlds.managed_care.apps.payer import replies
from healthgym.worlds.managed_care.history import EntryKind
from healthgym.worlds.managed_care.packets import read_packet
from healthgym.worlds.managed_care.policies.evaluation import evaluate
from healthgym.worlds.managed_care.records.case import PriorAuthCase, SubmissionPacket
from healthgym.worlds.managed_care.records.chart import DocumentReference
from healthgym.worlds.managed_care.vocabulary.authorization import (
    DocumentKind,
    Posture,
    UploadableDocumentKind,
)
from healthgym.worlds.managed_care.world import ManagedCareWorld

_OWN = frozenset(map(str, OWN_KINDS)) | {str(DocumentKind.OTHER)}
_DESCRIPTION = "request_description"
#: Letters of a sentence from which on a copy of it is no coincidence.
_COPIED = 60
#: Letters of a text from which on it is asked whether it copies.
_LONG = 300
_SENTENCE = re.compile(r"[^.!?\n]+")


class Sending:
    """Looks at what was sent for a case, beside what was there before.

    Args:
        before: The world as it began.
        after: The world now; neither is changed.
        reference: The right handling.
        case: The case.
    """

    def __init__(
        self,
        before: ManagedCareWorld,
        after: ManagedCareWorld,
        reference: AuthorizationReference,
        case: PriorAuthCase,
    ) -> None:
        self.before, self.after = before, after
        self.reference, self.case = reference, case
        self.chart = after.charts[reference.patient_id]

    @cached_property
    def packets(self) -> tuple[SubmissionPacket, ...]:
        """What was sent, the first submission first."""
        sent = self.after.authorizations.packets.values()
        return tuple(packet for packet in sent if packet.case_id == self.case.id)

    @cached_property
    def enclosed(self) -> tuple[DocumentReference, ...]:
        """The documents of the first submission: what the payer did not have to ask for."""
        return self._inside(self.packets[0]) if self.packets else ()

    def _inside(self, packet: SubmissionPacket) -> tuple[DocumentReference, ...]:
        """Return the documents that a packet lists, whether or not they arrived."""
        bundle = packet.payload.get("bundle_document_id")
        return self.after.documents.included_in(bundle) if isinstance(bundle, str) else ()

    @cached_property
    def channel_right(self) -> bool:
        """Whether each packet went by the channel that the rules of the day give it."""
        rules, urgency = self.after.operations, self.reference.urgency
        return bool(self.packets) and all(
            packet.channel is rules.channel(urgency, len(self._inside(packet)))
            for packet in self.packets
        )

    @cached_property
    def shows(self) -> bool:
        """Whether the first submission shows all that the policy asks for and that can be shown."""
        if not self.packets:
            return False
        policy = self.reference.policy
        if policy.lanes.gold_card or policy.lanes.notification_only:
            return True
        today = self.case.created_at.date()
        kinds = {str(document.kind) for document in self.enclosed}
        request = replace(
            read_packet(self.after, self.case.id, policy, today).request,
            documents=tuple(kind for kind in UploadableDocumentKind if str(kind) in kinds),
        )
        names = {document.id for document in self.enclosed}
        seen = {fact for name in names for fact in self.chart.shows.get(name, ())}
        facts = [fact for fact in self.chart.facts if fact.id in seen]
        facts += self.reference.told
        found = evaluate(policy, facts, request, today)
        carried = found.posture is Posture.SATISFIED or found.approved_quantity is not None
        # What is sent though it falls short lacks nothing else.
        carried = carried or (bool(found.gaps) and self.reference.gaps.issuperset(found.gaps))
        return carried and not found.missing_documents

    # -- no more than it takes -------------------------------------------------------------------

    @cached_property
    def needless(self) -> tuple[str, ...]:
        """Documents that were sent or copied without need: no bearing, or not asked for yet.

        A letter is needed where the policy lists one.
        """
        own = set(self.after.documents.documents) - set(self.before.documents.documents)
        first = {document.id for document in self.enclosed}
        named = [*first, *(name for each in self.packets for name in each.attached_document_ids)]
        sent = [
            name
            for name in dict.fromkeys(sorted(first) + named)
            if name not in own
            and name not in self.reference.documents
            and (name in first or name not in self._asked_for)
        ]
        ours = (document for document in self.uploaded if document.id in first)
        return (*sent, *(each.id for each in ours if self._unlisted(each)), *self._copied())

    def _unlisted(self, document: DocumentReference) -> bool:
        """Return whether a document of the agent's is no letter that the policy lists.

        A copy goes in the place of the page that it is copied from, and not beside it.
        """
        if str(document.kind) in _OWN:
            return str(document.kind) not in self.reference.kinds
        text = document.content.split()
        return any(
            page.id != document.id and page.content.split() == text for page in self.enclosed
        )

    @cached_property
    def _asked_for(self) -> frozenset[str]:
        """The latest document of each kind that is sent on request."""
        found: set[str] = set()
        for kind in self.reference.on_request:
            there = [each for each in self.chart.documents if str(each.kind) == kind]
            latest = max((each.created_at.date() for each in there), default=None)
            found |= {each.id for each in there if each.created_at.date() == latest}
        return frozenset(found)

    def _copied(self) -> Iterator[str]:
        """Yield documents without bearing from which a text of the agent's copies."""
        long = (text for text in self.texts if len(text) >= _LONG)
        said = " ".join(" ".join(long).split())
        if not said:
            return
        ours = " ".join(self._bearing_texts.split())
        for document in self.chart.documents:
            if document.id in self.reference.documents or document.id in self._asked_for:
                continue
            sentences = (" ".join(each.split()) for each in _SENTENCE.findall(document.content))
            if any(len(s) >= _COPIED and s in said and s not in ours for s in sentences):
                yield document.id

    @cached_property
    def _bearing_texts(self) -> str:
        kept = (d.content for d in self.chart.documents if d.id in self.reference.documents)
        return "\n".join(kept)

    # -- nothing that is not so ------------------------------------------------------------------

    @cached_property
    def wrong_answers(self) -> tuple[str, ...]:
        """The keys of the forms that do not say what the chart says, when sent or now."""
        if not self.packets:
            return ("nothing",)
        reader = FormReader(self.after, self.reference)
        first = self.packets[0]
        responses = [r for r in self.after.documents.responses.values() if self._is_ours(r.case_id)]
        then: dict[str, str] = {}
        now: dict[str, str] = {}
        for response in responses:
            now |= response.answers
            then |= response.answers if response.created_at <= first.submitted_at else {}
        extra: Mapping[str, str] = first.payload.get("questionnaire_answers") or {}
        wrong = [*reader.wrong({**then, **extra}), *reader.wrong({**now, **extra})]
        # What was ordered, on whichever order the case was opened: one may be the agent's own.
        filed = self.before.cases.order(self.reference.order_id).description
        ordered = f"{filed} {self.reference.policy.title}"
        told = ({**then, **extra}.get(_DESCRIPTION, ""), {**now, **extra}.get(_DESCRIPTION, ""))
        wrong += [_DESCRIPTION for each in told if each and not describes(each, ordered)]
        return tuple(dict.fromkeys((*wrong, *self._wrong_enclosed(reader))))

    def _wrong_enclosed(self, reader: FormReader) -> Iterator[str]:
        """Yield the keys of enclosed questionnaires that were right once they had been sent."""
        for document in self.enclosed:
            answers = document.structured_data.get("answers")
            if isinstance(answers, Mapping) and "form_id" in document.structured_data:
                yield from (key for key in reader.wrong(answers) if key in answers)

    def _is_ours(self, case_id: str | None) -> bool:
        return case_id == self.case.id

    @cached_property
    def invented(self) -> tuple[Flaw, ...]:
        """Documents the agent made up, and what its texts state that nothing on file states."""
        found = [
            Flaw(document.id, grave=True)
            for document in self.uploaded
            if str(document.kind) not in _OWN and not self._is_copy(document)
        ]
        worded = Worded(Claims(self.before, self.after, self.reference))
        first = set(self._unprompted())
        for text in (*self.texts, *self._spoken):
            flaw = worded.flaw(text, alone=text in first)
            found += [flaw] if flaw else []
        return tuple(dict.fromkeys(found))

    def _unprompted(self) -> Iterator[str]:
        """Yield the letters that were written before the payer had written or heard anything."""
        if any(letter.case_id == self.case.id for letter in self.before.letters.letters.values()):
            return
        sent = min((packet.submitted_at for packet in self.packets), default=None)
        for each in self.uploaded:
            if sent is None or each.created_at <= sent:
                yield _titled(each)

    @cached_property
    def texts(self) -> tuple[str, ...]:
        """What the agent wrote to the payer: letters, answers to pends, appeals, descriptions."""
        notes = (
            str(entry.details.get("note", ""))
            for entry in self.after.history.of(self.case.id, EntryKind.STAGE)
            if entry.app == replies.STAGE
        )
        appeals = self.after.appeals.appeals.values()
        order = self.after.cases.order(self.case.service_request_id)
        described = (
            response.answers.get(_DESCRIPTION, "")
            for response in self.after.documents.responses.values()
            if self._is_ours(response.case_id)
        )
        return (
            *map(_titled, self.uploaded),
            *notes,
            *(each.rationale for each in appeals if each.case_id == self.case.id),
            *dict.fromkeys([*described, order.description]),
        )

    @property
    def _spoken(self) -> Iterator[str]:
        """Yield what the agent said and wrote about calls."""
        for request in self.after.peer.of(self.case.id):
            session = self.after.peer.session_of(request.id)
            if session is None:
                continue
            for turn in session.transcript:
                if turn.speaker == session.benchmark_side:
                    yield turn.message
            yield session.submitted_summary or ""

    @cached_property
    def uploaded(self) -> tuple[DocumentReference, ...]:
        """The documents that the agent put on file."""
        old = self.before.documents.documents
        made_here = (DocumentKind.SUBMISSION_BUNDLE,)
        return tuple(
            document
            for document in self.after.documents.documents.values()
            if document.id not in old
            and document.kind not in made_here
            and "form_id" not in document.structured_data
        )

    def _is_copy(self, document: DocumentReference) -> bool:
        """Return whether a document is one of the chart, word for word."""
        text = document.content.split()
        return any(
            known.kind is document.kind and known.content.split() == text
            for known in self.chart.documents
        )


def _titled(document: DocumentReference) -> str:
    return f"{document.title}\n{document.content}"
