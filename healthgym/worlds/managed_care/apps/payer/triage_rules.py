"""What triage of a strict world refuses; the source's takes what it is told.

A limit is computed, and one that somebody makes up is refused, without saying what the right one
is: ``triage.calculate_sla`` says so to whoever asks. Which urgency, disposition or lane is right is
for the worker to judge.
"""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from healthgym.worlds.managed_care import duty
from healthgym.worlds.managed_care.apps.payer.intake_rules import WITH_PAYER
from healthgym.worlds.managed_care.apps.payer.lanes import FAST_LANES, has_fast_lane
from healthgym.worlds.managed_care.records.case import PriorAuthCase
from healthgym.worlds.managed_care.records.intake import IntakeCase
from healthgym.worlds.managed_care.records.review import PayerRoutingRecord, TriageRecord
from healthgym.worlds.managed_care.refusals import Refusal, RefusalCode
from healthgym.worlds.managed_care.service_levels import ServiceLevel
from healthgym.worlds.managed_care.staff import WorkerRole
from healthgym.worlds.managed_care.vocabulary.authorization import (
    IntakeStatus,
    PayerRouteTarget,
    TriageUrgency,
)

if TYPE_CHECKING:
    from healthgym.worlds.managed_care.world import ManagedCareWorld


def require_triage_worker(world: ManagedCareWorld, actor: str) -> None:
    """Refuse an actor who does not work at triage, or is not in."""
    roles = tuple(WorkerRole(role) for role in world.operations.may_route)
    duty.require_on_duty(world, actor, roles)


def require_reviewable(case: PriorAuthCase, intake: IntakeCase | None) -> None:
    """Refuse a case that is not with the payer, or whose intake is not finished."""
    if case.status not in WITH_PAYER:
        raise Refusal(
            RefusalCode.WRONG_STATE,
            f"Case {case.id} is {case.status}; triage and routing are for cases that are "
            f"{', '.join(WITH_PAYER)}.",
        )
    if intake is None or intake.status is not IntakeStatus.COMPLETE:
        state = "not begun" if intake is None else intake.status
        raise Refusal(
            RefusalCode.INTAKE_INCOMPLETE,
            f"The intake of case {case.id} is {state}; payer_intake_hub.confirm_decisions "
            "completes it, and then the case can be triaged.",
        )


def require_computed(
    urgency: TriageUrgency,
    level: ServiceLevel,
    received_at: datetime,
    given: tuple[datetime, int | None, str | None],
) -> None:
    """Refuse a deadline, a number of hours or a rule that does not follow from the rules.

    Args:
        urgency: How urgent the request is said to be.
        level: What the rules give.
        received_at: When the request came in.
        given: Deadline, hours and rule source as they were entered; those left out are not
            checked.
    """
    deadline, hours, source = given
    right = level.deadline(received_at)
    wrong = [
        name
        for name, fits in (
            ("sla_deadline", deadline.replace(second=0, microsecond=0) == _minute(right)),
            ("sla_hours", hours is None or hours == level.hours),
            ("sla_rule_source", not source or source.strip() == level.rule_source),
        )
        if not fits
    ]
    if wrong:
        raise Refusal(
            RefusalCode.INVENTED_DEADLINE,
            f"{' and '.join(wrong)} is not what the rules give for a request that is {urgency}; "
            "accepted is what triage.calculate_sla answers for the same urgency and the state "
            "of the intake.",
        )


def require_card(claimed: bool, has_card: bool) -> None:
    """Refuse a gold card that policy and provider do not have, or one that is kept quiet."""
    if claimed != has_card:
        raise Refusal(
            RefusalCode.UNSUPPORTED_CLAIM,
            f"gold_card_eligible is {str(claimed).lower()}, which is not what policy and provider "
            "say; accepted is what triage.check_gold_card answers.",
        )


def require_triaged(case_id: str, triage: TriageRecord | None) -> TriageRecord:
    """Refuse to route a case that nobody has triaged; return its triage record."""
    if triage is None:
        raise Refusal(
            RefusalCode.WRONG_STATE,
            f"Case {case_id} has no disposition yet; triage.set_disposition comes before "
            "triage.route_case.",
        )
    return triage


def require_change(routed: PayerRoutingRecord | None, target: PayerRouteTarget) -> None:
    """Refuse to route a case where it is already."""
    if routed is not None and routed.recommended_target is target:
        raise Refusal(
            RefusalCode.DUPLICATE,
            f"Case {routed.case_id} is routed to {target} already; accepted is another lane as "
            "override_target, with a supervisor as actor.",
        )


def require_override(
    world: ManagedCareWorld, actor: str, triage: TriageRecord, target: PayerRouteTarget
) -> None:
    """Refuse an override without a second person, a reason, or a lane that there is.

    The published tool has no field for a reason: it is the one of the disposition.
    """
    duty.require_on_duty(world, actor, (WorkerRole.SUPERVISOR,))
    if actor == triage.actor:
        raise Refusal(
            RefusalCode.NOT_INDEPENDENT,
            f"actor {actor!r} made the disposition of case {triage.case_id}; an override needs "
            "another supervisor.",
        )
    if not (triage.disposition_reason or "").strip():
        raise Refusal(
            RefusalCode.MISSING_TEXT,
            f"The disposition of case {triage.case_id} states no reason, and an override needs "
            "one; accepted is an override after a disposition with disposition_reason.",
        )
    if target in FAST_LANES and not has_fast_lane(world, triage.case_id, target):
        raise Refusal(
            RefusalCode.LANE_NOT_ELIGIBLE,
            f"Policy and provider of case {triage.case_id} do not have the {target}, and an "
            "override cannot give it; accepted are the lanes with a review.",
        )


def _minute(at: datetime) -> datetime:
    return at.replace(second=0, microsecond=0)


def require_reason(reason: str) -> None:
    """Refuse a disposition without a word of why: whoever reads it next has to see that.

    Raises:
        Refusal: ``missing_text``.
    """
    if not reason.strip():
        raise Refusal(RefusalCode.MISSING_TEXT, "disposition_reason: say why, in a sentence.")
