"""Charts, forms and packets as they are shown: shorter, and with everything that counts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from functools import cache
from typing import Any

import pytest

from healthgym.envs.managed_care.cases.clinic import chart
from healthgym.envs.managed_care.layouts import (
    case_page,
    chart_page,
    document_page,
    form_page,
    packet_page,
)
from healthgym.envs.managed_care.presentation import present, scalar
from healthgym.envs.managed_care.reading.chart_page import read_chart
from healthgym.envs.managed_care.reading.layout import rows, sections
from healthgym.envs.managed_care.utilization_management.appeal_reader import rationale_in
from healthgym.worlds.managed_care.charts.chart import ChartLibrary
from healthgym.worlds.managed_care.facts import Finding, Measurement
from healthgym.worlds.managed_care.world import ManagedCareWorld
from tests.worlds.managed_care.apps.provider.office import CASE, bundle, fill, office

GROUPS = pytest.mark.parametrize("group", range(6))


@cache
def whole(group: int) -> Mapping[str, Any]:
    """Return what the chart's application says of a patient."""
    start = office().start
    own = chart(group, 0)
    world = ManagedCareWorld(replace(start, charts=ChartLibrary((own,)), records=()))
    return world.chart.get_patient_chart(own.patient.id)


@GROUPS
def test_every_value_of_a_chart_is_shown_with_its_day(group: int) -> None:
    result = whole(group)
    read = read_chart(present(chart_page(result))).facts
    values = Counter(
        (one.code, f"{one.value:g}", one.unit, one.taken)
        for one in read
        if isinstance(one, Measurement)
    )
    words = Counter((one.key, one.value, one.found) for one in read if isinstance(one, Finding))
    kept = result["observations"]
    assert values == Counter(
        (one.code, f"{one.value_quantity:g}", one.value_unit or "", one.observed_at.date())
        for one in kept
        if one.value_text is None
    )
    assert words == Counter(
        (one.code, one.value_text, one.observed_at.date())
        for one in kept
        if one.value_text is not None
    )
    assert values


@GROUPS
def test_values_of_a_test_are_read_in_the_order_in_which_they_were_taken(group: int) -> None:
    result = whole(group)
    read = read_chart(present(chart_page(result))).facts
    for code in {one.code for one in result["observations"] if one.value_text is None}:
        kept = [one.value_quantity for one in result["observations"] if one.code == code]
        assert [o.value for o in read if isinstance(o, Measurement) and o.code == code] == kept


@GROUPS
def test_a_chart_names_its_patient_once_and_begins_with_the_newest(group: int) -> None:
    result = whole(group)
    page = sections(present(chart_page(result)))
    for name in ("encounters", "conditions", "medications", "documents"):
        table = rows(page[name])
        assert len(table) == len(result[name])
        assert "patient_id" not in table[0]
        assert [row["id"] for row in table] == _ids(result[name])[::-1]
    assert len(present(chart_page(result))) < 0.75 * len(present(result))


def _ids(records: Any) -> list[str]:
    return [one["id"] if isinstance(one, Mapping) else one.id for one in records]


def test_what_is_somebody_elses_still_says_so() -> None:
    result = whole(0)
    stray = replace(result["conditions"][0], patient_id="PAT-0")
    page = chart_page({**result, "conditions": (stray, *result["conditions"][1:])})
    last = rows(sections(present(page))["conditions"])[-1]
    assert last["patient_id"] == "PAT-0"


def test_a_flag_is_shown_unless_it_is_ordinary() -> None:
    result = whole(0)
    one = next(each for each in result["observations"] if each.value_text is None)
    seen = tuple(
        replace(one, interpretation=flag, observed_at=one.observed_at + n * timedelta(1))
        for n, flag in enumerate(("high", "normal", None))
    )
    page: Any = chart_page({**result, "observations": seen})
    (row,) = page["measurements"]
    told = row["values"].split(", ")
    assert [" high " in each for each in told] == [False, False, True]
    assert "normal" not in row["values"]


def test_a_form_is_a_table_of_its_questions() -> None:
    world = office(required_questionnaire_answers={"c1": "yes"})
    page = sections(present(form_page(world.documents.list_required_forms(CASE))))
    assert list(page) == ["form_1", "form_2"]
    questions = rows(sections("\n".join(page["form_1"]))["questions"])
    assert set(questions[0]) >= {"key", "question", "type", "required"}
    assert [row["required"] for row in questions] == ["yes"] * 15
    world.documents.save_form_response(CASE, {"request_plan_name": "Gold PPO"})
    again = present(form_page(world.documents.list_required_forms(CASE)))
    assert "| Gold PPO" in again
    assert max(map(again.count, (row["key"] for row in questions))) == 1


def test_answers_and_documents_of_a_packet_are_told_once() -> None:
    world = office(required_questionnaire_answers={"c1": "yes"})
    key = "request_plan_name"
    fill(world)
    told = present(form_page(world.documents.save_form_response(CASE, {key: "Gold PPO"})))
    assert told.count(key) == 1
    made: Any = world.documents.create_submission_bundle(CASE, ("DOC-1", "DOC-2"))
    page = present(packet_page(made))
    assert page.count(key) == 1
    assert page.count("DOC-1") == 2  # in the list of ids, and with kind and title
    assert "goes_with_it: chart summary, answered forms" in page
    assert "extras" not in page


def test_a_packet_that_is_read_says_in_words_what_goes_with_it() -> None:
    world = office()
    page = document_page(world.documents.get(bundle(world)))
    assert page["goes_with_it"] == ["chart summary", "answered forms"]
    bare: Any = world.documents.create_submission_bundle(CASE, ("DOC-1",), False, False)
    assert document_page(bare["bundle_document"])["goes_with_it"] == "nothing else"


def test_a_case_is_shown_without_its_row_of_the_work_list() -> None:
    world = office()
    view = world.cases.get_case(CASE)
    page = sections(present(case_page(view)))
    assert "summary" not in page
    whole = present(case_page(view))
    for name, value in dict(view["summary"]).items():  # type: ignore[call-overload]
        if name != "patient_name" and value:
            assert scalar(value) in whole, name
    listed = world.cases.list_cases()
    assert case_page(listed) == listed


def test_an_appeal_in_several_paragraphs_is_read_to_its_end() -> None:
    said = "Dear colleagues,\n\nMP-HOM-012 2026.1 is in force.\nThank you."
    file = present({"appeal": {"id": "APL-1", "rationale": said, "status": "open"}})
    assert "MP-HOM-012 2026.1" in rationale_in(file)
    assert "open" not in rationale_in(file)
    assert rationale_in(present({"rationale": "On one line."})).strip() == "On one line."
    assert not rationale_in("nothing")
