"""Read-only SQL over a workspace's tables, run by DuckDB in a process of its own."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import ClassVar

from healthgym.core.clock import Clock
from healthgym.core.state import Stateful
from healthgym.errors import InfrastructureError, ToolError
from healthgym.worlds.workspace.allowance import allowed
from healthgym.worlds.workspace.optional import require
from healthgym.worlds.workspace.pools import Own, Pool
from healthgym.worlds.workspace.sql_process import (
    DoubtfulRefusal,
    QueryProcess,
    SqlLimits,
    SqlResult,
    Statement,
)
from healthgym.worlds.workspace.tables import Table

_SESSIONS = itertools.count(1)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class SqlEngine(Stateful):
    """Queries over tables by name. It changes nothing, and has no state of its own.

    Args:
        tables: The tables that can be named, looked up anew for each query.
        limits: Bounds of a query.
        clock: What queries see as the time; the beginning of 1970 if None.
    """

    #: Names a connection of the query process, which can be lost at any time.
    derived: ClassVar[frozenset[str]] = frozenset({"_session"})

    def __init__(
        self,
        tables: Mapping[str, Table],
        limits: SqlLimits | None = None,
        clock: Clock | None = None,
    ) -> None:
        self._tables = tables
        self._clock = clock
        self.limits = limits or SqlLimits()
        self._session = 0

    def forked(self) -> None:
        """Ask for a connection of its own: a clone may save other tables."""
        self._session = 0

    def query(
        self, sql: str, *, rows: int | None = None, limits: SqlLimits | None = None
    ) -> SqlResult:
        """Run one read-only statement.

        Args:
            sql: A DuckDB SELECT, WITH, DESCRIBE, SUMMARIZE or EXPLAIN.
            rows: Most rows wanted; as the limits say if None, and never more.
            limits: Bounds of this query; the engine's own if None.

        Raises:
            ToolError: If the statement is not accepted, fails, or exceeds its bounds.
            OutOfTimeError: If the bound is one of time.
            MissingDependencyError: If DuckDB or pyarrow is not installed.
            InfrastructureError: If the query process does not start or cannot load a table.
        """
        if len(sql) > 20_000:
            raise ToolError("A statement has at most 20000 characters.")
        if "\0" in sql:
            raise ToolError("A statement holds no NUL.")
        if not self._session:
            self._session = next(_SESSIONS)
        limits = limits or self.limits
        limits = replace(limits, seconds=allowed(limits.seconds))
        bound = limits.rows if rows is None else max(1, min(rows, limits.rows))
        now = self._clock.now if self._clock else _EPOCH
        asked = Statement(self._session, dict(self._tables), sql, bound, limits, now)
        return POOL.get().query(asked)


class QueryPool(Pool[QueryProcess]):
    """The query processes of this process: as many as it has queries at a time.

    A query in one environment never waits for another's.
    """

    def __init__(self) -> None:
        require("duckdb")
        require("pyarrow")
        super().__init__(QueryProcess)

    def query(self, asked: Statement) -> SqlResult:
        """Run a statement; see :meth:`SqlEngine.query`."""
        with self.lent(lambda one: asked.session in one.sessions) as process:
            if process.used:
                # Asked once more, in a new process, is what an earlier query may have spoiled.
                try:
                    return process.query(asked)
                except (DoubtfulRefusal, InfrastructureError):
                    process.stop()
            return process.query(asked)

    def taken(self, prefers: Callable[[QueryProcess], bool]) -> QueryProcess:
        """Take a process, and have the others let go of what nobody has any more."""
        process = super().taken(prefers)
        for other in self.idle:
            other.forget()
        return process


POOL = Own(QueryPool)
