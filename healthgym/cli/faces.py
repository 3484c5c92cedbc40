"""``healthgym serve openenv`` and ``serve mcp``: for other programs' front doors."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from urllib.parse import urlsplit

from healthgym.cli.common import (
    Commands,
    add_environment_arguments,
    note,
    read_settings,
    read_token,
    write,
)

_OPEN = "Warning: this address can be reached from other machines, and nothing is encrypted."


def add_served(worlds: Commands) -> None:
    """Add what `healthgym serve` serves beside worlds."""
    openenv = worlds.add_parser("openenv", help="environments as an OpenEnv server")
    openenv.add_argument("ids", metavar="ID", nargs="+", help="environments; the first is default")
    openenv.add_argument(
        "--set", metavar="NAME=VALUE", action="append", default=[], dest="settings",
        help="argument of every environment; repeatable",
    )  # fmt: skip
    _add_address(openenv)
    openenv.add_argument("--record", metavar="FILE", help="append finished episodes to a file")
    openenv.set_defaults(run=serve_openenv)
    mcp = worlds.add_parser("mcp", help="episodes as a Model Context Protocol server")
    add_environment_arguments(mcp)
    mcp.add_argument(
        "--http", action="store_true", help="over streamable HTTP at /mcp (default: stdio)"
    )
    mcp.add_argument("--split", default="train", help="split of the tasks (default: train)")
    mcp.add_argument(
        "--first", type=int, default=0,
        help="index of the first session's task; each later session has the next (default: 0)",
    )  # fmt: skip
    _add_address(mcp)
    mcp.add_argument("--record", metavar="FILE", help="append finished episodes to a file")
    mcp.set_defaults(run=serve_mcp)


def _add_address(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--host", default="127.0.0.1", help="address (default: 127.0.0.1)")
    parser.add_argument("--port", type=int, default=8000, help="0 for a free one (default: 8000)")
    parser.add_argument(
        "--fd", type=int, metavar="N", help="an inherited socket that listens, in place of both"
    )
    parser.add_argument(
        "--token-file", metavar="FILE",
        help="file with a token that clients must send as 'Authorization: Bearer TOKEN'; needed "
        "for an address that others can reach",
    )  # fmt: skip
    parser.add_argument(
        "--allow-host", metavar="NAME", action="append", default=[],
        help="a further name by which clients may call the server; repeatable",
    )  # fmt: skip
    limits = parser.add_argument_group("limits")
    limits.add_argument("--sessions", type=int, default=2048, help="at a time (default: 2048)")
    limits.add_argument(
        "--message", type=int, default=1 << 20, help="largest message in bytes (default: 1048576)"
    )
    limits.add_argument(
        "--rate", type=float, default=200.0,
        help="requests of an address, or messages of a session, per second (default: 200)",
    )  # fmt: skip
    limits.add_argument(
        "--idle", type=float, default=1800.0,
        help="seconds after which an unused session is closed (default: 1800)",
    )  # fmt: skip


def serve_openenv(args: argparse.Namespace) -> int:
    """Serve environments to OpenEnv's clients until interrupted."""
    from healthgym.integrations.openenv import openenv_app
    from healthgym.integrations.serving import Limits, serve_app

    limits = Limits(
        sessions=args.sessions, message=args.message, rate=args.rate,
        burst=max(1, round(2 * args.rate)), idle=args.idle,
    )  # fmt: skip
    app = openenv_app(
        args.ids,
        env_kwargs=read_settings(args.settings),
        limits=limits,
        record=Path(args.record) if args.record else None,
    )
    serve_app(
        app,
        args.host,
        args.port,
        limits=limits,
        extra="openenv",
        token=read_token(args.token_file),
        names=args.allow_host,
        fd=args.fd,
        on_start=_told,
    )
    return 0


def serve_mcp(args: argparse.Namespace) -> int:
    """Serve episodes to a client of the Model Context Protocol."""
    from healthgym.integrations.mcp import McpFace, mcp_app, run_stdio
    from healthgym.integrations.serving import Limits, serve_app

    face = McpFace.of(
        args.id,
        read_settings(args.settings),
        split=args.split,
        first=args.first,
        record=Path(args.record) if args.record else None,
    )
    if not args.http:
        run_stdio(face)
        return 0
    limits = Limits(
        sessions=args.sessions, message=args.message, rate=args.rate,
        burst=max(1, round(2 * args.rate)), idle=args.idle,
    )  # fmt: skip
    serve_app(
        mcp_app(face, limits),
        args.host,
        args.port,
        limits=limits,
        extra="mcp",
        token=read_token(args.token_file),
        names=args.allow_host,
        fd=args.fd,
        on_start=lambda url: _told(f"{url}/mcp"),
    )
    return 0


def _told(url: str) -> None:
    from healthgym.worlds.fhir.doorkeeper import is_loopback

    write(url)
    sys.stdout.flush()
    if not is_loopback(urlsplit(url).hostname or ""):
        note(_OPEN)
    note("Serving until interrupted (Ctrl-C).")
