"""The strict verdict: the oracle's end state passes, and breaking any one thing fails one check."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from healthgym.core.episode import Episode
from healthgym.core.tool import ToolCall, call
from healthgym.core.verdict import Profile, Verdict
from healthgym.envs.fhir_record.env import FhirRecordEnv
from healthgym.envs.fhir_record.kinds import KINDS
from healthgym.envs.fhir_record.task import parse_instant
from healthgym.envs.fhir_record.view import int_or_zero, parse_time

Script = list[ToolCall]


def find(
    kind: str, branch: str, difficulty: str = "medium"
) -> tuple[FhirRecordEnv, Episode[Any], Script]:
    """Return an environment reset to a task of a branch, and the oracle's script for it."""
    env = FhirRecordEnv(task_types=[kind], difficulty=difficulty)
    for index in range(400):
        instance = env.family.generator.generate("train", index)
        if instance.reference.decision.branch == branch:
            env.reset(options={"index": index})
            script = list(env.family.oracle(instance, np.random.default_rng(0)))
            return env, env.episode, script
    raise AssertionError(f"no {kind} task of branch {branch}")


def play(episode: Episode[Any], script: Script) -> Verdict:
    for action in script:
        outcome = episode.step(action)
        assert not outcome.errors, outcome.observation
    return episode.verdict()


def failed(verdict: Verdict) -> set[str]:
    return {result.check.name for result in verdict.checks if not result.passed}


def change(script: Script, tool: str, **arguments: Any) -> Script:
    """Return the script with arguments of one tool replaced.

    None removes an argument; a function makes it from those that were given.
    """
    changed = []
    for action in script:
        if action.name == tool:
            given = action.arguments
            made = {k: v(given) if callable(v) else v for k, v in arguments.items()}
            merged = {**given, **made}
            action = ToolCall(tool, {k: v for k, v in merged.items() if v is not None})
        changed.append(action)
    assert changed != script
    return changed


def without(script: Script, tool: str) -> Script:
    return [action for action in script if action.name != tool]


def before_finish(script: Script, *actions: ToolCall) -> Script:
    return [*script[:-1], *actions, script[-1]]


def other_patient(env: FhirRecordEnv) -> str:
    store = env.episode.world.store
    mine = env.episode._instance.reference.facts.patient
    ids = [r["id"] for r in store.search("Patient", [("_count", "50")]).resources]
    return next(key for key in ids if key != mine)


BRANCHES = [(kind.name, branch.name) for kind in KINDS.values() for branch in kind.branches]


@pytest.mark.parametrize(("kind", "branch"), BRANCHES, ids=[f"{k}-{b}" for k, b in BRANCHES])
def test_the_oracle_passes_every_branch_and_a_wrong_answer_fails_it(kind: str, branch: str) -> None:
    _, episode, script = find(kind, branch)
    start = episode.snapshot()
    verdict = play(episode, script)
    assert verdict.success, failed(verdict)
    assert episode.verdict(profile=Profile.PAPER).success
    episode.restore(start)
    verdict = play(episode, [*script[:-1], call("finish", value=["no such answer", 17.25])])
    assert failed(verdict) == {"answer"}


@pytest.mark.parametrize(("kind", "branch"), BRANCHES, ids=[f"{k}-{b}" for k, b in BRANCHES])
def test_an_order_too_many_fails_every_branch(kind: str, branch: str) -> None:
    env, episode, script = find(kind, branch)
    patient = env.episode._instance.reference.facts.patient or other_patient(env)
    extra = call("create_service_request", patient=patient, code="99999")
    verdict = play(episode, before_finish(script, extra))
    assert failed(verdict) == {"no_stray_writes"}
    assert verdict.progress <= 0


@pytest.mark.parametrize(("kind", "branch"), BRANCHES, ids=[f"{k}-{b}" for k, b in BRANCHES])
def test_skipping_the_orders_fails_the_branches_that_act(kind: str, branch: str) -> None:
    _, episode, script = find(kind, branch)
    reading = [a for a in script if not a.name.startswith(("create_", "record_", "stop_"))]
    verdict = play(episode, reading)
    acts = KINDS[kind].branch(branch).acts
    assert verdict.success is not acts
    if acts:
        assert failed(verdict) >= {"orders_stopped"} or any(
            name.endswith("_written") for name in failed(verdict)
        )


