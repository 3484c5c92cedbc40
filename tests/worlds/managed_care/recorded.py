"""The worlds in which recorded sequences begin: fixtures, and records made of them."""

from __future__ import annotations

import importlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from healthgym.worlds.managed_care.charts.chart import ChartLibrary, PatientChart
from healthgym.worlds.managed_care.contracts import PeerContract
from healthgym.worlds.managed_care.records.care import CMReferral
from healthgym.worlds.managed_care.records.case import PriorAuthCase, PriorAuthLine
from healthgym.worlds.managed_care.records.chart import (
    Condition,
    Coverage,
    DocumentReference,
    Encounter,
    MedicationRequest,
    Observation,
    Patient,
    ServiceRequest,
)
from healthgym.worlds.managed_care.records.intake import IntakeCase
from healthgym.worlds.managed_care.records.people import (
    DirectoryContact,
    Organization,
    Practitioner,
)
from healthgym.worlds.managed_care.records.policy import CasePolicy
from healthgym.worlds.managed_care.rules import Rules
from healthgym.worlds.managed_care.staff import Staff
from healthgym.worlds.managed_care.start import WorldStart
from healthgym.worlds.managed_care.vocabulary.authorization import PayerMode
from healthgym.worlds.managed_care.world import ManagedCareWorld

Json = Any

VECTORS = Path(__file__).parent / "vectors"
#: The rule card of most recorded cases.
POLICY = {
    "required_documents": ["chart_note", "progress_note"],
    "required_diagnosis_codes": ["I48.0"],
    "policy_summary": "Ablation rule",
    "policy_citations": ["CP-1 s2"],
    "route_target": "standard_um",
}
#: The intake record of most recorded cases.
INTAKE = {
    "auth_type": "sp",
    "status": "complete",
    "received_at": "2026-03-13T09:00:00",
    "state": "",
    "requesting_provider": {
        "provider_name": "Dr Orsini",
        "provider_id": "PR-1",
        "npi": "1111111111",
    },
}


@cache
def vectors(name: str) -> tuple[Mapping[str, Json], ...]:
    """Return the rows of a fixture."""
    text = (VECTORS / f"{name}.jsonl").read_text("utf-8")
    return tuple(json.loads(line) for line in text.splitlines())


@cache
def base() -> Mapping[str, Json]:
    """Return the records that every replay starts from."""
    loaded: Mapping[str, Json] = json.loads((VECTORS / "base.json").read_text("utf-8"))
    return loaded


def traces(*groups: str) -> list[Mapping[str, Json]]:
    """Return the traces of some groups."""
    return [row for row in vectors("traces") if row["group"] in groups]


def guards(*names: str) -> list[Mapping[str, Json]]:
    """Return the guard cells of some tools: ``auth.file_appeal``."""
    return [row for row in vectors("guards") if row["do"].split("/")[1] in names]


def record(kind: type, row: Mapping[str, Json]) -> Any:
    """Return a record from JSON; times without a zone are UTC."""
    return _aware(TypeAdapter(kind).validate_python(dict(row)))


def build(setup: Mapping[str, Json], domain: str, rules: Rules = Rules.COMPAT) -> ManagedCareWorld:
    """Return the world in which a recorded sequence begins."""
    if domain == "care_management":
        return ManagedCareWorld(_care_start(setup, rules))
    return ManagedCareWorld(_authorization_start(setup, rules))


def _authorization_start(setup: Mapping[str, Json], rules: Rules) -> WorldStart:
    rows = base()["pa_um"]
    listed = setup.get("contacts")
    contacts = [
        record(DirectoryContact, {"name": "N", "email": "n@x.test", "phone": "555"} | row)
        for row in (rows["contacts"] if listed is None else listed)
    ]
    contract = setup.get("peer_to_peer_contract")
    return WorldStart(
        now=datetime(2026, 3, 13, 9, tzinfo=UTC),
        provider=record(Organization, rows["provider_org"]),
        payer=record(Organization, rows["payer_org"]),
        staff=Staff((), tuple(contacts), tuple(_all(Practitioner, rows["practitioners"]))),
        charts=_library(rows, setup.get("coverage_patch") or {}),
        records=tuple(_case_records(setup)),
        rules=rules,
        payer_mode=PayerMode(setup.get("payer_mode", "agent")),
        letters_queued=bool(setup.get("agent_owned_payer_flow")),
        contracts={"CASE-T": peer_contract(contract)} if contract else {},
        counters={"SR-": 13},
    )


