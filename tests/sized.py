"""How much a test plays: a part in CI, and all of it in `make test-slow`."""

from __future__ import annotations

import os
from collections.abc import Iterable

import pytest
from _pytest.mark.structures import ParameterSet

#: Whether tests play all they have; `make test-slow` says so, and selects every test.
FULL = os.environ.get("HEALTHGYM_TESTS") == "full"


def first_ones(values: Iterable[object], quick: int = 1) -> list[ParameterSet]:
    """Return cases of which all but the first ones are slow.

    Args:
        values: The cases, each the values of one argument.
        quick: How many are not slow.
    """
    return [
        pytest.param(value, marks=[pytest.mark.slow] if place >= quick else [])
        for place, value in enumerate(values)
    ]


def one_in(step: int, values: Iterable[object]) -> list[ParameterSet]:
    """Return cases of which all but the first of every few are slow.

    Args:
        step: Of so many cases in a row the first is not slow.
        values: The cases, each the values of one argument.
    """
    return [
        pytest.param(value, marks=[pytest.mark.slow] if place % step else [])
        for place, value in enumerate(values)
    ]


def some(full: int, quick: int) -> int:
    """Return how many tasks are played: so many in `make test-slow`, so many in CI."""
    return full if FULL else quick
