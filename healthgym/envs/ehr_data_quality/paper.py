"""The published evaluator: a file of flags against clusters of rows."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass

from healthgym.envs.ehr_data_quality.task import Cluster, Row
from healthgym.rewards.metrics import cluster_recall

#: The published floor of the precision; a later fork raised it to 0.1.
PRECISION_FLOOR = 0.01
_ALIASES = {"row_id": "_row_id", "rowid": "_row_id"}


@dataclass(frozen=True, slots=True)
class PaperScore:
    """What the published evaluator makes of some flags.

    Attributes:
        recall: Share of clusters of which any row is flagged.
        precision: Share of flags that are rows of a cluster, evidence included; 0 without flags.
    """

    recall: float
    precision: float

    @property
    def success(self) -> bool:
        """Whether both bars are met."""
        return self.recall >= 1.0 and self.precision >= PRECISION_FLOOR


def read_submission(text: str | None) -> frozenset[Row]:
    """Return the rows a file of flags names; none where it cannot be read. Never raises.

    Column names count without case and outer spaces, and ``row_id`` and ``rowid`` stand for
    ``_row_id``; other columns are ignored, and repeated rows collapse.
    """
    if not text:
        return frozenset()
    try:
        lines = list(csv.reader(io.StringIO(text.removeprefix("\ufeff"))))
    except csv.Error:
        return frozenset()
    if not lines:
        return frozenset()
    header = [name.strip().lower() for name in lines[0]]
    header = [_ALIASES.get(name, name) for name in header]
    if "table" not in header or "_row_id" not in header:
        return frozenset()
    table, row = header.index("table"), header.index("_row_id")
    return frozenset((line[table], line[row]) for line in lines[1:] if len(line) > max(table, row))


def grade(flags: frozenset[Row], clusters: Sequence[Cluster]) -> PaperScore:
    """Return the published score of some flags."""
    labelled = frozenset().union(*(cluster.members for cluster in clusters))
    precision = len(flags & labelled) / len(flags) if flags else 0.0
    return PaperScore(cluster_recall(flags, [c.members for c in clusters]), precision)
