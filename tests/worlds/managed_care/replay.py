"""Replay of recorded behaviour of the source's simulator against this world.

The fixtures in ``vectors/`` are compact records of what the public simulator answered: sequences of
calls (``traces.jsonl``), one call from every status (``guards.jsonl``) and every ordered pair of
statuses (``edges.jsonl``). A replay builds the world they start from in the compatibility mode,
plays the calls through the tools, and returns what differs.

Calls go through the toolsets with ``show`` replaced by the identity, so that names, schemas and
structure of the answers are proven together.
"""

from __future__ import annotations

import importlib
import json
import pkgutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from healthgym.core.schema import validate
from healthgym.core.tool import Caller, ToolSpec
from healthgym.envs.managed_care import tools
from healthgym.envs.managed_care.tools.base import OfficeToolset
from healthgym.errors import ToolError
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
from healthgym.worlds.managed_care.vocabulary.authorization import CaseStatus, PayerMode
from healthgym.worlds.managed_care.world import ManagedCareWorld
from tests.worlds.managed_care import finals



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
#: What the recorded calls on services without a tool are called here.
HIDDEN = {"coverage.check_requirement": ("cases", "check_requirement")}
Json = Any


class MissingToolError(Exception):
    """The call needs a tool that is not there."""


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


# -- worlds --------------------------------------------------------------------------------------


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


# -- calls ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Answer:
    """What came of a call.

    Attributes:
        result: What the tool returned; None if the call was refused.
        refusal: Why it was refused; empty if it was not.
        audit: Rows the call added to the log, by name.
        transitions: Changes of status it made.
    """

    result: object
    refusal: str
    audit: tuple[str, ...]
    transitions: tuple[tuple[str, str], ...]


@cache
def catalog() -> Mapping[str, tuple[ToolSpec, type[OfficeToolset]]]:
    """Return every tool by its full name."""
    for module in pkgutil.iter_modules(tools.__path__, f"{tools.__name__}."):
        importlib.import_module(module.name)
    found: dict[str, tuple[ToolSpec, type[OfficeToolset]]] = {}
    waiting: list[type[OfficeToolset]] = [OfficeToolset]
    while waiting:
        kind = waiting.pop()
        waiting += kind.__subclasses__()
        found |= {spec.name: (spec, kind) for spec in kind.specs()}
    return found


def call(world: ManagedCareWorld, door: str, arguments: Mapping[str, Json]) -> Answer:
    """Play one call, as a transaction, and return what came of it.

    Args:
        world: The world.
        door: Surface and tool: ``payer/triage.get``.
        arguments: As they were sent.

    Raises:
        MissingToolError: If there is no such tool.
    """
    surface, _, name = door.partition("/")
    last = _count(world)
    savepoint = world.journal.begin()
    try:
        result = _play(world, surface, name, arguments)
    except ToolError as error:
        world.journal.rollback(savepoint)
        return Answer(None, str(error), (), ())
    world.journal.commit()
    rows = [row for row in (*world.history.entries, *world.history.looks) if row.number > last]
    rows.sort(key=lambda row: row.number)
    return Answer(
        result,
        "",
        tuple(row.name for row in rows if row.kind == "audit"),
        tuple((row.source, row.action) for row in rows if row.kind == "transition"),
    )


def _count(world: ManagedCareWorld) -> int:
    return len(world.history.entries) + len(world.history.looks)


def _play(world: ManagedCareWorld, surface: str, name: str, arguments: Mapping[str, Json]) -> Any:
    if surface == "core":
        return world.cases.move(arguments["case_id"], CaseStatus(arguments["to"]), "SYSTEM")
    if surface == "hidden":
        app, operation = HIDDEN.get(name, ("appeals", name.partition(".")[2]))
        return getattr(getattr(world, app), operation)(**arguments)
    if name not in catalog():
        raise MissingToolError(name)
    spec, kind = catalog()[name]
    toolset = kind(world, Caller(surface, world.actor, world.clock))
    toolset.__dict__["show"] = lambda result: result
    given = validate(spec.model, spec.identifier, spec.usage, dict(arguments))
    return spec.function(toolset, **given)


# -- comparison ----------------------------------------------------------------------------------


