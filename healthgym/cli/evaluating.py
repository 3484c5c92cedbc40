"""``healthgym eval``: success with intervals, beside the floor of doing nothing."""

from __future__ import annotations

import argparse
import signal
import sys
import threading
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING

from healthgym.cli.common import (
    Commands,
    add_environment_arguments,
    note,
    read_settings,
    write,
)
from healthgym.cli.policies import add_model_arguments, chosen_policy, extra_fields
from healthgym.cli.progress import in_words
from healthgym.core.borders import JsonDict
from healthgym.core.redaction import kept_settings, shown_address
from healthgym.core.writing import writable, write_whole
from healthgym.errors import ConfigurationError

if TYPE_CHECKING:
    from healthgym.integrations.cluster import Cluster
    from healthgym.policies.results import EpisodeResult, Evaluation

#: Exit statuses of a command that was interrupted from the keyboard, and by a scheduler.
INTERRUPTED, TERMINATED = 130, 143
#: What is left of a run is told from so many seconds on.
_SOON = 2.0
#: Settings of a model that its answers depend on.
_ASKED = (
    "model", "calling", "system", "temperature", "max_tokens", "max_context", "showing",
    "max_image_side", "max_pictures", "detail",
)  # fmt: skip


def add_commands(commands: Commands) -> None:
    """Add the commands of this module."""
    parser = commands.add_parser("eval", help="score a policy on held-out tasks")
    add_environment_arguments(parser)
    parser.add_argument(
        "--policy",
        default="oracle",
        help="oracle, nop, random, another baseline of the environment, llm, or a folder with a "
        "model (default: oracle)",
    )
    parser.add_argument(
        "--opponent",
        help="who fills the other seat, where there is one: a scripted side by its name, or a "
        "folder with a model",
    )
    add_judge_arguments(parser.add_argument_group("a judge of rubrics, where there are any"))
    parser.add_argument("--episodes", type=int, default=200, help="tasks (default: 200)")
    parser.add_argument("--samples", type=int, default=1, help="attempts at each (default: 1)")
    parser.add_argument("--split", default="test", help="train, validation or test")
    parser.add_argument("--seed", type=int, default=0, help="of the policy and the resampling")
    parser.add_argument("--workers", type=int, default=1, help="episodes played at a time")
    add_cluster_arguments(parser)
    parser.add_argument("--no-floor", action="store_true", help="leave out doing nothing")
    parser.add_argument(
        "--faults",
        type=int,
        default=0,
        metavar="N",
        help="episodes that failures of ours may cost before the run stops",
    )
    parser.add_argument(
        "--record",
        metavar="FILE",
        help="append every episode as JSON Lines; what is in it already is not played again",
    )
    parser.add_argument("--pictures", action="store_true", help="keep pictures beside --record")
    parser.add_argument("--json", metavar="FILE", help="write the evaluation; - for the terminal")
    parser.add_argument("--summary", action="store_true", help="list no episodes in the JSON")
    parser.add_argument("--markdown", action="store_true", help="write a Markdown table")
    add_model_arguments(parser.add_argument_group("--policy llm"))
    parser.set_defaults(run=run_evaluation)


