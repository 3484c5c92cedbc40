"""Code in a box: Python run by Monty, in a worker process that has nothing of ours.

Monty is an interpreter of its own, written for code by language models. It knows no file, network,
process or environment of the host: what code can reach are the functions it is given. It bounds
time, memory and recursion itself, and the worker that runs it can crash without harm. What code
makes is looked at in a second process, for to look at it may take for ever, too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from importlib.util import find_spec
from inspect import signature

from healthgym.core.borders import Json, JsonDict, JsonObject
from healthgym.errors import ToolError
from healthgym.worlds.workspace.allowance import allowed
from healthgym.worlds.workspace.optional import require
from healthgym.worlds.workspace.python_process import run_code
from healthgym.worlds.workspace.python_worker import counts_time
from healthgym.worlds.workspace.sql_process import PATIENCE

HostFunction = Callable[..., object]


@dataclass(frozen=True, slots=True)
class CodeLimits:
    """Bounds of a run.

    Attributes:
        seconds: Time of one processor the code itself may take; that of the functions it calls is
            bounded by them. On the clock it may take ten times that, so that a busy machine
            refuses what an idle one does.
        memory: Memory it may use, in bytes.
        output: Characters it may print; what is beyond is dropped.
        calls: Host functions it may call.
    """

    seconds: float = 10.0
    memory: int = 256 << 20
    output: int = 10_000
    calls: int = 200


@dataclass(frozen=True, slots=True)
class CodeResult:
    """What came of a run.

    Attributes:
        output: What was printed.
        value: The value of the last expression, as text; empty if there is none.
        error: Why the run ended early; empty if it did not.
        late: Whether it was ended by a clock, which another machine need not do.
    """

    output: str
    value: str = ""
    error: str = ""
    late: bool = False


def python_available() -> bool:
    """Return whether the sandbox is installed."""
    return find_spec("pydantic_monty") is not None


class SandboxedPython:
    """Runs snippets of Python. Each run starts afresh.

    Args:
        limits: Bounds of a run.
    """

    def __init__(self, limits: CodeLimits | None = None) -> None:
        self.limits = limits or CodeLimits()

    def run(
        self, code: str, functions: Mapping[str, HostFunction], *, now: datetime, seed: int = 0
    ) -> CodeResult:
        """Run code that may call the given functions.

        Args:
            code: The source.
            functions: What it may call, by name. A :class:`ToolError`, and arguments that a
                function does not take, become a ``ValueError`` in the sandbox; any other error is
                ours and is raised here.
            now: What the sandbox's clock shows.
            seed: Seed of its random numbers.

        Raises:
            MissingDependencyError: If the sandbox is not installed.
            InfrastructureError: If it does not start.
            Exception: If a host function fails.
        """
        require("pydantic_monty")
        limits = replace(self.limits, seconds=allowed(self.limits.seconds))
        faults: list[Exception] = []
        request: JsonDict = {
            "code": code.encode("utf-8", "replace").decode(),
            "functions": list(functions),
            "policy": {"datetime": now, "sleep": "zero", "random_start": {"seed": seed}},
            "bounds": {
                "max_feed_duration_secs": limits.seconds * (PATIENCE if counts_time() else 1),
                "max_memory": limits.memory,
                "max_suspensions": limits.calls,
                "max_recursion_depth": 400,
            },
            "seconds": limits.seconds,
            "output": limits.output,
        }

        def answer(call: JsonDict) -> JsonDict:
            return _answered(faults, functions, call)

        found = run_code(request, answer, limits.seconds)
        if faults:
            raise faults[0]
        output, value, error = (str(found.get(part, "")) for part in ("output", "value", "error"))
        return CodeResult(output, value, error, late=bool(found.get("late")))


def call_host(name: str, function: HostFunction, args: Sequence[Json], kwargs: JsonObject) -> Json:
    """Call a host function for code in a box.

    Raises:
        ToolError: If the code gave arguments that the function does not take or accept.
        Exception: If the failure is ours.
    """
    try:
        signature(function).bind(*args, **kwargs)
    except TypeError as error:
        raise ToolError(f"{name}(): {error}") from None
    return function(*args, **kwargs)


def _answered(
    faults: list[Exception], functions: Mapping[str, HostFunction], call: JsonDict
) -> JsonDict:
    """Call a host function; let the sandbox see the agent's mistakes, and us our own."""
    name = str(call["call"])
    try:
        return {"value": call_host(name, functions[name], call["args"], call["kwargs"])}
    except ToolError as error:
        return {"error": str(error), "theirs": True}
    except Exception as error:
        # Ours, of whatever kind. It must not pass through code that could catch it: it is raised
        # once that is over.
        faults.append(error)
        return {"error": "This function is out of order.", "theirs": False}
