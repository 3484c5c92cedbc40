"""``healthgym card``: what was measured of an environment, on one page."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from healthgym.cli.common import Commands, checkout, note, write, write_json
from healthgym.core.writing import writable
from healthgym.errors import ConfigurationError

#: Tasks and seconds of a quick card.
_QUICK_TASKS, _QUICK_SECONDS = 4, 2.0


def add_commands(commands: Commands) -> None:
    """Add the commands of this module."""
    parser = commands.add_parser(
        "card", help="measure an environment: baselines, difficulty, speed, size, signal"
    )
    parser.add_argument("id", metavar="ID", nargs="?", help="id of the environment")
    parser.add_argument("--all", action="store_true", help="every registered environment")
    parser.add_argument(
        "--tasks", type=int, default=40, help="tasks of each policy (default: %(default)s)"
    )
    parser.add_argument(
        "--seconds",
        type=float,
        default=20.0,
        help="about so many a policy; dear tasks are fewer then (default: %(default)s)",
    )
    parser.add_argument(
        "--train",
        type=Path,
        metavar="DIR",
        help="train the small model, too, in a folder below this one: minutes to an hour",
    )
    parser.add_argument("--seed", type=int, default=0, help="of the training (default: 0)")
    parser.add_argument("--json", metavar="FILE", help="write it as JSON; - for the terminal")
    parser.add_argument(
        "--quick", action="store_true", help="a few tasks, to see that it runs: no result"
    )
    parser.set_defaults(run=make_cards)


def make_cards(args: argparse.Namespace) -> int:
    """Measure, and write the cards."""
    from healthgym.registration import TABLE
    from healthgym.testing.cards import Effort, markdown, measure, train

    if args.all == bool(args.id):
        raise ConfigurationError("Name an environment, or --all.")
    if args.tasks < 2 or args.seconds <= 0:
        raise ConfigurationError("--tasks is at least 2, and --seconds more than none.")
    if args.json not in (None, "-"):
        writable(args.json)
    effort = Effort(args.tasks, args.seconds)
    if args.quick:
        effort = Effort(min(args.tasks, _QUICK_TASKS), min(args.seconds, _QUICK_SECONDS))
    cards = []
    for env_id in [row.id for row in TABLE] if args.all else [args.id]:
        note(f"{env_id} ...")
        card = measure(env_id, effort, checkout=checkout(), told=lambda text: note(f"  {text}"))
        if args.train:
            name = env_id.rpartition(":")[2].rpartition("/")[2]
            out = args.train / f"{name}-{args.seed}"
            trained = train(env_id, out, seed=args.seed, quick=args.quick, checkout=checkout())
            card = card.model_copy(update={"training": trained})
        cards.append(card)
        if args.json is None:
            write(markdown(card) + "\n")
    if args.json is None:
        return 0
    told = [json.loads(card.model_dump_json()) for card in cards]
    if args.all:
        return write_json(args.json, {"schema": "healthgym.cards/1", "cards": told})
    return write_json(args.json, told[0])
