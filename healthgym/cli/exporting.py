"""``healthgym export``: tasks in other programs' formats."""

from __future__ import annotations

import argparse
from pathlib import Path

from healthgym.cli.common import Commands, add_environment_arguments, note, read_settings, write
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
    note("Move it into resources_servers/ of a NeMo Gym checkout.")
    return 0
