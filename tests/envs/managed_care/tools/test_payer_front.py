"""The sixteen tools of intake and triage as they were published, and the extended ones."""

from __future__ import annotations

import inspect
from dataclasses import replace
from typing import Any

import pytest

from healthgym.core.schema import validate
from healthgym.core.tool import Caller, ToolKind, ToolSpec
from healthgym.envs.managed_care.tools.base import OfficeToolset
from healthgym.envs.managed_care.tools.front_doors import (
    ApiGatewayToolset,
    CallCenterToolset,
    EdiGatewayToolset,
    FaxRoomToolset,
    PortalToolset,
)
from healthgym.envs.managed_care.tools.payer_audit import AuditToolset
from healthgym.envs.managed_care.tools.payer_intake_extended import IntakeExtendedToolset
from healthgym.envs.managed_care.tools.payer_intake_hub import IntakeHubToolset
from healthgym.envs.managed_care.tools.payer_policy_library import PolicyLibraryToolset
from healthgym.envs.managed_care.tools.triage import TriageToolset
from healthgym.errors import ToolError
from healthgym.worlds.managed_care.vocabulary.authorization import (
    AuthorizationType,
    IntakeStatus,
    PayerRouteTarget,
    ProviderNetworkStatus,
    SubmissionChannel,
    TriageDisposition,
    TriageUrgency,
)
from healthgym.worlds.managed_care.world import ManagedCareWorld
from tests.worlds.managed_care.apps.payer.desk import CASE, intake, world

NO = inspect.Parameter.empty
#: Kind, and each argument with its default.
PUBLISHED: dict[str, tuple[str, dict[str, Any]]] = {
    "payer_intake_hub.list_intake_queue": ("read", {}),
    "payer_intake_hub.get_intake_case": ("read", {"case_id": NO}),
    "payer_intake_hub.create_intake_case": ("write", {"case_id": NO, "auth_type": "sp"}),
    "payer_intake_hub.save_auth_header": ("write", {"case_id": NO, "data": NO}),
    "payer_intake_hub.save_diagnoses": ("write", {"case_id": NO, "data": NO}),
    "payer_intake_hub.save_requesting_provider": ("write", {"case_id": NO, "data": NO}),
    "payer_intake_hub.add_line_item": ("write", {"case_id": NO, "item_data": NO}),
    "payer_intake_hub.update_line_item": (
        "write",
        {"case_id": NO, "line_number": NO, "item_data": NO},
    ),
    "payer_intake_hub.remove_line_item": ("write", {"case_id": NO, "line_number": NO}),
    "payer_intake_hub.list_documents": ("read", {"case_id": NO}),
    "payer_intake_hub.confirm_decisions": (
        "write",
        {
            "case_id": NO,
            "request_complete": NO,
            "member_eligible": NO,
            "service_covered": NO,
            "provider_network_status": NO,
        },
    ),
    "triage.get": ("read", {"case_id": NO}),
    "triage.calculate_sla": ("read", {"case_id": NO, "urgency_level": NO, "state": None}),
    "triage.check_gold_card": (
        "read",
        {"case_id": NO, "provider_npi": None, "service_category": None},
    ),
    "triage.set_disposition": (
        "write",
        {
            "case_id": NO,
            "urgency_level": NO,
            "sla_deadline": NO,
            "sla_hours": None,
            "sla_rule_source": None,
            "gold_card_eligible": False,
            "disposition": "nurse_review",
            "disposition_reason": "",
            "actor": "SYSTEM",
        },
    ),
    "triage.route_case": ("write", {"case_id": NO, "actor": "agent", "override_target": None}),
}
CHOICES = {
    ("payer_intake_hub.create_intake_case", "auth_type"): AuthorizationType,
    ("payer_intake_hub.confirm_decisions", "provider_network_status"): ProviderNetworkStatus,
    ("triage.calculate_sla", "urgency_level"): TriageUrgency,
    ("triage.set_disposition", "urgency_level"): TriageUrgency,
    ("triage.set_disposition", "disposition"): TriageDisposition,
    ("triage.route_case", "override_target"): PayerRouteTarget,
}
EXTENDED = {
    "payer_intake_hub": {"lookup_procedures", "save_servicing_facility"},
    "payer_policy_library": {"list_categories", "search", "get_file"},
    "payer_portal": {"submit", "upload", "status", "appeal"},
    "payer_api_gateway": {"submit_request", "update_request", "cancel_request", "status_inquiry"},
    "payer_edi_gateway": {
        "submit_278_request",
        "submit_275_attachment_ref",
        "inquire_status",
    },
    "payer_fax_room": {"receive", "index", "attach", "mark_unreadable"},
    "payer_call_center": {"create_intake", "record_note", "create_callback"},
    "payer_audit": {
        "get_case_timeline",
        "get_sla_status",
        "check_role_compliance",
        "check_reviewer_independence",
        "check_letter_completeness",
        "check_policy_citation_quality",
        "check_decision_consistency",
        "summarize_case_quality",
    },
}
TOOLSETS: tuple[type[OfficeToolset], ...] = (IntakeHubToolset, TriageToolset)
EXTENDED_TOOLSETS: tuple[type[OfficeToolset], ...] = (
    IntakeExtendedToolset,
    PolicyLibraryToolset,
    PortalToolset,
    ApiGatewayToolset,
    EdiGatewayToolset,
    FaxRoomToolset,
    CallCenterToolset,
    AuditToolset,
)
SPECS: dict[str, tuple[type[OfficeToolset], ToolSpec]] = {
    spec.name: (kind, spec) for kind in (*TOOLSETS, *EXTENDED_TOOLSETS) for spec in kind.specs()
}


