"""What a process holds while it plays one episode after the other: it has to stop growing."""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from healthgym.core.borders import Settings
from healthgym.core.seeding import Split
from healthgym.policies.scripted import RandomPolicy
from healthgym.registration import make_health_env

#: Steps of each episode: enough to open what a task offers, and to hand in now and then.
_STEPS = 8


@dataclass(frozen=True, slots=True)
class Holding:
    """What a process holds.

    Attributes:
        episode: Episodes played by then.
        mib: Memory that is its own and in use, in MiB; what is shared or mapped from files is not.
        descriptors: Open descriptors.
        shared: Memory that is shared with other processes, in MiB.
        children: Memory of the processes it has started that is their own, in MiB.
    """

    episode: int
    mib: float
    descriptors: int
    shared: float = 0.0
    children: float = 0.0


def holdings(
    env_ids: Sequence[str],
    episodes: int,
    every: int = 50,
    *,
    kwargs: Mapping[str, Settings] | None = None,
) -> Iterator[Holding]:
    """Play episodes of several environments in turn, each another task, and look at the process.

    Linux only: what a process holds is read from ``/proc``.

    Args:
        env_ids: The environments; each is made once.
        episodes: Episodes in all.
        every: Episodes between two looks.
        kwargs: Arguments of environments by id, such as ``{"python": "full"}``.
    """
    policy = RandomPolicy(0)
    envs = [make_health_env(env_id, (kwargs or {}).get(env_id)) for env_id in env_ids]
    for number in range(episodes):
        turn, place = divmod(number, len(envs))
        env = envs[place]
        size = env.family.generator.size(Split.TRAIN)
        split = Split.TRAIN if size else Split.TEST
        index = turn % (size or env.family.generator.size(split))
        observation, info = env.reset(options={"split": str(split), "index": index})
        policy.begin(env, observation, info)
        for _ in range(_STEPS):
            observation, _, terminated, truncated, _ = env.step(policy.act(observation))
            if terminated or truncated:
                break
        if (number + 1) % every == 0:
            gc.collect()
            yield Holding(number + 1, *_held())


def _held() -> tuple[float, int, float, float]:
    own, shared = _memory("self")
    below = sum(_memory(child)[0] for child in _children("self"))
    return own, len(os.listdir("/proc/self/fd")), shared, round(below, 1)


def _memory(process: str) -> tuple[float, float]:
    """Return the memory of a process in MiB: its own, and what it shares; zeros once it is gone."""
    try:
        lines = Path(f"/proc/{process}/status").read_text("ascii", "replace").splitlines()
    except OSError:
        return 0.0, 0.0
    sizes = {name: value for name, _, value in (line.partition(":") for line in lines)}
    own, shared = (int(sizes.get(name, "0").split()[0]) for name in ("RssAnon", "RssShmem"))
    return round(own / 1024, 1), round(shared / 1024, 1)


def _children(process: str) -> Iterator[str]:
    for task in Path(f"/proc/{process}/task").glob("*/children"):
        with suppress(OSError):
            for child in task.read_text("ascii").split():
                yield child
                yield from _children(child)
