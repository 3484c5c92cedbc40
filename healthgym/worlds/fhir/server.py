"""The embedded store behind a real HTTP port, for FHIR clients and for tests."""

from __future__ import annotations

import io
import sys
import threading
import traceback
from collections.abc import Sequence
from http.server import BaseHTTPRequestHandler
from typing import Any, ClassVar

from healthgym.core.closing import Closing
from healthgym.errors import ConfigurationError, InfrastructureError
from healthgym.worlds.fhir.api import CONTENT_TYPE, FhirApi, Response
from healthgym.worlds.fhir.bundle import render
from healthgym.worlds.fhir.connections import (
    BoundedServer,
    ConnectionLimits,
    TimedReader,
    TooMuch,
)
from healthgym.worlds.fhir.doorkeeper import Doorkeeper, is_loopback
from healthgym.worlds.fhir.errors import FhirError
from healthgym.worlds.fhir.records import RecordStore


class FhirServer(Closing):
    """A running server; use it as a context manager.

    Attributes:
        url: Base address, such as ``http://127.0.0.1:41234/fhir``.
        api: The interface it serves.
    """

    def __init__(self, http: BoundedServer, api: FhirApi) -> None:
        self._http = http
        self._thread = threading.Thread(target=http.serve_forever, args=(0.02,), daemon=True)
        self.api = api
        self.url = api.base_url
        self._thread.start()

    def close(self) -> None:
        """Stop serving and free the port; safe to call twice."""
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()


def serve(
    store: RecordStore,
    host: str = "127.0.0.1",
    port: int = 0,
    *,
    path: str = "/fhir",
    pretty: bool = True,
    allow_remote: bool = False,
    names: Sequence[str] = (),
    token: str = "",
    limits: ConnectionLimits | None = None,
) -> FhirServer:
    """Serve a store over HTTP in a background thread; one request at a time touches the store.

    Args:
        store: The record system.
        host: Address to listen on.
        port: Port, or 0 for a free one.
        path: Path of the base address.
        pretty: Whether bodies are indented by default.
        allow_remote: Permit an address that other machines can reach.
        names: Further names by which clients may call this server, as ``Host`` has them.
        token: What clients must send as ``Authorization: Bearer TOKEN``; nothing if empty.
        limits: Bounds of connections.

    Raises:
        ConfigurationError: If the address is not a loopback one and that was not permitted, or
            cannot be listened on.
    """
    if not allow_remote and not is_loopback(host):
        raise ConfigurationError(
            f"{host} can be reached from other machines; use 127.0.0.1, or permit it by "
            "allow_remote (--allow-remote)."
        )
    if token and not (token.isascii() and token.isprintable() and " " not in token):
        raise ConfigurationError("A token is one word of printable ASCII characters.")
    doorkeeper = Doorkeeper(
        frozenset(name.lower().strip("[]") for name in (host, *names)), not is_loopback(host), token
    )
    attributes = {"lock": threading.Lock(), "doorkeeper": doorkeeper}
    handler = type("_BoundHandler", (_Handler,), attributes)
    try:
        http = BoundedServer((host, port), handler, limits or ConnectionLimits())
    except (OSError, OverflowError) as error:
        why = error.strerror or str(error) if isinstance(error, OSError) else "a port is 0 to 65535"
        raise ConfigurationError(
            f"{host}:{port} cannot be listened on: {why}; port 0 takes a free one."
        ) from None
    shown = f"[{host}]" if ":" in host else host
    api = FhirApi(store, f"http://{shown}:{http.server_port}{path}", pretty=pretty)
    handler.api = api  # type: ignore[attr-defined]
    return FhirServer(http, api)


