"""The embedded store behind a real HTTP port, for FHIR clients and for tests."""

from __future__ import annotations

import ipaddress
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import ClassVar, Self

from healthgym.errors import ConfigurationError, InfrastructureError
from healthgym.worlds.fhir.api import CONTENT_TYPE, FhirApi, Response
from healthgym.worlds.fhir.bundle import render
from healthgym.worlds.fhir.errors import FhirError
from healthgym.worlds.fhir.records import RecordStore

MAX_BODY_BYTES = 16 * 1024 * 1024
_IDLE_TIMEOUT_S = 30.0


class FhirServer:
    """A running server; use it as a context manager.

    Attributes:
        url: Base address, such as ``http://127.0.0.1:41234/fhir``.
        api: The interface it serves.
    """

    def __init__(self, http: ThreadingHTTPServer, api: FhirApi) -> None:
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

    def __enter__(self) -> Self:
        """Return the server itself."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Stop serving."""
        self.close()


def serve(
    store: RecordStore,
    host: str = "127.0.0.1",
    port: int = 0,
    *,
    path: str = "/fhir",
    pretty: bool = True,
    allow_remote: bool = False,
) -> FhirServer:
    """Serve a store over HTTP in a background thread; one request at a time touches the store.

    Args:
        store: The record system.
        host: Address to listen on.
        port: Port, or 0 for a free one.
        path: Path of the base address.
        pretty: Whether bodies are indented by default.
        allow_remote: Permit an address that other machines can reach. There is no authentication.

    Raises:
        ConfigurationError: If the address is not a loopback one and that was not permitted.
    """
    if not allow_remote and not _is_loopback(host):
        raise ConfigurationError(
            f"{host} can be reached from other machines and this server has no authentication; "
            "use 127.0.0.1, or pass allow_remote=True."
        )
    handler = type("_BoundHandler", (_Handler,), {"lock": threading.Lock()})
    http = ThreadingHTTPServer((host, port), handler)
    http.daemon_threads = True
    shown = f"[{host}]" if ":" in host else host
    api = FhirApi(store, f"http://{shown}:{http.server_address[1]}{path}", pretty=pretty)
    handler.api = api  # type: ignore[attr-defined]
    return FhirServer(http, api)


class _Handler(BaseHTTPRequestHandler):
    """Translates between HTTP and :class:`FhirApi`."""

    # Head and body leave as two small packets; waiting to join them costs 40 ms an answer.
    disable_nagle_algorithm = True

    protocol_version = "HTTP/1.1"
    server_version = "healthgym"
    sys_version = ""
    timeout = _IDLE_TIMEOUT_S
    api: ClassVar[FhirApi]
    lock: ClassVar[threading.Lock]

    def _respond(self) -> None:
        body = self._body()
        if body is None:
            response = _refusal(413, "too-long", f"Bodies are limited to {MAX_BODY_BYTES} bytes.")
            self.close_connection = True
        else:
            with self.lock:
                try:
                    headers = dict(self.headers.items())
                    response = self.api.handle(self.command, self.path, body, headers)
                except InfrastructureError as error:
                    response = _refusal(502, "transient", str(error))
        payload = response.text.encode("utf-8")
        self.send_response(response.status)
        for name, value in response.headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(payload)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(payload)

    def _body(self) -> str | None:
        """Return the request body, or None if it is too long or its length is not stated."""
        stated = self.headers.get("Content-Length", "0")
        if "Transfer-Encoding" in self.headers or not (stated.isascii() and stated.isdigit()):
            return None
        if len(stated) > 12 or int(stated) > MAX_BODY_BYTES:
            return None
        return self.rfile.read(int(stated)).decode("utf-8", "replace")

    do_GET = do_POST = do_PUT = do_DELETE = do_PATCH = do_HEAD = _respond

    def log_message(self, format: str, *args: object) -> None:
        """Keep quiet: requests are recorded by whoever sends them."""


def _refusal(status: int, code: str, diagnostics: str) -> Response:
    text = render(FhirError(status, code, diagnostics).outcome())
    return Response(status, {"Content-Type": CONTENT_TYPE}, text)


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
