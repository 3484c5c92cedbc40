"""Time the payer's and care management's environments into results/review_and_care.json.

    python benchmarks/review_and_care.py                     every figure
    python benchmarks/review_and_care.py --only reset        only these

Times are medians of tasks not seen before in the process, at the clinic's patients written. Calls
are timed as an agent makes them, through ``gym.make(...).step``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any

import numpy as np
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
    reference_work,
    resident_mib,
    timed,
    with_prefix,
)
from _managed_care.scores import DIFFICULTIES

from healthgym.core.seeding import Split
from healthgym.core.tool import ToolCall
from healthgym.policies import scripted as policies
from healthgym.testing.play import actions_of

IDS: Mapping[str, str] = {
    "review": "HealthAgent/UtilizationManagement-v0",
    "care": "HealthAgent/CareManagement-v0",
}
#: Tasks that bring every patient of the clinic into the process.
SEEN = range(20_000, 20_060)

suite = Suite("review_and_care", __doc__)


def _open(env: Any, index: int) -> None:
    env.reset(options={"index": index})


@suite.measure(bounds={f"{name}.make_and_reset_ms": at_most(1000) for name in IDS})
def cold(run: Run) -> Figures:
    """Make an environment and open its first task, in a process that has done nothing else."""
    return {name: in_fresh_process(_cold, env_id) for name, env_id in IDS.items()}


def _cold(env_id: str) -> Figures:
    env, made = once(lambda: make(env_id))
    _, opened = once(lambda: _open(env, 0))
    return {"make_and_reset_ms": made.median() + opened.median()}


@suite.measure(bounds={f"{name}.{level}_ms": at_most(5) for name in IDS for level in DIFFICULTIES})
def reset(run: Run) -> Figures:
    """Open new tasks of each difficulty."""
    figures: Figures = {}
    for name, env_id in IDS.items():
        for level in DIFFICULTIES:
            env = make(env_id, difficulty=level)
            numbers = range(run.repeats(200))
            taken = timed(partial(_open, env), numbers, warm_up=SEEN[: run.repeats(60)])
            figures |= with_prefix(name, {**taken.figures(level), **taken.spread(level)})
    return figures


@suite.measure(bounds={f"{name}.call_cpu_us": at_most(150) for name in IDS})
def calls(run: Run) -> Figures:
    """Make the calls of the oracle's and of the solver's episodes."""
    figures: Figures = {}
    for name, env_id in IDS.items():
        env = make(env_id)
        _calls(env, "oracle", SEEN[: run.repeats(20)])
        for policy in ("oracle", "solver"):
            taken = _calls(env, policy, range(run.repeats(60)))
            reference = Timing.join(taken.pop("reference"))
            whole = Timing.join(timing for each in taken.values() for timing in each)
            of = {tool: Timing.join(each).median_cpu("us") for tool, each in taken.items()}
            prefix = name if policy == "oracle" else f"{name}.{policy}"
            figures |= with_prefix(
                prefix,
                {
                    **whole.spread("call", "us"),
                    "call_cpu_us": whole.median_cpu("us"),
                    "calls_of_one": len(whole.wall) / run.repeats(60),
                    "call_over_reference_ratio": whole.over(reference),
                    "cpu_of": {f"{tool}_us": value for tool, value in sorted(of.items())},
                },
            )
    return figures


def _calls(env: Any, policy: str, indices: Iterable[int]) -> dict[str, list[Timing]]:
    """Time every call of a policy's episodes, by tool; beside each, the reference."""
    taken: dict[str, list[Timing]] = {"reference": []}
    inner = env.unwrapped
    for index in indices:
        _open(env, index)  # for the wrappers, which see that there was a reset
        for action in actions_of(inner, policies.resolve(policy), Split.TRAIN, index):
            name = action.name if isinstance(action, ToolCall) else str(action).split("(")[0]
            taken.setdefault(name, []).append(timed(env.step, [action]))
            taken["reference"].append(timed(lambda _: reference_work(), range(1)))
    return taken


@suite.measure(bounds={f"{name}.finish_ms": at_most(3) for name in IDS})
def verdicts(run: Run) -> Figures:
    """Hand in the oracle's episodes: the last call, which is judged under both profiles."""
    figures: Figures = {}
    for name, env_id in IDS.items():
        env = make(env_id)
        _calls(env, "oracle", SEEN[: run.repeats(20)])
        taken = _calls(env, "oracle", range(run.repeats(60)))
        figures |= with_prefix(name, Timing.join(taken["finish"]).figures("finish"))
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
            _open(env, index)
    before, each = resident_mib(), run.repeats(250)
    envs = [make(env_id) for env_id in IDS.values() for _ in range(each)]
    for index, env in enumerate(envs):
        _open(env, index)
    opened = resident_mib() - before
    for env in envs:
        inner = env.unwrapped
        script = inner.family.oracle(inner.episode._instance, np.random.default_rng(0))
        for action in [one for one in script if isinstance(one, ToolCall)][:10]:
            if action.name != "finish":
                env.step(action)
    return {
        "count": len(envs),
        "before_mib": before,
        "opened_mib": opened,
        "played_mib": resident_mib() - before,
    }


if __name__ == "__main__":
    raise SystemExit(suite.main())
