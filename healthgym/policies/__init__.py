"""Policies that play, and the evaluation that scores them.

Each name is loaded when it is first asked for, so that scoring a scripted policy loads no HTTP
client.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from healthgym.core.chat_client import ChatClient
    from healthgym.core.endpoint import Endpoint
    from healthgym.policies.base import Policy
    from healthgym.policies.evaluation import evaluate
    from healthgym.policies.llm import LLMPolicy
    from healthgym.policies.results import EpisodeResult, Evaluation
    from healthgym.policies.scripted import NopPolicy, RandomPolicy, ScriptPolicy, resolve

__all__ = [
    "ChatClient",
    "Endpoint",
    "EpisodeResult",
    "Evaluation",
    "LLMPolicy",
    "NopPolicy",
    "Policy",
    "RandomPolicy",
    "ScriptPolicy",
    "evaluate",
    "resolve",
]

_LAZY = {
    "ChatClient": "healthgym.core.chat_client",
    "Endpoint": "healthgym.core.endpoint",
    "EpisodeResult": "healthgym.policies.results",
    "Evaluation": "healthgym.policies.results",
    "LLMPolicy": "healthgym.policies.llm",
    "NopPolicy": "healthgym.policies.scripted",
    "Policy": "healthgym.policies.base",
    "RandomPolicy": "healthgym.policies.scripted",
    "ScriptPolicy": "healthgym.policies.scripted",
    "evaluate": "healthgym.policies.evaluation",
    "resolve": "healthgym.policies.scripted",
}


def __getattr__(name: str) -> Any:
    module = _LAZY.get(name)
    if module is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(module), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
