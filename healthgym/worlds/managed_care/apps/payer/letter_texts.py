"""The words of letters and notices, and the facts that stand in them.

Letters are rendered from state. Which facts a letter of a strict world must state is a rule of
operation; each is reckoned here from the records, so that a letter can be checked against them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from datetime import date
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

from healthgym.core.borders import Json
from healthgym.worlds.managed_care.apps.payer import pends
from healthgym.worlds.managed_care.apps.payer.criteria import lines, rested_on
from healthgym.worlds.managed_care.records.case import PriorAuthCase
from healthgym.worlds.managed_care.records.policy import CasePolicy
from healthgym.worlds.managed_care.records.review import MdCaseDecision, MdLineItemDecision
from healthgym.worlds.managed_care.rules import Rules
from healthgym.worlds.managed_care.service_levels import case_timers
from healthgym.worlds.managed_care.vocabulary.authorization import (
    CaseStatus,
    LetterType,
    MdReviewDecision,
)

if TYPE_CHECKING:
    from healthgym.worlds.managed_care.world import ManagedCareWorld

Slots = Mapping[str, str]


def subject(letter_type: str) -> str:
    """Return the subject of a type of letter."""
    return _template(letter_type)[0]


def body(letter_type: str, slots: Slots) -> str:
    """Return the text of a letter with its facts."""
    text = _template(letter_type)[1].format_map(slots).rstrip()
    return re.sub(r"\n{3,}", "\n\n", text)  # a paragraph may be blank


def form(letter_type: LetterType) -> str:
    """Return the text of a type of letter, with the names of its facts in braces."""
    return _template(letter_type)[1]


def day(world: ManagedCareWorld, when: date) -> str:
    """Return a day as a letter gives it: written out, and in a compatibility world in figures."""
    return f"{when:%Y-%m-%d}" if world.rules is Rules.COMPAT else written(when)


def gaps(world: ManagedCareWorld, letter_type: LetterType, slots: Slots, text: str) -> list[str]:
    """Return what a letter must state, by the rules of operation, and a text does not.

    Args:
        world: The world.
        letter_type: The letter.
        slots: The facts (:func:`facts`).
        text: The text.
    """
    keys = wording()["slots"]
    wanted = world.operations.letter_slots[letter_type]
    return [name for name in wanted if not slots[keys[name]] or slots[keys[name]] not in text]


def appeal_information(world: ManagedCareWorld, case: PriorAuthCase) -> str:
    """Return what a denial says of appeals: in a strict world with the last day."""
    until = case.appeal_due_at
    if world.rules is Rules.COMPAT or until is None:
        return str(wording()["appeal_information"])
    return str(wording()["appeal_until"]).format(deadline=written(until))


def facts(world: ManagedCareWorld, case: PriorAuthCase, letter_type: LetterType) -> Slots:
    """Return what a letter about a case has to state, from the records; blank where none has it.

    Args:
        world: The world.
        case: The case.
        letter_type: The letter.
    """
    found = {
        "member_name": member_name(world, case),
        "case_id": case.id,
        "service": service(world, case),
        "date": day(world, world.clock.now),
        "decision": str(wording()["decisions"][letter_type]),
    }
    if letter_type is LetterType.APPROVAL:
        return {**found, **_approval(world, case)}
    if letter_type is LetterType.PARTIAL_APPROVAL:
        return {**found, **_partial(world, case)}
    if letter_type is LetterType.DENIAL:
        return {**found, **_denial(world, case)}
    if letter_type is LetterType.PEND:
        return {**found, **_pend(world, case)}
    until = day(world, case.appeal_due_at) if case.appeal_due_at else "your plan's last day"
    return {
        **found,
        "rationale": _appeal_reason(world, case),
        "external_rights": str(wording()["external_rights"]).format(until=until),
        "authorization": _authorization(world, case),
    }


def basis(world: ManagedCareWorld, case: PriorAuthCase, letter_type: LetterType) -> str:
    """Return what a decision rests on: policy and version, and the criteria that it turns on.

    A request for information turns on the criteria that its items name, a denial on those that
    its reason names, and what is approved on the policy as a whole. Blank where no policy is known.
    """
    policy = world.cases.policy(case.id)
    if policy is None:
        return ""
    head = _policy_named(policy)
    named: frozenset[str] = frozenset()
    if letter_type is LetterType.PEND:
        listed = " ".join(_asked_for(world, case))
        named = _words_of(listed)
    elif letter_type in (LetterType.DENIAL, LetterType.PARTIAL_APPROVAL):
        named = frozenset(rested_on(world, case.id))
    texts = criterion_texts(world, case.id)
    told = " ".join(f"{name}: {text}" for name, text in texts.items() if name in named)
    return ": ".join(part for part in (head, told or policy.policy_summary) if part)


def criterion_texts(world: ManagedCareWorld, case_id: str) -> Mapping[str, str]:
    """Return the words of a case's criteria, by id, in the order of the policy."""
    return {one.criterion_id: one.criterion_text for one in world.nursing.catalog(case_id)}


