"""Seed to slide and tumour tiles."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import lru_cache
from importlib.resources import files

import numpy as np

from healthgym.core.seeding import Split, task_rng
from healthgym.core.task import Instance, Task, TaskKey
from healthgym.envs.tumor_area.task import (
    SlideConfig,
    SlideInstance,
    SlideStart,
    SlideTaskGenerator,
    TumorReference,
    instruction,
)
from healthgym.errors import ConfigurationError
from healthgym.worlds.slides.compose import draw_scene
from healthgym.worlds.slides.foci import STEP, mask
from healthgym.worlds.slides.grid import TILE, TUMOR, Tile, gold_tiles, tumor_areas
from healthgym.worlds.slides.scene import Scene
from healthgym.worlds.slides.synthetic import SyntheticSlide

#: Tasks kept in memory; the rollouts of a group share one.
_KEPT = 4
#: Scenes drawn until one has room for its tumour.
_TRIES = 20


@lru_cache(maxsize=1)
def canonical_slides() -> tuple[tuple[int, int, int], ...]:
    """Return tumour tiles, columns and rows of the ten published tasks."""
    text = files("healthgym.envs.tumor_area").joinpath("data/canonical.json").read_text("utf-8")
    return tuple((row["tiles"], row["columns"], row["rows"]) for row in json.loads(text)["slides"])


@dataclass(frozen=True)
class TumorAreaGenerator(SlideTaskGenerator):
    """Draws slides.

    Attributes:
        config: What slides are like.
        name: Family name in task ids.
        canonical: Whether the test split is ten slides with the published numbers of tumour tiles
            and extents.
        kind_name: Kind of the tasks, which says how hard they are.
    """

    config: SlideConfig
    name: str = "tumor-area"
    canonical: bool = False
    kind_name: str = "slide"
    tests: int | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        if self.canonical:
            object.__setattr__(self, "tests", len(canonical_slides()))

    def draw(self, split: Split, index: int) -> SlideInstance:
        """Return a task; generators that are equal share it.

        Raises:
            ConfigurationError: If no slide of the configuration has room for its tumour.
        """
        return _build(self, split, index)

    def scene(self, split: Split, index: int) -> tuple[Scene, dict[Tile, tuple[int, int]]]:
        """Return the scene of a task, and the tumour under its tiles."""
        recipe = self.config.recipe
        if self.is_fixed(split):
            tiles, columns, rows = canonical_slides()[index]
            recipe = replace(
                recipe, tiles=(tiles, tiles), columns=(columns, columns), rows=(rows, rows)
            )
        low, high = recipe.tiles
        for attempt in range(_TRIES):
            scene = draw_scene(task_rng(self.name, split, index, attempt), recipe)
            areas = scene_areas(scene)
            if low <= len(gold_tiles(areas)) <= high:
                return scene, areas
        raise ConfigurationError(
            f"No slide of {recipe.columns} by {recipe.rows} tiles with {recipe.tissue} tiles of "
            f"tissue has room for {low} to {high} tumour tiles."
        )


def scene_areas(scene: Scene) -> dict[Tile, tuple[int, int]]:
    """Return tumour pixels and all pixels of the mask under each tile with tumour, row by row."""
    page = mask(scene.tumor)
    rows, columns = np.nonzero(page.values == TUMOR)
    per_tile = TILE // STEP
    tiles = sorted(
        set(zip((rows // per_tile).tolist(), (columns // per_tile).tolist(), strict=True))
    )
    return tumor_areas(page, scene.width, scene.height, [(x, y) for y, x in tiles])


@lru_cache(maxsize=_KEPT)
def _build(generator: TumorAreaGenerator, split: Split, index: int) -> SlideInstance:
    scene, areas = generator.scene(split, index)
    looks = generator.config.looks
    task = Task(
        TaskKey(generator.name, split, index),
        generator.kind_name,
        instruction(looks),
        {"looks": looks},
    )
    reference = TumorReference(
        gold_tiles(areas), {tile: tumor for tile, (tumor, _) in areas.items()}
    )
    start = SlideStart(SyntheticSlide(scene), looks, datetime(2024, 3, 4, 9, tzinfo=UTC))
    return Instance(task, reference, start)
