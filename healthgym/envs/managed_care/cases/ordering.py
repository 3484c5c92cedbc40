"""Who orders for a case, and the visit from which the order comes."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime, timedelta
from functools import cache
from importlib.resources import files

import numpy as np

from healthgym.envs.managed_care.cases.clinic import workforce
from healthgym.envs.managed_care.cases.situations import Situation
from healthgym.worlds.managed_care.charts.hours import business_day, some_business_day, visit_start
from healthgym.worlds.managed_care.charts.ordering import Ordering
from healthgym.worlds.managed_care.facts import AnyFact, Diagnosis, Finding
from healthgym.worlds.managed_care.policies.criteria import FindingCriterion
from healthgym.worlds.managed_care.policies.diagnoses import spoken_for, title_of
from healthgym.worlds.managed_care.policies.evaluation import posture
from healthgym.worlds.managed_care.policies.policy import Policy
from healthgym.worlds.managed_care.policies.reading import is_read_of
from healthgym.worlds.managed_care.policies.tree import criteria
from healthgym.worlds.managed_care.records.chart import Patient, ServiceRequest
from healthgym.worlds.managed_care.staff import Worker
from healthgym.worlds.managed_care.vocabulary.authorization import DocumentKind

#: Id of the condition that an order gives, where the case has none.
_LISTED = "F-0900"
#: Kinds of which the note of the visit may be.
_NOTES = (
    DocumentKind.SPECIALIST_CONSULT_NOTE,
    DocumentKind.PROGRESS_NOTE,
    DocumentKind.CHART_NOTE,
)
#: Days from the visit to the order; the handbook wants at most thirty.
_LATER = (0, 0, 0, 1, 3, 6, 9, 14, 20)
#: An order of the day of the visit is entered after its note.
_ENTERED = timedelta(minutes=55)
#: Findings that a visit in person would answer by itself.
_IN_PERSON = frozenset({"consult.sleep_visit", "consult.face_to_face"})
_CHILD = 18


@cache
def _specialties() -> Mapping[str, Mapping[str, str]]:
    path = files(__package__) / "data" / "specialties.json"
    table: Mapping[str, Mapping[str, str]] = json.loads(path.read_text("utf-8"))
    return table


def specialty_for(policy: Policy, code: str, age: int) -> str:
    """Return the specialty that orders what a policy covers.

    Args:
        policy: The policy, or one for another plan or state.
        code: The order's diagnosis.
        age: Of the patient.
    """
    row = _specialties().get("-".join(policy.id.split("-")[:3]), {"": "Internal Medicine"})
    if age < _CHILD:
        return row.get("child", "Pediatrics")
    return next((name for start, name in row.items() if start and code.startswith(start)), row[""])


def orderer(policy: Policy, code: str, age: int, rng: np.random.Generator) -> Worker:
    """Return who orders; arguments as of `specialty_for`, and where the choice comes from."""
    doctors = workforce().clinicians(specialty_for(policy, code, age))
    return doctors[int(rng.integers(len(doctors)))]


def order_days(patient: Patient, today: date, rng: np.random.Generator) -> tuple[date, datetime]:
    """Return the day of the visit and when the order was entered, both in office hours."""
    state = patient.address_state or ""
    ordered = _before(today - timedelta(days=int(rng.integers(1, 6))), state)
    seen = _before(ordered - timedelta(days=_LATER[int(rng.integers(len(_LATER)))]), state)
    return seen, visit_start(patient, ordered) + _ENTERED


def _before(day: date, state: str) -> date:
    while business_day(day, state) != day:
        day -= timedelta(days=1)
    return day


def listed_condition(
    facts: Sequence[AnyFact], drawn: Situation, today: date, rng: np.random.Generator
) -> tuple[Diagnosis | None, bool]:
    """Return the condition of an order, and whether it has to be added to the facts.

    None where the case leaves open, or denies, that the patient has it: on the problem list it
    would change what a criterion finds.
    """
    code = drawn.request.diagnosis_codes[0]
    for fact in facts:
        if isinstance(fact, Diagnosis) and fact.code == code:
            return (fact if fact.active else None), False
    if not title_of(code):
        return None, False
    onset = some_business_day(today - timedelta(days=int(rng.integers(60, 900))))
    added = Diagnosis(id=_LISTED, code=code, display=title_of(code, code), onset=onset)
    return (added, True) if _indifferent(added, facts, drawn, today) else (None, False)


def _indifferent(added: Diagnosis, facts: Sequence[AnyFact], drawn: Situation, today: date) -> bool:
    """Return whether a condition leaves every criterion as it is, in fact and in wording."""
    if not _shown(spoken_for(added.code), facts, drawn):
        return False
    more = (*facts, added)
    return all(
        posture(item, facts, drawn.request, today) == posture(item, more, drawn.request, today)
        for item in criteria(drawn.policy.criteria)
        if is_read_of(item, Diagnosis)
    )


def _shown(keys: Iterable[str], facts: Sequence[AnyFact], drawn: Situation) -> bool:
    """Return whether findings that a policy asks for under some keys are there, and accepted."""
    wanted = [
        item
        for item in criteria(drawn.policy.criteria)
        if isinstance(item, FindingCriterion) and item.key in keys
    ]
    values = {fact.key: fact.value for fact in facts if isinstance(fact, Finding)}
    return not wanted or any(values.get(item.key) in item.accepted for item in wanted)


def ordering_visit(
    order: ServiceRequest,
    doctor: Worker,
    seen: datetime,
    listed: Diagnosis | None,
    drawn: Situation,
    on_file: frozenset[str],
) -> Ordering:
    """Return the visit from which an order comes.

    Args:
        order: What was ordered.
        doctor: By whom.
        seen: When the patient was seen.
        listed: The condition, where it is on the problem list.
        drawn: What the request deserves.
        on_file: Kinds of documents that the chart has besides.
    """
    code = order.diagnosis_codes[0]
    asked = {i.key for i in criteria(drawn.policy.criteria) if isinstance(i, FindingCriterion)}
    return Ordering(
        at=seen,
        clinician=doctor,
        kind=_kind(drawn, on_file),
        code=code,
        name=title_of(code, code) if listed is None else listed.display,
        listed=listed,
        service=order.description,
        encounter="telehealth" if asked & _IN_PERSON else "consult",
    )


def _kind(drawn: Situation, on_file: frozenset[str]) -> DocumentKind:
    """Return the kind of the note: one that the policy does not require, if there is one.

    A required kind must not come into the chart by the visit alone: it may be what is missing.
    """
    required = {str(kind) for kind in drawn.policy.required_documents}
    free = [kind for kind in _NOTES if str(kind) not in required]
    there = [kind for kind in _NOTES if str(kind) in on_file]
    return (free or there or list(_NOTES))[0]