def written(day: date) -> str:
    """Return a day as it is written out, such as ``April 12, 2026``."""
    return f"{day:%B} {day.day}, {day.year}"


def member_name(world: ManagedCareWorld, case: PriorAuthCase) -> str:
    """Return the member's name; blank if there is no such chart."""
    chart = world.charts.get(case.patient_id)
    return f"{chart.patient.first_name} {chart.patient.last_name}" if chart else ""


def service(world: ManagedCareWorld, case: PriorAuthCase) -> str:
    """Return what was asked for: code and description of the order."""
    order = world.cases.order(case.service_request_id)
    return f"{order.procedure_code} {order.description}".strip()


def _approval(world: ManagedCareWorld, case: PriorAuthCase) -> Slots:
    determination = world.determinations.active(case.id)
    asked = [units for units in lines(world, case.id).values() if units is not None]
    return {
        "authorization_number": case.authorization_number or "",
        "valid_from": day(world, determination.created_at) if determination else "",
        "valid_to": day(world, case.expires_at) if case.expires_at else "",
        "units": f"{sum(asked)} units" if asked else "the units requested",
    }


def _authorization(world: ManagedCareWorld, case: PriorAuthCase, units: int | None = None) -> str:
    """Return what the practice may bill for, and when; blank where nothing is granted.

    Args:
        world: The world.
        case: The case.
        units: What is granted, where it is less than what was asked for.
    """
    granted = dict(_approval(world, case))
    if case.status is CaseStatus.PARTIALLY_APPROVED:
        granted["units"] = "what is approved" if units is None else f"{units} units"
    return str(wording()["authorization"]).format_map(granted) if all(granted.values()) else ""


def _partial(world: ManagedCareWorld, case: PriorAuthCase) -> Slots:
    decision = world.medical.active(case.id)
    asked = lines(world, case.id)
    told, reasons = [], []
    for one in decision.line_item_decisions if decision else ():
        told.append(_line(one, asked.get(one.line_number)))
        if one.denial_rationale.strip():
            said = one.denial_rationale.strip()
            reasons.append(f"- line {one.line_number}: {said}{_spelled_out(world, case, said)}")
    return {
        "lines": "\n".join(told),
        "line_reasons": "\n".join(reasons),
        "appeal_rights": _rights(world, case),
        "authorization": _authorization(world, case, _granted(decision, asked)),
    }


def _granted(decision: MdCaseDecision | None, asked: Mapping[int, int | None]) -> int | None:
    """Return how many units a decision in part grants; None where it does not say."""
    given = [
        asked.get(one.line_number) if one.approved_units is None else one.approved_units
        for one in (decision.line_item_decisions if decision else ())
        if one.decision is not MdReviewDecision.DENY
    ]
    known = [units for units in given if units is not None]
    return sum(known) if known and len(known) == len(given) else None


def _line(one: MdLineItemDecision, asked: int | None) -> str:
    if one.decision is MdReviewDecision.DENY:
        what = "0 units approved, " + (f"{counted(asked)} denied" if asked else "all denied")
    elif one.approved_units is None:
        what = f"{counted(asked)} approved, 0 denied" if asked else "approved as requested"
    else:
        rest = counted(asked - one.approved_units) if asked is not None else "rest"
        what = f"{counted(one.approved_units)} approved, {rest} denied"
    return f"- line {one.line_number}: {what}"


def counted(units: int) -> str:
    """Return a number of units in words."""
    return "1 unit" if units == 1 else f"{units} units"


def _denial(world: ManagedCareWorld, case: PriorAuthCase) -> Slots:
    policy = world.cases.policy(case.id)
    decisions = world.determinations.decisions_of(case.id)
    return {
        "criteria_not_met": _listed(world, case, rested_on(world, case.id)),
        "policy": _policy_named(policy) if policy else "",
        "rationale": _after_call(world, case, rationale(world, case)),
        "reviewer_role": decisions[-1].reviewer_role.replace("_", " ") if decisions else "",
        "appeal_deadline": _deadline(world, case),
        "how_to_appeal": str(wording()["how_to_appeal"]),
        "further_rights": str(wording()["further_rights"]),
    }


