"""Tasks follow from family, split and index alone, and share nothing."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from healthgym.core.seeding import (
    INDEX_BOUND,
    Split,
    TaskStreams,
    content_hash,
    stable_hash,
    task_rng,
    weighted_order,
)
from healthgym.core.task import TaskKey
from healthgym.errors import ConfigurationError
from tests.core.toys import LedgerGenerator

# Written down once. If it changes, every published task changes with it.
GOLDEN = (
    "278671031009375962450415869195767880728 2195996868298758584 c7f8b71207bf710b13d6b183ac366200"
)

PROGRAM = """
from healthgym.core.seeding import Split, content_hash, stable_hash, task_rng
from tests.core.toys import LedgerGenerator
draw = task_rng("toy-ledger", Split.TEST, 7).integers(2**62)
instance = LedgerGenerator().generate(Split.TEST, 7)
print(stable_hash("toy-ledger"), draw, content_hash([instance.task.instruction, instance.start]))
"""


@pytest.mark.parametrize("hash_seed", ["0", "1234"])
def test_tasks_are_the_same_in_every_process(repo_root: Path, hash_seed: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        env={**os.environ, "PYTHONHASHSEED": hash_seed, "PYTHONPATH": str(repo_root)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == GOLDEN


def test_neighbouring_tasks_share_no_random_numbers() -> None:
    streams = [
        tuple(task_rng(family, split, index, stream).integers(2**63, size=4))
        for family in ("a", "b")
        for split in Split
        for index in range(50)
        for stream in range(2)
    ]
    draws = [draw for drawn in streams for draw in drawn]
    assert len(set(draws)) == len(draws) == 2 * 3 * 50 * 2 * 4


def test_splits_share_no_task() -> None:
    generator = LedgerGenerator()
    tasks = [
        (instance.task.instruction, content_hash(instance.start))
        for split in Split
        for instance in (generator.generate(split, index) for index in range(100))
    ]
    assert len(set(tasks)) == len(tasks)


def test_the_branch_is_balanced() -> None:
    generator = LedgerGenerator()
    moved = np.mean([generator.kind(Split.TRAIN, index) == "transfer" for index in range(400)])
    assert 0.4 < moved < 0.6


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=5,
)


@given(st.dictionaries(st.text(), json_values))
def test_content_hash_ignores_key_order_and_nothing_else(value: dict[str, object]) -> None:
    turned = dict(reversed(value.items()))
    assert content_hash(turned) == content_hash(value)
    assert content_hash({**value, "one more": 1}) != content_hash({**value, "one more": 2})


@given(st.sampled_from(Split), st.integers(0, INDEX_BOUND - 1), st.sampled_from(["a", "a/b-c"]))
def test_keys_are_read_back(split: Split, index: int, family: str) -> None:
    key = TaskKey(family, split, index)
    assert TaskKey.parse(str(key)) == key


@pytest.mark.parametrize(
    "text",
    ["", "a", "a/train", "/train/1", "a/exam/1", "a/train/-1", "a/train/1.0", "a/train/",
     "a/train/2147483648", "a/train/\u00b2", "a/train/" + "9" * 5000],
)  # fmt: skip
def test_other_texts_are_no_keys(text: str) -> None:
    with pytest.raises(ConfigurationError):
        TaskKey.parse(text)


def test_stable_hash_has_128_bits() -> None:
    assert 2**100 < stable_hash("a") < 2**128


def test_streams_are_made_when_they_are_drawn_from() -> None:
    streams = TaskStreams("family", Split.TEST, 5, 3)
    alone = [task_rng("family", Split.TEST, 5, stream) for stream in range(3)]
    assert streams[2] is streams[-1] is streams[1:][1]
    assert [each.random() for each in streams] == [each.random() for each in alone]
    assert len(streams) == 3
    with pytest.raises(IndexError):
        streams[3]


@pytest.mark.parametrize("count", [0, 1, 2, 5, 12])
def test_a_weighted_order_is_the_one_that_numpy_draws(count: int) -> None:
    for seed in range(200):
        shares = np.random.default_rng(seed + 1000).random(count) ** 3 + 1e-3
        shares /= shares.sum()
        ours, theirs = np.random.default_rng(seed), np.random.default_rng(seed)
        order = weighted_order(shares.tolist(), ours)
        expected = theirs.choice(count, count, replace=False, p=shares) if count else []
        assert order == list(expected)
        assert ours.random() == theirs.random()