def replay(trace: Mapping[str, Json]) -> list[str]:
    """Play a recorded sequence; return what differs, call by call and at the end."""
    world = build(trace["setup"], trace["domain"])
    bound: dict[str, object] = {}
    status: Mapping[str, str] = {}
    found: list[str] = []
    dirty = False
    for number, step in enumerate(trace["calls"], 1):
        answer = call(world, step["do"], substitute(step["args"], bound))
        status = step.get("after", status)
        dirty = dirty or bool(step.get("residue"))
        where = f"{trace['id']} call {number} {step['do']}"
        told = list(_differences(step, answer, bound))
        if status != statuses(world) and not dirty:
            told.append(f"statuses {statuses(world)}, recorded {dict(status)}")
        found += [f"{where}: {line}" for line in told]
        for name, path in step.get("bind", {}).items():
            if not answer.refusal:
                bound[name] = at(answer.result, path)
    if not dirty and not trace.get("order_dependent_in_source"):
        ours = finals.of(world, trace["domain"])
        if ours != trace["final"]:
            found.append(f"{trace['id']} final {difference(ours, trace['final'])}")
    return found


def _differences(
    step: Mapping[str, Json], answer: Answer, bound: Mapping[str, object]
) -> Iterator[str]:
    if step.get("unordered"):
        return
    if "refused" in step:
        if not answer.refusal:
            yield f"accepted, recorded {step['refused']}"
        return
    if answer.refusal:
        yield f"refused ({answer.refusal})"
        return
    for path, value in step.get("shows", {}).items():
        yield from compared(answer.result, path, substitute(value, bound))
    if answer.audit != tuple(step.get("audit", ())):
        yield f"audit {answer.audit}, recorded {step.get('audit', [])}"
    moves = [list(pair) for pair in answer.transitions]
    if moves != step.get("transitions", []):
        yield f"transitions {moves}, recorded {step.get('transitions', [])}"


def compared(result: object, path: str, value: Json) -> Iterator[str]:
    """Compare one value of an answer with the record."""
    try:
        ours = plain(at(result, path))
    except (KeyError, IndexError, AttributeError, TypeError) as error:
        yield f"{path} is missing ({error!r})"
        return
    if value == "<default sentence>":
        if not isinstance(ours, str) or not ours.strip():
            yield f"{path} is {ours!r}, recorded some text"
    elif ours != value:
        yield f"{path} is {ours!r}, recorded {value!r}"


def at(result: object, path: str) -> Any:
    """Return what stands at a path of an answer: ``case.id``, ``items.#`` for a length."""
    for part in path.split("."):
        if part == "#":
            result = len(result)  # type: ignore[arg-type]
        elif isinstance(result, Mapping):
            result = result[part]
        elif isinstance(result, Sequence) and not isinstance(result, str):
            result = result[int(part)]
        else:
            result = getattr(result, part)
    return result


def plain(value: object) -> Json:
    """Return a value as the records have it."""
    if isinstance(value, datetime):
        return value.replace(tzinfo=None).isoformat()
    if isinstance(value, str):
        return str(value)
    if isinstance(value, tuple | list):
        return [plain(item) for item in value]
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    return value


def substitute(value: Json, bound: Mapping[str, object]) -> Json:
    """Put in what earlier calls returned for names such as ``$a``."""
    if isinstance(value, str):
        return bound.get(value, value)
    if isinstance(value, list):
        return [substitute(item, bound) for item in value]
    if isinstance(value, dict):
        return {key: substitute(item, bound) for key, item in value.items()}
    return value


def statuses(world: ManagedCareWorld) -> dict[str, str]:
    """Return the status of every case."""
    cases = {case.id: str(case.status) for case in world.cases.cases.values()}
    return cases | {case.case_id: str(case.status) for case in world.referrals.cases.values()}


def difference(ours: Json, recorded: Json, path: str = "") -> str:
    """Return the first places in which two JSON values differ."""
    if isinstance(ours, dict) and isinstance(recorded, dict):
        keys = sorted({*ours, *recorded})
        told = [
            difference(ours.get(key), recorded.get(key), f"{path}.{key}".strip("."))
            for key in keys
            if ours.get(key) != recorded.get(key)
        ]
        return "; ".join(told)
    return f"{path}: {ours!r}, recorded {recorded!r}"
