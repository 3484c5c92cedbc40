"""One parser for everything an agent may send: calls, dicts, and the text models write.

Accepted text, tried in this order: one JSON object or list, ``<tool_call>{...}</tool_call>`` tags
(Qwen and Hermes templates), fenced JSON blocks, and JSON objects in prose. A call is
``{"name": ..., "arguments": {...}}``; OpenAI's ``{"function": {...}}`` and ``{"tool_calls":
[...]}`` are understood, and ``arguments`` may itself be JSON text. Reasoning that ends in
``</think>`` is not looked at. Several calls are returned in order; the engine runs them in that
order, each as a turn of its own. Text without a call is an error the agent reads.

Integers have at most 64 bits, floats are finite, text is valid Unicode and values nest at most 64
deep, so that no tool meets a value that it cannot store, copy or send.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from healthgym.core.borders import Json
from healthgym.core.tool import ToolCall
from healthgym.errors import ToolError

#: Reads the calls in a text; raises ToolError where there are none.
Grammar = Callable[[str], tuple[ToolCall, ...]]

#: Longest accepted action, in characters.
MAX_ACTION_LENGTH = 100_000
#: Most calls accepted in one action.
MAX_CALLS = 16
_MAX_SCAN = 200
_MAX_DEPTH = 64
_INT_BOUND = 2**63

_THINK = re.compile(r"<think>.*?(?:</think>|\Z)", re.DOTALL)
_TAG = re.compile(r"<tool_call>(.*?)(?:</tool_call>|(?=<tool_call>)|\Z)", re.DOTALL)
_FENCE = re.compile(r"```(?:json|tool_call|tool_code)?[ \t]*\n(.*?)(?:```|\Z)", re.DOTALL)
_OPENINGS = ("{", "[", "<tool_call>", "```")
_EXAMPLE = '{"name": "<tool>", "arguments": {...}}'
#: What is recorded of an action that JSON cannot express.
INEXPRESSIBLE = "(values that JSON cannot express)"


def text_of(action: object) -> str:
    """Return an action as the text that is recorded, and that replays to the same bytes.

    Text stays as it is, a typed call becomes canonical JSON. What JSON cannot express becomes a
    fixed text that is answered as the action itself is.
    """
    if isinstance(action, str):
        return action
    try:
        return _ENCODER.encode(_call_value(action) if isinstance(action, ToolCall) else action)
    except (TypeError, ValueError, RecursionError):
        return INEXPRESSIBLE


def calls_of(action: object, text: str, grammar: Grammar | None = None) -> tuple[ToolCall, ...]:
    """Return the calls in an action, at least one.

    A typed call goes past the parser. Where it holds anything out of the ordinary its text is
    parsed instead, so that both ways give the same calls and the same errors.

    Args:
        action: Text, a :class:`ToolCall`, a mapping, or a sequence of either.
        text: The action as :func:`text_of` returns it.
        grammar: Reads calls from text; :func:`parse` if None. One that is to be replayed from
            what was recorded reads typed calls, too: see :func:`typed_call_in`.

    Raises:
        ToolError: If no call can be made out, saying what is accepted.
    """
    if isinstance(action, ToolCall | Mapping) and len(text) <= MAX_ACTION_LENGTH:
        typed = _typed_call(action)
        if typed is not None:
            return (typed,)
    return (grammar or parse)(text)


def parse(text: str) -> tuple[ToolCall, ...]:
    """Return the calls in a text, at least one.

    Raises:
        ToolError: If no call can be made out, saying what is accepted.
    """
    if text == INEXPRESSIBLE:
        raise ToolError("The call holds values that JSON cannot express.")
    calls = _from_text(text)
    if not calls:
        raise ToolError(f"No tool call found. Answer with one call: {_EXAMPLE}.")
    if len(calls) > MAX_CALLS:
        raise ToolError(f"{len(calls)} calls in one turn; at most {MAX_CALLS} are accepted.")
    return tuple(calls)


def typed_call_in(text: str) -> ToolCall | None:
    """Return the call in a text that is one as :func:`text_of` records it; None if it is not."""
    if not text.startswith("{") or len(text) > MAX_ACTION_LENGTH:
        return None
    try:
        value = read_json(text)
    except ToolError:
        return None
    return _typed_call(value)


def require_text(text: str) -> None:
    """Return if a text is one that an action may be.

    Raises:
        ToolError: If it is too long, or holds half characters.
    """
    if len(text) > MAX_ACTION_LENGTH:
        raise ToolError(f"The action is longer than {MAX_ACTION_LENGTH} characters.")
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        raise ToolError("The action is not valid Unicode text.") from None


def _typed_call(action: ToolCall | Mapping[Any, Any]) -> ToolCall | None:
    """Return a typed call with its arguments copied; None if it has to be read as text."""
    if isinstance(action, ToolCall):
        name, arguments = action.name, action.arguments
    elif action.keys() == {"name", "arguments"}:
        name, arguments = action["name"], action["arguments"]
    else:
        return None
    if type(name) is not str or not isinstance(arguments, Mapping):
        return None
    try:
        return ToolCall(_copied(name, 0), _copied(dict(arguments), 0))
    except _OddValueError:
        return None


class _OddValueError(Exception):
    """A value of which JSON text may say something else."""


def _copied(value: Any, depth: int) -> Any:
    """Return a copy of an ordinary JSON value.

    Raises:
        _OddValueError: If it is of any other type, deeply nested, or holds what is not storable.
    """
    kind = type(value)
    if kind is str:
        if not value.isascii():
            try:
                value.encode("utf-8")
            except UnicodeEncodeError:
                raise _OddValueError from None
        return value
    if value is None or kind is bool:
        return value
    if kind is int and -_INT_BOUND <= value < _INT_BOUND:
        return value
    if kind is float and math.isfinite(value):
        return value
    if depth < _MAX_DEPTH // 2 and kind in (list, tuple):
        return [_copied(item, depth + 1) for item in value]
    if depth < _MAX_DEPTH // 2 and kind is dict and all(type(key) is str for key in value):
        return {_copied(key, 0): _copied(item, depth + 1) for key, item in value.items()}
    raise _OddValueError


def _from_text(text: str) -> list[ToolCall]:
    require_text(text)
    visible = without_reasoning(text).strip()
    if visible[:1] in ("{", "["):
        # First, because an argument may hold any of the marks looked for below.
        try:
            value = read_json(visible)
        except ToolError:
            pass
        else:
            return list(_from_value(value))
    tagged = _TAG.findall(visible)
    if tagged:
        return [found for body in tagged for found in _from_value(read_json(body))]
    try:
        fenced = [found for body in _FENCE.findall(visible) for found in _from_prose(body)]
    except ToolError:
        # An argument may hold a fence of its own; then the call is whole only in the whole text.
        fenced = list(_scan(visible))
        if not fenced:
            raise
    return fenced or list(_from_prose(visible))


def without_reasoning(text: str) -> str:
    """Drop reasoning before a call; chat templates often write the opening tag themselves."""
    if text.lstrip().startswith(_OPENINGS):
        return text
    return _THINK.sub("", text).rpartition("</think>")[2]


def _from_prose(text: str) -> Iterator[ToolCall]:
    """Yield the calls among the JSON values in a text, whatever stands around them."""
    stripped = text.strip()
    if stripped[:1] in ("{", "["):
        try:
            value = read_json(stripped)
        except ToolError:
            # A broken value may still be followed by a whole one; if none is, say what broke.
            found = list(_scan(stripped))
            if not found:
                raise
            yield from found
        else:
            yield from _from_value(value)
        return
    yield from _scan(stripped)


def _scan(text: str) -> Iterator[ToolCall]:
    position, tries = 0, 0
    while tries < _MAX_SCAN:
        start = text.find("{", position)
        if start < 0:
            return
        tries += 1
        try:
            value, position = _DECODER.raw_decode(text, start)
        except (ValueError, RecursionError):
            position = start + 1
            continue
        if _looks_like_call(value):
            try:
                _require_storable(text, value)
            except ValueError as error:
                raise ToolError(f"The call is not valid JSON ({error}).") from None
            yield from _from_value(value)


def _looks_like_call(value: object) -> bool:
    return isinstance(value, dict) and bool({"name", "function", "tool_calls"} & value.keys())


def _from_value(value: object) -> Iterator[ToolCall]:
    if isinstance(value, list | tuple):
        for item in value:
            yield from _from_value(item)
        return
    if not isinstance(value, dict):
        raise ToolError(f"A tool call is a JSON object such as {_EXAMPLE}.")
    if "tool_calls" in value:
        calls = value["tool_calls"]
        yield from _from_value(calls if isinstance(calls, list) else [calls])
        return
    body = value.get("function", value)
    if not isinstance(body, dict) or not isinstance(body.get("name"), str):
        raise ToolError(f"A tool call needs a 'name'. Answer with one call: {_EXAMPLE}.")
    arguments = body.get("arguments", body.get("parameters", {}))
    if isinstance(arguments, str):
        arguments = read_json(arguments) if arguments.strip() else {}
    if arguments is None:
        arguments = {}
    if not isinstance(arguments, dict):
        raise ToolError("The 'arguments' of a tool call are a JSON object.")
    yield ToolCall(body["name"], arguments)


def _constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


def _int(text: str) -> int:
    # Checked before conversion: Python refuses very long digits with advice for programmers.
    value = int(text) if len(text) <= 20 else _INT_BOUND
    if not -_INT_BOUND <= value < _INT_BOUND:
        raise ValueError("an integer has more than 64 bits")
    return value


def _float(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError("a number is too large")
    return value


_DECODER = json.JSONDecoder(parse_constant=_constant, parse_int=_int, parse_float=_float)


def read_json(text: str) -> Json:
    """Return the JSON value in a text, within the limits of what tools take.

    Raises:
        ToolError: If it is not JSON, or beyond the limits.
    """
    try:
        value = _DECODER.decode(text.strip())
        _require_storable(text, value)
    except RecursionError:
        raise ToolError("The JSON is nested too deeply.") from None
    except ValueError as error:
        reason = str(error)[:120]
        raise ToolError(f"The call is not valid JSON ({reason}). Expected {_EXAMPLE}.") from None
    return value


def _require_storable(text: str, value: object) -> None:
    """Refuse deep nesting, and escaped lone surrogates, which cannot be hashed or sent anywhere.

    Raises:
        ValueError: Saying which of the two it is.
    """
    if text.count("[") + text.count("{") > _MAX_DEPTH and _depth(value) > _MAX_DEPTH:
        raise ValueError(f"it is nested more than {_MAX_DEPTH} deep")
    if "\\ud" in text.lower():
        try:
            json.dumps(value, ensure_ascii=False).encode("utf-8")
        except UnicodeEncodeError:
            raise ValueError("it holds a lone surrogate") from None


def _depth(value: object) -> int:
    """Return how many objects and lists lie within each other, counting to one past the limit."""
    depth, layer = 0, [value]
    while depth <= _MAX_DEPTH:
        held = [
            v.values() if isinstance(v, dict) else v for v in layer if isinstance(v, dict | list)
        ]
        if not held:
            break
        layer = [item for items in held for item in items]
        depth += 1
    return depth


def _call_value(value: object) -> Any:
    if isinstance(value, ToolCall):
        return {"name": value.name, "arguments": dict(value.arguments)}
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(type(value).__name__)


_ENCODER = json.JSONEncoder(allow_nan=False, default=_call_value)
