"""HTTP with somebody who may lie, stall, drip, send a bomb, or break off.

An exchange is bounded as a whole: in time, from the connection to the last byte, and in the size
of its answer, after decompression. Whatever goes wrong on the way is a typed error without the
library's own below it, which may quote what was sent.
"""

from __future__ import annotations

import contextlib
import json
import socket
import ssl
import time
import zlib
from collections.abc import Iterator, Mapping
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cache
from http.cookiejar import DefaultCookiePolicy
from typing import Any

import httpx

from healthgym.core.borders import Argument, Json
from healthgym.errors import (
    EndpointAbsentError,
    EndpointAnswerError,
    EndpointError,
    EndpointTimeoutError,
    EndpointUnreachableError,
)

#: Headers of an answer that anybody reads.
_KEPT = ("content-type", "retry-after", "date", "location")
#: Bytes that are sent between two looks at the clock.
_PIECE = 16 << 10
#: Most seconds until a connection stands. A host that is there takes it in a fraction of one.
_CONNECT = 10.0
#: When the exchange of this thread has to be over, by the monotonic clock.
_UNTIL: ContextVar[float | None] = ContextVar("until", default=None)


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer, read whole.

    Attributes:
        status: Its status.
        headers: Those of its headers that anybody reads, by name in lower case.
        body: Its body, unpacked.
    """

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def ok(self) -> bool:
        """Whether the status says that it was done."""
        return 200 <= self.status < 300

    @property
    def is_page(self) -> bool:
        """Whether it says to be a web page."""
        return "html" in self.headers.get("content-type", "").lower()

    @property
    def text(self) -> str:
        """The body as UTF-8, whatever its header says."""
        return self.body.decode("utf-8", "replace")

    def json(self) -> Json:
        """Return the body's JSON.

        Raises:
            ValueError: If it is none, or nested so deep that it cannot be read.
        """
        try:
            return json.loads(self.body)
        except RecursionError:
            raise ValueError("nested too deep") from None


class Wire:
    """Connections to one peer. Safe to share between threads.

    Args:
        timeout: Most seconds of one exchange. Looking up the name of a host is not in it: that
            has the system's own limit.
        most_bytes: Longest answer that is read, packed and unpacked.
        headers: Sent with every request.
        transport: Replaces the network, for tests.
    """

    def __init__(
        self,
        *,
        timeout: float,
        most_bytes: int,
        headers: Mapping[str, str] | None = None,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        self._timeout, self._most = timeout, most_bytes
        # No other packing is asked for, since others are not unpacked piece by piece.
        sent = {"Accept-Encoding": "gzip", **(headers or {})}
        self._client = httpx.Client(
            headers=sent,
            timeout=timeout,
            transport=transport,
            verify=_trust(),
            # How many there are at a time is decided by who asks.
            limits=httpx.Limits(max_connections=None, max_keepalive_connections=64),
        )
        # Nobody needs cookies, and a peer may send ever more of them.
        self._client.cookies.jar.set_policy(DefaultCookiePolicy(allowed_domains=[]))
        for each in (self._client._transport, *self._client._mounts.values()):
            pool: Any = getattr(each, "_pool", None)
            if hasattr(pool, "_network_backend"):
                pool._network_backend = _Punctual(pool._network_backend)

    def ask(
        self, method: str, url: str, *, seconds: float | None = None, **parts: Argument
    ) -> Answer:
        """Send a request and return the answer, whatever its status.

        Args:
            method: The method.
            url: The address.
            seconds: Most seconds, if fewer than usual.
            parts: What else ``httpx.Client.build_request`` takes.

        Raises:
            EndpointError: If there is no answer; the subclasses tell why. The message names no
                address.
            httpx.InvalidURL: If the request cannot be written, before anything is sent.
            UnicodeError: The same.
        """
        limit = self._timeout if seconds is None else min(self._timeout, seconds)
        limit = max(limit, 1e-3)
        each = httpx.Timeout(limit, connect=min(limit, _CONNECT))
        request = self._client.build_request(method, url, timeout=each, **parts)
        token = _UNTIL.set(time.monotonic() + limit)
        try:
            return self._exchange(request)
        except EndpointError:
            raise
        except httpx.ConnectTimeout:
            if limit <= _CONNECT:
                raise EndpointTimeoutError(f"no answer within {limit:.3g} s") from None
            raise EndpointAbsentError(f"no connection within {_CONNECT:.3g} s") from None
        except httpx.ConnectError as error:
            raise EndpointAbsentError(f"ConnectError: {error}"[:1000]) from None
        except httpx.TimeoutException:
            raise EndpointTimeoutError(f"no answer within {limit:.3g} s") from None
        except Exception as error:
            # What a peer sends may trip any layer of the library, each with errors of its own.
            told = f"{type(error).__name__}: {error}"
            raise EndpointUnreachableError(told[:1000]) from None
        finally:
            _UNTIL.reset(token)

    def _exchange(self, request: httpx.Request) -> Answer:
        with contextlib.closing(self._client.send(request, stream=True)) as response:
            body = self._body(response)
            kept = {name: response.headers[name] for name in _KEPT if name in response.headers}
            return Answer(response.status_code, kept, body)

    def _body(self, response: httpx.Response) -> bytes:
        if response.is_stream_consumed:  # a transport of tests hands it over whole
            return response.content
        packed, body = 0, bytearray()
        unpack = _unpacker(response.headers.get("content-encoding", ""))
        for part in response.iter_raw():
            _left(httpx.ReadTimeout)
            packed += len(part)
            for piece in unpack.feed(part):
                body += piece
                if max(packed, len(body)) > self._most:
                    raise EndpointAnswerError("the answer is enormous")
        if not unpack.whole:
            raise EndpointUnreachableError("the answer breaks off")
        return bytes(body)

    def close(self) -> None:
        """Close the connections."""
        self._client.close()


@cache
def _trust() -> ssl.SSLContext:
    """Return whom HTTPS trusts; read once, since that takes longer than most exchanges."""
    return httpx.create_ssl_context()


class _Plain:
    """A body that is not packed."""

    whole = True

    def feed(self, part: bytes) -> Iterator[bytes]:
        """Yield what a part of the body says."""
        yield part


class _Packed:
    """A body packed with gzip or zlib, unpacked so far as it is wanted."""

    def __init__(self) -> None:
        self._begun = False
        self._unpacker = zlib.decompressobj(wbits=47)

    @property
    def whole(self) -> bool:
        """Whether nothing is missing at the end."""
        return self._unpacker.eof or not self._begun

    def feed(self, part: bytes) -> Iterator[bytes]:
        """Yield what a part of the body says, a bounded piece at a time."""
        self._begun = self._begun or bool(part)
        try:
            while part and not self._unpacker.eof:
                yield self._unpacker.decompress(part, _PIECE)
                part = self._unpacker.unconsumed_tail
        except zlib.error:
            raise EndpointAnswerError("the answer is packed wrongly") from None


def _unpacker(encoding: str) -> _Plain | _Packed:
    name = encoding.strip().lower()
    if name in ("", "identity"):
        return _Plain()
    if name in ("gzip", "x-gzip", "deflate"):
        return _Packed()
    raise EndpointAnswerError("the answer is packed in a way that was not asked for")


def _left(late: type[httpx.TimeoutException], limit: float | None = None) -> float | None:
    """Return the seconds that are left of the exchange, or of the limit if that is nearer.

    Args:
        late: What to raise if there are none.
        limit: Seconds for what comes next alone.
    """
    until = _UNTIL.get()
    if until is None:
        return limit
    left = until - time.monotonic()
    if left <= 0:
        raise late("the time of the exchange is over")
    return left if limit is None else min(left, limit)


class _Punctual:
    """Opens connections on which every wait ends with the exchange that waits.

    The library's limits are for each wait, and a peer who sends a byte now and then never reaches
    one. Its connections take a replacement for the network, of which this is one.
    """

    def __init__(self, network: Any) -> None:
        self._network = network

    def connect_tcp(
        self, host: str, port: int, timeout: float | None = None, *rest: Any, **options: Any
    ) -> _Stream:
        """Connect to the first of a host's addresses that takes the connection."""
        try:
            found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        except OSError as error:
            raise httpx.ConnectError(str(error)) from None
        addresses = list(dict.fromkeys(str(each[4][0]) for each in found))
        for number, address in enumerate(addresses, 1):
            left = _left(httpx.ConnectTimeout, timeout)
            others = len(addresses) - number
            share = left if left is None else left / (others + 1)
            try:
                return _Stream(self._network.connect_tcp(address, port, share, *rest, **options))
            except Exception:
                # The errors of the layer below httpx, whichever that is: they say nothing of the
                # next address, and the last one's are told.
                if not others:
                    raise
        raise httpx.ConnectError("the host has no address")

    def __getattr__(self, name: str) -> Any:
        return getattr(self._network, name)


class _Stream:
    """A connection on which every wait ends with the exchange that waits."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        """Return what has come."""
        read: bytes = self._stream.read(max_bytes, _left(httpx.ReadTimeout, timeout))
        return read

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        """Send all of a buffer, piece by piece."""
        for place in range(0, len(buffer), _PIECE):
            piece = buffer[place : place + _PIECE]
            self._stream.write(piece, _left(httpx.WriteTimeout, timeout))

    def start_tls(
        self, ssl_context: Any, server_hostname: Any = None, timeout: float | None = None
    ) -> _Stream:
        """Return the connection, secured."""
        left = _left(httpx.ConnectTimeout, timeout)
        return _Stream(self._stream.start_tls(ssl_context, server_hostname, left))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)
