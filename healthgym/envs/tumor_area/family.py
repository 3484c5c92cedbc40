"""The tumour-area family, declared."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar

import numpy as np

from healthgym.core.clock import Clock
from healthgym.core.family import Baseline, EpisodeConfig, Family, Script, Solver, single
from healthgym.core.levels import CUSTOM, SYNTHETIC, Level, assemble
from healthgym.core.task import Task
from healthgym.envs.tumor_area import oracle, solver
from healthgym.envs.tumor_area.generator import TumorAreaGenerator
from healthgym.envs.tumor_area.proofs import PROOFS
from healthgym.envs.tumor_area.task import (
    PRESETS,
    SlideConfig,
    SlideInstance,
    SlideStart,
    SlideTaskGenerator,
    TumorReference,
)
from healthgym.envs.tumor_area.toolset import SlideToolset
from healthgym.envs.tumor_area.verifier import TumorAreaVerifier
from healthgym.worlds.slides.world import SlideWorld


class TumorAreaFamily(Family[Task, TumorReference, SlideStart, SlideWorld]):
    """A slide, and the tiles of it that are tumour.

    Args:
        difficulty: A preset, a configuration, or weights of presets.
        canonical: Whether the test split is ten slides like the published ones.
        source: ``"synthetic"``, or a folder of slides.
        looks: Looks at high power; None leaves what the difficulty says.
    """

    name: ClassVar[str] = "tumor-area"
    roles = single(SlideToolset)
    verifier = TumorAreaVerifier()
    rules = EpisodeConfig(max_turns=80)
    proofs = PROOFS
    #: They go by the stains of the survey.
    looking = frozenset({"prior", "darkest", "palest", "pinkest"})

    def __init__(
        self,
        difficulty: str | SlideConfig | Mapping[str, float] = "medium",
        *,
        canonical: bool = False,
        source: str | Path = SYNTHETIC,
        looks: int | None = None,
    ) -> None:
        name = f"{self.name}-canonical" if canonical else self.name

        def synthetic(level: Level[SlideConfig]) -> SlideTaskGenerator:
            kind = "slide" if level.label == CUSTOM else level.label
            return TumorAreaGenerator(level.config.watched(looks), name, canonical, kind)

        def real(path: Path, config: SlideConfig) -> SlideTaskGenerator:
            from healthgym.envs.tumor_area.sources import FolderGenerator

            return FolderGenerator(path, config.watched(looks).looks)

        self.generator = assemble(
            PRESETS, difficulty, synthetic, source=source, real=real, canonical=canonical
        )

    def open(self, instance: SlideInstance) -> SlideWorld:
        """Return a fresh world over the instance's slide."""
        start, task = instance.start, instance.task
        clock = Clock(start.now)
        return SlideWorld(start.slide, clock, start.looks, task.task_id, task.instruction)

    def oracle(self, instance: SlideInstance, rng: np.random.Generator) -> Script:
        """Look, measure, select the tumour, and submit."""
        return oracle.solve(instance, rng)

    def baselines(self) -> Mapping[str, Baseline[Task, TumorReference, SlideStart]]:
        """Return the scripted policies, which guess without high power."""
        return {
            "flood": oracle.flood,
            "all_tissue": oracle.all_tissue,
            "prior": oracle.prior,
            "darkest": oracle.darkest,
            "palest": oracle.palest,
            "pinkest": oracle.pinkest,
            "empty": oracle.empty,
        }

    def solvers(self) -> Mapping[str, Solver]:
        """Return the policy that reads the tools' numbers and nothing else."""
        return {"solver": solver.solve}