class _Handler(BaseHTTPRequestHandler):
    """Translates between HTTP and :class:`FhirApi`."""

    # Head and body leave as two small packets; waiting to join them costs 40 ms an answer.
    disable_nagle_algorithm = True

    protocol_version = default_request_version = "HTTP/1.1"
    server_version = "healthgym"
    sys_version = ""
    server: BoundedServer
    api: ClassVar[FhirApi]
    doorkeeper: ClassVar[Doorkeeper]
    lock: ClassVar[threading.Lock]

    def setup(self) -> None:
        super().setup()
        self.rfile.close()
        self._reader = TimedReader(self.connection)
        self.rfile = io.BufferedReader(self._reader)

    def handle_one_request(self) -> None:
        limits = self.server.limits
        self._reader.allow(limits.head, limits.idle, started=limits.head_seconds)
        try:
            super().handle_one_request()
        except TooMuch:
            self.close_connection = True
            self.requestline, self.request_version, self.command = "", "HTTP/1.1", ""
            self._send(_refusal(431, "too-long", f"A head has at most {limits.head} bytes."))
        self.server.await_next(self.connection)

    def _respond(self) -> None:
        body = self.doorkeeper.refusal(self.headers.items()) or self._body()
        self.server.attend(self.connection)
        if isinstance(body, FhirError):
            # What is left of the request is not read.
            self.close_connection = True
            self._send(_answer_of(body))
            return
        with self.lock:
            response = self._handled(body)
        self._send(response)

    def _handled(self, body: str) -> Response:
        headers: dict[str, str] = {}
        for name, value in self.headers.items():
            known = headers.get(name.lower())
            headers[name.lower()] = value if known is None else f"{known}, {value}"
        try:
            return self.api.handle(self.command, self.path, body, headers)
        except InfrastructureError as error:
            return _refusal(502, "transient", str(error))
        except Exception:
            # A bug of ours: told to whoever runs the server, not to whoever asked.
            traceback.print_exc(file=sys.stderr)
            return _refusal(500, "exception", "The server failed; its own output says how.")

    def _send(self, response: Response) -> None:
        self.connection.settimeout(self.server.limits.body_seconds)
        payload = response.text.encode("utf-8", "replace")
        self.send_response(response.status)
        for name, value in response.headers.items():
            self.send_header(name, value)
        if self.close_connection:
            self.send_header("Connection", "close")
        if response.status != 304:
            self.send_header("Content-Length", str(len(payload)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(payload)

    def _body(self) -> str | FhirError:
        """Return the request body, or why it is not read."""
        limits = self.server.limits
        lengths = self.headers.get_all("Content-Length", ["0"])
        stated = lengths[0].strip()
        if "Transfer-Encoding" in self.headers:
            return FhirError(411, "not-supported", "State the length of a body: Content-Length.")
        if len(lengths) > 1 or not (stated.isascii() and stated.isdigit()):
            return FhirError(400, "structure", "Content-Length is one whole number of bytes.")
        if len(stated) > 12 or int(stated) > limits.body:
            return FhirError(413, "too-long", f"Bodies are limited to {limits.body} bytes.")
        self._reader.allow(int(stated), limits.body_seconds)
        data = self.rfile.read(int(stated))
        if len(data) < int(stated):
            raise ConnectionError("The client left in the middle of a body.")
        return data.decode("utf-8", "replace")

    do_GET = do_POST = do_PUT = do_DELETE = do_PATCH = do_HEAD = _respond

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """Answer what is no HTTP, or a method that no server has."""
        self.close_connection = True
        self._send(_refusal(int(code), "structure", message or "This is not understood."))

    def log_message(self, format: str, *args: Any) -> None:
        """Keep quiet: requests are recorded by whoever sends them."""


def _answer_of(error: FhirError) -> Response:
    headers = {"Content-Type": CONTENT_TYPE}
    if error.status == 401:
        headers["WWW-Authenticate"] = "Bearer"
    return Response(error.status, headers, render(error.outcome()))


def _refusal(status: int, code: str, diagnostics: str) -> Response:
    return _answer_of(FhirError(status, code, diagnostics))
