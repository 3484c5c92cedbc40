"""Tables and cohorts as short texts."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from healthgym.errors import ToolError
from healthgym.worlds.etl.hashes import read_parquet
from healthgym.worlds.etl.tables import RawTables
from healthgym.worlds.etl.world import EtlWorld

_ROWS = 20
_EXAMPLES = 4


def page_of(lines: Sequence[str], page: int, size: int) -> str:
    """Return one page of lines, with how to read on.

    Raises:
        ToolError: If there is no such page.
    """
    pages = max(-(-len(lines) // size), 1)
    _check_page(page, pages)
    shown = "\n".join(lines[(page - 1) * size : page * size])
    if pages == 1:
        return shown
    return f"{shown}\n(page {page} of {pages}, {len(lines)} lines)"


def _check_page(page: int, pages: int) -> None:
    if not 1 <= page <= pages:
        raise ToolError(f"There are {pages} pages; {page} is none of them.")


def table_lines(tables: RawTables, name: str) -> list[str]:
    """Return what a raw table holds, column by column.

    Raises:
        ToolError: If there is no such table.
    """
    frame = tables.events(name)
    lines = [f"{name}: {frame.height} rows. Column | type | missing | different | examples"]
    for column in frame.get_columns():
        values = column.drop_nulls().unique(maintain_order=True)
        examples = ", ".join(str(value)[:40] for value in values.head(_EXAMPLES).to_list())
        lines.append(
            f"{column.name} | {column.dtype} | {column.null_count()} | {values.len()} | {examples}"
        )
    return lines


def cohort_frame(world: EtlWorld, folder: str, search: str, shard: str) -> pl.DataFrame:
    """Return the events of a cohort, with their shard.

    Raises:
        ToolError: If there is no cohort, or no such shard.
    """
    start = f"{folder}/data/"
    shards = {
        path.removeprefix(start).removesuffix(".parquet"): path
        for path in world.paths(f"{folder}/data")
        if path.endswith(".parquet")
    }
    if not shards:
        raise ToolError(f"There is no cohort in {folder[:120]!r}; run_etl writes one.")
    if shard and shard not in shards:
        raise ToolError(f"There is no shard {shard[:80]!r}; there are {', '.join(shards)}.")
    frames = [
        read_parquet(world.read(path), path).with_columns(shard=pl.lit(name))
        for name, path in shards.items()
        if shard in ("", name)
    ]
    events = pl.concat(frames, how="diagonal_relaxed")
    if "code" not in events.columns or events.schema["code"] != pl.String:
        raise ToolError(f"The files in {folder[:120]!r} are no cohort: they have no codes.")
    if search:
        events = events.filter(pl.col("code").str.contains(search, literal=True))
    return events


def summary_lines(world: EtlWorld, folder: str, events: pl.DataFrame) -> list[str]:
    """Return shards, columns and code families of a cohort."""
    shards = events.group_by("shard").len().sort("shard").rows()
    families = (
        events.group_by(family=pl.col("code").str.split("//").list.first())
        .agg(pl.len(), codes=pl.col("code").n_unique(), static=_missing_times(events))
        .sort("family")
        .rows()
    )
    return [
        f"{events.height} events. Files: {', '.join(world.paths(folder))}",
        f"Events by shard: {', '.join(f'{name}: {count}' for name, count in shards)}",
        f"Columns: {', '.join(name for name in events.columns if name != 'shard')}",
        "First part of the code | events | codes | events without time",
        *(" | ".join(str(value) for value in row) for row in families[:100]),
    ]


def _missing_times(events: pl.DataFrame) -> pl.Expr:
    return pl.col("time").null_count() if "time" in events.columns else pl.lit(0)


def code_lines(events: pl.DataFrame) -> list[str]:
    """Return each code with its number of events, sorted by code."""
    counts = events.group_by("code").len().sort("code").rows()
    return [f"{code}: {count}" for code, count in counts] or ["No events."]


def row_lines(events: pl.DataFrame, page: int) -> str:
    """Return a page of events as CSV, columns that are empty on it left out.

    Raises:
        ToolError: If there is no such page.
    """
    pages = max(-(-events.height // _ROWS), 1)
    _check_page(page, pages)
    rows = events.slice((page - 1) * _ROWS, _ROWS)
    kept = [column.name for column in rows.get_columns() if column.null_count() < rows.height]
    lists = [name for name in kept if isinstance(rows.schema[name], pl.List)]
    shown = rows.select(kept).with_columns(pl.col(name).list.join("; ") for name in lists)
    return f"{shown.write_csv()}(page {page} of {pages}, {events.height} events)"
