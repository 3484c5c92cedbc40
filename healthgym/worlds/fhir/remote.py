"""A record store on a real FHIR server, over HTTP."""

from __future__ import annotations

import base64
import hashlib
import json
import math
import re
import time
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any
from urllib.parse import unquote

import httpx

from healthgym.core.closing import Closing
from healthgym.core.endpoint import is_address
from healthgym.core.redaction import Redactor, secrets_of, shown_address
from healthgym.core.wire import Answer, Wire
from healthgym.errors import (
    ConfigurationError,
    EndpointError,
    EndpointTimeoutError,
    EndpointUnreachableError,
)
from healthgym.worlds.fhir.base import Resource
from healthgym.worlds.fhir.errors import FhirError, bad_request, not_found
from healthgym.worlds.fhir.records import NEVER, SearchResult, Write, WriteKind

DEFAULT_TIMEOUT_S = 30.0
#: A read that is tried again has so many times the time of one exchange.
_WHOLE = 2
DEFAULT_RETRIES = 3
FIRST_BACKOFF_S = 0.25
#: Longest answer that is read: far above a page of results, in bytes.
MOST_BYTES = 64 << 20

_JSON = "application/fhir+json"
_ID = re.compile(r"[A-Za-z0-9.-]{1,64}")
_TYPE = re.compile(r"[A-Za-z]{1,64}")
#: Refusals that are about access or load, not about what the agent asked for.
_NOT_THE_AGENT = frozenset({401, 403, 407, 408, 429})


