"""The command line. An error of ours or of the caller is one line on stderr and exit status 2."""

from __future__ import annotations

import argparse
import contextlib
import os
import sys
from collections.abc import Sequence

from healthgym.cli import (
    agreeing,
    card,
    completion,
    delegates,
    environments,
    evaluating,
    exporting,
    leaderboard,
    new,
    play,
    records,
    rescoring,
    sessions,
    suites,
    view,
)
from healthgym.cli.common import Command, note
from healthgym.cli.parsing import Parser, require_command
from healthgym.errors import HealthGymError
from healthgym.version import __version__

_MODULES = (
    environments,
    play,
    evaluating,
    agreeing,
    suites,
    card,
    leaderboard,
    records,
    rescoring,
    sessions,
    view,
    exporting,
    new,
    delegates,
)


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command and return its exit status.

    Args:
        argv: The arguments; those of the process if None.
    """
    for stream in (sys.stdout, sys.stderr):
        # A terminal that cannot show a character shows a question mark instead of a traceback.
        with contextlib.suppress(AttributeError):
            stream.reconfigure(errors="replace")  # type: ignore[union-attr]
    try:
        return _run(list(sys.argv[1:] if argv is None else argv))
    except BrokenPipeError:
        # The reader went away (`| head`); keep the interpreter from writing to it once more.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except KeyboardInterrupt:
        sys.stderr.write("\nhealthgym: interrupted\n")
        return 130
    except (HealthGymError, OSError) as error:
        note(f"healthgym: {' '.join(_reason(error).split())}")
        return 2


def _reason(error: Exception) -> str:
    """Return why a command failed; of what the system refused, without its number."""
    if isinstance(error, OSError) and error.filename is not None:
        return f"{error.filename}: {error.strerror}."
    return str(error)


def _run(argv: list[str]) -> int:
    if argv and argv[0] in delegates.PASSED_ON:
        return delegates.pass_on(argv[0], argv[1:])
    parser = _parser()
    if argv and not argv[0].startswith("-"):
        require_command(argv[0], _commands_of(parser))
    args = parser.parse_args(argv)
    command: Command | None = getattr(args, "run", None)
    if command is None:
        parser.print_help()
        return 0
    status = command(args)
    sys.stdout.flush()
    return status


def _parser() -> argparse.ArgumentParser:
    parser: argparse.ArgumentParser = Parser(
        prog="healthgym", description="Reinforcement-learning environments for healthcare agents."
    )
    parser.add_argument("--version", action="version", version=f"healthgym {__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND")
    for module in _MODULES:
        module.add_commands(commands)
    completion.add_commands(commands, _parser)
    return parser


def _commands_of(parser: argparse.ArgumentParser) -> list[str]:
    """Return the names of the commands; argparse has no other way to ask."""
    found = (each for each in parser._actions if isinstance(each, argparse._SubParsersAction))
    return [name for each in found for name in each.choices]
