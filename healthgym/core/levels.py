"""From an environment's arguments to the generator they mean: difficulty, canonical set, source."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, TypeVar

from healthgym.core.choice import Weighted
from healthgym.core.seeding import Split, task_rng
from healthgym.core.task import (
    Instance,
    KindIndex,
    ReferenceT,
    StartT,
    TaskGenerator,
    TaskT,
    require_index,
)
from healthgym.errors import ConfigurationError

ConfigT = TypeVar("ConfigT")

#: Stream of the choice between levels; families draw their tasks from the small numbers.
_LEVEL_STREAM = 1_000_003
#: What a configuration is called that was given as such.
CUSTOM = "custom"
SYNTHETIC = "synthetic"


@dataclass(frozen=True, slots=True)
class Level(Generic[ConfigT]):
    """A degree of difficulty.

    Attributes:
        label: Its name, for the metadata of tasks.
        config: What it stands for.
        weight: How often it is drawn, relative to others.
    """

    label: str
    config: ConfigT
    weight: float = 1.0


def choose_levels(
    difficulty: str | ConfigT | Mapping[str, float], presets: Mapping[str, ConfigT]
) -> tuple[Level[ConfigT], ...]:
    """Return what a ``difficulty`` argument means.

    Args:
        difficulty: The name of a preset; a configuration; or presets with weights, of which each
            task draws one.
        presets: Configurations by name.

    Raises:
        ConfigurationError: If it is none of these.
    """
    if not isinstance(difficulty, str | Mapping):
        kinds = tuple({type(config) for config in presets.values()})
        if not isinstance(difficulty, kinds):
            named = " or ".join(kind.__name__ for kind in kinds)
            raise ConfigurationError(
                f"difficulty {difficulty!r} is not one of {', '.join(presets)}, nor weights of "
                f"these, nor a {named}."
            )
        return (Level(CUSTOM, difficulty),)
    weights = {difficulty: 1.0} if isinstance(difficulty, str) else difficulty
    unknown = [name for name in weights if name not in presets]
    if unknown or not weights:
        named = ", ".join(map(repr, unknown)) or "nothing"
        raise ConfigurationError(f"difficulty {named} is not one of {', '.join(presets)}.")
    Weighted(weights, "difficulties")  # raises here what is wrong with them
    return tuple(Level(name, presets[name], float(weights[name])) for name in weights)


class MixedGenerator(TaskGenerator[TaskT, ReferenceT, StartT]):
    """Draws a level for each task, and the task from that level's generator.

    Args:
        generators: A generator for each level; all of the same name and sizes.
        weights: How often each is drawn.
    """

    def __init__(
        self,
        generators: Sequence[TaskGenerator[TaskT, ReferenceT, StartT]],
        weights: Sequence[float],
    ) -> None:
        self.name = generators[0].name
        self.tests = generators[0].tests
        self._choice = Weighted(zip(generators, weights, strict=True), "difficulties")

    def size(self, split: Split) -> int:
        """Return the number of tasks of a split, which is that of every level."""
        return self._choice.items[0].size(split)

    def draw(self, split: Split, index: int) -> Instance[TaskT, ReferenceT, StartT]:
        """Return a task of the level that its own random numbers choose."""
        return self._level(split, index).draw(split, index)

    def kind(self, split: Split, index: int) -> str:
        """Return the kind of a task."""
        require_index(self, split, index)
        generator = self._level(split, index)
        if isinstance(generator, KindIndex):
            return generator.kind(split, index)
        return generator.draw(split, index).task.kind

    def _level(self, split: Split, index: int) -> TaskGenerator[TaskT, ReferenceT, StartT]:
        return self._choice.draw(task_rng(self.name, split, index, _LEVEL_STREAM))


def assemble(
    presets: Mapping[str, ConfigT],
    difficulty: str | ConfigT | Mapping[str, float],
    synthetic: Callable[[Level[ConfigT]], TaskGenerator[TaskT, ReferenceT, StartT]],
    *,
    source: str | Path = SYNTHETIC,
    real: Callable[[Path, ConfigT], TaskGenerator[TaskT, ReferenceT, StartT]] | None = None,
    **synthetic_only: object,
) -> TaskGenerator[TaskT, ReferenceT, StartT]:
    """Return the generator that an environment's arguments mean.

    Args:
        presets: Configurations by name.
        difficulty: See :func:`choose_levels`.
        synthetic: Makes the generator of a level.
        source: ``"synthetic"``, or a folder of real data.
        real: Makes the generator of a folder; None where the family reads none.
        synthetic_only: Arguments that belong to the synthetic source, such as ``canonical``; with
            another source none of them may be set.

    Raises:
        ConfigurationError: If the arguments do not fit together.
    """
    levels = choose_levels(difficulty, presets)
    if str(source) != SYNTHETIC:
        if real is None:
            raise ConfigurationError(f"source {str(source)!r}: there is only the synthetic one.")
        unfit = [name for name, value in synthetic_only.items() if value]
        if unfit:
            raise ConfigurationError(f"{' and '.join(unfit)} belongs to the synthetic source.")
        generators = [real(Path(source), level.config) for level in levels]
    else:
        generators = [synthetic(level) for level in levels]
    if len(generators) == 1:
        return generators[0]
    return MixedGenerator(generators, [level.weight for level in levels])
