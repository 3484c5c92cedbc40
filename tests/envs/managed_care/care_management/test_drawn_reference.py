"""What is right in a task of care management, worked out again from chart, referral and rules."""

from __future__ import annotations

import re
from collections import Counter
from datetime import date

import pytest

from healthgym.core.seeding import Split
from healthgym.envs.managed_care.care_management.answers import SOCIAL
from healthgym.envs.managed_care.care_management.task import (
    Ending,
)
from healthgym.worlds.managed_care.apps.care_management.evidence import rules as section_rules
from healthgym.worlds.managed_care.apps.care_management.evidence import same_medicine
from healthgym.worlds.managed_care.charts.chart import PatientChart
from healthgym.worlds.managed_care.control import controls
from healthgym.worlds.managed_care.handbook.rules import OperatingRules
from healthgym.worlds.managed_care.policies.dates import months_before
from healthgym.worlds.managed_care.records.care import CMReferral
from healthgym.worlds.managed_care.vocabulary.care import (
    CMInterventionOwner,
    CMPriority,
    CMProblemCategory,
    CMProgram,
    EscalationReason,
    RiskLevel,
)
from healthgym.worlds.managed_care.voices import Topic
from tests.envs.managed_care.care_management.drawing import chart_of, drawn, meant
from tests.sized import first_ones

_DAY = re.compile(r"\d{4}-\d\d-\d\d")


def stays_of(chart: PatientChart, kind: str) -> list[date]:
    """Return the days on which stays of a type ended, as the encounters say."""
    found = []
    for each in chart.encounters:
        if each.encounter_type == kind:
            left = re.search(r"discharged (\d{4}-\d\d-\d\d)", each.summary)
            found.append(date.fromisoformat(left[1]) if left else each.occurred_at.date())
    return found


def flagged(referral: CMReferral, words: str) -> list[date]:
    """Return the days of the stays that a referral lists."""
    return [
        date.fromisoformat(_DAY.findall(flag)[0])
        for flag in referral.utilization_flags
        if flag.startswith(words)
    ]


def row_of(code: str) -> str:
    """Return the name of the row of the handbook's table that has a code."""
    able = [(len(s), row.name) for row in controls() for s in row.codes if code.startswith(s)]
    return max(able)[1] if able else ""


def status_in(chart: PatientChart, code: str, day: date, rules: OperatingRules) -> str:
    """Return how well a condition is controlled by the observations."""
    row = next(row for row in controls() if row.name == row_of(code))
    known = [
        (each.observed_at, each.value_quantity)
        for each in chart.observations
        if each.code == row.loinc
        and each.value_quantity is not None
        and months_before(day, rules.control_months) <= each.observed_at.date() <= day
    ]
    if not known:
        return "unknown"
    value = max(known)[1]
    good, bad = (
        getattr(rules, bound) if isinstance(bound, str) else bound
        for bound in (row.controlled, row.uncontrolled)
    )
    if (value < good) if row.lower else (value > good):
        return "controlled"
    return "uncontrolled" if ((value > bad) if row.lower else (value < bad)) else "suboptimal"


def within(days: list[date], day: date, months: int) -> int:
    return sum(months_before(day, months) <= each <= day for each in days)


def level_by(
    *, score: float | None, admissions: int, visits: int, safety: bool, rules: OperatingRules
) -> bool:
    """Return whether the level is high by score, stays, visits and safety."""
    return (
        (score is not None and score * 100 >= rules.high_risk_score - 1e-6)
        or admissions >= rules.admissions_least
        or visits >= rules.ed_visits_least
        or safety
    )


_SAFETY = ("ending it all", "better off alone", "not wanting to wake up")


@pytest.mark.parametrize("difficulty", first_ones(["easy", "medium", "hard"]))
def test_programme_priority_and_level_follow_from_the_records(difficulty: str) -> None:
    for x in drawn(Split.VALIDATION, 120, difficulty):
        reference, rules = x.reference, x.start.operations
        referral, chart = meant(x), chart_of(x)
        day = referral.referral_date
        inpatient, emergency = flagged(referral, "inpatient"), flagged(referral, "emergency")
        safety = any(words in (referral.notes or "") for words in _SAFETY)
        months = rules.utilization_months
        codes = [each.code for each in chart.conditions if each.active]
        statuses = {code: status_in(chart, code, day, rules) for code in codes if row_of(code)}
        rows = {row_of(code) for code in codes} - {""}
        assert rows == {row_of(code) for code in referral.diagnosis_codes} - {""}
        admissions = within(inpatient, day, months)
        if any(0 <= (day - left).days <= rules.transition_program_days for left in inpatient):
            program = CMProgram.TRANSITIONS_OF_CARE
        elif re.match(r"F[1-6]\d", referral.diagnosis_codes[0]):
            program = CMProgram.BEHAVIORAL_HEALTH
        elif (
            len(rows) >= rules.complex_conditions_least and "uncontrolled" in statuses.values()
        ) or admissions >= rules.admissions_least:
            program = CMProgram.COMPLEX_CARE
        else:
            program = CMProgram.CHRONIC_DISEASE
        assert program is reference.program, referral
        visits = within(emergency, day, months)
        high = level_by(
            score=referral.risk_score,
            admissions=admissions,
            visits=visits,
            safety=safety,
            rules=rules,
        )
        soon = any(0 <= (day - left).days <= rules.urgent_discharge_days for left in inpatient)
        if safety or (high and soon):
            priority = CMPriority.URGENT
        else:
            priority = CMPriority.HIGH if high else CMPriority.STANDARD
        assert priority is reference.priority, referral
        high = level_by(
            score=referral.risk_score,
            admissions=within(stays_of(chart, "inpatient"), day, months),
            visits=within(stays_of(chart, "emergency"), day, months),
            safety=safety,
            rules=rules,
        )
        active = [each for each in chart.medications if each.status == "active"]
        score = referral.risk_score
        moderate = (
            (score is not None and score * 100 >= rules.moderate_risk_score - 1e-6)
            or len(active) >= rules.polypharmacy_medicines
            or "uncontrolled" in statuses.values()
        )
        level = RiskLevel.MODERATE if moderate else RiskLevel.LOW
        assert reference.risk_level is (RiskLevel.HIGH if high else level)
        assert {code: str(each) for code, each in reference.control.items()} == statuses


