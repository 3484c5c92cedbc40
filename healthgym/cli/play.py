"""``healthgym play``: a person acts in a terminal, or a script through a pipe."""

from __future__ import annotations

import argparse
import contextlib
import json
import re
import sys
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from healthgym.cli.common import (
    Commands,
    add_environment_arguments,
    read_settings,
    write,
)
from healthgym.core.borders import Info, JsonObject, Options
from healthgym.core.catalog import ToolCatalog
from healthgym.core.env import HealthEnv
from healthgym.core.images import Image
from healthgym.core.tool import ToolCall
from healthgym.errors import ToolError
from healthgym.presentation.pictures import png
from healthgym.registration import make_health_env

_ASSIGNMENT = re.compile(r"(?:^|\s)([A-Za-z_]\w*)=")
_HELP = """\
TOOL NAME=VALUE ...   call a tool; a value is JSON or text, up to the next NAME=
TOOL VALUE            the same, with the tool's first argument
{"name": ...}         a call as a model writes it
help [TOOL]           the tools, or one of them in full
task                  the instruction once more
quit                  leave"""


def add_commands(commands: Commands) -> None:
    """Add the commands of this module."""
    parser = commands.add_parser("play", help="act in a terminal yourself")
    add_environment_arguments(parser)
    chosen = parser.add_mutually_exclusive_group()
    chosen.add_argument("--seed", type=int, default=0, help="seed that draws the task")
    chosen.add_argument("--index", type=int, help="index of the task")
    chosen.add_argument("--task", help="id of the task: family/split/index")
    parser.add_argument("--split", default="train", help="split of the task (default: train)")
    parser.add_argument(
        "--pictures", metavar="DIR", help="folder for the pictures shown (default: a new one)"
    )
    parser.set_defaults(run=play)


def play(args: argparse.Namespace) -> int:
    """Play one episode with what is typed."""
    env = make_health_env(args.id, read_settings(args.settings))
    options: Options = {"split": args.split}
    if args.index is not None:
        options["index"] = args.index
    if args.task is not None:
        options["task_id"] = args.task
    instruction, info = env.reset(seed=args.seed, options=options)
    catalog = env.episode.seat().catalog
    write(f"Task {info['task_id']} ({info['kind']}), {env.episode.turns_left()} calls.\n")
    write(f"{instruction}\n")
    write(f"{_usages(catalog)}\n\nType help for more, quit to leave.")
    over, shown = False, PictureFolder(args.pictures)
    while not over:
        line = _read()
        if line is None or line == "quit":
            write("Left before the end; nothing was scored.")
            return 0
        if line == "task":
            write(instruction)
        elif line == "help" or line.startswith("help "):
            write(_help(catalog, line[4:].strip()))
        elif line:
            observation, _, terminated, truncated, info = env.step(read_line(line, catalog))
            write(observation)
            for told in shown.keep(info.get("images", ())):
                write(told)
            over = terminated or truncated
    write(_outcome(env, info))
    return 0


class PictureFolder:
    """Numbers the pictures of an episode and keeps them as PNG files, for a viewer beside it.

    Args:
        folder: Where to; made with the first picture, in the system's temporary folder if None.
    """

    def __init__(self, folder: str | None = None) -> None:
        self._folder = None if folder is None else Path(folder)
        self._count = 0

    def keep(self, images: Iterable[Image]) -> Iterator[str]:
        """Write pictures and yield a line about each."""
        for image in images:
            if self._folder is None:
                self._folder = Path(tempfile.mkdtemp(prefix="healthgym-"))
            self._folder.mkdir(parents=True, exist_ok=True)
            self._count += 1
            path = self._folder / f"{self._count:03}.png"
            path.write_bytes(png(image))
            yield f"[picture {self._count}, {image.shape[1]} x {image.shape[0]}: {path}]"


def _read() -> str | None:
    """Return the next line; None at the end of the input."""
    if sys.stdin.isatty():
        with contextlib.suppress(ImportError):
            import readline  # noqa: F401 - gives input() its history and line editing
        try:
            return input("\n> ").strip()
        except EOFError:
            return None
    line = sys.stdin.readline()
    if not line:
        return None
    write(f"\n> {line.strip()}")
    return line.strip()


def read_line(line: str, catalog: ToolCatalog) -> ToolCall | str:
    """Return what a line asks for: a call in the short form, or the line as a model's text.

    Values are read by the tool's schema: where only text fits, digits stay text.

    Args:
        line: ``TOOL NAME=VALUE ...``, ``TOOL VALUE``, or JSON.
        catalog: The tools.
    """
    name, _, rest = line.partition(" ")
    try:
        spec, _ = catalog.resolve(name)
    except ToolError:
        # Not JSON, so a mistyped tool; the engine says which there are.
        return line if line.startswith(("{", "[", "<", "`")) else ToolCall(name)
    properties: JsonObject = spec.parameters["properties"]
    rest = rest.strip()
    names = [match for match in _ASSIGNMENT.finditer(rest) if match[1] in properties]
    if not names:
        first = next(iter(properties), "value")
        schema = properties.get(first, {})
        return ToolCall(spec.name, {first: _value(rest, schema)} if rest else {})
    arguments = {}
    for match, following in zip(names, [*names[1:], None], strict=True):
        end = following.start() if following else len(rest)
        text = rest[match.end() : end].strip()
        arguments[match[1]] = _value(text, properties[match[1]])
    return ToolCall(spec.name, arguments)


def _value(text: str, schema: JsonObject) -> Any:
    quoted = len(text) > 1 and text[0] == text[-1] == '"'
    if schema.get("type") == "string" and not quoted:
        return text
    try:
        return json.loads(text)
    except ValueError:
        return text


def _usages(catalog: ToolCatalog) -> str:
    return "\n".join(f"  {spec.usage}  [{spec.kind}]" for spec in catalog.specs)


def _help(catalog: ToolCatalog, name: str) -> str:
    if not name:
        return f"{_HELP}\n\n{_usages(catalog)}"
    try:
        spec, _ = catalog.resolve(name)
    except ToolError as error:
        return str(error)
    lines = [f"{spec.usage}  [{spec.kind}]", spec.description]
    for argument, schema in spec.parameters["properties"].items():
        lines.append(f"  {argument}: {schema['description']}")
    return "\n".join(lines)


def _outcome(env: HealthEnv, info: Info) -> str:
    lines = [f"\nReward {env.episode.total_reward():.2f}"]
    for profile, verdict in info["verdict"].items():
        lines.append(f"{profile}: {'success' if verdict['success'] else 'failure'}")
        for check in verdict["checks"]:
            detail = f" ({check['detail']})" if check["detail"] else ""
            mark = "x" if check["passed"] else " "
            lines.append(f"  [{mark}] {check['name']}: {check['requirement']}{detail}")
    return "\n".join(lines)