MAGNESIUM: dict[str, dict[str, Any]] = {
    "dose": {"dose": lambda given: given["dose"] + 1},
    "dose unit": {"dose_unit": "mg"},
    "rate": {"rate": 9.0},
    "rate unit": {"rate_unit": "min"},
    "route": {"route": "oral"},
    "no route": {"route": None},
    "code system": {"system": "http://loinc.org"},
}


@pytest.mark.parametrize("arguments", MAGNESIUM.values(), ids=MAGNESIUM.keys())
def test_each_detail_of_a_medication_order_counts(arguments: dict[str, Any]) -> None:
    _, episode, script = find("v1-t5", "moderate")
    verdict = play(episode, change(script, "create_medication_request", **arguments))
    assert failed(verdict) == {"magnesium_details"}


LEVEL: dict[str, dict[str, Any]] = {
    "priority": {"priority": "routine"},
    "time": {"occurrence": "2031-01-01T08:00:00+00:00"},
    "no time": {"occurrence": None},
    "code system": {"system": "http://snomed.info/sct"},
}


@pytest.mark.parametrize("arguments", LEVEL.values(), ids=LEVEL.keys())
def test_each_detail_of_a_paired_level_counts(arguments: dict[str, Any]) -> None:
    _, episode, script = find("v1-t9", "low")
    verdict = play(episode, change(script, "create_service_request", **arguments))
    assert failed(verdict) == {"morning_level_details"}


def test_a_paired_order_may_come_in_either_order() -> None:
    _, episode, script = find("v1-t9", "low")
    look, drug, level, finish = script
    assert play(episode, [look, level, drug, finish]).success


def test_an_order_for_somebody_else_is_a_stray_write() -> None:
    env, episode, script = find("v1-t5", "mild")
    wrong = change(script, "create_medication_request", patient=other_patient(env))
    verdict = play(episode, wrong)
    assert {"magnesium_written", "no_stray_writes"} <= failed(verdict)


def test_the_same_order_twice_is_not_the_order() -> None:
    _, episode, script = find("v1-t5", "mild")
    order = next(a for a in script if a.name == "create_medication_request")
    verdict = play(episode, before_finish(script, order))
    assert {"magnesium_written", "no_stray_writes"} <= failed(verdict)


def test_the_magnitude_of_a_potassium_dose_has_a_stated_tolerance() -> None:
    _, episode, script = find("v1-t9", "low")
    dose = next(a.arguments["dose"] for a in script if a.name == "create_medication_request")
    start = episode.snapshot()
    assert play(episode, change(script, "create_medication_request", dose=dose + 0.09)).success
    episode.restore(start)
    verdict = play(episode, change(script, "create_medication_request", dose=dose + 10))
    assert failed(verdict) == {"potassium_details"}


def test_every_duplicate_must_be_stopped_and_nothing_else() -> None:
    env, episode, script = find("v2-t2", "other_newest")
    start = episode.snapshot()
    stops = [a for a in script if a.name == "stop_medication_request"]
    kept = [a for a in script if a != stops[0]]
    assert failed(play(episode, kept)) == {"orders_stopped"}
    episode.restore(start)
    patient = env.episode._instance.reference.facts.patient
    active = episode.world.store.search(
        "MedicationRequest", [("patient", patient), ("status", "active"), ("_count", "500")]
    ).resources
    due = {a.arguments["id"] for a in stops}
    spared = next(r["id"] for r in active if r["id"] not in due)
    extra = call("stop_medication_request", id=spared)
    assert "no_stray_writes" in failed(play(episode, before_finish(script, extra)))


def test_the_recorded_pressure_must_be_the_one_given() -> None:
    env, episode, script = find("v1-t3", "record")
    start = episode.snapshot()
    verdict = play(episode, change(script, "record_observation", value="120/80 mmHg"))
    assert any(name.endswith("_details") for name in failed(verdict))
    episode.restore(start)
    verdict = play(episode, change(script, "record_observation", flowsheet="Temp"))
    assert any(name.endswith("_written") for name in failed(verdict))
    episode.restore(start)
    value = env.episode._instance.reference.decision.orders[0].value
    squeezed = change(script, "record_observation", value=value.replace(" ", "  "))
    assert play(episode, squeezed).success


