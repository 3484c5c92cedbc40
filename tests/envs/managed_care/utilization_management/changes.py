"""Tasks to be broken, and what is changed of their solutions."""

from __future__ import annotations

from healthgym.core.tool import call
from healthgym.envs.managed_care.utilization_management.task import (
    Path,
    ReviewInstance,
    StartStage,
)
from healthgym.worlds.managed_care.policies.criteria import (
    REQUEST_KINDS,
    DiagnosisCriterion,
    FindingCriterion,
    ProcedureCriterion,
)
from healthgym.worlds.managed_care.policies.tree import AllOf, Group, Node, criteria
from healthgym.worlds.managed_care.rules import Rules
from healthgym.worlds.managed_care.vocabulary.authorization import Posture
from tests.envs.managed_care.utilization_management.playing import (
    MD,
    NURSE,
    Script,
    before,
    changed,
    finding,
    first_of,
    position,
    rows,
    shown,
    solution,
    task,
)


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
    """Return the items that a nurse observes as numbers, in what was sent."""
    policy = instance.reference.policy
    return [
        item["item_id"]
        for row in rows(solution(instance))
        if not isinstance(policy.criterion(row["criterion_id"]), REQUEST_KINDS)
        for item in row["item_observations"]
        if isinstance(item["observed_value"], int | float)
        and not isinstance(item["observed_value"], bool)
    ]


def dated(instance: ReviewInstance) -> list[str]:
    """Return the criteria known by the day of a diagnosis, a procedure or a finding."""
    kinds = (DiagnosisCriterion, ProcedureCriterion, FindingCriterion)
    asked = {item.id for item in criteria(instance.reference.policy.criteria)}
    return [
        row["criterion_id"]
        for row in rows(solution(instance))
        if row["criterion_id"] in asked
        and isinstance(instance.reference.policy.criterion(row["criterion_id"]), kinds)
        and row["result"] == "met"
        and row["source_refs_used"]
    ]


LOOSE = Rules.COMPAT
STAGE = StartStage
NURSING = first_of(STAGE.NURSE_REVIEW, Path.NURSE_APPROVES, sourced)
PERMISSIVE = first_of(STAGE.NURSE_REVIEW, Path.NURSE_APPROVES, sourced, LOOSE)
INTAKE, LAX_INTAKE = (task(STAGE.INTAKE, Path.NURSE_APPROVES, rules=rules) for rules in Rules)
TRIAGE, LAX_TRIAGE = (task(STAGE.TRIAGE, Path.NURSE_APPROVES, rules=rules) for rules in Rules)
DENIED = first_of(STAGE.MD_REVIEW, Path.DENIED, met)
LAX_DENIED = first_of(
    STAGE.MD_REVIEW,
    Path.DENIED,
    lambda each: met(each) and not each.reference.slipped & each.reference.denied_on,
    LOOSE,
)
ESCALATED = first_of(STAGE.NURSE_REVIEW, Path.DENIED, met)
PARTLY = task(STAGE.MD_REVIEW, Path.PARTLY)
INFORMED = first_of(STAGE.NURSE_REVIEW, Path.INFORMED, met)
OPEN = task(STAGE.MD_REVIEW, Path.UPHELD)
OVERTURNED = task(STAGE.PEER_TO_PEER, Path.OVERTURNED)
UPHELD = task(STAGE.PEER_TO_PEER, Path.UPHELD)
RETURNED = task(STAGE.INTAKE, Path.RETURNED)
MEASURED = first_of(
    STAGE.NURSE_REVIEW, Path.NURSE_APPROVES, lambda each: measured(each) and sourced(each)
)
DATED = first_of(STAGE.NURSE_REVIEW, Path.NURSE_APPROVES, dated)
CONFIRM = "payer_intake_hub.confirm_decisions"
DISPOSE = "triage.set_disposition"
SUMMARY = "p2p_session.submit_summary"
APPROVAL = "payer_letter_center.generate_approval"


def flipped(instance: ReviewInstance) -> Script:
    """Return a solution that takes a satisfied criterion for a contradicted one."""
    name = MD if instance.reference.stage is STAGE.MD_REVIEW else NURSE
    return finding(solution(instance), met(instance)[0], name, result="not_met")


def entered(instance: ReviewInstance, tool: str, **data: object) -> Script:
    """Return a solution that enters something more at intake, before it is confirmed."""
    more = call(f"payer_intake_hub.{tool}", case_id=instance.reference.case_id, **data)
    return before(solution(instance), CONFIRM, more)


def not_looked_at(instance: ReviewInstance) -> Script:
    """Return a denial by a physician who evaluates all but what it rests on."""
    script, against = solution(instance), instance.reference.denied_on
    kept = [row for row in rows(script, MD) if row["criterion_id"] not in against]
    return changed(script, MD, -1, evaluations=kept)


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


def misread(instance: ReviewInstance) -> Script:
    """Return a solution with another number for one item."""
    name, found = measured(instance)[0], rows(solution(instance))
    for row in found:
        row["item_observations"] = [
            {**item, "observed_value": 7319} if item["item_id"] == name else item
            for item in row["item_observations"]
        ]
    return changed(solution(instance), NURSE, -1, evaluations=found)


def unread(instance: ReviewInstance) -> Script:
    """Return a solution without the number by which one item is decided."""
    name = measured(instance)[0]
    found = rows(solution(instance))
    for row in found:
        kept = [item for item in row["item_observations"] if item["item_id"] != name]
        row["item_observations"] = kept
    return changed(solution(instance), NURSE, -1, evaluations=found)


def held(instance: ReviewInstance) -> str:
    """Return a criterion that the packet shows from the beginning."""
    postures = instance.reference.postures
    return next(name for name, one in postures.items() if one is Posture.SATISFIED)
