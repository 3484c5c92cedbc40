"""What not looking is worth: the shaped return of policies that never use what a tool says."""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from healthgym.core.borders import Json, Settings
from healthgym.core.env import HealthEnv
from healthgym.core.family import Script
from healthgym.core.seeding import Split
from healthgym.core.task import AnyInstance
from healthgym.core.tool import ToolCall, ToolKind
from healthgym.policies.scripted import RandomPolicy
from healthgym.rewards import PotentialReward
from healthgym.testing.play import keeping_env, require

#: Most that the upper end of a blind policy's interval may be.
MOST = 0.05
#: Half the width of a 95 % interval, in standard errors.
_WIDTH = 1.96
#: Train tasks of a kind from which constants are learnt, and train tasks looked through for them.
_LEARNT, _SEARCHED = 12, 400
_TOKEN = re.compile(r"[^\s\"',;()\[\]{}]+")

#: A blind policy: what it does on a task, of which it may read the instruction.
Blind = Callable[[AnyInstance, np.random.Generator], Script]


@dataclass(frozen=True, slots=True)
class Return:
    """A mean shaped return, with its 95 % interval.

    Attributes:
        mean: The mean.
        low: Lower end of the interval.
        high: Upper end.
        tasks: Tasks played.
    """

    mean: float
    low: float
    high: float
    tasks: int

    @classmethod
    def of(cls, returns: Sequence[float]) -> Return:
        """Summarize the returns of some tasks."""
        mean = float(np.mean(returns))
        spread = float(np.std(returns, ddof=1)) if len(returns) > 1 else math.inf
        half = _WIDTH * spread / math.sqrt(len(returns))
        return cls(mean, mean - half, mean + half, len(returns))


def check_blind(
    env_id: str,
    tasks: int = 200,
    most: float = MOST,
    settled: bool = True,
    split: Split = Split.VALIDATION,
) -> dict[str, Return]:
    """Play who does not look: no shaped return is above zero by more than a little.

    Blind are ``nop``, ``random``, the family's baselines but those that it declares to be
    ``looking``, and two that are learnt from the oracle's scripts on train tasks of the same kind:
    one of them replayed, and what is done most often. In a script that is replayed, words of its
    instruction, such as an identifier, give way to those that stand in their place in the new one.
    Kinds that the family's proofs name as ``told`` are left out.

    Args:
        env_id: The environment.
        tasks: Number of tasks.
        most: Most that a return may be.
        settled: Whether the upper end of the 95 % interval is held to that; else its lower end,
            for samples too small to settle it.
        split: Where the tasks are drawn. By default as training ones are, from tasks that taught no
            constant; a benchmark's own test tasks may have another mix. Where it has no tasks,
            those of the test split are played.

    Returns:
        The shaped returns, by policy.
    """
    env = _shaped(env_id)
    if not env.family.generator.size(split):
        split = Split.TEST
    returns = _returns(env, split, tasks)
    found = {
        name: Return.of([paid for kind in kinds.values() for paid in kind])
        for name, kinds in returns.items()
    }
    for name, one in found.items():
        bound = one.high if settled else one.low
        told = f"{one.mean:.3f} [{one.low:.3f}, {one.high:.3f}] on {one.tasks} tasks"
        require(bound <= most, f"{env_id}: {name} does not look, and gets {told}.")
    return found


def measured_chance(
    env_id: str, tasks: int = 400, kwargs: Settings | None = None
) -> dict[str, float]:
    """Return what a family may declare as its ``chance``, from train tasks.

    Args:
        env_id: The environment.
        tasks: Number of train tasks.
        kwargs: Its arguments, such as the one kind that is measured.

    Returns:
        By kind, the mean progress of the best policy that does not look, where it has some.
    """
    env = _shaped(env_id, kwargs)
    env.family.chance = {}
    best: dict[str, float] = {}
    for name, kinds in _returns(env, Split.TRAIN, tasks).items():
        if name != "random":
            for kind, paid in kinds.items():
                best[kind] = max(best.get(kind, 0.0), round(float(np.mean(paid)), 2))
    return {kind: reached for kind, reached in sorted(best.items()) if reached}


def _shaped(env_id: str, kwargs: Settings | None = None) -> HealthEnv:
    env = keeping_env(env_id, kwargs)
    env.reward = PotentialReward()
    return env


