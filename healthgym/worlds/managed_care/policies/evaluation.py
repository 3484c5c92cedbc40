"""What a set of facts shows of a policy, and what follows from it for provider and payer.

A criterion is satisfied, contradicted, or open; open with something on record is insufficient, and
with nothing absent. A group needs some number of its parts: it is satisfied if so many are,
contradicted if so many can no longer be, absent if there is nothing but absence, and insufficient
otherwise. Contradicted means decided against, insufficient means that a further record could settle
it: hence the provider gathers in the one case and does not submit in the other, and the payer asks
or denies.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date

from healthgym.core.borders import Json
from healthgym.worlds.managed_care.facts import AnyFact
from healthgym.worlds.managed_care.policies.criteria import (
    AnyCriterion,
    ContraindicationCriterion,
    DiagnosisCriterion,
    ProcedureCriterion,
    QuantityCriterion,
)
from healthgym.worlds.managed_care.policies.evidence import evidence_items, item_result, roll_up
from healthgym.worlds.managed_care.policies.policy import Policy
from healthgym.worlds.managed_care.policies.reading import bearing, by_kind, read
from healthgym.worlds.managed_care.policies.request import Request
from healthgym.worlds.managed_care.policies.tree import Group, Node, Not, criteria, needed, parts
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

#: What a chart lists: what is on no list is not the case, as far as the office has to show.
_LISTED = (DiagnosisCriterion, ContraindicationCriterion, ProcedureCriterion)
_STANCES = {
    CriterionResult.MET: Posture.SATISFIED,
    CriterionResult.NOT_MET: Posture.CONTRADICTS,
}
_FLIPPED = {Posture.SATISFIED: Posture.CONTRADICTS, Posture.CONTRADICTS: Posture.SATISFIED}


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
        """What a reviewer enters, item by item: few of the assessments of a task are entered."""
        return tuple(
            ClinicalEvidenceItemObservation(
                item_id=template.item_id,
                observed_value=value,
                observed_unit=template.threshold_unit or "",
                item_result=result,
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
    reading = read(criterion, facts, request, today)
    values, rests_on = reading.values, reading.facts
    observed = []
    for template in evidence_items(criterion):
        value = values.get(template.item_id.rpartition(".")[2]) if values else None
        observed.append((template, value, item_result(template, value)))
    result = roll_up(criterion.roll_up, [each[2] for each in observed])
    if result is CriterionResult.UNCLEAR:
        stance = Posture.INSUFFICIENT if rests_on else Posture.ABSENT
    else:
        stance = _STANCES[result]
    return Assessment(
        criterion_id=criterion.id,
        posture=stance,
        result=result,
        observed=tuple(observed),
        facts=rests_on,
    )


def combined(node: Node, postures: Mapping[str, Posture], *, negated: bool = False) -> Posture:
    """Return the posture of a tree from those of its criteria, by id.

    Under a Not, silence is the answer for what would stand on a list if it were so: a diagnosis, a
    contraindication, an earlier procedure.

    Args:
        node: The tree, or a part of it.
        postures: Postures, by id.
        negated: Whether the part stands under a Not.
    """
    if not isinstance(node, Group):
        stance = postures[node.id]
        silent = negated and stance is Posture.ABSENT and isinstance(node, _LISTED)
        return Posture.CONTRADICTS if silent else stance
    turned = negated is not isinstance(node, Not)
    below = [combined(part, postures, negated=turned) for part in parts(node)]
    if isinstance(node, Not):
        return _FLIPPED.get(below[0], below[0])
    wanted = needed(node)
    satisfied = below.count(Posture.SATISFIED)
    if satisfied >= wanted:
        return Posture.SATISFIED
    if len(below) - below.count(Posture.CONTRADICTS) < wanted:
        return Posture.CONTRADICTS
    return Posture.ABSENT if set(below) == {Posture.ABSENT} else Posture.INSUFFICIENT


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
        gaps=tuple(dict.fromkeys(_open(tree, postures))) if gather else (),
        against=tuple(dict.fromkeys(_against(tree, postures))) if denied else (),
        missing_documents=missing,
        recommendation=recommendation,
        decision=decision,
        determination=determination,
        approved_quantity=limit,
    )


def settles(tree: Node, postures: Mapping[str, Posture], named: Iterable[str]) -> bool:
    """Return whether evidence for the named criteria would satisfy a tree.

    Several answers to what is missing can be right where a policy leaves a choice; this tells
    whether one of them is complete.

    Args:
        tree: The criteria.
        postures: Postures as they are, by id.
        named: Ids of the criteria for which evidence is to be gathered.
    """
    wanted = set(named)
    known = {
        name: good
        for name, good in favourable(tree)
        if name in wanted and postures.get(name) in (Posture.INSUFFICIENT, Posture.ABSENT)
    }
    return combined(tree, {**postures, **known}) is Posture.SATISFIED


def favourable(node: Node, good: Posture = Posture.SATISFIED) -> Iterator[tuple[str, Posture]]:
    """Yield each criterion's id with the posture that helps: under a Not, the contrary.

    Args:
        node: The criteria.
        good: The posture that the whole is wanted to take.
    """
    if not isinstance(node, Group):
        yield node.id, good
    below = _FLIPPED[good] if isinstance(node, Not) else good
    for part in parts(node):
        yield from favourable(part, below)


def decisive(
    node: Node,
    postures: Mapping[str, Posture],
    good: Posture = Posture.SATISFIED,
    *,
    negated: bool = False,
) -> tuple[str, ...]:
    """Return the criteria whose change would turn the result: the fewest that would do.

    Of several branches the one is named that lacks least, and the first of equals; what a branch
    that nobody relies on lacks is no reason for anything.

    Args:
        node: The criteria.
        postures: Postures as they are, by id.
        good: The posture that the whole is wanted to take.
        negated: Whether it stands under a Not.

    Returns:
        Their ids in the order of the page; none if the result is the wanted one.
    """
    if combined(node, postures, negated=negated) is good:
        return ()
    if not isinstance(node, Group):
        return (node.id,)
    below = parts(node)
    if isinstance(node, Not):
        return decisive(below[0], postures, _FLIPPED[good], negated=not negated)
    wanted = needed(node)
    if good is Posture.CONTRADICTS:
        wanted = len(below) - wanted + 1
    ways = [decisive(part, postures, good, negated=negated) for part in below]
    nearest = sorted(range(len(ways)), key=lambda place: len(ways[place]))[:wanted]
    return tuple(name for place in sorted(nearest) for name in ways[place])


def failing(
    node: Node,
    postures: Mapping[str, Posture],
    good: Posture = Posture.SATISFIED,
    *,
    negated: bool = False,
) -> tuple[str, ...]:
    """Return every criterion on the parts of a policy that are not carried.

    Where several branches fail, a reader may rightly name another than :func:`decisive` does. What
    a satisfied alternative makes needless is not among them.

    Args:
        node: The criteria.
        postures: Postures as they are, by id.
        good: The posture that the whole is wanted to take.
        negated: Whether it stands under a Not.

    Returns:
        Their ids in the order of the page; none if the result is the wanted one.
    """
    if combined(node, postures, negated=negated) is good:
        return ()
    if not isinstance(node, Group):
        return (node.id,)
    below, turned = parts(node), isinstance(node, Not)
    wanted = _FLIPPED[good] if turned else good
    return tuple(
        name
        for part in below
        for name in failing(part, postures, wanted, negated=negated is not turned)
    )


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


def limit_of(tree: Node, postures: Mapping[str, Posture]) -> int | None:
    """Return the most that could be approved, if nothing but a quantity stands against it."""
    limits = {
        item.id: item.maximum
        for item in criteria(tree)
        if isinstance(item, QuantityCriterion) and postures[item.id] is Posture.CONTRADICTS
    }
    lowered = {**postures, **dict.fromkeys(limits, Posture.SATISFIED)}
    if limits and combined(tree, lowered) is Posture.SATISFIED:
        return min(limits.values())
    return None


def _open(node: Node, postures: Mapping[str, Posture], *, negated: bool = False) -> Iterator[str]:
    """Yield the open criteria below what is open: what is already decided needs no evidence."""
    decided = (Posture.SATISFIED, Posture.CONTRADICTS)
    if combined(node, postures, negated=negated) in decided:
        return
    if not isinstance(node, Group):
        yield node.id
    for part in parts(node):
        yield from _open(part, postures, negated=negated is not isinstance(node, Not))


def _against(node: Node, postures: Mapping[str, Posture]) -> Iterator[str]:
    """Yield the criteria because of which a tree is contradicted."""
    if isinstance(node, Not):
        if combined(node, postures) is Posture.CONTRADICTS:
            yield from (item.id for item in criteria(node))
        return
    if combined(node, postures) is not Posture.CONTRADICTS:
        return
    if not isinstance(node, Group):
        yield node.id
    for part in parts(node):
        yield from _against(part, postures)
