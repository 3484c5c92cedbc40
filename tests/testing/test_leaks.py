from dataclasses import dataclass, replace
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any

import numpy as np
import pytest

from healthgym.core.seeding import Split
from healthgym.core.task import Instance, Reference, Task, TaskKey
from healthgym.errors import ConformanceError
from healthgym.testing.leaks import instance_hash


class Colour(StrEnum):
    RED = "red"


NOW = datetime(2024, 1, 1, tzinfo=UTC)


def instance(start: Any, instruction: str = "Do.", index: int = 0) -> Instance[Any, Any, Any]:
    return Instance(Task(TaskKey("a", Split.TRAIN, index), "k", instruction), Reference(), start)


class Plain:
    def __init__(self, value: Any) -> None:
        self.value = value


@dataclass
class Slotted:
    value: Any


@pytest.mark.parametrize(
    "wrap",
    [Plain, Slotted, lambda v: [v], lambda v: {"k": v}],
    ids=["object", "dataclass", "list", "dict"],
)
@pytest.mark.parametrize(
    ("value", "other"),
    [
        (1, 2),
        ("a", "b"),
        (b"a", b"b"),
        (NOW, NOW.replace(year=2023)),
        (np.arange(3), np.arange(4)),
        (np.arange(4), np.arange(4).reshape(2, 2)),
        (np.array(["a", None], object), np.array(["b", None], object)),
        (np.float64(1.5), np.float64(2.5)),
        ({1, 2}, {1, 3}),
        ({"a": 1, "b": 2}, {"a": 2, "b": 1}),
        ([1, [2]], [1, 2]),
        (Plain(1), Plain(2)),
        (Plain(1), Slotted(1)),
        (Colour.RED, "blue"),
        (str.lower, str.upper),
        (len, max),
        (Plain, Slotted),
    ],
    ids=[
        "int",
        "str",
        "bytes",
        "time",
        "array",
        "shape",
        "object-array",
        "numpy-float",
        "set",
        "dict",
        "nesting",
        "object",
        "class-of-object",
        "enum",
        "method",
        "builtin",
        "class",
    ],
)
def test_equal_contents_have_equal_hashes_and_others_not(wrap: Any, value: Any, other: Any) -> None:
    again = type(value)(value.value) if isinstance(value, Plain | Slotted) else value
    assert instance_hash(instance(wrap(value))) == instance_hash(instance(wrap(again)))
    assert instance_hash(instance(wrap(value))) != instance_hash(instance(wrap(other)))


def test_order_of_keys_and_the_key_of_the_task_do_not_matter_but_the_instruction_does() -> None:
    one = instance({"a": 1, "b": {2, 3}})
    assert instance_hash(one) == instance_hash(instance({"b": {3, 2}, "a": 1}, index=9))
    assert instance_hash(one) != instance_hash(replace(one, task=replace(one.task, instruction="")))


def test_a_class_may_bring_its_own_hash() -> None:
    class Known(Plain):
        def content_hash(self) -> str:
            return "same"

    assert instance_hash(instance(Known(1))) == instance_hash(instance(Known(2)))


def test_what_cannot_be_compared_is_refused() -> None:
    circle = Plain(None)
    circle.value = circle
    for start in (circle, iter([1])):
        with pytest.raises(ConformanceError):
            instance_hash(instance(start))


def test_closures_count_by_what_they_hold() -> None:
    def holding(value: int) -> Any:
        return lambda: value

    assert instance_hash(instance(holding(1))) == instance_hash(instance(holding(1)))
    assert instance_hash(instance(holding(1))) != instance_hash(instance(holding(2)))
