"""Which status may follow which: 48 edges of authorization cases, 19 of care-management episodes.

The tables are the source's (``data/edges.json``). What triggers an edge, and what guards it, is in
the application that moves the case.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import TypeVar

from healthgym.worlds.managed_care.refusals import Refusal, RefusalCode
from healthgym.worlds.managed_care.vocabulary.authorization import CaseStatus
from healthgym.worlds.managed_care.vocabulary.care import CMCaseStatus

Status = TypeVar("Status", CaseStatus, CMCaseStatus)
Edges = Mapping[Status, tuple[Status, ...]]

#: The statuses in which an authorization is decided, appeals aside.
DECIDED = frozenset({CaseStatus.APPROVED, CaseStatus.PARTIALLY_APPROVED, CaseStatus.DENIED})


@cache
def case_edges() -> Edges[CaseStatus]:
    """Return the 48 edges of authorization cases, by status."""
    return {
        CaseStatus(source): tuple(map(CaseStatus, targets))
        for source, targets in _table()["authorization"].items()
    }


@cache
def care_edges() -> Edges[CMCaseStatus]:
    """Return the 19 edges of care-management episodes, by status."""
    return {
        CMCaseStatus(source): tuple(map(CMCaseStatus, targets))
        for source, targets in _table()["care_management"].items()
    }


def require_edge(edges: Edges[Status], source: Status, target: Status, what: str) -> None:
    """Refuse a pair that the table does not have; a status may not follow itself.

    Args:
        edges: The table.
        source: The status now.
        target: The status that is to follow.
        what: What is moved, for the sentence: ``Case CASE-ACT-001``.

    Raises:
        Refusal: If the table has no such edge.
    """
    accepted = edges.get(source, ())
    if target not in accepted:
        listed = ", ".join(accepted) or "nothing, it is final"
        raise Refusal(
            RefusalCode.ILLEGAL_TRANSITION,
            f"{what} is {source} and cannot become {target}; accepted from here: {listed}.",
        )


@cache
def _table() -> Mapping[str, Mapping[str, list[str]]]:
    text = (files(__package__) / "data" / "edges.json").read_text("utf-8")
    table: Mapping[str, Mapping[str, list[str]]] = json.loads(text)
    return table
