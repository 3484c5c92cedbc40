"""Whatever is wrong with a call of any tool: one sentence says it, and nothing has changed."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import date, datetime
from enum import Enum
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from healthgym.core.parts import REQUIRED, Part, argument_parts, options_of
from healthgym.core.tool import ToolKind, ToolSpec
from healthgym.worlds.managed_care.rules import Rules
from healthgym.worlds.managed_care.vocabulary.authorization import CaseStatus
from healthgym.worlds.managed_care.vocabulary.care import CMCaseStatus
from healthgym.worlds.managed_care.world import ManagedCareWorld
from tests.worlds.managed_care.apps.payer.review_desk import CASE, MD_2, on_the_line
from tests.worlds.managed_care.clerks import (
    draw_call,
    draw_legal,
    draw_pause,
    house,
    pass_time,
)
from tests.worlds.managed_care.replay import call, catalog

Json = Any
PUBLISHED = json.loads(
    (Path(__file__).parents[2] / "envs/managed_care/tools/published.json").read_text("utf-8")
)["tools"]
#: All 87: surface and tool.
DOORS = [f"{surface}/{name}" for name, row in PUBLISHED.items() for surface in row["surfaces"]]
#: Always refused: only the payer asks for a call between physicians.
NEVER = "auth.request_peer_to_peer"
#: Arguments that name something or somebody that has to be there.
NAMES = frozenset({"actor", "line_number"})
#: Texts that are compared with what there is, and so match nothing.
FILTERS = frozenset(
    {"chart.search_patients", "people.list_contacts", "people.list_reviewer_contacts"}
)
DAYS = frozenset(
    {"dob", "requested_date", "sla_deadline", "info_deadline", "scheduled_at", "selected_slot"}
)
#: What may be said or done again in the same words: talk, looks, and corrections of one entry.
AGAIN = frozenset(
    {
        "inbox.read_message",
        "p2p_session.send_turn",
        "cm_outreach.send_message",
        "payer_letter_center.reissue",
    }
)
LONG = "x" * 60_000


@cache
def accepted() -> Mapping[str, tuple[ManagedCareWorld, Mapping[str, Json]]]:
    """Return, for each tool, a call that is accepted and the world in which it is."""
    talking = on_the_line()
    found: dict[str, tuple[ManagedCareWorld, Mapping[str, Json]]] = {
        "p2p.record_outcome": (
            talking,
            {
                "request_id": talking.peer.of(CASE)[0].id,
                "payer_contact_id": MD_2,
                "outcome": "overturn_to_approval",
                "note": "C-2 is met.",
            },
        )
    }
    for seed in range(40):
        rng, world = np.random.default_rng([seed, 0]), house(Rules.STRICT)
        for _ in range(250):
            door, arguments = (draw_legal if rng.random() < 0.6 else draw_call)(world, rng)
            tool = door.split("/")[1]
            before = None if tool in found else world.clone()
            if not call(world, door, arguments).refusal and before is not None:
                found[tool] = before, arguments
            pass_time(world, draw_pause(world, rng))
        if {*PUBLISHED} <= {*found, NEVER}:
            break
    return found


def spec_of(door: str) -> ToolSpec:
    return catalog()[door.split("/")[1]][0]


def spoiled(door: str, arguments: Mapping[str, Json]) -> Iterator[tuple[str, Mapping[str, Json]]]:
    """Yield the call with one thing wrong, and what is."""
    spec = spec_of(door)
    yield "unknown argument", {**arguments, "colour": "blue"}
    for part in argument_parts(spec.function):
        if part.default is REQUIRED:
            yield f"no {part.name}", {k: v for k, v in arguments.items() if k != part.name}
        yield f"{part.name} of no type", {**arguments, part.name: [{"a": [None]}, 1]}
        for what, value in _wrong(spec, part, arguments):
            yield f"{part.name} {what}", {**arguments, part.name: value}


def _wrong(spec: ToolSpec, part: Part, arguments: Mapping[str, Json]) -> Iterator[tuple[str, Json]]:
    kinds = options_of(part.facets.hint)
    write = spec.kind is not ToolKind.READ
    if any(isinstance(kind, type) and issubclass(kind, Enum) for kind in kinds):
        yield "unknown", "bogus"
    if datetime in kinds or date in kinds or part.name in DAYS:
        yield "no day", "2026-02-30"
    if spec.name in FILTERS:
        return
    if part.name.endswith("_id") or part.name in NAMES:
        yield "unknown", 404 if int in kinds else "NOPE-9"
    if part.name == "case_id":
        yield "of another office", "CASE-T" if spec.name.startswith("cm_") else "CM-ACT-001"
    if part.name == "document_ids":
        yield "unknown", ["NOPE-9"]
        yield "of another patient", ["DOC-3"]
    if str in kinds and write and part.name != "file_bytes":
        yield "too long", LONG


@pytest.mark.parametrize("door", DOORS)
def test_what_is_wrong_is_said_and_nothing_is_changed(door: str) -> None:
    if door.endswith(NEVER):
        world, arguments = house(Rules.STRICT), {"case_id": "CASE-V"}
    else:
        world, arguments = accepted()[door.split("/")[1]]
    before, told = world.digest(), []
    for what, given in spoiled(door, arguments):
        twin = world.clone()
        answer = call(twin, door, given)
        if not answer.refusal:
            told.append(f"{what}: accepted")
        elif twin.digest() != before:
            told.append(f"{what}: left something")
        elif not sentence(answer.refusal):
            told.append(f"{what}: {answer.refusal}")
    assert told == []


def sentence(text: str) -> bool:
    """Return whether a refusal is one short line that says what is wrong and what is right."""
    line, _, _ = text.partition(" Usage: ")
    return (
        line.endswith(".")
        and "\n" not in line
        and len(line) < 600
        and "0x" not in line
        and any(mark in line for mark in (";", ":", ",", "accepted"))
    )


WRITING = [
    door
    for door in DOORS
    if PUBLISHED[door.split("/")[1]]["kind"] != "read" and not door.endswith(NEVER)
]


@pytest.mark.parametrize("door", WRITING)
def test_what_is_done_is_not_done_again(door: str) -> None:
    world, arguments = accepted()[door.split("/")[1]]
    twin = world.clone()
    assert not call(twin, door, arguments).refusal
    before = twin.digest()
    answer = call(twin, door, arguments)
    if door.split("/")[1] in AGAIN:
        assert not answer.refusal
    else:
        assert answer.refusal, "accepted again"
        assert twin.digest() == before
        assert sentence(answer.refusal), answer.refusal


#: What a payer decided it may write down after the case is closed, too.
LATER = ("generate_approval", "generate_partial_approval", "generate_denial")
ABOUT_A_CASE = [
    door
    for door in WRITING
    if not door.endswith(LATER)
    and any(part.name == "case_id" for part in argument_parts(spec_of(door).function))
]


@pytest.mark.parametrize("door", ABOUT_A_CASE)
def test_what_is_over_is_left_alone(door: str) -> None:
    world, arguments = accepted()[door.split("/")[1]]
    world = world.clone()
    name = arguments["case_id"]
    if name in world.cases.cases:
        world.cases.cases[name] = replace(world.cases.get(name), status=CaseStatus.CLOSED)
    else:
        case = world.referrals.cases[name]
        world.referrals.cases[name] = replace(case, status=CMCaseStatus.DISENROLLED)
    before = world.digest()
    answer = call(world, door, arguments)
    assert answer.refusal
    assert world.digest() == before
    assert sentence(answer.refusal), answer.refusal
