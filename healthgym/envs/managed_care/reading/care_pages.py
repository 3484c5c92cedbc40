"""The numbers of care management, read from the handbook's pages."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from healthgym.envs.managed_care.reading.operations import UnreadableRuleError
from healthgym.worlds.managed_care.handbook.rules import OperatingRules
from healthgym.worlds.managed_care.numerals import SMALL_NUMBERS
from healthgym.worlds.managed_care.vocabulary.care import CMProgram, FollowUpCadence

_FOLDER = "care-manager/operational"
ELIGIBILITY = f"{_FOLDER}/program-eligibility.md"
RISK = f"{_FOLDER}/risk-stratification.md"
REVIEW = f"{_FOLDER}/chart-review.md"
ASSESSMENT = f"{_FOLDER}/assessment-standards.md"
PLAN = f"{_FOLDER}/care-plan-standards.md"
PROTOCOL = f"{_FOLDER}/outreach-protocol.md"
#: The pages that hold numbers.
PAGES = (ELIGIBILITY, RISK, REVIEW, ASSESSMENT, PLAN, PROTOCOL)

_N = rf"(\d+(?:\.\d+)?|{'|'.join(SMALL_NUMBERS)})"
#: Where each number stands, and how it is worded.
_WORDED: Mapping[str, tuple[str, str]] = {
    "transition_program_days": (ELIGIBILITY, rf"inpatient stay in the last {_N} days"),
    "complex_conditions_least": (ELIGIBILITY, rf"{_N} or more chronic conditions"),
    "admissions_least": (ELIGIBILITY, rf"or {_N} or more admissions in"),
    "utilization_months": (ELIGIBILITY, rf"admissions in {_N} months"),
    "urgent_discharge_days": (ELIGIBILITY, rf"discharge within the last {_N} days"),
    "high_risk_score": (RISK, rf"\| High \| {_N} and above"),
    "moderate_risk_score": (RISK, rf"\| Moderate \| {_N} to below"),
    "ed_visits_least": (RISK, rf"{_N} or more emergency visits"),
    "polypharmacy_medicines": (RISK, rf"{_N} or more active medicines"),
    "control_months": (REVIEW, rf"latest value of the {_N} months"),
    "a1c_controlled_below": (REVIEW, rf"\| Diabetes \|.*?\| below {_N}"),
    "a1c_uncontrolled_above": (REVIEW, rf"\| Diabetes \|.*?\| above {_N}"),
    "systolic_controlled_below": (REVIEW, rf"\| Hypertension \|.*?\| below {_N}"),
    "systolic_uncontrolled_above": (REVIEW, rf"\| Hypertension \|.*?\| above {_N}"),
    "screening_age_days": (ASSESSMENT, rf"from the last {_N} days stands in the place"),
    "phq9_problem": (ASSESSMENT, rf"\| {_N} and above \| a behavioural-health problem"),
    "phq9_provider": (ASSESSMENT, rf"\| {_N} and above \| and an intervention owned"),
    "phq9_escalate": (ASSESSMENT, rf"\| {_N} and above \| and escalation"),
    "gad7_problem": (ASSESSMENT, rf"GAD-7\b.*?\bfrom {_N} on"),
    "problems_least": (PLAN, rf"At least {_N} problems"),
    "complex_problems_least": (PLAN, rf"problems, {_N} in complex care"),
    "goal_target_days_most": (PLAN, rf"by when: within {_N} days"),
    "outreach_attempts_least": (PROTOCOL, rf"at least \*\*{_N} attempts"),
    "outreach_spacing_days": (PROTOCOL, rf"{_N} days or more apart"),
}
_CADENCE = re.compile(r"\| `(\w+)` \| (\w+) \|")
_HOURS = re.compile(r"from (\d+):00 ([ap])\.m\. (?:to|and) (\d+):00 ([ap])\.m\.")


def read_rules(pages: Mapping[str, str]) -> OperatingRules:
    """Return the numbers that the pages of care management state.

    Args:
        pages: The texts of :data:`PAGES`, by path.

    Raises:
        UnreadableRuleError: If one of them does not state its number as it usually does.
    """
    found: dict[str, int | float] = {}
    for name, (path, form) in _WORDED.items():
        match = re.search(form, pages[path], re.IGNORECASE)
        if match is None:
            raise UnreadableRuleError(f"The page {path} states no {name}.")
        found[name] = _number(match[1])
    hours = _HOURS.search(pages[PROTOCOL])
    if hours is None:
        raise UnreadableRuleError("The protocol states no hours of calling.")
    opens, closes = (_hour(hours[1], hours[2]), _hour(hours[3], hours[4]))
    cadences = {
        CMProgram(name): FollowUpCadence(kind) for name, kind in _CADENCE.findall(pages[PLAN])
    }
    read = OperatingRules(cadences=cadences)
    return replace(read, call_opens=opens, call_closes=closes, **found)  # type: ignore[arg-type]


def _number(words: str) -> int | float:
    if words.lower() in SMALL_NUMBERS:
        return SMALL_NUMBERS.index(words.lower())
    return float(words) if "." in words else int(words)


def _hour(clock: str, half: str) -> int:
    return int(clock) % 12 + (12 if half == "p" else 0)
