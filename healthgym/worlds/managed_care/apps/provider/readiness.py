"""Whether a case is ready to be sent, and what its provider is advised to do.

The source looks at the documents of the case and of the chart, whatever the packet holds; a strict
world looks into the packet.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from healthgym.worlds.managed_care.apps.provider import forms
from healthgym.worlds.managed_care.apps.provider.office import View
from healthgym.worlds.managed_care.records.case import (
    PriorAuthCase,
    ProviderDeterminationPreview,
    SubmissionLineUpdate,
)
from healthgym.worlds.managed_care.records.chart import Coverage, DocumentReference
from healthgym.worlds.managed_care.records.policy import CasePolicy
from healthgym.worlds.managed_care.rules import Rules
from healthgym.worlds.managed_care.vocabulary.authorization import (
    ProviderCaseStrength,
    ProviderDeterminationAction,
    ProviderFindingCode,
    RequirementOutcome,
    UploadableDocumentKind,
)

if TYPE_CHECKING:
    from healthgym.worlds.managed_care.world import ManagedCareWorld

_NOTHING = CasePolicy(id="", case_id="")


def readiness_of(
    world: ManagedCareWorld, case: PriorAuthCase, documents: Sequence[DocumentReference]
) -> View:
    """Return what a packet lacks before it can be sent.

    Args:
        world: The world.
        case: The case.
        documents: What the packet holds; only a strict world looks at it.
    """
    kinds = missing_kinds(world, case, documents)
    fields = forms.all_missing(forms.of_case(world, case.id))
    minimum = [] if world.cases.line(case.id).diagnosis_codes else ["diagnosis"]
    missing = (*minimum, *map(str, kinds), *fields)
    return {
        "ready_to_submit": not missing,
        "missing_items": missing,
        "missing_document_kinds": kinds,
        "missing_form_fields": fields,
    }


def missing_kinds(
    world: ManagedCareWorld, case: PriorAuthCase, packet: Sequence[DocumentReference]
) -> tuple[UploadableDocumentKind, ...]:
    """Return the kinds of document that the policy wants and that are not there.

    Args:
        world: The world.
        case: The case.
        packet: The documents of the packet, where a strict world looks.
    """
    strict = world.rules is Rules.STRICT
    there = {str(doc.kind) for doc in (packet if strict else world.documents.of_case(case.id))}
    card = world.cases.policy(case.id) or _NOTHING
    return tuple(kind for kind in card.required_documents if kind not in there)


def missing_diagnoses(
    world: ManagedCareWorld, case_id: str, updates: Sequence[SubmissionLineUpdate] = ()
) -> tuple[str, ...]:
    """Return the diagnosis codes that the policy wants and no line has.

    Args:
        world: The world.
        case_id: The case.
        updates: Codes that replace those of lines.
    """
    new = {update.line_id: update.diagnosis_codes for update in updates}
    coded = {
        code
        for line in world.cases.lines_of(case_id)
        for code in (new.get(line.id) or line.diagnosis_codes)
    }
    card = world.cases.policy(case_id) or _NOTHING
    return tuple(code for code in card.required_diagnosis_codes if code not in coded)


def wrong_answers(
    world: ManagedCareWorld, case_id: str, answers: Mapping[str, str]
) -> tuple[str, ...]:
    """Return the questions that the policy wants answered otherwise.

    Args:
        world: The world.
        case_id: The case.
        answers: What was answered.
    """
    card = world.cases.policy(case_id) or _NOTHING
    wanted = card.required_questionnaire_answers
    return tuple(key for key, answer in wanted.items() if answers.get(key) != answer)


def preview(
    world: ManagedCareWorld,
    case: PriorAuthCase,
    *,
    bundle_document_id: str | None = None,
    answers: Mapping[str, str] | None = None,
    updates: Sequence[SubmissionLineUpdate] = (),
) -> ProviderDeterminationPreview:
    """Return what the provider is advised to do with a case, and why; never shown to the agent.

    The order of the reasons is the source's (``provider_recommendation_order``).

    Args:
        world: The world.
        case: The case.
        bundle_document_id: The packet; the newest one if omitted.
        answers: Answers that count besides the saved ones.
        updates: Codes that replace those of lines.
    """
    card = world.cases.policy(case.id) or _NOTHING
    barred = _barred(world, case, card)
    if barred is not None:
        outcome, code = barred
        return ProviderDeterminationPreview(
            case_id=case.id,
            bundle_document_id=bundle_document_id,
            authorization_required=card.authorization_required,
            requirement_outcome=outcome,
            strength=ProviderCaseStrength.NOT_APPLICABLE,
            recommended_action=ProviderDeterminationAction.DO_NOT_SUBMIT,
            finding_codes=(code,),
            rationale=f"{outcome}: {code}",
            policy_summary=card.policy_summary,
            policy_citations=card.policy_citations,
        )
    bundle = bundle_document_id or world.documents.newest_bundle(case.id)
    packet = world.documents.included_in(bundle) if bundle else ()
    saved = forms.of_case(world, case.id)
    kinds = missing_kinds(world, case, packet)
    fields = forms.all_missing(saved, answers)
    questions = wrong_answers(world, case.id, {**forms.all_answers(saved), **(answers or {})})
    codes = missing_diagnoses(world, case.id, updates)
    found = tuple(
        code
        for code, missing in (
            (ProviderFindingCode.MISSING_REQUIRED_DOCUMENTS, kinds),
            (ProviderFindingCode.MISSING_REQUIRED_FORM_FIELDS, fields),
            (ProviderFindingCode.MISSING_REQUIRED_QUESTIONNAIRE_ANSWERS, questions),
            (ProviderFindingCode.DIAGNOSIS_POLICY_MISMATCH, codes),
        )
        if missing
    )
    gather, submit = (
        ProviderDeterminationAction.GATHER_MORE_EVIDENCE,
        ProviderDeterminationAction.SUBMIT_PA,
    )
    return ProviderDeterminationPreview(
        case_id=case.id,
        bundle_document_id=bundle_document_id,
        authorization_required=True,
        requirement_outcome=RequirementOutcome.REQUIRED,
        strength=ProviderCaseStrength.WEAK if found else ProviderCaseStrength.STRONG,
        recommended_action=gather if found else submit,
        finding_codes=found,
        rationale=", ".join(found) or "complete",
        missing_document_kinds=kinds,
        missing_form_fields=fields,
        missing_questionnaire_answers=questions,
        missing_diagnosis_codes=codes,
        policy_summary=card.policy_summary,
        policy_citations=card.policy_citations,
    )


def _barred(
    world: ManagedCareWorld, case: PriorAuthCase, card: CasePolicy
) -> tuple[RequirementOutcome, ProviderFindingCode] | None:
    """Return why nothing is to be submitted at all; None if nothing stands against it."""
    coverage = coverage_of(world, case.patient_id)
    if coverage is None or not in_force(world, coverage):
        return RequirementOutcome.NOT_COVERED, ProviderFindingCode.COVERAGE_INACTIVE
    if coverage.network_status == "out_of_network":
        if world.rules is Rules.STRICT:
            outside = ProviderFindingCode.PROVIDER_OUT_OF_NETWORK
            return RequirementOutcome.OUT_OF_NETWORK, outside
        # The source cannot tell the two apart: its own branch for this is out of reach.
        return RequirementOutcome.NOT_COVERED, ProviderFindingCode.COVERAGE_INACTIVE
    if not card.authorization_required:
        return RequirementOutcome.NOT_REQUIRED, ProviderFindingCode.SERVICE_NOT_PA_REQUIRED
    return None


def coverage_of(world: ManagedCareWorld, patient_id: str) -> Coverage | None:
    """Return the coverage that counts today: the one in force, else the latest there was.

    The source knows one coverage for each patient, whatever its dates; so does a compatible world.
    """
    chart = world.charts[patient_id]
    today = world.clock.now.date()
    counts = chart.coverage_on(today) if world.rules is Rules.STRICT else None
    return counts or next(iter(chart.coverages), None)


def in_force(world: ManagedCareWorld, coverage: Coverage) -> bool:
    """Return whether a coverage is active; a strict world also looks at its dates."""
    if not coverage.active or world.rules is not Rules.STRICT:
        return coverage.active
    today = world.clock.now.date()
    begun = coverage.effective_date is None or coverage.effective_date <= today
    return begun and (coverage.termination_date is None or today <= coverage.termination_date)
