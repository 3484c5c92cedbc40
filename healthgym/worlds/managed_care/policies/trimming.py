"""Shorter editions of a policy: the same service under fewer criteria.

What is left of a policy is a policy: its page, its questionnaire, the documents it requires and the
way it is evaluated follow from it as they do from the whole one.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

import numpy as np

from healthgym.core.records import replace
from healthgym.core.seeding import stable_hash
from healthgym.worlds.managed_care.policies.checking import contradiction
from healthgym.worlds.managed_care.policies.policy import Policy, Texts
from healthgym.worlds.managed_care.policies.tree import (
    AllOf,
    AnyOf,
    AtLeast,
    Group,
    Node,
    Not,
    Unless,
    criteria,
    parts,
)

#: Editions of a policy at most, and draws of them.
EDITIONS, _DRAWS = 4, 8
#: Criteria of the shortest edition, where shorter ones are allowed: one alone is no reading.
_SHORTEST = 3


@lru_cache(maxsize=512)
def editions(policy: Policy, least: int, most: int) -> tuple[Policy, ...]:
    """Return a policy if its size is asked for, else shorter editions of it; the same every time.

    Args:
        policy: The policy.
        least: Fewest criteria.
        most: Most criteria.
    """
    size = len(criteria(policy.criteria))
    if size <= most:
        return (policy,) if size >= least else ()
    sequence = np.random.SeedSequence(stable_hash(policy.id), spawn_key=(least, most))
    rng = np.random.Generator(np.random.PCG64(sequence))
    found: list[Policy] = []
    for _ in range(_DRAWS):
        wanted = int(rng.integers(min(max(least, _SHORTEST), most), most + 1))
        short = trimmed(policy, least, wanted, rng)
        if short is not None and short not in found:
            found.append(short)
    return tuple(found[:EDITIONS])


def trimmed(policy: Policy, least: int, most: int, rng: np.random.Generator) -> Policy | None:
    """Return a policy without some of its branches, its criteria numbered anew.

    What stands first, the indication, is never left out as a whole. Of what the page says besides,
    only the scope is left: notes, background and exclusions speak of criteria that may be gone.

    Args:
        policy: The policy.
        least: Fewest criteria to leave.
        most: Most criteria to leave.
        rng: Draws what is left out.

    Returns:
        The shorter policy; None if no such one was found.
    """
    tree = policy.criteria
    while (size := len(criteria(tree))) > most:
        first = parts(tree)[0] if isinstance(tree, AllOf) else None
        able = [each for each in _spare(tree) if each is not first]
        able = [each for each in able if size - len(criteria(each)) >= least]
        if not able:
            return None
        tree = _without(tree, able[int(rng.integers(len(able)))].id)
    if not isinstance(tree, AllOf):
        tree = AllOf(id="G0", parts=(tree,))
    # What former versions changed was said of the whole policy, and so were its texts.
    texts = Texts(scope=policy.texts.scope)
    short = replace(policy, criteria=_numbered(tree), history=(), texts=texts)
    return None if contradiction(short) else short


def _spare(node: Node) -> Iterator[Node]:
    """Yield what can be left out below a node without emptying a group."""
    match node:
        case AllOf() | AnyOf() if len(node.parts) > 1:
            yield from node.parts
        case AtLeast() if len(node.parts) > node.n:
            yield from node.parts
        case Unless():
            yield node.exception
    for part in parts(node):
        yield from _spare(part)


def _without(node: Node, name: str) -> Node:
    """Return a tree without one of its nodes; a group of which one part is left is that part."""
    match node:
        case AllOf() | AnyOf() | AtLeast():
            left = tuple(_without(part, name) for part in node.parts if part.id != name)
            if len(left) == 1:
                return left[0]
            if isinstance(node, AtLeast) and node.n == len(left):
                return AllOf(id=node.id, title=node.title, parts=left)
            return replace(node, parts=left)
        case Not():
            return replace(node, part=_without(node.part, name))
        case Unless():
            kept = _without(node.requirement, name)
            if node.exception.id == name:
                return kept
            return replace(node, requirement=kept, exception=_without(node.exception, name))
    return node


def _numbered(tree: Node) -> Node:
    """Return a tree whose groups and criteria are numbered in the order of the page."""
    counts = {"G": 0, "C": 0}

    def number(node: Node) -> Node:
        letter = "G" if isinstance(node, Group) else "C"
        counts[letter] += 1
        node = replace(node, id=f"{letter}{counts[letter]}")
        match node:
            case AllOf() | AnyOf() | AtLeast():
                return replace(node, parts=tuple(map(number, node.parts)))
            case Not():
                return replace(node, part=number(node.part))
            case Unless():
                requirement = number(node.requirement)
                return replace(node, requirement=requirement, exception=number(node.exception))
        return node

    return number(tree)


__all__ = ["EDITIONS", "editions", "trimmed"]
