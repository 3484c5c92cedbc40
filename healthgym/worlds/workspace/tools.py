"""Verbs that analysts' families share: on files, on tables, and code over both."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

from healthgym.core.borders import JsonDict
from healthgym.core.tool import ToolKind, ToolResult, Toolset, tool
from healthgym.errors import OutOfTimeError, ToolError
from healthgym.worlds.workspace.allowance import allowed
from healthgym.worlds.workspace.python import CodeLimits, HostFunction, SandboxedPython
from healthgym.worlds.workspace.sql_process import SqlResult
from healthgym.worlds.workspace.tables import MAX_SAVED_ROWS, Table
from healthgym.worlds.workspace.text import plain, table_text
from healthgym.worlds.workspace.world import WorkspaceWorld

#: Rows a tool shows at most, and rows a query inside Python returns at most.
SHOWN_ROWS = 200
_PYTHON_ROWS = 20_000
_NUMERIC = ("INT", "HUGEINT", "DOUBLE", "FLOAT", "DECIMAL", "REAL")


class FileTools(Toolset[WorkspaceWorld]):
    """Reading the task's files."""

    @tool(ToolKind.READ)
    def list_files(self, folder: str = "", page: int = 1) -> ToolResult:
        """List the files of the workspace with their sizes, 100 at a time.

        Args:
            folder: Only files below this folder, such as "docs"; all if empty.
            page: Page of the list, from 1.
        """
        paths = self.world.files.paths(folder)
        if not paths:
            raise ToolError(f"There are no files below {folder[:80]!r}.")
        first = 100 * (page - 1)
        if page < 1 or first >= len(paths):
            raise ToolError(f"The list has {-(-len(paths) // 100)} pages.")
        lines = [
            f"{path} ({len(self.world.files.read(path))} characters)"
            for path in paths[first : first + 100]
        ]
        if first + 100 < len(paths):
            lines.append(f"({len(paths)} files; page={page + 1} for more)")
        return ToolResult("\n".join(lines))

    @tool(ToolKind.READ)
    def read_file(self, path: str, line: int = 1, count: int = 100) -> ToolResult:
        """Read lines of a text file.

        Args:
            path: Path of the file, such as "README.md".
            line: First line to read, from 1.
            count: Number of lines, at most 400.
        """
        page = self.world.files.page(path, line, min(count, 400))
        text = "\n".join(page.lines)
        if page.after:
            text += f"\n(lines {page.first}-{page.after - 1} of {page.total}; line={page.after})"
        return ToolResult(text)

    @tool(ToolKind.READ)
    def search_files(self, words: str, folder: str = "", limit: int = 20) -> ToolResult:
        """Find lines in the files that hold all of some words.

        Args:
            words: Words that must all be in the line, upper and lower case alike.
            folder: Only files below this folder; all if empty.
            limit: Lines to show, at most 100.
        """
        hits, found = self.world.files.search(words, folder, max(1, min(limit, 100)))
        if not hits:
            return ToolResult("No line has these words.")
        lines = [f"{hit.path}:{hit.line}: {hit.text[:300]}" for hit in hits]
        if found > len(hits):
            lines.append(f"({len(hits)} of {found} lines)")
        return ToolResult("\n".join(lines))


