"""What an assessment may rest on."""

from __future__ import annotations

from dataclasses import replace

import pytest

from healthgym.worlds.managed_care.apps.care_management.evidence import (
    Evidence,
    rules,
    same_condition,
    same_medicine,
)
from healthgym.worlds.managed_care.apps.care_management.sections import require_sourced
from healthgym.worlds.managed_care.control import Control, control_of, controls
from healthgym.worlds.managed_care.population.conditions import conditions
from healthgym.worlds.managed_care.records.assessment import (
    BehavioralHealthAssessment,
    BehavioralHealthSectionPayload,
)
from healthgym.worlds.managed_care.records.chart import Condition
from healthgym.worlds.managed_care.refusals import Refusal, RefusalCode
from healthgym.worlds.managed_care.voices import Disclosure, Part, Topic
from tests.worlds.managed_care.apps.care_management.walk import (
    CASE,
    PATIENT,
    SOCIAL,
    at_stage,
    play,
    refused,
    section,
)


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("metformin", "Metformin 500 mg", True),
        ("metformin 1000 mg", "metformin 500 mg", True),
        ("insulin", "insulin glargine", True),
        ("insulin lispro", "insulin glargine", False),
        ("metoprolol tartrate 25 mg", "metoprolol succinate", False),
        ("warfarin", "metformin", False),
        ("", "metformin", False),
        ("500 mg", "metformin", False),
    ],
)
def test_a_dose_is_no_part_of_a_name(one: str, other: str, same: bool) -> None:
    assert same_medicine(one, other) is same
    assert same_medicine(other, one) is same


@pytest.mark.parametrize(
    ("words", "same"),
    [
        ("J44.9", True),
        ("Chronic obstructive pulmonary disease", True),
        ("COPD", True),
        ("COPD, out of bounds", True),
        ("Asthma", False),
        ("Hypertension", False),
        ("COPDX", False),
    ],
)
def test_a_condition_is_named_by_code_title_or_as_the_notes_call_it(words: str, same: bool) -> None:
    title = "Chronic obstructive pulmonary disease, unspecified"
    assert same_condition(words, "J44.9", title) is same


@pytest.mark.parametrize("row", controls(), ids=lambda row: row.name)
def test_the_name_in_the_handbooks_table_names_the_conditions_of_its_row_alone(
    row: Control,
) -> None:
    coded = {
        code: title
        for each in conditions().values()
        for code, title in each.diagnoses
        if control_of(code) is not None
    }
    assert {control_of(code) for code in coded} == set(controls())
    for code, title in coded.items():
        assert same_condition(row.name, code, title) is (control_of(code) is row)


def test_a_barrier_is_known_by_its_code_or_the_persons_last_word() -> None:
    evidence = Evidence.of(at_stage("assessing"), CASE)
    assert [evidence.barrier(topic) for topic in rules().required_social] == [True, False, False]
    assert evidence.barrier(Topic.CAREGIVER) is None
    coded = Condition(id="c9", patient_id=PATIENT, code="Z74.2", display="Needs help at home")
    chart = replace(evidence.chart, conditions=(coded,))
    assert replace(evidence, chart=chart).barrier(Topic.CAREGIVER) is True


@pytest.mark.parametrize("treated", [True, False])
def test_whether_somebody_treats_them_is_recorded_as_they_told_it(treated: bool) -> None:
    evidence = Evidence.of(at_stage("assessing"), CASE)
    assert evidence.treated is None
    said = Disclosure(topic=Topic.DIAGNOSIS, item=Part.TREATMENT, present=treated)
    told = replace(evidence, told=(*evidence.told, said))
    assert told.treated is treated
    assert not told.knows_diagnosis(Part.TREATMENT)
    for recorded in (True, False):
        data = BehavioralHealthAssessment(bh_treatment_connected=recorded)
        payload = BehavioralHealthSectionPayload(data=data)
        if recorded is treated:
            require_sourced(payload, told)
        else:
            with pytest.raises(Refusal):
                require_sourced(payload, told)


def test_a_preferred_language_allows_a_barrier_and_asks_for_none() -> None:
    spoken = SOCIAL | {"language_barrier": "Spanish"}
    world = at_stage("assessing")
    assert refused(world, section("sdoh", spoken)) is RefusalCode.UNSUPPORTED_CLAIM
    chart = world.charts[PATIENT]
    patient = replace(chart.patient, preferred_language="Spanish")
    world.charts = world.charts.with_charts([replace(chart, patient=patient)])
    play(world, section("sdoh", SOCIAL))
    play(world, section("sdoh", spoken))


def test_rows_of_a_chart_do_not_repeat_whose_they_are() -> None:
    shown = play(at_stage("opened"), ("cm_chart.get_chart_data", {"case_id": CASE}))
    assert all("patient_id" not in row for row in (*shown["conditions"], *shown["medications"]))
    assert shown["conditions"][0]["code"] == "E11.9"
