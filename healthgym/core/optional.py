"""Libraries that come with an extra, imported when they are first needed."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType

from healthgym.errors import MissingDependencyError


def require(module: str, *, extra: str, purpose: str) -> ModuleType:
    """Return an optional module.

    Args:
        module: Its full name.
        extra: The extra of healthgym that brings it.
        purpose: What needs it, as the beginning of a sentence, such as ``"Event modelling"``.

    Raises:
        MissingDependencyError: If it is not installed, naming the extra.
    """
    try:
        return import_module(module)
    except ImportError as error:
        raise MissingDependencyError(
            f"{purpose} needs {module!r}, which is not installed: pip install 'healthgym[{extra}]'."
        ) from error
