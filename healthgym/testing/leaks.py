"""Nothing depends on the Reference before the end, and no task is in two splits."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from dataclasses import replace
from types import (
    BuiltinFunctionType,
    FunctionType,
    MethodDescriptorType,
    MethodType,
    ModuleType,
)
from typing import Any

from healthgym.core.canonical import canonical
from healthgym.core.drawn import DRAWN
from healthgym.core.env import HealthEnv
from healthgym.core.seeding import INDEX_BOUND, Split, content_hash
from healthgym.core.state import Stateful
from healthgym.core.task import AnyGenerator, AnyInstance, Instance, Reference, TaskGenerator
from healthgym.core.tool import ToolKind
from healthgym.core.world import World
from healthgym.errors import ConformanceError
from healthgym.policies.scripted import RandomPolicy, ScriptPolicy
from healthgym.registration import make_health_env
from healthgym.rewards import SparseReward
from healthgym.testing.play import ORACLE, practice, require, shown

_MAX_OBJECTS = 200_000
_DRAWN_TWICE = 5
_OPAQUE = (
    type,
    ModuleType,
    FunctionType,
    MethodType,
    BuiltinFunctionType,
    MethodDescriptorType,
)


class _OtherReference(TaskGenerator[Any, Any, Any]):
    """Tasks, each with the reference of another task: what no agent may notice."""

    def __init__(self, inner: AnyGenerator, distance: int) -> None:
        self._inner, self._distance = inner, distance
        self.name = inner.name

    def size(self, split: Split) -> int:
        return self._inner.size(split)

    def draw(self, split: Split, index: int) -> Instance[Any, Any, Any]:
        instance = self._inner.generate(split, index)
        size = self.size(split)
        other = self._inner.generate(split, (index + self._distance) % size)
        return replace(instance, reference=other.reference)


def swapped_env(env_id: str, distance: int = 1) -> HealthEnv:
    """Return an environment whose tasks have the references of others.

    Its reward asks for no progress, and its episodes must not be played to their end: no verifier
    makes sense of such a pair.

    Args:
        env_id: The environment.
        distance: How many indices further the task is whose reference each task has.
    """
    env = make_health_env(env_id)
    env.family.generator = _OtherReference(env.family.generator, distance)
    env.reward = SparseReward()
    env.render_mode = "ansi"
    return env


def check_non_interference(env_id: str, tasks: int = 5) -> int:
    """Play the same actions under another task's reference: nothing may come out differently.

    Compared are observations, infos, pictures, transcripts, events and the digest of the world,
    its files included, up to settlement. No object that can be reached from the world, which is
    all a tool gets to see, may be a reference.

    Args:
        env_id: The environment.
        tasks: Number of tasks.

    Returns:
        The number of steps compared.
    """
    plain = make_health_env(env_id)
    plain.reward, plain.render_mode = SparseReward(), "ansi"
    steps = 0
    for index in range(tasks):
        swapped = swapped_env(env_id, 1 + index)
        for policy in (ScriptPolicy(ORACLE), RandomPolicy(index, submit_rate=0.0)):
            split, number = practice(plain, index)
            options = {"index": number, "split": str(split)}
            where = f"{env_id}: task {index}, {policy.name}"
            observation, info = plain.reset(options=options)
            _compare(where, "the reset", (observation, info), swapped.reset(options=options))
            policy.begin(plain, observation, info)
            while plain.episode.turns_left(plain.role) > 1:
                action = policy.act(observation)
                if _is_submit(plain, action) or action == "":
                    break
                outcome = plain.step(action)
                observation = outcome[0]
                _compare(where, f"the answer to {action}", outcome, swapped.step(action))
                steps += 1
            one, other = plain.episode, swapped.episode
            _compare(where, "the transcript", plain.render(), swapped.render())
            _compare(where, "the events", repr(one.events), repr(other.events))
            _compare(where, "the world", one.world.digest(), other.world.digest())
            _require_declared(where, one.world)
    return steps


def _require_declared(where: str, world: World) -> None:
    """Look at everything a world holds: no reference, and nothing that changes unnoticed."""
    journals = {id(world.journal)}
    for item in _reachable(world):
        require(not isinstance(item, Reference), f"{where}: the world holds a Reference.")
        if isinstance(item, Stateful):
            joined = id(item.journal) in journals
            require(joined, f"{where}: a {type(item).__name__} is no attribute of the world.")
        elif hasattr(type(item), "content_hash"):  # a world kept as a value, with what it holds
            held = (each for each in gc.get_referents(item) if isinstance(each, Stateful))
            journals |= {id(each.journal) for each in held}


def _compare(where: str, what: str, one: Any, other: Any) -> None:
    texts = [item if isinstance(item, str) else shown(item) for item in (one, other)]
    require(
        texts[0] == texts[1],
        f"{where}: {what} depends on the Reference: {texts[0][:300]!r} became {texts[1][:300]!r}.",
    )


def _is_submit(env: HealthEnv, action: object) -> bool:
    name = getattr(action, "name", None)
    specs = env.episode.seat(env.role).catalog.specs
    return any(
        spec.kind is ToolKind.SUBMIT and name in (spec.name, spec.identifier, spec.method)
        for spec in specs
    )


def _reachable(root: object) -> Iterator[Any]:
    """Yield the objects that can be reached from one, code left out."""
    seen = {id(root)}
    queue = [root]
    while queue and len(seen) < _MAX_OBJECTS:
        item = queue.pop()
        yield item
        for held in gc.get_referents(item):
            if id(held) not in seen and not isinstance(held, _OPAQUE):
                seen.add(id(held))
                queue.append(held)


def instance_hash(instance: AnyInstance) -> str:
    """Return a hex digest of what an agent could find in a task: instruction and start state.

    The key is left out, so that the same task in two places has the same hash.

    Raises:
        ConformanceError: If the start state holds something without comparable contents; give
            that class a ``content_hash()`` method.
    """
    try:
        return content_hash([instance.task.instruction, canonical(instance.start)])
    except TypeError as error:
        raise ConformanceError(f"{instance.task.task_id}: {error}") from error


def check_splits(env_id: str, tasks: int = 200) -> int:
    """Hash the contents of tasks of every split: none may be there twice.

    Args:
        env_id: The environment.
        tasks: Number of tasks of each split, the last index of an unlimited split among them.

    Returns:
        The number of tasks compared.
    """
    generator = make_health_env(env_id).family.generator
    seen: dict[str, str] = {}
    for split in Split:
        size = generator.size(split)
        indices = list(range(min(tasks - 1, size)))
        indices += [INDEX_BOUND - 1] if size == INDEX_BOUND else []
        for index in indices:
            instance = generator.generate(split, index)
            found, task_id = instance_hash(instance), instance.task.task_id
            if index < _DRAWN_TWICE:
                with DRAWN.anew():
                    again = instance_hash(generator.generate(split, index))
                require(found == again, f"{env_id}: {task_id} is not the same twice.")
            require(found not in seen, f"{env_id}: {task_id} equals {seen.get(found)}.")
            seen[found] = task_id
    return len(seen)
