"""From the rows of a table to events, block by block."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from functools import reduce

import polars as pl

from healthgym.errors import ToolError
from healthgym.worlds.etl.config import Block, Part

SUBJECT = "subject_id"


def code_expression(parts: Sequence[Part]) -> pl.Expr:
    """Return the code: its parts joined by ``//``, a missing value written ``UNK``."""
    texts = [
        pl.col(part.text).cast(pl.String).fill_null("UNK")
        if part.column
        else pl.lit(part.text, dtype=pl.String)
        for part in parts
    ]
    return reduce(lambda left, right: left + pl.lit("//") + right, texts)


def table_events(frame: pl.DataFrame, blocks: Sequence[Block], subject: str) -> pl.LazyFrame:
    """Return the events of a table, block after block, each without repeated rows.

    Args:
        frame: The table.
        blocks: Its event blocks.
        subject: Column of the subject id.

    Raises:
        ToolError: If a block names a column that is not there, or one of an unusable type.
    """
    table = blocks[0].table
    _require(frame, subject, f"{table}: subject_id_col")
    if subject != SUBJECT:
        frame = frame.drop(SUBJECT, strict=False).rename({subject: SUBJECT})
    events = [_block_events(frame, block) for block in blocks]
    return pl.concat(events, how="diagonal_relaxed")


def _require(frame: pl.DataFrame, column: str, where: str) -> pl.DataType:
    dtype = frame.schema.get(column)
    if dtype is None:
        raise ToolError(f"{where}: no column {column!r}; there are {', '.join(frame.columns)}.")
    return dtype


def _block_events(frame: pl.DataFrame, block: Block) -> pl.LazyFrame:
    where = f"{block.table}.{block.name}"
    for part in block.code:
        if part.column:
            _require(frame, part.text, f"{where} code")
    chosen = {SUBJECT: pl.col(SUBJECT), "code": code_expression(block.code)}
    rows = frame.lazy()
    if block.code[0].column:  # only the first part of a code drops rows by being missing
        rows = rows.filter(pl.col(block.code[0].text).is_not_null())
    if block.time is None:
        chosen["time"] = pl.lit(None, dtype=pl.Datetime("us"))
    else:
        chosen["time"] = _time(_require(frame, block.time, f"{where} time"), block, where)
        rows = rows.filter(chosen["time"].is_not_null())
    for name, source in block.columns:
        dtype = _require(frame, source, f"{where} {name}")
        chosen[name] = _value(name, source, dtype, where)
    if {"numeric_value", "text_value"} <= chosen.keys():
        chosen["text_value"] = _unless_number(chosen["text_value"], chosen["numeric_value"])
    return rows.select(**chosen).unique(maintain_order=True)


def _time(dtype: pl.DataType, block: Block, where: str) -> pl.Expr:
    assert block.time is not None
    if dtype == pl.Datetime:
        return pl.col(block.time)
    if dtype != pl.String:
        raise ToolError(f"{where} time: {block.time} holds {dtype}, not times.")
    if not block.formats:
        raise ToolError(f"{where} time: {block.time} is text, so time_format is needed.")
    return pl.coalesce(*(_parsed(block.time, item) for item in block.formats))


def _parsed(column: str, time_format: str) -> pl.Expr:
    with warnings.catch_warnings():
        # polars advises against %f; whether to use it is up to who writes the configuration.
        warnings.simplefilter("ignore", pl.exceptions.ChronoFormatWarning)
        return pl.col(column).str.strptime(pl.Datetime("us"), time_format, strict=False)


def _value(name: str, source: str, dtype: pl.DataType, where: str) -> pl.Expr:
    value = pl.col(source)
    if name == "numeric_value":
        if dtype == pl.String:
            return value.cast(pl.Float64, strict=False)
        if dtype.is_numeric():
            return value
        raise ToolError(f"{where} numeric_value: {source} holds {dtype}, not numbers.")
    if name in ("text_value", "categorical_value"):
        return value.cast(pl.String, strict=False)
    if name == "boolean_value" and dtype != pl.Boolean:
        return value.cast(pl.Boolean, strict=False)
    if not (dtype.is_numeric() or dtype in (pl.String, pl.Boolean)):
        raise ToolError(f"{where} {name}: {source} holds {dtype}, which no event column can.")
    return value


def _unless_number(text: pl.Expr, number: pl.Expr) -> pl.Expr:
    """Return the text, but for texts that only repeat the number."""
    same = text.cast(pl.Float32, strict=False) == number.cast(pl.Float32)
    return pl.when(same).then(pl.lit(None, dtype=pl.String)).otherwise(text)
