"""How criteria are put together: all of, any of, at least n of, not, and required unless.

A node has an id and, if the page gives it a heading, a title. Trees are values: what changes one
returns another.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

from pydantic import ConfigDict, Field

from healthgym.core.records import replace
from healthgym.worlds.managed_care.policies.criteria import AnyCriterion
from healthgym.worlds.managed_care.policies.keeping import Keeping, kept


@dataclass(frozen=True, slots=True, kw_only=True)
class Group(Keeping):
    """A requirement made of others.

    Attributes:
        id: Unique within the policy, such as ``G2``.
        title: Its heading on the page; may be empty.
    """

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid")

    id: str
    title: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class AllOf(Group):
    """Every part is required.

    Attributes:
        parts: The parts, in the page's order.
    """

    kind: Literal["all"] = "all"
    parts: tuple[Node, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class AnyOf(Group):
    """One part is enough.

    Attributes:
        parts: The parts, in the page's order.
    """

    kind: Literal["any"] = "any"
    parts: tuple[Node, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class AtLeast(Group):
    """Some number of the parts is required.

    Attributes:
        n: How many.
        parts: The parts, in the page's order.
    """

    kind: Literal["at_least"] = "at_least"
    n: int
    parts: tuple[Node, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Not(Group):
    """The part must not hold: what is not known of it is not known of this, either.

    What a chart lists is known by its list: of diagnoses, contraindications and procedures no entry
    is enough (`postures.combined`).

    Attributes:
        part: What must not be.
    """

    kind: Literal["not"] = "not"
    part: Node


@dataclass(frozen=True, slots=True, kw_only=True)
class Unless(Group):
    """A requirement, and the exception that waives it.

    Attributes:
        requirement: What is required.
        exception: What makes it unnecessary.
    """

    kind: Literal["unless"] = "unless"
    requirement: Node
    exception: Node


Node = Annotated[
    AnyCriterion | AllOf | AnyOf | AtLeast | Not | Unless,
    Field(discriminator="kind"),
]


#: Groups of any number of parts.
_LISTS = (AllOf, AnyOf, AtLeast)


def parts(node: Node) -> tuple[Node, ...]:
    """Return the parts of a group in order; nothing for a criterion."""
    if isinstance(node, _LISTS):
        return node.parts
    if isinstance(node, Unless):
        return (node.requirement, node.exception)
    return (node.part,) if isinstance(node, Not) else ()


def walk(node: Node) -> Iterator[Node]:
    """Yield a node and everything below it, in the order of the page."""
    ahead = [node]
    while ahead:
        here = ahead.pop()
        yield here
        if isinstance(here, Group):
            ahead += reversed(parts(here))


def outline(node: Node) -> str:
    """Return how criteria fit together, by their ids: "all of (any of (C1, C2), not C3)"."""
    if isinstance(node, _LISTS):
        many = f"at least {node.n}" if isinstance(node, AtLeast) else node.kind
        return f"{many} of ({', '.join(map(outline, node.parts))})"
    if isinstance(node, Unless):
        return f"({outline(node.requirement)} unless {outline(node.exception)})"
    return f"not {outline(node.part)}" if isinstance(node, Not) else node.id


def criteria(node: Node) -> tuple[AnyCriterion, ...]:
    """Return the criteria of a tree in the order of the page."""
    return _leaves(node)


@kept
def _leaves(node: Node) -> tuple[AnyCriterion, ...]:
    return tuple(here for here in walk(node) if not isinstance(here, Group))


def depth(node: Node) -> int:
    """Return how many levels a tree has; 1 for a single criterion."""
    return 1 + max((depth(part) for part in parts(node)), default=0)


def needed(node: AllOf | AnyOf | AtLeast | Unless) -> int:
    """Return how many parts of a group must hold."""
    match node:
        case AllOf():
            return len(node.parts)
        case AtLeast():
            return node.n
    return 1


def transform(node: Node, change: Callable[[AnyCriterion], AnyCriterion]) -> Node:
    """Return the tree with each criterion put through ``change``."""
    match node:
        case AllOf() | AnyOf() | AtLeast():
            return replace(node, parts=tuple(transform(part, change) for part in node.parts))
        case Not():
            return replace(node, part=transform(node.part, change))
        case Unless():
            return replace(
                node,
                requirement=transform(node.requirement, change),
                exception=transform(node.exception, change),
            )
    return change(node)
