"""Descriptions and parents of codes, from the metadata tables a configuration joins."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import polars as pl

from healthgym.core.borders import JsonObject
from healthgym.errors import ToolError
from healthgym.worlds.etl.config import Block, EventConfig
from healthgym.worlds.etl.events import code_expression
from healthgym.worlds.etl.expressions import expression
from healthgym.worlds.etl.premeds import PreparedTables

_MANDATORY: JsonObject = {
    "code": pl.String(),
    "description": pl.String(),
    "parent_codes": pl.List(pl.String()),
}


def code_metadata(
    config: EventConfig, tables: PreparedTables, codes: Collection[str]
) -> pl.DataFrame:
    """Return one row for each code that a metadata table describes, sorted by code.

    Columns are code, description and parent_codes, then those the configuration adds. If any code
    is described more than once, the descriptions are joined by line breaks and the other columns
    hold lists, as in the published tools.

    Raises:
        ToolError: If a metadata table or one of its columns does not exist.
    """
    by_table: dict[str, list[tuple[Block, tuple[tuple[str, Any], ...]]]] = {}
    for block in config.blocks:
        for table, rows in block.metadata:
            by_table.setdefault(table, []).append((block, rows))
    allowed = pl.Series("code", list(codes), dtype=pl.String)
    found = [
        _described(tables.metadata(table), block, rows, table, allowed)
        for table, entries in by_table.items()
        for block, rows in entries
    ]
    if not found:
        return pl.DataFrame(schema=dict(_MANDATORY))
    merged = pl.concat(found, how="diagonal_relaxed").unique(maintain_order=True).collect()
    if merged["code"].n_unique() != merged.height:
        merged = merged.group_by("code", maintain_order=True).agg(
            _gathered(name) for name in merged.columns if name != "code"
        )
    present = {
        name: pl.col(name).cast(dtype, strict=False)
        if name in merged.columns
        else pl.lit(None, dtype=dtype)
        for name, dtype in _MANDATORY.items()
    }
    extra = [name for name in merged.columns if name not in _MANDATORY]
    return merged.select(*(value.alias(name) for name, value in present.items()), *extra).sort(
        "code"
    )


def _gathered(column: str) -> pl.Expr:
    if column == "description":
        return pl.col(column).str.join("\n")
    return pl.col(column).explode() if column == "parent_codes" else pl.col(column)


def _described(
    source: pl.DataFrame,
    block: Block,
    rows: tuple[tuple[str, object], ...],
    table: str,
    allowed: pl.Series,
) -> pl.LazyFrame:
    """Return what a metadata table says about the codes of one block."""
    chosen: dict[str, pl.Expr] = {}
    needed: set[str] = set()
    for name, spec in rows:
        chosen[name], columns = expression(spec)
        needed |= columns
    own = {part.text for part in block.code if part.column}
    missing = sorted((needed | own) - set(source.columns) - chosen.keys())
    if missing:
        raise ToolError(
            f"{block.table}.{block.name}: {table} has no column {', '.join(missing)}; it has "
            f"{', '.join(source.columns)}. Codes are built from its columns too."
        )
    outputs = list(chosen)
    chosen |= {name: pl.col(name) for name in own if name not in chosen}
    described = (
        source.lazy()
        .select(**chosen)
        .with_columns(code=code_expression(block.code))
        .filter(pl.col("code").is_in(allowed.implode()))
        .filter(~pl.all_horizontal(pl.col(name).is_null() for name in outputs))
    )
    if "description" in outputs:
        described = described.with_columns(pl.col("description").cast(pl.String))
    if "parent_codes" in outputs:
        parent = pl.col("parent_codes").cast(pl.String)
        listed = pl.when(parent.is_not_null()).then(pl.concat_list(parent))
        described = described.with_columns(parent_codes=listed)
    return described.unique(maintain_order=True).select("code", *outputs)
