"""The libraries of the ``workspace`` extra, imported when they are first needed."""

from __future__ import annotations

import sys
from types import ModuleType

from healthgym.core import optional
from healthgym.errors import MissingDependencyError


def require(module: str) -> ModuleType:
    """Return a module of the extra.

    Raises:
        MissingDependencyError: If it is not installed, naming the extra that brings it, or on
            Windows.
    """
    if sys.platform == "win32":
        raise MissingDependencyError(
            "Tables and code of a workspace run in processes whose memory the kernel bounds, as it "
            "does on Linux and macOS: on Windows, use WSL or a container."
        )
    return optional.require(module, extra="workspace", purpose="A workspace of tables and code")
