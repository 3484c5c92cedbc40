"""Measure the arena of a provider and a payer into results/prior_auth_arena.json.

    python benchmarks/prior_auth_arena.py                      every figure
    python benchmarks/prior_auth_arena.py --only episodes      how long 80 calls take
    python benchmarks/prior_auth_arena.py --trained FOLDER     a checkpoint in the tables, too

Times are medians of tasks not seen before in the process, at the clinic's patients written.
Intervals are the published bootstrap over tasks: 1,000 resamples from seed 0; `clustered` ones draw
patients with all of their tasks. `sent` counts the tasks alone of which something is rightly sent:
on the others a payer has no more to do than what lies in its queue. Whose opponent is the `oracle`
meets moves that were worked out beside somebody who does all right; the opponents' strengths are
measured beside one who looks (tests, `test_each_is_as_strong_as_declared`).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
from _harness import (
    Figures,
    Run,
    Suite,
    at_most,
    in_fresh_process,
    make,
    once,
    play,
    resident_mib,
    timed,
    with_prefix,
)

from healthgym.core.tool import call
from healthgym.core.verdict import Profile
from healthgym.envs.managed_care.prior_auth_arena.opponents.graded import OPPONENTS
from healthgym.policies.statistics import clustered_interval, pass_at_k, pass_hat_k
from healthgym.policies.suites import published_interval

ENV_ID = "HealthAgent/PriorAuthArena-v1"
#: A seat, and the one opposite it.
SEATS = {"provider": "payer", "payer": "provider"}
LEVELS = ("easy", "medium", "hard")
SPLITS = ("train", "validation", "test")
#: Tasks of two who know the answer, by difficulty; all figures together take about 20 minutes.
PAIRS = {"easy": 30, "medium": 200, "hard": 30}
#: Who plays against every opponent, and how many tasks.
POLICIES = {"oracle": 16, "reader": 16, "random": 8, "nop": 8}
#: Tasks at which several attempts are made.
TRIED = 15
#: Attempts at a task of those that leave something to chance.
ATTEMPTS = 4
#: Calls of an episode that is to be quick.
CALLS = 80
#: How the kinds of tasks begin of which something is rightly sent.
_SENDS = "submit"
#: Arenas that are held at once.
LIVE = 200
#: Tasks that are drawn before any is timed: they write the patients whom all tasks share.
SEEN = 60
#: First task that is timed.
FIRST = 700

suite = Suite("prior_auth_arena", __doc__)
suite.parser.add_argument(
    "--trained", type=Path, nargs="+", default=[], metavar="FOLDER", help="checkpoints that play"
)
#: How many tasks a checkpoint plays against each opponent.
TRAINED = 8


def arena(**arguments: Any) -> Any:
    """Make the arena for one agent."""
    return make(ENV_ID, **arguments)


def begin(env: Any, index: int) -> None:
    """Begin a task."""
    env.reset(options={"index": index})


def warm(env: Any) -> None:
    """Begin tasks until the patients are written whom all tasks of a process share."""
    for index in range(SEEN):
        begin(env, index)


class Tally:
    """What became of the episodes of one policy.

    Attributes:
        successes: Success under the strict profile, by task.
        patients: Whom each task is about.
        sent: Joint success under the strict profile where something is rightly sent.
        joint: Whether both desks succeeded, by task and profile.
        modes: Kinds of failure.
    """

    def __init__(self) -> None:
        self.successes: dict[str, list[float]] = defaultdict(list)
        self.patients: dict[str, str] = {}
        self.sent: list[float] = []
        self.paper: list[float] = []
        self.joint: dict[Profile, list[float]] = {profile: [] for profile in Profile}
        self.modes: Counter[str] = Counter()

    def add(self, episode: Any) -> None:
        """Count an episode."""
        strict, paper = (episode.verdict(profile=one) for one in (Profile.STRICT, Profile.PAPER))
        task = episode.task
        self.successes[task.task_id].append(float(strict.success))
        self.patients[task.task_id] = episode._instance.reference.provider.patient_id
        if task.kind.startswith(_SENDS):
            self.sent.append(strict.metrics["joint_success"])
        self.paper.append(float(paper.success))
        for profile in Profile:
            verdict = episode.verdict(profile=profile)
            self.joint[profile].append(verdict.metrics["joint_success"])
        if not strict.success:
            self.modes.update(strict.failure_modes)

    def figures(self) -> Figures:
        """Return success with its interval, that of both desks, and the kinds of failure."""
        found = published_interval(self.successes)
        clustered = clustered_interval(self.successes, self.patients)
        sent = {"joint_sent": float(np.mean(self.sent))} if self.sent else {}
        failed = sum(1.0 - one for each in self.successes.values() for one in each)
        return {
            "tasks": len(self.successes),
            "strict": found.estimate,
            "strict_low": found.low,
            "strict_high": found.high,
            "strict_clustered_low": clustered.low,
            "strict_clustered_high": clustered.high,
            "paper": float(np.mean(self.paper)),
            **{f"joint_{one}": float(np.mean(each)) for one, each in self.joint.items()},
            **sent,
            "failures": {mode: count / failed for mode, count in self.modes.most_common()},
        }

    def passes(self) -> Figures:
        """Return pass@k and pass^k, averaged over tasks, with the published interval."""
        figures: Figures = {}
        for name, rate in (("pass_at", pass_at_k), ("pass_hat", pass_hat_k)):
            for k in (1, ATTEMPTS):
                each = {
                    task: [rate(len(hits), int(sum(hits)), k)]
                    for task, hits in self.successes.items()
                }
                found = published_interval(each)
                key = f"{name}_{k}"
                figures |= {key: found.estimate, f"{key}_low": found.low}
                figures[f"{key}_high"] = found.high
        return figures


def tallied(env: Any, policy: str, split: str, numbers: Iterable[int], samples: int = 1) -> Tally:
    """Play tasks by a policy, some attempts at each."""
    from healthgym.policies.scripted import resolve

    found = Tally()
    player = checkpoint(policy) if Path(policy).is_dir() else resolve(policy)
    for number in numbers:
        for _ in range(samples):
            found.add(play(env.unwrapped, player, split, number))
    return found


@cache
def checkpoint(folder: str) -> Any:
    """Return who plays as a model of a folder, the likeliest tokens."""
    from healthgym.integrations.trl.models import open_checkpoint
    from healthgym.integrations.trl.policy import ModelPolicy

    model, tokenizer = open_checkpoint(folder)
    return ModelPolicy(model.eval(), tokenizer, name=Path(folder).name)


@suite.measure()
def pairs(run: Run) -> Figures:
    """Play two who know the answer, on every split and difficulty, and on the canonical suite."""
    figures: Figures = {}
    for level in LEVELS:
        env = arena(difficulty=level, opponent="oracle")
        for split in SPLITS:
            numbers = range(run.tasks(PAIRS[level]))
            found = tallied(env, "oracle", split, numbers).figures()
            figures |= with_prefix(f"{level}.{split}", found)
    env = arena(canonical=True, opponent="oracle")
    numbers = range(min(run.tasks(23), 23))
    return figures | with_prefix("canonical", tallied(env, "oracle", "test", numbers).figures())


def crossed(seat: str, run: Run) -> Figures:
    """Play each policy in a seat against each opponent in the other one."""
    figures: Figures = {}
    trained = {str(folder): TRAINED for folder in run.options.trained}
    for opponent in ("oracle", *OPPONENTS[SEATS[seat]], "random", "nop"):
        for policy, usual in {**POLICIES, **trained}.items():
            env = arena(role=seat, opponent=opponent)
            found = tallied(env, policy, "test", range(run.tasks(usual)))
            name = Path(policy).name
            figures |= with_prefix(f"{opponent}.{name}", found.figures())
    return figures


for one in SEATS:
    suite.measure(f"{one}_table")(partial(crossed, one))


@suite.measure()
def attempts(run: Run) -> Figures:
    """Play several attempts at each task, in both seats, against a mixture of opponents."""
    figures: Figures = {}
    for seat, other in SEATS.items():
        weights: Mapping[str, float] = dict.fromkeys(OPPONENTS[other], 1.0)
        for policy in ("reader", "random"):
            env = arena(role=seat, opponent=weights)
            found = tallied(env, policy, "test", range(run.tasks(TRIED)), ATTEMPTS)
            own = {**found.figures(), **found.passes()}
            figures |= with_prefix(f"{seat}.{policy}", own)
    return figures


def recorded(env: Any, index: int) -> list[tuple[str, Any]]:
    """Return the turns by which two who know the answer solve a task, looks among them.

    The provider looks at its orders first, until the turns are as many as a quick episode has.
    """
    begin(env, index)
    turns = [
        (turn.role, turn.action) for turn in play(env.unwrapped, "oracle", "train", index).turns
    ]
    patient = env.unwrapped.episode._instance.reference.provider.patient_id
    look = call("chart.list_candidate_orders", patient_id=patient)
    return [("provider", look)] * (CALLS - len(turns)) + turns


def opened(env: Any, index: int) -> Any:
    """Return an episode with nobody in either seat."""
    from healthgym.core.episode import Episode
    from healthgym.core.seeding import Split

    unwrapped = env.unwrapped
    instance = unwrapped.family.generator.generate(Split.TRAIN, index)
    # Looks are made in a row.
    rules = replace(unwrapped.config, spell=None)
    return Episode(unwrapped.family, instance, unwrapped.reward, rules)


def play_all(episode: Any, turns: list[tuple[str, Any]]) -> None:
    """Make every call of a record."""
    for role, action in turns:
        episode.step(action, role)


@suite.measure(bounds={"of_80_calls_cpu_ms": at_most(60)})
def episodes(run: Run) -> Figures:
    """Make 80 calls in an episode: those that solve it on both sides, after looks at the chart."""
    env = arena(opponent="oracle")
    warm(env)
    taken, solving = [], []
    for index in range(FIRST, FIRST + run.repeats(60)):
        turns = recorded(env, index)
        episode = opened(env, index)
        _, timing = once(partial(play_all, episode, turns))
        assert episode.settled
        taken.append((timing.median(), timing.median_cpu()))
        solving.append(sum(role != "provider" for role, _ in turns))
    wall, processor = np.array(taken).T
    return {
        "of_80_calls_ms": float(np.median(wall)),
        "of_80_calls_cpu_ms": float(np.median(processor)),
        "of_80_calls_p95_cpu_ms": float(np.percentile(processor, 95)),
        "payer_calls": float(np.mean(solving)),
    }


@suite.measure(bounds={"per_80_calls_cpu_ms": at_most(60)})
def replays(run: Run) -> Figures:
    """Make the calls of two readers again, as they came: what solves a task, and nothing besides.

    An episode that is shorter than 80 calls is counted by what one of its calls takes.
    """
    env = arena(opponent="reader")
    warm(env)
    taken, calls = [], []
    for index in range(FIRST, FIRST + run.repeats(40)):
        turns = [
            (turn.role, turn.action) for turn in play(env.unwrapped, "reader", "train", index).turns
        ]
        _, timing = once(partial(play_all, opened(env, index), turns))
        taken.append(timing.median_cpu())
        calls.append(len(turns))
    each = CALLS * np.array(taken) / np.array(calls)
    return {
        "per_80_calls_cpu_ms": float(CALLS * np.sum(taken) / np.sum(calls)),
        "per_80_calls_p95_cpu_ms": float(np.percentile(each, 95)),
        "episode_cpu_ms": float(np.mean(taken)),
        "calls": float(np.mean(calls)),
    }


@suite.measure()
def resets(run: Run) -> Figures:
    """Begin tasks of each difficulty."""
    figures: Figures = {}
    for level in LEVELS:
        env = arena(difficulty=level)
        warm(env)
        numbers = range(FIRST, FIRST + run.repeats(60))
        figures |= timed(partial(begin, env), numbers).figures(level)
    return figures


@suite.measure(bounds={"live_mib": at_most(1024)})
def memory(run: Run) -> Figures:
    """Hold 200 arenas at once, each played to its end, in a process of its own."""
    return in_fresh_process(held, run.repeats(LIVE))


def held(count: int) -> Figures:
    """Return what so many live arenas hold, besides what all share."""
    warm(arena())
    before, kept = resident_mib(), []
    for index in range(FIRST, FIRST + count):
        env = arena()
        play(env.unwrapped, "reader", "train", index)
        kept.append(env)
    taken = resident_mib() - before
    return {"live_mib": taken, "each_mib": taken / len(kept)}


if __name__ == "__main__":
    raise SystemExit(suite.main())
