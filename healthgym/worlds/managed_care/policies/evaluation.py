"""What a set of facts shows of a policy, and what follows from it for provider and payer.

A criterion is satisfied, contradicted, or open; open with something on record is insufficient, and
with nothing absent (what that makes of a group is in :mod:`.postures`). Contradicted means decided
against, insufficient means that a further record could settle it: hence the provider gathers in the
one case and does not submit in the other, and the payer asks or denies.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date

from healthgym.core.borders import Json
from healthgym.worlds.managed_care.facts import AnyFact
from healthgym.worlds.managed_care.policies.criteria import AnyCriterion
from healthgym.worlds.managed_care.policies.evidence import evidence_items, item_result, roll_up
from healthgym.worlds.managed_care.policies.policy import Policy
from healthgym.worlds.managed_care.policies.postures import (
    against,
    combined,
    limit_of,
    undecided,
)
from healthgym.worlds.managed_care.policies.reading import bearing, by_kind, read
from healthgym.worlds.managed_care.policies.request import Request
from healthgym.worlds.managed_care.policies.tree import criteria
from healthgym.worlds.managed_care.records.review import (
    ClinicalEvidenceItemObservation,
    ClinicalEvidenceItemTemplate,
)
from healthgym.worlds.managed_care.vocabulary.authorization import (
    CriterionResult,
    DeterminationDecision,
    MdReviewDecision,
    NurseReviewRecommendation,
    Posture,
    ProviderDeterminationAction,
    ProviderFindingCode,
    UploadableDocumentKind,
)

_STANCES = {
    CriterionResult.MET: Posture.SATISFIED,
    CriterionResult.NOT_MET: Posture.CONTRADICTS,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Assessment:
    """What facts show of a criterion.

    Attributes:
        criterion_id: The criterion.
        posture: How the record stands to it.
        result: What a reviewer enters for it.
        observed: The items that a reviewer looks up, each with the value found and its result.
        facts: Ids of the facts it rests on, or that bear on it and leave it open.
    """

    criterion_id: str
    posture: Posture
    result: CriterionResult
    observed: tuple[tuple[ClinicalEvidenceItemTemplate, Json | None, CriterionResult], ...]
    facts: tuple[str, ...]

    @property
    def items(self) -> tuple[ClinicalEvidenceItemObservation, ...]:
        """What a reviewer enters, item by item: few of the assessments of a task are entered.

        Where silence meets a criterion, nothing on record is what was observed.
        """
        silent = self.result is CriterionResult.MET
        return tuple(
            ClinicalEvidenceItemObservation(
                item_id=template.item_id,
                observed_value=False if silent and value is None else value,
                observed_unit=template.threshold_unit or "",
                item_result=CriterionResult.MET if silent and value is None else result,
            )
            for template, value, result in self.observed
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyAssessment:
    """What facts and request show of a policy, and what follows.

    Attributes:
        posture: Of the whole tree.
        criteria: Each criterion's assessment, by id, in the order of the page.
        action: What the provider is to do.
        findings: Why, in the codes of the provider's record; empty for a submission.
        gaps: Ids of the criteria that further evidence could settle, if the action is to gather.
        against: Ids of the criteria that stand against it, if it is not to be submitted.
        missing_documents: Kinds of required documents not at hand.
        recommendation: What the nurse recommends.
        decision: What the medical director decides.
        determination: What is determined; None while the case is pended.
        approved_quantity: Units approved where a partial approval limits them.
    """

    posture: Posture
    criteria: Mapping[str, Assessment]
    action: ProviderDeterminationAction
    findings: tuple[ProviderFindingCode, ...]
    gaps: tuple[str, ...]
    against: tuple[str, ...]
    missing_documents: tuple[UploadableDocumentKind, ...]
    recommendation: NurseReviewRecommendation
    decision: MdReviewDecision
    determination: DeterminationDecision | None
    approved_quantity: int | None


def posture(
    criterion: AnyCriterion, facts: Iterable[AnyFact], request: Request, today: date
) -> Assessment:
    """Return what facts and request show of one criterion on a day."""
    values, rests_on = read(criterion, facts, request, today)
    observed = tuple(_observed(criterion, values))
    result = roll_up(criterion.roll_up, [each[2] for each in observed])
    return Assessment(
        criterion_id=criterion.id,
        posture=_stance(result, rests_on),
        result=result,
        observed=observed,
        facts=rests_on,
    )


def stance_of(
    criterion: AnyCriterion, facts: Iterable[AnyFact], request: Request, today: date
) -> Posture:
    """Return the posture of one criterion alone, for who draws facts until it is as wanted."""
    values, rests_on = read(criterion, facts, request, today)
    results = [result for _, _, result in _observed(criterion, values)]
    return _stance(roll_up(criterion.roll_up, results), rests_on)


def _observed(
    criterion: AnyCriterion, values: Mapping[str, Json]
) -> Iterator[tuple[ClinicalEvidenceItemTemplate, Json | None, CriterionResult]]:
    """Yield the items of a criterion, each with the value found and its result."""
    for template in evidence_items(criterion):
        value = values.get(template.item_id.rpartition(".")[2]) if values else None
        yield template, value, item_result(template, value)


def _stance(result: CriterionResult, rests_on: tuple[str, ...]) -> Posture:
    if result is CriterionResult.UNCLEAR:
        return Posture.INSUFFICIENT if rests_on else Posture.ABSENT
    return _STANCES[result]


def evaluate(
    policy: Policy, facts: Iterable[AnyFact], request: Request, today: date
) -> PolicyAssessment:
    """Return what facts and request show of a policy on a day, and what follows from it.

    Args:
        policy: The policy in force.
        facts: What can be seen: the whole chart, or what a packet states.
        request: What is asked for.
        today: Day of the review.
    """
    seen, tree = by_kind(facts), policy.criteria
    found = {item.id: posture(item, bearing(item, seen), request, today) for item in criteria(tree)}
    postures = {name: assessment.posture for name, assessment in found.items()}
    whole = combined(tree, postures)
    missing = _missing_documents(policy, request)
    blocked = _blocked(policy, request)
    mismatch = not policy.covers_diagnosis(request.diagnosis_codes)
    action, findings = _action(whole, blocked, mismatch, bool(missing))
    gather = action is ProviderDeterminationAction.GATHER_MORE_EVIDENCE
    denied = whole is Posture.CONTRADICTS
    limit = limit_of(tree, postures) if denied else None
    payer = Posture.INSUFFICIENT if whole is Posture.SATISFIED and (mismatch or missing) else whole
    recommendation, decision, determination = _review(policy, payer, limit is not None)
    return PolicyAssessment(
        posture=whole,
        criteria=found,
        action=action,
        findings=findings,
        gaps=tuple(dict.fromkeys(undecided(tree, postures))) if gather else (),
        against=tuple(dict.fromkeys(against(tree, postures))) if denied else (),
        missing_documents=missing,
        recommendation=recommendation,
        decision=decision,
        determination=determination,
        approved_quantity=limit,
    )


def outcome(
    policy: Policy, postures: Mapping[str, Posture], request: Request
) -> tuple[ProviderDeterminationAction, int | None]:
    """Return what a provider is to do, and the units that could be approved, as `evaluate` does.

    Args:
        policy: The policy in force.
        postures: How the record stands to its criteria, by id.
        request: What is asked for.
    """
    whole = combined(policy.criteria, postures)
    mismatch = not policy.covers_diagnosis(request.diagnosis_codes)
    missing = bool(_missing_documents(policy, request))
    action, _ = _action(whole, _blocked(policy, request), mismatch, missing)
    denied = whole is Posture.CONTRADICTS
    return action, limit_of(policy.criteria, postures) if denied else None


def _blocked(policy: Policy, request: Request) -> ProviderFindingCode | None:
    """Return why nothing is to be submitted, whatever the chart shows."""
    if not policy.requires_authorization(request.procedure_code):
        return ProviderFindingCode.SERVICE_NOT_PA_REQUIRED
    if not request.coverage_active:
        return ProviderFindingCode.COVERAGE_INACTIVE
    if not request.in_network and not policy.out_of_network:
        return ProviderFindingCode.PROVIDER_OUT_OF_NETWORK
    return None


def _missing_documents(policy: Policy, request: Request) -> tuple[UploadableDocumentKind, ...]:
    if request.documents is None:
        return ()
    return tuple(kind for kind in policy.required_documents if kind not in request.documents)


def _action(
    whole: Posture, blocked: ProviderFindingCode | None, mismatch: bool, missing: bool
) -> tuple[ProviderDeterminationAction, tuple[ProviderFindingCode, ...]]:
    if blocked is not None:
        return ProviderDeterminationAction.DO_NOT_SUBMIT, (blocked,)
    if whole is Posture.CONTRADICTS:
        reason = ProviderFindingCode.INSUFFICIENT_SUPPORTING_EVIDENCE
        return ProviderDeterminationAction.DO_NOT_SUBMIT, (reason,)
    reasons = []
    if whole is not Posture.SATISFIED:
        reasons.append(ProviderFindingCode.INSUFFICIENT_SUPPORTING_EVIDENCE)
    if missing:
        reasons.append(ProviderFindingCode.MISSING_REQUIRED_DOCUMENTS)
    if mismatch:
        reasons.append(ProviderFindingCode.DIAGNOSIS_POLICY_MISMATCH)
    if reasons:
        return ProviderDeterminationAction.GATHER_MORE_EVIDENCE, tuple(reasons)
    return ProviderDeterminationAction.SUBMIT_PA, ()


def _review(
    policy: Policy, whole: Posture, limited: bool
) -> tuple[NurseReviewRecommendation, MdReviewDecision, DeterminationDecision | None]:
    """Return what nurse and medical director are to say, and the determination."""
    if whole is Posture.SATISFIED:
        nurse = NurseReviewRecommendation.APPROVE
        if not policy.nurse_may_approve:
            nurse = NurseReviewRecommendation.ESCALATE
        return nurse, MdReviewDecision.APPROVE, DeterminationDecision.APPROVED
    if whole is Posture.CONTRADICTS:
        nurse = NurseReviewRecommendation.ESCALATE
        if limited:
            partly = DeterminationDecision.PARTIALLY_APPROVED
            return nurse, MdReviewDecision.PARTIAL_APPROVE, partly
        return nurse, MdReviewDecision.DENY, DeterminationDecision.DENIED
    return NurseReviewRecommendation.REQUEST_INFO, MdReviewDecision.REQUEST_INFO, None
