"""What tests of boxes run, and when."""

from dataclasses import replace
from datetime import UTC, datetime

from healthgym.worlds.workspace.box import Box, BoxRun, probes

NOW = datetime(2024, 1, 1, 12, tzinfo=UTC)


def small(box: Box, **limits: float) -> Box:
    return Box(box.bwrap, box.runtime, box.identity, replace(probes.TRIAL, **limits))  # type: ignore[arg-type]


def run(box: Box, code: str, **functions: object) -> BoxRun:
    return box.run(code, functions)  # type: ignore[arg-type]
