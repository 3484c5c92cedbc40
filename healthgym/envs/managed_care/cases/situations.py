"""What a request deserves, and the facts that make it so: drawn before anything else of a case."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from enum import StrEnum

import numpy as np

from healthgym.core.records import replace
from healthgym.errors import ConfigurationError
from healthgym.worlds.managed_care.facts import AnyFact, Diagnosis
from healthgym.worlds.managed_care.policies.criteria import (
    REQUEST_KINDS,
    CountCriterion,
    DiagnosisCriterion,
    FindingCriterion,
    MeasurementCriterion,
    QuantityCriterion,
    StepTherapyCriterion,
    TherapyCriterion,
)
from healthgym.worlds.managed_care.policies.diagnoses import billable, spoken_for
from healthgym.worlds.managed_care.policies.drawing import movable, moves
from healthgym.worlds.managed_care.policies.evaluation import (
    PolicyAssessment,
    evaluate,
    outcome,
)
from healthgym.worlds.managed_care.policies.planting import Planted, plant_policy, possible
from healthgym.worlds.managed_care.policies.policy import Policy
from healthgym.worlds.managed_care.policies.postures import combined, favourable
from healthgym.worlds.managed_care.policies.request import Request
from healthgym.worlds.managed_care.policies.tree import criteria
from healthgym.worlds.managed_care.vocabulary.authorization import (
    PlaceOfService,
    Posture,
    ProviderDeterminationAction,
    UploadableDocumentKind,
)

_TRIES = 24
#: Documents that the office writes for a request.
OWN_KINDS = frozenset(
    {
        UploadableDocumentKind.LETTER_OF_MEDICAL_NECESSITY,
        UploadableDocumentKind.QUESTIONNAIRE_FORM,
    }
)


class Course(StrEnum):
    """What becomes of a request that is rightly submitted."""

    APPROVED = "approved"  #: a nurse finds every criterion met
    PENDED = "pended"  #: the payer asks for a document that is sent on request only
    PARTIAL = "partial"  #: more is asked for than the policy allows at once
    GOLD_CARD = "gold_card"  #: the ordering provider is exempt from review
    NOTIFICATION = "notification"  #: the payer wants to be told, no more
    DELEGATED = "delegated"  #: another organization reviews it
    SPECIALTY = "specialty"  #: a specialty program reviews it
    VENDOR = "vendor"  #: an external vendor reviews it
    PEER_CALL = "peer_call"  #: to be denied by a superseded version, put right on a call of peers
    APPEALED = "appealed"  #: denied by a superseded version of the policy, overturned on appeal
    EXTERNAL = "external"  #: upheld on appeal, overturned by an external reviewer


class Gap(StrEnum):
    """What is missing where evidence is still to be gathered."""

    INSUFFICIENT = "insufficient"  #: documented, and not enough: too old, too short, too little
    ABSENT = "absent"  #: nowhere documented
    DOCUMENT = "document"  #: a document that the policy requires is not on file


class Bar(StrEnum):
    """Why a request is not to be submitted at all; values are the provider's finding codes."""

    NOT_REQUIRED = "service_not_pa_required"
    INACTIVE = "coverage_inactive"
    OUT_OF_NETWORK = "provider_out_of_network"
    CONTRADICTED = "insufficient_supporting_evidence"  #: the chart shows that a criterion fails


@dataclass(frozen=True, slots=True, kw_only=True)
class Situation:
    """A request under a policy, and what the chart has to say to it.

    Attributes:
        policy: The policy in force, with its own numbers.
        request: What is asked for.
        facts: What is true of the patient and bears on the policy.
        ending: A :class:`Course`, :class:`Gap` or :class:`Bar`.
        missing: Kinds of required documents that are not on file.
    """

    policy: Policy
    request: Request
    facts: tuple[AnyFact, ...]
    ending: Course | Gap | Bar
    missing: tuple[str, ...] = ()

    @property
    def action(self) -> ProviderDeterminationAction:
        """What the provider is to decide."""
        if isinstance(self.ending, Course):
            return ProviderDeterminationAction.SUBMIT_PA
        if isinstance(self.ending, Gap):
            return ProviderDeterminationAction.GATHER_MORE_EVIDENCE
        return ProviderDeterminationAction.DO_NOT_SUBMIT

    def assess(self, facts: Iterable[AnyFact], today: date) -> PolicyAssessment:
        """Return what facts show of the policy."""
        return evaluate(self.policy, facts, self.request, today)

    def needed(self, found: PolicyAssessment) -> frozenset[str]:
        """Return the facts that show what speaks for a request.

        Below a Not that is what stands against the criterion. For a part of what is asked for, it
        is also what stands against the rest: an exception to a limit that the chart contradicts
        has to be seen to be so, or it stays open.

        Args:
            found: What the chart shows of the policy.
        """
        helpful = favourable(self.policy.criteria)
        besides = {Posture.CONTRADICTS} if self.ending is Course.PARTIAL else set()
        return frozenset(
            fact
            for name, each in found.criteria.items()
            if each.posture in {helpful[name], *besides}
            for fact in each.facts
        )


