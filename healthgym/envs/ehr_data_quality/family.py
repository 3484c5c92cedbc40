"""The parts of the data-quality family, put together for the engine."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from healthgym.core.clock import Clock
from healthgym.core.family import AGENT, Baseline, Family, Script, Seat
from healthgym.core.task import Instance, Reference, Task, TaskGenerator
from healthgym.core.tool import ToolCatalog, Toolset, call
from healthgym.envs.ehr_data_quality.generator import START
from healthgym.envs.ehr_data_quality.oracle import (
    audit_by_rules,
    flag_all_patients,
    flag_the_tail,
    solve,
)
from healthgym.envs.ehr_data_quality.task import AuditReference
from healthgym.envs.ehr_data_quality.toolset import AuditTools
from healthgym.envs.ehr_data_quality.verifier import AuditVerifier
from healthgym.worlds.workspace import (
    FileTools,
    TableTools,
    Workspace,
    WorkspaceWorld,
    python_tools,
)

_TAIL = 24


class DataQualityFamily(Family[WorkspaceWorld]):
    """Audits of a hospital's tables.

    Args:
        generator: Draws the audits.
        python: Which Python is offered; see :func:`~healthgym.worlds.workspace.python_tools`.
    """

    name: ClassVar[str] = "ehr-data-quality"

    def __init__(self, generator: TaskGenerator, *, python: str = "sandbox") -> None:
        self.generator = generator
        self.verifier = AuditVerifier()
        toolsets: list[type[Toolset[Any]]] = [FileTools, TableTools]
        toolsets += [*python_tools(python), AuditTools]
        self._seats = {AGENT: Seat(ToolCatalog(toolsets))}

    def open(self, instance: Instance[Task, Reference]) -> WorkspaceWorld:
        """Return a fresh workspace over the instance's tables."""
        start = instance.start
        assert isinstance(start, Workspace)
        return WorkspaceWorld(start, Clock(START))

    def seats(self, instance: Instance[Task, Reference]) -> Mapping[str, Seat]:
        """Return the one seat there is."""
        return self._seats

    def oracle(self, instance: Instance[Task, Reference], rng: np.random.Generator) -> Script:
        """Flag exactly the rows that are wrong."""
        reference = instance.reference
        assert isinstance(reference, AuditReference)
        return list(solve(reference))

    def baselines(self) -> Mapping[str, Baseline]:
        """Return the scripted policies; the careful set of rules is no shortcut, and not one."""
        return {
            "oracle": self.oracle,
            "flood": lambda instance, rng: audit_by_rules("flood"),
            "prior": lambda instance, rng: flag_all_patients(),
            "tail": lambda instance, rng: flag_the_tail(_TAIL),
            "empty": lambda instance, rng: [call("submit")],
        }
