"""People who call whatever they like: usual calls of every tool, and calls with something wrong.

The house has three requests (one to be made, one handed in, one in review), an episode of care
management that is only referred, and everybody who may act on them. ``usual.json`` has a call of
every tool that an office accepts at some stage; ``$case`` and the like stand for what there is.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from healthgym.core.clock import Due
from healthgym.core.tool import ToolKind
from healthgym.worlds.managed_care.apps.provider import forms
from healthgym.worlds.managed_care.charts.chart import ChartLibrary
from healthgym.worlds.managed_care.contracts import PeerContract
from healthgym.worlds.managed_care.refusals import Refusal
from healthgym.worlds.managed_care.rules import Rules
from healthgym.worlds.managed_care.staff import Staff
from healthgym.worlds.managed_care.start import WorldStart
from healthgym.worlds.managed_care.vocabulary.authorization import TaskActor, TriageUrgency
from healthgym.worlds.managed_care.world import ManagedCareWorld
from tests.worlds.managed_care.apps.care_management import walk
from tests.worlds.managed_care.apps.payer.review_desk import catalog
from tests.worlds.managed_care.recorded import build
from tests.worlds.managed_care.replay import call
from tests.worlds.managed_care.replay import catalog as known_tools

Json = Any
Call = tuple[str, Mapping[str, Json]]
#: To be made, handed in, in review.
CASES = ("CASE-T", "CASE-U", "CASE-V")
NURSES, PHYSICIANS = ("C-NUR", "C-NUR2"), ("C-MD", "C-MD2")
#: What stands for anything of the wrong kind, of somebody else, or of no meaning.
WRONG: tuple[Json, ...] = (
    "",
    "NOPE-9",
    "DOC-3",
    "P2",
    "CASE-T",
    "tomorrow",
    "2026-02-30",
    "x" * 60_000,
    -1,
    True,
    None,
    [],
    ["DOC-3"],
    {},
)
_TRIES = 6
#: What leads a case on from where it stands.
_ONWARD: Mapping[str, tuple[str, ...]] = {
    "draft": ("forms.", "docs.create", "auth.finalize"),
    "docs_needed": ("forms.", "docs.create", "auth.finalize"),
    "ready_to_submit": ("forms.", "auth.finalize", "auth.submit"),
    "submitted": ("payer_intake_hub.", "triage.", "review."),
    "resubmitted": ("payer_intake_hub.", "triage.", "review."),
    "under_review": ("review.", "p2p", "determination.", "auth.respond_to_peer"),
    "pended_action_required": ("auth.respond_to_pend", "payer_letter_center."),
    "approved": ("payer_letter_center.",),
    "partially_approved": ("payer_letter_center.", "auth.file"),
    "denied": ("payer_letter_center.", "auth.file", "auth.request_peer"),
    "appealed": ("payer_appeals.",),
    "appeal_upheld": ("auth.file_external", "payer_letter_center."),
    "external_appealed": ("payer_appeals.",),
}
#: From which call of the walk on an episode of care management is led on, by status.
_CARE: Mapping[str, str] = {
    "new": "care_management/cm_intake.open_case",
    "intake_complete": "care_management/cm_chart.submit_chart_review",
    "chart_reviewed": "care_management/cm_outreach.start_outreach_call",
    "outreach_complete": "care_management/cm_assessment.start_assessment",
    "assessment_in_progress": "care_management/cm_assessment.save_section",
    "assessment_blocked": "care_management/cm_assessment.save_section",
    "assessment_complete": "care_management/cm_care_plan.create_draft",
    "care_plan_draft": "care_management/cm_care_plan.save_care_plan",
    "care_plan_finalized": "care_management/cm_care_plan.finalize",
    "closed": "care_management/cm_care_plan.finalize",
    "disenrolled": "care_management/cm_intake.open_case",
}


@cache
def usual() -> Mapping[str, Sequence[Mapping[str, Json]]]:
    """Return usual calls by surface and tool."""
    known: dict[str, list[Mapping[str, Json]]] = json.loads(
        (Path(__file__).parent / "usual.json").read_text("utf-8")
    )
    for tool, arguments in (
        ("cm_intake.list_referral_queue", {}),
        ("cm_intake.get_referral", {"referral_id": "REF-1"}),
        ("cm_chart.get_chart_data", {"case_id": walk.CASE}),
        ("cm_outreach.get_transcript", {"session_id": walk.SESSION}),
        walk.DISENROLL,
        *walk.walk(),
    ):
        known.setdefault(f"care_management/{tool}", []).append(arguments)
    return known


@cache
def _entries() -> Sequence[str]:
    """Return the doors behind which something is written."""
    tools = {name: spec for name, (spec, _) in known_tools().items()}
    return [door for door in usual() if tools[door.split("/")[1]].kind is not ToolKind.READ]


@cache
def _start(rules: Rules) -> WorldStart:
    setup = {
        "cases": [
            {"id": "CASE-T", "status": "draft", "policy": {}},
            {"id": "CASE-U", "status": "submitted", "policy": {}},
            {"id": "CASE-V", "status": "under_review", "policy": {}},
        ],
        "intakes": [{"case_id": "CASE-V"}],
    }
    offices, care = build(setup, "pa_um", rules).start, walk.make(rules).start
    return replace(
        offices,
        now=datetime(2026, 3, 13, 17, tzinfo=UTC),  # a Friday, ten o'clock in California
        charts=ChartLibrary([*offices.charts.values(), *care.charts.values()]),
        staff=Staff(
            tuple(care.staff.workers.values()),
            tuple(offices.staff.contacts.values()),
            tuple(offices.staff.practitioners.values()),
        ),
        records=(
            *offices.records,
            *(replace(catalog(), case_id=case) for case in CASES),
            *care.records,
        ),
        contracts={"CASE-U": PeerContract(side=TaskActor.PROVIDER)},
        voices=care.voices,
        letters_queued=True,
    )


def house(rules: Rules) -> ManagedCareWorld:
    """Return the offices on the morning of the day."""
    return ManagedCareWorld(_start(rules))


def draw_legal(world: ManagedCareWorld, rng: np.random.Generator) -> Call:
    """Return a call that will be accepted, if one is found soon."""
    for _ in range(_TRIES):
        door, arguments = draw_call(world, rng)
        if not call(world.clone(), door, arguments).refusal:
            break
    return door, arguments


def draw_call(world: ManagedCareWorld, rng: np.random.Generator) -> Call:
    """Return what somebody does next: mostly what leads a case on, now and then a wrong call."""
    drawn = rng.random()
    if drawn < (0.9 if _talking(world) else 0.2):
        return _care_call(world, rng)
    drawn = rng.random()
    case = CASES[int(rng.integers(len(CASES)))]
    doors = list(usual())
    if drawn < 0.85:
        onward = _ONWARD.get(str(world.cases.get(case).status), ())
        if world.peer.open_request(case) and rng.random() < 0.9:
            onward = ("p2p", "auth.respond_to_peer")
        doors = [door for door in _entries() if door.split("/")[1].startswith(onward)] or doors
    door = doors[int(rng.integers(len(doors)))]
    options = usual()[door]
    arguments = options[int(rng.integers(len(options)))]
    if any(not _pool(value, world, case) for value in arguments.values()) and rng.random() < 0.95:
        return draw_call(world, rng)
    return _spoiled(door, resolved(arguments, world, case, rng), rng)


def _talking(world: ManagedCareWorld) -> bool:
    session = world.outreach.sessions.get(walk.SESSION)
    return session is not None and session.status == "active"


def _care_call(world: ManagedCareWorld, rng: np.random.Generator) -> Call:
    """Return a call of care management: mostly near the place that the episode has come to."""
    if rng.random() < 0.1:
        doors = [door for door in usual() if door.startswith("care_management/")]
        door = doors[int(rng.integers(len(doors)))]
        if "disenroll" not in door or rng.random() < 0.02:
            return _spoiled(door, usual()[door][0], rng)
    calls = walk.walk()
    doors = [f"care_management/{tool}" for tool, _ in calls]
    case = world.referrals.cases.get(walk.CASE)
    place = doors.index(_CARE[str(case.status)]) if case else 0
    session = world.outreach.sessions.get(walk.SESSION)
    if session and case and case.status == "chart_reviewed":
        place += 1 + sum(message.role != "patient" for message in session.messages)
    if case and case.status == "assessment_in_progress":
        place += int(rng.integers(5))  # the four sections in any order, and the end
    elif rng.random() < 0.15:
        place += int(rng.integers(4))
    place = min(place, len(calls) - 1)
    return _spoiled(doors[place], calls[place][1], rng)


def _spoiled(
    door: str, arguments: Mapping[str, Json], rng: np.random.Generator
) -> tuple[str, Mapping[str, Json]]:
    if rng.random() > 0.2 or not arguments:
        return door, arguments
    names = list(arguments)
    name = names[int(rng.integers(len(names)))]
    return door, {**arguments, name: WRONG[int(rng.integers(len(WRONG)))]}


def resolved(value: Json, world: ManagedCareWorld, case: str, rng: np.random.Generator) -> Any:
    """Return a value with what stands for something replaced by it."""
    if isinstance(value, str) and value.startswith("$"):
        return _named(value, world, case, rng)
    if isinstance(value, list):
        return [resolved(item, world, case, rng) for item in value]
    if isinstance(value, dict):
        if value.keys() == {"any"}:
            return value["any"][int(rng.integers(len(value["any"])))]
        return {key: resolved(item, world, case, rng) for key, item in value.items()}
    return value


def _named(name: str, world: ManagedCareWorld, case: str, rng: np.random.Generator) -> Json:
    if name == "$case":
        return case
    if name == "$answers":
        return dict.fromkeys(forms.all_missing(forms.of_case(world, case)), "1")
    if name in ("$deadline", "$hours", "$rule"):
        return _level(world, case)[name]
    pool = _pool(name, world, case) or ("NONE-0",)
    return pool[int(rng.integers(len(pool)))]


def _level(world: ManagedCareWorld, case: str) -> Mapping[str, Json]:
    try:
        level = world.triage.level(case, TriageUrgency.ROUTINE, None)
        received = world.intake.get(case).received_at
    except Refusal:
        return {"$deadline": "2026-03-20T17:00:00", "$hours": 168, "$rule": "federal"}
    return {
        "$deadline": level.deadline(received).isoformat(),
        "$hours": level.hours,
        "$rule": level.rule_source,
    }


def _pool(name: Json, world: ManagedCareWorld, case: str) -> Sequence[str]:
    """Return the ids that a name may stand for; of anything else, itself."""
    match name:
        case "$nurse":
            return NURSES
        case "$physician":
            return PHYSICIANS
        case "$request":
            return [one.id for one in world.peer.of(case)]
        case "$letter":
            return [one.id for one in world.letters.of(case)]
        case "$appeal":
            return [one.id for one in world.appeals.of(case)]
        case "$message":
            return list(world.inbox.messages)
        case "$document":
            return [*world.documents.documents, "DOC-1"]
    return (str(name),)


def pass_time(world: ManagedCareWorld, amount: timedelta) -> None:
    """Let time pass as the engine does: what falls due on the way happens."""
    until, agenda = world.clock.now + amount, world.clock.agenda
    while (due := agenda.first()) is not None and due.at <= until:
        world.clock.advance(max(due.at - world.clock.now, timedelta(0)))
        let_happen(world, due)
    world.clock.advance(until - world.clock.now)


def let_happen(world: ManagedCareWorld, due: Due) -> None:
    """Carry out what has fallen due, whole or not at all."""
    savepoint = world.journal.begin()
    try:
        world.clock.agenda.cancel(due.number)
        world.happen(due)
    except BaseException:
        world.journal.rollback(savepoint)
        raise
    world.journal.commit()


def draw_pause(world: ManagedCareWorld, rng: np.random.Generator) -> timedelta:
    """Return how long nothing is called: minutes, until a call that is due, or days."""
    drawn = rng.random()
    planned = [one.scheduled_at for one in world.peer.requests.values() if one.scheduled_at]
    if planned and drawn < 0.2:
        begins = datetime.fromisoformat(max(planned)).replace(tzinfo=UTC)
        return max(begins - world.clock.now, timedelta(0))
    if drawn < 0.97:
        return timedelta(minutes=int(rng.integers(6)))
    return timedelta(hours=int(rng.integers(1, 24 if drawn < 0.99 else 120)))
