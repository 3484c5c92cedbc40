"""``healthgym envs`` and ``healthgym show``: what there is."""

from __future__ import annotations

import argparse
import inspect
import textwrap
from pathlib import Path

from healthgym.cli.common import (
    Commands,
    add_environment_arguments,
    checkout,
    note,
    read_settings,
    write,
    write_json,
)
from healthgym.registration import make_health_env


def add_commands(commands: Commands) -> None:
    """Add the commands of this module."""
    envs = commands.add_parser("envs", help="list the environments")
    envs.add_argument(
        "--markdown", action="store_true", help="as an index in Markdown, as ENVIRONMENTS.md is"
    )
    envs.add_argument(
        "--pages", type=Path, metavar="DIR", help="write a page for each into a folder instead"
    )
    envs.add_argument("--json", metavar="FILE", help="write ids and titles; - for the terminal")
    envs.set_defaults(run=list_environments)
    show = commands.add_parser("show", help="describe an environment, with an example task")
    add_environment_arguments(show)
    show.add_argument("--split", default="train", help="split of the example (default: train)")
    show.add_argument("--index", type=int, default=0, help="index of the example (default: 0)")
    show.add_argument("--json", metavar="FILE", help="write it as JSON; - for the terminal")
    show.set_defaults(run=show_environment)


def list_environments(args: argparse.Namespace) -> int:
    """Write the registered ids, their index, or their pages."""
    from healthgym.cli import catalogue
    from healthgym.registration import ARENAS, TABLE

    if args.markdown:
        write(catalogue.index(TABLE).rstrip("\n"))
        return 0
    if args.pages:
        root = checkout()
        if root is None:
            note(
                "The scores of the baselines are published in a source checkout only; "
                "these pages go without them."
            )
        args.pages.mkdir(parents=True, exist_ok=True)
        results = root / "benchmarks" / "results" if root else None
        for slug, _, text in catalogue.pages(TABLE, results):
            (args.pages / f"{slug}.md").write_text(text, encoding="utf-8")
        return 0
    rows = (*TABLE, *ARENAS)
    if args.json is not None:
        listed = [{"id": row.id, "title": row.title, "arena": row in ARENAS} for row in rows]
        return write_json(args.json, {"schema": "healthgym.envs/1", "environments": listed})
    width = max(len(row.id) for row in rows)
    for row in rows:
        write(f"{row.id:<{width}}  {row.title}".rstrip())
    return 0


def show_environment(args: argparse.Namespace) -> int:
    """Write an environment's documentation, its tools and one of its tasks."""
    env = make_health_env(args.id, read_settings(args.settings))
    instruction, info = env.reset(options={"split": args.split, "index": args.index})
    if args.json is not None:
        return write_json(
            args.json,
            {
                "schema": "healthgym.show/1",
                "id": args.id.rpartition(":")[2],
                "documentation": inspect.getdoc(type(env)) or "",
                "task_id": info["task_id"],
                "kind": info["kind"],
                "instruction": instruction,
                "tools": info["tools"],
                "turns": env.episode.turns_left(),
                "data": env.family.of_data(),
            },
        )
    parts = [args.id.rpartition(":")[2], inspect.getdoc(type(env)) or ""]
    parts.append("Tools of the example task:")
    for spec in env.episode.seat().catalog.specs:
        manual = textwrap.indent(spec.description, "    ")
        parts.append(f"  {spec.usage}  [{spec.kind}]\n{manual}")
    # At the end of so long a page, where a terminal stops.
    parts += [told] if (told := env.family.of_data()) else []
    parts.append(f"Example task {info['task_id']} ({info['kind']}):")
    parts.append(textwrap.indent(instruction, "  "))
    write("\n\n".join(parts))
    return 0
