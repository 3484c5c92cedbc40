"""How somebody hears an appeal who knows what it deserves, or thinks so."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence

from pydantic import TypeAdapter

from healthgym.core.borders import Json
from healthgym.envs.managed_care.utilization_management.posting import tell
from healthgym.envs.managed_care.utilization_management.task import AppealTruth, ReviewReference
from healthgym.envs.managed_care.utilization_management.working import Desk
from healthgym.worlds.managed_care.apps.payer import appeal_rules, letter_texts
from healthgym.worlds.managed_care.policies.policy import Policy
from healthgym.worlds.managed_care.records.review import NurseCriterionEvaluation
from healthgym.worlds.managed_care.rules import Rules
from healthgym.worlds.managed_care.staff import WorkerRole
from healthgym.worlds.managed_care.vocabulary.authorization import (
    AppealOutcome,
    LetterType,
    MemberNotification,
)
from healthgym.worlds.managed_care.world import ManagedCareWorld

_EVALUATIONS = TypeAdapter(tuple[NurseCriterionEvaluation, ...])
_CLERKS, _WRITERS = (WorkerRole.INTAKE_COORDINATOR,), (WorkerRole.LETTER_SPECIALIST,)


def hear(
    desk: Desk,
    wanted: ReviewReference,
    before: ManagedCareWorld,
    findings: Callable[[], tuple[NurseCriterionEvaluation, ...]],
) -> None:
    """See an appeal through.

    Args:
        desk: Where calls are made.
        wanted: The right handling.
        before: The world as it began.
        findings: Returns what the file shows.
    """
    truth = wanted.appeal
    if truth is None:
        return
    case = wanted.case_id
    desk.do("payer_appeals.list", case_id=case)
    appeal = before.appeals.of(case)[-1].id
    desk.do("payer_appeals.get_file", appeal_id=appeal)
    desk.do("review.get_md_review_data", case_id=case)
    rows = json.loads(_EVALUATIONS.dump_json(findings()))
    conclude(desk, case, truth.outcome, reason(wanted.policy, truth, wanted.denied_on), rows)


def conclude(
    desk: Desk, case: str, outcome: AppealOutcome, said: str, rows: Sequence[Json]
) -> None:
    """Acknowledge an appeal, give it to somebody able, and have that person read and decide it.

    Args:
        desk: Where calls are made.
        case: The case.
        outcome: How it is decided.
        said: Why.
        rows: What is found.
    """
    appeal = desk.world.appeals.of(case)[-1]
    desk.do("payer_appeals.acknowledge", appeal_id=appeal.id, actor=desk.somebody(_CLERKS))
    roles = desk.world.operations.may_decide_appeal
    directors = desk.world.staff.with_role(*map(WorkerRole, roles))
    partial = [one for one in directors if appeal_rules.had_part(desk.world, appeal, one)]
    reviewer = desk.somebody(roles, partial)
    desk.do("payer_appeals.assign_reviewer", appeal_id=appeal.id, reviewer_id=reviewer)
    desk.wait_for_person(reviewer)
    desk.do(
        "payer_appeals.save_review",
        appeal_id=appeal.id,
        reviewer_id=reviewer,
        line_number=1,
        evaluations=list(rows),
    )
    # The member is told at once: the practice may go on outside as soon as it hears of it.
    desk.somebody(_WRITERS)
    desk.wait_for_person(reviewer)
    desk.do(
        "payer_appeals.decide",
        appeal_id=appeal.id,
        reviewer_id=reviewer,
        outcome=str(outcome),
        rationale=_written(desk.world, case, outcome, said),
    )
    tell(desk, case, [str(MemberNotification.APPEAL_OUTCOME)])


def reason(policy: Policy, truth: AppealTruth, against: frozenset[str]) -> str:
    """Return why an appeal is decided as it is.

    Args:
        policy: The policy in force.
        truth: How it is decided.
        against: Criteria that are still against the request.
    """
    head = f"{policy.id}, version {policy.version}"
    if not truth.grounded:
        return f"The policy in force is {head}; the appeal does not name it, and has no grounds."
    if truth.outcome is AppealOutcome.APPEAL_OVERTURNED:
        return f"{head}: the file shows {' and '.join(sorted(truth.turned))}."
    return f"{head}: the file does not show {' and '.join(sorted(against))}."


def _written(world: ManagedCareWorld, case: str, outcome: AppealOutcome, said: str) -> str:
    """Return a reason; with the letter in it where the office writes what it is given."""
    if world.rules is Rules.STRICT:
        return said
    kind = LetterType(str(outcome))
    slots = {**letter_texts.facts(world, world.cases.get(case), kind), "rationale": said}
    return f"{said}\n\n{letter_texts.body(kind, slots)}"
