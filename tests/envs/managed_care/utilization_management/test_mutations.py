"""Change one thing of a solved episode, and the check that is named for it fails, and no other."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import timedelta

import pytest

from healthgym.core.tool import call
from healthgym.core.verdict import Profile
from healthgym.envs.managed_care.utilization_management.task import (
    Path,
    ReviewInstance,
    StartStage,
)
from healthgym.envs.managed_care.utilization_management.verifier import ReviewVerifier
from healthgym.worlds.managed_care.policies.tree import AllOf, Group, Node
from healthgym.worlds.managed_care.rules import Rules
from healthgym.worlds.managed_care.vocabulary.authorization import Posture
from tests.envs.managed_care.utilization_management.playing import (
    DECIDE,
    DELIVER,
    FINALIZE,
    FINISH,
    MD,
    NOTIFY,
    NURSE,
    RECOMMEND,
    Script,
    after,
    before,
    changed,
    every,
    fails,
    finding,
    first_of,
    other_case,
    play,
    position,
    rows,
    shown,
    solution,
    task,
    without,
)

_LATER = timedelta(days=40)


def required(node: Node) -> frozenset[str]:
    """Return the criteria that a policy asks for in any case."""
    if not isinstance(node, Group):
        return frozenset({node.id})
    if not isinstance(node, AllOf):
        return frozenset()
    return frozenset(name for part in node.parts for name in required(part))


def met(instance: ReviewInstance) -> list[str]:
    """Return the criteria that are asked for in any case, and shown."""
    needed = required(instance.reference.policy.criteria)
    return [name for name in shown(instance, "met") if name in needed]


def sourced(instance: ReviewInstance) -> list[str]:
    """Return those of them on which some page of the packet bears, and another does not."""
    bearing, packet = instance.reference.bearing, frozenset(instance.reference.packet)
    return [name for name in met(instance) if bearing[name] and packet - bearing[name]]


def beside(instance: ReviewInstance) -> str:
    """Return a page that has no bearing on the first of these."""
    bearing = instance.reference.bearing[sourced(instance)[0]]
    return next(name for name in instance.reference.packet if name not in bearing)


def measured(instance: ReviewInstance) -> list[str]:
    """Return the items that a nurse observes as numbers."""
    return [
        item["item_id"]
        for row in rows(solution(instance))
        for item in row["item_observations"]
        if isinstance(item["observed_value"], int | float)
        and not isinstance(item["observed_value"], bool)
    ]


LOOSE = Rules.COMPAT
STAGE = StartStage
NURSING = first_of(STAGE.NURSE_REVIEW, Path.NURSE_APPROVES, sourced)
PERMISSIVE = first_of(STAGE.NURSE_REVIEW, Path.NURSE_APPROVES, sourced, LOOSE)
INTAKE, LAX_INTAKE = (task(STAGE.INTAKE, Path.NURSE_APPROVES, rules=rules) for rules in Rules)
TRIAGE, LAX_TRIAGE = (task(STAGE.TRIAGE, Path.NURSE_APPROVES, rules=rules) for rules in Rules)
DENIED = first_of(STAGE.MD_REVIEW, Path.DENIED, met)
LAX_DENIED = first_of(STAGE.MD_REVIEW, Path.DENIED, met, LOOSE)
ESCALATED = first_of(STAGE.NURSE_REVIEW, Path.DENIED, met)
PARTLY = task(STAGE.MD_REVIEW, Path.PARTLY)
INFORMED = first_of(STAGE.NURSE_REVIEW, Path.INFORMED, met)
OVERTURNED = task(STAGE.PEER_TO_PEER, Path.OVERTURNED)
UPHELD = task(STAGE.PEER_TO_PEER, Path.UPHELD)
RETURNED = task(STAGE.INTAKE, Path.RETURNED)
MEASURED = first_of(
    STAGE.NURSE_REVIEW, Path.NURSE_APPROVES, lambda each: measured(each) and sourced(each)
)
CONFIRM = "payer_intake_hub.confirm_decisions"
DISPOSE = "triage.set_disposition"
SUMMARY = "p2p_session.submit_summary"
APPROVAL = "payer_letter_center.generate_approval"


def flipped(instance: ReviewInstance) -> Script:
    """Return a solution that takes a satisfied criterion for a contradicted one."""
    name = MD if instance.reference.stage is STAGE.MD_REVIEW else NURSE
    return finding(solution(instance), met(instance)[0], name, result="not_met")


def named(instance: ReviewInstance, *more: str) -> str:
    """Return a rationale that names what a denial rests on, and more."""
    return " and ".join((*sorted(instance.reference.denied_on), *more))


def early_call() -> Script:
    """Return a call on which no question is asked."""
    script = solution(OVERTURNED)
    place = position(script, "p2p_session.send_turn")
    talk = [each for each in script if each.name == "p2p_session.send_turn"]
    greeting = call(talk[0].name, **{**talk[0].arguments, "message": "Good morning."})
    rest = [each for each in script[place:] if each.name != "p2p_session.send_turn"]
    return [*script[:place], greeting, *rest]


def nurse_of(script: Script) -> object:
    """Return who wrote the nurse's findings."""
    return script[position(script, NURSE)].arguments["reviewer_id"]


