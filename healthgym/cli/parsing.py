"""How the commands read their arguments: defaults are shown, and a mistake is one line."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from difflib import get_close_matches
from typing import NoReturn

from healthgym.errors import ConfigurationError


class _Help(argparse.ArgumentDefaultsHelpFormatter):
    """Shows the default of each option that has one, unless its help says it already."""

    def _get_help_string(self, action: argparse.Action) -> str | None:
        told = action.help or ""
        if action.default in (None, "") or action.default is False or "default" in told:
            return action.help
        if isinstance(action.default, list | tuple | dict):
            return action.help
        return super()._get_help_string(action)


class Parser(argparse.ArgumentParser):
    """Reads a command line; those of its commands are of this class, too."""

    def __init__(self, *args: object, **options: object) -> None:
        options.setdefault("formatter_class", _Help)
        super().__init__(*args, **options)  # type: ignore[arg-type]

    def error(self, message: str) -> NoReturn:
        """Say what is wrong in a line, and where the rest is told."""
        self.exit(2, f"{self.prog}: {message}; see `{self.prog} --help`.\n")


def require_command(word: str, commands: Iterable[str]) -> None:
    """Return if there is a command of that name.

    Raises:
        ConfigurationError: If there is none; it says which was probably meant.
    """
    names = list(commands)
    if word in names:
        return
    near = get_close_matches(word, names, 1)
    meant = f"did you mean {near[0]}?" if near else f"there are {', '.join(names)}."
    raise ConfigurationError(f"There is no command {word[:40]!r}; {meant}")
