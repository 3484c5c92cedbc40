"""What is expected of a case: the source's expectation of an authorization, typed.

A field that is None or empty is one on which the expectation is silent; the checks that need it are
not asked, or do not apply.
"""

from __future__ import annotations

from enum import StrEnum

from pydantic.dataclasses import dataclass

from healthgym.core.borders import Json
from healthgym.core.task import Reference
from healthgym.envs.managed_care.checks.care_expectation import STRICT, CareExpectation
from healthgym.envs.managed_care.checks.submission_expectation import SubmissionExpectation
from healthgym.worlds.managed_care.vocabulary.authorization import (
    AppealOutcome,
    CaseStatus,
    CriterionResult,
    DeterminationDecision,
    DocumentKind,
    MdReviewDecision,
    NurseReviewRecommendation,
    PayerRouteTarget,
    PeerToPeerOutcome,
    ProviderDeterminationAction,
    TriageDisposition,
    TriageUrgency,
)


class Contract(StrEnum):
    """Which edition of the source's checks a case is judged by."""

    V2 = "contract_v2"  #: early utilization management: criteria are matched here
    V3 = "contract_v3"  #: public utilization management: criteria are left to a judge
    V4 = "contract_v4"  #: a provider's package
    V5 = "contract_v5"  #: public prior authorization
    ARENA = "contract_e2e_v1"  #: provider and payer in one world
    CM1 = "cm_v1"
    CM2 = "cm_v2"
    CM3 = "cm_v3"  #: care management by gates
    CM4 = "cm_v4"  #: public care management


class Stage(StrEnum):
    """A group of checks."""

    NEW_REFERRAL = "new_referral"
    PRE_SUBMISSION = "provider_pre_submission"
    REQUEST_PACKAGE = "provider_request_package"
    SUBMISSION = "provider_submission"
    INTAKE = "intake"
    TRIAGE = "triage"
    NURSE = "nurse_review"
    PHYSICIAN = "md_review"
    PEER = "p2p"
    OUTCOME = "outcome"
    APPEAL = "appeal"
    CROSS = "cross_stage"
    ARENA = "e2e_consistency"
    CHART_REVIEW = "cm_chart_review"
    ASSESSMENT = "cm_assessment"
    CARE_PLAN = "cm_care_plan"
    CARE_CROSS = "cm_cross_stage"
    GATES = "cm_gates"


@dataclass(frozen=True, slots=True, kw_only=True, config=STRICT)
class OrderExpectation:
    """The order that fits.

    Attributes:
        acceptable_procedure_codes: Codes, any of which fits.
        required_diagnosis_codes: Diagnoses it must name.
        acceptable_service_types: Canonical types, any of which fits.
        acceptable_sites_of_service: Canonical sites, any of which fits.
    """

    acceptable_procedure_codes: tuple[str, ...] = ()
    required_diagnosis_codes: tuple[str, ...] = ()
    acceptable_service_types: tuple[str, ...] = ()
    acceptable_sites_of_service: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True, config=STRICT)
class PreSubmission:
    """What the provider is to decide, and on which documents.

    The kinds of document are by posture: what the chart holds for each criterion of the policy.

    Attributes:
        final_action: The right action; None where the expectation is silent.
        packet_must_be_absent: Whether nothing may have been sent.
        required_document_kinds: Kinds that must be on the case of a right submission.
        absent_document_kinds: Kinds that must not be there.
        insufficient_document_kinds: Kinds that are there and show too little.
        contradicts_document_kinds: Kinds that are there and speak against the criterion.
    """

    final_action: ProviderDeterminationAction | None = None
    packet_must_be_absent: bool = False
    required_document_kinds: tuple[DocumentKind, ...] = ()
    absent_document_kinds: tuple[DocumentKind, ...] = ()
    insufficient_document_kinds: tuple[DocumentKind, ...] = ()
    contradicts_document_kinds: tuple[DocumentKind, ...] = ()

    @property
    def holds_back(self) -> bool:
        """Whether not submitting is right."""
        return self.final_action not in (None, ProviderDeterminationAction.SUBMIT_PA)


@dataclass(frozen=True, slots=True, kw_only=True, config=STRICT)
class IntakeTruth:
    """What intake must find.

    Attributes:
        diagnosis_codes: Diagnoses of the request.
        checks_provider: Whether the truth names a requesting provider at all.
        provider_npi: That provider's NPI; None where the truth has none.
        request_complete: Whether nothing is missing; None where the truth is silent, as below.
        member_eligible: Whether the member is covered.
        service_covered: Whether the plan covers the service.
    """

    diagnosis_codes: tuple[str, ...] = ()
    checks_provider: bool = False
    provider_npi: str | None = None
    request_complete: bool | None = None
    member_eligible: bool | None = None
    service_covered: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True, config=STRICT)
class TriageTruth:
    """What triage must find; None where the truth is silent."""

    disposition: TriageDisposition | None = None
    urgency_level: TriageUrgency | None = None
    gold_card_eligible: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True, config=STRICT)
class ItemTruth:
    """What must be observed for one evidence item.

    Attributes:
        item_id: The item.
        comparison_mode: How values compare: scalar, enum, boolean, set, presence or result_only.
        expected_observation: The value.
        expected_item_result: Whether it meets the item.
        operator: Comparison with the threshold; None for none.
        threshold_value: What it is compared with.
        expected_unit: Unit of the value; empty for any.
    """

    item_id: str
    comparison_mode: str = "result_only"
    expected_observation: Json = None
    expected_item_result: CriterionResult
    operator: str | None = None
    threshold_value: Json = None
    expected_unit: str = ""


