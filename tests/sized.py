"""Which cases of a test run in CI: the others are marked slow, for `make test-slow`."""

from __future__ import annotations

from collections.abc import Iterable

import pytest
from _pytest.mark.structures import ParameterSet


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