class RemoteStore(Closing):
    """The store interface over a FHIR server.

    Reads are tried again after a failure of the network or the server, writes never: a write that
    timed out may have been carried out. What the agent got wrong (4xx with an OperationOutcome) is
    a ``FhirError``; anything else is an ``EndpointError``, which never counts as an answer.

    Args:
        base_url: Base address of the server.
        timeout: Most seconds of an exchange, from the connection to the last byte. A read that is
            tried again is given up after twice as many.
        retries: How often a read is tried again.
        transport: Replaces the network, for tests.
        sleep: Waits between tries; takes seconds.

    Raises:
        ConfigurationError: If ``base_url`` is not an http(s) address.
    """

    def __init__(
        self,
        base_url: str,
        *,
        timeout: float = DEFAULT_TIMEOUT_S,
        retries: int = DEFAULT_RETRIES,
        transport: httpx.BaseTransport | None = None,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        if not is_address(base_url):
            shown = shown_address(str(base_url))
            raise ConfigurationError(f"{shown!r} is not an http or https address.")
        if not (math.isfinite(timeout) and timeout > 0 and retries >= 0):
            raise ConfigurationError("timeout is positive, and retries are not negative.")
        try:
            given = httpx.URL(base_url.rstrip("/"))
        except httpx.InvalidURL:
            raise ConfigurationError(f"{shown_address(base_url)!r} is not a URL.") from None
        # Errors name the address, and some of them reach the agent: whom it is asked as stays out.
        self._base = given.copy_with(userinfo=b"", query=None, fragment=None)
        self._root = str(self._base)
        self.base_url = shown_address(self._root)
        self._retries, self._timeout = retries, timeout
        self._sleep = sleep
        self._redact = Redactor(secrets_of(base_url))
        user = given.userinfo.decode("ascii")
        # As httpx itself does with an address that names a user.
        headers = {"Accept": _JSON, **({"Authorization": _basic(user)} if user else {})}
        self._wire = Wire(
            timeout=timeout, most_bytes=MOST_BYTES, transport=transport, headers=headers
        )
        self._written: list[tuple[str, Resource]] = []

    def close(self) -> None:
        """Close the connections."""
        self._wire.close()

    def digest(self) -> str:
        """Return a hex digest of the writes made through this store, in order."""
        text = json.dumps(self._written, sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()

    def search(self, resource_type: str, params: Sequence[tuple[str, str]]) -> SearchResult:
        """Return the first page of a search; the token of the next page is the server's link."""
        url = f"{self._root}/{_checked_type(resource_type)}"
        bundle = self._get(url, [(name, value) for name, value in params])
        parameters = tuple(sorted(params, key=lambda pair: pair[0]))
        return self._result(bundle, resource_type, parameters)

    def next_page(self, token: str) -> SearchResult:
        """Return the page of a next link.

        Raises:
            FhirError: 400, if the link is not one of this server.
        """
        if not self._is_own(token):
            raise bad_request(f"'{token[:200]}' is not a page link of {self.base_url}.")
        return self._result(self._get(token, None), "", ())

    def read(self, resource_type: str, id: str) -> Resource:
        """Return the current version of a resource."""
        if not _ID.fullmatch(id):
            raise not_found(resource_type, id[:100])
        return self._get(f"{self._root}/{_checked_type(resource_type)}/{id}", None)

    def history(self, resource_type: str, id: str) -> tuple[Write, ...]:
        """Return the versions on the first page of a resource's history, the newest first."""
        if not _ID.fullmatch(id):
            raise not_found(resource_type, id[:100])
        bundle = self._get(f"{self.base_url}/{_checked_type(resource_type)}/{id}/_history", None)
        found = self._result(bundle, resource_type, ()).resources
        last = len(found) - 1
        return tuple(
            Write(
                WriteKind.CREATE if n == last else WriteKind.UPDATE,
                resource_type, id, version, _time(version),
            )
            for n, version in enumerate(found)
        )  # fmt: skip

    def create(self, resource: Resource) -> Resource:
        """Store a new resource; it is sent once, whatever happens."""
        kind = _checked_type(resource.get("resourceType"))
        response = self._send("POST", f"{self._root}/{kind}", resource)
        return self._stored("create", response, resource)

    def update(self, resource: Resource) -> Resource:
        """Replace a resource; it is sent once, whatever happens."""
        kind, key = _checked_type(resource.get("resourceType")), resource.get("id")
        if not isinstance(key, str) or not _ID.fullmatch(key):
            raise bad_request("An update needs the id of the resource in its 'id' element.")
        response = self._send("PUT", f"{self._root}/{kind}/{key}", resource)
        return self._stored("update", response, resource)

    def _get(self, url: str, params: object) -> Resource:
        until = time.monotonic() + _WHOLE * self._timeout
        for attempt in range(self._retries + 1):
            try:
                left = until - time.monotonic()
                return self._parsed(self._exchange("GET", url, params=params, seconds=left))
            except _Transient as failure:
                wait = FIRST_BACKOFF_S * 2 ** min(attempt, 16)
                if attempt == self._retries or time.monotonic() + wait >= until:
                    told = "once" if not attempt else f"{attempt + 1} times"
                    raise EndpointError(f"{failure} Tried {told}.") from None
                self._sleep(wait)
        raise AssertionError("unreachable")

    def _send(self, method: str, url: str, resource: Resource) -> Answer:
        try:
            content = json.dumps(resource, allow_nan=False).encode("utf-8")
        except (TypeError, ValueError, RecursionError) as error:
            raise bad_request(f"The resource is not valid JSON: {error}.") from None
        response = self._exchange(method, url, content=content)
        if response.status >= 400:
            self._parsed(response)
        return response

    def _exchange(
        self, method: str, url: str, seconds: float | None = None, **parts: Any
    ) -> Answer:
        headers = {"Content-Type": _JSON} if "content" in parts else {}
        try:
            return self._wire.ask(method, url, headers=headers, seconds=seconds, **parts)
        except EndpointTimeoutError as error:
            raise _Transient(
                f"{self.base_url} did not answer in time ({error}). "
                "Raise the timeout or look at the load of the server."
            ) from None
        except EndpointUnreachableError as error:
            told = self._redact.text(str(error))
            raise _Transient(
                f"{self.base_url} cannot be reached ({told}). Is the FHIR server running there?"
            ) from None
        except EndpointError as error:
            raise EndpointError(f"{self.base_url}: {error}.") from None
        except (httpx.InvalidURL, UnicodeError) as error:
            raise bad_request(f"The request cannot be sent: {error}.") from None

    def _parsed(self, response: Answer) -> Resource:
        """Return the resource of a good answer; raise the right error for any other."""
        status = response.status
        if status >= 500:
            raise _Transient(
                f"{self.base_url} failed with HTTP {status}. Look at the log of the server."
            )
        body = self._json_object(response)
        if status in _NOT_THE_AGENT:
            kind = _Transient if status in (408, 429) else EndpointError
            raise kind(
                f"{self.base_url} refused with HTTP {status}. Check credentials and rate limits."
            )
        if status >= 400 and body is not None and body.get("resourceType") == "OperationOutcome":
            raise _refusal(status, body)
        if status != 200 and status != 201:
            raise EndpointError(
                f"{self.base_url} answered HTTP {status} without an OperationOutcome. Is this the "
                "base address of a FHIR server?"
            )
        if body is None or not isinstance(body.get("resourceType"), str):
            kind_of = self._redact.text(response.headers.get("content-type", "no content type"))[
                :80
            ]
            raise EndpointError(
                f"{self.base_url} answered with {kind_of} that is not a FHIR resource. Is this the "
                "base address of a FHIR server?"
            )
        return body

    def _json_object(self, response: Answer) -> Resource | None:
        try:
            body = self._redact.value(response.json())
        except ValueError:
            return None
        return body if isinstance(body, dict) else None

    def _stored(self, verb: str, response: Answer, sent: Resource) -> Resource:
        """Return the resource as stored; ask for it if the server did not return it."""
        if response.status in (200, 201, 204) and not response.body.strip():
            location = response.headers.get("location", "").partition("/_history/")[0]
            kind = sent["resourceType"]
            key = location.rpartition("/")[2] or str(sent.get("id", ""))
            stored = self.read(kind, key)
        else:
            stored = self._parsed(response)
        self._written.append((verb, sent))
        return stored

    def _result(
        self, bundle: Resource, resource_type: str, parameters: tuple[tuple[str, str], ...]
    ) -> SearchResult:
        entries = bundle.get("entry", [])
        links = bundle.get("link", [])
        listed = isinstance(entries, list) and isinstance(links, list)
        if bundle["resourceType"] != "Bundle" or not listed:
            raise EndpointError(
                f"{self.base_url} answered a search with a {bundle['resourceType']}, not a Bundle."
            )
        found: dict[str, list[Resource]] = {"match": [], "include": [], "outcome": []}
        for entry in entries:
            resource = entry.get("resource") if isinstance(entry, dict) else None
            if not isinstance(resource, dict):
                raise EndpointError(f"{self.base_url} sent a Bundle entry without a resource.")
            search = entry.get("search")
            mode = search.get("mode") if isinstance(search, dict) else "match"
            found[mode if mode in ("include", "outcome") else "match"].append(resource)
        named = (link for link in links if isinstance(link, dict))
        following = next(
            (link.get("url") for link in named if link.get("relation") == "next"), None
        )
        if following is not None and not self._is_own(str(following)):
            raise EndpointError(
                f"{self.base_url} links the next page at another origin ({str(following)[:200]}). "
                "Configure "
                "the server's own address to be the one used here."
            )
        total = bundle.get("total")
        return SearchResult(
            resources=tuple(found["match"]),
            total=total if isinstance(total, int) else None,
            next=following,
            search_id=str(bundle.get("id", "")),
            parameters=parameters,
            resource_type=resource_type,
            included=tuple(found["include"]),
            time=_time(bundle),
        )

    def _is_own(self, link: str) -> bool:
        """Say whether a link leads to this server, below its base address."""
        try:
            url = httpx.URL(link)
        except httpx.InvalidURL:
            return False
        mine = (self._base.scheme, self._base.host, self._base.port)
        below = url.path == self._base.path or url.path.startswith(self._base.path + "/")
        return (url.scheme, url.host, url.port) == mine and below and not url.userinfo


class _Transient(EndpointError):
    """A failure that may be over at the next try."""


def _basic(user: str) -> str:
    """Return the header by which the user named in an address is told."""
    name, _, password = user.partition(":")
    pair = f"{unquote(name)}:{unquote(password)}".encode()
    return f"Basic {base64.b64encode(pair).decode('ascii')}"


def _refusal(status: int, outcome: Resource) -> FhirError:
    issues = outcome.get("issue")
    issues = [i for i in issues if isinstance(i, dict)] if isinstance(issues, list) else []
    texts = [str(i.get("diagnostics") or i.get("details") or "") for i in issues]
    code = str(issues[0].get("code", "processing")) if issues else "processing"
    text = "; ".join(t for t in texts if t) or f"The server refused with HTTP {status}."
    return FhirError(status, code, text)


def _checked_type(kind: object) -> str:
    if not isinstance(kind, str) or not _TYPE.fullmatch(kind):
        raise FhirError(404, "not-supported", f"Unknown resource type '{str(kind)[:100]}'.")
    return kind


def _time(bundle: Resource) -> datetime:
    try:
        return datetime.fromisoformat(bundle["meta"]["lastUpdated"])
    except (KeyError, TypeError, ValueError):
        return NEVER
