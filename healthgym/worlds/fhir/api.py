"""The REST interface over a store, as a function from request to response."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import parse_qsl, unquote, urlsplit

from healthgym.core.borders import JsonDict
from healthgym.worlds.fhir.base import Resource
from healthgym.worlds.fhir.bundle import history_bundle, render, searchset
from healthgym.worlds.fhir.conditions import (
    etag,
    header,
    is_unchanged,
    require_match,
    several_match,
    version_of,
)
from healthgym.worlds.fhir.errors import FhirError, bad_request, not_found
from healthgym.worlds.fhir.records import RecordStore
from healthgym.worlds.fhir.search.table import parameter_table

CONTENT_TYPE = "application/fhir+json;charset=UTF-8"
_TYPE = re.compile(r"[A-Za-z]{1,64}")
_ID = re.compile(r"[A-Za-z0-9.-]{1,64}")
_METHODS = "GET, POST, PUT"


@dataclass(frozen=True, slots=True)
class Response:
    """What the server answers.

    Attributes:
        status: HTTP status.
        headers: HTTP headers.
        text: Body: a FHIR resource as JSON, or "".
    """

    status: int
    headers: Mapping[str, str] = field(default_factory=dict)
    text: str = ""


@dataclass(frozen=True, slots=True)
class _Request:
    """A request after its target was taken apart."""

    method: str
    segments: tuple[str, ...]
    parameters: tuple[tuple[str, str], ...]
    body: str
    headers: Mapping[str, str]

    @property
    def pretty(self) -> str | None:
        """The value of ``_pretty``, or None."""
        return dict(self.parameters).get("_pretty")


class FhirApi:
    """FHIR RESTful API: search, read, history, create, update, paging and what it is capable of.

    Conditions of a request hold while it is handled, so whoever serves several clients hands over
    one request at a time.

    Args:
        store: The record system, embedded or remote.
        base_url: Address that links and full URLs start with, such as
            ``http://localhost:8080/fhir``.
        pretty: Whether bodies are indented unless the request says otherwise with ``_pretty``.
    """

    def __init__(self, store: RecordStore, base_url: str, *, pretty: bool = True) -> None:
        self.store = store
        self.base_url = base_url.rstrip("/")
        self.pretty = pretty

    def handle(
        self,
        method: str,
        target: str,
        body: str = "",
        headers: Mapping[str, str] | None = None,
    ) -> Response:
        """Answer a request; whatever the request holds, a refusal is an OperationOutcome.

        Args:
            method: HTTP method.
            target: Full URL under ``base_url``, or its path and query.
            body: JSON of a resource, or form parameters for ``_search``.
            headers: Request headers: ``Prefer: return=minimal``, ``If-Match``, ``If-None-Match``
                and ``If-None-Exist`` have an effect.

        Raises:
            InfrastructureError: Only from a remote store that cannot be reached.
        """
        pretty = self.pretty
        try:
            request = self._parse(method, target, body, headers or {})
            if request.pretty in ("true", "false"):
                pretty = request.pretty == "true"
            minimal = "return=minimal" in (header(headers, "prefer") or "")
            return self._dispatch(request, pretty=pretty, minimal=minimal)
        except FhirError as error:
            extra = {"Allow": _METHODS} if error.status == 405 else {}
            return self._answer(error.status, error.outcome(), pretty, extra)

    def _parse(self, method: str, target: str, body: str, headers: Mapping[str, str]) -> _Request:
        target, body = (_valid_unicode(text) for text in (target.strip(), body))
        path = target.removeprefix(self.base_url)
        if path == target:
            path = target.removeprefix(urlsplit(self.base_url).path)
        if path == target or (path and path[0] not in "/?"):
            raise FhirError(404, "not-found", f"'{target[:200]}' is not below {self.base_url}.")
        path, _, query = path.partition("#")[0].partition("?")
        segments = tuple(unquote(part) for part in path.split("/") if part)
        return _Request(method.strip().upper(), segments, _form(query), body, headers)

    def _dispatch(self, request: _Request, *, pretty: bool, minimal: bool) -> Response:
        match request.method, request.segments:
            case "GET", ():
                return self._next_page(request, pretty)
            case "GET", ("metadata",):
                return self._answer(200, capability_statement(self.base_url), pretty)
            case "GET", (kind,):
                return self._search(kind, request.parameters, pretty)
            case (("POST" | "GET"), (kind, "_search")):
                form = _form(request.body) if request.method == "POST" else ()
                return self._search(kind, (*request.parameters, *form), pretty)
            case "GET", (kind, key) if _ID.fullmatch(key):
                return self._read(request, self.store.read(_type(kind), key), pretty)
            case "GET", (kind, key, "_history") if _ID.fullmatch(key):
                return self._history(request, _type(kind), key, pretty)
            case "GET", (kind, key, "_history", version) if _ID.fullmatch(key):
                return self._read(request, self._version(_type(kind), key, version), pretty)
            case "POST", (kind,):
                return self._create(request, _type(kind), pretty, minimal)
            case "PUT", (kind, key):
                return self._update(request, _type(kind), key, pretty, minimal)
            case (("GET" | "POST" | "PUT"), _):
                raise FhirError(
                    400,
                    "not-supported",
                    f"{request.method} /{'/'.join(request.segments)[:200]} is not supported. "
                    "Supported: GET Type?parameters, GET Type/id, GET Type/id/_history, "
                    "GET metadata, POST Type, POST Type/_search, PUT Type/id.",
                )
        raise FhirError(
            405,
            "not-supported",
            f"Method {request.method[:20]} is not supported; use one of {_METHODS}.",
        )

    def _search(self, kind: str, parameters: tuple[tuple[str, str], ...], pretty: bool) -> Response:
        result = self.store.search(_type(kind), parameters)
        return self._answer(200, searchset(result, self.base_url, pretty=pretty), pretty)

    def _next_page(self, request: _Request, pretty: bool) -> Response:
        asked = dict(request.parameters)
        if "_getpages" not in asked:
            raise bad_request("A search needs a resource type: GET Type?parameters.")
        offset, count = asked.get("_getpagesoffset", "0"), asked.get("_count", "20")
        result = self.store.next_page(f"{asked['_getpages']}:{offset}:{count}")
        return self._answer(200, searchset(result, self.base_url, pretty=pretty), pretty)

    def _read(self, request: _Request, resource: Resource, pretty: bool) -> Response:
        if is_unchanged(request.headers, resource):
            return Response(304, _version_headers(resource))
        return self._answer(200, resource, pretty, _version_headers(resource))

    def _version(self, kind: str, key: str, version: str) -> Resource:
        for write in self.store.history(kind, key):
            if version_of(write.resource) == version:
                return write.resource
        raise not_found(kind, f"{key}/_history/{version[:40]}")

    def _history(self, request: _Request, kind: str, key: str, pretty: bool) -> Response:
        asked = dict(request.parameters)
        count, offset = (_number(asked, name, of) for name, of in (("_count", 20), ("_offset", 0)))
        bundle = history_bundle(
            self.store.history(kind, key), f"{self.base_url}/{kind}/{key}", max(1, count), offset
        )
        return self._answer(200, bundle, pretty)

    def _create(self, request: _Request, kind: str, pretty: bool, minimal: bool) -> Response:
        resource = _resource(request.body)
        _require_same("resourceType", resource.get("resourceType"), kind)
        search = header(request.headers, "if-none-exist")
        if search is not None:
            asked = _form(search.strip().removeprefix("?"))
            if not asked:
                raise bad_request("If-None-Exist takes search parameters: identifier=urn:x|1.")
            found = self.store.search(kind, asked).resources
            if len(found) > 1:
                raise several_match(search)
            if found:
                return self._answer(200, found[0], pretty, self._location(found[0]))
        stored = self.store.create(resource)
        return self._answer(201, stored, pretty, self._location(stored), minimal=minimal)

    def _update(
        self, request: _Request, kind: str, key: str, pretty: bool, minimal: bool
    ) -> Response:
        resource = _resource(request.body)
        _require_same("resourceType", resource.get("resourceType"), kind)
        _require_same("id", resource.get("id"), key)
        if any(header(request.headers, name) is not None for name in ("if-match", "if-none-match")):
            require_match(request.headers, self._current(kind, key))
        stored = self.store.update(resource)
        if version_of(stored) == "1":
            return self._answer(201, stored, pretty, self._location(stored), minimal=minimal)
        return self._answer(200, stored, pretty, _version_headers(stored), minimal=minimal)

    def _current(self, kind: str, key: str) -> Resource | None:
        try:
            return self.store.read(kind, key)
        except FhirError as error:
            if error.status != 404:
                raise
            return None

    def _location(self, stored: Resource) -> dict[str, str]:
        path = f"{stored['resourceType']}/{stored['id']}/_history/{version_of(stored)}"
        return {"Location": f"{self.base_url}/{path}", **_version_headers(stored)}

    @staticmethod
    def _answer(
        status: int,
        resource: Resource,
        pretty: bool,
        headers: Mapping[str, str] | None = None,
        *,
        minimal: bool = False,
    ) -> Response:
        text = "" if minimal else render(resource, pretty=pretty)
        return Response(status, {"Content-Type": CONTENT_TYPE, **(headers or {})}, text)


def capability_statement(base_url: str) -> Resource:
    """Return what this server can do, as ``GET metadata`` answers it."""
    codes = ("read", "vread", "update", "history-instance", "create", "search-type")
    interactions = [{"code": code} for code in codes]
    return {
        "resourceType": "CapabilityStatement",
        "status": "active",
        "date": "2024-12-30",
        "kind": "instance",
        "software": {"name": "healthgym embedded FHIR server"},
        "implementation": {"description": "Simulated record system", "url": base_url},
        "fhirVersion": "4.0.1",
        "format": ["application/fhir+json", "json"],
        "rest": [
            {
                "mode": "server",
                "resource": [
                    {
                        "type": kind,
                        "interaction": interactions,
                        "versioning": "versioned-update",
                        "readHistory": True,
                        "conditionalCreate": True,
                        "conditionalRead": "not-match",
                        "searchParam": [
                            {"name": name, "type": str(table.parameters[name].kind)}
                            for name in table.names
                        ],
                    }
                    for kind, table in parameter_table().types.items()
                ],
            }
        ],
    }


def _valid_unicode(text: str) -> str:
    return text.encode("utf-8", "replace").decode("utf-8")


def _form(text: str) -> tuple[tuple[str, str], ...]:
    return tuple(parse_qsl(text.strip(), keep_blank_values=True, errors="replace"))


def _number(asked: Mapping[str, str], name: str, otherwise: int) -> int:
    text = asked.get(name, str(otherwise))
    if not (text.isascii() and text.isdigit() and len(text) < 7):
        raise bad_request(f"{name} takes a whole number, not {text[:40]!r}.")
    return int(text)


def _type(kind: str) -> str:
    if not _TYPE.fullmatch(kind):
        raise FhirError(404, "not-supported", f"Unknown resource type '{kind[:100]}'.")
    return kind


def _resource(body: str) -> JsonDict:
    try:
        resource = json.loads(body)
    except (ValueError, RecursionError) as error:
        detail = str(error)[:200]
        raise FhirError(400, "structure", f"The body is not valid JSON: {detail}.") from None
    if not isinstance(resource, dict):
        raise FhirError(400, "structure", "The body must be one JSON object: a FHIR resource.")
    return resource


def _require_same(name: str, given: object, expected: str) -> None:
    if given != expected:
        raise bad_request(
            f"The body has {name} {str(given)[:100]!r}, but the URL says {expected[:100]!r}."
        )


def _version_headers(resource: Resource) -> dict[str, str]:
    return {"ETag": etag(resource)}
