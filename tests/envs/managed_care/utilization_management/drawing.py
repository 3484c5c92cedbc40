"""Tasks of utilization management for tests, drawn once."""

from __future__ import annotations

from functools import cache

from healthgym.core.seeding import Split
from healthgym.envs.managed_care.utilization_management.choices import canonical_cases
from healthgym.envs.managed_care.utilization_management.generator import ReviewGenerator
from healthgym.envs.managed_care.utilization_management.task import (
    PRESETS,
    ReviewConfig,
    ReviewInstance,
)
from healthgym.worlds.managed_care.rules import Rules

NAME = "utilization-management"


def generator(config: ReviewConfig | str = "medium", *, canonical: bool = False) -> ReviewGenerator:
    """Return a generator."""
    known = PRESETS[config] if isinstance(config, str) else config
    label = config if isinstance(config, str) else "custom"
    name = f"{NAME}-canonical" if canonical else NAME
    return ReviewGenerator(known, label, name, Rules.STRICT, canonical=canonical)


@cache
def drawn(level: str = "medium", split: Split = Split.TRAIN) -> tuple[ReviewInstance, ...]:
    """Return some tasks."""
    made = generator(level)
    return tuple(made.generate(split, index) for index in range(120))


@cache
def canonical() -> tuple[ReviewInstance, ...]:
    """Return the canonical test split."""
    made = generator(canonical=True)
    return tuple(made.generate(Split.TEST, index) for index in range(len(canonical_cases())))
