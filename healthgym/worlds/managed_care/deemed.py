"""A decision that nobody made in time, and that the law of a state therefore says was made."""

from __future__ import annotations

from typing import TYPE_CHECKING

from healthgym.core.records import replace
from healthgym.worlds.managed_care.records.decision import DeterminationRecord, ReviewDecision
from healthgym.worlds.managed_care.service_levels import DeemedRule, case_timers
from healthgym.worlds.managed_care.vocabulary.authorization import (
    CaseStatus,
    DecisionOutcome,
    DeterminationDecision,
    LetterType,
    ReviewRoute,
)

if TYPE_CHECKING:
    from healthgym.worlds.managed_care.world import ManagedCareWorld

#: The source of a determination that follows from a missed limit.
DEEMED = "deemed_decision"
_CALENDAR = "calendar"


def deem(world: ManagedCareWorld, case_id: str, rule: DeemedRule) -> DeterminationRecord:
    """Decide a case as the law says that a missed limit decides it.

    An approval gets its number, its window and its letter; a denial the window for an appeal, and
    no letter, since nobody has reasons to give.

    Args:
        world: The world.
        case_id: A case that is with the payer and undecided.
        rule: The rule of the state.
    """
    approved = rule.decision is DeterminationDecision.APPROVED
    determination, decision = _records(world, case_id, rule)
    desk = world.determinations
    desk.determinations[determination.id] = determination
    desk.decisions[decision.id] = decision
    status = CaseStatus.APPROVED if approved else CaseStatus.DENIED
    world.cases.move(case_id, status, _CALENDAR)
    case = replace(world.cases.get(case_id), outcome_reason=decision.rationale)
    timers, now = case_timers(world.operations), world.clock.now
    if approved:
        number = f"AUTH-{case_id}-{world.counters.draw('AUTH-'):06X}"
        expires = case.expires_at or now + timers.authorization
        case = replace(case, authorization_number=number, expires_at=expires)
    else:
        case = replace(case, appeal_due_at=case.appeal_due_at or now + timers.appeal)
    world.cases.put(case)
    if approved:
        letter = LetterType.APPROVAL
        basis = decision.rationale
        world.letters.write(case_id, letter, _CALENDAR, supporting_basis=basis, quiet=True)
    world.history.stage(case_id, "determination", str(status), _CALENDAR, source=DEEMED)
    return determination


def _records(
    world: ManagedCareWorld, case_id: str, rule: DeemedRule
) -> tuple[DeterminationRecord, ReviewDecision]:
    approved = rule.decision is DeterminationDecision.APPROVED
    intake, triage = world.intake.get(case_id), world.triage.of(case_id)
    determination = DeterminationRecord(
        id=world.determinations.draw_id("DET-"),
        case_id=case_id,
        intake_case_id=intake.id,
        source=DEEMED,
        source_record_id=triage.id if triage else intake.id,
        original_recommendation=str(rule.decision),
        final_decision=rule.decision,
        determined_by=_CALENDAR,
        created_at=world.clock.now,
    )
    decision = ReviewDecision(
        id=world.determinations.draw_id("REV-DET-"),
        case_id=case_id,
        route=ReviewRoute.AUTO_APPROVE if approved else ReviewRoute.DENY,
        outcome=DecisionOutcome.APPROVED if approved else DecisionOutcome.DENIED,
        rationale=f"Not decided within its limit. {rule.rule}.",
        reviewer_role="system",
        policy_citations=(rule.rule.partition(":")[0],),
        created_at=world.clock.now,
    )
    return determination, decision
