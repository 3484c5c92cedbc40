"""Entries of an episode that differ from the walk's in one place."""

from __future__ import annotations

from typing import Any

from tests.worlds.managed_care.apps.care_management.walk import (
    CLINICAL,
    MEDICATION,
    MIND,
    PLAN,
    Call,
    of_case,
    plan,
    section,
)

Json = Any


def goal(**changes: Json) -> Call:
    """Return a plan whose first goal is changed."""
    problem = PLAN["problems"][0]
    return plan(problems=[problem | {"goals": [problem["goals"][0] | changes]}])


def step(**changes: Json) -> Call:
    """Return a plan whose first intervention is changed."""
    first = PLAN["problems"][0]["goals"][0]["interventions"][0]
    kept = {key: value for key, value in (first | changes).items() if value is not None}
    return goal(interventions=[kept])


def medicine(**changes: Json) -> Call:
    """Return a medication section whose medicine is changed."""
    return section(
        "medication", {"current_medications": [MEDICATION["current_medications"][0] | changes]}
    )


def diagnosis(**changes: Json) -> Call:
    """Return a clinical section whose diagnosis is changed."""
    named = [CLINICAL["major_diagnoses"][0] | changes]
    return section("clinical", CLINICAL | {"major_diagnoses": named})


def control(**changes: Json) -> Call:
    """Return a clinical section whose control of a condition is changed."""
    named = [CLINICAL["disease_control"][0] | changes]
    return section("clinical", CLINICAL | {"disease_control": named})


def mind(**changes: Json) -> Call:
    """Return a behavioural section with changes."""
    return section("behavioral_health", MIND | changes)


def discrepancy(chart_med: str, report: str) -> Call:
    """Return a medication section with a discrepancy."""
    row = {"chart_med": chart_med, "patient_report": report, "issue_type": "dose"}
    return section("medication", MEDICATION | {"discrepancies": [row]})


def disenroll(reason: str) -> Call:
    """Return a call that ends the episode."""
    return of_case("cm_intake.disenroll_case", reason=reason)
