"""``healthgym session``: an episode on the command line, one call at a time."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from healthgym.cli.common import (
    Commands,
    add_environment_arguments,
    note,
    read_settings,
    write,
    write_json,
)
from healthgym.core.images import fingerprint
from healthgym.core.trajectory import picture_folder
from healthgym.core.writing import write_whole
from healthgym.errors import ConfigurationError

if TYPE_CHECKING:
    from healthgym.integrations.sessions import Answer, KeptSession

#: Longest arguments read from standard input, in characters; the engine's own bound is below it.
_MOST = 1 << 20
_OVER = "(The episode is over.)"


def add_commands(commands: Commands) -> None:
    """Add the commands of this module."""
    parser = commands.add_parser(
        "session",
        help="an episode kept in files, one call at a time",
        description="An episode for whoever works from a shell: `new` writes its task to a file, "
        "`read` tells what is asked, `call` makes a call, and `score` plays all of them again and "
        "judges them.",
    )
    verbs = parser.add_subparsers(title="what", metavar="WHAT", required=True)
    new = verbs.add_parser("new", help="write a task's file")
    new.add_argument("file", metavar="FILE", type=Path, help="the file to write")
    add_environment_arguments(new)
    new.add_argument("--split", default="test", help="split of the task (default: test)")
    new.add_argument("--index", type=int, default=0, help="its index there (default: 0)")
    new.set_defaults(run=write_task)
    read = verbs.add_parser("read", help="tell what is asked")
    _add_files(read)
    read.set_defaults(run=lambda args: _shown(_session(args).read()))
    tools = verbs.add_parser("tools", help="list the tools, or describe one")
    _add_files(tools)
    tools.add_argument("name", metavar="NAME", nargs="?", help="a tool")
    tools.set_defaults(run=show_tools)
    call = verbs.add_parser("call", help="make a call; the exit status is 1 if it was refused")
    _add_files(call)
    call.add_argument("name", metavar="NAME", help="the tool")
    call.add_argument(
        "arguments", metavar="JSON", nargs="?", default="{}",
        help="its arguments, a JSON object; - reads them from standard input",
    )  # fmt: skip
    call.add_argument("--pictures", metavar="DIR", help="folder for pictures that are shown")
    call.set_defaults(run=make_call)
    score = verbs.add_parser("score", help="play the calls again and judge them")
    _add_files(score)
    score.add_argument("--reward", metavar="FILE", help="write 1 or 0, the success, to a file")
    score.add_argument("--json", metavar="FILE", help="write the verdict; - for the terminal")
    score.set_defaults(run=tell_score)


def _add_files(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", type=Path, help="the task's file")
    parser.add_argument(
        "--actions", metavar="FILE", type=Path,
        help="where calls are kept (default: beside the task, as FILE.actions.jsonl)",
    )  # fmt: skip


def _session(args: argparse.Namespace) -> KeptSession:
    from healthgym.integrations.sessions import KeptSession, SessionTask

    return KeptSession(SessionTask.read(args.file), _record(args))


def _record(args: argparse.Namespace) -> Path:
    found: Path = args.actions or args.file.with_name(f"{args.file.stem}.actions.jsonl")
    return found


def write_task(args: argparse.Namespace) -> int:
    """Write a task's file; one that is there already stays."""
    from healthgym.integrations.sessions import SessionTask

    if args.file.exists():
        raise ConfigurationError(f"{args.file} is there already; remove it, or name another file.")
    settings = read_settings(args.settings)
    task = SessionTask.of(args.id, settings, split=args.split, index=args.index)
    task.write(args.file)
    return _shown(task.task_id)


def _shown(text: str) -> int:
    write(text)
    return 0


def show_tools(args: argparse.Namespace) -> int:
    """Write how each tool is called, or the manual of one."""
    session = _session(args)
    if args.name is None:
        return _shown("\n".join(session.usages()))
    by_name = {tool["function"]["name"]: tool for tool in session.tools()}
    if args.name not in by_name:
        raise ConfigurationError(f"No tool {args.name!r}; there are {', '.join(by_name)}.")
    return _shown(json.dumps(by_name[args.name]["function"], indent=1))


def make_call(args: argparse.Namespace) -> int:
    """Make a call and write its answer."""
    arguments = sys.stdin.read(_MOST) if args.arguments == "-" else args.arguments
    answer = _session(args).call(args.name, arguments)
    write(answer.text)
    for line in _pictures(args, answer):
        write(line)
    if answer.over:
        write(_OVER)
    return int(answer.failed)


def _pictures(args: argparse.Namespace, answer: Answer) -> list[str]:
    if not answer.images:
        return []
    from healthgym.presentation.pictures import png

    folder = Path(args.pictures) if args.pictures else picture_folder(_record(args))
    folder.mkdir(parents=True, exist_ok=True)
    paths = [folder / f"{fingerprint(image)}.png" for image in answer.images]
    for path, image in zip(paths, answer.images, strict=True):
        path.write_bytes(png(image))
    return [f"(Picture: {path})" for path in paths]


def tell_score(args: argparse.Namespace) -> int:
    """Judge what was done, and write success, reward and verdict."""
    found = _session(args).score()
    if args.reward:
        write_whole(args.reward, f"{int(found['success'])}\n")
    if args.json is not None:
        return write_json(args.json, {"schema": "healthgym.session_score/1", **found})
    note(f"{found['task_id']}: {found['calls']} calls")
    for profile, verdict in found["verdict"].items():
        failed = [each["name"] for each in verdict["checks"] if not each["passed"]]
        note(f"{profile}: {', '.join(failed) + ' failed' if failed else 'every check passed'}")
    return _shown(f"success: {'yes' if found['success'] else 'no'}, reward: {found['reward']:g}")
