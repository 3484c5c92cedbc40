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
import pkgutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from typing import Any

from healthgym.core.schema import validate
from healthgym.core.tool import Caller, ToolSpec
from healthgym.envs.managed_care import tools
from healthgym.envs.managed_care.tools.base import OfficeToolset
from healthgym.errors import ToolError
from healthgym.worlds.managed_care.refusals import Refusal
from healthgym.worlds.managed_care.vocabulary.authorization import CaseStatus
from healthgym.worlds.managed_care.world import ManagedCareWorld
from tests.worlds.managed_care import finals
from tests.worlds.managed_care.recorded import build

#: What the recorded calls on services without a tool are called here.
HIDDEN = {"coverage.check_requirement": ("cases", "check_requirement")}
Json = Any


class MissingToolError(Exception):
    """The call needs a tool that is not there."""


@dataclass(frozen=True)
class Answer:
    """What came of a call.

    Attributes:
        result: What the tool returned; None if the call was refused.
        refusal: Why it was refused; empty if it was not.
        audit: Rows the call added to the log, by name.
        transitions: Changes of status it made.
        code: Why it was refused, as the world counts it; empty where its schema refused it.
    """

    result: object
    refusal: str
    audit: tuple[str, ...]
    transitions: tuple[tuple[str, str], ...]
    code: str = ""


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
        # What an extended surface puts in a tool's place is no other tool.
        found = {spec.name: (spec, kind) for spec in kind.specs()} | found
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
        code = str(error.code) if isinstance(error, Refusal) else ""
        return Answer(None, str(error), (), (), code)
    except BaseException:
        world.journal.rollback(savepoint)
        raise
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
        told = list(differences(step, answer, bound))
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


def differences(
    step: Mapping[str, Json], answer: Answer, bound: Mapping[str, object]
) -> Iterator[str]:
    """Compare the answer to one call with the record.

    Args:
        step: The recorded call.
        answer: What came of it here.
        bound: What earlier calls returned, by the names under which it was kept.

    Yields:
        What differs, a line each.
    """
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
    moves = [[str(source), str(target)] for source, target in answer.transitions]
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
        if result is None:
            return None  # the source writes a record that is not there as null
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


# -- cells ---------------------------------------------------------------------------------------


def replay_cell(cell: Mapping[str, Json]) -> list[str]:
    """Play one recorded call on a case in a given status; return what differs."""
    care = cell["domain"] == "care_management"
    world = care_world(cell) if care else authorization_world(cell)
    own = {} if care else {"case_id": "CASE-T"}
    answer = call(world, cell["do"], own | cell["args"])
    told = list(differences(cell, answer, {}))
    case = "CM-ACT-001" if care else "CASE-T"
    if statuses(world)[case] != cell["after"]:
        told.append(f"status {statuses(world)[case]}, recorded {cell['after']}")
    if "state" in cell and not cell.get("residue"):
        end = finals.of(world, cell["domain"])
        ours = end if care else end["cases"]["CASE-T"]
        if ours != cell["state"]:
            told.append(f"state {difference(ours, cell['state'])}")
    return [f"{cell['id']} {cell['do']}: {line}" for line in told]


def authorization_world(cell: Mapping[str, Json]) -> ManagedCareWorld:
    """Return the world of a cell: one case with a complete intake, and what it is seeded with."""
    setup = {
        "cases": [{"id": "CASE-T", "status": cell["from"], "policy": {}}],
        "intakes": [{"case_id": "CASE-T"}],
    }
    world = build(setup, "pa_um")
    world.begin_with(finals.seeds(cell.get("seed") or ""))
    return world


def care_world(cell: Mapping[str, Json]) -> ManagedCareWorld:
    """Return the world of a care-management cell."""
    found: ManagedCareWorld = importlib.import_module(
        "tests.worlds.managed_care.finals_care"
    ).world_of(cell)
    return found
