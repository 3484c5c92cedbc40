"""The sixteen tools of care management, as they were published."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from healthgym.core.tool import ToolKind, ToolSpec
from healthgym.envs.managed_care.tools.base import OfficeToolset
from healthgym.envs.managed_care.tools.cm_assessment import AssessmentTools
from healthgym.envs.managed_care.tools.cm_care_plan import CarePlanTools
from healthgym.envs.managed_care.tools.cm_chart import CareChartTools
from healthgym.envs.managed_care.tools.cm_intake import CareIntakeTools
from healthgym.envs.managed_care.tools.cm_outreach import OutreachTools
from healthgym.worlds.managed_care.world import ManagedCareWorld
from tests.worlds.managed_care.apps.care_management.walk import CASE, SESSION, at_stage

TOOLSETS: tuple[type[OfficeToolset], ...] = (
    CareIntakeTools,
    CareChartTools,
    OutreachTools,
    AssessmentTools,
    CarePlanTools,
)
#: Names of the arguments by tool; the optional ones in brackets.
PUBLISHED: Mapping[str, str] = {
    "cm_intake.list_referral_queue": "",
    "cm_intake.get_referral": "referral_id",
    "cm_intake.open_case": "referral_id priority program",
    "cm_intake.disenroll_case": "case_id reason",
    "cm_chart.get_chart_data": "case_id",
    "cm_chart.submit_chart_review": "case_id review",
    "cm_outreach.start_outreach_call": "case_id",
    "cm_outreach.send_message": "session_id message",
    "cm_outreach.get_transcript": "session_id",
    "cm_outreach.end_outreach_call": "session_id summary",
    "cm_assessment.start_assessment": "case_id",
    "cm_assessment.save_section": "case_id payload [blocked_reason]",
    "cm_assessment.complete_assessment": "case_id",
    "cm_care_plan.create_draft": "case_id",
    "cm_care_plan.save_care_plan": "case_id plan_data",
    "cm_care_plan.finalize": "case_id",
}
READS = {
    "cm_intake.list_referral_queue",
    "cm_intake.get_referral",
    "cm_chart.get_chart_data",
    "cm_outreach.get_transcript",
}


def specs() -> Mapping[str, ToolSpec]:
    return {spec.name: spec for kind in TOOLSETS for spec in kind.specs()}


def test_names_arguments_and_kinds_are_the_published_ones() -> None:
    found = {}
    for name, spec in specs().items():
        required = spec.parameters.get("required", [])
        names = spec.parameters["properties"]
        found[name] = " ".join(key if key in required else f"[{key}]" for key in names)
    assert found == PUBLISHED
    for name, spec in specs().items():
        assert spec.kind is (ToolKind.READ if name in READS else ToolKind.WRITE)
        assert spec.takes is not None


def test_a_section_is_one_of_four_records() -> None:
    payload = specs()["cm_assessment.save_section"].parameters["properties"]["payload"]
    announced = [option["properties"]["section"]["const"] for option in payload["oneOf"]]
    assert announced == ["clinical", "medication", "behavioral_health", "sdoh"]
    score = payload["oneOf"][2]["properties"]["data"]["properties"]["phq9_score"]
    assert (score["minimum"], score["maximum"]) == (0, 27)


def test_priorities_and_programmes_are_the_published_words() -> None:
    properties = specs()["cm_intake.open_case"].parameters["properties"]
    assert properties["priority"]["enum"] == ["urgent", "high", "standard"]
    assert properties["program"]["enum"] == [
        "complex_care",
        "chronic_disease",
        "transitions_of_care",
        "behavioral_health",
    ]


@pytest.fixture
def closed() -> ManagedCareWorld:
    return at_stage("closed")


def test_reading_changes_nothing_and_shows_tables(closed: ManagedCareWorld) -> None:
    before = closed.digest()
    queue = CareIntakeTools(closed).list_referral_queue()
    assert queue.splitlines()[0].startswith("referral_id | case_id")
    assert "Ida Roe" in CareIntakeTools(closed).get_referral("REF-1")
    chart = CareChartTools(closed).get_chart_data(CASE)
    assert "metformin 500 mg" in chart
    assert len(chart) < 1_500
    transcript = OutreachTools(closed).get_transcript(SESSION)
    assert "care_manager | " in transcript
    assert "patient | Yes, that is fine." in transcript
    assert closed.digest() == before
