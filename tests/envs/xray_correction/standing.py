"""A sentence put in a true one's place in a right report, played as anybody would play it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path

import gymnasium as gym

import healthgym
from healthgym.core.seeding import Split
from healthgym.envs.xray_correction.family import CorrectionFamily

_DATA = Path(__file__).parent / "data"
#: Test tasks among which those stand whose true sentences the files name.
_TASKS = 60
_ID = "HealthAgent/XrayCorrection-v1"


def novel(name: str) -> list[tuple[str, str]]:
    """Return the pairs of a file: a true sentence, and one in its place."""
    found = json.loads((_DATA / f"{name}.json").read_text("utf-8"))
    return [(truth, text) for truth, texts in found.items() for text in texts]


def listed(name: str) -> list[str]:
    """Return the sentences that a file lists."""
    return list(json.loads((_DATA / f"{name}.json").read_text("utf-8")))


@cache
def _tasks() -> Mapping[str, tuple[int, int]]:
    generator = CorrectionFamily("medium").generator
    found: dict[str, tuple[int, int]] = {}
    for index in range(_TASKS):
        truth = generator.generate(Split.TEST, index).reference.truth
        for number, statement in enumerate(truth):
            found.setdefault(statement.text, (index, number))
    return found


@cache
def _environment() -> gym.Env[str, str]:
    return gym.make(_ID, reward="sparse")


def stands(truth: str, text: str) -> Mapping[str, bool]:
    """Hand in a right report with one sentence in another's place; return each profile's word.

    Args:
        truth: A true sentence of a test task.
        text: What is written in its place.
    """
    index, number = _tasks()[truth]
    instance = CorrectionFamily("medium").generator.generate(Split.TEST, index)
    env = _environment()
    env.reset(options={"split": "test", "index": index})
    pairs = zip(instance.start.draft, instance.reference.truth, strict=True)
    for n, (draft, right) in enumerate(pairs):
        wanted = text if n == number else right.text
        if wanted != draft:
            *_, info = env.step(healthgym.call("edit_sentence", number=n + 1, text=wanted))
            assert "error" not in info, info
    *_, info = env.step(healthgym.call("submit"))
    return {name: verdict["success"] for name, verdict in info["verdict"].items()}
