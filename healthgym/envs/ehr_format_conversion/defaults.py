"""The default configuration: the whole of it, or the part about some tables."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import yaml

from healthgym.core.borders import JsonDict, JsonObject
from healthgym.envs.ehr_format_conversion.resources import text

_HEAD = "subject_id_col"


@dataclass(frozen=True)
class DefaultConfig:
    """A configuration as text, table by table.

    Attributes:
        head: What stands before the first table.
        sections: The text of each table, without the comments above it.
        comments: The comments above each table.
    """

    head: str
    sections: Mapping[str, str]
    comments: Mapping[str, str]

    @property
    def text(self) -> str:
        """The file."""
        return self.with_sections(self.sections)

    def with_sections(self, sections: Mapping[str, str]) -> str:
        """Return the file with other sections, in their order."""
        parts = [f"{self.comments.get(table, '')}{body}" for table, body in sections.items()]
        return "\n".join([self.head, *parts])

    def only(self, tables: Collection[str]) -> DefaultConfig:
        """Return the part about some tables."""
        kept = {table: body for table, body in self.sections.items() if table in tables}
        return DefaultConfig(self.head, kept, self.comments)

    def without_metadata(self, present: Collection[str]) -> DefaultConfig:
        """Return the configuration without the joins of dictionaries that are not there."""
        sections = dict(self.sections)
        for table, body in self.sections.items():
            data = yaml.safe_load(body)
            kept = {name: _with_present(block, present) for name, block in data[table].items()}
            if kept != data[table]:
                sections[table] = dump_section(table, kept)
        return DefaultConfig(self.head, sections, self.comments)


def _with_present(block: JsonObject, present: Collection[str]) -> JsonDict:
    metadata = block.get("_metadata", {})
    kept = {table: rows for table, rows in metadata.items() if table in present}
    rest = {key: value for key, value in block.items() if key != "_metadata"}
    return {**rest, "_metadata": kept} if kept else rest


@cache
def default_config() -> DefaultConfig:
    """Return the default configuration of all tables."""
    return sectioned(text("event_configs.yaml"))


def sectioned(config: str) -> DefaultConfig:
    """Return a configuration by table; paragraphs are apart by one empty line."""
    paragraphs = config.strip().split("\n\n")
    sections: dict[str, str] = {}
    comments: dict[str, str] = {}
    for paragraph in paragraphs[1:]:
        lines = paragraph.splitlines(keepends=True)
        first = next(place for place, line in enumerate(lines) if not line.startswith("#"))
        table = lines[first].rstrip().removesuffix(":")
        comments[table] = "".join(lines[:first])
        sections[table] = f"{''.join(lines[first:]).rstrip()}\n"
    return DefaultConfig(f"{paragraphs[0]}\n", sections, comments)


@cache
def parsed_section(body: str) -> JsonObject:
    """Return the event blocks of a section; not to be modified."""
    (blocks,) = yaml.safe_load(body).values()
    return dict(blocks)


def dump_section(table: str, blocks: JsonObject) -> str:
    """Return a section as text."""
    return str(yaml.dump({table: dict(blocks)}, Dumper=_Dumper, sort_keys=False, width=1000))


_Base: Any = getattr(yaml, "CSafeDumper", yaml.SafeDumper)


class _Dumper(_Base):  # type: ignore[misc]
    """Writes short lists on one line, as the default configuration does, and no aliases."""

    def ignore_aliases(self, data: object) -> bool:
        return True


def _flow_of_texts(dumper: yaml.SafeDumper, data: list[Any]) -> yaml.Node:
    flow = all(isinstance(item, str) for item in data)
    return dumper.represent_sequence("tag:yaml.org,2002:seq", data, flow_style=flow)


_Dumper.add_representer(list, _flow_of_texts)