def two_rounds() -> Script:
    """Return a review that was begun with other findings first."""
    script = solution(PERMISSIVE)
    wrong = [{**row, "result": "unclear", "source_refs_used": []} for row in rows(script)]
    first = call(
        NURSE,
        case_id=PERMISSIVE.reference.case_id,
        line_number=1,
        evaluations=wrong,
        reviewer_id=nurse_of(script),
    )
    return before(script, NURSE, first)


#: What is changed → the task, its script, and the checks that fail.
MUTATIONS: Mapping[str, tuple[ReviewInstance, Callable[[], Script], set[str]]] = {
    # intake_right
    "not eligible": (
        INTAKE,
        lambda: changed(solution(INTAKE), CONFIRM, member_eligible=False),
        {"intake_right"},
    ),
    "incomplete": (
        INTAKE,
        lambda: changed(solution(INTAKE), CONFIRM, request_complete=False),
        {"intake_right"},
    ),
    "not covered": (
        INTAKE,
        lambda: changed(solution(INTAKE), CONFIRM, service_covered=False),
        {"intake_right"},
    ),
    "another diagnosis": (
        INTAKE,
        lambda: before(
            solution(INTAKE),
            CONFIRM,
            call(
                "payer_intake_hub.save_diagnoses",
                case_id=INTAKE.reference.case_id,
                data={"diagnoses": [{"name": "Down syndrome", "code": "Q90.9"}]},
            ),
        ),
        {"intake_right"},
    ),
    "another NPI": (
        INTAKE,
        lambda: before(
            solution(INTAKE),
            CONFIRM,
            call(
                "payer_intake_hub.save_requesting_provider",
                case_id=INTAKE.reference.case_id,
                data={"provider_name": "Dr. Ines Park", "npi": "1234567893"},
            ),
        ),
        {"intake_right"},
    ),
    "a line more": (
        LAX_INTAKE,
        lambda: before(
            solution(LAX_INTAKE),
            CONFIRM,
            call(
                "payer_intake_hub.add_line_item",
                case_id=LAX_INTAKE.reference.case_id,
                item_data={"line_number": 0, "procedures": [{"name": "Visit", "code": "99215"}]},
            ),
        ),
        {"intake_right"},
    ),
    "confirmed as before the reply": (
        INFORMED,
        lambda: changed(solution(INFORMED), CONFIRM, member_eligible=False),
        {"intake_right"},
    ),
    # triage_right
    "a limit of another urgency": (
        LAX_TRIAGE,
        lambda: changed(solution(LAX_TRIAGE), DISPOSE, sla_deadline="2026-12-31T12:00"),
        {"triage_right"},
    ),
    "other hours": (
        LAX_TRIAGE,
        lambda: changed(solution(LAX_TRIAGE), DISPOSE, sla_hours=1),
        {"triage_right"},
    ),
    "another rule": (
        LAX_TRIAGE,
        lambda: changed(solution(LAX_TRIAGE), DISPOSE, sla_rule_source="state:ZZ"),
        {"triage_right"},
    ),
    "a gold card": (
        LAX_TRIAGE,
        lambda: changed(
            solution(LAX_TRIAGE),
            DISPOSE,
            gold_card_eligible=not LAX_TRIAGE.reference.triage.gold_card,  # type: ignore[union-attr]
        ),
        {"triage_right"},
    ),
    "another lane": (
        LAX_TRIAGE,
        lambda: changed(
            solution(LAX_TRIAGE),
            "triage.route_case",
            override_target=next(
                lane
                for lane in ("standard_um", "specialty_program")
                if lane != str(LAX_TRIAGE.reference.triage.target)  # type: ignore[union-attr]
            ),
        ),
        {"triage_right"},
    ),
    # findings_right
    "a criterion misjudged": (DENIED, lambda: flipped(DENIED), {"findings_right"}),
    "a criterion misjudged by the nurse": (
        ESCALATED,
        lambda: flipped(ESCALATED),
        {"findings_right"},
    ),
    "a criterion left out": (
        ESCALATED,
        lambda: changed(solution(ESCALATED), NURSE, -1, evaluations=rows(solution(ESCALATED))[1:]),
        {"findings_right"},
    ),
    # values_observed
    "a value that is not there": (
        MEASURED,
        lambda: misread(MEASURED),
        {"values_observed"},
    ),
    # findings_sourced
    "a page that has no bearing": (
        NURSING,
        lambda: finding(
            solution(NURSING),
            sourced(NURSING)[0],
            source_refs_used=[beside(NURSING)],
            item_observations=[],
        ),
        {"findings_sourced"},
    ),
    "every page": (
        NURSING,
        lambda: every(solution(NURSING), source_refs_used=list(NURSING.reference.packet)),
        {"findings_sourced"},
    ),
    "no page": (
        PERMISSIVE,
        lambda: finding(
            solution(PERMISSIVE),
            sourced(PERMISSIVE)[0],
            source_refs_used=[],
            item_observations=[],
        ),
        {"findings_sourced"},
    ),
    "a page that there is not": (
        PERMISSIVE,
        lambda: finding(
            solution(PERMISSIVE), sourced(PERMISSIVE)[0], source_refs_used=["DOC-0000-001"]
        ),
        {"findings_sourced"},
    ),
    # information_right
    "a satisfied criterion asked about": (
        INFORMED,
        lambda: changed(
            solution(INFORMED),
            RECOMMEND,
            info_requested="\n".join(
                [f"A record on {name}" for name in sorted(INFORMED.reference.wanted)]
                + [f"A record on {held(INFORMED)}"]
            ),
        ),
        {"information_right"},
    ),
    "nothing named": (
        INFORMED,
        lambda: changed(solution(INFORMED), RECOMMEND, info_requested="Clinical information"),
        {"information_right"},
    ),
    # recommendation_right
    "handed on after the reply": (
        INFORMED,
        lambda: changed(
            solution(INFORMED), RECOMMEND, -1, recommendation="escalate", clinical_notes="Unsure."
        ),
        {
            "recommendation_right",
            "determination_right",
            "letters_right",
            "ends_right",
        },
    ),
    # physician_decision_right
    "no criterion in the rationale": (
        DENIED,
        lambda: changed(solution(DENIED), DECIDE, denial_rationale="Not medically necessary."),
        {"physician_decision_right"},
    ),
    "a satisfied criterion in the rationale": (
        DENIED,
        lambda: changed(solution(DENIED), DECIDE, denial_rationale=named(DENIED, met(DENIED)[0])),
        {"physician_decision_right"},
    ),
    "other units": (
        PARTLY,
        lambda: changed(
            solution(PARTLY),
            DECIDE,
            line_item_decisions=[
                {
                    "line_number": 1,
                    "decision": "partial_approve",
                    "approved_units": (PARTLY.reference.units or 0) - 1,
                    "denial_rationale": solution(PARTLY)[
                        position(solution(PARTLY), DECIDE)
                    ].arguments["line_item_decisions"][0]["denial_rationale"],
                }
            ],
        ),
        {"physician_decision_right"},
    ),
    # call_right
    "nothing was asked": (OVERTURNED, early_call, {"call_right"}),
    "a summary that names nothing": (
        OVERTURNED,
        lambda: changed(solution(OVERTURNED), SUMMARY, summary="We spoke, and agreed."),
        {"call_right"},
    ),
    "an outcome that does not follow": (
        UPHELD,
        lambda: [
            each
            for each in changed(solution(UPHELD), SUMMARY, proposed_result="overturn_to_approval")
            if each.name
            in ("wait", "p2p.list", "p2p.offer_slots", "p2p.schedule", "finish", SUMMARY)
            or each.name.startswith("p2p_session.")
        ],
        {"call_right", "determination_right", "letters_right", "ends_right"},
    ),
    # letters_right
    "no notice": (NURSING, lambda: without(solution(NURSING), NOTIFY), {"letters_right"}),
    "not delivered": (NURSING, lambda: without(solution(NURSING), DELIVER), {"letters_right"}),
    "by telephone": (
        NURSING,
        lambda: changed(solution(NURSING), DELIVER, channel="phone"),
        {"letters_right"},
    ),
    "issued again": (
        NURSING,
        lambda: before(
            solution(NURSING),
            "finish",
            call("payer_letter_center.reissue", letter_id="LET-0001", reason="A copy."),
        ),
        {"letters_right"},
    ),
    "no letter of the pend": (
        INFORMED,
        lambda: without(
            without(solution(INFORMED), "payer_letter_center.generate_pend"),
            DELIVER,
            nth=0,
        ),
        {"letters_right"},
    ),
    "unfilled": (
        PERMISSIVE,
        lambda: changed(solution(PERMISSIVE), APPROVAL, body="Approved."),
        {"letters_right"},
    ),
    # roles_kept
    "by somebody unknown": (
        PERMISSIVE,
        lambda: changed(solution(PERMISSIVE), FINALIZE, actor="W-999"),
        {"roles_kept"},
    ),
    "an override": (
        LAX_DENIED,
        lambda: changed(
            changed(solution(LAX_DENIED), DECIDE, decision="approve"),
            FINALIZE,
            overridden=True,
            override_reason="On second thoughts.",
        ),
        {"physician_decision_right", "roles_kept", "letters_right"},
    ),
    # in_time
    "late": (
        PERMISSIVE,
        lambda: before(
            solution(PERMISSIVE),
            FINALIZE,
            call("wait", until=f"{PERMISSIVE.start.now + _LATER:%Y-%m-%dT15:00}"),
        ),
        {"in_time", "letters_right"},  # the letter's text has another day
    ),
    # others_untouched
    "another's intake": (
        PERMISSIVE,
        lambda: before(
            solution(PERMISSIVE),
            FINALIZE,
            call(
                "payer_intake_hub.save_auth_header",
                case_id=other_case(PERMISSIVE),
                data={"state": "NY"},
            ),
        ),
        {"others_untouched"},
    ),
    # no_step_twice
    "a second review": (PERMISSIVE, two_rounds, {"no_step_twice"}),
    "confirmed twice": (
        LAX_INTAKE,
        lambda: before(
            solution(LAX_INTAKE),
            CONFIRM,
            solution(LAX_INTAKE)[position(solution(LAX_INTAKE), CONFIRM)],
        ),
        {"no_step_twice"},
    ),
    # nothing_decided
    "a denial of what is not to be decided": (
        RETURNED,
        lambda: after(
            solution(RETURNED),
            CONFIRM,
            call(
                "payer_letter_center.generate_notification",
                case_id=RETURNED.reference.case_id,
                notification_type="denial",
            ),
        ),
        set(),
    ),
    # determination_right, ends_right
    "left before the end": (
        NURSING,
        lambda: [*solution(NURSING)[: position(solution(NURSING), FINALIZE)], FINISH],
        {"determination_right", "letters_right", "ends_right"},
    ),
    "not handed in": (NURSING, lambda: solution(NURSING)[:-1], {"submitted"}),
}


def misread(instance: ReviewInstance) -> Script:
    """Return a solution with another number for one item."""
    name, found = measured(instance)[0], rows(solution(instance))
    for row in found:
        row["item_observations"] = [
            {**item, "observed_value": 7319} if item["item_id"] == name else item
            for item in row["item_observations"]
        ]
    return changed(solution(instance), NURSE, -1, evaluations=found)


def held(instance: ReviewInstance) -> str:
    """Return a criterion that the packet shows from the beginning."""
    postures = instance.reference.postures
    return next(name for name, one in postures.items() if one is Posture.SATISFIED)


@pytest.mark.parametrize("name", MUTATIONS)
def test_the_check_that_is_named_for_it_fails_and_no_other(name: str) -> None:
    instance, script, broken = MUTATIONS[name]
    assert fails(play(instance, script(), refused=True)) == broken


def test_every_check_has_a_mutation() -> None:
    broken = {check for *_, checks in MUTATIONS.values() for check in checks}
    names = {check.name for check in ReviewVerifier().checks(Profile.STRICT)}
    assert names - broken == {"nothing_decided"}
