"""Which criteria a reviewer has to answer for a case."""

from __future__ import annotations

from dataclasses import dataclass

from healthgym.worlds.managed_care.policies.tree import Node
from healthgym.worlds.managed_care.records.review import ClinicalCriterionCatalogItem


@dataclass(frozen=True, slots=True, kw_only=True)
class CriteriaCatalog:
    """The criteria of a case's policy, as its reviewers see them.

    Attributes:
        case_id: The case.
        items: The criteria, line by line.
        tree: How they are put together; without one every criterion has to be met.
    """

    case_id: str
    items: tuple[ClinicalCriterionCatalogItem, ...]
    tree: Node | None = None
