"""``healthgym suite``: several environments scored as their source publishes them."""

from __future__ import annotations

import argparse

from healthgym.cli.common import Commands, read_settings, write
from healthgym.cli.evaluating import Progress
from healthgym.cli.policies import add_model_arguments, chosen_policy
from healthgym.core.writing import writable, write_whole


def add_commands(commands: Commands) -> None:
    """Add the commands of this module."""
    parser = commands.add_parser("suite", help="score a policy on a published suite of tasks")
    parser.add_argument("name", help="managed-care")
    parser.add_argument(
        "--policy", default="oracle", help="a scripted policy, or llm (default: oracle)"
    )
    parser.add_argument("--attempts", type=int, default=1, help="at each task (default: 1)")
    parser.add_argument("--tasks", type=int, help="only the first so many of each domain")
    parser.add_argument("--seed", type=int, default=0, help="of the policy")
    parser.add_argument("--workers", type=int, default=1, help="episodes played at a time")
    parser.add_argument(
        "--set", action="append", default=[], dest="settings", metavar="NAME=VALUE",
        help="an argument of every environment, such as surface=cli",
    )  # fmt: skip
    parser.add_argument("--json", metavar="FILE", help="write the result; - for the terminal")
    parser.add_argument("--markdown", action="store_true", help="write Markdown tables")
    add_model_arguments(parser.add_argument_group("--policy llm"))
    parser.set_defaults(run=run_suite_command)


def run_suite_command(args: argparse.Namespace) -> int:
    """Score, write the tables, and the JSON if asked for."""
    from healthgym.policies.suites import run_suite, suite_named

    suite = suite_named(args.name)
    policy = chosen_policy(args)
    if args.json not in (None, "-"):
        writable(args.json)
    sizes = [domain.tasks for domain in suite.domains]
    total = sum(size if args.tasks is None else min(size, args.tasks) for size in sizes)
    result = run_suite(
        suite,
        policy,
        attempts=args.attempts,
        seed=args.seed,
        workers=args.workers,
        env_kwargs=read_settings(args.settings),
        tasks=args.tasks,
        on_result=Progress(total * args.attempts),
    )
    if args.json not in (None, "-"):
        write_whole(args.json, result.to_json())
    if args.json == "-":
        write(result.to_json())
    else:
        write(result.to_markdown() if args.markdown else result.to_text())
    return 2 if any(each.stopped for each in result.evaluations.values()) else 0
