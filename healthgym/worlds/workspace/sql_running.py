"""Runs one statement, if it is one to be run, and returns its first rows.

Only the process that runs queries does; see :mod:`healthgym.worlds.workspace.sql_worker`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import duckdb
    import pyarrow as pa

#: Types that Arrow has too, as they are. Others reach it as the database's own bytes, without their
#: zone, cut, or in a form that brings down who asks for its size.
PLAIN = frozenset(
    ("null", "boolean", "varchar", "blob", "uuid", "enum", "float", "double", "decimal", "date",
     "time", "timestamp", "timestamp_s", "timestamp_ms", "timestamp_ns", "timestamp with time zone",
     "tinyint", "smallint", "integer", "bigint", "hugeint", "utinyint", "usmallint", "uinteger",
     "ubigint"),
)  # fmt: skip
NESTED = frozenset(("list", "array", "struct", "tuple", "map"))
#: A function asked for by its home, past the macros: system.main.now(), and any such call.
_PAST_MACROS = re.compile(r'\bsystem"?(?:\.[^.()]{1,200}){1,3}\(')
#: A part of a table drawn without a seed. A number of rows is drawn the same way each time.
_DRAWN = re.compile(
    r"\b(?:using sample|tablesample)[ (]?(?:\w+\()?[^\s()%]+ ?(?:%|percent\b)(?:\)|(?!\)))"
    r"(?! ?repeatable\(|\(\w+ ?, ?\d)"
)
_ANALYZES = re.compile(r"explain\b[^a-z]*(?:analy[sz]e\b|\([^)]*analy[sz]e\b)")


class Refusal(Exception):
    """The query is not one that is run here, or it fails.

    Args:
        text: What is wrong with it.
        doubtful: Whether a process that has done nothing else yet might have answered it.
    """

    def __init__(self, text: str, *, doubtful: bool = False) -> None:
        super().__init__(text)
        self.doubtful = doubtful


def run(
    connection: duckdb.DuckDBPyConnection, sql: str, rows: int, size: int
) -> tuple[bytes, bool]:
    """Run one read-only statement; return its first rows as an Arrow stream, and if there are more.

    Args:
        connection: Where the tables are known.
        sql: The statement.
        rows: Most rows.
        size: Bytes that they may have.

    Raises:
        Refusal: If the statement is not accepted or what it gives is too large.
    """
    import duckdb
    import pyarrow as pa

    accept(sql)
    statements = connection.extract_statements(sql)
    if len(statements) != 1:
        raise Refusal("Give one statement.")
    if statements[0].type not in (duckdb.StatementType.SELECT, duckdb.StatementType.EXPLAIN):
        raise Refusal("Only queries are run here: SELECT, WITH, DESCRIBE, SUMMARIZE, EXPLAIN.")
    # As a relation, not by execute(): rows are made as they are read, and no more of them.
    reader = legible(connection.sql(statements[0])).to_arrow_reader(2048)
    try:
        batches, more = first_rows(reader, rows, size)
    finally:
        reader.close()
    table = pa.Table.from_batches(batches, reader.schema)
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return sink.getvalue().to_pybytes(), more


def legible(found: duckdb.DuckDBPyRelation) -> duckdb.DuckDBPyRelation:
    """Return a relation of which the columns that Arrow cannot show as they are are text."""
    if all(map(_shown_as_is, found.types)):
        return found
    columns = []
    for place, (name, kind) in enumerate(zip(found.columns, found.types, strict=True), 1):
        value = f"#{place}" if _shown_as_is(kind) else f"CAST(#{place} AS VARCHAR)"
        quoted = name.replace('"', '""')
        columns.append(f'{value} AS "{quoted}"')
    return found.project(", ".join(columns))


def _shown_as_is(kind: duckdb.sqltypes.DuckDBPyType) -> bool:
    if kind.id in NESTED:
        # The size of an array is among what it is made of.
        parts = (part for _, part in kind.children if not isinstance(part, int | list))
        return all(map(_shown_as_is, parts))
    return kind.id in PLAIN


def accept(sql: str) -> None:
    """Return if a statement asks for nothing past the macros of the session.

    Raises:
        Refusal: If it does. What stands in a text or a comment does not count, nor where somebody
            put spaces.
    """
    import duckdb

    tokens = duckdb.tokenize(sql)
    ends = [*(start for start, _ in tokens), len(sql.encode())][1:]
    held = sql.encode()
    words = [
        held[start:end].decode("utf-8", "replace").strip().lower()
        for (start, kind), end in zip(tokens, ends, strict=True)
        if kind not in (duckdb.token_type.string_const, duckdb.token_type.comment)
    ]
    text = re.sub(r"\s*([.()\"])\s*", r"\1", " ".join(words))
    if _PAST_MACROS.search(text):
        raise Refusal("Call functions by their name alone, without 'system'.")
    if _DRAWN.search(text):
        raise Refusal(
            "A sample by percent needs a seed: TABLESAMPLE bernoulli(20%) REPEATABLE (1)."
        )
    if text.startswith("explain") and _ANALYZES.match(text):
        raise Refusal("EXPLAIN ANALYZE shows the machine's time; EXPLAIN shows the plan.")


def first_rows(
    reader: pa.RecordBatchReader, most: int, room: int
) -> tuple[list[pa.RecordBatch], bool]:
    """Return batches of at most so many rows, and whether there are more."""
    batches: list[pa.RecordBatch] = []
    rows, size = 0, 0
    while True:
        try:
            batch = reader.read_next_batch()
        except StopIteration:
            return batches, False
        except OSError as error:
            # Here the query runs, and this is how Arrow passes on what the database says.
            if "Out of Memory Error" in str(error):
                raise MemoryError from None
            raise Refusal(message(error)) from None
        size += batch.nbytes
        if size > room and batches:
            return batches, True
        if size > room:
            raise Refusal("The first rows of the result are too large; select less of them.")
        if batch.num_rows > most - rows:
            return [*batches, batch.slice(0, most - rows)], True
        batches.append(batch)
        rows += batch.num_rows


def message(error: Exception) -> str:
    """Return what a database error says, without advice on settings and without addresses."""
    text = re.split(r"\n\s*(?:Possible solutions|Stack Trace)", str(error), maxsplit=1)[0].strip()
    return text[:1500]