def test_the_referral_must_carry_the_whole_note() -> None:
    _, episode, script = find("v1-t8", "refer")
    note = next(a.arguments["note"] for a in script if a.name == "create_service_request")
    start = episode.snapshot()
    verdict = play(episode, change(script, "create_service_request", note=note[: len(note) // 2]))
    assert any(name.endswith("_details") for name in failed(verdict))
    episode.restore(start)
    longer = f"Thank you for seeing this patient. {note}"
    assert play(episode, change(script, "create_service_request", note=longer)).success


HOSTILE = [
    [], [[]], [None], [True], [{}], ["-1"], [-1, -1], ["NaN"], [1e308], ["Patient not found"],
    [[-1]], [{"value": -1}], ["\u202e-1"], [0.0], list(range(1000)),
]  # fmt: skip


@pytest.mark.parametrize("value", HOSTILE, ids=lambda value: json.dumps(value)[:24])
def test_any_finish_value_gets_a_verdict_and_no_exception(value: list[Any]) -> None:
    for kind, branch in (("v1-t5", "mild"), ("v1-t10", "fresh"), ("v2-t3", "both")):
        _, episode, _ = find(kind, branch, "easy")
        outcome = episode.step(call("finish", value=value))
        assert outcome.terminated
        assert not episode.verdict(profile=Profile.STRICT).success
        assert 0 <= episode.verdict(profile=Profile.PAPER).progress <= 1


def test_numbers_are_compared_as_numbers_however_they_are_written() -> None:
    _, episode, script = find("v1-t7", "present")
    value = script[-1].arguments["value"][0]
    start = episode.snapshot()
    for given, passes in [
        ([float(value)], True),
        ([value + 0.4], True),
        ([value + 0.6], False),
        ([str(value)], True),
        ([f"{value} mg/dL"], True),
        ([f"{value} mmol/L"], False),
        ([f"about {value}"], False),
        ([[value]], False),
        ([value, value], False),
    ]:
        assert play(episode, [call("finish", value=given)]).success is passes, given
        episode.restore(start)


def test_dates_are_compared_as_instants() -> None:
    _, episode, script = find("v1-t10", "fresh")
    number, stored = script[-1].arguments["value"]
    start = episode.snapshot()
    for given, passes in [
        (stored, True),
        (stored.replace("+00:00", "Z"), True),
        (stored.replace("T", " ").removesuffix("+00:00"), True),
        (stored[:10], stored.endswith("T00:00:00+00:00")),
        ("yesterday", False),
        ("0001-01-01T00:00:00+14:00", False),
        ("9999-12-31T23:59:59-12:00", False),
    ]:
        assert play(episode, [call("finish", value=[number, given])]).success is passes, given
        episode.restore(start)


def test_a_time_of_which_another_zone_has_no_year_is_none() -> None:
    for text in ("0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-12:00"):
        assert parse_time(text) is parse_instant(text) is None


def test_an_id_of_thousands_of_digits_is_no_number() -> None:
    assert int_or_zero("9" * 5000) == int_or_zero("\u00b2") == 0


def run_without_finish(difficulty: str, limit: int) -> tuple[FhirRecordEnv, dict[str, Any]]:
    env = FhirRecordEnv(task_types=["v1-t5"], difficulty=difficulty, max_turns=limit)
    env.reset(options={"index": 0})
    info: dict[str, Any] = {}
    for _ in range(limit):
        *_, truncated, info = env.step("thinking about it")
    assert truncated
    return env, info


def test_an_episode_without_an_answer_is_scored_and_fails() -> None:
    _, info = run_without_finish("easy", 3)
    assert info["success"] is False
    checks = {c["name"]: c["passed"] for c in info["verdict"]["strict"]["checks"]}
    assert checks["submitted"] is False
    assert checks["no_stray_writes"] is True
    assert info["verdict"]["strict"]["progress"] == 0


def test_a_stopped_copy_counts_as_a_stop_and_not_as_another_order() -> None:
    """The published text protocol has no update: orders are stopped by posting a stopped copy."""
    env, episode, script = find("v2-t2", "no_heparin")
    reference = env.episode._instance.reference
    store = episode.world.store
    originals = [store.read("MedicationRequest", key) for key in reference.decision.stops]
    assert originals
    for original in originals:
        copy = {k: v for k, v in original.items() if k not in ("id", "meta")}
        store.create({**copy, "status": "stopped"})
    verdict = play(episode, without(script, "stop_medication_request"))
    assert verdict.success, failed(verdict)


@pytest.mark.parametrize(("kind", "branch"), [("v1-t3", "record"), ("v1-t8", "refer")])
def test_an_empty_answer_alone_is_worth_nothing(kind: str, branch: str) -> None:
    _, episode, script = find(kind, branch)
    verdict = play(episode, script[-1:])
    assert failed(verdict)
    assert verdict.progress == 0.0
    _, episode, script = find(kind, branch)
    assert play(episode, script).progress == 1.0
