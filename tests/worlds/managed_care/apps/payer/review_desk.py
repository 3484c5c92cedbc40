"""A payer's review desks to play at: one case in review, its criteria, and people who review."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from healthgym.worlds.managed_care.apps.payer import peer_calls
from healthgym.worlds.managed_care.contracts import PeerContract
from healthgym.worlds.managed_care.handbook.rules import OperatingRules
from healthgym.worlds.managed_care.records.catalog import CriteriaCatalog
from healthgym.worlds.managed_care.records.review import (
    ClinicalCriterionCatalogItem,
    NurseCriterionEvaluation,
)
from healthgym.worlds.managed_care.refusals import Refusal, RefusalCode
from healthgym.worlds.managed_care.rules import Rules
from healthgym.worlds.managed_care.vocabulary.authorization import (
    CriterionResult,
    DeterminationDecision,
    MdReviewDecision,
    NurseReviewRecommendation,
    TaskActor,
)
from healthgym.worlds.managed_care.world import ManagedCareWorld
from tests.worlds.managed_care.recorded import build

CASE = "CASE-T"
NURSE, NURSE_2, MD, MD_2, AMD, EXT = "C-NUR", "C-NUR2", "C-MD", "C-MD2", "C-AMD", "C-EXT"
CLERK, STRANGER = "C-INT", "W-404"
SLOT = "2026-03-16T16:00:00"
SLOTS = (SLOT, "2026-03-17T17:00:00", "2026-03-18T17:00:00")
CRITERIA = ("C-1", "C-2")
PARTIAL = {
    "determination_rationale": "One unit of two is carried.",
    "signed_off": True,
}


def desk(
    rules: Rules = Rules.STRICT,
    status: str = "under_review",
    contract: PeerContract | None = None,
    units: int | None = 2,
    operations: OperatingRules | None = None,
    **setup: Any,
) -> ManagedCareWorld:
    """Return a world with a case in review, a complete intake and two criteria.

    Args:
        rules: Which rules it keeps.
        status: Where the case stands.
        contract: What the other side of a call holds.
        units: Units that its line asks for.
        operations: The rules of operation; the standing ones if None.
        setup: What differs from the recorded beginnings.
    """
    cases = [{"id": CASE, "status": status, "policy": {}}]
    made = build({"cases": cases, "intakes": [{"case_id": CASE}], **setup}, "pa_um", rules)
    start = replace(
        made.start,
        records=(*made.start.records, catalog()),
        contracts={CASE: contract} if contract else {},
        operations=operations or made.start.operations,
    )
    world = ManagedCareWorld(start)
    line = world.cases.line(CASE)
    world.cases.lines[line.id] = replace(line, requested_units=units)
    return world


def catalog() -> CriteriaCatalog:
    """Return the criteria of the case."""
    return CriteriaCatalog(
        case_id=CASE,
        items=tuple(
            ClinicalCriterionCatalogItem(
                criterion_id=one, line_number=1, stage="nurse", criterion_text=f"Text of {one}."
            )
            for one in CRITERIA
        ),
    )


def finding(
    criterion: str = "C-1",
    result: CriterionResult = CriterionResult.MET,
    source: str = "DOC-1",
) -> NurseCriterionEvaluation:
    """Return a finding about a criterion, on a source unless it is blank."""
    return NurseCriterionEvaluation(
        criterion_id=criterion,
        criterion_text=f"Text of {criterion}.",
        result=result,
        source_refs_used=(source,) if source else (),
    )


def findings(second: CriterionResult = CriterionResult.MET) -> tuple[NurseCriterionEvaluation, ...]:
    """Return a finding about each criterion; the first is met."""
    return finding(), finding("C-2", second)


def find_as_nurse(
    world: ManagedCareWorld, second: CriterionResult = CriterionResult.MET
) -> ManagedCareWorld:
    """Let the nurse answer the criteria; return the world."""
    world.nursing.save(CASE, 1, evaluations=findings(second), reviewer_id=NURSE)
    return world


def approved_by_nurse(rules: Rules = Rules.STRICT, **fields: Any) -> ManagedCareWorld:
    """Return a world in which the nurse has recommended approval."""
    world = find_as_nurse(desk(rules, **fields))
    world.nursing.submit(CASE, NurseReviewRecommendation.APPROVE, reviewer_id=NURSE)
    return world


def escalated(rules: Rules = Rules.STRICT, **fields: Any) -> ManagedCareWorld:
    """Return a world in which the nurse found a criterion unmet and handed the case on."""
    world = find_as_nurse(desk(rules, **fields), CriterionResult.NOT_MET)
    escalate = NurseReviewRecommendation.ESCALATE
    world.nursing.submit(CASE, escalate, clinical_notes="C-2 is not met.", reviewer_id=NURSE)
    return world


def decided(
    decision: MdReviewDecision, rules: Rules = Rules.STRICT, **fields: Any
) -> ManagedCareWorld:
    """Return a world in which the physician has decided after the nurse handed the case on."""
    world = escalated(rules, **fields)
    decide(world, decision)
    return world


def decide(world: ManagedCareWorld, decision: MdReviewDecision, **fields: Any) -> Mapping[str, Any]:
    """Decide as the physician, with everything that the decision takes."""
    known: dict[str, Any] = {
        "reviewer_id": MD,
        "determination_rationale": "The records carry it.",
        "denial_rationale": "C-2 is not met.",
        "signed_off": True,
    }
    return world.medical.submit(CASE, decision, **{**known, **fields})


def finalized(decision: DeterminationDecision, rules: Rules = Rules.STRICT) -> ManagedCareWorld:
    """Return a world in which the case is approved or denied."""
    if decision is DeterminationDecision.APPROVED:
        world = approved_by_nurse(rules)
    else:
        world = decided(MdReviewDecision.DENY, rules)
    world.determinations.finalize(CASE, decision)
    return world


def play(world: ManagedCareWorld, act: Callable[[], object]) -> object:
    """Play one call as a transaction."""
    savepoint = world.journal.begin()
    try:
        result = act()
    except Refusal:
        world.journal.rollback(savepoint)
        raise
    world.journal.commit()
    return result


def refused(world: ManagedCareWorld, code: RefusalCode, act: Callable[[], object]) -> str:
    """Play a call that must be refused for this reason and leave nothing; return the sentence."""
    before = world.digest()
    with pytest.raises(Refusal) as caught:
        play(world, act)
    assert caught.value.code is code, caught.value
    assert world.digest() == before
    return str(caught.value)


def both(
    make: Callable[[Rules], ManagedCareWorld],
    act: Callable[[ManagedCareWorld], object],
    code: RefusalCode,
) -> str:
    """Play one call in both kinds of world: compat carries it out, strict refuses it."""
    act(make(Rules.COMPAT))
    world = make(Rules.STRICT)
    return refused(world, code, lambda: act(world))


def appealed_case(rules: Rules = Rules.STRICT) -> ManagedCareWorld:
    """Return a world in which the provider has appealed a denial."""
    world = finalized(DeterminationDecision.DENIED, rules)
    world.appeals.file(CASE, "The echo was overlooked.")
    return world


def asked_for_call(side: TaskActor = TaskActor.PAYER) -> ManagedCareWorld:
    """Return a strict world in which the physician has asked for a call.

    Args:
        side: Who is played; the other side answers by itself.
    """
    return decided(MdReviewDecision.P2P_REVIEW, contract=PeerContract(side=side))


def on_the_line(side: TaskActor = TaskActor.PAYER) -> ManagedCareWorld:
    """Return a strict world in which the call has begun and something was said.

    Args:
        side: Who is played; the other side answers by itself.
    """
    world = asked_for_call(side)
    request = world.peer.of(CASE)[0].id
    world.peer.offer(request, MD_2, SLOTS)
    if side is TaskActor.PAYER:
        world.peer.schedule(request, MD_2)
    else:
        world.peer.select_slot(CASE, request, SLOT)
    world.clock.advance(timedelta(days=4))
    peer_calls.send_turn(world, request, "Hello?")
    return world
