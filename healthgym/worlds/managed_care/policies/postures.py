"""What the postures of criteria come to in a policy's tree, and which of them decide.

A group needs some number of its parts: it is satisfied if so many are, contradicted if so many can
no longer be, absent if there is nothing but absence, and insufficient otherwise.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import NamedTuple

from healthgym.worlds.managed_care.policies.criteria import (
    ContraindicationCriterion,
    DiagnosisCriterion,
    ProcedureCriterion,
    QuantityCriterion,
)
from healthgym.worlds.managed_care.policies.keeping import kept
from healthgym.worlds.managed_care.policies.tree import Group, Node, Not, criteria, needed, parts
from healthgym.worlds.managed_care.vocabulary.authorization import Posture

#: What a chart lists: what is on no list is not the case, as far as the office has to show.
_LISTED = (DiagnosisCriterion, ContraindicationCriterion, ProcedureCriterion)
_FLIPPED = {Posture.SATISFIED: Posture.CONTRADICTS, Posture.CONTRADICTS: Posture.SATISFIED}


def combined(node: Node, postures: Mapping[str, Posture], *, negated: bool = False) -> Posture:
    """Return the posture of a tree from those of its criteria, by id.

    Under a Not, silence is the answer for what would stand on a list if it were so: a diagnosis, a
    contraindication, an earlier procedure.

    Args:
        node: The tree, or a part of it.
        postures: Postures, by id.
        negated: Whether the part stands under a Not.
    """
    return _combined(_shape(node), postures, negated)


class _Shape(NamedTuple):
    """A tree as it is combined, some hundred times a task and from every node.

    Attributes:
        name: Id of the node.
        parts: What is below it; None if it is a criterion.
        wanted: How many parts must hold.
        turns: Whether it is a Not.
        listed: Whether silence answers it under a Not.
    """

    name: str
    parts: tuple[_Shape, ...] | None
    wanted: int = 0
    turns: bool = False
    listed: bool = False


#: Returns, of what the branches of a group lack, that which is named.
_Chosen = Callable[[_Shape, Posture, list[tuple[str, ...]]], list[tuple[str, ...]]]


@kept
def _shape(node: Node) -> _Shape:
    if not isinstance(node, Group):
        return _Shape(node.id, None, listed=isinstance(node, _LISTED))
    below = tuple(_shape(part) for part in parts(node))
    if isinstance(node, Not):
        return _Shape(node.id, below, turns=True)
    return _Shape(node.id, below, needed(node))


def _combined(shape: _Shape, postures: Mapping[str, Posture], negated: bool) -> Posture:
    name, below, _, turns, listed = shape
    if below is None:
        stance = postures[name]
        silent = listed and negated and stance is Posture.ABSENT
        return Posture.CONTRADICTS if silent else stance
    if turns:
        stance = _combined(below[0], postures, not negated)
        return _FLIPPED.get(stance, stance)
    return _together(shape, [_combined(part, postures, negated) for part in below])


def _together(shape: _Shape, stances: list[Posture]) -> Posture:
    """Return the posture of a group from those of its parts."""
    if stances.count(Posture.SATISFIED) >= shape.wanted:
        return Posture.SATISFIED
    if len(stances) - stances.count(Posture.CONTRADICTS) < shape.wanted:
        return Posture.CONTRADICTS
    absent = stances.count(Posture.ABSENT)
    return Posture.ABSENT if absent == len(stances) > 0 else Posture.INSUFFICIENT


def settles(tree: Node, postures: Mapping[str, Posture], named: Iterable[str]) -> bool:
    """Return whether evidence for the named criteria would satisfy a tree.

    Several answers to what is missing can be right where a policy leaves a choice; this tells
    whether one of them is complete.

    Args:
        tree: The criteria.
        postures: Postures as they are, by id.
        named: Ids of the criteria for which evidence is to be gathered.
    """
    wanted = set(named)
    known = {
        name: good
        for name, good in favourable(tree).items()
        if name in wanted and postures.get(name) in (Posture.INSUFFICIENT, Posture.ABSENT)
    }
    return combined(tree, {**postures, **known}) is Posture.SATISFIED


@kept
def favourable(tree: Node) -> Mapping[str, Posture]:
    """Return the posture of each criterion, by id, that helps: under a Not, the contrary."""
    return MappingProxyType(dict(_favourable(tree, Posture.SATISFIED)))


def _favourable(node: Node, good: Posture) -> Iterator[tuple[str, Posture]]:
    if not isinstance(node, Group):
        yield node.id, good
    below = _FLIPPED[good] if isinstance(node, Not) else good
    for part in parts(node):
        yield from _favourable(part, below)


def decisive(
    node: Node,
    postures: Mapping[str, Posture],
    good: Posture = Posture.SATISFIED,
    *,
    negated: bool = False,
) -> tuple[str, ...]:
    """Return the criteria whose change would turn the result: the fewest that would do.

    Of several branches the one is named that lacks least, and the first of equals; what a branch
    that nobody relies on lacks is no reason for anything.

    Args:
        node: The criteria.
        postures: Postures as they are, by id.
        good: The posture that the whole is wanted to take.
        negated: Whether it stands under a Not.

    Returns:
        Their ids in the order of the page; none if the result is the wanted one.
    """
    return _turning(_shape(node), postures, good, negated, _nearest)[1]


def _turning(
    shape: _Shape,
    postures: Mapping[str, Posture],
    good: Posture,
    negated: bool,
    chosen: _Chosen,
) -> tuple[Posture, tuple[str, ...]]:
    """Return the posture of a part, and which of its criteria keep it from the wanted one.

    Args:
        shape: The part.
        postures: Postures as they are, by id.
        good: The posture that it is wanted to take.
        negated: Whether it stands under a Not.
        chosen: Returns the branches of a group whose criteria are named.
    """
    below = shape.parts
    if below is None:
        stance = _combined(shape, postures, negated)
        return stance, () if stance is good else (shape.name,)
    if shape.turns:
        stance, names = _turning(below[0], postures, _FLIPPED[good], not negated, chosen)
        return _FLIPPED.get(stance, stance), names
    found = [_turning(part, postures, good, negated, chosen) for part in below]
    stance = _together(shape, [each for each, _ in found])
    if stance is good:
        return stance, ()
    branches = chosen(shape, good, [names for _, names in found])
    return stance, tuple(name for names in branches for name in names)


def _nearest(shape: _Shape, good: Posture, ways: list[tuple[str, ...]]) -> list[tuple[str, ...]]:
    """Return as many branches as are needed, of those that lack least."""
    wanted = len(ways) - shape.wanted + 1 if good is Posture.CONTRADICTS else shape.wanted
    near = sorted(range(len(ways)), key=lambda place: len(ways[place]))[:wanted]
    return [ways[place] for place in sorted(near)]


def _every(shape: _Shape, good: Posture, ways: list[tuple[str, ...]]) -> list[tuple[str, ...]]:
    return ways


def failing(
    node: Node,
    postures: Mapping[str, Posture],
    good: Posture = Posture.SATISFIED,
    *,
    negated: bool = False,
) -> tuple[str, ...]:
    """Return every criterion on the parts of a policy that are not carried.

    Where several branches fail, a reader may rightly name another than :func:`decisive` does. What
    a satisfied alternative makes needless is not among them.

    Args:
        node: The criteria.
        postures: Postures as they are, by id.
        good: The posture that the whole is wanted to take.
        negated: Whether it stands under a Not.

    Returns:
        Their ids in the order of the page; none if the result is the wanted one.
    """
    return _turning(_shape(node), postures, good, negated, _every)[1]


def limit_of(tree: Node, postures: Mapping[str, Posture]) -> int | None:
    """Return the most that could be approved, if nothing but a quantity stands against it."""
    limits = {
        item.id: item.maximum
        for item in criteria(tree)
        if isinstance(item, QuantityCriterion) and postures[item.id] is Posture.CONTRADICTS
    }
    lowered = {**postures, **dict.fromkeys(limits, Posture.SATISFIED)}
    if limits and combined(tree, lowered) is Posture.SATISFIED:
        return min(limits.values())
    return None


def undecided(
    node: Node, postures: Mapping[str, Posture], *, negated: bool = False
) -> Iterator[str]:
    """Yield the open criteria below what is open: what is already decided needs no evidence."""
    decided = (Posture.SATISFIED, Posture.CONTRADICTS)
    if combined(node, postures, negated=negated) in decided:
        return
    if not isinstance(node, Group):
        yield node.id
    for part in parts(node):
        yield from undecided(part, postures, negated=negated is not isinstance(node, Not))


def against(node: Node, postures: Mapping[str, Posture]) -> Iterator[str]:
    """Yield the criteria because of which a tree is contradicted."""
    if isinstance(node, Not):
        if combined(node, postures) is Posture.CONTRADICTS:
            yield from (item.id for item in criteria(node))
        return
    if combined(node, postures) is not Posture.CONTRADICTS:
        return
    if not isinstance(node, Group):
        yield node.id
    for part in parts(node):
        yield from against(part, postures)
