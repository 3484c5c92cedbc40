"""The provider's 27 tools outside of calls, as they were published."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from healthgym.core.tool import ToolKind, ToolSpec
from healthgym.envs.managed_care.tools.auth import AuthToolset
from healthgym.envs.managed_care.tools.base import OfficeToolset
from healthgym.envs.managed_care.tools.cases import CasesToolset
from healthgym.envs.managed_care.tools.chart import ChartToolset
from healthgym.envs.managed_care.tools.docs import DocsToolset
from healthgym.envs.managed_care.tools.forms import FormsToolset
from healthgym.envs.managed_care.tools.inbox import InboxToolset
from healthgym.envs.managed_care.tools.people import PeopleToolset
from healthgym.worlds.managed_care.vocabulary import authorization
from healthgym.worlds.managed_care.workflow import next_actions
from tests.worlds.managed_care.apps.provider.office import CASE, ORDER, office, send
from tests.worlds.managed_care.replay import call

TOOLSETS: tuple[type[OfficeToolset], ...] = (
    AuthToolset,
    CasesToolset,
    ChartToolset,
    DocsToolset,
    FormsToolset,
    InboxToolset,
    PeopleToolset,
)
#: Name, kind, whether it is required, and default of each argument, by tool.
PUBLISHED: Mapping[str, list[list[Any]]] = json.loads(
    (Path(__file__).parent / "provider_tools.json").read_text("utf-8")
)
WORDS = {"string": "string", "integer": "integer", "boolean": "boolean", "object": "map"}
READS = {
    "auth.check_status",
    "cases.get_case",
    "cases.list_cases",
    "chart.get_patient_chart_by_patient",
    "chart.list_candidate_orders",
    "chart.search_patients",
    "docs.get_document",
    "docs.list_case_documents",
    "forms.list_required_forms",
    "forms.validate_form",
    "inbox.list_messages",
    "people.list_contacts",
    "people.list_ordering_providers",
    "people.list_reviewer_contacts",
}


def specs() -> dict[str, ToolSpec]:
    return {spec.name: spec for kind in TOOLSETS for spec in kind.specs()}


def kind_of(schema: Mapping[str, Any]) -> str:
    """The kind of an argument in the words of the fixture."""
    if "enum" in schema:
        values = schema["enum"]
        name = next(
            name
            for name, enum in vars(authorization).items()
            if isinstance(enum, type)
            and enum.__module__.startswith(authorization.__name__)
            and [str(member) for member in enum] == values  # type: ignore[var-annotated,attr-defined]
        )
    elif schema["type"] == "array":
        inner = schema["items"]
        name = "SubmissionLineUpdate" if "properties" in inner else WORDS[inner["type"]]
        name = f"list[{name}]"
    else:
        name = "date-time" if schema.get("format") == "date-time" else WORDS[schema["type"]]
    return name + ("?" if schema.get("nullable") else "")


def test_every_tool_is_there() -> None:
    assert specs().keys() == PUBLISHED.keys()
    assert len(PUBLISHED) == 27


@pytest.mark.parametrize("name", sorted(PUBLISHED))
def test_a_tool_takes_the_published_arguments(name: str) -> None:
    spec = specs()[name]
    shown = spec.parameters.get("properties", {})
    required = spec.parameters.get("required", [])
    expected = {row[0]: tuple(row[1:3]) for row in PUBLISHED[name]}
    assert {key: (kind_of(part), key in required) for key, part in shown.items()} == expected
    defaults = {key: parameter.default for key, parameter in spec.signature.parameters.items()}
    for key, _, needed, default in PUBLISHED[name]:
        assert needed or defaults[key] == default


@pytest.mark.parametrize("name", sorted(PUBLISHED))
def test_a_tool_explains_itself(name: str) -> None:
    spec = specs()[name]
    assert spec.takes is not None
    assert spec.kind is (ToolKind.READ if name in READS else ToolKind.WRITE)
    for part in spec.parameters.get("properties", {}).values():
        assert part["description"].endswith(".")
        if part.get("type") == "string" and "enum" not in part and "note" not in part:
            assert len(part["description"]) > 20


@pytest.mark.parametrize("name", sorted(READS))
def test_a_look_changes_nothing_and_is_shown_as_text(name: str) -> None:
    world = office()
    send(world)
    given = {
        "case_id": CASE,
        "patient_id": "P1",
        "document_id": "DOC-1",
        "channel": "portal",
    }
    asked = {row[0] for row in PUBLISHED[name] if row[2]}
    before = world.content_digest()
    answer = call(world, f"provider/{name}", {key: given[key] for key in asked})
    assert not answer.refusal
    assert world.content_digest() == before
    text = OfficeToolset(world).show(answer.result)
    assert text.strip()
    assert len(text) < 8_000


def test_the_example_of_a_time_is_taken_as_it_stands() -> None:
    spec = specs()["cases.create_from_order"]
    told = spec.parameters["properties"]["requested_date"]["description"]
    (example,) = re.findall(r'"([^"]+)"', told)
    world = office()
    words = {key: str(value) for key, value in ORDER.items()}
    arguments = {**words, "diagnosis_codes": ["G43.9"], "requested_date": example}
    answer = call(world, "provider/cases.create_from_order", arguments)
    assert not answer.refusal
    made = world.cases.order(world.cases.get("CASE-ACT-001").service_request_id)
    assert made.requested_date == datetime.fromisoformat(example)


def test_what_may_be_done_next_is_done_with_tools_that_there_are() -> None:
    known = {spec.name for toolset in TOOLSETS for spec in toolset.specs()}
    for status in authorization.CaseStatus:
        assert set(next_actions(office(status=status), CASE)) <= known, status
