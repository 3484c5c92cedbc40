"""What would have been right in a recorded episode, from the verifier's half of its task."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import fields, is_dataclass
from datetime import date, time
from enum import Enum
from typing import TYPE_CHECKING

import numpy as np
from pydantic import BaseModel

from healthgym.core.action import calls_of, text_of
from healthgym.core.borders import Json
from healthgym.core.seeding import player_rng
from healthgym.core.task import TaskKey
from healthgym.errors import HealthGymError, TrajectoryError
from healthgym.presentation.viewer import Answer

if TYPE_CHECKING:
    from healthgym.core.trajectory import Trajectory

#: How deep a reference is told, and how many items of a list.
_DEPTH, _ITEMS = 8, 200


def right_answer(run: Trajectory) -> Answer:
    """Return what would have been right, drawn anew from the task's id.

    Args:
        run: The recording.

    Raises:
        TrajectoryError: If its task cannot be drawn.
    """
    from healthgym.testing.replay import remade

    family, key = remade(run).family, TaskKey.parse(run.task_id)
    role = next(iter(family.roles))
    try:
        instance = family.generator.generate(key.split, key.index)
        script = family.oracle(instance, player_rng(run.task_id, role))
        calls = [call for action in script for call in calls_of(action, text_of(action))]
    except HealthGymError as error:
        raise TrajectoryError(f"{run.task_id} cannot be drawn: {error}") from error
    told = plain(instance.reference)
    return Answer(tuple(calls), told if isinstance(told, dict) else {"": told})


def plain(value: object, depth: int = 0) -> Json:
    """Return a value as JSON has it, for a reader: what is deep or long is cut, and says so.

    Args:
        value: Of a reference: data classes, models, collections, numbers, arrays.
        depth: How deep it lies.
    """
    if isinstance(value, Enum):
        return plain(value.value, depth)
    if value is None or isinstance(value, str | bool | int | float):
        return value
    if isinstance(value, np.generic):
        return plain(value.item(), depth)
    if isinstance(value, date | time):
        return value.isoformat()
    if isinstance(value, np.ndarray) and value.size > _ITEMS:
        return f"an array of shape {value.shape}, {value.dtype}"
    if depth >= _DEPTH:
        return f"({type(value).__name__})"
    return _inner(value, depth + 1)


def _inner(value: object, depth: int) -> Json:
    if is_dataclass(value) and not isinstance(value, type):
        return {each.name: plain(getattr(value, each.name), depth) for each in fields(value)}
    if isinstance(value, BaseModel):
        return {name: plain(getattr(value, name), depth) for name in type(value).model_fields}
    if isinstance(value, Mapping):
        return {str(plain(key, depth)): plain(each, depth) for key, each in value.items()}
    if isinstance(value, np.ndarray):
        return plain(value.tolist(), depth)
    if isinstance(value, Set):
        return _listed(sorted(value, key=str), depth)
    if isinstance(value, Sequence) and not isinstance(value, bytes | bytearray):
        return _listed(value, depth)
    return str(value)[:_ITEMS]


def _listed(values: Sequence[object], depth: int) -> Json:
    told = [plain(each, depth) for each in values[:_ITEMS]]
    return [*told, f"and {len(values) - _ITEMS} more"] if len(values) > _ITEMS else told
