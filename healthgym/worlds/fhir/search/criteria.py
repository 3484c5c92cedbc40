"""One condition of a search: parsing its values and testing them against stored ones."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Any, NamedTuple

from healthgym.worlds.fhir.errors import FhirError, bad_request
from healthgym.worlds.fhir.search.dates import (
    Interval,
    Prefix,
    compare,
    parse_interval,
    split_prefix,
)
from healthgym.worlds.fhir.search.table import Kind, Parameter
from healthgym.worlds.fhir.search.values import (
    IMPLIED,
    Composite,
    Quantity,
    Reference,
    Text,
    Token,
    plain,
    split_reference,
)

_MODIFIERS = {
    Kind.TOKEN: ("missing", "not", "text"),
    Kind.STRING: ("contains", "exact", "missing"),
    Kind.REFERENCE: ("identifier", "missing"),
    Kind.DATE: ("missing",),
    Kind.QUANTITY: ("missing",),
    Kind.URI: ("missing",),
    Kind.COMPOSITE: (),
}
_TYPE_NAME = re.compile(r"[A-Z][A-Za-z]+")
_UNESCAPE = re.compile(r"\\([,|$\\])")


class AskedToken(NamedTuple):
    """``code``, ``system|code``, ``|code`` or ``system|``; None stands for any."""

    system: str | None
    code: str | None


class AskedReference(NamedTuple):
    """An id with or without its type, or a URI that is not local."""

    type: str | None
    id: str | None
    raw: str


class AskedDate(NamedTuple):
    """A prefixed date."""

    prefix: Prefix
    interval: Interval


class AskedQuantity(NamedTuple):
    """A prefixed number, the half-width of its implicit precision, and its unit."""

    prefix: Prefix
    value: float
    half: float
    system: str | None
    unit: str | None


@dataclass(frozen=True, slots=True)
class Criterion:
    """A parameter with a modifier and alternatives (joined by OR).

    Attributes:
        parameter: What is searched.
        modifier: Text after the colon of the name, or "".
        asked: Parsed alternatives; for ``:missing`` one bool.
    """

    parameter: Parameter
    modifier: str
    asked: tuple[Any, ...]

    @property
    def is_plain(self) -> bool:
        """Whether an index may answer it: no modifier that changes its meaning."""
        return not self.modifier or self.modifier == self.parameter.target

    def matches(self, values: Sequence[object], now: int) -> bool:
        """Say whether stored values, read by ``extract``, meet this condition.

        Args:
            values: All values that one resource has for the parameter.
            now: The current time, microseconds; only the prefix ``ap`` uses it.
        """
        if self.modifier == "missing":
            return bool((not values) == self.asked[0])
        met = any(self._meets(value, asked, now) for asked in self.asked for value in values)
        return not met if self.modifier == "not" else met

    def _meets(self, value: Any, asked: Any, now: int) -> bool:
        if self.parameter.kind is Kind.STRING or self.modifier == "text":
            texts = value.texts if isinstance(value, Token) else (value,)
            return any(_text_meets(self.modifier, text, asked) for text in texts)
        if self.modifier == "identifier":
            return any(_token_meets(token, asked) for token in value.identifiers)
        return _meets(value, asked, now)


def _meets(value: Any, asked: Any, now: int) -> bool:
    match value:
        case Token():
            return _token_meets(value, asked)
        case Interval():
            return compare(asked.prefix, value.low, value.high, asked.interval, now)
        case Reference():
            return _reference_meets(value, asked)
        case Quantity():
            return _quantity_meets(value, asked)
        case Composite():
            pairs = zip(value.parts, asked, strict=True)
            return all(any(_meets(v, part, now) for v in values) for values, part in pairs)
    return bool(value == asked)  # a URI


def _token_meets(value: Token, asked: AskedToken) -> bool:
    if asked.code is not None and value.code != asked.code:
        return False
    if asked.system is None or value.system == IMPLIED:
        return value.code is not None
    return (value.system or "") == asked.system


def _text_meets(modifier: str, value: Text | str, asked: Text) -> bool:
    if isinstance(value, str):
        value = Text(value, plain(value))
    if modifier == "exact":
        return value.raw == asked.raw
    if modifier == "contains":
        return asked.plain in value.plain
    return value.plain.startswith(asked.plain)


def _reference_meets(value: Reference, asked: AskedReference) -> bool:
    if asked.id is None:
        return value.raw == asked.raw
    return value.id == asked.id and asked.type in (None, value.type)


def _quantity_meets(value: Quantity, asked: AskedQuantity) -> bool:
    if asked.unit is not None:
        if asked.system and (value.system, value.code) != (asked.system, asked.unit):
            return False
        if not asked.system and asked.unit not in (value.code, value.unit):
            return False
    number, low, high = value.value, asked.value - asked.half, asked.value + asked.half
    match asked.prefix:
        case Prefix.EQ:
            return low <= number < high
        case Prefix.NE:
            return not low <= number < high
        case Prefix.GT | Prefix.SA:
            return number > asked.value
        case Prefix.LT | Prefix.EB:
            return number < asked.value
        case Prefix.GE:
            return number >= asked.value
        case Prefix.LE:
            return number <= asked.value
        case Prefix.AP:
            slack = max(abs(asked.value) / 10, asked.half)
            return abs(number - asked.value) <= slack


def split_unescaped(text: str, separator: str) -> list[str]:
    r"""Split at separators that no backslash precedes; the backslashes stay."""
    if "\\" not in text:
        return text.split(separator)
    return re.split(rf"(?<!\\){re.escape(separator)}", text)


def parse_criterion(parameter: Parameter, modifier: str, text: str) -> Criterion:
    """Parse the value of one search parameter.

    Args:
        parameter: Its entry in the table.
        modifier: What follows the colon of the name, or "".
        text: The decoded value; commas separate alternatives.

    Raises:
        FhirError: 400, if the modifier is not supported or a value cannot be read.
    """
    typed = parameter.kind is Kind.REFERENCE and _TYPE_NAME.fullmatch(modifier) is not None
    if modifier and not typed and modifier not in _MODIFIERS[parameter.kind]:
        accepted = ", ".join(f":{name}" for name in _MODIFIERS[parameter.kind]) or "none"
        if parameter.kind is Kind.REFERENCE:
            accepted += ", or a resource type such as :Patient"
        raise FhirError(
            400,
            "not-supported",
            f"Modifier ':{modifier}' is not supported on parameter '{parameter.name}' of type "
            f"{parameter.kind}. Modifiers accepted here: {accepted}.",
        )
    if modifier == "missing":
        if text not in ("true", "false"):
            raise bad_request(f"'{parameter.name}:missing' takes true or false, not '{text}'.")
        return Criterion(parameter, modifier, (text == "true",))
    alternatives = [part for part in split_unescaped(text, ",") if part]
    asked = tuple(_parse_value(parameter, modifier, part) for part in alternatives)
    return Criterion(parameter, modifier, asked)


def _parse_value(parameter: Parameter, modifier: str, text: str) -> Any:
    if modifier == "text":
        return Text(_unescape(text), plain(_unescape(text)))
    if modifier == "identifier":
        return _parse_token(text)
    match parameter.kind:
        case Kind.TOKEN:
            return _parse_token(text)
        case Kind.STRING:
            return Text(_unescape(text), plain(_unescape(text)))
        case Kind.REFERENCE:
            return _parse_reference(modifier or parameter.target, _unescape(text))
        case Kind.DATE:
            return _parse_date(parameter.name, text)
        case Kind.QUANTITY:
            return _parse_quantity(parameter.name, text)
        case Kind.URI:
            return _unescape(text)
        case Kind.COMPOSITE:
            pieces = split_unescaped(text, "$")
            if len(pieces) != len(parameter.parts):
                names = "$".join(part.name for part in parameter.parts)
                raise bad_request(f"Parameter '{parameter.name}' takes {names}, not '{text}'.")
            pairs = zip(parameter.parts, pieces, strict=True)
            return tuple(_parse_value(part, "", piece) for part, piece in pairs)


def _unescape(text: str) -> str:
    return _UNESCAPE.sub(r"\1", text) if "\\" in text else text


def _parse_token(text: str) -> AskedToken:
    system, *rest = (_unescape(piece) for piece in split_unescaped(text, "|"))
    if not rest:
        return AskedToken(None, system)
    return AskedToken(system, "|".join(rest) or None)


def _parse_reference(target: str | None, text: str) -> AskedReference:
    local = split_reference(text)
    if local is not None:
        kind, key = local
        # subject:Patient=Group/1 asks for two types at once; "" is the type of nothing.
        return AskedReference(kind if target in (None, kind) else "", key, text)
    if ":" in text or "/" in text:
        return AskedReference(None, None, text)
    return AskedReference(target, text, text)


def _parse_date(name: str, text: str) -> AskedDate:
    prefix, rest = split_prefix(text)
    try:
        return AskedDate(prefix, parse_interval(rest))
    except ValueError:
        raise bad_request(
            f"Invalid date '{text}' for parameter '{name}'. Accepted: YYYY, YYYY-MM, YYYY-MM-DD "
            "or YYYY-MM-DDThh:mm[:ss[.sss]] with Z or +hh:mm, after an optional prefix "
            f"({', '.join(Prefix)})."
        ) from None


def _parse_quantity(name: str, text: str) -> AskedQuantity:
    number, *unit = (_unescape(piece) for piece in split_unescaped(text, "|"))
    prefix, digits = split_prefix(number)
    try:
        value = Decimal(digits)
        exponent = value.as_tuple().exponent
        if not isinstance(exponent, int) or abs(value.adjusted()) > 300 or abs(exponent) > 300:
            raise InvalidOperation
    except InvalidOperation:
        raise bad_request(
            f"Invalid quantity '{text}' for parameter '{name}'. Accepted: a number, or "
            "number|system|code, or number||unit, after an optional prefix "
            f"({', '.join(Prefix)})."
        ) from None
    system, code = unit if len(unit) == 2 else (None, None)
    return AskedQuantity(prefix, float(value), 0.5 * 10.0**exponent, system or None, code or None)