def sum_on_file(chart: PatientChart, code: str, today: date, days: int) -> int | None:
    known = [
        (each.observed_at, each.value_quantity)
        for each in chart.observations
        if each.code == code and 0 <= (today - each.observed_at.date()).days <= days
    ]
    return int(max(known)[1] or 0) if known else None


def test_what_the_assessment_and_the_plan_need_follows_from_person_and_chart() -> None:
    for x in drawn(Split.VALIDATION, 120):
        reference, rules, chart = x.reference, x.start.operations, chart_of(x)
        tells, today = reference.persona.tells, x.start.now.date()
        points = [each.score or 0 for each in tells[Topic.PHQ9]]
        assert len(points) == 9
        assert all(0 <= each <= 3 for each in points)
        filed = sum_on_file(chart, "44261-6", today, rules.screening_age_days)
        if filed is not None:
            assert sum(points) == filed == reference.phq9
        else:
            assert reference.phq9 == (sum(points) if points[0] + points[1] >= 3 else None)
        worries = [each.score or 0 for each in tells[Topic.GAD7]]
        assert len(worries) == 7
        assert sum(worries) == reference.gad7
        assert tells[Topic.SAFETY][0].present is (points[8] > 0)
        told = {each.item: each for each in tells[Topic.MEDICATION]}
        active = {each.medication_name for each in chart.medications if each.status == "active"}
        assert active <= set(told)
        assert set(reference.adherence) == active
        not_taken = {name for name in active if not told[name].present}
        assert reference.discrepancies == not_taken | (set(told) - active)
        ever = {each.medication_name for each in chart.medications}
        assert not any(same_medicine(name, each) for name in set(told) - active for each in ever)
        if reference.ending is Ending.DECLINED:
            assert not reference.asked
            continue
        coded = {each.code for each in chart.conditions}
        for topic in SOCIAL:
            starts = section_rules().social.get(topic.value, ("-",))
            settled = any(code.startswith(tuple(starts)) for code in coded)
            if topic is Topic.LANGUAGE:
                settled = chart.patient.preferred_language == "English"
            else:
                assert reference.barriers[topic] or not settled
            assert (topic in reference.asked) is not settled, topic
        assert (Topic.PHQ9 in reference.asked) is (filed is None)
        # Item 9 is asked with the others, and those only after a positive screen.
        ninth = filed is None and points[0] + points[1] >= 3
        assert (Topic.SAFETY in reference.asked) is not ninth


@pytest.mark.slow
def test_the_plan_needs_what_was_found() -> None:
    found = [x for x in drawn(Split.TRAIN, 400) if x.reference.needs is not None]
    owners: Counter[CMInterventionOwner] = Counter()
    for x in found:
        reference, rules, needs = x.reference, x.start.operations, x.reference.needs
        assert needs is not None
        phq9 = reference.phq9 or 0
        owners.update(needs.owners)
        behavioral = CMInterventionOwner.BEHAVIORAL_HEALTH_PROVIDER in needs.owners
        assert behavioral is (phq9 >= rules.phq9_provider)
        due = CMProblemCategory.BEHAVIORAL_HEALTH in needs.categories
        low = phq9 >= rules.phq9_problem or (reference.gad7 or 0) >= rules.gad7_problem
        assert due is (low or reference.program is CMProgram.BEHAVIORAL_HEALTH)
        assert needs.cadence is rules.cadences[reference.program]
        harm = reference.persona.tells[Topic.SAFETY][0].present
        assert (needs.escalation is EscalationReason.SAFETY) is harm
        social = CMProblemCategory.SDOH in needs.categories
        assert social is any(reference.barriers.values())
    assert set(owners) == {
        CMInterventionOwner.PHARMACIST,
        CMInterventionOwner.SOCIAL_WORKER,
        CMInterventionOwner.BEHAVIORAL_HEALTH_PROVIDER,
    }
    assert {x.reference.needs.first for x in found if x.reference.needs} >= {
        CMProblemCategory.SDOH,
        CMProblemCategory.MEDICATION,
        CMProblemCategory.BEHAVIORAL_HEALTH,
    }
