"""The auditor's own verbs: flag rows, take flags back, review them, hand them in."""

from __future__ import annotations

from healthgym.core.tool import ToolKind, ToolResult, Toolset, tool
from healthgym.envs.ehr_data_quality.flags import FLAGS, by_table, flags_of, key_of, row_of
from healthgym.errors import ToolError
from healthgym.worlds.workspace import WorkspaceWorld

#: Rows one call may flag, and all flags there may be.
MAX_AT_ONCE, MAX_FLAGS = 5_000, 20_000
_PAGE = 50


class AuditTools(Toolset[WorkspaceWorld]):
    """Flags on rows of the task's tables."""

    @tool(ToolKind.WRITE)
    def flag_rows(self, table: str, row_ids: list[str], reason: str) -> ToolResult:
        """Flag rows as wrong.

        Args:
            table: Table of the rows, such as "labevents".
            row_ids: Their _row_id values.
            reason: What is wrong with them, in a few words; for the record, and not graded.
        """
        wanted = list(dict.fromkeys(row_ids))
        if not wanted:
            raise ToolError("Name at least one row.")
        if len(wanted) > MAX_AT_ONCE:
            raise ToolError(f"At most {MAX_AT_ONCE} rows can be flagged at once.")
        known = self._known(table, wanted)
        unknown = [row for row in wanted if row not in known]
        if unknown:
            shown = ", ".join(repr(row[:40]) for row in unknown[:5])
            raise ToolError(f"{table} has no row {shown}; nothing was flagged.")
        return self._flag(table, wanted, reason)

    @tool(ToolKind.WRITE)
    def flag_query(self, table: str, query: str, reason: str) -> ToolResult:
        """Flag all rows of a table that a query finds.

        Args:
            table: Table of the rows, such as "labevents".
            query: One SELECT with a column _row_id that holds rows of that table; at most 5000.
            reason: What is wrong with them, in a few words; for the record, and not graded.
        """
        self._check(table)
        found = self.world.sql.query(query, rows=MAX_AT_ONCE)
        if found.more:
            raise ToolError(f"The query finds more than {MAX_AT_ONCE} rows; nothing was flagged.")
        if "_row_id" not in found.columns:
            raise ToolError("The query needs a column named _row_id.")
        column = found.columns.index("_row_id")
        rows = [str(row[column]) for row in found.rows() if row[column] is not None]
        if not rows:
            raise ToolError("The query finds no rows; nothing was flagged.")
        return self.flag_rows(table, rows, reason)

    @tool(ToolKind.WRITE)
    def unflag_rows(self, table: str, row_ids: list[str]) -> ToolResult:
        """Take flags back.

        Args:
            table: Table of the rows.
            row_ids: Their _row_id values; an empty list takes back all flags of the table.
        """
        self._check(table)
        flags = flags_of(self.world.drafts)
        keys = {key_of(table, row) for row in row_ids}
        if not row_ids:
            keys = {key for key in flags if row_of(key)[0] == table}
        gone = keys & flags.keys()
        if not gone:
            raise ToolError(f"None of these rows of {table} is flagged.")
        kept = {key: reason for key, reason in flags.items() if key not in gone}
        self.world.drafts.put(FLAGS, kept)
        return ToolResult(f"Took back {len(gone)}. {_summary(kept)}")

    @tool(ToolKind.READ)
    def review_flags(self, table: str = "", page: int = 1) -> ToolResult:
        """Show the flags so far with their reasons, 50 at a time.

        Args:
            table: Only flags of this table; all if empty.
            page: Page to show, from 1.
        """
        flags = flags_of(self.world.drafts)
        if table:
            self._check(table)
        chosen = [(row_of(key), why) for key, why in flags.items()]
        chosen = [item for item in chosen if table in ("", item[0][0])]
        first = _PAGE * (page - 1)
        if page < 1 or (chosen and first >= len(chosen)):
            raise ToolError(f"There are {-(-len(chosen) // _PAGE)} pages.")
        lines = [_summary(flags)]
        lines += [f"{name} {row}: {why}" for (name, row), why in chosen[first : first + _PAGE]]
        if first + _PAGE < len(chosen):
            lines.append(f"(page={page + 1} for more)")
        return ToolResult("\n".join(lines))

    @tool(ToolKind.SUBMIT)
    def submit(self) -> ToolResult:
        """Hand in the flags as they are and end the audit."""
        return ToolResult(f"Handed in. {_summary(flags_of(self.world.drafts))}")

    def _check(self, table: str) -> None:
        held = self.world.tables
        names = [name for name in held if name not in held.saved]
        if table not in names:
            raise ToolError(f"There is no table {table[:60]!r}; flag rows of {', '.join(names)}.")

    def _known(self, table: str, rows: list[str]) -> set[str]:
        self._check(table)
        listed = ", ".join("'" + row[:64].replace("'", "''") + "'" for row in rows)
        if len(listed) < 19_000:
            query = f"SELECT _row_id FROM {table} WHERE _row_id IN ({listed})"
            return {str(row[0]) for row in self.world.sql.query(query).rows()}
        known: set[str] = set()
        for start in range(0, len(rows), 800):
            known |= self._known(table, rows[start : start + 800])
        return known

    def _flag(self, table: str, rows: list[str], reason: str) -> ToolResult:
        why = " ".join(reason.split())
        if not why or len(why) > 300:
            raise ToolError("A reason has 1 to 300 characters.")
        flags = flags_of(self.world.drafts)
        new = {key_of(table, row): why for row in rows}
        if all(flags.get(key) == why for key in new):
            raise ToolError("These rows are flagged already, for that reason.")
        merged = flags | new
        if len(merged) > MAX_FLAGS:
            raise ToolError(f"At most {MAX_FLAGS} rows can be flagged in all.")
        self.world.drafts.put(FLAGS, merged)
        return ToolResult(f"Flagged {len(new)}. {_summary(merged)}")


def _summary(flags: dict[str, str]) -> str:
    counts = ", ".join(f"{name} {count}" for name, count in by_table(flags).items())
    return f"{len(flags)} rows are flagged{f' ({counts})' if counts else ''}."
