"""What a submission is made of, and what a strict world wants of it before it is sent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from healthgym.core.borders import JsonObject
from healthgym.core.records import replace
from healthgym.worlds.managed_care import adjudication
from healthgym.worlds.managed_care.apps.provider import forms
from healthgym.worlds.managed_care.apps.provider.office import Limit, require_text
from healthgym.worlds.managed_care.history import EntryKind
from healthgym.worlds.managed_care.records.case import (
    PriorAuthCase,
    ProviderDeterminationPreview,
    ProviderDeterminationRecord,
    SubmissionLineUpdate,
    SubmissionPacket,
)
from healthgym.worlds.managed_care.refusals import Refusal, RefusalCode
from healthgym.worlds.managed_care.rules import Rules
from healthgym.worlds.managed_care.vocabulary.authorization import (
    CaseStatus,
    ProviderDeterminationAction,
    SubmissionChannel,
)

if TYPE_CHECKING:
    from healthgym.worlds.managed_care.world import ManagedCareWorld

#: What the provider's decision makes of a case.
FOLLOWS = {
    ProviderDeterminationAction.SUBMIT_PA: CaseStatus.READY_TO_SUBMIT,
    ProviderDeterminationAction.GATHER_MORE_EVIDENCE: CaseStatus.DOCS_NEEDED,
    ProviderDeterminationAction.DO_NOT_SUBMIT: CaseStatus.CLOSED,
}
#: What puts something new on file, so that a decision may be taken anew.
_NEWS = frozenset(
    {
        "doc_center.upload_evidence",
        "doc_center.upload_evidence_file",
        "doc_center.create_submission_bundle",
        "forms.save_form_response",
    }
)
_DECIDED = "auth.finalize_provider_determination"


def require_channel(channel: SubmissionChannel) -> None:
    """Refuse a channel by which this payer takes neither requests nor inquiries.

    Raises:
        Refusal: If it is that.
    """
    if channel is SubmissionChannel.FHIR:
        raise Refusal(
            RefusalCode.CHANNEL_UNSUPPORTED,
            "This payer takes no requests by fhir; accepted: portal, api, fax, edi, phone.",
        )


def line_updates(
    world: ManagedCareWorld, case_id: str, rows: Sequence[JsonObject]
) -> tuple[SubmissionLineUpdate, ...]:
    """Return updates of lines that came as mappings; what is none is left out, or refused.

    Raises:
        Refusal: In a strict world, if a row names no line of the case.
    """
    found = []
    for row in rows:
        line_id, codes = row.get("line_id"), row.get("diagnosis_codes")
        listed = isinstance(codes, list | tuple)
        if isinstance(line_id, str):
            new = tuple(map(str, codes)) if listed and codes else None
            found.append(SubmissionLineUpdate(line_id=line_id, diagnosis_codes=new))
        elif world.rules is Rules.STRICT:
            raise Refusal(
                RefusalCode.BAD_ARGUMENT, "A line update names its line: {'line_id': 'LINE-…'}."
            )
    if world.rules is Rules.STRICT:
        require_own_lines(world, case_id, found)
    return tuple(found)


def require_own_lines(
    world: ManagedCareWorld, case_id: str, updates: Sequence[SubmissionLineUpdate]
) -> None:
    """Refuse updates of lines that the case does not have.

    Raises:
        Refusal: If there is one.
    """
    own = {line.id for line in world.cases.lines_of(case_id)}
    for update in updates:
        if update.line_id not in own:
            raise Refusal(
                RefusalCode.NOT_FOUND,
                f"{case_id} has no line {update.line_id[:60]!r}; its lines: "
                f"{', '.join(sorted(own))}.",
            )


def apply(world: ManagedCareWorld, updates: Sequence[SubmissionLineUpdate]) -> None:
    """Give lines the codes that came with a submission."""
    for update in updates:
        line = world.cases.lines.get(update.line_id)
        if line is not None and update.diagnosis_codes:
            world.cases.lines[line.id] = replace(line, diagnosis_codes=update.diagnosis_codes)


def determined(
    world: ManagedCareWorld,
    record_id: str,
    advice: ProviderDeterminationPreview,
    action: ProviderDeterminationAction,
    reason: str,
) -> ProviderDeterminationRecord:
    """Return the record of what the provider decided, beside what it was advised to."""
    return ProviderDeterminationRecord(
        id=record_id,
        case_id=advice.case_id,
        bundle_document_id=advice.bundle_document_id,
        authorization_required=advice.authorization_required,
        requirement_outcome=advice.requirement_outcome,
        strength=advice.strength,
        recommended_action=advice.recommended_action,
        final_action=action,
        overridden=action is not advice.recommended_action,
        override_reason=reason,
        finding_codes=advice.finding_codes,
        rationale=advice.rationale,
        missing_document_kinds=advice.missing_document_kinds,
        missing_form_fields=advice.missing_form_fields,
        missing_questionnaire_answers=advice.missing_questionnaire_answers,
        missing_diagnosis_codes=advice.missing_diagnosis_codes,
        policy_summary=advice.policy_summary,
        policy_citations=advice.policy_citations,
        created_at=world.clock.now,
        created_by=world.actor,
    )


def packed(
    world: ManagedCareWorld,
    packet_id: str,
    case: PriorAuthCase,
    channel: SubmissionChannel,
    bundle_id: str | None,
    answers: Mapping[str, str],
    updates: Sequence[SubmissionLineUpdate],
    status: CaseStatus,
) -> SubmissionPacket:
    """Return what arrives at the payer: the documents of the bundle, as far as the channel takes.

    A strict payer's gateway keeps to its limits and says nothing of what it drops.
    """
    held = world.documents.included_in(bundle_id) if bundle_id else ()
    if world.rules is Rules.STRICT:
        held = held[: world.operations.documents_most(channel, case.urgency)]
    return SubmissionPacket(
        id=packet_id,
        case_id=case.id,
        channel=channel,
        payload={
            "bundle_document_id": bundle_id,
            "questionnaire_answers": answers,
            "line_updates": {one.line_id: one.diagnosis_codes for one in updates},
        },
        source_surface="provider_submission",
        attached_document_ids=tuple(doc.id for doc in held),
        submitted_at=world.clock.now,
        status=str(status),
    )


def evaluated(world: ManagedCareWorld, case: PriorAuthCase) -> adjudication.Evaluation:
    """Return what the payer's rules say of the newest submission of a case."""
    sent = world.authorizations.packet(case.id)
    answers: Mapping[str, str] = {}
    documents = []
    if sent is not None:
        answers = sent.payload.get("questionnaire_answers", {})
        documents = [world.documents.get(one) for one in sent.attached_document_ids]
    return adjudication.evaluate(world, case, answers, documents)


