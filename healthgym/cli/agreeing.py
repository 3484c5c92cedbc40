"""``healthgym agreement``: how far a judge and the rules agree in recorded episodes."""

from __future__ import annotations

import argparse
from itertools import chain

from healthgym.cli.common import Commands, note, write
from healthgym.core.writing import write_whole


def add_commands(commands: Commands) -> None:
    """Add the commands of this module."""
    parser = commands.add_parser(
        "agreement", help="compare a judge with the rules, rubric by rubric, in recorded episodes"
    )
    parser.add_argument("files", nargs="+", metavar="FILE", help="what eval --record wrote")
    parser.add_argument("--json", metavar="FILE", help="write the report; - for the terminal")
    parser.add_argument("--markdown", action="store_true", help="write a Markdown table")
    parser.set_defaults(run=run_agreement)


def run_agreement(args: argparse.Namespace) -> int:
    """Compare, write the table, and the JSON if asked for."""
    from healthgym.core.trajectory import read_trajectories
    from healthgym.policies.agreement import agreement

    found = agreement(chain.from_iterable(map(read_trajectories, args.files)))
    if args.json not in (None, "-"):
        write_whole(args.json, found.to_json())
    if args.json == "-":
        write(found.to_json())
    else:
        write(found.to_markdown() if args.markdown else found.to_text())
    if found.judged:
        return 0
    note("healthgym: no judge was asked when this was recorded; eval --judge URL asks one.")
    return 2
