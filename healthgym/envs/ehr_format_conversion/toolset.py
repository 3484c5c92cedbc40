"""The agent's verbs: read the repository, edit files, run the ETL, look at the cohort."""

from __future__ import annotations

from typing import Literal

from healthgym.core.tool import ToolKind, Toolset, tool
from healthgym.envs.ehr_format_conversion import editing
from healthgym.envs.ehr_format_conversion.views import (
    code_lines,
    cohort_frame,
    page_of,
    row_lines,
    summary_lines,
    table_lines,
)
from healthgym.errors import ToolError
from healthgym.worlds.etl.world import OUTPUT, RAW, EtlWorld, clean

_LINES = 120
_ENTRIES = 60
_MAX_LINE = 400
_SEARCHED_BYTES = 2_000_000


class ConversionToolset(Toolset[EtlWorld]):
    """Work in an ETL repository."""

    @tool(ToolKind.READ)
    def list_files(self, folder: str = "", page: int = 1) -> str:
        """List the files of a folder and of the folders in it.

        Args:
            folder: Path of the folder, such as docs or raw_input/hosp; empty for everything.
            page: Page of the list, counted from 1.
        """
        name = clean(folder) if folder.strip("/. ") else ""
        paths = list(self.world.paths(name))
        if not paths:
            raise ToolError(f"There is no folder {name[:120]!r}, or it is empty.")
        return page_of(paths, page, _ENTRIES)

    @tool(ToolKind.READ)
    def read_file(self, path: str, page: int = 1) -> str:
        """Read a text file: code, configuration, documentation, or a raw table as CSV.

        Args:
            path: Path of the file, such as etl/configs/event_configs.yaml.
            page: Page of 120 lines, counted from 1.
        """
        lines = self.world.read_text(path).splitlines()
        return page_of([line[:_MAX_LINE] for line in lines], page, _LINES)

    @tool(ToolKind.READ)
    def search_files(self, text: str, folder: str = "", page: int = 1) -> str:
        """Find the lines of text files that contain a text, whatever its case.

        Raw tables are searched only where folder leads to them.

        Args:
            text: What to look for, as it is written; no pattern.
            folder: Path of a folder or of one file; empty for all but the raw tables.
            page: Page of the lines found, counted from 1.
        """
        if not text.strip():
            raise ToolError("Give a text to look for.")
        name = clean(folder) if folder.strip("/. ") else ""
        single = bool(name) and self.world.get(name) is not None
        paths = [name] if single else list(self.world.paths(name))
        found: list[str] = []
        budget = _SEARCHED_BYTES
        for path in paths:
            if path.endswith(".parquet") or (path.startswith(f"{RAW}/") and not name):
                continue
            body = self.world.read_text(path)
            if len(body) > budget:
                found.append(f"{path}: only the first {budget} characters were searched")
            found += _matches(path, body[:budget], text.lower())
            budget -= len(body)
            if budget <= 0:
                break
        if not found:
            return f"No line of {name or 'the repository'} contains {text[:80]!r}."
        return page_of(found, page, _ENTRIES)

    @tool(ToolKind.READ)
    def describe_table(self, table: str) -> str:
        """Describe a raw table: rows, and each column's type, missing values and examples.

        Args:
            table: The table as configurations name it, such as hosp/labevents.
        """
        name = clean(table).removeprefix(f"{RAW}/").removesuffix(".gz").removesuffix(".csv")
        return "\n".join(table_lines(self.world.workspace.pipeline.raw, name))

    @tool(ToolKind.WRITE)
    def copy_file(self, source: str, target: str) -> str:
        """Copy a file.

        Args:
            source: Path of the file to copy.
            target: Path of the copy; a file there is replaced.
        """
        self.world.copy(source, target)
        return f"Copied to {clean(target)}."

    @tool(ToolKind.WRITE)
    def edit_file(self, path: str, old: str, new: str) -> str:
        r"""Replace a text in a file. The text must be there exactly once.

        Args:
            path: Path of the file.
            old: The text to replace, with its line breaks and indentation; enough of it to be
                found only once.
            new: What to put in its place; empty to remove it.
        """
        body = self.world.read_text(path)
        count = body.count(old) if old else 0
        if count != 1:
            found = f"is there {count} times" if count else "is not in the file"
            raise ToolError(f"The text to replace {found}; give a text that is there once.")
        self.world.write(path, body.replace(old, new))
        line = body[: body.index(old)].count("\n") + 1
        return f"Replaced at line {line} of {clean(path)}."

    @tool(ToolKind.WRITE)
    def write_file(self, path: str, text: str) -> str:
        """Write a whole text file; a file there is replaced.

        Args:
            path: Path of the file.
            text: Its contents.
        """
        self.world.write(path, text)
        return f"Wrote {len(text)} characters to {clean(path)}."

    @tool(ToolKind.WRITE)
    def delete_file(self, path: str) -> str:
        """Take back what was written to a file: a new one goes, a changed one is as it was.

        Args:
            path: Path of a file that you wrote, copied or edited.
        """
        self.world.take_back(path)
        return f"Took back {clean(path)}."

    @tool(ToolKind.READ)
    def show_events(self, config: str, table: str) -> str:
        """Show which events a configuration makes of one table.

        Args:
            config: Path of the configuration.
            table: The table as it names it, such as hosp/labevents.
        """
        return editing.shown(self.world.read_text(config), table)

    @tool(ToolKind.WRITE)
    def set_event(
        self,
        config: str,
        table: str,
        event: str,
        keys: dict[str, str | list[str] | None] | None = None,
        remove: list[str] | None = None,
    ) -> str:
        """Set or remove keys of one event in a configuration; the rest of the file stays.

        An event, or table, that is not there yet is added after the others.

        Args:
            config: Path of the configuration.
            table: The table, such as hosp/labevents.
            event: Name of the event there, or of a new one.
            keys: Keys to set, with their values: code, time, time_format, or a column of the
                event. A key that is there already is replaced where it stands.
            remove: Keys to remove.
        """
        if not keys and not remove:
            raise ToolError("Give keys to set or to remove.")
        body = self.world.read_text(config)
        self.world.write(config, editing.with_keys(body, table, event, keys or {}, remove or ()))
        return f"Set {event[:80]} of {table[:80]}."

    @tool(ToolKind.WRITE)
    def drop_event(self, config: str, table: str, event: str) -> str:
        """Remove one event from a configuration; the rest of the file stays.

        Args:
            config: Path of the configuration.
            table: The table, such as hosp/labevents.
            event: Name of the event there.
        """
        body = self.world.read_text(config)
        self.world.write(config, editing.without_event(body, table, event))
        return f"Removed {event[:80]} of {table[:80]}."

    @tool(ToolKind.WRITE)
    def run_etl(self, config: str, out: str = "output/MEDS_cohort") -> str:
        """Run the pipeline over the raw tables and write a MEDS cohort.

        Args:
            config: Path of the event configuration to use.
            out: Folder for the cohort, such as output/MEDS_cohort; what was in it is removed.
        """
        cohort = self.world.run(config, out)
        rows = ", ".join(f"{shard}: {count}" for shard, count in sorted(cohort.rows.items()))
        return (
            f"Wrote {len(cohort.files)} files to {clean(out)}. Events by shard: {rows}. "
            f"In all {sum(cohort.rows.values())}."
        )

    @tool(ToolKind.READ)
    def inspect_cohort(
        self,
        view: Literal["summary", "codes", "rows"] = "summary",
        search: str = "",
        shard: str = "",
        out: str = "output/MEDS_cohort",
        page: int = 1,
    ) -> str:
        """Look at a cohort that was written.

        Args:
            view: "summary" for shards, columns and events by first part of the code; "codes" for
                the events of each code; "rows" for events in full.
            search: Only codes that contain this text; empty for all.
            shard: Only this shard, such as train/0; empty for all.
            out: Folder of the cohort.
            page: Page of codes or rows, counted from 1.
        """
        folder = clean(out)
        if not folder.startswith(OUTPUT):
            raise ToolError(f"Cohorts are below {OUTPUT}/.")
        events = cohort_frame(self.world, folder, search, shard)
        if view == "summary":
            return "\n".join(summary_lines(self.world, folder, events))
        lines = code_lines(events) if view == "codes" else None
        return page_of(lines, page, _ENTRIES) if lines is not None else row_lines(events, page)

    @tool(ToolKind.SUBMIT)
    def submit(self) -> str:
        """Hand in the configuration and the cohort, and end the task."""
        return "Handed in."


def _matches(path: str, body: str, wanted: str) -> list[str]:
    return [
        f"{path}:{number}: {line.strip()[:200]}"
        for number, line in enumerate(body.splitlines(), 1)
        if wanted in line.lower()
    ]
