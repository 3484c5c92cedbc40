"""The agent's verbs: methods of a toolset, made callable by name.

A toolset is a class whose methods, marked with :func:`tool`, act on one world. It keeps no state
of its own, so that cloning the world clones everything. Name, schema and validation of a tool come
from its signature and docstring, once per class.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from dataclasses import dataclass, field, fields
from datetime import timedelta
from enum import StrEnum
from functools import cache, cached_property
from typing import Any, ClassVar, Generic, TypeAlias, TypeVar

from pydantic import BaseModel

from healthgym.core.borders import JsonDict, JsonObject
from healthgym.core.clock import Clock
from healthgym.core.images import Image as Image
from healthgym.core.images import checked
from healthgym.core.schema import (
    argument_model,
    argument_signature,
    describe,
    parameters_schema,
)
from healthgym.core.usage import usage_line
from healthgym.core.world import World
from healthgym.errors import ConfigurationError

WorldT = TypeVar("WorldT", bound=World)
#: How long a call takes: always the same, or by its validated arguments.
Duration = timedelta | Callable[[JsonObject], timedelta]
Method = TypeVar("Method", bound=Callable[..., object])

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*(\.[A-Za-z][A-Za-z0-9_]*)*")


class ToolKind(StrEnum):
    """What a tool may do."""

    READ = "read"  #: leaves the world's contents as they are
    WRITE = "write"  #: changes the world, or raises ToolError
    SUBMIT = "submit"  #: hands in the answer: closes a case, or the role's part
    EVENT = "event"  #: no tool: what the world did by itself when it fell due


class Scope(StrEnum):
    """What a SUBMIT tool closes."""

    SESSION = "session"  #: the role is done
    CASE = "case"  #: the case that the call is about; the role is done when all are closed
    FORFEIT = "forfeit"  #: the role is done, and has handed nothing in


@dataclass(frozen=True, slots=True)
class Caller:
    """Who uses a tool.

    Attributes:
        role: The role at the table.
        actor: The person who fills it, where the world knows one.
        clock: The world's clock.
    """

    role: str
    actor: str
    clock: Clock


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What a tool shows the agent.

    Attributes:
        text: The text of the observation.
        images: Pictures that go with it: uint8 arrays of shape (height, width) or
            (height, width, 3). They are copied, so that a tool may hand out what its world keeps
            in a cache. The text says what they show, for agents that see none.

    Raises:
        ConfigurationError: If an image is of another shape or type.
    """

    text: str
    images: tuple[Image, ...] = ()

    def __post_init__(self) -> None:
        if self.images:
            copies = tuple(checked(image).copy() for image in self.images)
            object.__setattr__(self, "images", copies)


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A request to use a tool, with JSON arguments not yet validated."""

    name: str
    arguments: JsonObject = field(default_factory=dict)


def call(name: str, /, **arguments: object) -> ToolCall:
    """Return a :class:`ToolCall`; a shorthand for scripts and notebooks."""
    return ToolCall(name, arguments)


@dataclass(frozen=True)
class ToolSpec:
    """A tool as a class declares it, independent of any world.

    Attributes:
        function: The undecorated method.
        kind: What it may do.
        namespace: Name of its toolset, or empty.
        takes: Simulated time one call takes, or how that follows from its arguments; the episode's
            own step length if None.
        closes: What a SUBMIT tool closes.
        engine: Whether the tool is the engine's own and not a family's.
        listed: Whether agents are told of it.
        published: Name it is offered under, where the method's own will not do; with a dot in it,
            the full name.
    """

    function: Callable[..., object]
    kind: ToolKind
    namespace: str = ""
    takes: Duration | None = None
    closes: Scope = Scope.SESSION
    engine: bool = False
    listed: bool = True
    published: str = ""

    @cached_property
    def method(self) -> str:
        """Name without the namespace: the method's, unless another is published."""
        return self.published.rpartition(".")[2] or self.function.__name__

    @cached_property
    def name(self) -> str:
        """Full name: ``namespace.method``, or the method alone."""
        if "." in self.published:
            return self.published
        return f"{self.namespace}.{self.method}" if self.namespace else self.method

    @cached_property
    def identifier(self) -> str:
        """The full name for faces that allow no dot (OpenAI, Python methods)."""
        return self.name.replace(".", "__")

    @cached_property
    def description(self) -> str:
        """What the tool does, from the docstring."""
        return describe(self.function)[0]

    @cached_property
    def parameters(self) -> JsonDict:
        """JSON Schema of the arguments."""
        return parameters_schema(self.function)

    @cached_property
    def signature(self) -> inspect.Signature:
        """Typed signature of the arguments, without the receiver."""
        return argument_signature(self.function)

    @cached_property
    def model(self) -> type[BaseModel]:
        """Validator of the arguments."""
        return argument_model(self.function)

    @cached_property
    def usage(self) -> str:
        """One-line usage, such as ``find(name: string, limit?: integer)``."""
        return usage_line(self.identifier, self.parameters)

    def __getstate__(self) -> dict[str, object]:
        # Without what is derived: a generated pydantic model cannot be pickled.
        return {item.name: getattr(self, item.name) for item in fields(self)}

    def openai(self) -> JsonDict:
        """The tool in OpenAI's function form, as chat templates take it."""
        return {
            "type": "function",
            "function": {
                "name": self.identifier,
                "description": self.description,
                "parameters": self.parameters,
            },
        }

    def mcp(self) -> JsonDict:
        """The tool in the form of the Model Context Protocol."""
        return {
            "name": self.name,
            "description": self.description,
            "inputSchema": self.parameters,
            "annotations": {
                "readOnlyHint": self.kind is ToolKind.READ,
                "destructiveHint": False,
                "openWorldHint": False,
            },
        }


