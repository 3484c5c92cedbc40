"""Well-formed calls of random tools, with random arguments that fit their schemas."""

from __future__ import annotations

import re
from collections.abc import Generator, Sequence
from typing import Any

import numpy as np

from healthgym.core.borders import JsonDict, JsonObject
from healthgym.core.bounds import matches, size_within, within
from healthgym.core.tool import ToolCall, ToolKind, ToolSpec

#: Chance of handing in an answer, each turn.
SUBMIT_RATE = 0.2
_WORD = re.compile(r"[^\s\"',;()\[\]{}]+")
_DAY = re.compile(r"\d{4}-(0[1-9]|1[0-2])-(0[1-9]|1\d|2[0-8])")
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
#: Words remembered of an episode, the latest ones.
_MAX_WORDS = 400


class RandomCalls:
    """Draws calls; text and numbers are taken from what was read, so that some hit something.

    Args:
        specs: The tools.
        rng: Where they are drawn from.
        submit_rate: Chance of handing in an answer, each turn.
    """

    def __init__(
        self, specs: Sequence[ToolSpec], rng: np.random.Generator, submit_rate: float = SUBMIT_RATE
    ) -> None:
        self._rng, self._submit_rate = rng, submit_rate
        self._submits = [spec for spec in specs if spec.kind is ToolKind.SUBMIT]
        # Without the engine's own verbs, so that what a family offers decides what is drawn.
        self._others = [s for s in specs if s.kind is not ToolKind.SUBMIT and not s.engine]
        self._words: list[str] = []

    def call(self, observation: str, *, last: bool = False) -> ToolCall:
        """Return a random call.

        Args:
            observation: What was read since the last one.
            last: Whether it is the last one, which hands in.
        """
        self._words = (self._words + _WORD.findall(observation))[-_MAX_WORDS:]
        submits = last or not self._others or self._rng.random() < self._submit_rate
        spec = self._choose(self._submits if submits and self._submits else self._others)
        return ToolCall(spec.identifier, self._arguments(spec.parameters))

    def _choose(self, specs: Sequence[ToolSpec]) -> ToolSpec:
        return specs[int(self._rng.integers(len(specs)))]

    def _arguments(self, schema: JsonObject, depth: int = 0) -> JsonDict:
        required = schema.get("required", ())
        return {
            name: self._value(part, depth)
            for name, part in schema["properties"].items()
            if name in required or self._rng.random() < 0.5
        }

    def _value(self, schema: JsonObject, depth: int = 0) -> Any:
        """Return a random JSON value that fits a schema of :mod:`healthgym.core.schema`."""
        rng = self._rng
        if "enum" in schema:
            return schema["enum"][int(rng.integers(len(schema["enum"])))]
        if "const" in schema:
            return schema["const"]
        if "properties" in schema:
            return self._arguments(schema, depth + 1)
        if "anyOf" in schema or "oneOf" in schema:
            options = schema.get("anyOf") or schema["oneOf"]
            return self._value(options[int(rng.integers(len(options)))], depth)
        kinds = schema.get("type", ["string", "integer", "number", "boolean"])
        kinds = [kinds] if isinstance(kinds, str) else kinds
        match kinds[int(rng.integers(len(kinds)))]:
            case "string":
                return self._text(schema)
            case "integer":
                return within(schema, int(self._number()))
            case "number":
                return within(schema, self._number())
            case "boolean":
                return bool(rng.integers(2))
            case "array":
                size = size_within(schema, int(rng.integers(3)) if depth < 3 else 0)
                return [self._value(schema.get("items", {}), depth + 1) for _ in range(size)]
            case "object":
                size = int(rng.integers(3)) if depth < 3 else 0
                value = schema.get("additionalProperties")
                inner = value if isinstance(value, dict) else {}
                return {self._word(): self._value(inner, depth + 1) for _ in range(size)}
            case _:
                return None

    def _text(self, schema: JsonObject) -> str:
        if "format" in schema:
            return self._moment(schema["format"])
        if "pattern" in schema:
            fitting = [word for word in self._words if matches(schema, word)]
            if fitting:
                return fitting[int(self._rng.integers(len(fitting)))]
        text: str = within(schema, self._word())
        return text

    def _moment(self, form: str) -> str:
        """Return a day, or a time of a day, from what was read if there is one."""
        match = _DAY.search(self._word())
        year, month, day = (int(n) for n in self._rng.integers((2020, 1, 1), (2030, 13, 29)))
        text = match[0] if match else f"{year}-{month:02}-{day:02}"
        return f"{text}T{int(self._rng.integers(24)):02}:00:00Z" if form == "date-time" else text

    def _word(self) -> str:
        if not self._words:
            return "a"
        return self._words[int(self._rng.integers(len(self._words)))]

    def _number(self) -> float:
        match = _NUMBER.search(self._word())
        if match and len(match[0]) < 10:
            return float(match[0])
        return float(self._rng.integers(-1, 10))


def random_moves(specs: Sequence[ToolSpec], seed: int) -> Generator[object, str, None]:
    """Yield random calls without end, and be sent what is answered to each.

    Args:
        specs: The tools.
        seed: Of what is drawn.
    """
    calls, shown = RandomCalls(specs, np.random.default_rng(seed)), ""
    while True:
        shown = yield calls.call(shown)


def no_moves() -> Generator[object, str, None]:
    """Yield no call at all, without end."""
    while True:
        yield ""
