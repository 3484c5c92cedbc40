"""Measures a card: plays the scripted policies, times them, and counts what they read."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from healthgym.core.action import text_of
from healthgym.core.borders import JsonObject
from healthgym.core.env import HealthEnv
from healthgym.core.family import NOP, ORACLE, RANDOM, UNKNOWING
from healthgym.core.seeding import Split, task_rng
from healthgym.core.spending import estimate_tokens
from healthgym.errors import ConfigurationError
from healthgym.integrations.trl.evaluation import play_script
from healthgym.registration import make_health_env
from healthgym.testing.cards.machine import machine
from healthgym.testing.cards.schema import (
    Attacked,
    Baseline,
    Card,
    Groups,
    Kind,
    Level,
    Proofs,
    Rate,
    Size,
    Speed,
)
from healthgym.testing.play import keeping_env

LEVELS = ("easy", "medium", "hard")
#: Rollouts of a group, as in training.
GROUP = 8
#: Chance that the erring oracle leaves out an action: somebody who imitates well, but not yet all.
SLIP = 0.1
SLIPPING = "slipping oracle"
#: Stream of a task's random numbers from which rollouts of a group draw.
_STREAM = 7_010
#: Of so many tasks there is one group, and the fewest and most of either.
_TASKS_A_GROUP, _FEWEST_GROUPS, _MOST_GROUPS, _FEWEST_TASKS = 3, 2, 16, 2

#: The shortest time that the clock tells, in seconds.
_TICK = 1e-6
#: A split of no more tasks than this is a fixed set, and no stream.
_SET = 100_000

Told = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Effort:
    """How much is measured.

    Attributes:
        tasks: Tasks each policy plays, if there are as many.
        seconds: Processor time that a policy may take about; where tasks are dear, fewer are
            played, and the card says how many.
    """

    tasks: int = 40
    seconds: float = 20.0


@dataclass(slots=True)
class _Timed:
    """What the oracle's episodes took, in seconds of processor time, and what was read."""

    resetting: float = 0.0
    stepping: float = 0.0
    whole: float = 0.0
    resets: int = 0
    instructions: list[str] = field(default_factory=list)
    observations: list[str] = field(default_factory=list)
    tools: list[str] = field(default_factory=list)
    episodes: list[int] = field(default_factory=list)


def measure(
    env_id: str,
    effort: Effort | None = None,
    *,
    checkout: Path | None = None,
    told: Told = lambda text: None,
) -> Card:
    """Measure an environment as it is registered.

    Success is of the test split, or of the train split where the former is empty: of its first
    tasks, or of tasks spread over it where it is a fixed set. Groups are of tasks that a trainer
    would draw.

    Args:
        env_id: A registered id.
        effort: How much is measured.
        checkout: Root of the source checkout, where proofs are published; None if there is none.
        told: Told what is done next.

    Raises:
        ConfigurationError: If there is no such environment, or it has no tasks.
    """
    effort = effort or Effort()
    env = make_health_env(env_id)
    split = _with_tasks(env, Split.TEST, Split.TRAIN)
    practice = _with_tasks(env, Split.TRAIN, Split.TEST)
    told("speed and size")
    timed = _timed(env, split, effort)
    dear = max(timed.whole, _TICK) / timed.resets
    size = env.family.generator.size(split)
    tasks = min(effort.tasks, size, max(int(effort.seconds / dear), _FEWEST_TASKS))
    baselines = []
    indices = spread(env, split, tasks)
    for name, kind in kinds(env).items():
        told(f"{name} on {tasks} tasks")
        success, earned = _scored(env, name, split, indices)
        baselines.append(Baseline(policy=name, kind=kind, success=success, mean_return=earned))
    readers = [one.policy for one in baselines if one.kind is Kind.READS]
    reader = readers[0] if readers else ""
    told("difficulties, and groups of rollouts")
    return Card(
        env_id=env_id.rpartition(":")[2],
        split=split,
        tasks=tasks,
        groups_split=practice,
        reader=reader,
        baselines=tuple(baselines),
        levels=tuple(_levels(env_id, reader, split, tasks)) if reader else (),
        groups=tuple(_groups(env_id, practice, tasks)),
        proofs=_proofs(env_id, checkout),
        attack=_attack(env, checkout),
        speed=Speed(
            resets_per_s=timed.resets / max(timed.resetting, _TICK),
            steps_per_s=len(timed.observations) / max(timed.stepping, _TICK),
            resets=timed.resets,
            steps=len(timed.observations),
        ),
        size=_size(timed),
        training=None,
        machine=machine(checkout),
    )


