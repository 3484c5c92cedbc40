"""Tasks: balanced, bounded, disjoint between splits, and a function of their key."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter

import pytest

from healthgym.core.seeding import Split
from healthgym.envs.fhir_record.env import FhirRecordEnv
from healthgym.envs.fhir_record.kinds import KINDS
from healthgym.envs.fhir_record.mixes import published_mix
from healthgym.errors import ConfigurationError


def decisions(env: FhirRecordEnv, count: int, split: str = "train") -> Counter[tuple[str, str]]:
    generator = env.family.generator
    drawn = (generator.generate(Split(split), index).reference for index in range(count))
    return Counter((r.kind, r.decision.branch) for r in drawn)


@pytest.mark.parametrize("name", KINDS)
def test_acting_and_not_acting_are_equally_likely_and_every_branch_is_reached(name: str) -> None:
    kind = KINDS[name]
    counts = decisions(FhirRecordEnv(task_types=[name], difficulty="easy"), 400)
    assert {branch for _, branch in counts} == {branch.name for branch in kind.branches}
    acting = sum(n for (_, branch), n in counts.items() if kind.branch(branch).acts)
    both = len({branch.acts for branch in kind.branches}) == 2
    if both:
        assert 150 <= acting <= 250


def test_thresholds_are_met_exactly() -> None:
    generator = FhirRecordEnv(task_types=["v1-t5"], difficulty="easy").family.generator
    values = Counter()
    for index in range(600):
        decision = generator.generate(Split.TRAIN, index).reference.decision
        values[decision.branch, decision.answer[0].value] += 1
    for at_edge in [("mild", 1.5), ("mild", 1.9), ("moderate", 1.0), ("moderate", 1.4)]:
        assert values[at_edge] >= 5, at_edge
    assert values["severe", 0.9] >= 5
    assert values["normal", 2.0] >= 5


def test_the_dose_follows_the_tier_at_its_edges() -> None:
    generator = FhirRecordEnv(task_types=["v1-t5"], difficulty="easy").family.generator
    doses = {}
    for index in range(600):
        decision = generator.generate(Split.TRAIN, index).reference.decision
        dose = decision.orders[0].dose.value if decision.orders else 0
        doses.setdefault(decision.answer[0].value, set()).add(dose)
    assert doses[0.9] == {4}
    assert doses[1.0] == {2}
    assert doses[1.4] == {2}
    assert doses[1.5] == {1}
    assert doses[1.9] == {1}
    assert doses[2.0] == {0}


def test_splits_share_no_patient_and_no_task() -> None:
    patients: dict[str, set[str]] = {}
    for difficulty in ("easy", "hard"):
        env = FhirRecordEnv(difficulty=difficulty)
        for split in Split:
            seen = patients.setdefault(split, set())
            for index in range(150):
                base = env.family.generator.generate(split, index).start.base
                rows = range(base.size("Patient"))
                seen.update(base.id_of("Patient", row) for row in rows)
    train, validation, test = (patients[split] for split in Split)
    assert not train & validation
    assert not train & test
    assert not validation & test
    assert min(map(len, patients.values())) > 300


def test_no_patient_has_a_record_number_of_the_published_benchmark() -> None:
    env = FhirRecordEnv(difficulty="hard")
    for index in range(60):
        base = env.family.generator.generate(Split.TEST, index).start.base
        numbers = [int(base.id_of("Patient", row)[1:]) for row in range(base.size("Patient"))]
        assert min(numbers) >= 7_000_000


_PROBE = """
import hashlib, json
from healthgym.envs.fhir_record.env import FhirRecordEnv
mark = hashlib.sha256()
for difficulty in ("easy", "medium", "hard"):
    env = FhirRecordEnv(difficulty=difficulty)
    for index in range(12):
        text, _ = env.reset(options={"index": index, "split": "test"})
        mark.update(text.encode())
        store = env.episode.world.store
        for kind in store.base.resource_types():
            found = store.search(kind, [("_count", "5000")]).resources
            mark.update(json.dumps(found).encode())
print(mark.hexdigest())
"""


def test_charts_are_the_same_bytes_in_every_process() -> None:
    marks = set()
    for seed in ("0", "1", "4242"):
        done = subprocess.run(
            [sys.executable, "-c", _PROBE],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        )
        marks.add(done.stdout.strip())
    assert len(marks) == 1


def test_the_kind_of_a_task_is_known_without_its_chart() -> None:
    generator = FhirRecordEnv().family.generator
    for index in range(40):
        task = generator.generate(Split.TRAIN, index).task
        assert generator.kind(Split.TRAIN, index) == task.kind


def test_every_question_states_its_time() -> None:
    for kwargs in (
        {},
        {"difficulty": "easy"},
        {"benchmark": "v1"},
        {"benchmark": "v2"},
        {"benchmark": "v3"},
    ):
        env = FhirRecordEnv(**kwargs)
        for index in range(60):
            task = env.family.generator.generate(Split.TRAIN, index).task
            assert task.now.isoformat() in task.instruction, task.instruction


@pytest.mark.parametrize(("benchmark", "size"), [("v1", 300), ("v2", 300), ("v3", 508)])
def test_the_published_mixes_have_the_published_sizes(benchmark: str, size: int) -> None:
    env = FhirRecordEnv(benchmark=benchmark, split="test")
    assert env.family.generator.size(Split.TEST) == size
    with pytest.raises(ConfigurationError, match="no number"):
        env.reset(options={"index": size})
    counts = Counter(kind for kind, _ in published_mix(benchmark).fixed)
    assert sum(counts.values()) == size
    drawn = decisions(FhirRecordEnv(benchmark=benchmark, difficulty="easy"), size, "test")
    assert Counter(published_mix(benchmark).fixed) == drawn


def test_levels_can_be_mixed_and_are_named() -> None:
    env = FhirRecordEnv(difficulty={"easy": 3, "hard": 1})
    generator = env.family.generator
    levels = [
        generator.generate(Split.TRAIN, index).task.metadata["difficulty"] for index in range(200)
    ]
    assert 115 <= levels.count("easy") <= 185
    assert set(levels) == {"easy", "hard"}
    env.reset(options={"difficulty": "hard"})
    assert env.episode.task.metadata["difficulty"] == "hard"


@pytest.mark.parametrize(
    ("kwargs", "message"),
    [
        ({"difficulty": "brutal"}, "easy, medium, hard"),
        ({"task_types": ["v9-t1"]}, "v1-t1"),
        ({"task_types": []}, "task types are"),
        ({"task_types": {"v1-t1": -1.0}}, "positive"),
        ({"split": "dev"}, "train, validation, test"),
        ({"profile": "lenient"}, "paper, strict"),
        ({"reward": "dense"}, "sparse, shaped"),
        ({"costs": {"step": 1}}, "costs are call, refused, unsubmitted, late"),
        ({"max_turns": 0}, "positive integer"),
        ({"benchmark": "v4"}, "v1, v2, v3"),
        ({"render_mode": "human"}, "ansi"),
    ],
)
def test_a_wrong_argument_is_named_with_what_is_accepted(kwargs: dict, message: str) -> None:
    with pytest.raises(ConfigurationError, match=message):
        FhirRecordEnv(**kwargs)


def test_a_question_never_holds_its_answer_as_data() -> None:
    env = FhirRecordEnv(difficulty="easy")
    env.reset(options={"index": 3})
    shown = json.dumps([env.episode.task.metadata, env.episode.instruction()])
    assert "branch" not in shown