def _play(desk: ManagedCareWorld, name: str, **arguments: object) -> str:
    """Play a call as the engine does, and return what the agent reads."""
    kind, spec = SPECS[name]
    given = validate(spec.model, spec.identifier, spec.usage, arguments)
    shown = spec.function(kind(desk, Caller("payer", desk.actor, desk.clock)), **given)
    assert isinstance(shown, str)
    return shown


def test_names_are_the_published_ones() -> None:
    assert {spec.name for kind in TOOLSETS for spec in kind.specs()} == set(PUBLISHED)


@pytest.mark.parametrize("name", PUBLISHED)
def test_kind_arguments_and_defaults_are_the_published_ones(name: str) -> None:
    kind, arguments = PUBLISHED[name]
    spec = SPECS[name][1]
    assert spec.kind == kind
    assert {p.name: p.default for p in spec.signature.parameters.values()} == arguments


@pytest.mark.parametrize(("name", "argument"), CHOICES, ids=lambda value: value)
def test_words_are_the_published_ones(name: str, argument: str) -> None:
    schema = SPECS[name][1].parameters["properties"][argument]
    assert schema["enum"] == [member.value for member in CHOICES[name, argument]]


def test_the_extended_surface_has_the_declared_names() -> None:
    found: dict[str, set[str]] = {}
    for kind in EXTENDED_TOOLSETS:
        found.setdefault(kind.namespace, set()).update(spec.method for spec in kind.specs())
    assert found == EXTENDED


@pytest.mark.parametrize("channel", ["portal", "api", "fax", "edi", "phone"])
def test_the_manual_names_each_method_by_which_requests_come_in(channel: str) -> None:
    assert channel in set(SubmissionChannel)
    _, spec = SPECS["payer_intake_hub.save_auth_header"]
    fields = spec.parameters["properties"]["data"]["properties"]
    assert f"'{channel}'" in fields["method"]["description"]


def test_records_refuse_fields_that_they_do_not_have() -> None:
    desk = world(intake(IntakeStatus.IN_PROGRESS))
    with pytest.raises(ToolError, match="colour"):
        _play(desk, "payer_intake_hub.save_auth_header", case_id=CASE, data={"colour": "red"})


def test_the_desk_is_played_from_the_first_entry_to_the_lane() -> None:
    bare = replace(intake(IntakeStatus.NEW), line_items=())
    desk = world(bare)
    line = {"line_number": 0, "procedures": [{"name": "Ablation", "code": "93653"}]}
    assert "status: in_progress" in _play(
        desk, "payer_intake_hub.add_line_item", case_id=CASE, item_data=line
    )
    assert "workflow_state" in _play(desk, "payer_intake_hub.get_intake_case", case_id=CASE)
    done = _play(
        desk,
        "payer_intake_hub.confirm_decisions",
        case_id=CASE,
        request_complete=True,
        member_eligible=True,
        service_covered=True,
        provider_network_status="in_network",
    )
    assert "status: complete" in done
    limit = _play(desk, "triage.calculate_sla", case_id=CASE, urgency_level="routine")
    assert "sla_deadline: 2026-03-16T14:00" in limit
    _play(
        desk,
        "triage.set_disposition",
        case_id=CASE,
        urgency_level="routine",
        sla_deadline="2026-03-16T14:00",
        disposition_reason="The policy asks for a review.",
    )
    routed = _play(desk, "triage.route_case", case_id=CASE)
    assert "recommended_target: standard_um" in routed
    assert "triage.set_disposition" in _play(desk, "payer_audit.get_case_timeline", case_id=CASE)


READS = [
    name
    for name, (_, spec) in SPECS.items()
    if spec.kind is ToolKind.READ and list(spec.signature.parameters) in ([], ["case_id"])
]


@pytest.mark.parametrize("name", [name for name in READS if "create_intake" not in name])
def test_reading_leaves_the_contents_as_they_are(name: str) -> None:
    desk = world(intake())
    before = desk.content_digest()
    arguments = {"case_id": CASE} if SPECS[name][1].signature.parameters else {}
    assert _play(desk, name, **arguments)
    assert desk.content_digest() == before
