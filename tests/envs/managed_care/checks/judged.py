"""Recorded runs that the source's verifier judged: replayed here, and judged by ours.

A row of ``vectors.jsonl`` holds what the run started from, its calls, what was expected, and which
checks passed, failed or did not apply. What it shares with the first row of its family is left out
(``like``, ``same_calls``); checks that never apply are left out, too.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from healthgym.core.verdict import CheckResult
from healthgym.envs.managed_care.checks.expectation import Expectation
from healthgym.worlds.managed_care import relay
from healthgym.worlds.managed_care.charts.chart import ChartLibrary
from healthgym.worlds.managed_care.records.chart import (
    DocumentReference,
    MedicationRequest,
    Observation,
)
from healthgym.worlds.managed_care.records.peer import P2PSessionRecord
from healthgym.worlds.managed_care.records.policy import CasePolicy
from healthgym.worlds.managed_care.world import ManagedCareWorld
from tests.envs.managed_care.checks.reading import read_expectation
from tests.worlds.managed_care.recorded import build, peer_contract, record
from tests.worlds.managed_care.replay import at, call, substitute

Json = Any
Row = Mapping[str, Json]
#: What a recorded check says.
Answers = Mapping[str, bool | None]


@cache
def recorded() -> Mapping[str, Row]:
    """Return the recorded runs by id, whole."""
    text = (Path(__file__).parent / "vectors.jsonl").read_text("utf-8")
    found: dict[str, Row] = {}
    for line in text.splitlines():
        row = json.loads(line)
        if "like" in row:
            first = found[row["like"]]
            row["calls"] = [*first["calls"][: row.get("same_calls", 0)], *row["calls"]]
            row.setdefault("setup", first["setup"])
            row["expectation"] = {**first["expectation"], **row["expectation"]}
        found[row["id"]] = row
    return found


def expectation_of(row: Row) -> Expectation:
    """Return what was expected of a run."""
    return read_expectation({k: v for k, v in row["expectation"].items() if v is not None})


def answers_of(row: Row) -> Answers:
    """Return what the source's checks said of a run."""
    said: dict[str, bool | None] = dict.fromkeys(row["passed"], True)
    return said | dict.fromkeys(row["failed"], False) | dict.fromkeys(row["left_out"])


def answers(results: Sequence[CheckResult]) -> Answers:
    """Return what our checks say, by name."""
    found = {result.check.name: result.passed for result in results}
    assert len(found) == len(results), "a check was asked twice"
    return found


def begin(row: Row) -> ManagedCareWorld:
    """Return the world in which a run began."""
    world = build(row["setup"], row["domain"])
    charts = list(world.charts.values())
    if "documents" in row["setup"]:
        given = [record(DocumentReference, doc) for doc in row["setup"]["documents"]]
        charts = [
            replace(
                chart,
                documents=tuple(doc for doc in given if doc.patient_id == chart.patient.id),
            )
            for chart in charts
        ]
    if row.get("chart") is not None:
        charts = [
            replace(
                chart,
                observations=tuple(_observations(row["chart"], chart.patient.id)),
                medications=tuple(_medications(row["chart"], chart.patient.id)),
            )
            for chart in charts
        ]
    start = replace(world.start, charts=ChartLibrary(charts))
    workflow = row["expectation"].get("expected_p2p_workflow")
    if workflow is not None:
        # The source's services read what the other side holds from the expectation.
        case = row["expectation"]["target_case_id"]
        start = replace(start, contracts={case: peer_contract(workflow)})
    return ManagedCareWorld(start)


def _observations(chart: Row, patient: str) -> list[Observation]:
    filled = {"patient_id": patient, "display": "HbA1c", "observed_at": "2026-01-01T00:00:00"}
    rows = enumerate(chart["observations"])
    return [record(Observation, {"id": f"OB-{n}"} | filled | row) for n, row in rows]


def _medications(chart: Row, patient: str) -> list[MedicationRequest]:
    filled = {"patient_id": patient, "medication_name": "m", "authored_on": "2026-01-01T00:00:00"}
    rows = enumerate(chart["medication_requests"])
    return [record(MedicationRequest, {"id": f"MR-{n}"} | filled | row) for n, row in rows]


def play(row: Row) -> ManagedCareWorld:
    """Play a run and return the world at its end.

    Raises:
        AssertionError: If a call is answered otherwise than it was.
    """
    world = begin(row)
    bound: dict[str, object] = {}
    for number, step in enumerate(row["calls"], 1):
        arguments = substitute(step["args"], bound)
        surface, _, name = step["do"].partition("/")
        if surface == "relay":
            _relay(world, name, arguments, str(bound["$c"]))
            continue
        answer = call(world, step["do"], arguments)
        refused = bool(step.get("refused"))
        assert bool(answer.refusal) is refused, f"call {number} {step['do']}: {answer.refusal}"
        for variable, path in step.get("bind", {}).items():
            bound[variable] = at(answer.result, path)
        if "payer_truth" in row["setup"]:
            _between_seats(world, name, str(bound["$c"]), row["setup"]["payer_truth"])
    if "chart" in row and row["chart"] is None:
        world.__dict__["charts"] = ChartLibrary()
    return world


def _between_seats(world: ManagedCareWorld, tool: str, case: str, truth: Row) -> None:
    """Do what the source's services do in an arena, and only there, after a call."""
    if tool == "auth.submit_authorization":
        relay.bind_truth(world, case, record(CasePolicy, truth))
    if tool == "review.submit_md_case_decision":
        # Every request has a session there, though no contract says who is on the other side.
        for request in world.peer.requests.values():
            made = {"id": f"P2PS-{request.id}", "request_id": request.id, "case_id": case}
            times = {"created_at": request.created_at, "updated_at": request.created_at}
            session = record(P2PSessionRecord, made | times | {"benchmark_side": "payer"})
            world.begin_with((session,))


def _relay(world: ManagedCareWorld, name: str, arguments: Row, case: str) -> None:
    """Carry out what the source's harness does around its two agents."""
    if name == "enter":
        relay.enter_phase(world, case, relay.CALL, relay.PAYER)
    elif name == "leave":
        relay.leave_phase(world, case, relay.CALL, relay.PAYER)
    else:
        payload = arguments["payload"]
        relay.file_transcript(
            world,
            case,
            arguments["request_id"],
            [relay.Said(actor=turn["actor"], message=turn["message"]) for turn in payload["turns"]],
            provider_position=payload.get("provider_final_position"),
            payer_position=payload.get("payer_final_position"),
        )