def add_cluster_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what names a cluster; without it all is done in this process."""
    parser.add_argument(
        "--ray",
        metavar="ADDRESS",
        help="a cluster of Ray's: auto, local, or where it is",
    )
    parser.add_argument("--actors", type=int, help="its processes (default: one a core)")


def cluster_of(args: argparse.Namespace) -> Cluster | None:
    """Return the cluster that a command line names, None if it names none.

    Raises:
        ConfigurationError: If it names a cluster's processes and no cluster.
    """
    if args.ray is None:
        if args.actors is not None:
            raise ConfigurationError("--actors are a cluster's: give --ray ADDRESS, too.")
        return None
    from healthgym.integrations.cluster import Cluster

    return Cluster("" if args.ray == "local" else args.ray, args.actors)


def add_judge_arguments(group: argparse._ArgumentGroup) -> None:
    """Add what names a judge; without it nobody is asked."""
    group.add_argument("--judge", metavar="URL", help="address of its endpoint, up to /v1")
    group.add_argument("--judge-model", metavar="NAME", help="name of the model there")
    group.add_argument("--judge-key-env", default="", help="environment variable with the key")
    group.add_argument("--votes", type=int, default=3, help="on each rubric (default: 3)")


def run_evaluation(args: argparse.Namespace) -> int:
    """Evaluate, write the table, and the JSON if asked for; of what was scored if interrupted."""
    from healthgym.policies.evaluation import EvaluationInterrupted

    if args.json not in (None, "-"):
        writable(args.json)
    ending = _Ending()
    try:
        evaluation = _evaluated(args)
    except EvaluationInterrupted as interruption:
        note("")
        _tell(args, interruption.evaluation)
        if args.record:
            note("The same command plays what is missing.")
        return TERMINATED if ending.asked else INTERRUPTED
    finally:
        ending.over()
    _tell(args, evaluation)
    return 2 if evaluation.stopped or evaluation.success is None else 0


def _evaluated(args: argparse.Namespace) -> Evaluation:
    """Return the evaluation, made in this process or on a cluster.

    Raises:
        EvaluationInterrupted: If it is interrupted.
    """
    from healthgym.policies.evaluation import evaluate

    how: JsonDict = {
        "episodes": args.episodes,
        "split": args.split,
        "seed": args.seed,
        "env_kwargs": judged(opposed(read_settings(args.settings), args.opponent), args),
        "samples_per_task": args.samples,
        "workers": args.workers,
        "record": args.record,
        "floor": not args.no_floor,
        "faults": args.faults,
        "resume": _of(args) if args.record else None,
        "on_result": Progress(args.episodes * args.samples),
    }
    cluster = cluster_of(args)
    if cluster is None:
        return evaluate(args.id, chosen_policy(args), pictures=args.pictures, **how)
    if args.pictures:
        raise ConfigurationError("--pictures are kept by the process that plays: leave out --ray.")
    from healthgym.integrations.cluster import evaluate_on

    scripted = args.policy != "llm" and not Path(args.policy).is_dir()
    source = args.policy if scripted else partial(chosen_policy, args)
    return evaluate_on(cluster, args.id, source, **how)


class _Ending:
    """Takes a scheduler's SIGTERM for Ctrl-C, so that what was scored is kept; a second one kills.

    Attributes:
        asked: Whether there was one.
    """

    def __init__(self) -> None:
        self.asked = False
        self._ours = threading.current_thread() is threading.main_thread()
        self._before = signal.signal(signal.SIGTERM, self._end) if self._ours else None

    def _end(self, *_: object) -> None:
        self.asked = True
        self.over()
        raise KeyboardInterrupt

    def over(self) -> None:
        """Leave the signal to whoever had it before."""
        if self._ours:
            signal.signal(signal.SIGTERM, self._before)


def _tell(args: argparse.Namespace, evaluation: Evaluation) -> None:
    text = evaluation.to_json(episodes=not args.summary)
    if args.json not in (None, "-"):
        write_whole(args.json, text)
    if args.json == "-":
        write(text)
    else:
        write(evaluation.to_markdown() if args.markdown else evaluation.to_text())
    if args.judge and args.record:
        note(f"How far the judge agrees with the rules: healthgym agreement {args.record}")
    if evaluation.stopped:
        note(f"healthgym: stopped early: {evaluation.stopped}")


def _of(args: argparse.Namespace) -> JsonDict:
    """Return what tells an evaluation from others in its record, beside the environment's part."""
    folder = Path(args.policy)
    found = {
        "policy": str(folder.resolve()) if folder.is_dir() else args.policy,
        "seed": args.seed,
    }
    if args.policy == "llm":
        asked = {name: getattr(args, name) for name in _ASKED}
        found |= {
            "base_url": shown_address(args.base_url),
            "extra": kept_settings(extra_fields(args.extra)),
        }
        found |= asked
        found |= {"api": args.api} if args.api != "chat" else {}
        found |= {"echo_reasoning": True} if args.echo_reasoning else {}
    return found


def opposed(settings: JsonDict, opponent: str | None) -> JsonDict:
    """Return an environment's arguments with somebody in the other seat, if anybody is named."""
    if opponent is None:
        return settings
    model = Path(opponent).is_dir()
    return {**settings, "opponent": {"checkpoint": opponent} if model else opponent}


def judged(settings: JsonDict, args: argparse.Namespace) -> JsonDict:
    """Return an environment's arguments with a judge, if the line names one.

    Votes differ by temperature and seed; a single one is the likeliest answer.

    Raises:
        ConfigurationError: If the line does not say which model.
    """
    if args.judge is None:
        return settings
    if not args.judge_model:
        raise ConfigurationError("--judge needs --judge-model.")
    judge = {
        "base_url": args.judge,
        "model": args.judge_model,
        "api_key_env": args.judge_key_env,
        "votes": args.votes,
        "temperature": 1.0 if args.votes > 1 else 0.0,
        "seed": args.seed,
    }
    return {**settings, "judge": judge}


class Progress:
    """Tells how far a run is: in place on a terminal, else in ten lines."""

    def __init__(self, total: int) -> None:
        self._total = total
        self._done = self._hits = self._errors = 0
        self._begun = perf_counter()

    def __call__(self, result: EpisodeResult) -> None:
        """Count a result, and tell where it is time to."""
        self._done += 1
        self._errors += bool(result.error)
        self._hits += result.success.get("strict", False)
        tenth = max(self._total // 10, 1)
        if sys.stderr.isatty():
            sys.stderr.write(f"\r{self._line()}\033[K{chr(10) * (self._done == self._total)}")
            sys.stderr.flush()
        elif self._done % tenth == 0 or self._done == self._total:
            note(self._line())

    def _line(self) -> str:
        scored = self._done - self._errors
        rate = f"{self._hits / scored:.0%} strict success" if scored else "none scored"
        failed = f", {self._errors} interrupted" if self._errors else ""
        return f"{self._done}/{self._total} episodes, {rate}{failed}{self._left()}"

    def _left(self) -> str:
        seconds = (perf_counter() - self._begun) / self._done * (self._total - self._done)
        return f", about {in_words(seconds)} left" if seconds > _SOON else ""
