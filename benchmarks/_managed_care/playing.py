"""Opening tasks and timing the calls of policies, for all of managed care."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from _harness import Figures, Timing, reference_work, timed

from healthgym.core.seeding import Split
from healthgym.core.tool import ToolCall
from healthgym.policies import scripted as policies
from healthgym.testing.play import actions_of

#: Tasks of any difficulty that bring every patient of the clinic into the process.
SEEN = range(20_000, 20_060)


def open_task(env: Any, index: int) -> None:
    """Reset to a task."""
    env.reset(options={"index": index})


def timed_calls(env: Any, policy: str, indices: Iterable[int]) -> dict[str, list[Timing]]:
    """Time every call of a policy's episodes, by tool; beside each, the reference."""
    taken: dict[str, list[Timing]] = {"reference": []}
    inner = env.unwrapped
    for index in indices:
        open_task(env, index)  # for the wrappers, which see that there was a reset
        for action in actions_of(inner, policies.resolve(policy), Split.TRAIN, index):
            name = action.name if isinstance(action, ToolCall) else str(action).split("(")[0]
            taken.setdefault(name, []).append(timed(env.step, [action]))
            taken["reference"].append(timed(lambda _: reference_work(), range(1)))
    return taken


def figures_of_calls(taken: Mapping[str, Sequence[Timing]], episodes: int) -> Figures:
    """Tell what calls took: all of them, and each tool's; over the reference where it was timed."""
    of = {name: Timing.join(each) for name, each in taken.items()}
    reference = of.pop("reference", None)
    whole = Timing.join(of.values())
    ratio = {} if reference is None else {"call_over_reference_ratio": whole.over(reference)}
    return {
        **whole.spread("call", "us"),
        "call_cpu_us": whole.median_cpu("us"),
        "calls_of_one": len(whole.wall) / episodes,
        **ratio,
        "cpu_of": {f"{name}_us": each.median_cpu("us") for name, each in sorted(of.items())},
    }


def first_calls(env: Any, most: int) -> list[ToolCall]:
    """Return the oracle's first calls of the task that is open, its last one left out."""
    inner = env.unwrapped
    script = inner.family.oracle(inner.episode._instance, np.random.default_rng(0))
    calls = [each for each in script if isinstance(each, ToolCall)][:most]
    return [each for each in calls if each.name != "finish"]
