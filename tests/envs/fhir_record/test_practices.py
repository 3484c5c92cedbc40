"""Practices look like the oracle's, contradict each other, and only the oracle's is right."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from healthgym.core.family import ORACLE
from healthgym.core.seeding import Split
from healthgym.core.tool import ToolCall, ToolKind
from healthgym.envs.fhir_record.env import FhirRecordEnv
from healthgym.envs.fhir_record.family import FhirRecordFamily
from healthgym.envs.fhir_record.kinds import KINDS

#: Who has a habit of their own, and who does what is asked in smaller steps.
PRACTICES, STEPWISE = ("house", "cautious"), "stepwise"


def test_all_practices_are_known_here() -> None:
    assert {*FhirRecordFamily().practices()} == {*PRACTICES, STEPWISE}


def played(env: FhirRecordEnv, name: str, index: int) -> tuple[list[ToolCall], bool]:
    """Return what a practice does on a test task, and whether that is right."""
    env.reset(options={"index": index, "split": "test"})
    script = list(env.family.scripts()[name](env.episode._instance, np.random.default_rng(0)))
    for action in script:
        env.step(action)
    assert not any(event.error for event in env.episode.events), name
    assert env.episode.submitted()
    return script, env.episode.verdict().success


@pytest.mark.parametrize("name", KINDS)
def test_who_does_otherwise_than_the_oracle_is_wrong(name: str) -> None:
    env = FhirRecordEnv(task_types=[name], difficulty="drill")
    for index in range(12):
        right, solved = played(env, ORACLE, index)
        assert solved
        for practice in PRACTICES:
            script, solved = played(env, practice, index)
            assert script != right or solved, (practice, index)
            assert script[0].name.startswith("search")
            assert script[0].name == right[0].name


def test_practices_disagree_with_the_oracle_and_with_each_other() -> None:
    env = FhirRecordEnv(task_types=["v1-t3", "v1-t5", "v1-t9"], difficulty="drill")
    solved: Counter[str] = Counter()
    apart = 0
    for index in range(120):
        scripts = {}
        for name in (ORACLE, *PRACTICES):
            scripts[name], right = played(env, name, index)
            solved[name] += right
        apart += scripts["house"] != scripts["cautious"]
    assert solved[ORACLE] == 120
    assert all(5 <= solved[name] <= 40 for name in PRACTICES), solved
    assert apart > 20


@pytest.mark.parametrize("difficulty", ["easy", "medium"])
def test_practices_are_whole_on_any_chart(difficulty: str) -> None:
    env = FhirRecordEnv(difficulty=difficulty)
    kinds = {spec.name: spec.kind for spec in env.family.roles["agent"].catalog.specs}
    acted = 0
    for index in range(40):
        for name in PRACTICES:
            script, _ = played(env, name, index)
            assert script[-1].name == "finish"
            acted += any(kinds[each.name] is ToolKind.WRITE for each in script)
    assert acted > 20


def test_pressures_end_in_nought() -> None:
    env = FhirRecordEnv(task_types=["v1-t3"], difficulty="drill")
    script, _ = played(env, "house", 0)
    said = env.episode._instance.reference.facts.details["reading"]
    (filed,) = (each.arguments["value"] for each in script if each.name == "record_observation")
    for written, meant in zip(filed.split()[0].split("/"), said.split()[0].split("/"), strict=True):
        assert int(written) % 10 == 0
        assert abs(int(written) - int(meant)) <= 5


def test_they_are_played_by_name() -> None:
    env = FhirRecordEnv(difficulty="drill")
    instance = env.family.generator.generate(Split.TRAIN, 0)
    for name in PRACTICES:
        assert env.family.player(name, instance, np.random.default_rng(0)).act() is not None


@pytest.mark.parametrize("name", KINDS)
def test_smaller_steps_lead_to_what_is_right(name: str) -> None:
    env = FhirRecordEnv(task_types=[name], difficulty="easy")
    longer = 0
    for index in range(16):
        right, solved = played(env, ORACLE, index)
        script, also = played(env, STEPWISE, index)
        assert solved
        assert also
        assert script[-1] == right[-1]
        longer += len(script) > len(right)
    assert (longer > 0) == (name in ("v1-t2", "v1-t10"))


def test_years_are_left_to_the_calculator_and_limits_to_the_chart() -> None:
    said = Counter[str]()
    for name in ("v1-t2", "v1-t10"):
        env = FhirRecordEnv(task_types=[name], difficulty="easy")
        for index in range(40):
            for each in played(env, STEPWISE, index)[0]:
                worked = str(each.arguments.get("expression", ""))
                said["years"] += bool(worked)
                said["years, less one"] += worked.endswith(" - 1")
                said["within"] += "since" in each.arguments
    assert said["years"] == said["within"] == 40
    assert 5 < said["years, less one"] < 35
