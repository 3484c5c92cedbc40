"""The libraries of the ``workspace`` extra, imported when they are first needed."""

from __future__ import annotations

from types import ModuleType

from healthgym.core import optional


def require(module: str) -> ModuleType:
    """Return a module of the extra.

    Raises:
        MissingDependencyError: If it is not installed, naming the extra that brings it.
    """
    return optional.require(module, extra="workspace", purpose="A workspace of tables and code")