# What only a strict world refuses.


def require_decidable(
    world: ManagedCareWorld,
    case: PriorAuthCase,
    action: ProviderDeterminationAction,
    reason: str | None,
    bundle_id: str | None,
) -> str | None:
    """Refuse a decision without its grounds, or one that was taken on this very file.

    To submit needs a packet; to gather evidence, or not to submit, needs its reason. Once decided,
    something new has to come on file before the provider decides again.

    Returns:
        The packet that the decision is about: the newest one unless one was named.

    Raises:
        Refusal: If one of these fails.
    """
    _require_news(world, case.id)
    if action is not ProviderDeterminationAction.SUBMIT_PA:
        what = "gaps" if action is ProviderDeterminationAction.GATHER_MORE_EVIDENCE else "reason"
        require_text(reason, f"override_reason, which names the {what},", Limit.REASON)
        return bundle_id
    found = bundle_id or world.documents.newest_bundle(case.id)
    if found is None:
        raise Refusal(
            RefusalCode.UNSUPPORTED_CLAIM,
            f"{case.id} has no packet to submit; docs.create_submission_bundle makes one.",
        )
    return found


def _require_news(world: ManagedCareWorld, case_id: str) -> None:
    decided = False
    for entry in world.history.of(case_id, EntryKind.AUDIT):
        if entry.name == _DECIDED:
            decided = True
        elif entry.name in _NEWS:
            decided = False
    if decided:
        raise Refusal(
            RefusalCode.DUPLICATE,
            f"The provider decided on {case_id} as it is on file; add a document, a packet or "
            "answers before deciding again.",
        )


