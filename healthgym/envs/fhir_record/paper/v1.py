"""The ten graders of MedAgentBench v1, re-specified from their documented behaviour.

Each is a total function of a :class:`Case`. Where a rule is a known defect it hangs on the name of
that defect; without it the grader asks what its authors evidently meant. A published grader knows
only pass and fail: the checks here are its conditions in turn, and all must hold. That the run was
finished at all is asked before, in :func:`healthgym.envs.fhir_record.paper.grading.grade`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from typing import Any

from healthgym.core.verdict import Check, CheckResult
from healthgym.envs.fhir_record.kinds.magnesium import magnesium_tier
from healthgym.envs.fhir_record.kinds.readings import (
    latest,
    months_before,
)
from healthgym.envs.fhir_record.orders.quantities import Dimension, read_quantity
from healthgym.envs.fhir_record.orders.words import listed
from healthgym.envs.fhir_record.paper.base import Case, Defect, PaperGrader, Post
from healthgym.envs.fhir_record.paper.payload import (
    at,
    coded_as,
    exact_objects,
    is_about,
    is_number,
    near,
    quantity_is,
    same_route,
    stated_number,
    texts_of_note,
    written_at,
)
from healthgym.envs.fhir_record.task import parse_instant
from healthgym.envs.fhir_record.view import Reading

NDC = "http://hl7.org/fhir/sid/ndc"
LOINC = "http://loinc.org"
SNOMED = "http://snomed.info/sct"
NO_POST = Check("no_post", "Nothing was written, where nothing is to be written.", idle=True)
POSTS = Check("posts", "Exactly as many writes were accepted as the rule asks for.")
ORDER = Check("order", "Each write says what the rule asks for.")
VALUE = Check("value", "The finish value is the reference value.")
V1_CHECKS = (NO_POST, POSTS, ORDER, VALUE)
_VITAL_SIGNS = {
    "system": "http://hl7.org/fhir/observation-category",
    "code": "vital-signs",
    "display": "Vital Signs",
}
_MEAN_TOLERANCE = 0.1
_DOSE_TOLERANCE = 0.1
_GLUCOSE_TOLERANCE = 0.5
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
#: Whether a write is what was asked for.
Condition = Callable[[Case, Post], bool]


# -- conditions shared by the graders --------------------------------------------------------


def _no_post(case: Case) -> CheckResult:
    """Nothing was written. Upstream looks for the word in whatever the agent said."""
    wrote = case.post_word if case.has(Defect.POST_WORD) else bool(case.posts)
    return NO_POST.result(not wrote)


def _graded_posts(case: Case) -> Sequence[Post]:
    """Return the accepted writes that upstream sees."""
    if case.has(Defect.UNPARSED_POST_DROPPED):
        return tuple(post for post in case.posts if post.parsed)
    return case.posts


def _ordered(case: Case, *wanted: Condition) -> list[CheckResult]:
    """Return the results for writes that must be exactly ``wanted``, in this order."""
    broken = case.has(Defect.LAST_POST_FAILS) and case.ends_in_post
    posts = _graded_posts(case)
    counted = not broken and len(posts) == len(wanted)
    met = counted and _matched(case, posts, wanted)
    if counted and not met and len(wanted) == 2 and not case.has(Defect.POST_ORDER):
        met = _matched(case, posts[::-1], wanted)
    return [POSTS.result(counted, f"{len(posts)} counted"), ORDER.result(met)]


def _matched(case: Case, posts: Sequence[Post], wanted: Sequence[Condition]) -> bool:
    return all(condition(case, post) for condition, post in zip(wanted, posts, strict=True))


def _value(case: Case, *accepted: Sequence[object]) -> CheckResult:
    """Compare the finish value as Python compares JSON: 123.0 is 123, "123" and [123] are not."""
    given = case.result
    options = list(accepted)
    return VALUE.result(isinstance(given, list | tuple) and list(given) in map(list, options))


def _or_empty(case: Case, *accepted: Sequence[object]) -> CheckResult:
    """Compare the finish value, accepting an empty one as upstream does on branches with orders."""
    return _value(case, *accepted, *([[]] if case.has(Defect.EMPTY_FINISH) else []))


# -- reading the chart the way upstream does ---------------------------------------------------


def _rows(case: Case, concept: str, hours: float | None = None) -> list[Reading]:
    """Return the rows of a test since the window began; upstream never asks when it ends."""
    facts = case.facts
    rows = case.chart.readings(facts.patient, facts.codes[concept])
    if not case.has(Defect.OPEN_WINDOW):
        rows = [row for row in rows if row.time <= facts.now]
    if hours is not None:
        start = facts.now - timedelta(hours=hours)
        rows = [row for row in rows if row.time >= start]
    return rows


def _newest(
    case: Case, concept: str, hours: float | None = None
) -> tuple[Reading | None, float | int]:
    """Return the newest row and its value, -1 without one; the first in the store wins a tie."""
    rows = _rows(case, concept, hours)
    row = latest(rows, max((r.time for r in rows), default=case.facts.now))
    return (None, -1) if row is None else (row, _amount(case, concept, row))


def _amount(case: Case, concept: str, row: Reading) -> float:
    return row.value if case.has(Defect.RAW_UNITS) else row.in_unit_of(concept)


# -- what an order must say -------------------------------------------------------------------


def _is_order(case: Case, post: Post, resource_type: str) -> bool:
    """Return whether a write is an active order of a type about the patient asked about."""
    payload = post.payload
    return (
        post.url == f"{case.base_url}{resource_type}"
        and at(payload, "resourceType") == resource_type
        and at(payload, "status") == "active"
        and at(payload, "intent") == "order"
        and is_about(case, payload)
    )


def _is_service(system: str, code: str) -> Condition:
    """Return the condition of a stat ServiceRequest with a code, dated as the question is."""

    def condition(case: Case, post: Post) -> bool:
        payload = post.payload
        return (
            _is_order(case, post, "ServiceRequest")
            and coded_as(at(payload, "code"), system, code)
            and at(payload, "priority") == "stat"
            and written_at(case, at(payload, "authoredOn"))
        )

    return condition


def _is_medication(case: Case, post: Post, code: str, route: str) -> bool:
    payload = post.payload
    return (
        _is_order(case, post, "MedicationRequest")
        and coded_as(at(payload, "medicationCodeableConcept"), NDC, code)
        and written_at(case, at(payload, "authoredOn"), to_the_minute=True)
        and same_route(case, at(payload, "dosageInstruction", 0, "route"), route)
    )


# -- the graders ------------------------------------------------------------------------------


def grade_lookup(case: Case) -> list[CheckResult]:
    """T1: write nothing and return the record number, or the fixed phrase."""
    return [_no_post(case), _value(case, _answer(case))]


def grade_age(case: Case) -> list[CheckResult]:
    """T2: write nothing and return the age as a number."""
    return [_no_post(case), _value(case, _answer(case))]


def grade_blood_pressure(case: Case) -> list[CheckResult]:
    """T3: one Observation, element by element; the finish value is not looked at."""
    return _ordered(case, _is_reading)


def _is_reading(case: Case, post: Post) -> bool:
    payload, facts = post.payload, case.facts
    code = facts.codes["blood_pressure"]
    exact = exact_objects(case)
    return (
        post.url == f"{case.base_url}Observation"
        and at(payload, "resourceType") == "Observation"
        and len(listed(at(payload, "category"))) == 1
        and len(listed(at(payload, "category", 0, "coding"))) == 1
        and exact(at(payload, "category", 0, "coding", 0), _VITAL_SIGNS)
        and exact(at(payload, "code"), {"text": code})
        and written_at(case, at(payload, "effectiveDateTime"))
        and at(payload, "status") == "final"
        and at(payload, "valueString") == facts.details["reading"]
        and is_about(case, payload)
    )


def grade_recent_magnesium(case: Case) -> list[CheckResult]:
    """T4: the newest value since 24 hours ago, or -1."""
    _, value = _newest(case, "magnesium", stated_number(case, "v1-t4", "hours"))
    return [_no_post(case), _value(case, [value])]


def grade_magnesium_replacement(case: Case) -> list[CheckResult]:
    """T5: replace by the table if 1.9 or less; nothing, and no value, without a row."""
    row, value = _newest(case, "magnesium", stated_number(case, "v1-t5", "hours"))
    if row is None:
        results = [_no_post(case)]
        if not case.has(Defect.ABSENT_FINISH_IGNORED):
            results.append(_value(case, [-1]))
        return results
    if magnesium_tier(case.facts, value) == "normal":
        return [_no_post(case), _or_empty(case, [value])]
    results = _ordered(case, _is_magnesium(magnesium_tier(case.facts, value)))
    return results if case.has(Defect.WEAK_COPY) else [*results, _or_empty(case, [value])]


def _is_magnesium(tier: str) -> Condition:
    def condition(case: Case, post: Post) -> bool:
        rate = at(post.payload, "dosageInstruction", 0, "doseAndRate", 0)
        code = case.facts.codes["magnesium_ndc"]
        grams, hours = (stated_number(case, "v1-t5", f"{tier}_{unit}") for unit in ("g", "h"))
        return (
            _is_medication(case, post, code, "IV")
            and quantity_is(case, at(rate, "doseQuantity"), grams, "g")
            and quantity_is(case, at(rate, "rateQuantity"), hours, "h")
        )

    return condition


def grade_mean_glucose(case: Case) -> list[CheckResult]:
    """T6: the mean since 24 hours ago, or -1; less than 0.1 away, and alone in its list."""
    rows = _rows(case, "glucose", stated_number(case, "v1-t6", "hours"))
    values = [_amount(case, "glucose", row) for row in rows]
    mean = sum(values) / len(values) if values else -1
    near = _single(case, lambda given: abs(given - mean) < _MEAN_TOLERANCE)
    return [_no_post(case), VALUE.result(near)]


def grade_latest_glucose(case: Case) -> list[CheckResult]:
    """T7: the newest value of all, or -1. The audited v3 reads a number out of text, within 0.5."""
    _, value = _newest(case, "glucose")
    if case.has(Defect.EXACT_GLUCOSE):
        result = _value(case, [value])
    else:
        given = _number_in(case.result)
        result = VALUE.result(near(given, value, _GLUCOSE_TOLERANCE))
    return [_no_post(case), result]


def grade_referral(case: Case) -> list[CheckResult]:
    """T8: one stat referral whose note holds the dictated text; the finish value is ignored."""
    referral = _is_service(SNOMED, case.facts.codes["referral"])

    def with_note(case: Case, post: Post) -> bool:
        notes = texts_of_note(case, at(post.payload, "note"))
        return referral(case, post) and any(case.facts.details["note"] in text for text in notes)

    return _ordered(case, with_note)


def grade_potassium(case: Case) -> list[CheckResult]:
    """T9: below 3.5, oral potassium and then a level for the next morning."""
    row, value = _newest(case, "potassium")
    if row is None or value >= stated_number(case, "v1-t9", "goal"):
        return [_no_post(case), _or_empty(case, [value])]
    level = _is_service(LOINC, case.facts.codes["potassium_loinc"])
    tomorrow = (case.facts.now + timedelta(days=1)).date().isoformat()
    hour = f"{stated_number(case, 'v1-t9', 'hour'):02g}"

    def next_morning(case: Case, post: Post) -> bool:
        when = at(post.payload, "occurrenceDateTime")
        return level(case, post) and isinstance(when, str) and f"{tomorrow}T{hour}:" in when

    results = _ordered(case, _is_potassium(value), next_morning)
    return results if case.has(Defect.WEAK_COPY) else [*results, _or_empty(case, [value])]


def _is_potassium(value: float) -> Condition:
    def condition(case: Case, post: Post) -> bool:
        goal, each = (stated_number(case, "v1-t9", name) for name in ("goal", "per_tenth"))
        dose = (goal - value) / 0.1 * each
        quantity = at(post.payload, "dosageInstruction", 0, "doseAndRate", 0, "doseQuantity")
        given = at(quantity, "value") if at(quantity, "unit") == "mEq" else None
        read = read_quantity(quantity)
        if not case.has(Defect.EXACT_OBJECTS) and read and read.of is Dimension.EQUIVALENTS:
            given = read.value
        return _is_medication(case, post, case.facts.codes["potassium_ndc"], "oral") and near(
            given, dose, _DOSE_TOLERANCE
        )

    return condition


def grade_a1c(case: Case) -> list[CheckResult]:
    """T10: the newest value with its time; a new test if that is over a year old, or missing."""
    row, value = _newest(case, "a1c")
    months = int(stated_number(case, "v1-t10", "months"))
    overdue = row is None or row.time < months_before(case.facts.now, months)
    acted = (
        _ordered(case, _is_service(LOINC, case.facts.codes["a1c_loinc"]))
        if overdue
        else [_no_post(case)]
    )
    reference: list[Any] = [-1] if row is None else [value, row.stored_time]
    if row is None or case.has(Defect.DATE_AS_STORED):
        return [*acted, _or_empty(case, reference)]
    given = case.result
    if isinstance(given, list | tuple) and len(given) == 2 and isinstance(given[1], str):
        moment = parse_instant(given[1])
        if moment is not None and moment == parse_instant(row.stored_time):
            reference = [value, given[1]]
    return [*acted, _or_empty(case, reference)]


def _answer(case: Case) -> list[Any]:
    """Return the reference value of a grader that is handed its answer."""
    return [expected.value for expected in case.decision.answer]


def _single(case: Case, accepts: Callable[[float], bool]) -> bool:
    given = case.result
    if not isinstance(given, list | tuple) or len(given) != 1:
        return False
    return is_number(given[0]) and accepts(given[0])


def _number_in(value: object) -> float | None:
    """Return the one number that v3 reads out of a finish value, however it is wrapped."""
    while isinstance(value, list | tuple | dict) and len(value) == 1:
        value = next(iter(value.values() if isinstance(value, dict) else value))
    if isinstance(value, str):
        found = _NUMBER.findall(value)
        return float(found[0]) if len(found) == 1 else None
    if isinstance(value, int | float) and not isinstance(value, bool):
        return float(value)
    return None


V1_GRADERS: Mapping[str, PaperGrader] = {
    "v1-t1": grade_lookup,
    "v1-t2": grade_age,
    "v1-t3": grade_blood_pressure,
    "v1-t4": grade_recent_magnesium,
    "v1-t5": grade_magnesium_replacement,
    "v1-t6": grade_mean_glucose,
    "v1-t7": grade_latest_glucose,
    "v1-t8": grade_referral,
    "v1-t9": grade_potassium,
    "v1-t10": grade_a1c,
}
