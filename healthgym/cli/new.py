"""``healthgym new``: a working environment to start from, outside the package."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Mapping
from importlib.resources import files
from importlib.util import find_spec
from keyword import iskeyword
from pathlib import Path
from string import Template

from healthgym.cli.common import Commands, note, write
from healthgym.errors import ConfigurationError

_CAMEL = re.compile(r"[A-Z][A-Za-z0-9]*")
_SNAKE = re.compile(r"[a-z][a-z0-9]*(_[a-z0-9]+)*")
#: Between the words of a name such as ``ICUHandover2``.
_SEAM = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
#: The templates, and what the files made of them are called.
_FILES: Mapping[str, str] = {
    "environment.py": "$module.py",
    "test_environment.py": "test_$module.py",
    "pyproject.toml": "pyproject.toml",
}


def add_commands(commands: Commands) -> None:
    """Add the commands of this module."""
    new = commands.add_parser("new", help="write a working environment to start from")
    new.add_argument("name", metavar="NAME", help="its name: WardRounds, or ward_rounds")
    new.add_argument(
        "--folder", metavar="DIR", help="where to write it (default: a folder of its name, here)"
    )
    new.set_defaults(run=write_environment)


def write_environment(args: argparse.Namespace) -> int:
    """Write the files, and say what to do with them."""
    names = names_of(args.name)
    folder = Path(args.folder or names["module"])
    for path in create(names, folder):
        write(str(path))
    note(
        f"Next: `pytest {folder}` runs every check of healthgym.testing on it; `pip install -e "
        f"{folder}` lets you `healthgym play {names['module']}:{names['name']}-v0`."
    )
    return 0


def names_of(name: str) -> dict[str, str]:
    """Return a name in the forms that the templates use.

    Args:
        name: In camel case or in snake case.

    Raises:
        ConfigurationError: If it is neither, or another module has it.
    """
    if _CAMEL.fullmatch(name):
        words = _SEAM.sub(" ", name).split()
    elif _SNAKE.fullmatch(name):
        words = name.split("_")
        name = "".join(word.capitalize() for word in words)
    else:
        raise ConfigurationError(
            f"{name!r} names no environment; write it as WardRounds or as ward_rounds."
        )
    lower = [word.lower() for word in words]
    module = "_".join(lower)
    if iskeyword(module) or module in sys.stdlib_module_names or _exists(module):
        raise ConfigurationError(f"There is a module {module!r} already; choose another name.")
    title = " ".join(lower)
    return {
        "name": name,
        "module": module,
        "project": "-".join(lower),
        "title": title[0].upper() + title[1:],
    }


def _exists(module: str) -> bool:
    spec = find_spec(module)
    # A folder of that name, without code, is nobody's module.
    return spec is not None and spec.origin is not None


def create(names: Mapping[str, str], folder: Path) -> list[Path]:
    """Write the files of an environment into a folder, and return their paths.

    Args:
        names: What :func:`names_of` returned.
        folder: Where to; it is made if it does not exist.

    Raises:
        ConfigurationError: If one of the files is there already; nothing is written then.
    """
    source = files("healthgym.cli") / "skeleton"
    texts = {
        folder / Template(path).substitute(names): Template(
            (source / f"{template}.template").read_text(encoding="utf-8")
        ).substitute(names)
        for template, path in _FILES.items()
    }
    there = [str(path) for path in texts if path.exists()]
    if there:
        raise ConfigurationError(f"{', '.join(there)} exists already, and is not overwritten.")
    folder.mkdir(parents=True, exist_ok=True)
    for path, text in texts.items():
        path.write_text(text, encoding="utf-8")
    return list(texts)