class TableTools(Toolset[WorkspaceWorld]):
    """Looking at tables, alone and joined."""

    @tool(ToolKind.READ)
    def list_tables(self) -> ToolResult:
        """List the tables with their rows, columns and what they hold."""
        lines = []
        for name, table in self.world.tables.items():
            mark = " (saved)" if name in self.world.tables.saved else ""
            columns = ", ".join(table.data.column_names)
            lines.append(f"{name}{mark}: {table.rows} rows. {table.about}\n  {columns}".rstrip())
        return ToolResult("\n".join(lines) or "There are no tables.")

    @tool(ToolKind.READ)
    def describe_table(self, table: str) -> ToolResult:
        """Describe a table: for each column its type, empty cells, distinct values and range.

        Args:
            table: Name of the table.
        """
        known = self.world.tables.find(table)
        kinds: dict[str, str] = {}
        try:
            found = self.world.sql.query(f"SUMMARIZE {_quote(table)}")
        except OutOfTimeError:
            raise
        except ToolError:
            # The sums of some numbers have no end, and some times no mean.
            kinds = self._kinds(table)
            other = ", ".join(
                f"CAST({_quote(name)} AS {'DOUBLE' if _is_number(kind) else 'VARCHAR'}) "
                f"AS {_quote(name)}"
                for name, kind in kinds.items()
                if kind.startswith(("DECIMAL", "HUGEINT", "TIME_NS", "TIMESTAMPTZ_NS"))
            )
            if not other:
                raise
            chosen = f"SELECT * REPLACE ({other}) FROM {_quote(table)}"
            found = self.world.sql.query(f"SUMMARIZE ({chosen})")
        names = found.columns
        rows = []
        for values in found.rows():
            row = dict(zip(names, values, strict=True))
            empty = f"{row['null_percentage']}%"
            about = known.columns.get(row["column_name"], "")
            kind = kinds.get(str(row["column_name"]), row["column_type"])
            rows.append(
                (row["column_name"], kind, empty, row["approx_unique"],
                 row["min"], row["max"], about)
            )  # fmt: skip
        header = ("column", "type", "empty", "distinct (about)", "min", "max", "meaning")
        text, shown = table_text(header, rows, width=100)
        if shown < len(rows):
            text += f"\n(the first {shown} of {len(rows)} columns; list_tables names them all)"
        return ToolResult(f"{table}: {known.rows} rows. {known.about}\n{text}")

    @tool(ToolKind.READ)
    def profile_column(
        self, table: str, column: str, by: str = "", where: str = "", limit: int = 30
    ) -> ToolResult:
        """Profile a column: counts, quantiles if it is numeric, commonest values if it is not.

        Args:
            table: Name of the table.
            column: Column to profile.
            by: Column by which rows are grouped, such as "itemid"; the whole table if empty.
            where: SQL condition on the rows, such as "valuenum IS NOT NULL"; all if empty.
            limit: Groups or values to show, largest first, at most 200.
        """
        kinds = self._kinds(table, column, *([by] if by else []))
        name, condition = _quote(column), f"WHERE {where}" if where.strip() else ""
        bound = max(1, min(limit, SHOWN_ROWS))
        source = f"(SELECT * FROM {_quote(table)} {condition})"
        if _is_number(kinds[column]):
            measures = (
                f"count(*) AS n, count(*) - count({name}) AS empty, min({name}) AS min, "
                + ", ".join(
                    f"quantile_cont({name}, {share}) AS p{round(share * 100)}"
                    for share in (0.01, 0.25, 0.5, 0.75, 0.99)
                )
                + f", max({name}) AS max"
            )
            group = f"{_quote(by)}, " if by else ""
            tail = f"GROUP BY {_quote(by)} ORDER BY n DESC, {_quote(by)}" if by else ""
            query = f"SELECT {group}{measures} FROM {source} {tail}"
        else:
            group = f"{_quote(by)}, " if by else ""
            query = (
                f"SELECT {group}{name}, count(*) AS n FROM {source} "
                f"GROUP BY {group}{name} ORDER BY n DESC, {group}{name}"
            )
        return ToolResult(_shown(self.world.sql.query(query, rows=bound)))

    @tool(ToolKind.READ)
    def sample_rows(
        self, table: str, where: str = "", limit: int = 10, seed: int = 0
    ) -> ToolResult:
        """Show rows of a table drawn at random.

        Args:
            table: Name of the table.
            where: SQL condition on the rows; all if empty.
            limit: Rows to show, at most 200.
            seed: Another number draws other rows.
        """
        self.world.tables.find(table)
        bound = max(1, min(limit, SHOWN_ROWS))
        condition = f"WHERE {where}" if where.strip() else ""
        query = (
            f"SELECT * FROM (SELECT * FROM {_quote(table)} {condition}) "
            f"USING SAMPLE reservoir({bound} ROWS) REPEATABLE ({seed % 2**31})"
        )
        return ToolResult(_shown(self.world.sql.query(query, rows=bound)))

    @tool(ToolKind.READ)
    def sql(self, query: str, limit: int = 50) -> ToolResult:
        """Run a read-only query over the tables (DuckDB dialect).

        Args:
            query: One SELECT, WITH, DESCRIBE or SUMMARIZE statement. Read on with LIMIT and
                OFFSET.
            limit: Rows to show, at most 200.
        """
        bound = max(1, min(limit, SHOWN_ROWS))
        return ToolResult(_shown(self.world.sql.query(query, rows=bound)))

    @tool(ToolKind.WRITE)
    def save_table(self, name: str, query: str) -> ToolResult:
        """Save the result of a query as a table that later calls can use.

        Args:
            name: Name of the new table, such as "adult_labs"; an earlier one is replaced.
            query: One SELECT or WITH statement; the result has at most 200000 rows.
        """
        world = self.world
        limits = replace(world.sql.limits, rows=MAX_SAVED_ROWS)
        found = world.sql.query(query, limits=limits)
        if found.more:
            raise ToolError(f"The result has more than {MAX_SAVED_ROWS} rows; select fewer.")
        if len({column.lower() for column in found.columns}) < len(found.columns):
            # To SQL, names that differ in case are the same.
            raise ToolError("Two columns of the result have the same name; rename one with AS.")
        table = Table(found.data)
        old = world.tables.saved.get(name)
        if old is not None and old.fingerprint == table.fingerprint:
            raise ToolError(f"{name} holds exactly that already.")
        world.tables.save(name, table)
        return ToolResult(f"Saved {name}: {table.rows} rows ({', '.join(found.columns)}).")

    def _kinds(self, table: str, *columns: str) -> dict[str, str]:
        """Return the types of a table's columns, once those named are known to exist."""
        self.world.tables.find(table)
        rows = self.world.sql.query(f"DESCRIBE {_quote(table)}").rows()
        kinds = {str(row[0]): str(row[1]) for row in rows}
        for column in columns:
            if column not in kinds:
                known = ", ".join(kinds)
                raise ToolError(f"{table} has no column {column[:60]!r}; it has {known}.")
        return kinds