def fits(policy: Policy, ending: Course | Gap | Bar) -> bool:
    """Return whether a request under a policy can end in a way."""
    lanes = policy.lanes
    reviewed = not (lanes.gold_card or lanes.notification_only)
    match ending:
        case Course.GOLD_CARD:
            return lanes.gold_card and not lanes.notification_only
        case Course.NOTIFICATION:
            return lanes.notification_only
        case Course.DELEGATED:
            return reviewed and bool(lanes.delegated_program) and not lanes.external_vendor
        case Course.SPECIALTY:
            return reviewed and bool(lanes.specialty_program) and not lanes.external_vendor
        case Course.VENDOR:
            return reviewed and bool(lanes.external_vendor)
        case Course.PARTIAL:
            return reviewed and any(
                isinstance(item, QuantityCriterion) for item in criteria(policy.criteria)
            )
        case Course.PEER_CALL | Course.APPEALED | Course.EXTERNAL:
            return reviewed and _misreadable(policy)
        case Course():
            return reviewed
        case Gap.DOCUMENT:
            return reviewed and bool(_from_chart(policy))
        case Gap() | Bar.CONTRADICTED:
            return reviewed and bool(_open_to(policy, ending))
        case Bar.OUT_OF_NETWORK:
            return not policy.out_of_network
        case Bar.NOT_REQUIRED:
            return any(not item.authorization for item in policy.procedures)
    return True


def _misreadable(policy: Policy) -> bool:
    """Return whether another number of one criterion alone can stand against a request.

    One of several alternatives cannot: where the others are open, more evidence is asked for.
    """
    helpful = favourable(policy.criteria)
    open_ = dict.fromkeys(helpful, Posture.ABSENT)
    return any(
        combined(policy.criteria, {**open_, item.id: _CONTRARY[helpful[item.id]]})
        is Posture.CONTRADICTS
        for item in movable(policy)
        if isinstance(item, _NUMBERED) and moves(item)
    )


_NUMBERED = (MeasurementCriterion, CountCriterion, TherapyCriterion, StepTherapyCriterion)
_CONTRARY = {
    Posture.SATISFIED: Posture.CONTRADICTS,
    Posture.CONTRADICTS: Posture.SATISFIED,
}


def situation(
    policy: Policy,
    ending: Course | Gap | Bar,
    gaps: int,
    patient: Request,
    today: date,
    rng: np.random.Generator,
    *,
    postures: Mapping[str, Posture] | None = None,
) -> Situation:
    """Return a request under a policy that deserves an ending.

    Args:
        policy: The policy, with its numbers.
        ending: How the request is to end.
        gaps: Most criteria to leave open, or to contradict.
        patient: Age and sex; the rest of it is drawn.
        today: The day of the request.
        rng: Where the rest comes from.
        postures: What single criteria take, by id; drawn to fit the ending if left out.

    Raises:
        ConfigurationError: If no draw gives that ending.
    """
    for _ in range(_TRIES):
        request = _request(policy, ending, patient, rng)
        stance, wanted = _wanted(policy, ending, gaps, rng)
        if postures is not None:
            stance, wanted = combined(policy.criteria, postures), dict(postures)
        try:
            planted = plant_policy(policy, stance, request, today, rng, wanted=wanted)
        except ConfigurationError:
            continue
        asked = replace(planted.request, diagnosis_codes=_codes(policy, planted, rng))
        drawn = Situation(
            policy=policy,
            request=asked,
            facts=planted.facts,
            ending=ending,
            missing=_missing(policy, ending, rng),
        )
        if _holds(drawn, planted.postures):
            return drawn
    raise ConfigurationError(f"{policy.id} gives no request that ends {ending.value!r}.")