def _with_tasks(env: HealthEnv, first: Split, other: Split) -> Split:
    for split in (first, other):
        if env.family.generator.size(split):
            return split
    raise ConfigurationError(f"{env.family.name} has no tasks to measure.")


def kinds(env: HealthEnv) -> dict[str, Kind]:
    """Return the scripted policies of an environment by name, with what each knows."""
    family = env.family
    scripts = (*family.baselines(), *family.practices())
    return {
        ORACLE: Kind.ORACLE,
        **dict.fromkeys(family.solvers(), Kind.READS),
        **{name: Kind.LOOKS for name in scripts if name in family.looking},
        **dict.fromkeys(family.practices(), Kind.LOOKS),
        **{name: Kind.BLIND for name in family.baselines() if name not in family.looking},
        **dict.fromkeys(UNKNOWING, Kind.UNKNOWING),
    }


def _timed(env: HealthEnv, split: Split, effort: Effort) -> _Timed:
    """Play the oracle, time what the environment takes, and keep what is read."""
    found = _Timed()
    # The first reset loads what all tasks share.
    env.reset(options={"split": split, "index": 0})
    for index in spread(env, split, effort.tasks):
        begun = time.process_time()
        observation, info = env.reset(options={"split": split, "index": index})
        found.resetting += time.process_time() - begun
        found.resets += 1
        tools = json.dumps(info["tools"], ensure_ascii=False)
        found.instructions.append(observation)
        found.tools.append(tools)
        characters = len(observation) + len(tools)
        instance = env.family.generator.generate(split, index)
        rng = task_rng(env.family.generator.name, split, index, _STREAM)
        player = env.family.player(ORACLE, instance, rng, env.role)
        action = player.act()
        while action is not None and not env.episode.done():
            before = time.process_time()
            observation, *_ = env.step(action)
            found.stepping += time.process_time() - before
            found.observations.append(observation)
            characters += len(observation) + len(text_of(action))
            action = player.act(observation)
        found.episodes.append(characters)
        found.whole += time.process_time() - begun
        if found.whole > effort.seconds and found.resets >= _FEWEST_TASKS:
            break
    return found


def _size(timed: _Timed) -> Size:
    def in_bytes(texts: list[str]) -> list[int]:
        return [len(text.encode("utf-8", "surrogatepass")) for text in texts]

    def in_tokens(texts: list[str]) -> float:
        return float(np.mean([estimate_tokens(len(text)) for text in texts] or [0]))

    seen = in_bytes(timed.observations) or [0]
    return Size(
        instruction_bytes=float(np.mean(in_bytes(timed.instructions))),
        observation_bytes=float(np.mean(seen)),
        longest_observation_bytes=max(seen),
        tools_bytes=float(np.mean(in_bytes(timed.tools))),
        instruction_tokens=in_tokens(timed.instructions),
        observation_tokens=in_tokens(timed.observations),
        tools_tokens=in_tokens(timed.tools),
        episode_tokens=float(np.mean([estimate_tokens(each) for each in timed.episodes])),
    )


