"""The source's verdict on a case, by its own rules: stages, checks, and what they add up to.

A check that does not apply is left out of the score. A case scores 1 if no check is False and at
least one applies; its fraction is the share of those that apply which passed. Under the gates of
care management (editions 1 to 3) one False makes the fraction 0.

What of the source is not here:

* The rubric judge, a language model: under the public contracts it decides nothing that prior
  authorization's checks do not, has criteria, recommendations and rationales of utilization
  management, and consent, assessment and plan quality of care management. What stands in for it
  are the checks of the editions that matched these by rule: those of criteria, recommendation and
  decision of contract_v2, and the twelve gates of cm_v3.
* Nine checks that no contract lets apply (:data:`NEVER_APPLY`): seven of peer-to-peer slots and the
  agent's summary, and two of the arena that are for information only.
* The loss of the link between a call and its transcript in the source's export of the arena.

Two checks are here although nothing that the tools accept can fail them: that no nurse recommends a
denial, and that a call has a note. A third, that the provider's last position is recorded, is true
or does not apply.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from healthgym.core.verdict import Check, CheckResult
from healthgym.envs.managed_care.checks import (
    appeal,
    cm,
    cm_gates,
    cross_stage,
    e2e,
    intake,
    md_review,
    new_referral,
    nurse_review,
    outcome,
    p2p,
    provider_pre_submission,
    provider_submission,
    triage,
)
from healthgym.envs.managed_care.checks.case_file import CaseFile
from healthgym.envs.managed_care.checks.expectation import Contract, Expectation, Stage
from healthgym.envs.managed_care.checks.rule import Rule, ask_all
from healthgym.worlds.managed_care.world import ManagedCareWorld

#: The checks of each stage, in order.
RULES: Mapping[Stage, tuple[Rule, ...]] = {
    Stage.NEW_REFERRAL: new_referral.RULES,
    Stage.PRE_SUBMISSION: provider_pre_submission.RULES,
    Stage.REQUEST_PACKAGE: provider_submission.PACKAGE,
    Stage.SUBMISSION: provider_submission.SUBMISSION,
    Stage.INTAKE: intake.RULES,
    Stage.TRIAGE: triage.RULES,
    Stage.NURSE: nurse_review.RULES,
    Stage.PHYSICIAN: md_review.RULES,
    Stage.PEER: p2p.RULES,
    Stage.OUTCOME: outcome.RULES,
    Stage.APPEAL: appeal.RULES,
    Stage.CROSS: cross_stage.RULES,
    Stage.ARENA: e2e.RULES,
    Stage.CHART_REVIEW: cm.CHART_REVIEW,
    Stage.ASSESSMENT: cm.ASSESSMENT,
    Stage.CARE_PLAN: cm.CARE_PLAN,
    Stage.CARE_CROSS: cm.CROSS,
    Stage.GATES: (*cm_gates.FIRST, *cm_gates.FURTHER),
}
#: Checks of the source that never apply, by stage.
NEVER_APPLY: Mapping[Stage, tuple[str, ...]] = {
    Stage.PEER: (
        "p2p.summary_written",
        "p2p.offer_slots_match_contract",
        "p2p.offer_artifact_slots_match_contract",
        "p2p.selected_slot_present",
        "p2p.selected_slot_in_offered_slots",
        "p2p.selected_slot_matches_rule",
        "p2p.confirmation_matches_selected_slot",
    ),
    Stage.ARENA: ("e2e.provider_action_match_exact", "e2e.p2p_role_positions_agree"),
}
_GATED = (Contract.CM1, Contract.CM2, Contract.CM3)
#: Stages of the payer: where the provider submits nothing, none of their checks applies.
_PAYER = (
    Stage.INTAKE,
    Stage.TRIAGE,
    Stage.NURSE,
    Stage.PHYSICIAN,
    Stage.PEER,
    Stage.OUTCOME,
    Stage.APPEAL,
)
#: Checks that the source does not list even then: what single artifacts must have.
_UNLISTED = frozenset(
    {
        "outcome.audit_auth_number",
        "outcome.authorization_number",
        "outcome.determination_decision_matches",
        "outcome.determination_has_rationale",
        "outcome.letter_has_denial_rationale",
        "outcome.letter_has_appeal_info",
        "outcome.letter_has_auth_number",
        "outcome.p2p_outcome_matches",
        "outcome.p2p_scheduled",
        "outcome.p2p_has_notes",
    }
)
_BACKED = "cross.closed_backed_by_provider_determination"


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """What the results add up to.

    Attributes:
        success: Whether nothing failed and something applied.
        passed: How many passed.
        applicable: How many applied.
        fraction: The share; 0 where a gate failed, or nothing applied.
    """

    success: bool
    passed: int
    applicable: int
    fraction: float


def judge(world: ManagedCareWorld, expectation: Expectation) -> list[CheckResult]:
    """Return what the source's checks say of a case, those that do not apply included.

    Args:
        world: The world at the end; it is only read.
        expectation: What is expected of the case.
    """
    case = CaseFile(world, expectation)
    if expectation.contract in _GATED:
        further = cm_gates.FURTHER if expectation.contract is Contract.CM3 else ()
        return ask_all((*cm_gates.FIRST, *further), case)
    results: list[CheckResult] = []
    for stage in stages(expectation):
        results += _of_stage(stage, case)
    return results


def score(results: Sequence[CheckResult], contract: Contract = Contract.V5) -> Score:
    """Return what results add up to.

    Args:
        results: The results of a case.
        contract: The edition; that of care management's gates knows no partial score.
    """
    passed = sum(result.passed is True for result in results)
    applicable = sum(result.passed is not None for result in results)
    success = applicable > 0 and passed == applicable
    fraction = passed / applicable if applicable else 0.0
    if contract in _GATED and not success:
        fraction = 0.0
    return Score(success=success, passed=passed, applicable=applicable, fraction=fraction)


def stages(expectation: Expectation) -> tuple[Stage, ...]:
    """Return the stages that are judged: those named, or else inferred, and the one across all."""
    if expectation.care is not None:
        return (*(expectation.stages or ()), Stage.CARE_CROSS)
    named = tuple(_inferred(expectation)) if expectation.stages is None else expectation.stages
    return (*named, Stage.CROSS)


def checks_of(expectation: Expectation) -> tuple[Check, ...]:
    """Return every check that a verdict on a case may have, in order."""
    gated = expectation.contract in _GATED
    return checks_in((Stage.GATES,) if gated else stages(expectation))


def checks_in(named: Iterable[Stage]) -> tuple[Check, ...]:
    """Return every check of some stages, each once, in order: what a family may declare."""
    found = {rule.check.name: rule.check for stage in named for rule in RULES[stage]}
    return tuple(found.values())


def _inferred(expectation: Expectation) -> Iterator[Stage]:
    if expectation.service_request is not None:
        yield Stage.NEW_REFERRAL
    if expectation.payer_route is not None:
        yield Stage.TRIAGE
    criteria = {criterion.stage for criterion in expectation.criteria}
    if expectation.nurse_recommendation is not None or Stage.NURSE in criteria:
        yield Stage.NURSE
    if expectation.physician_decision is not None or Stage.PHYSICIAN in criteria:
        yield Stage.PHYSICIAN
    if expectation.peer is not None or expectation.call is not None:
        yield Stage.PEER
    yield Stage.OUTCOME
    if expectation.appeal_outcome is not None:
        yield Stage.APPEAL


def _of_stage(stage: Stage, case: CaseFile) -> list[CheckResult]:
    arena = case.expectation.contract is Contract.ARENA
    if not arena or e2e.agent_path(case) is e2e.AgentPath.SUBMIT:
        return ask_all(RULES[stage], case)
    if stage in _PAYER:
        return [rule.left_out() for rule in RULES[stage] if rule.check.name not in _UNLISTED]
    if stage is Stage.CROSS:
        return list(_crossing_unsent(case))
    return ask_all(RULES[stage], case)


def _crossing_unsent(case: CaseFile) -> Iterator[CheckResult]:
    # Whatever was expected: the source counts it among the payer's.
    for rule in RULES[Stage.CROSS]:
        if rule.check.name == _BACKED:
            yield rule.left_out()
        elif rule.asked(case):
            yield rule.judge(case)
