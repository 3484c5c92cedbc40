"""Tasks: balanced, bounded, disjoint between splits, and a function of their key."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from healthgym.core.borders import JsonDict
from healthgym.core.clock import Clock
from healthgym.core.seeding import Split
from healthgym.envs.fhir_record.env import FhirRecordEnv
from healthgym.envs.fhir_record.kinds import KINDS
from healthgym.envs.fhir_record.mixes import published_mix
from healthgym.envs.fhir_record.view import ChartView, Entry, Reading
from healthgym.errors import ConfigurationError
from healthgym.worlds.fhir.store import FhirStore
from tests.sized import some


def decisions(env: FhirRecordEnv, count: int, split: str = "train") -> Counter[tuple[str, str]]:
    generator = env.family.generator
    drawn = (generator.generate(Split(split), index).reference for index in range(count))
    return Counter((r.kind, r.decision.branch) for r in drawn)


@pytest.mark.parametrize("name", KINDS)
def test_acting_and_not_acting_are_equally_likely_and_every_branch_is_reached(name: str) -> None:
    kind = KINDS[name]
    counts = decisions(FhirRecordEnv(task_types=[name], difficulty="easy"), some(400, 200))
    assert {branch for _, branch in counts} == {branch.name for branch in kind.branches}
    acting = sum(n for (_, branch), n in counts.items() if kind.branch(branch).acts)
    both = len({branch.acts for branch in kind.branches}) == 2
    if both:
        assert 0.36 <= acting / some(400, 200) <= 0.64


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
            for index in range(some(150, 60)):
                base = env.family.generator.generate(split, index).start.base
                rows = range(base.size("Patient"))
                seen.update(base.id_of("Patient", row) for row in rows)
    train, validation, test = (patients[split] for split in Split)
    assert not train & validation
    assert not train & test
    assert not validation & test
    assert min(map(len, patients.values())) > some(300, 120)


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


# -- shortcuts that charts must not reward ---------------------------------------------------------


class FirstPage(ChartView):
    """A reader that takes the first page for the whole."""

    def search(self, resource_type: str, **params: str) -> list[JsonDict]:
        pairs = [(name, value) for name, value in params.items() if value]
        return list(self._store.search(resource_type, pairs).resources)


class NoClock(ChartView):
    """A reader that takes what is dated later for what has just happened."""

    def readings(self, patient: str, code: str) -> list[Reading]:
        now = self._store.clock.now
        found = super().readings(patient, code)
        return [replace(row, time=min(row.time, now)) for row in found]

    def procedures(self, patient: str, codes: Sequence[str]) -> list[Entry]:
        now = self._store.clock.now
        found = super().procedures(patient, codes)
        return [replace(row, time=min(row.time or now, now)) for row in found]


class NoUnits(ChartView):
    """A reader that looks at numbers only."""

    def readings(self, patient: str, code: str) -> list[Reading]:
        return [replace(row, unit="") for row in super().readings(patient, code)]


LABS = ("v1-t4", "v1-t5", "v1-t6", "v1-t7", "v1-t9", "v1-t10", "v2-t3", "v2-t6", "v2-t7")
LISTS = ("v2-t2", "v2-t8")
EVENTS = ("v2-t1", "v2-t4", "v2-t5", "v2-t9", "v2-t10")
SHORTCUTS = {
    "first page": (FirstPage, (*LABS, *LISTS, *EVENTS), 0.4),
    "later rows": (NoClock, (*LABS, *EVENTS), 0.55),
    "other units": (NoUnits, ("v1-t4", "v1-t6", "v1-t7"), 0.6),
}


@pytest.mark.slow
@pytest.mark.parametrize("benchmark", [None, "v1"], ids=["ours", "benchmark"])
@pytest.mark.parametrize("shortcut", SHORTCUTS.values(), ids=SHORTCUTS.keys())
def test_a_reader_that_takes_a_shortcut_is_seldom_right(shortcut, benchmark) -> None:
    reader, kinds, most = shortcut
    for name in kinds:
        env = FhirRecordEnv(task_types=[name], benchmark=benchmark)
        assert share_right(env, reader, 200) <= most + 0.08, name


@pytest.mark.parametrize("shortcut", SHORTCUTS.values(), ids=SHORTCUTS.keys())
def test_readers_that_take_shortcuts_are_seldom_right_on_the_whole(shortcut) -> None:
    reader, kinds, most = shortcut
    assert share_right(FhirRecordEnv(task_types=list(kinds)), reader, 80) <= most


def share_right(env: FhirRecordEnv, reader: type[ChartView], count: int) -> float:
    """Return how often a rule that is applied to what a reader sees comes out as it should."""
    right = 0
    for index in range(count):
        instance = env.family.generator.generate(Split.TRAIN, index)
        facts, truth = instance.reference.facts, instance.reference.decision
        store = FhirStore(instance.start.base, clock=Clock(facts.now))
        read = KINDS[instance.reference.kind].decide(reader(store), facts)
        answered = len(read.answer) == len(truth.answer) and all(
            wanted.accepts(given.value)
            for wanted, given in zip(truth.answer, read.answer, strict=True)
        )
        right += answered and (read.orders, read.stops) == (truth.orders, truth.stops)
    return right / count


def test_training_on_a_benchmark_is_balanced_and_its_test_split_is_as_published() -> None:
    for benchmark in ("v1", "v2", "v3"):
        env = FhirRecordEnv(benchmark=benchmark, difficulty="easy")
        drawn = decisions(env, 400)
        both = [kind for kind in KINDS.values() if len({b.acts for b in kind.branches}) == 2]
        acting = sum(n for (k, b), n in drawn.items() if KINDS[k].branch(b).acts)
        conditional = {kind.name for kind in both}
        idle = sum(
            n for (k, b), n in drawn.items() if k in conditional and not KINDS[k].branch(b).acts
        )
        acting -= sum(n for (k, _), n in drawn.items() if k not in conditional and k in ACTING)
        assert 0.8 < acting / idle < 1.25
        assert Counter(published_mix(benchmark).fixed) == decisions(
            env, env.family.generator.size(Split.TEST) or 0, "test"
        )


ACTING = frozenset({"v1-t3", "v1-t8"})


def test_honest_work_passes_both_profiles_in_the_splits_of_a_benchmark() -> None:
    for benchmark in ("v1", "v2"):
        for split in ("train", "test"):
            env = FhirRecordEnv(benchmark=benchmark, split=split)
            for index in range(0, 300, 15):
                env.reset(options={"index": index})
                instance = env.episode._instance
                for action in env.family.oracle(instance, np.random.default_rng(0)):
                    *_, info = env.step(action)
                verdicts = [verdict["success"] for verdict in info["verdict"].values()]
                assert verdicts == [True, True], instance.task.task_id
