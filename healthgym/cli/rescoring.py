"""``healthgym score``: recorded episodes under the verifiers of today."""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from healthgym.cli.common import Commands, note, write
from healthgym.cli.progress import watched
from healthgym.core.borders import JsonDict
from healthgym.core.writing import writable, write_whole
from healthgym.errors import TrajectoryError
from healthgym.version import __version__

if TYPE_CHECKING:
    from healthgym.testing.rescoring import Rescored

#: Layout of the JSON.
SCHEMA = "healthgym.rescored/1"
#: Most changed episodes that the terminal lists.
_MOST = 50


def add_commands(commands: Commands) -> None:
    """Add the commands of this module."""
    parser = commands.add_parser(
        "score", help="score recorded episodes under today's verifiers, and say what changed"
    )
    parser.add_argument("file", metavar="FILE", help="trajectories, as `eval --record` writes them")
    parser.add_argument("--json", metavar="FILE", help="write every episode; - for the terminal")
    parser.set_defaults(run=score_recording)


def score_recording(args: argparse.Namespace) -> int:
    """Score, tell what changed, and write the JSON if asked for."""
    from healthgym.core.trajectory import read_trajectories
    from healthgym.testing.rescoring import rescore

    if args.json not in (None, "-"):
        writable(args.json)
    recorded = watched(read_trajectories(args.file), None, "episodes scored")
    found = [rescore(trajectory) for trajectory in recorded]
    if not found:
        raise TrajectoryError(f"{args.file} holds no whole episode.")
    if args.json is not None:
        text = json.dumps(_data(found), indent=1) + "\n"
        if args.json == "-":
            write(text)
        else:
            write_whole(args.json, text)
    if args.json != "-":
        write("\n\n".join(_parts(found)))
    lost = sum(bool(each.error) for each in found)
    if lost:
        note(f"healthgym: {lost} of {len(found)} episodes have no verdict today")
    return 2 if lost else 0


def _data(found: Sequence[Rescored]) -> JsonDict:
    return {
        "schema": SCHEMA,
        "healthgym": __version__,
        "episodes": [each.to_dict() for each in found],
    }


def _parts(found: Sequence[Rescored]) -> Iterator[str]:
    from healthgym.policies.reports import plain_table

    head = ["environment", "profile", "episodes", "then", "now", "gained", "lost", "no verdict"]
    groups = dict.fromkeys((each.env_id, name) for each in found for name in each.then)
    rows = [_row(env_id, name, found) for env_id, name in groups]
    yield plain_table(head, rows) if rows else "No episode with a verdict."
    turned = Counter(f"{name}: {how}" for each in found for name, how in each.checks.items())
    if turned:
        yield plain_table(["check", "episodes"], [[n, str(c)] for n, c in turned.most_common(30)])
    differing = sum(bool(each.differing) for each in found)
    if differing:
        yield f"Answers read differently today in {differing} of {len(found)} episodes."
    changed = [each for each in found if each.changed]
    yield f"{len(changed)} of {len(found)} episodes are scored differently than recorded."
    if changed:
        yield "\n".join(map(_line, changed[:_MOST]))


def _row(env_id: str, profile: str, found: Sequence[Rescored]) -> list[str]:
    mine = [each for each in found if each.env_id == env_id and profile in each.then]
    pairs = [(each.then[profile], each.now.get(profile, False)) for each in mine if not each.error]
    counts = (
        len(mine),
        sum(each.then[profile] for each in mine),
        sum(now for _, now in pairs),
        pairs.count((False, True)),
        pairs.count((True, False)),
        len(mine) - len(pairs),
    )
    return [env_id, profile, *map(str, counts)]


def _line(each: Rescored) -> str:
    if each.error:
        return f"{each.task_id}: {each.error}"
    told = [f"{name} {how}" for name, how in each.checks.items()]
    if each.rewards[0] != each.rewards[1]:
        told.insert(0, f"return {each.rewards[0]:.3f} -> {each.rewards[1]:.3f}")
    return f"{each.task_id}: {'; '.join(told) or 'success alone'}"
