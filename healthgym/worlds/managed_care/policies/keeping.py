"""Keeping what follows from an immutable value with the value itself, once somebody has asked.

Policies and their parts are asked for the same things some hundred times a task: their criteria,
their evidence items, the documents that show them. What is kept lives as long as the value, is no
part of it, and goes into no copy, comparison or record of it.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import TypeVar

Value = TypeVar("Value")
Result = TypeVar("Result")


class Keeping:
    """Mixed into a frozen dataclass with slots, which then has room for what is kept."""


def kept(function: Callable[[Value], Result]) -> Callable[[Value], Result]:
    """Let what a function returns be kept with its argument, a :class:`Keeping`.

    Args:
        function: It returns something immutable that follows from its argument alone.
    """
    name = f"{function.__module__}.{function.__qualname__}"

    @wraps(function)
    def of(value: Value) -> Result:
        held = value.__dict__
        if name in held:
            known: Result = held[name]
            return known
        made = held[name] = function(value)
        return made

    return of
