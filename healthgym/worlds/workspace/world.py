"""The world of an analyst: files to read, tables to query, drafts to hand in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from healthgym.core.borders import JsonObject
from healthgym.core.clock import Clock
from healthgym.core.world import World
from healthgym.worlds.workspace.drafts import Drafts
from healthgym.worlds.workspace.files import FileTree
from healthgym.worlds.workspace.sql import SqlEngine
from healthgym.worlds.workspace.sql_process import SqlLimits
from healthgym.worlds.workspace.tables import Table, TableStore


@dataclass(frozen=True, slots=True)
class Workspace:
    """What a workspace starts from. Immutable, and shared between the worlds opened on it.

    Attributes:
        files: Text of the task's files by path.
        tables: The task's tables by name.
        drafts: Drafts that exist from the start, by name.
        writable: Folders in which files may be written.
    """

    files: Mapping[str, str] = field(default_factory=dict)
    tables: Mapping[str, Table] = field(default_factory=dict)
    drafts: JsonObject = field(default_factory=dict)
    writable: tuple[str, ...] = ()


class WorkspaceWorld(World):
    """Files, tables, drafts and a clock.

    Nothing heavy is copied: an episode holds what it wrote, and shares the rest.

    Args:
        start: What the workspace holds at first.
        clock: Start of the episode; the world keeps this object and advances it.
        limits: Bounds of a query.
    """

    def __init__(self, start: Workspace, clock: Clock, *, limits: SqlLimits | None = None) -> None:
        self.clock = clock
        self.files = FileTree(start.files, writable=start.writable)
        self.tables = TableStore(start.tables)
        self.drafts = Drafts(start.drafts)
        self.sql = SqlEngine(self.tables, limits, clock)
