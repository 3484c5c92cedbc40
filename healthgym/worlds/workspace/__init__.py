"""A workspace: read-only files and tables, drafts, SQL and code in a box."""

from healthgym.core.cache import BuildCache
from healthgym.worlds.workspace.drafts import Drafts
from healthgym.worlds.workspace.files import FileTree, Hit, Page
from healthgym.worlds.workspace.full_tools import FullPythonTools, python_tools
from healthgym.worlds.workspace.python import (
    CodeLimits,
    CodeResult,
    SandboxedPython,
    python_available,
)
from healthgym.worlds.workspace.sql import SqlEngine
from healthgym.worlds.workspace.sql_process import SqlLimits, SqlResult
from healthgym.worlds.workspace.tables import Table, TableStore
from healthgym.worlds.workspace.tools import FileTools, PythonTools, TableTools
from healthgym.worlds.workspace.world import Workspace, WorkspaceWorld

__all__ = [
    "BuildCache",
    "CodeLimits",
    "CodeResult",
    "Drafts",
    "FileTools",
    "FileTree",
    "FullPythonTools",
    "Hit",
    "Page",
    "PythonTools",
    "SandboxedPython",
    "SqlEngine",
    "SqlLimits",
    "SqlResult",
    "Table",
    "TableStore",
    "TableTools",
    "Workspace",
    "WorkspaceWorld",
    "python_available",
    "python_tools",
]
