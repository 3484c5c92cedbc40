"""A reader that trusts the workstation: one measurement for each finding, and a threshold.

It sees the text of observations only. Thresholds were set on tasks of the train split; see
``benchmarks/ct_abnormality.py``.
"""

from __future__ import annotations

import re
from collections.abc import Generator
from functools import cache

from healthgym.core.tool import ToolCall, call
from healthgym.envs.ct_abnormality.resources import find_label, load

_ITEM = re.compile(r"^- (.+)$", re.MULTILINE)
_NUMBER = re.compile(r": (-?\d+(?:\.\d+)?)")


@cache
def thresholds() -> dict[str, tuple[str, float]]:
    """Return, for each finding, the measurement that speaks for it and from what value on."""
    table = load("thresholds.json")
    return {label: (str(row["measure"]), float(row["from"])) for label, row in table.items()}


def solve_by_measuring(instruction: str) -> Generator[ToolCall, str, None]:
    """Measure once for each finding that the instruction lists, call it, and submit."""
    for item in _ITEM.findall(instruction):
        label = find_label(item)
        if not label:
            continue
        quantity, least = thresholds()[label]
        text = yield call("measure", quantity=quantity)
        found = _NUMBER.search(text.partition(quantity)[2])
        present = found is not None and float(found[1]) >= least
        yield call("record_call", finding=label, answer="yes" if present else "no")
    yield call("submit")
