"""JSON as agents write it, within the limits of what tools can store, copy and send.

Integers have at most 64 bits, floats are finite, text is valid Unicode and values nest at most 64
deep.
"""

from __future__ import annotations

import json
import math
from typing import Any

from healthgym.core.borders import Json
from healthgym.errors import ToolError

#: The form of a call that every refusal names.
EXAMPLE = '{"name": "<tool>", "arguments": {...}}'
#: Integers are at least -INT_BOUND and less than INT_BOUND.
INT_BOUND = 2**63
#: How many lists and objects may lie within each other.
MAX_DEPTH = 64
_LONGEST_REASON = 120


def read_json(text: str) -> Json:
    """Return the JSON value in a text, within the limits of what tools take.

    Raises:
        ToolError: If it is not JSON, or beyond the limits.
    """
    stripped = text.strip()
    value, end = json_at(stripped, 0)
    if end < len(stripped):
        raise not_json(f"Extra data: char {end}")
    return value


def json_at(text: str, place: int) -> tuple[Json, int]:
    """Return the JSON value that begins at a place, and the place after it.

    Raises:
        ToolError: If none begins there, or it is beyond the limits.
    """
    try:
        value, end = _DECODER.raw_decode(text, place)
        require_storable(text[place:end], value)
    except RecursionError:
        raise ToolError("The JSON is nested too deeply.") from None
    except ValueError as error:
        raise not_json(str(error)) from None
    return value, end


def not_json(reason: str) -> ToolError:
    """Return the refusal of what is no JSON, or beyond the limits."""
    return ToolError(
        f"The call is not valid JSON ({reason[:_LONGEST_REASON]}). Expected {EXAMPLE}."
    )


def require_storable(text: str, value: object) -> None:
    """Refuse deep nesting, and escaped lone surrogates, which cannot be hashed or sent anywhere.

    Args:
        text: What the value was read from.
        value: The value.

    Raises:
        ValueError: Saying which of the two it is.
    """
    if text.count("[") + text.count("{") > MAX_DEPTH and _depth(value) > MAX_DEPTH:
        raise ValueError(f"it is nested more than {MAX_DEPTH} deep")
    if "\\u" in text or "\\U" in text:
        try:
            json.dumps(value, ensure_ascii=False).encode("utf-8")
        except UnicodeEncodeError:
            raise ValueError("it holds a lone surrogate") from None


def bounded_int(text: str) -> int:
    """Return an integer from its digits.

    Raises:
        ValueError: If it has more than 64 bits.
    """
    # Checked before conversion: Python refuses very long digits with advice for programmers.
    value = int(text) if len(text) <= 20 else INT_BOUND
    if not -INT_BOUND <= value < INT_BOUND:
        raise ValueError("an integer has more than 64 bits")
    return value


def finite_float(text: str) -> float:
    """Return a float from its digits.

    Raises:
        ValueError: If it is too large.
    """
    value = float(text)
    if not math.isfinite(value):
        raise ValueError("a number is too large")
    return value


def _constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


_DECODER = json.JSONDecoder(
    parse_constant=_constant, parse_int=bounded_int, parse_float=finite_float
)


def _depth(value: object) -> int:
    """Return how many objects and lists lie within each other, counting to one past the limit."""
    depth, layer = 0, [value]
    while depth <= MAX_DEPTH:
        held = [
            v.values() if isinstance(v, dict) else v for v in layer if isinstance(v, dict | list)
        ]
        if not held:
            break
        layer = [item for items in held for item in items]
        depth += 1
    return depth