def _returns(
    env: HealthEnv, split: Split, tasks: int
) -> Mapping[str, Mapping[str, Sequence[float]]]:
    """Return what each blind policy is paid on each task of the kinds that have to be read."""
    family, scripts = env.family, _Train(env)
    players: dict[str, Blind] = {
        "nop": lambda instance, rng: [],
        "replayed": scripts.replayed,
        "usual": scripts.usual,
        **{n: play for n, play in family.baselines().items() if n not in family.looking},
    }
    returns: dict[str, defaultdict[str, list[float]]] = {
        name: defaultdict(list) for name in ("random", *players)
    }
    for number in range(min(tasks, family.generator.size(split))):
        # Constants are learnt from the first train tasks.
        index = number + _SEARCHED if split is Split.TRAIN else number
        instance = family.generator.generate(split, index)
        kind = instance.task.kind
        if kind in family.proofs.told:
            continue
        returns["random"][kind].append(_random(env, instance))
        for name, play in players.items():
            script = play(instance, np.random.default_rng(index))
            returns[name][kind].append(_paid(env, instance, script))
    return returns


def _paid(env: HealthEnv, instance: AnyInstance, script: Script) -> float:
    """Return the return of a script; one that does not hand anything in is stopped."""
    key = instance.task.key
    episode = env.open_episode(key.split, key.index)
    for action in script:
        if episode.done(env.role):
            break
        episode.step(action, env.role)
    if not episode.done(env.role):
        episode.stop(env.role)
    return episode.total_reward(env.role)


def _random(env: HealthEnv, instance: AnyInstance) -> float:
    """Return the return of random calls."""
    key, policy = instance.task.key, RandomPolicy()
    shown, info = env.reset(options={"split": str(key.split), "index": key.index})
    policy.begin(env, shown, info)
    while not env.episode.done(env.role):
        shown = env.step(policy.act(shown))[0]
    return env.episode.total_reward(env.role)


class _Train:
    """What the oracle does on train tasks, by kind.

    Args:
        env: The environment.
    """

    def __init__(self, env: HealthEnv) -> None:
        self._family = env.family
        self._known: defaultdict[str, list[tuple[str, Script]]] = defaultdict(list)
        self._seen = 0
        self._searched = min(_SEARCHED, env.family.generator.size(Split.TRAIN))
        catalog = env.family.roles[env.role].catalog
        self._reads = {
            name
            for spec in catalog.specs
            if spec.kind is ToolKind.READ
            for name in (spec.name, spec.identifier)
        }

    def replayed(self, instance: AnyInstance, rng: np.random.Generator) -> Script:
        """Return what solves a train task of the same kind."""
        known = self._of(instance.task.kind)
        if not known:
            return []
        instruction, script = known[int(rng.integers(len(known)))]
        return translated(script, instruction, instance.task.instruction)

    def usual(self, instance: AnyInstance, rng: np.random.Generator) -> Script:
        """Return what is written and handed in most often on train tasks of the same kind."""
        here = instance.task.instruction
        scripts = [
            [one for one in translated(script, said, here) if self._acts(one)]
            for said, script in self._of(instance.task.kind)
        ]
        if not scripts:
            return []
        told = [repr(script) for script in scripts]
        return scripts[told.index(Counter(told).most_common(1)[0][0])]

    def _acts(self, action: object) -> bool:
        return not (isinstance(action, ToolCall) and action.name in self._reads)

    def _of(self, kind: str) -> Sequence[tuple[str, Script]]:
        while len(self._known[kind]) < _LEARNT and self._seen < self._searched:
            instance = self._family.generator.generate(Split.TRAIN, self._seen)
            self._seen += 1
            if len(self._known[instance.task.kind]) < _LEARNT:
                script = self._family.oracle(instance, np.random.default_rng(0))
                self._known[instance.task.kind].append((instance.task.instruction, script))
        return self._known[kind]


def translated(script: Script, said: str, here: str) -> Script:
    """Return a script with the words of one instruction replaced by those of another.

    A word gives way to the one that is the n-th of its shape there as it was here.

    Args:
        script: What was done.
        said: The instruction it was done for.
        here: The other instruction.
    """
    places, words = _by_shape(said), _by_shape(here)
    swaps = {
        word: words[shape][number]
        for shape, those in places.items()
        for number, word in enumerate(those)
        if number < len(words.get(shape, ()))
    }

    def swapped(value: Json) -> Json:
        if isinstance(value, str):
            return swaps.get(value, value)
        if isinstance(value, list):
            return [swapped(one) for one in value]
        if isinstance(value, dict):
            return {name: swapped(one) for name, one in value.items()}
        return value

    return [
        ToolCall(one.name, {name: swapped(value) for name, value in one.arguments.items()})
        if isinstance(one, ToolCall)
        else one
        for one in script
    ]


def _by_shape(text: str) -> Mapping[str, list[str]]:
    """Return the words of a text that hold a digit, each once, by their shape."""
    found: defaultdict[str, list[str]] = defaultdict(list)
    for word in dict.fromkeys(one.strip(".:?!") for one in _TOKEN.findall(text)):
        if any(letter.isdigit() for letter in word):
            shape = re.sub(r"[A-Za-z]", "A", re.sub(r"\d", "9", word))
            found[shape].append(word)
    return found
