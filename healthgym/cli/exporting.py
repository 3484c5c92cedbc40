"""``healthgym export``: tasks in other programs' formats."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from healthgym.cli.common import Commands, add_environment_arguments, note, read_settings, write
from healthgym.core.borders import JsonDict
from healthgym.core.writing import require_plain, writable, write_whole
from healthgym.errors import ConfigurationError


def add_commands(commands: Commands) -> None:
    """Add the commands of this module."""
    parser = commands.add_parser("export", help="write tasks in other programs' formats")
    formats = parser.add_subparsers(title="format", metavar="FORMAT", required=True)
    harbor = formats.add_parser("harbor", help="a folder per task, as Harbor runs them")
    add_environment_arguments(harbor)
    harbor.add_argument("--out", required=True, type=Path, metavar="DIR", help="folder to write to")
    _add_tasks(harbor)
    harbor.add_argument(
        "--install", metavar="WHAT", default="",
        help="what pip installs in the images: a requirement, or the path of a wheel (default: "
        "this version of healthgym)",
    )  # fmt: skip
    harbor.add_argument(
        "--separate", action="store_true", help="a container of its own for the verifier"
    )
    harbor.set_defaults(run=export_to_harbor)
    verifiers = formats.add_parser("verifiers", help="a package by which verifiers finds the tasks")
    add_environment_arguments(verifiers)
    verifiers.add_argument(
        "--out", required=True, type=Path, metavar="DIR", help="folder to write to"
    )
    verifiers.set_defaults(run=export_to_verifiers)
    nemo = formats.add_parser("nemo-gym", help="a resources server's folder for NeMo Gym")
    add_environment_arguments(nemo)
    nemo.add_argument("--out", required=True, type=Path, metavar="DIR", help="folder to write to")
    _add_tasks(nemo)
    nemo.set_defaults(run=export_to_nemo_gym)
    openenv = formats.add_parser("openenv", help="a package that `openenv validate` reads")
    add_environment_arguments(openenv)
    openenv.add_argument(
        "--out", required=True, type=Path, metavar="DIR", help="folder to write to"
    )
    openenv.add_argument("--split", default="test", help="split of the tasks (default: test)")
    openenv.add_argument(
        "--tasks", type=int, default=5, help="tasks that are brought along (default: 5)"
    )
    openenv.add_argument(
        "--validate", metavar="FILE",
        help="validate the package, and write OpenEnv's report to a file; - for the terminal",
    )  # fmt: skip
    openenv.add_argument(
        "--card", metavar="FILE",
        help="cards, as `card --json` writes them, that answer an operator's checks",
    )  # fmt: skip
    openenv.set_defaults(run=export_to_openenv)


def _add_tasks(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--split", default="test", help="split of the tasks (default: test)")
    parser.add_argument("--tasks", type=int, default=10, help="how many (default: 10)")
    parser.add_argument("--first", type=int, default=0, help="index of the first (default: 0)")


def _indices(args: argparse.Namespace) -> range:
    if args.tasks < 1 or args.first < 0:
        raise ConfigurationError("--tasks takes a number from 1 on, --first one from 0 on.")
    return range(args.first, args.first + args.tasks)


def export_to_harbor(args: argparse.Namespace) -> int:
    """Write tasks as Harbor's folders, and their paths to standard output."""
    from healthgym.integrations.harbor import HarborExport, export_harbor

    export = HarborExport(
        args.id, read_settings(args.settings), args.split, args.install, args.separate
    )
    folders = export_harbor(export, args.out, _indices(args))
    for folder in folders:
        write(str(folder))
    note(f"{len(folders)} tasks: harbor run --path {args.out} --agent oracle")
    return 0


def export_to_verifiers(args: argparse.Namespace) -> int:
    """Write a package with an environment's taskset, and its path to standard output."""
    from healthgym.integrations.hub import export_verifiers

    folder = export_verifiers(args.id, args.out, read_settings(args.settings))
    write(str(folder))
    note(f"pip install {folder} && vf-eval {folder.name} --env.taskset.tasks 10")
    return 0


def export_to_nemo_gym(args: argparse.Namespace) -> int:
    """Write a resources server's folder, and its path to standard output."""
    from healthgym.integrations.hub import export_nemo_gym

    folder = export_nemo_gym(
        args.id, args.out, _indices(args), read_settings(args.settings), split=args.split
    )
    write(str(folder))
    note("NeMo Gym looks for it in resources_servers/ of its checkout.")
    return 0


def export_to_openenv(args: argparse.Namespace) -> int:
    """Write a package for OpenEnv, validate it if asked to, and print its path."""
    from healthgym.integrations.openenv_checks.package import OpenEnvExport, export_openenv

    card = None if args.card is None else _card(args.card, args.id)
    if args.validate not in (None, "-"):
        writable(args.validate)
    folder = export_openenv(
        OpenEnvExport(args.id, read_settings(args.settings), args.split, args.tasks), args.out
    )
    if args.validate is None:
        write(str(folder))
        note(f"openenv validate {folder} --level static")
        return 0
    from healthgym.integrations.openenv_checks import validate

    report = validate(folder, card)
    text = report.model_dump_json(indent=1) + "\n"
    if args.validate == "-":
        write(text)
    else:
        write_whole(args.validate, text)
        write(str(folder))
    for result in report.results:
        told = "; ".join(result.evidence[:1]) if result.status.value != "pass" else ""
        note(f"{result.status.value:<5} {result.check_id}  {told}".rstrip())
    note(f"verdict: {report.verdict.value}")
    return 2 if report.verdict.value == "fail" else 0


def _card(path: str, env_id: str) -> JsonDict:
    wanted = env_id.rpartition(":")[2]
    try:
        told = json.loads(require_plain(path).read_text("utf-8"))
        return next(dict(card) for card in told["cards"] if card["env_id"] == wanted)
    except (ValueError, KeyError, TypeError):
        raise ConfigurationError(f"{path} holds no cards, as `card --json` writes them.") from None
    except StopIteration:
        raise ConfigurationError(f"{path} has no card of {wanted}.") from None
