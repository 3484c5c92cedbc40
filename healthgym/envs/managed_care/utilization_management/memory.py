"""Numbers that somebody has read once: those of policies, and those of the office."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from healthgym.envs.managed_care.utilization_management.lookups import Office
from healthgym.worlds.managed_care.policies.criteria import AnyCriterion
from healthgym.worlds.managed_care.policies.tree import Node, criteria, transform


@dataclass(slots=True)
class Memory:
    """What was read once, and is not looked up again.

    Attributes:
        known: Criteria by policy id, and by what they are about.
        office: What the pages of the office say; None until they are read.
    """

    known: dict[str, dict[str, AnyCriterion]] = field(default_factory=dict)
    office: Office | None = None

    def criteria_of(self, policy: str, read: Node) -> Node:
        """Return a policy's criteria, each with the numbers with which it was first read."""
        now = by_subject(read)
        first = self.known.setdefault(policy, now)
        old = {
            item.id: replace(first[name], id=item.id) for name, item in now.items() if name in first
        }
        return transform(read, lambda item: old.get(item.id, item))


def by_subject(tree: Node) -> dict[str, AnyCriterion]:
    """Return criteria by what they are about; a second one about the same gets a number."""
    found: dict[str, AnyCriterion] = {}
    for item in criteria(tree):
        name, place = f"{item.kind} {item.display}", 1
        while f"{name} {place}" in found:
            place += 1
        found[f"{name} {place}"] = item
    return found
