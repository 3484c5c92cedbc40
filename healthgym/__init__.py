"""Reinforcement-learning environments for healthcare agents.

Importing the package registers its environments, so ``gymnasium.make("healthgym:HealthAgent/...")``
works without another import. Everything else is loaded when it is first asked for.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from healthgym import errors
from healthgym.registration import arena_ids, ids, register_all, register_arenas
from healthgym.version import __version__

if TYPE_CHECKING:
    from healthgym.core.tool import ToolCall, call
    from healthgym.policies.evaluation import evaluate
    from healthgym.policies.results import Evaluation

__all__ = [
    "Evaluation",
    "ToolCall",
    "__version__",
    "arena_ids",
    "call",
    "errors",
    "evaluate",
    "ids",
    "register_arenas",
]

_LAZY = {
    "Evaluation": "healthgym.policies.results",
    "ToolCall": "healthgym.core.tool",
    "call": "healthgym.core.tool",
    "evaluate": "healthgym.policies.evaluation",
}

register_all()


def __getattr__(name: str) -> Any:
    module = _LAZY.get(name)
    if module is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(module), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