class PythonTools(Toolset[WorkspaceWorld]):
    """Code over the tables and files, in a box."""

    limits: ClassVar[CodeLimits] = CodeLimits()

    @tool(ToolKind.READ)
    def run_python(self, code: str) -> ToolResult:
        """Run Python in a sandbox and show what it prints and the value of its last line.

        The standard language with math, json, re, datetime, collections and itertools; no other
        libraries, no files of its own, no network. Variables are gone afterwards. Host functions:
        sql(query) returns rows as a list of dicts (at most 20000); read_file(path) returns text;
        list_files() returns paths; list_tables() returns names.

        Args:
            code: The program.
        """
        box = SandboxedPython(self.limits)
        host = HostFunctions(self.world)
        result = box.run(code, host.functions(), now=self.world.clock.now)
        late = result.late or host.late
        return ToolResult(shown_code(result.output, result.value, result.error, late=late))


def shown_code(output: str, value: str, error: str, *, late: bool = False) -> str:
    """Return what a run of code shows.

    Raises:
        ToolError: If it ended early, with what it had printed.
        OutOfTimeError: If it, or a query of its, met a bound of time, whatever it made of that.
    """
    if late:
        raise OutOfTimeError(error or "A query of the code took too long and was stopped.")
    if error:
        raise ToolError("\n".join([error, *([output] if output else [])]))
    return (
        "\n".join(part for part in (output.rstrip("\n"), value) if part) or "(nothing was printed)"
    )


class HostFunctions:
    """What one run of code may call. None of it changes the world.

    All queries of a run together have what one query alone may have of time, and ten times what
    one may return.

    Args:
        world: The world.

    Attributes:
        late: Whether a query met its bound of time.
    """

    def __init__(self, world: WorkspaceWorld) -> None:
        self._world = world
        self._seconds = allowed(world.sql.limits.seconds)
        self._rows = 10 * _PYTHON_ROWS
        self._bytes = 4 * world.sql.limits.bytes
        self.late = False

    def functions(self) -> dict[str, HostFunction]:
        """Return the functions by name."""
        files, tables = self._world.files, self._world.tables
        return {
            "sql": self._sql,
            "read_file": self._read_file,
            "list_files": lambda: list(files),
            "list_tables": lambda: list(tables),
        }

    def _sql(self, query: object) -> list[JsonDict]:
        if not isinstance(query, str):
            raise ToolError("sql takes a query as text.")
        found = self._asked(query)
        if found.more:
            raise ToolError(f"The result has more than {_PYTHON_ROWS} rows; aggregate it in SQL.")
        self._rows -= found.data.num_rows
        self._bytes -= found.data.nbytes
        if self._rows < 0 or self._bytes < 0:
            raise ToolError("The queries of one program have returned too much; aggregate in SQL.")
        return [
            {name: plain(value) for name, value in zip(found.columns, row, strict=True)}
            for row in found.rows()
        ]

    def _asked(self, query: str) -> SqlResult:
        engine = self._world.sql
        if self._seconds <= 0:
            self.late = True
            raise OutOfTimeError("The queries of this program took too long together.")
        limits = replace(engine.limits, seconds=self._seconds)
        try:
            found = engine.query(query, rows=_PYTHON_ROWS, limits=limits)
        except OutOfTimeError:
            self.late, self._seconds = True, 0.0
            raise
        self._seconds -= found.seconds
        return found

    def _read_file(self, path: object) -> str:
        if not isinstance(path, str):
            raise ToolError("read_file takes a path as text.")
        return self._world.files.read(path)


def _quote(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _is_number(kind: str) -> bool:
    # Arrays are named after what they hold, and an interval begins as an integer does.
    return kind.startswith(_NUMERIC) and kind != "INTERVAL" and not kind.endswith("]")


def _shown(found: SqlResult) -> str:
    rows = found.rows()
    text, shown = table_text(found.columns, rows)
    if shown < len(rows) or found.more:
        text += f"\n(the first {shown} rows; there are more)"
    else:
        text += f"\n({shown} row{'' if shown == 1 else 's'})"
    return text
