"""Where strict rules part from the recorded calls: each call, in the state in which it was made.

Every recorded call is played twice: in the compatibility world, which leads to the next call, and
in a copy of it that keeps its rules strictly and is thrown away. So a call is counted for what is
wrong with it, and not for what was refused before it.

``python -m tests.worlds.managed_care.strictness`` writes ``vectors/strict.json`` anew.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any

from healthgym.worlds.managed_care.rules import Rules
from healthgym.worlds.managed_care.world import ManagedCareWorld
from tests.worlds.managed_care.recorded import VECTORS, build, vectors
from tests.worlds.managed_care.replay import (
    Answer,
    at,
    authorization_world,
    call,
    care_world,
    differences,
    substitute,
)

Json = Any
TABLE = VECTORS / "strict.json"


def table() -> dict[str, Json]:
    """Return what differs: by refusal code and tool the calls, and what is answered otherwise."""
    refused: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    accepted: list[str] = []
    otherwise: dict[str, list[str]] = {}
    for name, step, answer, told in _answers():
        if answer.refusal and "refused" not in step:
            refused[answer.code][step["do"]].append(name)
        elif "refused" in step and not answer.refusal:
            accepted.append(f"{name} {step['do']}")
        elif told:
            otherwise[f"{name} {step['do']}"] = told
    return {
        "refused": {code: dict(sorted(tools.items())) for code, tools in sorted(refused.items())},
        "accepted": accepted,
        "otherwise": otherwise,
    }


def _answers() -> Iterator[tuple[str, Mapping[str, Json], Answer, list[str]]]:
    for trace in vectors("traces"):
        world = build(trace["setup"], trace["domain"])
        bound: dict[str, object] = {}
        for number, step in enumerate(trace["calls"], 1):
            arguments = substitute(step["args"], bound)
            answer = _strictly(world, step["do"], arguments)
            yield f"{trace['id']}.{number}", step, answer, list(differences(step, answer, bound))
            given = call(world, step["do"], arguments)
            for name, path in step.get("bind", {}).items():
                if not given.refusal:
                    bound[name] = at(given.result, path)
    for cell in vectors("guards"):
        care = cell["domain"] == "care_management"
        own = {} if care else {"case_id": "CASE-T"}
        world = care_world(cell) if care else authorization_world(cell)
        answer = _strictly(world, cell["do"], own | cell["args"])
        yield cell["id"], cell, answer, list(differences(cell, answer, {}))


def _strictly(world: ManagedCareWorld, door: str, arguments: Mapping[str, Json]) -> Answer:
    twin = world.clone()
    twin.rules = Rules.STRICT
    return call(twin, door, arguments)


def lines(found: Mapping[str, Json]) -> Iterator[str]:
    """Return the table as JSON, one line a tool."""
    yield '{"refused": {'
    codes = list(found["refused"].items())
    for code, tools in codes:
        yield f" {json.dumps(code)}: {{"
        rows = [f"  {json.dumps(tool)}: {json.dumps(names)}" for tool, names in tools.items()]
        yield ",\n".join(rows)
        yield " }" if code == codes[-1][0] else " },"
    yield "},"
    yield f'"accepted": {json.dumps(found["accepted"], indent=1)},'
    yield f'"otherwise": {json.dumps(found["otherwise"], indent=1)}}}'


if __name__ == "__main__":
    TABLE.write_text("\n".join(lines(table())) + "\n", "utf-8")
