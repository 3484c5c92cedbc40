"""The published evaluator: a file of flags against clusters of rows."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Sequence
from dataclasses import dataclass

from healthgym.core.files import BYTE_ORDER_MARK
from healthgym.envs.ehr_data_quality.task import Cluster, Row
from healthgym.rewards.metrics import cluster_recall

#: The published floor of the precision; a later fork raised it to 0.1.
PRECISION_FLOOR = 0.01
_ALIASES = {"row_id": "_row_id", "rowid": "_row_id"}
_COLUMNS = ("table", "_row_id")
#: What is put behind a file to see whether its last quote is closed.
_END = "end"
#: Blank lines that end in CR alone, each with the comma behind it that pandas takes for its end.
_SWALLOWED = re.compile(r"(?:\A|[\r\n])(?:[ \t]*\r,)+")


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
    ``_row_id``; other columns are ignored, and repeated rows collapse. The published evaluator
    reads with ``pandas.read_csv(dtype=str, keep_default_na=False)``, and so do we: lines end with
    any of LF, CR and CRLF; blank lines are none, and one that ends in CR alone takes a comma at the
    beginning of the next with it; a short line is filled up with empty cells; where
    the first line of rows is longer than the header, as with a comma at its end, its first cells
    are an index and the others move to the left; a later line that is longer still, a quote that
    is never closed or two columns of one name make the file name nothing.
    """
    lines = _lines(text.removeprefix(BYTE_ORDER_MARK)) if text else []
    if len(lines) < 2:
        return frozenset()
    header, width = _header(lines[0]), max(len(lines[0]), len(lines[1]))
    if any(header.count(name) != 1 for name in _COLUMNS):
        return frozenset()
    if any(len(line) > width for line in lines[2:]):
        return frozenset()
    table, row = (header.index(name) + width - len(header) for name in _COLUMNS)
    filled = (line + [""] * (width - len(line)) for line in lines[1:])
    return frozenset((line[table], line[row]) for line in filled)


def _lines(text: str) -> list[list[str]]:
    """Return the lines that are not blank, as cells; none where a quote is left open."""
    # Were a quote open, it would swallow what is put after the end.
    whole = io.StringIO(f"{_SWALLOWED.sub(_kept, text)}\n{_END}", newline="")
    try:
        *lines, last = csv.reader(whole)
    except csv.Error:
        return []
    if last != [_END]:
        return []
    return [line for line in lines if not _blank(line)]


def _kept(match: re.Match[str]) -> str:
    """Return what is left of blank lines and swallowed commas; all of it within quotes."""
    quoted = match.string.count('"', 0, match.start()) % 2
    return match[0] if quoted else match[0].replace(",", "")


def _blank(line: Sequence[str]) -> bool:
    """Return whether there is nothing in a line, or nothing but blanks; quotes are something."""
    return not line or (len(line) == 1 and bool(line[0]) and not line[0].strip(" \t"))


def _header(cells: Sequence[str]) -> list[str]:
    """Return the names of the columns; of equal ones only the first keeps its name."""
    seen: set[str] = set()
    names = []
    for cell in cells:
        name = cell.strip().lower()
        names.append("" if cell in seen else _ALIASES.get(name, name))
        seen.add(cell)
    return names


def grade(flags: frozenset[Row], clusters: Sequence[Cluster]) -> PaperScore:
    """Return the published score of some flags."""
    labelled = frozenset().union(*(cluster.members for cluster in clusters))
    precision = len(flags & labelled) / len(flags) if flags else 0.0
    return PaperScore(cluster_recall(flags, [c.members for c in clusters]), precision)