def spread(env: HealthEnv, split: Split, count: int) -> list[int]:
    """Return the indices of so many tasks of a split: the first ones, or spread over a fixed set.

    A published set is listed by kind of task, so that its first tasks are all alike.
    """
    size = env.family.generator.size(split)
    count = min(count, size)
    return [number * size // count for number in range(count)] if size <= _SET else [*range(count)]


def _scored(env: HealthEnv, name: str, split: Split, indices: list[int]) -> tuple[Rate, float]:
    """Return a scripted policy's success and mean return."""
    won, returns = 0, 0.0
    for index in indices:
        (run,) = play_script(env, name, [(split, index)])
        success = run.episode.verdict(env.role).success and run.episode.submitted(env.role)
        won += bool(success)
        returns += run.episode.total_reward(env.role)
    return Rate.of(won, len(indices)), returns / len(indices)


def _levels(env_id: str, reader: str, split: Split, tasks: int) -> Iterator[Level]:
    """Yield the reader's success at each difficulty; none of a published set, which has one."""
    spec = make_health_env(env_id).spec
    if spec is not None and spec.kwargs.keys() & {"canonical", "benchmark"}:
        return
    for name in LEVELS:
        try:
            env = make_health_env(env_id, {"difficulty": name})
        except (ConfigurationError, TypeError):
            continue
        success, _ = _scored(env, reader, split, spread(env, split, tasks))
        yield Level(difficulty=name, success=success)


def _groups(env_id: str, split: Split, tasks: int) -> Iterator[Groups]:
    """Yield how groups of rollouts come out, of who presses any key and of an erring oracle."""
    try:
        env = keeping_env(env_id, {"reward": "shaped"})
    except TypeError:  # made by hand, with a reward of its own
        env = keeping_env(env_id)
    count = min(max(tasks // _TASKS_A_GROUP, _FEWEST_GROUPS), _MOST_GROUPS)
    indices = spread(env, split, count)
    count = len(indices)
    for policy in (RANDOM, SLIPPING):
        won, returns = [], []
        for index in indices:
            found = [_rollout(env, policy, split, index, number) for number in range(GROUP)]
            won.append([success for success, _ in found])
            returns.append([earned for _, earned in found])
        yield Groups(
            policy=policy,
            size=GROUP,
            success=Rate.of(sum(map(sum, won)), count * GROUP),
            same_success=Rate.of(sum(len(set(group)) == 1 for group in won), count),
            same_return=Rate.of(sum(np.ptp(group) < 1e-9 for group in returns), count),
        )


def _rollout(
    env: HealthEnv, policy: str, split: Split, index: int, number: int
) -> tuple[bool, float]:
    """Play a task once; return success and return."""
    family = env.family
    rng = task_rng(family.generator.name, split, index, _STREAM + 1 + number)
    episode = env.open_episode(split, index)
    instance = family.generator.generate(split, index)
    name = ORACLE if policy == SLIPPING else policy
    player = family.player(name, instance, rng, env.role)
    action = player.act()
    while action is not None and not episode.done():
        slips = policy == SLIPPING and rng.random() < SLIP
        action = player.act("" if slips else episode.step(action).observation)
    if not episode.done():
        episode.stop()
    success = episode.verdict(env.role).success and episode.submitted(env.role)
    return bool(success), episode.total_reward(env.role)


def _published(checkout: Path | None, name: str) -> Mapping[str, JsonObject]:
    """Return the published figures of a benchmark; none where there are none."""
    path = checkout / "benchmarks" / "results" / f"{name}.json" if checkout else None
    if path is None or not path.is_file():
        return {}
    figures: Mapping[str, JsonObject] = json.loads(path.read_text(encoding="utf-8"))["figures"]
    return figures


def _attack(env: HealthEnv, checkout: Path | None) -> Attacked | None:
    """Return what is published of a policy trained to find holes; None where nothing is."""
    figures = _published(checkout, "gap_by_attack")
    told = figures.get(env.family.generator.name.replace("-", "_"))
    if told is None:
        return None
    held = told["strict_shaped"]["test"]
    # Episodes and tests are counted over all rewards that it was trained on, in equal parts.
    arms = sum(isinstance(one, dict) and "test" in one for one in told.values())
    return Attacked(
        episodes=told["episodes"] // arms,
        tests=told["tests"] // arms,
        paid=held["paid"],
        success=held["strict"],
        excess=len(told["excess"]),
    )


def _proofs(env_id: str, checkout: Path | None) -> Proofs | None:
    """Return the published errors of the verifier; None where none are."""
    counts = _published(checkout, "proofs").get(env_id.rpartition(":")[2])
    if counts is None:
        return None
    return Proofs(
        false_accept=_summed(counts["corruptions"]), false_reject=_summed(counts["equivalents"])
    )


def _summed(counts: Mapping[str, list[int]]) -> Rate | None:
    found, n = (sum(count[place] for count in counts.values()) for place in (0, 1))
    return Rate.of(found, n) if n else None


__all__ = ["GROUP", "NOP", "SLIP", "Effort", "kinds", "measure"]
