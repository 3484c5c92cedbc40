"""What is told of results: as JSON, in a terminal, and as Markdown."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import TypeAlias

from healthgym.core.borders import JsonDict

#: Words a table: its head, and its rows.
Tabling: TypeAlias = Callable[[Sequence[str], Sequence[Sequence[str]]], str]


class Report(ABC):
    """Something that was measured, and is told in three forms."""

    __slots__ = ()

    @abstractmethod
    def to_dict(self) -> JsonDict:
        """Return the report as JSON values."""

    @abstractmethod
    def told(self, table: Tabling) -> str:
        """Return the report as tables and notes.

        Args:
            table: Words a table.
        """

    def to_json(self) -> str:
        """Return :meth:`to_dict` as JSON text."""
        return json.dumps(self.to_dict(), indent=1) + "\n"

    def to_text(self) -> str:
        """Return the report as plain tables and notes, for a terminal."""
        return self.told(plain_table)

    def to_markdown(self) -> str:
        """Return the report as Markdown tables and notes."""
        return self.told(markdown_table)


def plain_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table in aligned columns, the first to the left and numbers to the right."""
    lines = [head, *rows]
    widths = [max(len(line[n]) for line in lines) for n in range(len(head))]

    def aligned(line: Sequence[str]) -> str:
        first, *rest = line
        cells = [
            first.ljust(widths[0]),
            *(c.rjust(w) for c, w in zip(rest, widths[1:], strict=True)),
        ]
        return "  ".join(cells).rstrip()

    return "\n".join([aligned(head), "  ".join("-" * w for w in widths), *map(aligned, rows)])


def markdown_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table in Markdown; bars and line breaks inside cells are escaped."""

    def line(cells: Sequence[str]) -> str:
        shown = (" ".join(cell.split()).replace("|", "\\|") for cell in cells)
        return f"| {' | '.join(shown)} |"

    return "\n".join([line(head), f"|{'---|' * len(head)}", *map(line, rows)])
