"""Time the payer's and care management's environments into results/review_and_care.json.

    python benchmarks/review_and_care.py                     every figure
    python benchmarks/review_and_care.py --only reset        only these

Times are medians of tasks not seen before in the process, at the clinic's patients written. Calls
are timed as an agent makes them, through ``gym.make(...).step``.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from _harness import (
    Figures,
    Run,
    Suite,
    Timing,
    at_least,
    at_most,
    in_fresh_process,
    make,
    once,
    resident_mib,
    timed,
    with_prefix,
)
from _managed_care.playing import SEEN, figures_of_calls, first_calls, open_task, timed_calls
from _managed_care.scores import DIFFICULTIES

from healthgym.core.cache import forget_texts

IDS: Mapping[str, str] = {
    "review": "HealthAgent/UtilizationManagement-v1",
    "care": "HealthAgent/CareManagement-v1",
}
#: Rollouts of one task, as trainers of groups have them.
GROUP = 8

suite = Suite("review_and_care", __doc__)


@suite.measure(bounds={f"{name}.make_and_reset_ms": at_most(1000) for name in IDS})
def cold(run: Run) -> Figures:
    """Make an environment and open its first task, in a process that has done nothing else."""
    return {name: in_fresh_process(_cold, env_id) for name, env_id in IDS.items()}


def _cold(env_id: str) -> Figures:
    env, made = once(lambda: make(env_id))
    _, opened = once(lambda: open_task(env, 0))
    return {"make_and_reset_ms": made.median() + opened.median()}


@suite.measure(
    bounds={
        f"{name}.{level}{how}_ms": at_most(5)
        for name in IDS
        for level in DIFFICULTIES
        for how in ("", "_in_groups_cpu")
    }
)
def reset(run: Run) -> Figures:
    """Open new tasks of each difficulty, and each for a group of rollouts: it is drawn once."""
    figures: Figures = {}
    for name, env_id in IDS.items():
        for level in DIFFICULTIES:
            env = make(env_id, difficulty=level)
            numbers = range(run.repeats(200))
            taken = timed(partial(open_task, env), numbers, warm_up=SEEN[: run.repeats(60)])
            figures |= with_prefix(name, {**taken.figures(level), **taken.spread(level)})
            groups = range(1_000, 1_000 + run.repeats(60))
            shared = timed(partial(open_task, env), [n for n in groups for _ in range(GROUP)])
            figures[f"{name}.{level}_in_groups_cpu_ms"] = shared.mean_cpu()
    return figures


@suite.measure(bounds={f"{name}.call_cpu_us": at_most(150) for name in IDS})
def calls(run: Run) -> Figures:
    """Make the calls of the oracle's and of the solver's episodes."""
    figures: Figures = {}
    for name, env_id in IDS.items():
        env = make(env_id)
        timed_calls(env, "oracle", SEEN[: run.repeats(20)])
        for policy in ("oracle", "solver"):
            taken = timed_calls(env, policy, range(run.repeats(60)))
            told = figures_of_calls(taken, run.repeats(60))
            figures |= with_prefix(name if policy == "oracle" else f"{name}.{policy}", told)
    return figures


@suite.measure(bounds={f"{name}.finish_ms": at_most(3) for name in IDS})
def verdicts(run: Run) -> Figures:
    """Hand in the oracle's episodes: the last call, which is judged under both profiles.

    Sentences that were read before are read sooner, as those of a policy that learns mostly were;
    the last figures are of episodes in which no word of anybody's had been read before.
    """
    figures: Figures = {}
    for name, env_id in IDS.items():
        env = make(env_id)
        timed_calls(env, "oracle", SEEN[: run.repeats(20)])
        taken = timed_calls(env, "oracle", range(run.repeats(60)))
        figures |= with_prefix(name, Timing.join(taken["finish"]).figures("finish"))
        unread = []
        for index in range(run.repeats(60), run.repeats(90)):
            forget_texts()
            unread += timed_calls(env, "oracle", [index])["finish"]
        figures |= with_prefix(name, Timing.join(unread).figures("finish_unread"))
    return figures


@suite.measure(
    bounds={"opened_mib": at_most(1024), "played_mib": at_most(1024), "count": at_least(500)}
)
def environments(run: Run) -> Figures:
    """Hold 500 live environments of both kinds, each on a task of its own: opened, and played."""
    return in_fresh_process(_held, run)


def _held(run: Run) -> Figures:
    first = [make(env_id) for env_id in IDS.values()]
    for env in first:
        for index in SEEN[: run.repeats(60)]:
            open_task(env, index)
    before, each = resident_mib(), run.repeats(250)
    envs = [make(env_id) for env_id in IDS.values() for _ in range(each)]
    for index, env in enumerate(envs):
        open_task(env, index)
    opened = resident_mib() - before
    for env in envs:
        for action in first_calls(env, 10):
            env.step(action)
    return {
        "count": len(envs),
        "before_mib": before,
        "opened_mib": opened,
        "played_mib": resident_mib() - before,
    }


if __name__ == "__main__":
    raise SystemExit(suite.main())
