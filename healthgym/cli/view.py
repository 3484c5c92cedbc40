"""``healthgym view``: what happened in recorded episodes, in a browser, in a file or as text."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from healthgym.cli.common import Commands, note, write
from healthgym.cli.pictures import Pictures
from healthgym.cli.progress import watched
from healthgym.cli.recordings import Recording, recordings
from healthgym.core.writing import write_whole, written_whole
from healthgym.errors import ConfigurationError, TrajectoryError

if TYPE_CHECKING:
    from healthgym.core.trajectory import Trajectory
    from healthgym.presentation.viewer import PageData, Shown

_NONE = "No episode of the recording is chosen."


def add_commands(commands: Commands) -> None:
    """Add the commands of this module."""
    parser = commands.add_parser(
        "view",
        help="recorded episodes in a browser, as one HTML file, or as text",
        description="Show recorded episodes: to a browser on this machine unless told otherwise.",
    )
    parser.add_argument(
        "paths",
        metavar="DIR|FILE",
        nargs="+",
        help="recordings, as `eval --record` writes them, or folders with some, such as a run's",
    )
    way = parser.add_mutually_exclusive_group()
    way.add_argument("--html", metavar="OUT", help="write one HTML file, pictures included")
    way.add_argument("--text", action="store_true", help="write them to the terminal")
    way.add_argument(
        "--case", metavar="OUT", help="write the first of them as a page of its managed-care case"
    )
    way.add_argument("--port", type=int, default=0, help="of the page; 0 for a free one")
    chosen = parser.add_argument_group("which episodes")
    chosen.add_argument("--first", type=int, default=1, help="first episode")
    chosen.add_argument("--n", type=int, help="most episodes")
    chosen.add_argument("--task", help="only episodes of this task")
    chosen.add_argument("--failed", action="store_true", help="only episodes without success")
    told = parser.add_argument_group("what of them")
    told.add_argument(
        "--answers",
        action="store_true",
        help="also what would have been right, behind a switch; not for sharing",
    )
    told.add_argument(
        "--replay",
        action="store_true",
        help="play episodes again: for pictures that were not kept, and progress along the turns",
    )
    told.add_argument("--max-side", type=int, default=640, help="pixels of a picture on the page")
    parser.set_defaults(run=view)


def view(args: argparse.Namespace) -> int:
    """Show the episodes of recordings to a person."""
    if args.first < 1 or (args.n is not None and args.n < 1) or args.max_side < 1:
        raise ConfigurationError("--first, --n and --max-side are at least 1.")
    chosen = Selection(recordings(args.paths), args)
    if args.case is not None:
        return view_case(next((run for _, _, run in chosen.episodes()), None), Path(args.case))
    if args.text:
        any_shown = False
        for number, _, run in chosen.episodes():
            any_shown = True
            write(f"{number}. {as_text(run)}\n")
        if not any_shown:
            raise ConfigurationError(_NONE)
        return 0
    if args.html is None:
        from healthgym.cli.serving import serve_page

        return serve_page(chosen.write_page, [each.path for each in chosen.found], args.port)
    out = Path(args.html)
    with written_whole(out) as file:
        told = chosen.write_page(file)
    note(f"{told} written to {out}")
    return 0


@dataclass(frozen=True, slots=True)
class Selection:
    """The episodes that a command line chooses.

    Attributes:
        found: The recordings.
        args: The command line.
    """

    found: list[Recording]
    args: argparse.Namespace

    def episodes(self) -> Iterator[tuple[int, str, Trajectory]]:
        """Yield number, name of the run and record of each."""
        args = self.args
        end = None if args.n is None else args.first - 1 + args.n
        return islice(self._wanted(), args.first - 1, end)

    def _wanted(self) -> Iterator[tuple[int, str, Trajectory]]:
        from healthgym.presentation.viewer.records import solved

        every = (pair for each in self.found for pair in each.episodes())
        for number, (name, run) in enumerate(every, 1):
            if self.args.task in (None, run.task_id) and not (self.args.failed and solved(run)):
                yield number, name, run

    def write_page(self, file: TextIO) -> str:
        """Write the page, and return what is on it, in words."""
        from healthgym.presentation.viewer import write_page

        paths = [each.path for each in self.found]
        pictures = Pictures(*paths, max_side=self.args.max_side, replay=self.args.replay)
        count = write_page(file, self._page(pictures), pictures.find)
        told = f"{count} episodes"
        if pictures.missing:
            hint = "" if self.args.replay else " (--replay makes them again)"
            told += f", {pictures.missing} pictures not at hand{hint}"
        return told

    def _page(self, pictures: Pictures) -> PageData:
        from healthgym.presentation.viewer import PageData

        title = ", ".join(dict.fromkeys(Path(path).name or path for path in self.args.paths))
        total = sum(each.count() for each in self.found)
        chosen = watched(self.episodes(), min(total, self.args.n or total), "episodes")
        shown = (self._shown(name, run, pictures) for _, name, run in chosen)
        return PageData(title, shown, self._note(), answers=self.args.answers)

    def _note(self) -> str:
        args = self.args
        if not (args.failed or args.task or args.n or args.first > 1):
            return ""
        which = f"{'unsolved ones' if args.failed else 'those'} of {args.task or 'any task'}"
        most = f", {args.n} at most" if args.n else ""
        return f"Not all that was recorded: only {which}, from number {args.first} of these{most}."

    def _shown(self, name: str, run: Trajectory, pictures: Pictures) -> Shown:
        from healthgym.cli.answers import right_answer
        from healthgym.presentation.viewer import Shown
        from healthgym.testing.replay import progress_along

        pictures.of(run)
        answer, progress = None, list[float]()
        try:
            if self.args.answers:
                answer = right_answer(run)
            if self.args.replay:
                progress = progress_along(run)
        except TrajectoryError as error:
            note(f"healthgym: {error}")
        return Shown(run, name, answer, tuple(progress))


def view_case(run: Trajectory | None, out: Path) -> int:
    """Write the case of a recorded episode, which is played again, as a page.

    Raises:
        ConfigurationError: If there is no episode, or it is played in a world without cases.
        TrajectoryError: If the episode cannot be played again.
    """
    from healthgym.envs.managed_care.timeline.page import case_page
    from healthgym.envs.managed_care.timeline.story import exhibit_of
    from healthgym.registration import make_health_env
    from healthgym.testing.replay import recorded_id, replay

    if run is None:
        raise ConfigurationError(_NONE)
    env = make_health_env(recorded_id(run), dict(run.env_kwargs))
    replay(run, env, exact_pictures=False)
    key = env.episode.task.key
    reference = env.family.generator.generate(key.split, key.index).reference
    page = case_page(exhibit_of(env.episode, reference))
    write_whole(out, page)
    note(f"{run.task_id} written to {out}")
    return 0


def as_text(run: Trajectory) -> str:
    """Return an episode as a person would read it."""
    from healthgym.presentation.render import counted

    parts = [f"{run.task_id} ({run.kind})", *run.instructions.values()]
    for number, turn in enumerate(run.turns, 1):
        shown = f"\n({counted(turn.images)})" if turn.images else ""
        parts.append(f"--- {number}. {turn.role}\n> {turn.action}\n{turn.observation}{shown}")
    for role, verdicts in run.verdicts.items():
        outcome = ", ".join(
            f"{profile} {'success' if verdict.get('success') else 'failure'}"
            for profile, verdict in verdicts.items()
        )
        parts.append(f"=== {role}: {outcome}, reward {run.rewards.get(role, 0.0):.2f}")
    return "\n".join(parts)
