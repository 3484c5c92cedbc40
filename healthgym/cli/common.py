"""What the commands share."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

from healthgym.core.borders import JsonDict
from healthgym.core.writing import write_whole
from healthgym.errors import ConfigurationError
from healthgym.presentation.terminal import shown
from healthgym.registration import read_settings as read_settings

Command: TypeAlias = Callable[[argparse.Namespace], int]
Commands: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"


def add_environment_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what chooses and configures an environment: ID and ``--set``."""
    parser.add_argument("id", metavar="ID", help="id of the environment; see `healthgym envs`")
    parser.add_argument(
        "--set",
        metavar="NAME=VALUE",
        action="append",
        default=[],
        dest="settings",
        help="argument of the environment, the value as JSON or text; repeatable",
    )


def read_token(path: str | None) -> str:
    """Return the token that a file holds; empty if none is named.

    Raises:
        ConfigurationError: If the file is empty.
    """
    if path is None:
        return ""
    token = Path(path).read_text(encoding="utf-8", errors="replace").strip()
    if not token:
        raise ConfigurationError(f"--token-file: {path} is empty.")
    return token


def checkout() -> Path | None:
    """Return the root of the source checkout this package runs from; None if it is installed."""
    root = Path(__file__).resolve().parents[2]
    # An installed package may lie beside somebody else's folder named benchmarks.
    return root if (root / "pyproject.toml").is_file() else None


def write(text: str) -> None:
    """Write text to standard output, with a line end; nothing in it drives the terminal."""
    text = shown(text)
    sys.stdout.write(text if text.endswith("\n") else f"{text}\n")


def write_json(place: str, value: JsonDict) -> int:
    """Write a value as JSON where ``--json`` says, and return the exit status.

    Args:
        place: A file, or - for standard output.
        value: The value.
    """
    text = json.dumps(value, indent=1) + "\n"
    if place == "-":
        write(text)
    else:
        write_whole(place, text)
    return 0


def note(text: str) -> None:
    """Write a line to standard error: progress, and what is not the result."""
    sys.stderr.write(f"{shown(text)}\n")
    sys.stderr.flush()
