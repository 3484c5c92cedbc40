"""Both halves of a conversion task."""

from __future__ import annotations

from dataclasses import dataclass, field

from healthgym.core.task import Reference
from healthgym.envs.ehr_format_conversion.clauses import Clause
from healthgym.worlds.etl.pipeline import Cohort, Pipeline


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