@dataclass(frozen=True, slots=True, kw_only=True, config=STRICT)
class CriterionTruth:
    """What must be found of one criterion.

    Attributes:
        stage: Which review judges it.
        line_number: The requested line.
        criterion_id: The criterion.
        rollup_rule: How its items make its result.
        expected_criterion_result: Its result.
        evidence_items: Its items.
    """

    stage: Stage
    line_number: int = 1
    criterion_id: str
    rollup_rule: str = "all_items"
    expected_criterion_result: CriterionResult
    evidence_items: tuple[ItemTruth, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True, config=STRICT)
class LetterArtifact:
    """What a letter must have."""

    letter_type: str
    denial_rationale_referenced: bool = False
    appeal_information_present: bool = False
    authorization_number_present: bool = False


@dataclass(frozen=True, slots=True, kw_only=True, config=STRICT)
class DeterminationArtifact:
    """What the determination must be."""

    decision: DeterminationDecision | None = None
    rationale_present: bool = False


@dataclass(frozen=True, slots=True, kw_only=True, config=STRICT)
class CallArtifact:
    """What must have come of a peer-to-peer call."""

    outcome: PeerToPeerOutcome | None = None
    scheduling_complete: bool = False
    notes_present: bool = False


@dataclass(frozen=True, slots=True, kw_only=True, config=STRICT)
class PeerWorkflow:
    """How a peer-to-peer call must have gone.

    Attributes:
        benchmark_side: The side that the agent plays.
        fixed_result: How it must end; None where that is open.
        required_file_sequence: Suffixes of the files that it leaves, in order.
        expected_decision: The determination after it; None where that is open.
        expected_case_status: The status after it; None where that is open.
    """

    benchmark_side: str = "payer"
    fixed_result: PeerToPeerOutcome | None = None
    required_file_sequence: tuple[str, ...] = ()
    expected_decision: DeterminationDecision | None = None
    expected_case_status: CaseStatus | None = None


@dataclass(frozen=True, slots=True, kw_only=True, config=STRICT)
class ArenaExpectation:
    """What the two sides must come to together.

    Attributes:
        final_decision: The decision; None where that is open.
        provider_final_position: The position with which the provider must end; None for any.
        require_pend_resolution: Whether information must have been asked for and sent.
        require_p2p_resolution: Whether a call must have been held.
    """

    final_decision: DeterminationDecision | None = None
    provider_final_position: DeterminationDecision | None = None
    require_pend_resolution: bool = False
    require_p2p_resolution: bool = False


@dataclass(frozen=True, slots=True, kw_only=True, config=STRICT)
class Expectation:
    """What is expected of one case.

    Attributes:
        contract: The edition of the checks.
        target_patient_id: The patient whose case it is; empty where the case is named.
        target_order_id: The order it is for; empty where the patient or the case is named.
        target_case_id: The case; empty where the agent makes it.
        stages: Stages to judge; None to infer them.
        target_status: Where the case must stand.
        letter_types: Letters that must have been written.
        payer_route: The lane that it must have been sent down.
        appeal_outcome: How an appeal must have ended.
        forbidden_case_ids: Cases that are somebody else's.
        service_request: The order that fits.
        pre_submission: What the provider must decide.
        submission: What the package or submission must hold.
        intake: What intake must find.
        triage: What triage must find.
        nurse_recommendation: What the nurse must recommend.
        physician_decision: What the physician must decide.
        physician_signs: Whether the physician must have signed; None where the truth is silent.
        criteria: What must be found of each criterion.
        determination: What the determination must be.
        letters: What single letters must have.
        call: What must have come of a peer-to-peer call.
        peer: How that call must have gone.
        provider_action: In the arena, what the provider must do: ``submit`` or an action.
        arena: In the arena, what both sides must come to.
        care: What is expected of a care-management episode; None for an authorization.
    """

    contract: Contract
    target_patient_id: str = ""
    target_order_id: str = ""
    target_case_id: str = ""
    stages: tuple[Stage, ...] | None = None
    target_status: CaseStatus | None = None
    letter_types: tuple[str, ...] = ()
    payer_route: PayerRouteTarget | None = None
    appeal_outcome: AppealOutcome | None = None
    forbidden_case_ids: tuple[str, ...] = ()
    service_request: OrderExpectation | None = None
    pre_submission: PreSubmission = PreSubmission()
    submission: SubmissionExpectation | None = None
    intake: IntakeTruth = IntakeTruth()
    triage: TriageTruth = TriageTruth()
    nurse_recommendation: NurseReviewRecommendation | None = None
    physician_decision: MdReviewDecision | None = None
    physician_signs: bool | None = None
    criteria: tuple[CriterionTruth, ...] = ()
    determination: DeterminationArtifact | None = None
    letters: tuple[LetterArtifact, ...] = ()
    call: CallArtifact | None = None
    peer: PeerWorkflow | None = None
    provider_action: str | None = None
    arena: ArenaExpectation = ArenaExpectation()
    care: CareExpectation | None = None

    @property
    def matches_criteria(self) -> bool:
        """Whether criteria and decisions are matched here, and not left to a judge."""
        return self.contract is not Contract.V3


class DeskReference(Reference):
    """The right handling of a task of one desk.

    Attributes:
        paper: What the source's checks expect.
    """

    __slots__ = ()

    paper: Expectation
