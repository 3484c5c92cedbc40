"""What the member is told: in plain words, without codes of criteria, policies and services."""

from __future__ import annotations

from typing import TYPE_CHECKING

from healthgym.worlds.managed_care.apps.payer import letter_texts
from healthgym.worlds.managed_care.apps.payer.criteria import lines, rested_on
from healthgym.worlds.managed_care.policies.criteria import QuantityCriterion
from healthgym.worlds.managed_care.policies.tree import criteria
from healthgym.worlds.managed_care.records.case import PriorAuthCase
from healthgym.worlds.managed_care.vocabulary.authorization import CaseStatus, MemberNotification

if TYPE_CHECKING:
    from healthgym.worlds.managed_care.world import ManagedCareWorld


def notice(
    world: ManagedCareWorld, case: PriorAuthCase, kind: MemberNotification
) -> tuple[str, str]:
    """Return subject and text of a notice to the member.

    Args:
        world: The world.
        case: The case.
        kind: What about.
    """
    words = letter_texts.wording()["notices"][kind]
    until, stands = case.appeal_due_at, case.status
    if stands is CaseStatus.EXTERNAL_APPEALED:  # what is told of is the decision before
        stands = CaseStatus.APPEAL_UPHELD
    partly = case.status is CaseStatus.PARTIALLY_APPROVED and "partly" in words
    body = str(words["partly" if partly else "body"])
    slots = {
        "member_name": letter_texts.member_name(world, case),
        "service": _service(world, case),
        "authorization_number": case.authorization_number or "to follow",
        "deadline": f"until {letter_texts.written(until)}" if until else words_of("no_deadline"),
        "outcome": str(letter_texts.wording()["outcomes"].get(stands, "not decided yet")),
    }
    for slot, told in (("reason", _reason), ("units", _units)):  # work, and mostly not told
        if f"{{{slot}}}" in body:
            slots[slot] = told(world, case)
    return str(words["partly_subject" if partly else "subject"]), body.format_map(slots)


def words_of(name: str) -> str:
    """Return a standing phrase by its name."""
    return str(letter_texts.wording()[name])


def _service(world: ManagedCareWorld, case: PriorAuthCase) -> str:
    """Return what was asked for in words; the code only where nobody described it."""
    order = world.cases.order(case.service_request_id)
    return order.description.strip() or order.procedure_code


def _reason(world: ManagedCareWorld, case: PriorAuthCase) -> str:
    """Return why less was granted than asked for: what the plan wants, in its words."""
    determination = world.determinations.active(case.id)
    overridden = determination is not None and determination.overridden
    texts = letter_texts.criterion_texts(world, case.id)
    named = [name for name in rested_on(world, case.id) if texts.get(name)]
    if named and not overridden:
        asked = sum(units or 0 for units in lines(world, case.id).values())
        # A request that does not say how much it is for asks for too much of nothing.
        limits = _limits(world, case.id) if asked else frozenset()
        over = [name for name in named if name in limits]
        lacking = "\n".join(f"- {texts[name]}" for name in named if name not in limits)
        told = [words_of("not_shown").format(criteria=lacking)] if lacking else []
        for name in over:
            told.append(words_of("over_limit").format(asked=asked, limit=texts[name]))
        return " ".join(told)
    said = letter_texts.rationale(world, case) or case.outcome_reason or words_of("no_reason")
    return said.rstrip(".") + "."


def _limits(world: ManagedCareWorld, case_id: str) -> frozenset[str]:
    """Return the criteria that limit how much may be asked for: no record could show those."""
    tree = world.nursing.tree(case_id)
    asked = criteria(tree) if tree is not None else ()
    return frozenset(item.id for item in asked if isinstance(item, QuantityCriterion))


def _units(world: ManagedCareWorld, case: PriorAuthCase) -> str:
    """Return how much of what was asked for is approved."""
    decision = world.medical.active(case.id)
    given = [one.approved_units for one in decision.line_item_decisions] if decision else []
    known = [units for units in given if units is not None]
    return f"{letter_texts.counted(sum(known))} of it" if known else "a part of it"