def tool(
    kind: ToolKind,
    *,
    takes: Duration | None = None,
    name: str = "",
    closes: Scope = Scope.SESSION,
) -> Callable[[Method], Method]:
    """Mark a method of a :class:`Toolset` as a tool.

    Args:
        kind: What the tool may do.
        takes: Simulated time one call takes, or a function from its validated arguments to that;
            the episode's step length if omitted.
        name: Name it is offered under, for methods that cannot bear it: ``"list"`` in the
            toolset's namespace, or with a dot the full name, ``"orders.list"``.
        closes: What a SUBMIT tool closes.

    Raises:
        TypeError: If the name is not made of words joined by dots.
    """
    if name and not _NAME.fullmatch(name):
        raise TypeError(f"A tool cannot be named {name!r}: use words joined by dots.")

    declared = {"kind": kind, "takes": takes, "published": name, "closes": closes}

    def mark(method: Method) -> Method:
        method.__tool__ = declared  # type: ignore[attr-defined]
        return method

    return mark


class Toolset(Generic[WorldT]):
    """Verbs on a world. Subclass it and mark methods with :func:`tool`.

    Args:
        world: The world the tools act on. It is the only state a toolset may hold.
        caller: Who uses the tools; needed by tools that ask for it.
    """

    namespace: ClassVar[str] = ""
    #: Whether these are the engine's own verbs; policies that draw tools by chance leave them out.
    engine: ClassVar[bool] = False
    #: Whether agents are told of the tools; a grammar may call tools that they do not know of.
    listed: ClassVar[bool] = True

    def __init__(self, world: WorldT, caller: Caller | None = None) -> None:
        self.world = world
        self._caller = caller

    @property
    def caller(self) -> Caller:
        """Who uses the tool.

        Raises:
            ConfigurationError: If the toolset was made by hand, without one.
        """
        if self._caller is None:
            raise ConfigurationError(f"{type(self).__name__} was made without a caller.")
        return self._caller

    @classmethod
    def specs(cls) -> tuple[ToolSpec, ...]:
        """The tools of this class, in the order of their definition.

        Raises:
            TypeError: If a tool's signature or docstring cannot be made into a schema.
        """
        return _class_specs(cls)  # type: ignore[arg-type]


AnyToolset: TypeAlias = Toolset[Any]


@cache
def _class_specs(cls: type[AnyToolset]) -> tuple[ToolSpec, ...]:
    members: JsonDict = {}
    for base in reversed(cls.__mro__):
        members.update(vars(base))
    marked = ((value, getattr(value, "__tool__", None)) for value in members.values())
    specs = tuple(
        ToolSpec(function, namespace=cls.namespace, engine=cls.engine, listed=cls.listed, **mark)
        for function, mark in marked
        if mark
    )
    for spec in specs:
        _ = spec.parameters  # raises here, for the author, rather than in a running episode
    return specs
