"""Triage and routing: tasks, lanes in their order, and what a strict desk refuses."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from healthgym.worlds.managed_care.records.case import PriorAuthLine
from healthgym.worlds.managed_care.records.intake import IntakeProviderInfo
from healthgym.worlds.managed_care.records.review import TriageRecord
from healthgym.worlds.managed_care.refusals import RefusalCode
from healthgym.worlds.managed_care.rules import Rules
from healthgym.worlds.managed_care.vocabulary.authorization import (
    AuthorizationType,
    CaseStatus,
    DecisionOutcome,
    IntakeStatus,
    PayerMode,
    PayerReviewStatus,
    PayerRole,
    PayerRouteTarget,
    ProviderNetworkStatus,
    TriageDisposition,
    TriageUrgency,
)
from healthgym.worlds.managed_care.world import ManagedCareWorld
from tests.worlds.managed_care.apps.payer.desk import (
    CASE,
    NOW,
    both,
    case,
    intake,
    policy,
    refused,
    world,
)

EVENING = NOW.replace(hour=23)
#: Routine in Texas: 72 hours from receipt.
RIGHT: dict[str, Any] = {
    "urgency": TriageUrgency.ROUTINE,
    "deadline": "2026-03-16T14:00",
    "hours": 72,
    "rule_source": "state:TX",
    "gold_card": False,
    "disposition": TriageDisposition.NURSE_REVIEW,
    "reason": "Nothing urgent.",
    "actor": "W-INT",
}
Act = Callable[[ManagedCareWorld], object]


def _set(desk: ManagedCareWorld, **changes: Any) -> Any:
    return desk.triage.set_disposition(CASE, **{**RIGHT, **changes})


def _triaged(**fields: Any) -> TriageRecord:
    known: dict[str, Any] = {
        "id": "TRG-1",
        "case_id": CASE,
        "intake_case_id": "intake-1",
        "urgency_level": TriageUrgency.ROUTINE,
        "receipt_timestamp": NOW,
        "sla_deadline": NOW + timedelta(hours=72),
        "disposition": TriageDisposition.NURSE_REVIEW,
        "disposition_reason": "Nothing urgent.",
        "created_at": NOW,
        "actor": "W-INT",
    }
    return TriageRecord(**{**known, **fields})


def _route(desk: ManagedCareWorld, actor: str = "W-INT", override: Any = None) -> Any:
    return desk.triage.route(CASE, actor, override)


# -- triage ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("disposition", "role", "queue"),
    [
        (TriageDisposition.NURSE_REVIEW, PayerRole.UM_NURSE, "standard_um"),
        (TriageDisposition.MD_REVIEW, PayerRole.PHYSICIAN_REVIEWER, "physician_review"),
    ],
)
def test_a_disposition_queues_a_review(
    disposition: TriageDisposition, role: PayerRole, queue: str
) -> None:
    desk = world(intake())
    found = _set(desk, disposition=disposition)
    task = desk.triage.open_task(CASE)
    assert task == found["review_task"]
    assert task
    assert (task.required_role, task.queue_name) == (role, queue)
    assert task.sla_due_at == NOW + timedelta(hours=72)
    assert found["case"].status is CaseStatus.UNDER_REVIEW
    assert desk.triage.of(CASE) == found["triage"]


def test_an_automatic_approval_is_only_noted() -> None:
    desk = world(intake())
    _set(desk, disposition=TriageDisposition.AUTO_APPROVAL)
    assert desk.triage.open_task(CASE) is None
    assert desk.cases.get(CASE).status is CaseStatus.SUBMITTED
    assert desk.cases.get(CASE).outcome_reason == "Nothing urgent."


def test_a_case_is_triaged_once() -> None:
    for rules in Rules:
        desk = world(intake(), _triaged(), rules=rules)
        refused(RefusalCode.DUPLICATE, lambda desk=desk: _set(desk))


def test_hours_and_rule_that_are_left_out_are_computed_by_a_strict_desk() -> None:
    found = _set(world(intake()), hours=None, rule_source=None)["triage"]
    assert (found.sla_hours, found.sla_rule_source, found.state) == (72, "state:TX", "TX")


def test_a_strict_desk_falls_back_to_the_state_of_the_member() -> None:
    for rules, hours in ((Rules.STRICT, 72), (Rules.COMPAT, 168)):
        desk = world(intake(state=None), rules=rules)
        found = desk.triage.calculate_sla(CASE, TriageUrgency.ROUTINE, None)
        assert found["sla_hours"] == hours


def test_the_answers_of_the_calculator_are_accepted_in_every_state() -> None:
    for state in ("CA", "IL", "NY", "TX", "FL"):
        for urgency in TriageUrgency:
            desk = world(intake(state=state))
            limit: Any = desk.triage.calculate_sla(CASE, urgency, None)
            _set(
                desk,
                urgency=urgency,
                deadline=limit["sla_deadline"].isoformat(),
                hours=limit["sla_hours"],
                rule_source=limit["rule_source"],
            )


def test_the_identifier_of_another_provider_is_refused() -> None:
    desk = world(intake())
    act = lambda: desk.triage.check_gold_card(CASE, "9999999999", None)  # noqa: E731
    refused(RefusalCode.BAD_ARGUMENT, act)


def test_the_desk_is_closed_where_the_payer_decides_by_itself() -> None:
    desk = world(intake(), mode=PayerMode.AUTO)
    for act in (
        lambda: desk.triage.show(CASE),
        lambda: desk.triage.calculate_sla(CASE, TriageUrgency.STAT, None),
        lambda: desk.triage.check_gold_card(CASE, None, None),
        lambda: _set(desk),
        lambda: _route(desk),
    ):
        refused(RefusalCode.DESK_CLOSED, act)


# -- lanes -------------------------------------------------------------------------------------

LANES = [
    ({"notification_only": True, "authorization_required": False}, "notification_only_lane"),
    ({"notification_only": True, "gold_card_eligible": True}, "notification_only_lane"),
    ({"gold_card_eligible": True, "external_vendor": "V"}, "gold_card_lane"),
    ({"external_vendor": "V", "delegated_program": "D"}, "external_vendor"),
    ({"delegated_program": "D", "specialty_program": "S"}, "delegate"),
    ({"specialty_program": "S"}, "specialty_program"),
    ({"route_target": PayerRouteTarget.DELEGATE}, "delegate"),
    ({}, "standard_um"),
]


@pytest.mark.parametrize("rules", Rules)
@pytest.mark.parametrize(
    ("card", "lane"), LANES, ids=[f"{n}-{lane}" for n, (_, lane) in enumerate(LANES)]
)
def test_the_first_lane_that_fits_is_taken(rules: Rules, card: dict[str, Any], lane: str) -> None:
    desk = world(intake(), _triaged(), policy(**card), rules=rules)
    found = _route(desk)
    assert found["route_record"].recommended_target == lane
    fast = lane in ("notification_only_lane", "gold_card_lane")
    assert found["case"].status is (CaseStatus.APPROVED if fast else CaseStatus.UNDER_REVIEW)
    assert (found["review_task"] is None) is fast


@pytest.mark.parametrize("rules", Rules)
@pytest.mark.parametrize(
    "card", [{"authorization_required": False}, {"route_target": None}], ids=["none", "unnamed"]
)
def test_without_a_lane_nothing_is_routed(rules: Rules, card: dict[str, Any]) -> None:
    desk = world(intake(), _triaged(), policy(**card), rules=rules)
    refused(RefusalCode.WRONG_STATE, lambda: _route(desk))


def test_a_route_changes_the_open_task() -> None:
    desk = world(intake(), policy(specialty_program="S"))
    _set(desk)
    task = _route(desk)["review_task"]
    assert list(desk.triage.tasks) == [task.id]
    assert (task.queue_name, task.program_name) == ("specialty_program", "S")


def test_routing_leaves_a_physician_s_review_to_the_physician_in_a_strict_world() -> None:
    for rules, role in ((Rules.STRICT, "physician_reviewer"), (Rules.COMPAT, "um_nurse")):
        desk = world(intake(), rules=rules)
        _set(desk, disposition=TriageDisposition.MD_REVIEW)
        assert _route(desk)["review_task"].required_role == role


def test_a_fast_lane_leaves_no_open_task_in_a_strict_world() -> None:
    desk = world(intake(), policy(gold_card_eligible=True))
    _set(desk, gold_card=True)
    _route(desk)
    task = next(iter(desk.triage.tasks.values()))
    assert (task.status, task.decision) == (PayerReviewStatus.COMPLETED, DecisionOutcome.APPROVED)


# -- tasks -------------------------------------------------------------------------------------


def test_a_finished_task_is_queued_again_after_a_reply() -> None:
    desk = world(intake())
    _set(desk)
    done = desk.triage.complete_task(CASE, PayerRole.UM_NURSE, None, "W-NUR")
    assert done
    assert (done.status, done.assigned_to) == (PayerReviewStatus.COMPLETED, "W-NUR")
    assert desk.triage.open_task(CASE) is None
    again = desk.triage.requeue(CASE)
    assert again
    assert again == desk.triage.open_task(CASE)
    assert (again.queue_name, again.assigned_to) == (done.queue_name, None)
    assert again.id != done.id


def test_a_reply_brings_the_case_under_review() -> None:
    desk = world(intake())
    _set(desk)
    desk.triage.complete_task(CASE, PayerRole.UM_NURSE, None, "W-NUR")
    desk.cases.move(CASE, CaseStatus.PENDED_ACTION_REQUIRED, "W-NUR")
    desk.cases.move(CASE, CaseStatus.RESUBMITTED, "C-PA")
    desk.triage.requeue(CASE)
    assert desk.cases.get(CASE).status is CaseStatus.UNDER_REVIEW


def test_without_a_finished_task_nothing_is_queued_again() -> None:
    desk = world(intake(), case(CaseStatus.RESUBMITTED))
    assert desk.triage.requeue(CASE) is None
    assert desk.cases.get(CASE).status is CaseStatus.RESUBMITTED
    _set(desk)
    assert desk.triage.requeue(CASE) is None
    assert len(desk.triage.tasks) == 1


def test_without_a_task_there_is_nothing_to_finish() -> None:
    assert world(intake()).triage.complete_task(CASE, PayerRole.UM_NURSE, None, "W-NUR") is None


# -- what a strict desk refuses, and the source's does not -------------------------------------

STRICT: list[tuple[str, RefusalCode, tuple[object, ...], Act]] = [
    *[
        (
            f"an invented {field}",
            RefusalCode.INVENTED_DEADLINE,
            (intake(),),
            lambda desk, field=field, value=value: _set(desk, **{field: value}),
        )
        for field, value in (
            ("deadline", "2026-03-20T14:00"),
            ("deadline", "2026-03-16T14:01"),
            ("hours", 168),
            ("rule_source", "cms"),
            ("rule_source", "state:CA"),
        )
    ],
    (
        "a limit of another urgency",
        RefusalCode.INVENTED_DEADLINE,
        (intake(),),
        lambda desk: _set(desk, urgency=TriageUrgency.STAT),
    ),
    (
        "a disposition before intake is complete",
        RefusalCode.INTAKE_INCOMPLETE,
        (intake(IntakeStatus.IN_PROGRESS),),
        _set,
    ),
    (
        "a disposition of a decided case",
        RefusalCode.WRONG_STATE,
        (intake(), case(CaseStatus.DENIED)),
        _set,
    ),
    (
        "a gold card that the policy does not give",
        RefusalCode.UNSUPPORTED_CLAIM,
        (intake(),),
        lambda desk: _set(desk, gold_card=True),
    ),
    (
        "a gold card kept quiet",
        RefusalCode.UNSUPPORTED_CLAIM,
        (intake(), policy(gold_card_eligible=True)),
        _set,
    ),
    (
        "a gold card of a provider outside of the network",
        RefusalCode.UNSUPPORTED_CLAIM,
        (
            intake(decision_provider_network_status=ProviderNetworkStatus.OUT_OF_NETWORK),
            policy(gold_card_eligible=True),
        ),
        lambda desk: _set(desk, gold_card=True),
    ),
    (
        "a gold card under somebody else's NPI",
        RefusalCode.UNSUPPORTED_CLAIM,
        (
            intake(requesting_provider=IntakeProviderInfo(npi="2222222222")),
            policy(gold_card_eligible=True),
        ),
        lambda desk: _set(desk, gold_card=True),
    ),
    *[
        (
            f"a disposition by {actor}",
            code,
            (intake(),),
            lambda desk, actor=actor: _set(desk, actor=actor),
        )
        for actor, code in (
            ("nobody-7", RefusalCode.ROLE_FORBIDDEN),
            ("W-MD", RefusalCode.ROLE_FORBIDDEN),
            ("W-LATE", RefusalCode.OFF_DUTY),
        )
    ],
    ("a route without an intake", RefusalCode.INTAKE_INCOMPLETE, (_triaged(),), _route),
    ("a route before triage", RefusalCode.WRONG_STATE, (intake(),), _route),
    (
        "a route of a decided case",
        RefusalCode.WRONG_STATE,
        (intake(), _triaged(), case(CaseStatus.APPROVED)),
        _route,
    ),
    (
        "a route by a physician",
        RefusalCode.ROLE_FORBIDDEN,
        (intake(), _triaged()),
        lambda desk: _route(desk, "W-MD"),
    ),
    (
        "a second route into the same lane",
        RefusalCode.DUPLICATE,
        (intake(), _triaged()),
        lambda desk: (_route(desk), _route(desk)),
    ),
    (
        "an override by a clerk",
        RefusalCode.ROLE_FORBIDDEN,
        (intake(), _triaged()),
        lambda desk: _route(desk, "W-INT", PayerRouteTarget.DELEGATE),
    ),
    (
        "an override by whoever triaged",
        RefusalCode.NOT_INDEPENDENT,
        (intake(), _triaged(actor="W-SUP")),
        lambda desk: _route(desk, "W-SUP", PayerRouteTarget.DELEGATE),
    ),
    (
        "an override without a reason",
        RefusalCode.MISSING_TEXT,
        (intake(), _triaged(disposition_reason="  ")),
        lambda desk: _route(desk, "W-SUP", PayerRouteTarget.DELEGATE),
    ),
    *[
        (
            f"an override into the {lane}",
            RefusalCode.LANE_NOT_ELIGIBLE,
            (intake(), _triaged()),
            lambda desk, lane=lane: _route(desk, "W-SUP", lane),
        )
        for lane in (PayerRouteTarget.GOLD_CARD_LANE, PayerRouteTarget.NOTIFICATION_ONLY_LANE)
    ],
]


@pytest.mark.parametrize(
    ("code", "records", "act"), [row[1:] for row in STRICT], ids=[row[0] for row in STRICT]
)
def test_only_a_strict_desk_refuses(
    code: RefusalCode, records: tuple[object, ...], act: Act
) -> None:
    both(lambda rules: act(world(*records, rules=rules)), code)


def test_the_refusal_of_an_invented_limit_does_not_tell_the_right_one() -> None:
    desk = world(intake())
    code = RefusalCode.INVENTED_DEADLINE
    sentence = refused(
        code, lambda: _set(desk, deadline="2026-03-20T14:00", hours=168, rule_source="cms")
    )
    assert "triage.calculate_sla" in sentence
    assert not any(answer in sentence for answer in ("72", "2026-03-16", "TX"))


def test_after_hours_the_next_opening_is_named() -> None:
    desk = world(intake(), now=EVENING)
    sentence = refused(RefusalCode.OFF_DUTY, lambda: _set(desk))
    assert "back on 2026-03-16 at 13:00 UTC" in sentence


def test_nobody_in_particular_is_whoever_uses_the_tools() -> None:
    assert _set(world(intake()), actor="SYSTEM")["triage"].actor == "W-INT"
    refused(RefusalCode.ROLE_FORBIDDEN, lambda: _set(world(intake(), actor="W-MD"), actor="SYSTEM"))


def test_a_supervisor_sends_a_case_into_another_lane() -> None:
    desk = world(intake(), _triaged())
    _route(desk)
    found = _route(desk, "W-SUP", PayerRouteTarget.EXTERNAL_VENDOR)
    assert found["review_task"].queue_name == "external_vendor"
    assert len(desk.triage.routings) == 2


@pytest.mark.parametrize(
    ("approved", "denied", "keeps"),
    [(19, 1, True), (18, 2, False), (0, 19, True), (0, 20, False), (23, 2, True)],
)
def test_a_card_is_lost_with_too_few_approvals(approved: int, denied: int, keeps: bool) -> None:
    statuses = [CaseStatus.APPROVED] * approved + [CaseStatus.DENIED] * denied
    others = [case(status, f"CASE-{n}") for n, status in enumerate(statuses)]
    desk = world(intake(), policy(gold_card_eligible=True), case(), *others)
    assert desk.triage.check_gold_card(CASE, None, None)["gold_card_eligible"] is keeps


def test_what_is_older_than_the_programme_looks_back_counts_no_more() -> None:
    old = [
        replace(case(CaseStatus.DENIED, f"CASE-{n}"), updated_at=NOW - timedelta(days=366))
        for n in range(30)
    ]
    desk = world(intake(), policy(gold_card_eligible=True), case(), *old)
    assert desk.triage.check_gold_card(CASE, None, None)["gold_card_eligible"] is True


def test_drugs_have_no_gold_card() -> None:
    desk = world(intake(auth_type=AuthorizationType.RX), policy(gold_card_eligible=True))
    assert desk.triage.check_gold_card(CASE, None, None)["gold_card_eligible"] is False


def test_a_world_of_these_tests_has_one_line() -> None:
    assert len([*world().cases.lines.values()]) == 1
    assert isinstance(world().cases.line(CASE), PriorAuthLine)