def require_submittable(
    world: ManagedCareWorld,
    case: PriorAuthCase,
    bundle_id: str | None,
    answers: Mapping[str, str],
    updates: Sequence[SubmissionLineUpdate],
) -> str:
    """Refuse a submission that nobody decided on, or whose forms are not filled.

    A pend is answered with its own call: sent again, the request for information would stay open
    and review could never go on.

    Returns:
        The packet that is sent: the one that was decided on.

    Raises:
        Refusal: If one of these fails.
    """
    if case.status is CaseStatus.PENDED_ACTION_REQUIRED:
        raise Refusal(
            RefusalCode.WRONG_STATE,
            f"The payer waits for an answer on {case.id}; give it with auth.respond_to_pend.",
        )
    decided = world.authorizations.determination(case.id)
    submit = ProviderDeterminationAction.SUBMIT_PA
    if decided is None or decided.final_action is not submit or not decided.bundle_document_id:
        raise Refusal(
            RefusalCode.UNSUPPORTED_CLAIM,
            f"Nobody decided to submit {case.id}; auth.finalize_provider_determination with "
            "submit_pa comes first.",
        )
    if bundle_id not in (None, decided.bundle_document_id):
        raise Refusal(
            RefusalCode.UNSUPPORTED_CLAIM,
            f"It was decided to submit {decided.bundle_document_id}, not {bundle_id}; send that "
            "packet, or decide on this one.",
        )
    for key, answer in answers.items():
        require_text(answer, f"The answer to {key[:60]}", Limit.ANSWER)
    missing = forms.all_missing(forms.of_case(world, case.id), answers)
    if missing:
        raise Refusal(
            RefusalCode.UNSUPPORTED_CLAIM,
            f"The forms of {case.id} are not complete; missing: {', '.join(missing[:20])}.",
        )
    require_own_lines(world, case.id, updates)
    return decided.bundle_document_id


def require_reply(
    world: ManagedCareWorld, case: PriorAuthCase, note: str, document_ids: Sequence[str]
) -> None:
    """Refuse an answer to a pend that says nothing, or names a document twice.

    Raises:
        Refusal: If one of these fails.
    """
    require_text(note, "The note", Limit.NOTE)
    require_once(document_ids)


def require_appeal(
    world: ManagedCareWorld, case: PriorAuthCase, rationale: str, document_ids: Sequence[str]
) -> None:
    """Refuse an appeal that gives no reason, or comes too late.

    Raises:
        Refusal: If the rationale is blank or too long, the window is over, or a document is named
            twice.
    """
    require_text(rationale, "The rationale", Limit.RATIONALE)
    require_once(document_ids)
    if case.appeal_due_at is not None and world.clock.now > case.appeal_due_at:
        raise Refusal(
            RefusalCode.ENDED,
            f"The time to appeal {case.id} ended on {case.appeal_due_at:%Y-%m-%d %H:%M} UTC.",
        )


def require_once(document_ids: Sequence[str]) -> None:
    """Refuse a list that names a document twice.

    Raises:
        Refusal: If it does.
    """
    for number, document_id in enumerate(document_ids):
        if document_id in document_ids[:number]:
            raise Refusal(
                RefusalCode.DUPLICATE, f"Document {document_id} is named twice; name it once."
            )