def _care_start(setup: Mapping[str, Json], rules: Rules) -> WorldStart:
    rows = base()["care_management"]
    organization = Organization(id="ORG-CM", name="Care management", kind="payer")
    extra = {}
    if "voices" in {item.name for item in fields(WorldStart)}:
        extra["voices"] = importlib.import_module(
            "tests.worlds.managed_care.finals_care"
        ).voices_of(setup)
    return WorldStart(
        now=datetime(2026, 3, 13, 9, tzinfo=UTC),
        provider=organization,
        payer=organization,
        staff=Staff((), (), ()),
        charts=_library(rows, {}),
        records=tuple(_all(CMReferral, rows["referrals"])),
        rules=rules,
        **extra,
    )


def peer_contract(row: Mapping[str, Json]) -> PeerContract:
    """Return what the other side of a recorded call held."""
    plan = row.get("coordination_contract") or {}
    event = row.get("event_contract") or {}
    ending = row.get("determination_contract") or {}
    facts = [
        {
            "id": f"K{n}",
            "text": fact["text"],
            "reveal_mode": fact["reveal_mode"],
            "topics": fact.get("trigger_tags", []),
        }
        for n, fact in enumerate(event.get("counterpart_facts", []), 1)
    ]
    known = {
        "side": row["benchmark_side"],
        "turn_limit": row.get("turn_limit", 8),
        "fixed_result": row.get("fixed_result"),
        "offered_slots": plan.get("offered_slots", []),
        "slot_rule": plan.get("slot_selection_rule", "first_offered"),
        "opening": event.get("opening_statement", ""),
        "facts": facts,
        "expected_decision": ending.get("expected_decision"),
    }
    return record(PeerContract, known)


def _case_records(setup: Mapping[str, Json]) -> Iterator[object]:
    for row in setup.get("cases", []):
        yield from case_records(row["id"], row["status"], row.get("urgency", "standard"))
        if row.get("policy") is not None:
            card = {k: v for k, v in POLICY.items() if k not in row["policy"].get("-", ())}
            card |= {k: v for k, v in row["policy"].items() if k != "-"}
            yield record(CasePolicy, {"id": f"POL-{row['id']}", "case_id": row["id"]} | card)
    for row in setup.get("intakes", []):
        desk = {k: v for k, v in INTAKE.items() if k not in row.get("-", ())}
        own = {k: v for k, v in row.items() if k != "-"}
        yield record(IntakeCase, {"id": f"intake-{row['case_id']}"} | desk | own)


def case_records(case: str, status: str, urgency: str = "standard") -> Iterator[object]:
    """Return a case of the base world and its line."""
    now = datetime(2026, 3, 13, 9, tzinfo=UTC)
    yield record(
        PriorAuthCase,
        {
            "id": case,
            "external_case_id": case.replace("CASE-", "PA-"),
            "patient_id": "P1",
            "service_request_id": "SR-010",
            "status": status,
            "urgency": urgency,
            "requested_by": "PR-1",
            "assigned_to": "C-PA",
            "created_at": now,
            "updated_at": now,
            "decision_due_at": "2026-03-20T09:00:00",
        },
    )
    yield record(
        PriorAuthLine,
        {
            "id": f"LINE-{case}",
            "case_id": case,
            "line_number": 1,
            "procedure_code": "93653",
            "diagnosis_codes": ["I48.0"],
            "site_of_service": "outpatient_hospital",
        },
    )


def _library(rows: Mapping[str, Json], patches: Mapping[str, Json]) -> ChartLibrary:
    charts = []
    for patient in _all(Patient, rows["patients"]):

        def of(kind: type, table: str, owner: str = patient.id) -> tuple[Any, ...]:
            found = [row for row in rows.get(table, []) if row["patient_id"] == owner]
            patch = patches.get(owner, {}) if table == "coverages" else {}
            return tuple(_all(kind, [row | patch for row in found]))

        charts.append(
            PatientChart(
                patient=patient,
                coverages=of(Coverage, "coverages"),
                encounters=of(Encounter, "encounters"),
                conditions=of(Condition, "conditions"),
                observations=of(Observation, "observations"),
                medications=of(MedicationRequest, "medication_requests"),
                documents=of(DocumentReference, "documents"),
                orders=of(ServiceRequest, "service_requests"),
            )
        )
    return ChartLibrary(charts)


def _all(kind: type, rows: Sequence[Mapping[str, Json]]) -> list[Any]:
    return [record(kind, row) for row in rows]


def _aware(value: Any) -> Any:
    """Return a record whose times have a zone."""
    if isinstance(value, datetime):
        return value if value.tzinfo else value.replace(tzinfo=UTC)
    if isinstance(value, tuple):
        return tuple(_aware(item) for item in value)
    if is_dataclass(value) and not isinstance(value, type):
        return replace(value, **{f.name: _aware(getattr(value, f.name)) for f in fields(value)})
    return value
