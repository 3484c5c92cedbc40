"""The correction family, declared."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar

import numpy as np

from healthgym.core.borders import JsonObject
from healthgym.core.clock import Clock
from healthgym.core.endpoint import Endpoint
from healthgym.core.family import Baseline, EpisodeConfig, Family, Script, Solver, single
from healthgym.core.levels import SYNTHETIC, Level, assemble
from healthgym.core.task import Task
from healthgym.envs.xray_correction import oracle, solver
from healthgym.envs.xray_correction.generator import CorrectionGenerator
from healthgym.envs.xray_correction.proofs import PROOFS
from healthgym.envs.xray_correction.task import (
    PRESETS,
    CorrectionInstance,
    CorrectionReference,
    CorrectionStart,
    CorrectionTaskGenerator,
    ReportConfig,
)
from healthgym.envs.xray_correction.thresholds import stated
from healthgym.envs.xray_correction.toolset import CorrectionToolset
from healthgym.envs.xray_correction.verifier import CorrectionVerifier, Judge
from healthgym.rewards.judge import LlmJudge
from healthgym.worlds.radiography.world import ReadingRoom


class CorrectionFamily(Family[Task, CorrectionReference, CorrectionStart, ReadingRoom]):
    """Drafts of radiograph reports with errors.

    Args:
        difficulty: A preset, a configuration, or weights of presets.
        canonical: Whether tasks are composed like the source's ten cases.
        source: ``"synthetic"``, or a folder of radiographs and reports.
        judge: Decides the paper profile in place of the claims; an endpoint, or its fields, asks a
            model as the source does. None by default.
    """

    name: ClassVar[str] = "xray-correction"
    roles = single(CorrectionToolset)
    verifier = CorrectionVerifier()
    rules = EpisodeConfig(max_turns=60)
    proofs = PROOFS

    def __init__(
        self,
        difficulty: str | ReportConfig | Mapping[str, float] = "medium",
        *,
        canonical: bool = False,
        source: str | Path = SYNTHETIC,
        judge: Judge | Endpoint | JsonObject | None = None,
    ) -> None:
        name = f"{self.name}-canonical" if canonical else self.name

        def synthetic(level: Level[ReportConfig]) -> CorrectionTaskGenerator:
            return CorrectionGenerator(
                level.config, difficulty=level.label, canonical=canonical, name=name
            )

        self.generator = assemble(
            PRESETS, difficulty, synthetic, source=source, real=_folder, canonical=canonical
        )
        if judge is not None:
            asked = LlmJudge.of(judge) if isinstance(judge, Endpoint | Mapping) else judge
            self.verifier = CorrectionVerifier(asked)

    def open(self, instance: CorrectionInstance) -> ReadingRoom:
        """Return a fresh room over the instance's radiographs."""
        start = instance.start
        limits = stated() if start.drawn else {}
        return ReadingRoom(start.radiographs, start.header, start.draft, Clock(start.now), limits)

    def oracle(self, instance: CorrectionInstance, rng: np.random.Generator) -> Script:
        """Look, put right, submit."""
        return oracle.solve(instance, rng)

    def baselines(self) -> Mapping[str, Baseline[Task, CorrectionReference, CorrectionStart]]:
        """Return the scripted policies, which look at no picture."""
        return {
            "flood": oracle.flood,
            "prior": oracle.prior,
            "leave": oracle.leave,
            "strip": oracle.strip,
            "delete": oracle.delete,
        }

    def solvers(self) -> Mapping[str, Solver]:
        """Return the policy that reads the tools' measurements, and nothing else."""
        return {"solver": solver.solve}


def _folder(path: Path, config: ReportConfig) -> CorrectionTaskGenerator:
    from healthgym.envs.xray_correction.sources import MimicGenerator

    return MimicGenerator(path, config.errors, f"{CorrectionFamily.name}-mimic")
