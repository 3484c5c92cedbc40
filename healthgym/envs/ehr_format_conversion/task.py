"""Both halves of a conversion task, and how hard it is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

from healthgym.core.arguments import member
from healthgym.core.borders import JsonObject
from healthgym.core.task import Instance, Reference, Task, TaskGenerator
from healthgym.envs.ehr_format_conversion.clauses import Clause, ClauseKind
from healthgym.errors import ConfigurationError
from healthgym.worlds.etl.pipeline import Cohort, Pipeline
from healthgym.worlds.etl.world import Workspace


@dataclass(frozen=True, slots=True)
class ConversionReference(Reference):
    """What was asked for, as a configuration, and the cohort it makes.

    Attributes:
        clauses: The wishes.
        default: The default configuration.
        sections: The sections of the touched tables, as they should read.
        config: The whole configuration asked for.
        pipeline: The verifier's own pipeline: the agent's remembers cohorts, this one's must not
            be among them.
    """

    clauses: tuple[Clause, ...]
    default: str
    sections: dict[str, str]
    config: str
    pipeline: Pipeline = field(repr=False)

    def cohort(self) -> Cohort:
        """Return the cohort asked for; made when first needed."""
        return self.pipeline.run(self.config)


ConversionInstance = Instance[Task, ConversionReference, Workspace]
ConversionTaskGenerator = TaskGenerator[Task, ConversionReference, Workspace]


@dataclass(frozen=True, slots=True)
class RequestConfig:
    """How large the hospital and how long the request is.

    Attributes:
        subjects: Fewest and most patients; splits need at least ten.
        busy: How much happens to them; 1 is about a hundred rows each.
        core: Whether only seven tables are there.
        wishes: Fewest and most wishes.
        kinds: Kinds of wishes that are drawn.
        indirect: Whether columns are called by their meaning in the data dictionary.
    """

    subjects: tuple[int, int] = (16, 24)
    busy: float = 1.0
    core: bool = False
    wishes: tuple[int, int] = (3, 4)
    kinds: tuple[ClauseKind, ...] = tuple(ClauseKind)
    indirect: bool = False

    def __post_init__(self) -> None:
        for low, high in (self.subjects, self.wishes):
            if not 0 < low <= high:
                raise ConfigurationError("Ranges of a RequestConfig are (fewest, most).")
        if self.subjects[0] < 10 or not self.kinds:
            raise ConfigurationError("A hospital has at least 10 patients, a request some kind.")
        for kind in self.kinds:
            member(ClauseKind, kind, "kind")

    def changed(self, settings: JsonObject | None) -> RequestConfig:
        """Return the configuration with other settings, given as JSON values.

        Raises:
            ConfigurationError: If they are not fields of a configuration.
        """
        given: dict[str, Any] = {
            name: tuple(value) if isinstance(value, list | tuple) else value
            for name, value in (settings or {}).items()
        }
        if "kinds" in given:
            given["kinds"] = tuple(member(ClauseKind, kind, "kind") for kind in given["kinds"])
        try:
            return replace(self, **given)
        except (TypeError, ValueError) as error:
            raise ConfigurationError(f"Not the settings of a request: {error}") from None


_SIMPLE = (ClauseKind.SPLIT, ClauseKind.PREFIX, ClauseKind.DROP, ClauseKind.TIME)
#: What a name of a difficulty stands for.
PRESETS: Mapping[str, RequestConfig] = MappingProxyType(
    {
        "easy": RequestConfig((12, 14), 0.5, True, (1, 2), _SIMPLE),
        "medium": RequestConfig(),
        "hard": RequestConfig((24, 36), 1.0, False, (5, 7), indirect=True),
    }
)