def _request(
    policy: Policy, ending: Course | Gap | Bar, patient: Request, rng: np.random.Generator
) -> Request:
    needed = ending is not Bar.NOT_REQUIRED
    codes = [item.code for item in policy.procedures if item.authorization is needed]
    sites: list[PlaceOfService] = list(policy.sites)
    limits = [i.maximum for i in criteria(policy.criteria) if isinstance(i, QuantityCriterion)]
    return replace(
        patient,
        procedure_code=codes[int(rng.integers(len(codes)))],
        site=sites[int(rng.integers(len(sites)))],
        quantity=float(min(limits)) if limits else None,
        coverage_active=ending is not Bar.INACTIVE,
        in_network=ending is not Bar.OUT_OF_NETWORK,
    )


def _open_to(policy: Policy, ending: Course | Gap | Bar) -> list[str]:
    """Return the criteria that can be given the posture an ending takes."""
    stance = _STANCES[ending]
    return [
        item.id
        for item in criteria(policy.criteria)
        if stance in possible(item) and not isinstance(item, REQUEST_KINDS)
    ]


_STANCES: dict[Course | Gap | Bar, Posture] = {
    Gap.INSUFFICIENT: Posture.INSUFFICIENT,
    Gap.ABSENT: Posture.ABSENT,
    Bar.CONTRADICTED: Posture.CONTRADICTS,
}


def _wanted(
    policy: Policy, ending: Course | Gap | Bar, gaps: int, rng: np.random.Generator
) -> tuple[Posture, dict[str, Posture]]:
    """Return the posture of the whole tree, and those that single criteria must take."""
    if ending is Course.PARTIAL:
        limits = [i.id for i in criteria(policy.criteria) if isinstance(i, QuantityCriterion)]
        return Posture.CONTRADICTS, dict.fromkeys(limits, Posture.CONTRADICTS)
    if ending not in _STANCES:
        return Posture.SATISFIED, {}
    stance = _STANCES[ending]
    names = _open_to(policy, ending)
    count = min(int(rng.integers(1, gaps + 1)), len(names))
    picked = [names[int(n)] for n in rng.permutation(len(names))[:count]]
    whole = Posture.CONTRADICTS if stance is Posture.CONTRADICTS else Posture.INSUFFICIENT
    return whole, dict.fromkeys(picked, stance)


def _codes(policy: Policy, planted: Planted, rng: np.random.Generator) -> tuple[str, ...]:
    """Return the diagnosis a request gives: one of the patient's if the policy lists it.

    Else one of which no criterion asks, that the problem list may bear; else one that is asked for.
    """
    from_chart = [
        fact.code
        for fact in planted.facts
        if isinstance(fact, Diagnosis)
        and fact.active
        and fact.code.startswith(policy.diagnosis_prefixes)
    ]
    asked = [i for i in criteria(policy.criteria) if isinstance(i, DiagnosisCriterion)]
    taken = {code[:3] for item in asked for code in item.prefixes}
    seen = {
        item.key
        for item in criteria(policy.criteria)
        if isinstance(item, FindingCriterion) and planted.postures[item.id] is not Posture.SATISFIED
    }
    able = [code for prefix in policy.diagnosis_prefixes for code in billable(prefix)]
    free = [x for x in able if x[:3] not in taken and not seen.intersection(spoken_for(x))]
    listed = [
        example
        for item in asked
        if item.wanted
        for example in item.examples
        if example.startswith(policy.diagnosis_prefixes)
    ]
    pool = from_chart or free or listed or able or list(policy.diagnosis_prefixes)
    return (pool[int(rng.integers(len(pool)))],)


def _missing(
    policy: Policy, ending: Course | Gap | Bar, rng: np.random.Generator
) -> tuple[str, ...]:
    if ending is not Gap.DOCUMENT:
        return ()
    kinds = _from_chart(policy)
    return (str(kinds[int(rng.integers(len(kinds)))]),)


def _from_chart(policy: Policy) -> list[UploadableDocumentKind]:
    """Return the kinds of required documents that can be missed: neither own nor unnamed."""
    unnamed = UploadableDocumentKind.OTHER
    return [
        kind for kind in policy.required_documents if kind not in OWN_KINDS and kind is not unnamed
    ]


def _holds(drawn: Situation, postures: Mapping[str, Posture]) -> bool:
    """Return whether a draw deserves the ending it was drawn for.

    Args:
        drawn: The draw.
        postures: How its facts stand to the criteria, by id.
    """
    action, quantity = outcome(drawn.policy, postures, drawn.request)
    if drawn.ending is Course.PARTIAL:
        return quantity is not None
    if drawn.ending is Gap.DOCUMENT:
        return action is ProviderDeterminationAction.SUBMIT_PA
    if drawn.ending is Bar.CONTRADICTED and quantity is not None:
        return False
    return action is drawn.action
