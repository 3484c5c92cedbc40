"""The libraries of the ``workspace`` extra, imported when they are first needed."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType

from healthgym.errors import MissingDependencyError


def require(module: str) -> ModuleType:
    """Return an optional module.

    Raises:
        MissingDependencyError: If it is not installed, naming the extra that brings it.
    """
    try:
        return import_module(module)
    except ImportError as error:
        raise MissingDependencyError(
            f"Tables and code need {module.partition('.')[0]!r}, which is not installed: "
            "pip install 'healthgym[workspace]'."
        ) from error
