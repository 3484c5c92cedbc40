"""What an agent may send: calls, JSON values, and the text models write.

Text is read in :mod:`healthgym.core.language`, whatever model or provider wrote it. Several calls
are returned in order; the engine runs them in that order, each as a turn of its own. Text without a
call, or with one that might be a quotation, is an error the agent reads.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from healthgym.core.language import Schemas, no_schemas, read_turn
from healthgym.core.language.json_values import EXAMPLE, read_json
from healthgym.core.tool import ToolCall
from healthgym.errors import ToolError

#: Reads the calls in a text; raises ToolError where there are none.
Grammar = Callable[[str], tuple[ToolCall, ...]]

#: Longest accepted action, in characters.
MAX_ACTION_LENGTH = 100_000
#: Most calls accepted in one action.
MAX_CALLS = 16
#: What is recorded of an action that JSON cannot express.
INEXPRESSIBLE = "(values that JSON cannot express)"
#: Deepest nesting of a typed action that is told as it is; no call comes near it.
_DEEPEST = 500
#: How the record of an action begins that was too long, and how much of it follows.
TOO_LONG = f"(longer than {MAX_ACTION_LENGTH} characters) "
_KEPT = 1000
# Calls that are no text: a pair, since a union is made anew wherever it is asked for.
_TYPED = (ToolCall, Mapping)


def text_of(action: object) -> str:
    """Return an action as the text that is recorded, and that replays to the same bytes.

    Text stays as it is, a typed call becomes canonical JSON. What JSON cannot express becomes a
    fixed text, and what is too long its beginning after a fixed text; both are answered as the
    action itself is.
    """
    if isinstance(action, str):
        return _cut(action)
    try:
        value = _call_value(action) if isinstance(action, ToolCall) else action
        text = _ENCODER.encode(value)
    except (TypeError, ValueError, RecursionError):
        return INEXPRESSIBLE
    # How deep Python can encode is another depth in each of its versions, and below each stack.
    if text.count("[") + text.count("{") > _DEEPEST and _is_too_deep(value):
        return INEXPRESSIBLE
    return _cut(text)


def _is_too_deep(value: object) -> bool:
    level = [value]
    for _ in range(_DEEPEST):
        nested = (each for each in level if isinstance(each, dict | list | tuple))
        parts = (each.values() if isinstance(each, dict) else each for each in nested)
        level = [inner for part in parts for inner in part]
        if not level:
            return False
    return True


def _cut(text: str) -> str:
    return text if len(text) <= MAX_ACTION_LENGTH else f"{TOO_LONG}{text[:_KEPT]}"


def calls_of(
    action: object,
    text: str,
    grammar: Grammar | None = None,
    schemas: Schemas = no_schemas,
) -> tuple[ToolCall, ...]:
    """Return the calls in an action, at least one.

    A typed call goes past the parser: what is recorded of it is JSON, and is read as such. Where
    that is no plain call the text is parsed, so that both ways give the same calls and errors.

    Args:
        action: Text, a :class:`ToolCall`, a mapping, or a sequence of either.
        text: The action as :func:`text_of` returns it.
        grammar: Reads calls from text; :func:`parse` if None. One that is to be replayed from
            what was recorded reads typed calls, too: see :func:`typed_call_in`.
        schemas: What the tools take, for forms that write values without quotes.

    Raises:
        ToolError: If no call can be made out, saying what is accepted.
    """
    if isinstance(action, _TYPED) and not text.startswith(TOO_LONG):
        typed = typed_call_in(text)
        if typed is not None:
            return (typed,)
    return grammar(text) if grammar else parse(text, schemas)


def parse(text: str, schemas: Schemas = no_schemas) -> tuple[ToolCall, ...]:
    """Return the calls in a text, at least one.

    Args:
        text: What the model wrote.
        schemas: What the tools take, for forms that write values without quotes.

    Raises:
        ToolError: If no call can be made out, saying what is accepted.
    """
    if text == INEXPRESSIBLE:
        raise ToolError("The call holds values that JSON cannot express.")
    require_text(text)
    calls = read_turn(text, schemas).calls
    if not calls:
        raise ToolError(f"No tool call found. Answer with one call: {EXAMPLE}.")
    if len(calls) > MAX_CALLS:
        raise ToolError(f"{len(calls)} calls in one turn; at most {MAX_CALLS} are accepted.")
    return calls


def typed_call_in(text: str) -> ToolCall | None:
    """Return the call in a text that is one as :func:`text_of` records it; None if it is not."""
    if not text.startswith("{") or len(text) > MAX_ACTION_LENGTH:
        return None
    try:
        value = read_json(text)
    except ToolError:
        return None
    if not isinstance(value, dict) or len(value) != 2:
        return None
    name, arguments = value.get("name"), value.get("arguments")
    if not isinstance(name, str) or not isinstance(arguments, dict):
        return None
    return ToolCall(name, arguments)


def require_text(text: str) -> None:
    """Return if a text is one that an action may be.

    Raises:
        ToolError: If it is too long, or holds half characters.
    """
    if len(text) > MAX_ACTION_LENGTH or text.startswith(TOO_LONG):
        raise ToolError(f"The action is longer than {MAX_ACTION_LENGTH} characters.")
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        raise ToolError("The action is not valid Unicode text.") from None


def _call_value(value: object) -> Any:
    if isinstance(value, ToolCall):
        return {"name": value.name, "arguments": dict(value.arguments)}
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(type(value).__name__)


# What holds itself is nested too deeply, and found out by that.
_ENCODER = json.JSONEncoder(allow_nan=False, check_circular=False, default=_call_value)
