"""Measure the three marathons into results/marathon.json.

    python benchmarks/marathon.py                     every figure
    python benchmarks/marathon.py --only resets       how long an episode takes to begin
    python benchmarks/marathon.py --only policies.CareManagement --policies oracle fan_out
    python benchmarks/marathon.py --only trained --trained FOLDER ...

Times are medians of queues not seen before in the process, at the clinic's patients written.
Bounds are of queues of 25 cases, as the source has them, and by the processor's clock: the wall's
tells what else a machine does. Intervals are the published bootstrap over queues.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import cycle
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
from _managed_care.queues import Tally

from healthgym.core.seeding import Split
from healthgym.core.tool import ToolCall, call
from healthgym.envs.managed_care.marathon.family import SIZES
from healthgym.worlds.managed_care.records.care import CMReferral

DESKS = ("PriorAuthorization", "UtilizationManagement", "CareManagement")
#: How a case is looked at: the tool, and what it asks for.
LOOKS = {
    "PriorAuthorization": ("chart.list_candidate_orders", "patient_id"),
    "UtilizationManagement": ("payer_intake_hub.list_documents", "case_id"),
    "CareManagement": ("cm_intake.get_referral", "referral_id"),
}
#: Cases of an episode of the source.
FULL = 25
#: Calls of an episode that is to be quick.
CALLS = 1500
#: What an episode may hold beyond what all share, in MiB.
HELD = 30
#: Cases that are drawn before any is timed: they write the patients whom all tasks share.
SEEN = 600
#: Test queues of a policy, by their cases.
QUEUES = {1: 40, 3: 14, 5: 8, 10: 5, 25: 4}
#: Queues that are worked several times, and how often.
TRIED, ATTEMPTS = 8, 4
#: Rollouts of one queue, as trainers of groups have them.
GROUP = 8
#: First queue that is timed or scored; those before it are for warming up.
FIRST = 700

suite = Suite("marathon", __doc__)
suite.parser.add_argument("--policies", nargs="+", help="who plays (default: all)")
suite.parser.add_argument("--sizes", nargs="+", type=int, default=SIZES, help="cases of a queue")
suite.parser.add_argument("--trained", nargs="+", type=Path, help="folders of trained models")


def queue(desk: str, size: int = FULL) -> Any:
    """Make the marathon of a desk, with cases of the usual difficulty."""
    return make(f"HealthAgent/Marathon{desk}-v1", size=size)


def warm(desk: str) -> None:
    """Begin queues until the patients are written whom all tasks of a process share."""
    env = queue(desk)
    for index in range(SEEN // FULL):
        begin(env, index)


def begin(env: Any, index: int) -> None:
    """Begin a queue."""
    env.reset(options={"index": index})


@suite.measure(
    bounds={
        f"{desk}.{how}_{FULL}_cpu_ms": at_most(60)
        for desk in DESKS
        for how in ("of", "in_groups_of")
    }
)
def resets(run: Run) -> Figures:
    """Begin queues of each desk and size."""
    figures: Figures = {}
    for desk in DESKS:
        warm(desk)
        for size in SIZES:
            numbers = range(FIRST, FIRST + run.repeats(20))
            env = queue(desk, size)
            taken = timed(partial(begin, env), numbers)
            # As in a group of rollouts of one task, which is drawn for the first of them.
            again = timed(partial(begin, env), [numbers[-1]] * len(numbers))
            figures |= with_prefix(
                desk, taken.figures(f"of_{size}") | again.figures(f"same_{size}")
            )
            groups = range(FIRST + 100, FIRST + 100 + run.repeats(10))
            shared = timed(partial(begin, env), [n for n in groups for _ in range(GROUP)])
            figures[f"{desk}.in_groups_of_{size}_cpu_ms"] = shared.mean_cpu()
    return figures


def looks(env: Any, desk: str) -> Iterator[ToolCall]:
    """Yield calls that look at one case of a queue after the other, for ever."""
    tool, argument = LOOKS[desk]
    instance = env.unwrapped.episode._instance
    referrals = {
        one.case_id: one.referral_id
        for one in instance.start.records
        if isinstance(one, CMReferral)
    }
    for key, piece in cycle(instance.reference.pieces.items()):
        named = {
            "case_id": key,
            "patient_id": piece.patient_id,
            "referral_id": referrals.get(key, ""),
        }
        yield call(tool, **{argument: named[argument]})


def worked(env: Any, desk: str, index: int) -> tuple[list[Any], int]:
    """Return the calls that solve a queue, and as many looks at its cases as make 1,500 calls.

    The queue is begun anew after they are worked out: what is written late is not written yet.
    """
    begin(env, index)
    instance = env.unwrapped.episode._instance
    script = list(env.unwrapped.family.oracle(instance, np.random.default_rng(index)))[:-1]
    begin(env, index)
    more = looks(env, desk)
    solving = len(script)
    return [*script, *(next(more) for _ in range(CALLS - solving - 1)), call("finish")], solving


@suite.measure(bounds={f"{desk}_cpu_s": at_most(0.6) for desk in DESKS})
def episodes(run: Run) -> Figures:
    """Make 1,500 calls in an episode of 25 cases: those that solve it, then looks at its cases."""
    figures: Figures = {}
    for desk in DESKS:
        env = queue(desk)
        taken = []
        for index in range(FIRST, FIRST + run.repeats(5)):
            script, solving = worked(env, desk, index)
            _, timing = once(partial(play_all, env, script))
            taken.append((timing.median("s"), timing.median_cpu("s"), solving))
        wall, processor, count = np.median(taken, axis=0)
        figures |= {f"{desk}_s": wall, f"{desk}_cpu_s": processor, f"{desk}_solving_calls": count}
    return figures


def play_all(env: Any, script: list[Any]) -> None:
    """Make every call of a script in an episode that has begun."""
    for action in script:
        env.step(action)


@suite.measure(bounds={f"{desk}_mib": at_most(HELD) for desk in DESKS})
def memory(run: Run) -> Figures:
    """Hold ten solved queues of 25 cases at once, each desk in a process of its own."""
    return {
        f"{desk}_mib": in_fresh_process(held, desk, run.repeats(10))["each_mib"] for desk in DESKS
    }


def held(desk: str, count: int) -> Figures:
    """Return what one of some solved queues holds besides what all share."""
    warm(desk)
    before, kept = resident_mib(), []
    for index in range(FIRST, FIRST + count):
        env = queue(desk)
        script, _ = worked(env, desk, index)
        play_all(env, script)
        kept.append(env)
    return {"each_mib": (resident_mib() - before) / len(kept)}


def played(env: Any, name: str, number: int, seed: int) -> Any:
    """Return an episode in which a policy worked a queue."""
    from healthgym.policies.scripted import resolve

    return play(env.unwrapped, resolve(name, seed), "test", number)


def policies(desk: str, run: Run) -> Figures:
    """Have scripted policies work queues of each size."""
    figures: Figures = {}
    for size in run.options.sizes:
        env = queue(desk, size)
        every = ["oracle", *env.unwrapped.family.baselines(), "nop", "random"]
        for name in run.options.policies or every:
            tally = Tally()
            for number in range(run.tasks(QUEUES[size])):
                tally.add(played(env, name, number, number))
            figures |= with_prefix(f"of_{size}.{name}", tally.figures())
    return figures


for _desk in DESKS:
    suite.measure(f"policies.{_desk}")(partial(policies, _desk))


@suite.measure()
def attempts(run: Run) -> Figures:
    """Have those who leave something to chance work each queue several times."""
    figures: Figures = {}
    for desk in DESKS:
        for size in (1, 3):
            env = queue(desk, size)
            for name in ("random", "flood"):
                tally = Tally(ATTEMPTS)
                for number in range(run.tasks(TRIED)):
                    for seed in range(ATTEMPTS):
                        tally.add(played(env, name, number, seed))
                figures |= with_prefix(f"{desk}.of_{size}.{name}", tally.passes(ATTEMPTS))
    return figures


@suite.measure(usual=False)
def trained(run: Run) -> Figures:
    """Have models that `marathon_training.py` kept work the drill's queues of each size.

    By their likeliest tokens once, and several times by tokens that are drawn.
    """
    from _managed_care.drill_queues import begun, drawn
    from marathon_training import kept

    figures: Figures = {}
    for folder in run.options.trained or ():
        model = kept(folder)
        for size in run.options.sizes:
            count = run.tasks(QUEUES[size])
            tally, tries = Tally(), Tally(ATTEMPTS)
            for number in range(count):
                instance = drawn(Split.TEST, size, number)
                tally.add(model.worked(begun(instance)))
                for seed in range(ATTEMPTS):
                    tries.add(model.worked(begun(instance), 1.0, seed))
            own = {**tally.figures(), **tries.passes(ATTEMPTS)}
            figures |= with_prefix(f"{folder.name}.of_{size}", own)
    return figures


if __name__ == "__main__":
    raise SystemExit(suite.main())
