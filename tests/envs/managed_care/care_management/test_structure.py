"""Sections, plans and filed calls in which one field contradicts chart, person or itself."""

from __future__ import annotations

from typing import Any

import pytest

from healthgym.core.records import replace
from healthgym.envs.managed_care.care_management.doses import same_dose
from healthgym.envs.managed_care.care_management.grounds import Grounds
from healthgym.envs.managed_care.care_management.task import Ending
from healthgym.worlds.managed_care.records.care import CMReferral
from tests.envs.managed_care.care_management.playing import (
    END,
    PLAN,
    SECTION,
    Script,
    data_of,
    edited,
    fails,
    places,
    play,
    section,
    solution,
    task,
)

PLANNED = task(Ending.PLANNED, lambda each: each.reference.adherence)


def _blocks_the_mind(script: Script) -> bool:
    return any(
        script[place].arguments.get("blocked_reason")
        and script[place].arguments["payload"]["section"] == "behavioral_health"
        for place in places(script, SECTION)
    )


BLOCKED = task(Ending.BLOCKED, lambda each: _blocks_the_mind(solution(each)))


@pytest.mark.parametrize("first", [True, False])
def test_a_diagnosis_that_is_listed_twice_is_right_twice(first: bool) -> None:
    listed = list(data_of(solution(PLANNED), "clinical")["major_diagnoses"])
    control = "uncontrolled" if listed[0]["control_status"] != "uncontrolled" else "controlled"
    other = {**listed[0], "control_status": control}
    both = [other, *listed] if first else [*listed, other]
    script = section(solution(PLANNED), "clinical", major_diagnoses=both)
    assert "sections_true" in fails(play(PLANNED, script))


def _dosed(form: str) -> set[str]:
    taken = list(data_of(solution(PLANNED), "medication")["current_medications"])
    new = [{**taken[0], "dose": form.format(dose=taken[0]["dose"])}, *taken[1:]]
    return fails(play(PLANNED, section(solution(PLANNED), "medication", current_medications=new)))


def test_a_dose_is_that_of_the_chart_or_the_person_s() -> None:
    assert _dosed("{dose} ") == set()
    assert "sections_true" in _dosed("7319 mg once daily")


@pytest.mark.parametrize(
    ("dose", "right"),
    [
        ("10 mg once daily", True),
        ("10mg, 1 time a day", True),
        ("10 mg", True),
        ("dose not known", True),
        ("half a tablet, 5 mg", True),
        ("10 mg four times daily", False),
        ("20 mg once daily", False),
        ("10 g once daily", True),
    ],
)
def test_amounts_and_times_are_compared(dose: str, right: bool) -> None:
    assert same_dose(dose, ["10 mg once daily"], "I only take 5 mg of it.") is right


def test_a_commas_and_slashes_stand_in_amounts() -> None:
    assert same_dose("1000 mcg", ["1,000 mcg once daily"], "")
    assert same_dose("62.5/25 mcg daily", ["62.5/25 mcg once daily"], "")
    assert not same_dose("100/25 mcg", ["62.5/25 mcg once daily"], "")


@pytest.mark.parametrize(
    ("fields", "right"),
    [
        ({"preferred_language": "Vietnamese"}, False),
        ({"preferred_contact": "mail only"}, False),
        ({"preferred_contact": "phone, mornings"}, True),
        ({"preferred_language": "English"}, True),
        ({"preferred_language": "English on these calls, as the record prefers"}, True),
        ({"preferred_language": "English; the record prefers Vietnamese"}, False),
        ({"preferred_language": "The calls"}, False),
        ({"preferred_language": "English; drinks vodka every day"}, False),
        ({"preferred_contact": "Phone; thinks of suicide every day"}, False),
    ],
)
def test_what_somebody_prefers_is_on_file_or_was_said(fields: dict[str, str], right: bool) -> None:
    script = edited(solution(PLANNED), END, "summary", lambda old: {**old, **fields}, -1)
    assert ("consent_true" not in fails(play(PLANNED, script))) is right


def test_a_rough_number_is_near_a_value_on_its_own_side() -> None:
    """ "Just over 980" is said of a value of 987, and of none of 973."""
    start = PLANNED.start
    chart = start.charts[PLANNED.reference.patient_id]
    first, *_ = [each for each in chart.observations if each.value_quantity is not None]
    chart = replace(chart, observations=(replace(first, value_quantity=987.0),))
    referral = next(each for each in start.records if isinstance(each, CMReferral))
    day = start.now.date()
    grounds = Grounds(chart, referral, start.operations, (day, day))

    def refused(told: str) -> bool:
        return bool(grounds.unfounded(f"{first.display} was {told} at the visit."))

    assert not any(map(refused, ("987", "just over 980", "more than 980", "under 990")))
    assert all(map(refused, ("980", "under 980", "less than 980", "over 990", "about 700")))


def test_a_section_that_was_broken_off_holds_nothing_made_up() -> None:
    script = solution(BLOCKED)
    assert fails(play(BLOCKED, script)) == set()
    right = BLOCKED.reference.persona.readiness
    other = "action" if right != "action" else "contemplation"
    wrong = section(script, "behavioral_health", motivation_stage=other)
    assert "blocked_right" in fails(play(BLOCKED, wrong))


def test_a_pharmacist_is_needed_where_the_rules_say_so() -> None:
    script = section(solution(SIMPLE), "medication", pharmacist_referral_needed=True)
    assert "sections_true" in fails(play(SIMPLE, script))


def test_a_social_problem_comes_from_the_social_section_alone() -> None:
    def swapped(plan: Any) -> Any:
        return {
            **plan,
            "problems": [
                {**each, "source_assessment": "sdoh" if each["category"] == "clinical" else kept}
                for each in plan["problems"]
                for kept in [each["source_assessment"]]
            ],
        }

    script = solution(BARRED)
    assert fails(play(BARRED, script)) == set()
    assert "plan_follows" in fails(play(BARRED, edited(script, PLAN, "plan_data", swapped)))


def _both_kinds(script: Script) -> bool:
    (place,) = places(script, PLAN)
    plan: Any = script[place].arguments["plan_data"]
    return {"clinical", "sdoh"} <= {each["category"] for each in plan["problems"]}


BARRED = task(Ending.PLANNED, lambda each: _both_kinds(solution(each)))
SIMPLE = task(
    Ending.PLANNED,
    lambda each: each.reference.needs and "pharmacist" not in each.reference.needs.owners,
)
