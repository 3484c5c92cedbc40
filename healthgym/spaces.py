"""Observation and action spaces for text."""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator, Sequence
from multiprocessing.sharedctypes import SynchronizedArray
from typing import Any, TypeAlias

import numpy as np
from gymnasium import spaces
from gymnasium.vector.utils import shared_memory as _shared
from numpy.typing import NDArray

_PRINTABLE = "".join(map(chr, range(32, 127)))
_HEADER = struct.Struct("<q")

# What gymnasium.spaces.Text is told to sample by: a length, and a number for each character.
_Mask: TypeAlias = tuple[int | None, NDArray[np.int8] | None]
_Probability: TypeAlias = tuple[int | None, NDArray[np.float64] | None]


class UnicodeText(spaces.Text):
    """Any string up to a length: what a language model reads and writes.

    :class:`gymnasium.spaces.Text` lists its character set, which for Unicode takes seconds to
    build and tens of megabytes to pickle. This one only bounds the length, in characters, and
    samples from printable ASCII.

    It also carries text through the shared memory of ``AsyncVectorEnv``. Gymnasium's own handler
    reads that memory once, when the vector is made, and would return the same filler text for
    every observation; ours reads it whenever the vector hands out observations.

    Args:
        max_length: Longest accepted text, in characters.
        seed: Seed for sampling.
    """

    def __init__(self, max_length: int, *, seed: int | np.random.Generator | None = None) -> None:
        super().__init__(max_length, min_length=0, charset=_PRINTABLE, seed=seed)

    def contains(self, x: object) -> bool:
        """Return whether ``x`` is a string within the length bound."""
        return isinstance(x, str) and len(x) <= self.max_length

    def __repr__(self) -> str:
        return f"UnicodeText({self.max_length})"

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and self.max_length == other.max_length

    def __hash__(self) -> int:
        return hash((type(self), self.max_length))


class JsonText(UnicodeText):
    """Text that holds a tool call; samples are well-formed calls of unknown tools."""

    def sample(self, mask: _Mask | None = None, probability: _Probability | None = None) -> str:
        """Return a random, syntactically valid tool call as JSON text."""
        word = super().sample((8, None) if mask is None else mask, probability)
        return json.dumps({"name": word, "arguments": {}})

    def __repr__(self) -> str:
        return f"JsonText({self.max_length})"


class _SharedTexts(Sequence[str]):
    """The texts in a vector's shared memory, decoded at the moment they are looked at."""

    def __init__(self, memory: SynchronizedArray[Any], count: int, stride: int) -> None:
        self._memory, self._count, self._stride = memory, count, stride

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return tuple(self[i] for i in range(*index.indices(self._count)))
        start = range(self._count)[index] * self._stride
        view = memoryview(self._memory.get_obj()).cast("B")
        (size,) = _HEADER.unpack_from(view, start)
        begin = start + _HEADER.size
        return bytes(view[begin : begin + size]).decode("utf-8", "surrogatepass")

    def __iter__(self) -> Iterator[str]:
        return (self[i] for i in range(self._count))

    def __deepcopy__(self, memo: dict[int, Any]) -> tuple[str, ...]:
        return tuple(self)


def _stride(space: UnicodeText) -> int:
    return _HEADER.size + 4 * space.max_length


@_shared.create_shared_memory.register(UnicodeText)
def _create(space: UnicodeText, n: int = 1, ctx: Any = None) -> Any:
    import multiprocessing

    return (ctx or multiprocessing).Array("B", n * _stride(space))


@_shared.read_from_shared_memory.register(UnicodeText)
def _read(space: UnicodeText, shared_memory: SynchronizedArray[Any], n: int = 1) -> _SharedTexts:
    return _SharedTexts(shared_memory, n, _stride(space))


@_shared.write_to_shared_memory.register(UnicodeText)
def _write(
    space: UnicodeText, index: int, value: str, shared_memory: SynchronizedArray[Any]
) -> None:
    data = value.encode("utf-8", "surrogatepass")
    if len(data) > _stride(space) - _HEADER.size:
        raise ValueError(f"The text is longer than {space.max_length} characters.")
    start = index * _stride(space)
    view = memoryview(shared_memory.get_obj()).cast("B")
    _HEADER.pack_into(view, start, len(data))
    view[start + _HEADER.size : start + _HEADER.size + len(data)] = data
