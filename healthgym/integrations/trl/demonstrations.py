"""Supervised data: oracle episodes as chat messages with tool calls."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from healthgym.core import action as actions
from healthgym.core.env import HealthEnv, parse_split
from healthgym.core.episode import Episode
from healthgym.core.seeding import Split, task_rng
from healthgym.core.tool import ToolCall, ToolKind, ToolSpec
from healthgym.errors import ConfigurationError, HealthGymError

#: Stream of a task's random numbers from which its demonstration is drawn.
_STREAM = 7_001
#: The assistant's last words, once its answer is in.
CLOSING = "Done."


@dataclass(frozen=True, slots=True)
class Demonstration:
    """One solved episode.

    Attributes:
        task_id: The task.
        kind: Its type.
        success: Whether it passes every check.
        messages: Chat messages: user, then assistant and tool in turn, then the closing words.
            ``arguments`` are JSON text, because a column of objects would be filled up with each
            other's keys (Arrow has one type per column).
        tools: The tools in OpenAI's function form, as JSON text for the same reason.
    """

    task_id: str
    kind: str
    success: bool
    messages: tuple[dict[str, Any], ...]
    tools: str

    def row(self) -> dict[str, Any]:
        """Return the row of a conversational data set, as ``SFTTrainer`` takes it."""
        return {"messages": list(self.messages), "tools": self.tools}


def demonstrations(
    env: HealthEnv,
    split: str = "train",
    size: int = 1000,
    *,
    first: int = 0,
    system: str = "",
    inertia: float = 0.0,
) -> Iterator[Demonstration]:
    """Yield the oracle's episodes on tasks ``first`` to ``first + size - 1`` of a split.

    Args:
        env: The environment; its own episode is left alone.
        split: The split.
        size: Number of tasks.
        first: Index of the first.
        system: A system message to begin with; none if empty.
        inertia: Share of tasks on which the demonstrator reads and reports but changes nothing, as
            clinicians do who see a result and do not act on it. Imitation learns that too; what
            it takes to unlearn it is the verifier's reward.

    Raises:
        ConfigurationError: If ``inertia`` is not a share.
        HealthGymError: If the oracle fails a task, which is a bug of its family.
    """
    if not 0 <= inertia <= 1:
        raise ConfigurationError(f"inertia is a share between 0 and 1, not {inertia}.")
    tasks = parse_split(split)
    for index in range(first, first + size):
        yield demonstrate(env, tasks, index, system=system, inertia=inertia)


def demonstrate(
    env: HealthEnv, split: Split, index: int, *, system: str = "", inertia: float = 0.0
) -> Demonstration:
    """Return the oracle's episode on one task; see :func:`demonstrations`."""
    family = env.family
    instance = family.generator.generate(split, index)
    episode: Episode[Any] = Episode(family, instance, env.reward, env.config)
    rng: np.random.Generator = task_rng(family.generator.name, split, index, _STREAM)
    messages = [{"role": "system", "content": system}] if system else []
    messages.append({"role": "user", "content": episode.instruction()})
    script = list(family.oracle(instance, rng))
    inert = bool(rng.random() < inertia)
    for action in script:
        # One call at a time, as TRL executes them, so that each has an answer of its own.
        for request in actions.parse(action):
            spec, _ = episode.seat().catalog.resolve(request.name)
            if not (inert and spec.kind is ToolKind.WRITE):
                messages += _exchange(episode, spec, dict(request.arguments))
    verdict = episode.verdict()
    success = verdict.success and episode.submitted()
    if not success and not inert:
        failed = [result.check.name for result in verdict.checks if not result.passed]
        raise HealthGymError(
            f"The oracle failed {episode.task.task_id} ({episode.task.kind}): "
            f"{', '.join(failed) or 'nothing was submitted'}."
        )
    messages.append({"role": "assistant", "content": CLOSING})
    tools = json.dumps(episode.seat().catalog.openai())
    task = episode.task
    return Demonstration(task.task_id, task.kind, success, tuple(messages), tools)


def _exchange(
    episode: Episode[Any], spec: ToolSpec, arguments: dict[str, Any]
) -> list[dict[str, Any]]:
    function = {"name": spec.identifier, "arguments": json.dumps(arguments, ensure_ascii=False)}
    outcome = episode.step(ToolCall(spec.name, arguments))
    return [
        {
            "role": "assistant",
            "content": "",
            "tool_calls": [{"type": "function", "function": function}],
        },
        {"role": "tool", "name": spec.identifier, "content": outcome.observation},
    ]
