"""A page for a browser on this machine, written anew when what it shows has changed."""

from __future__ import annotations

import io
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import ClassVar, TextIO

from healthgym.cli.common import note, write
from healthgym.errors import ConfigurationError, HealthGymError
from healthgym.version import __version__

#: Writes the page, and returns what is on it, in words.
Writer = Callable[[TextIO], str]
_HOST = "127.0.0.1"
_NAMES = frozenset({"127.0.0.1", "localhost"})
_HEADERS = (
    ("Content-Type", "text/html; charset=utf-8"),
    ("Content-Security-Policy", "frame-ancestors 'none'"),
    ("X-Content-Type-Options", "nosniff"),
    ("Referrer-Policy", "no-referrer"),
    ("Cache-Control", "no-store"),
)


@dataclass(slots=True)
class LivePage:
    """A page that follows the files it is made of.

    Attributes:
        writer: Writes it.
        sources: The files.
        port: Where it is served.
    """

    writer: Writer
    sources: Sequence[Path]
    port: int = 0
    _made: bytes = b""
    _of: object = None
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def read(self) -> bytes:
        """Return the page as of now.

        Raises:
            HealthGymError: If a file is damaged.
        """
        with self._lock:
            state = [(path.stat().st_mtime_ns, path.stat().st_size) for path in self.sources]
            if state != self._of:
                buffer = io.StringIO()
                told = self.writer(buffer)
                self._made, self._of = buffer.getvalue().encode("utf-8"), state
                note(told)
            return self._made


class _Handler(BaseHTTPRequestHandler):
    page: ClassVar[LivePage]
    server_version = f"healthgym/{__version__}"
    sys_version = ""
    timeout = 30

    def do_GET(self) -> None:
        self._answer(with_body=True)

    def do_HEAD(self) -> None:
        self._answer(with_body=False)

    def _answer(self, *, with_body: bool) -> None:
        host, _, port = (self.headers.get("Host") or "").rpartition(":")
        # A page elsewhere may have its own name lead to this machine; it cannot call it otherwise.
        if host not in _NAMES or port != str(self.page.port):
            self.send_error(421, "This page is served to this machine, by its address")
        elif self.path.partition("?")[0] not in ("/", "/index.html"):
            self.send_error(404)
        else:
            try:
                body = self.page.read()
            except (HealthGymError, OSError) as error:
                note(f"healthgym: {' '.join(str(error).split())}")
                self.send_error(500, "The recordings cannot be read; see the terminal")
                return
            self.send_response(200)
            for name, value in (*_HEADERS, ("Content-Length", str(len(body)))):
                self.send_header(name, value)
            self.end_headers()
            if with_body:
                self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Keep the terminal for what matters."""


@contextmanager
def served(page: LivePage, port: int = 0) -> Iterator[str]:
    """Serve a page to this machine, and yield its address.

    Args:
        page: The page.
        port: Port, or 0 for a free one.

    Raises:
        ConfigurationError: If the port cannot be listened on.
    """
    if not 0 <= port < 1 << 16:
        raise ConfigurationError(f"--port takes 0 to 65535, not {port}.")
    handler = type("_PageHandler", (_Handler,), {"page": page})
    try:
        server = ThreadingHTTPServer((_HOST, port), handler)
    except OSError as error:
        raise ConfigurationError(
            f"Port {port} cannot be listened on: {error.strerror}; port 0 takes a free one."
        ) from None
    server.daemon_threads = True
    page.port = server.server_port
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield f"http://{_HOST}:{page.port}/"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def serve_page(writer: Writer, sources: Sequence[Path], port: int) -> int:
    """Serve a page until interrupted.

    Args:
        writer: Writes it.
        sources: The files it is made of; once one has changed, the page is written anew.
        port: Port, or 0 for a free one.

    Raises:
        HealthGymError: If it cannot be written or served.
    """
    page = LivePage(writer, sources)
    page.read()
    with served(page, port) as url:
        write(url)
        sys.stdout.flush()
        note("Open it in a browser on this machine; serving until interrupted (Ctrl-C).")
        with suppress(KeyboardInterrupt):
            threading.Event().wait()
    note("")
    return 0
