"""Reading the searchable values of a parameter out of a resource.

Every function here accepts any JSON: an element of an unexpected shape has no values, because with
validation switched off an agent may have stored it.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from healthgym.core.borders import Json, JsonObject
from healthgym.worlds.fhir.search.dates import Interval, stored_interval
from healthgym.worlds.fhir.search.table import Kind, Parameter, Step

#: System of a value whose code system follows from the element (type ``code``).
IMPLIED = "*"

_CONTACT_SYSTEMS = frozenset({"phone", "fax", "email", "pager", "url", "sms", "other"})
_LOCAL_REFERENCE = re.compile(
    r"(?:[a-z][a-z0-9+.-]*://.*/)?(?P<type>[A-Z][A-Za-z]+)/(?P<id>[A-Za-z0-9.-]{1,64})"
    r"(?:/_history/.*)?"
)


class Token(NamedTuple):
    """A coded value, with the texts that describe it."""

    system: str | None
    code: str | None
    texts: tuple[str, ...]


class Text(NamedTuple):
    """A string as stored, and as compared: without case and accents."""

    raw: str
    plain: str


class Reference(NamedTuple):
    """A reference: the local ``type`` and ``id`` where it has them, and its identifier."""

    type: str | None
    id: str | None
    raw: str
    identifiers: tuple[Token, ...]


class Quantity(NamedTuple):
    """A measured amount."""

    value: float
    system: str | None
    code: str | None
    unit: str | None


class Composite(NamedTuple):
    """The values of the two parts of a composite, read from one element."""

    parts: tuple[tuple[Any, ...], ...]


def plain(text: str) -> str:
    """Return ``text`` without case and accents, as string parameters compare it."""
    if not text.isascii():
        decomposed = unicodedata.normalize("NFKD", text)
        text = "".join(char for char in decomposed if not unicodedata.combining(char))
    return text.casefold()


def split_reference(text: str) -> tuple[str, str] | None:
    """Return ``(type, id)`` of ``Patient/1`` or of a URL that ends so, else None."""
    match = _LOCAL_REFERENCE.fullmatch(text)
    return (match["type"], match["id"]) if match else None


def elements(resource: object, path: tuple[Step, ...]) -> list[Json]:
    """Return the elements at a path, lists flattened."""
    nodes = [resource]
    for step in path:
        found: list[Any] = []
        for node in nodes:
            if not isinstance(node, dict):
                continue
            child = node.get(step.name)
            if isinstance(child, list):
                found.extend(child)
            elif child is not None:
                found.append(child)
        if step.key is not None:
            found = [f for f in found if isinstance(f, dict) and f.get(step.key) == step.value]
        nodes = found
    return nodes


def extract(parameter: Parameter, resource: JsonObject) -> tuple[Json, ...]:
    """Return the values that ``resource`` has for ``parameter``, typed by its kind."""
    if parameter.kind is Kind.COMPOSITE:
        return tuple(
            Composite(tuple(extract(part, node) for part in parameter.parts))
            for path in parameter.paths
            for node in elements(resource, path)
            if isinstance(node, dict)
        )
    reader = _READERS[parameter.kind]
    found = [
        value
        for path in parameter.paths
        for node in elements(resource, path)
        for value in reader(node)
    ]
    if parameter.target is not None:
        found = [v for v in found if v.type in (None, parameter.target)]
    return tuple(found)


def _str(value: object) -> str | None:
    return value if isinstance(value, str) else None


def _strings(*candidates: object) -> tuple[str, ...]:
    return tuple(c for c in candidates if isinstance(c, str))


def _tokens(node: object) -> Iterator[Token]:
    if isinstance(node, bool):
        yield Token(IMPLIED, "true" if node else "false", ())
    elif isinstance(node, str):
        yield Token(IMPLIED, node, ())
    elif not isinstance(node, dict):
        return
    elif "coding" in node or ("text" in node and "value" not in node):  # CodeableConcept
        codings = node.get("coding")
        codings = [c for c in codings if isinstance(c, dict)] if isinstance(codings, list) else []
        for coding in codings:
            texts = _strings(coding.get("display"), node.get("text"))
            yield Token(_str(coding.get("system")), _str(coding.get("code")), texts)
        if not codings and (texts := _strings(node.get("text"))):
            yield Token(None, None, texts)
    elif "value" in node:  # Identifier or ContactPoint
        system = _str(node.get("system"))
        kind = node.get("type")
        texts = _strings(kind.get("text")) if isinstance(kind, dict) else ()
        yield Token(IMPLIED if system in _CONTACT_SYSTEMS else system, _str(node["value"]), texts)
    elif "code" in node:  # Coding
        texts = _strings(node.get("display"))
        yield Token(_str(node.get("system")), _str(node["code"]), texts)


def _dates(node: object) -> Iterator[Interval]:
    if isinstance(node, str):
        try:
            yield stored_interval(node)
        except ValueError:
            return
    elif isinstance(node, dict):
        if isinstance(events := node.get("event"), list):  # Timing
            for event in events:
                yield from _dates(event)
            return
        start = next(_dates(node.get("start")), None)
        end = next(_dates(node.get("end")), None)
        if start or end:  # a Period may be open at either side
            yield Interval(start.low if start else -_FOREVER, end.high if end else _FOREVER)


_FOREVER = 2**62


def _texts(node: object) -> Iterator[Text]:
    if isinstance(node, str):
        yield Text(node, plain(node))
    elif isinstance(node, dict):  # HumanName or Address: each part counts by itself
        for key, part in node.items():
            if key in _NAME_AND_ADDRESS_PARTS:
                for text in part if isinstance(part, list) else [part]:
                    if isinstance(text, str):
                        yield Text(text, plain(text))


_NAME_PARTS = ("family", "given", "prefix", "suffix", "text")
_ADDRESS_PARTS = ("line", "city", "district", "state", "postalCode", "country")
_NAME_AND_ADDRESS_PARTS = frozenset((*_NAME_PARTS, *_ADDRESS_PARTS))


def _references(node: object) -> Iterator[Reference]:
    if not isinstance(node, dict):
        return
    identifiers = tuple(_tokens(node.get("identifier")))
    raw = _str(node.get("reference")) or ""
    if raw or identifiers:
        local = split_reference(raw)
        kind, key = local if local else (None, None)
        yield Reference(kind, key, raw, identifiers)


def _quantities(node: object) -> Iterator[Quantity]:
    if isinstance(node, dict):
        value = node.get("value")
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            keys = ("system", "code", "unit")
            try:
                number = float(value)
            except OverflowError:
                return  # A chart that was read from a file holds what its writer liked.
            yield Quantity(number, *(_str(node.get(key)) for key in keys))


def _uris(node: object) -> Iterator[str]:
    if isinstance(node, str):
        yield node


_READERS: Mapping[Kind, Callable[[Any], Iterator[Any]]] = {
    Kind.TOKEN: _tokens,
    Kind.DATE: _dates,
    Kind.STRING: _texts,
    Kind.REFERENCE: _references,
    Kind.QUANTITY: _quantities,
    Kind.URI: _uris,
}
