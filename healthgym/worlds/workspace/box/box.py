"""Runs code in a box."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import replace
from datetime import UTC, datetime

from healthgym.worlds.workspace.allowance import allowed
from healthgym.worlds.workspace.box.command import NOBODY, BoxLimits, Identity
from healthgym.worlds.workspace.box.running import BoxRun, Running
from healthgym.worlds.workspace.box.runtime import Runtime
from healthgym.worlds.workspace.python import HostFunction
from healthgym.worlds.workspace.tables import Table

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class Box:
    """Runs programs, each in a container of its own.

    Args:
        bwrap: Path of bubblewrap.
        runtime: The interpreter's files.
        identity: How boxed code becomes nobody.
        limits: Bounds of a run.
    """

    def __init__(
        self, bwrap: str, runtime: Runtime, identity: Identity, limits: BoxLimits | None = None
    ) -> None:
        self.bwrap = bwrap
        self.runtime = runtime
        self.identity = identity
        self.limits = limits or BoxLimits()

    def run(
        self,
        code: str,
        functions: Mapping[str, HostFunction],
        *,
        tables: Mapping[str, Table] | None = None,
        now: datetime = _EPOCH,
        seed: int = 0,
        wants_table: bool = False,
    ) -> BoxRun:
        """Run code that may read some tables and call the given functions.

        Args:
            code: The source.
            functions: What it may call, by name, with JSON arguments. A :class:`ToolError`, and
                arguments that a function does not take, become a ``ValueError`` in the box; any
                other error is ours and is raised here.
            tables: The tables it may read, by name.
            now: What its clocks show at first.
            seed: Seed of its random numbers.
            wants_table: Whether the variable ``result`` is to be handed back.

        Raises:
            InfrastructureError: If the box does not start, or a host function fails.
        """
        limits = replace(self.limits, seconds=allowed(self.limits.seconds))
        request = {
            "code": code,
            "functions": sorted(functions),
            "limits": limits.rlimits(),
            "now": now.timestamp(),
            "seed": seed,
            "tables": sorted(tables or {}),
            "uid": NOBODY if self.identity is Identity.DROPPED else 0,
            "wants_table": wants_table,
        }
        with ExitStack() as stack:
            running = Running(limits, dict(functions), dict(tables or {}), stack)
            running.start(self.bwrap, self.runtime, self.identity)
            running.send(request)
            return running.serve(wants_table)
