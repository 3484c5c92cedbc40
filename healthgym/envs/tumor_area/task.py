"""The task, its reference, and how hard it is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime

from healthgym.core.task import Instance, Reference, Task, TaskGenerator
from healthgym.errors import ConfigurationError
from healthgym.worlds.slides.compose import Recipe
from healthgym.worlds.slides.grid import TILE, Tile
from healthgym.worlds.slides.source import Slide

#: F1 over the tiles that passes; HealthAgentBench's.
PASS = 0.90

_INSTRUCTION = """\
Find the tumour on a whole slide image: a lymph node, stained with haematoxylin and eosin. Select \
every tile with tumour and no other, then submit; an F1 score of at least {bar:.2f} over the tiles \
passes. Tiles are 256 pixels wide at downsample 16, {tile} pixels at level 0; tile (x, y) is \
column x, row y, from 0 at the top left. A tile counts as tumour if at least 20 % of its area is. \
survey_tiles measures the stain of all tiles at low power; tile_statistics measures nuclei at high \
power. Lymphocytes have small dark nuclei, tumour cells large uneven ones. You have {looks} looks \
(tile_statistics, view_region, contact_sheet)."""


def instruction(looks: int) -> str:
    """Return what an agent is told that may look closely so many times."""
    return _INSTRUCTION.format(bar=PASS, tile=TILE, looks=looks)


@dataclass(frozen=True, slots=True)
class SlideConfig:
    """What slides are like, and how often they may be looked at closely.

    Attributes:
        recipe: What slides are like.
        looks: Looks at high power in an episode.
    """

    recipe: Recipe
    looks: int

    def watched(self, looks: int | None) -> SlideConfig:
        """Return the same with another number of looks; None leaves it.

        Raises:
            ConfigurationError: If it is not a positive integer.
        """
        if looks is None:
            return self
        if type(looks) is not int or looks < 1:
            raise ConfigurationError(f"looks is a positive integer, not {looks!r}.")
        return replace(self, looks=looks)


#: What a name of a difficulty stands for.
PRESETS: Mapping[str, SlideConfig] = {
    "easy": SlideConfig(
        Recipe(
            columns=(4, 7),
            rows=(4, 7),
            tissue=(9, 13),
            nodes=(1, 1),
            tiles=(2, 5),
            contrast=1.0,
            mimics=0,
            mimic_tiles=(1, 1),
            follicles=(0.2, 0.5),
            artefacts=0,
            clear=True,
        ),
        looks=8,
    ),
    "medium": SlideConfig(
        Recipe(
            columns=(21, 24),
            rows=(21, 24),
            tissue=(240, 320),
            nodes=(1, 4),
            tiles=(20, 165),
            contrast=0.5,
            mimics=1,
            mimic_tiles=(15, 60),
            follicles=(0.4, 0.8),
            artefacts=2,
        ),
        looks=24,
    ),
    "hard": SlideConfig(
        Recipe(
            columns=(21, 24),
            rows=(21, 24),
            tissue=(240, 320),
            nodes=(2, 5),
            tiles=(20, 165),
            contrast=0.0,
            mimics=2,
            mimic_tiles=(20, 80),
            follicles=(0.5, 0.95),
            artefacts=3,
        ),
        looks=20,
    ),
}


@dataclass(frozen=True, slots=True)
class TumorReference(Reference):
    """Where the tumour is.

    Attributes:
        tiles: Tumour tiles, row by row.
        areas: Tumour pixels of the mask under each tile that has some.
    """

    tiles: tuple[Tile, ...]
    areas: Mapping[Tile, int] = field(default_factory=dict)


@dataclass(frozen=True)
class SlideStart:
    """Start state of a slide world.

    Attributes:
        slide: The slide.
        looks: Looks at high power.
        now: The world's time.
    """

    slide: Slide
    looks: int
    now: datetime


SlideInstance = Instance[Task, TumorReference, SlideStart]
SlideTaskGenerator = TaskGenerator[Task, TumorReference, SlideStart]
