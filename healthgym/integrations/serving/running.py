"""Running a served face until it is told to stop."""

from __future__ import annotations

import socket
from collections.abc import Callable, Sequence

from healthgym.core.optional import require
from healthgym.errors import ConfigurationError
from healthgym.integrations.serving.gate import App, Gate, Limits
from healthgym.worlds.fhir.doorkeeper import Doorkeeper, is_loopback

#: Seconds that requests under way have to be finished in after a signal to stop.
_GRACE = 30


def serve_app(
    app: App,
    host: str,
    port: int,
    *,
    limits: Limits,
    extra: str,
    token: str = "",
    names: Sequence[str] = (),
    fd: int | None = None,
    on_start: Callable[[str], None] = lambda _: None,
) -> None:
    """Serve an application until the process is interrupted (SIGINT) or terminated (SIGTERM).

    Args:
        app: An ASGI application.
        host: Address to listen on.
        port: Port, or 0 for a free one.
        limits: What is carried.
        extra: The extra that brings the server.
        token: What clients must send as ``Authorization: Bearer TOKEN``; nothing if empty.
        names: Further names by which clients may call the server.
        fd: Number of an inherited socket that listens, in place of address and port: whoever
            starts the server may have opened it in another network namespace.
        on_start: Told the server's address once it listens.

    Raises:
        ConfigurationError: If others can reach the address and there is no token, if the token is
            not one word, or the address cannot be listened on.
        MissingDependencyError: If uvicorn is not installed.
    """
    uvicorn = require("uvicorn", extra=extra, purpose="Serving")
    handed = None if fd is None else inherited(fd)
    host = host if handed is None else handed.getsockname()[0]
    if not is_loopback(host) and not token:
        raise ConfigurationError(
            f"{host} can be reached from other machines; give a token with --token-file."
        )
    if token and not (token.isascii() and token.isprintable() and " " not in token):
        raise ConfigurationError("A token is one word of printable ASCII characters.")
    known = frozenset(name.lower().strip("[]") for name in (host, *names))
    gate = Gate(app, Doorkeeper(known, not is_loopback(host), token), limits)
    config = uvicorn.Config(
        gate,
        log_level="warning",
        lifespan="on",
        ws_max_size=limits.message,
        timeout_graceful_shutdown=_GRACE,
        server_header=False,
    )
    with handed or listening(host, port) as opened:
        shown = f"[{host}]" if ":" in host else host
        on_start(f"http://{shown}:{opened.getsockname()[1]}")
        uvicorn.Server(config).run(sockets=[opened])


def listening(host: str, port: int) -> socket.socket:
    """Return a socket that listens.

    Raises:
        ConfigurationError: If it cannot.
    """
    if not 0 <= port < 1 << 16:
        raise ConfigurationError(f"--port takes 0 to 65535, not {port}.")
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        return socket.create_server((host, port), family=family, backlog=2048)
    except OSError as error:
        why = error.strerror or str(error)
        raise ConfigurationError(
            f"{host}:{port} cannot be listened on: {why}; port 0 takes a free one."
        ) from None


def inherited(fd: int) -> socket.socket:
    """Return the listening socket of an inherited file descriptor.

    Raises:
        ConfigurationError: If it is none.
    """
    try:
        found = socket.socket(fileno=fd)
        if found.family in (socket.AF_INET, socket.AF_INET6) and found.getsockopt(
            socket.SOL_SOCKET, socket.SO_ACCEPTCONN
        ):
            return found
        found.detach()
    except OSError:
        pass
    raise ConfigurationError(f"{fd} is no socket that listens.")
