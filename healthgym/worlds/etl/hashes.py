"""What a table says, whatever the order of its rows and columns."""

from __future__ import annotations

import hashlib
import io
import json

import polars as pl

from healthgym.errors import ToolError

_SEPARATOR = "\x1f"


def read_parquet(contents: bytes, name: str = "file") -> pl.DataFrame:
    """Return the table in a parquet file.

    Raises:
        ToolError: If it is not one.
    """
    try:
        return pl.read_parquet(io.BytesIO(contents))
    except (pl.exceptions.PolarsError, OSError, ValueError) as error:
        raise ToolError(f"{name} is not a parquet file: {str(error)[:120]}") from None


def schema_of(frame: pl.DataFrame) -> list[tuple[str, str]]:
    """Return the columns as (name, type), sorted by name."""
    return sorted((name, str(dtype)) for name, dtype in frame.schema.items())


def full_row_hash(frame: pl.DataFrame) -> str:
    """Return a digest of schema and rows that no order of rows, columns or list items changes.

    Rows are sorted by all their columns, so that rows equal in subject, time and code leave no
    freedom. Every digit of every number counts.
    """
    names = sorted(frame.columns)
    lists = [name for name in names if isinstance(frame.schema[name], pl.List)]
    rows = frame.select(names)
    if lists:
        item = pl.element().cast(pl.String).fill_null("\x00")
        rows = rows.with_columns(
            pl.col(name).list.eval(item).list.sort().list.join(_SEPARATOR) for name in lists
        )
    rows = rows.sort(names, nulls_last=False)
    digest = hashlib.sha256(json.dumps(schema_of(frame)).encode())
    digest.update(rows.write_csv(null_value="\x00", quote_style="non_numeric").encode())
    return digest.hexdigest()


def keyed_hash(frame: pl.DataFrame, keys: tuple[str, ...]) -> str:
    """Return the digest of the source benchmark: JSON records in the order of some keys only.

    Rows that agree in the keys keep the order they were written in.
    """
    records = sorted(
        frame.select(sorted(frame.columns)).to_dicts(),
        key=lambda row: tuple((row.get(key) is None, _plain(row.get(key))) for key in keys),
    )
    content = {"rows": frame.height, "columns": sorted(frame.columns), "records": records}
    text = json.dumps(content, sort_keys=True, separators=(",", ":"), default=str)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _plain(value: object) -> object:
    """Return a sort key that never meets None."""
    return "" if value is None else value