def _pend(world: ManagedCareWorld, case: PriorAuthCase) -> Slots:
    asked = _asked_for(world, case)
    return {
        "missing_items": "\n".join(f"- {item}" for item in asked),
        "criteria_asked": _spelled_out(world, case, " ".join(asked)),
        "due_date": day(world, case.pend_due_at) if case.pend_due_at else "",
        "how_to_reply": str(wording()["how_to_reply"]),
    }


def _asked_for(world: ManagedCareWorld, case: PriorAuthCase) -> tuple[str, ...]:
    """Return the items of the request for information that is open."""
    asked = (world.medical.active(case.id), world.nursing.active(case.id))
    return next((pends.items(one.info_requested) for one in asked if one), ())


def _listed(world: ManagedCareWorld, case: PriorAuthCase, names: Iterable[str]) -> str:
    """Return criteria with id and words, one a line; the id alone where no words are known."""
    texts = criterion_texts(world, case.id)
    return "\n".join(f"- {name}: {texts[name]}" if name in texts else f"- {name}" for name in names)


def _spelled_out(world: ManagedCareWorld, case: PriorAuthCase, said: str) -> str:
    """Return what the criteria ask for that a text calls by their ids; blank if it calls none."""
    named = _words_of(said)
    called = [name for name in criterion_texts(world, case.id) if name in named]
    if not called:
        return ""
    return f"\n{wording()['criteria_in_words']}\n{_listed(world, case, called)}"


def _words_of(text: str) -> frozenset[str]:
    """Return the words of a text, ids of criteria among them, without what ends a sentence."""
    return frozenset(word.rstrip(".") for word in re.findall(r"\w[\w.-]*", text))


def _policy_named(policy: CasePolicy) -> str:
    return f"{policy.policy_family or policy.id}, version {policy.policy_version}"


def _rights(world: ManagedCareWorld, case: PriorAuthCase) -> str:
    words = wording()
    return f"{words['how_to_appeal']} It must reach us by {_deadline(world, case)}. " + str(
        words["further_rights"]
    )


def _deadline(world: ManagedCareWorld, case: PriorAuthCase) -> str:
    until = case.appeal_due_at
    determination = world.determinations.active(case.id)
    if until is None and determination is not None:
        until = determination.created_at + case_timers(world.operations).appeal
    return day(world, until) if until else ""


def rationale(world: ManagedCareWorld, case: PriorAuthCase) -> str:
    """Return why a case was decided as it was, in the words of who decided."""
    determination = world.determinations.active(case.id)
    if determination is not None and determination.overridden:
        return determination.override_reason
    decision = world.medical.active(case.id)
    if decision is None:
        return case.outcome_reason or ""
    said = (decision.denial_rationale, decision.determination_rationale, decision.clinical_notes)
    return next((text.strip() for text in said if text.strip()), "")


def _after_call(world: ManagedCareWorld, case: PriorAuthCase, reason: str) -> str:
    """Return why it is denied, and what a call with the clinician added, in a strict world.

    What the physician wrote before a call is an intention, and is told as one.
    """
    heard = "" if world.rules is Rules.COMPAT else world.peer.established(case.id)
    if not heard:
        return reason
    word = world.medical.active(case.id)
    before = word is not None and word.decision is MdReviewDecision.P2P_REVIEW
    told = str(wording()["after_call" if before else "besides_call"])
    return told.format(reason=reason, summary=heard).strip()


def _appeal_reason(world: ManagedCareWorld, case: PriorAuthCase) -> str:
    decided = [appeal for appeal in world.appeals.of(case.id) if appeal.outcome_reason]
    return decided[-1].outcome_reason or "" if decided else ""


@cache
def wording() -> Mapping[str, Json]:
    """Return standing phrases, names of slots, and notices."""
    words: Mapping[str, Json] = json.loads(_read("wording.json"))
    return words


@cache
def _template(letter_type: str) -> tuple[str, str]:
    head, _, rest = _read(f"{letter_type}.md").partition("\n")
    return head.strip(), rest.strip()


def _read(name: str) -> str:
    folder = files("healthgym.worlds.managed_care") / "data" / "letters"
    return (folder / name).read_text("utf-8")
