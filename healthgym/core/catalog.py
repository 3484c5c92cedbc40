"""The tools of one role, found by any form of their name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from healthgym.core.borders import JsonDict, JsonObject
from healthgym.core.schema import validate
from healthgym.core.tool import AnyToolset, Scope, ToolCall, ToolResult, ToolSpec
from healthgym.errors import ConfigurationError, ToolError

#: What a tool could change of its arguments.
_CHANGEABLE = (list, dict)


class ToolCatalog:
    """The tools of one role, found by any form of their name.

    A name may be written in full (``notes.read``), as an identifier (``notes__read``) or, where
    no other toolset has the same, as the bare method (``read``).

    Args:
        toolsets: Toolset classes.
        only: Names of the tools to keep; all of them if None.
        verbs: Names of the tools to keep of toolsets that belong to the engine.
        listed: Whether agents are told of the tools; not where they write text of another form.

    Raises:
        ConfigurationError: If two tools share a full name, or ``only`` names an unknown tool.
    """

    def __init__(
        self,
        toolsets: Sequence[type[AnyToolset]],
        *,
        only: Sequence[str] | None = None,
        verbs: Sequence[str] = (),
        listed: bool = True,
    ) -> None:
        self._listed = listed
        pairs = [
            (spec, index)
            for index, cls in enumerate(toolsets)
            for spec in cls.specs()
            if not spec.engine or spec.name in verbs
        ]
        if only is not None:
            unknown = set(only) - {spec.name for spec, _ in pairs}
            if unknown:
                raise ConfigurationError(f"There is no tool named {', '.join(sorted(unknown))}.")
            pairs = [(spec, at) for spec, at in pairs if spec.name in only or spec.engine]
        self.toolsets = tuple(toolsets)
        self.specs = tuple(spec for spec, _ in pairs)
        self._verbs = frozenset(spec.name for spec in self.specs if spec.engine)
        self._entries: dict[str, tuple[ToolSpec, int]] = {}
        for spec, index in pairs:
            if spec.name in self._entries:
                raise ConfigurationError(f"Two tools are named {spec.name}.")
            self._entries[spec.name] = self._entries[spec.identifier] = (spec, index)
        methods = [spec.method for spec in self.specs]
        for spec, index in pairs:
            if methods.count(spec.method) == 1:
                self._entries.setdefault(spec.method, (spec, index))

    def has(self, verb: str) -> bool:
        """Return whether one of the engine's verbs is among the tools."""
        return verb in self._verbs

    def openai(self) -> list[JsonDict]:
        """The tools that agents are told of, in OpenAI's function form."""
        return [spec.openai() for spec in self.specs if spec.listed and self._listed]

    def full_name(self, name: str) -> str:
        """Return the full name of a tool from any form of it; any other name as it is."""
        entry = self._entries.get(name)
        return entry[0].name if entry else name

    def schema(self, name: str) -> JsonObject | None:
        """Return the schema of a tool's arguments from any form of its name, None without one."""
        entry = self._entries.get(name)
        return entry[0].parameters if entry else None

    def closes_case(self, name: str) -> bool:
        """Return whether a tool, in any form of its name, closes a case."""
        entry = self._entries.get(name)
        return entry is not None and entry[0].closes is Scope.CASE

    def resolve(self, name: str) -> tuple[ToolSpec, int]:
        """Return a tool and the index of its toolset.

        Raises:
            ToolError: If there is no such tool, listing those there are.
        """
        entry = self._entries.get(name)
        if entry is None:
            names = ", ".join(spec.identifier for spec in self.specs)
            raise ToolError(f"There is no tool named {name[:80]!r}. Tools: {names}.")
        return entry

    def invoke(self, bound: Sequence[AnyToolset], request: ToolCall) -> Invocation:
        """Validate a call and run it on the given toolset instances.

        Raises:
            ToolError: If the call is not accepted. What the tool had changed by then is for the
                caller to undo.
        """
        spec, index = self.resolve(request.name)
        return invoke(spec, bound[index], request.arguments)


def invoke(spec: ToolSpec, toolset: AnyToolset, given: JsonObject) -> Invocation:
    """Validate the arguments of a call, and run its tool.

    Args:
        spec: The tool.
        toolset: An instance of its toolset.
        given: The arguments as they were sent.

    Raises:
        ToolError: If the call is not accepted. What the tool had changed by then is for the caller
            to undo.
    """
    arguments = validate(spec.model, spec.identifier, spec.usage, given)
    # What is on record stays as it was sent, whatever a tool does to a list that it is handed.
    handed = {
        name: _copied(value) if type(value) in _CHANGEABLE else value
        for name, value in arguments.items()
    }
    outcome = spec.function(toolset, **handed)
    result = outcome if isinstance(outcome, ToolResult) else ToolResult(str(outcome))
    return Invocation(spec, arguments, result)


def _copied(value: Any) -> Any:
    """Return a JSON value with lists and objects of its own."""
    if type(value) is list:
        return [_copied(item) for item in value]
    if type(value) is dict:
        return {key: _copied(item) for key, item in value.items()}
    return value


class Invocation(NamedTuple):
    """A call that was carried out: the tool, its validated arguments and what it showed."""

    spec: ToolSpec
    arguments: JsonObject
    result: ToolResult
