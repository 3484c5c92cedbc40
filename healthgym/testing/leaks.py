"""Nothing of the Reference comes out, and no task is in two splits."""

from __future__ import annotations

import gc
import hashlib
import inspect
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass, replace
from datetime import date, datetime
from enum import Enum
from types import (
    BuiltinFunctionType,
    FunctionType,
    MethodDescriptorType,
    MethodType,
    ModuleType,
)
from typing import Any

import numpy as np

from healthgym.core.env import HealthEnv
from healthgym.core.seeding import INDEX_BOUND, Split, content_hash
from healthgym.core.task import Instance, Reference, Task, TaskGenerator
from healthgym.core.tool import ToolKind
from healthgym.errors import ConformanceError
from healthgym.policies.scripted import RandomPolicy, ScriptPolicy
from healthgym.presentation.render import transcript
from healthgym.rewards import SparseReward
from healthgym.testing.play import ORACLE, make, require, shown

#: What is planted in text, and the digits planted in numbers.
MARKER = "CANARY-c0ffee-CANARY"
DIGITS = 918273645
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


def plant(value: Any) -> Any:
    """Return a copy of a value with the marker in all its text and numbers.

    Enums, booleans, dates and keys of mappings are left: they steer code.
    """
    if isinstance(value, bool | Enum | date) or value is None:
        return value
    if isinstance(value, str):
        return f"{value}{MARKER}"
    if isinstance(value, int):
        return DIGITS
    if isinstance(value, float):
        return DIGITS + 0.5
    if is_dataclass(value) and not isinstance(value, type):
        return replace(
            value, **{f.name: plant(getattr(value, f.name)) for f in _init_fields(value)}
        )
    if isinstance(value, Mapping):
        return {key: plant(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        kept: Any = type(value)
        return kept(plant(item) for item in value)
    return value


def _init_fields(value: Any) -> list[Any]:
    return [item for item in fields(value) if item.init]


class PlantedGenerator:
    """A generator whose References are full of markers.

    Args:
        inner: The generator whose tasks they are.
    """

    def __init__(self, inner: TaskGenerator) -> None:
        self._inner = inner

    @property
    def name(self) -> str:
        """The family name."""
        return self._inner.name

    def size(self, split: Split) -> int:
        """Return the number of tasks of a split."""
        return self._inner.size(split)

    def generate(self, split: Split, index: int) -> Instance[Task, Reference]:
        """Return the task with a planted Reference."""
        instance = self._inner.generate(split, index)
        return replace(instance, reference=plant(instance.reference))


def planted_env(env_id: str) -> HealthEnv:
    """Return an environment with markers in its References and a reward that asks for no verdict.

    Episodes must not be played to their end: no verifier makes sense of such a Reference.
    """
    env = make(env_id)
    env.family.generator = PlantedGenerator(env.family.generator)
    env.reward = SparseReward()
    env.render_mode = "ansi"
    return env


def find_marker(text: str) -> str:
    """Return the marker found in a text, or an empty string."""
    return next((mark for mark in (MARKER, str(DIGITS)) if mark in text), "")


def check_no_leak(env_id: str, tasks: int = 5) -> int:
    """Plant markers in References, play, and look for them in all that comes out.

    Looked through are observations, infos, transcripts, tool descriptions and events, and every
    object that can be reached from the world, which is all a tool gets to see.

    Args:
        env_id: The environment.
        tasks: Number of tasks.

    Returns:
        The number of steps played.
    """
    env, plain = planted_env(env_id), make(env_id)
    steps = 0
    for index in range(tasks):
        instance = plain.family.generator.generate(Split.TRAIN, index)
        planted = env.family.generator.generate(Split.TRAIN, index)
        where = f"{env_id}: task {index}"
        if fields(instance.reference):
            require(
                bool(find_marker(repr(planted.reference))), f"{where}: no marker could be planted."
            )
        require(planted.task == instance.task, f"{where}: the generator draws no fixed task.")
        for policy in (ScriptPolicy(ORACLE), RandomPolicy(index, submit_rate=0.0)):
            plain.reset(options={"index": index, "split": "train"})
            observation, info = env.reset(options={"index": index, "split": "train"})
            _search(where, shown((observation, info)), "the reset")
            policy.begin(plain if isinstance(policy, ScriptPolicy) else env, observation, info)
            while env.episode.turns_left() > 1:
                action = policy.act(observation)
                if not _is_submit(env, action):
                    outcome = env.step(action)
                    observation = outcome[0]
                    _search(where, shown(outcome), f"the answer to {action}")
                    steps += 1
                elif isinstance(policy, ScriptPolicy):
                    break
            _search(where, transcript(env.episode), "the transcript")
            _search(where, repr(env.episode.events), "the events")
            for item in _reachable(env.episode.world):
                require(not isinstance(item, Reference), f"{where}: the world holds a Reference.")
                if isinstance(item, str):
                    _search(where, item, "an object held by the world")
    return steps


def _is_submit(env: HealthEnv, action: Any) -> bool:
    name = getattr(action, "name", None)
    specs = env.episode.seat().catalog.specs
    return any(
        spec.kind is ToolKind.SUBMIT and name in (spec.name, spec.identifier, spec.method)
        for spec in specs
    )


def _search(where: str, text: str, what: str) -> None:
    mark = find_marker(text)
    if mark:
        start = max(text.index(mark) - 80, 0)
        raise ConformanceError(f"{where}: the Reference leaks into {what}: {text[start:][:200]}")


def _reachable(root: Any) -> Iterator[Any]:
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


def instance_hash(instance: Instance[Task, Reference]) -> str:
    """Return a hex digest of what an agent could find in a task: instruction and start state.

    The key is left out, so that the same task in two places has the same hash.

    Raises:
        ConformanceError: If the start state holds something without comparable contents; give
            that class a ``content_hash()`` method.
    """
    return content_hash([instance.task.instruction, _canonical(instance.start, ())])


def _canonical(value: Any, above: tuple[int, ...]) -> Any:
    """Return a value as JSON values that are equal where the contents are equal."""
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if id(value) in above or len(above) > 60:
        raise ConformanceError(f"{type(value).__name__} in a start state holds itself.")
    inside = (*above, id(value))
    own_hash = getattr(value, "content_hash", None)
    if callable(own_hash):
        return ["hash", own_hash()]
    if isinstance(value, Enum):
        return ["enum", type(value).__name__, value.name]
    if isinstance(value, datetime | date):
        return ["time", value.isoformat()]
    if isinstance(value, bytes | bytearray | memoryview):
        return ["bytes", hashlib.blake2b(value, digest_size=16).hexdigest()]
    if isinstance(value, np.ndarray):
        if value.dtype.hasobject:
            return ["array", list(value.shape), _canonical(value.ravel().tolist(), inside)]
        data = hashlib.blake2b(np.ascontiguousarray(value).tobytes(), digest_size=16).hexdigest()
        return ["array", str(value.dtype), list(value.shape), data]
    if isinstance(value, np.generic):
        return _canonical(value.item(), inside)
    if isinstance(value, Mapping):
        pairs = [[_canonical(k, inside), _canonical(v, inside)] for k, v in value.items()]
        return ["map", sorted(pairs, key=content_hash)]
    if isinstance(value, list | tuple):
        return [_canonical(item, inside) for item in value]
    if isinstance(value, set | frozenset):
        return ["set", sorted((_canonical(item, inside) for item in value), key=content_hash)]
    if isinstance(value, type | ModuleType | BuiltinFunctionType | MethodDescriptorType):
        return ["code", getattr(value, "__qualname__", value.__name__)]
    if isinstance(value, FunctionType):
        cells = [cell.cell_contents for cell in value.__closure__ or ()]
        return ["code", value.__qualname__, _canonical(cells, inside)]
    if isinstance(value, MethodType):
        return ["code", value.__name__, _canonical(value.__self__, inside)]
    attributes = _attributes(value)
    if attributes is None:
        raise ConformanceError(
            f"A start state holds a {type(value).__qualname__}, whose contents cannot be compared; "
            "give it a content_hash() method."
        )
    return [type(value).__qualname__, _canonical(attributes, inside)]


def _attributes(value: Any) -> dict[str, Any] | None:
    slots = [name for cls in type(value).__mro__ for name in getattr(cls, "__slots__", ())]
    if not slots and not hasattr(value, "__dict__"):
        return None
    found = dict(getattr(value, "__dict__", {}))
    for name in slots:
        if name not in ("__dict__", "__weakref__") and inspect.getattr_static(value, name, None):
            found[name] = getattr(value, name, None)
    return found


def check_splits(env_id: str, tasks: int = 200) -> int:
    """Hash the contents of tasks of every split: none may be there twice.

    Args:
        env_id: The environment.
        tasks: Number of tasks of each split, the last index of an unlimited split among them.

    Returns:
        The number of tasks compared.
    """
    generator = make(env_id).family.generator
    seen: dict[str, str] = {}
    for split in Split:
        size = generator.size(split)
        indices = list(range(min(tasks - 1, size)))
        indices += [INDEX_BOUND - 1] if size == INDEX_BOUND else []
        for index in indices:
            instance = generator.generate(split, index)
            found, task_id = instance_hash(instance), instance.task.task_id
            if index < _DRAWN_TWICE:
                again = instance_hash(generator.generate(split, index))
                require(found == again, f"{env_id}: {task_id} is not the same twice.")
            require(found not in seen, f"{env_id}: {task_id} equals {seen.get(found)}.")
            seen[found] = task_id
    return len(seen)
