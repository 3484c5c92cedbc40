"""``healthgym demos`` and ``healthgym replay``: episodes as training data, and as evidence."""

from __future__ import annotations

import argparse
import io
import json
from collections.abc import Iterator
from dataclasses import asdict
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
from healthgym.cli.evaluating import add_cluster_arguments, cluster_of
from healthgym.cli.progress import watched
from healthgym.core.borders import JsonDict
from healthgym.core.writing import writable, written_whole
from healthgym.errors import ConfigurationError, MissingDependencyError, TrajectoryError
from healthgym.registration import make_health_env

if TYPE_CHECKING:
    from healthgym.policies.messages import Picture

#: Layout of the JSON of a replay.
SCHEMA = "healthgym.replayed/1"


def add_commands(commands: Commands) -> None:
    """Add the commands of this module."""
    demos = commands.add_parser(
        "demos", help="write the oracle's episodes, or recorded ones, as chat data for fine-tuning"
    )
    add_environment_arguments(demos)
    demos.add_argument("--n", type=int, default=1000, help="tasks (default: 1000)")
    demos.add_argument("--split", default="train", help="split of the tasks (default: train)")
    demos.add_argument("--system", default="", help="text of a system message")
    demos.add_argument(
        "--out",
        required=True,
        metavar="FILE",
        help="JSON Lines to write; Parquet if it ends in .parquet",
    )
    demos.add_argument(
        "--card", action="store_true", help="write a data set card (README.md) beside it"
    )
    demos.add_argument(
        "--recorded",
        metavar="FILE",
        help="take the successful episodes of this recording instead of the oracle's",
    )
    demos.add_argument(
        "--images",
        action="store_true",
        help="put pictures into the tool messages, as data URLs, for vision-language models",
    )
    demos.add_argument(
        "--max-image-side", type=int, default=448, help="pixels of a picture (default: 448)"
    )
    add_cluster_arguments(demos)
    demos.set_defaults(run=write_demonstrations)
    replay = commands.add_parser("replay", help="play recorded episodes again and compare")
    replay.add_argument("file", metavar="FILE", help="trajectories, as `eval --record` writes them")
    replay.add_argument(
        "--other-machine",
        action="store_true",
        help="recorded elsewhere: pictures may differ in the last grey level, nothing else",
    )
    replay.add_argument("--json", metavar="FILE", help="write the outcome; - for the terminal")
    replay.set_defaults(run=replay_recording)


def write_demonstrations(args: argparse.Namespace) -> int:
    """Write demonstrations as rows of a conversational data set."""
    if args.n < 1:
        raise ConfigurationError("--n is at least 1.")
    if args.recorded and args.ray is not None:
        raise ConfigurationError(
            "--ray makes the oracle's episodes; --recorded ones are read here."
        )
    rows = _recorded(args) if args.recorded else _oracle(args)
    out = Path(args.out)
    empty = f"{args.recorded or args.id} has no solved episode of {args.id}: nothing is written."
    rows = watched(rows, None if args.recorded else args.n, "demonstrations")
    count = _write(out, rows, empty)
    if args.card:
        from healthgym.integrations.datasets import write_card

        policy = "a recorded policy" if args.recorded else "the oracle"
        env_id = args.id.rpartition(":")[2]
        write_card(out, env_id=env_id, split=args.split, rows=count, policy=policy)
    note(f"{count} demonstrations written to {out}")
    return 0


def _write(out: Path, rows: Iterator[JsonDict], empty: str) -> int:
    if out.suffix == ".parquet":
        from healthgym.integrations.datasets import write_parquet

        # Pictures as in JSON Lines, and nothing that is not JSON.
        return write_parquet(
            out, (json.loads(json.dumps(row, default=_picture_url)) for row in rows)
        )
    count = 0
    with written_whole(out) as file:
        for row in rows:
            file.write(json.dumps(row, ensure_ascii=False, default=_picture_url) + "\n")
            count += 1
        if not count:
            raise ConfigurationError(empty)
    return count


def _picture_url(picture: object) -> str:
    """Return a pillow image as a data URL, which the processors of transformers read."""
    import numpy as np

    from healthgym.presentation.pictures import data_url, png

    return data_url(png(np.asarray(picture, np.uint8)))


def _oracle(args: argparse.Namespace) -> Iterator[JsonDict]:
    from healthgym.integrations.trl.demonstrations import demonstrations

    settings, cluster = read_settings(args.settings), cluster_of(args)
    how = {"images": args.images, "max_image_side": args.max_image_side, "system": args.system}
    if cluster is None:
        all_shown = demonstrations(make_health_env(args.id, settings), args.split, args.n, **how)
    else:
        from healthgym.integrations.cluster import demonstrations_on

        all_shown = demonstrations_on(
            cluster, args.id, args.split, args.n, env_kwargs=settings, how=how
        )
    for shown in all_shown:
        yield {"task_id": shown.task_id, "kind": shown.kind, **shown.row()}


def _recorded(args: argparse.Namespace) -> Iterator[JsonDict]:
    from healthgym.core.trajectory import read_trajectories
    from healthgym.core.verdict import Profile
    from healthgym.integrations.trl.demonstrations import CLOSING
    from healthgym.policies.chat import Showing, conversation

    finder = _Finder(args.recorded, args.max_image_side) if args.images else None
    for trajectory in read_trajectories(args.recorded):
        verdicts = trajectory.verdicts.get(trajectory.role, {})
        wanted = args.id.rpartition(":")[2]
        solved = verdicts.get(Profile.STRICT, {}).get("success", False)
        if trajectory.env_id != wanted or not solved:
            continue
        if finder is not None:
            finder.pictures.of(trajectory)
        messages = conversation(
            trajectory,
            system=args.system,
            closing=CLOSING,
            picture=finder,
            showing=Showing.RESULT,
        )
        yield {
            "task_id": trajectory.task_id,
            "kind": trajectory.kind,
            "messages": [message.template() for message in messages],
            "tools": json.dumps(trajectory.tools[trajectory.role]),
        }


class _Finder:
    """Finds the pictures of a recording, those that were not kept by playing it again."""

    def __init__(self, path: str, max_side: int) -> None:
        from healthgym.cli.pictures import Pictures

        self.pictures = Pictures(Path(path), max_side=max_side, replay=True)
        self._max_side = max_side

    def __call__(self, name: str) -> Picture | None:
        import numpy as np

        from healthgym.policies.messages import Picture

        file = self.pictures.read(name)
        if file is None:
            return None
        try:
            from PIL import Image
        except ImportError:
            raise MissingDependencyError(
                '--images needs pillow: pip install "healthgym[render]".'
            ) from None
        with Image.open(io.BytesIO(file), formats=("PNG",)) as opened:
            return Picture.of(np.asarray(opened.convert("RGB"), np.uint8), self._max_side)


def replay_recording(args: argparse.Namespace) -> int:
    """Replay every episode of a file; each must give the same bytes."""
    from healthgym.core.trajectory import read_trajectories
    from healthgym.testing.replay import replay

    if args.json not in (None, "-"):
        writable(args.json)
    found = []
    for trajectory in watched(read_trajectories(args.file), None, "episodes replayed"):
        found.append(replay(trajectory, exact_pictures=not args.other_machine))
    if not found:
        raise TrajectoryError(f"{args.file} holds no whole episode.")
    kept = "text, rewards and verdicts" if args.other_machine else "bytes"
    if args.json is not None:
        value = {"schema": SCHEMA, "same": kept, "episodes": [*map(asdict, found)]}
        write_json(args.json, value)
    if args.json != "-":
        write(f"{len(found)} episodes replayed to the same {kept}")
    return 0
