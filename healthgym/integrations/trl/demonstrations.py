"""Supervised data: episodes of scripted policies as chat messages with tool calls."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import partial

import numpy as np

from healthgym.core import action as actions
from healthgym.core.borders import AnyEnv, JsonDict
from healthgym.core.choice import Weighted
from healthgym.core.env import HealthEnv, parse_split
from healthgym.core.episode import AnyEpisode
from healthgym.core.family import ORACLE as ORACLE
from healthgym.core.images import Image
from healthgym.core.seeding import Split, task_rng
from healthgym.core.tool import ToolCall, ToolKind, ToolSpec
from healthgym.errors import ConfigurationError, HealthGymError, ToolError
from healthgym.integrations.trl.environment import MAX_IMAGE_SIDE, blocks

#: Stream of a task's random numbers from which its demonstration is drawn, and by whom it is.
_STREAM, _WHOSE = 7_001, 7_003
#: The assistant's last words, once its answer is in.
CLOSING = "Done."


@dataclass(frozen=True, slots=True)
class Demonstration:
    """One episode of a scripted policy.

    Attributes:
        task_id: The task.
        kind: Its type.
        success: Whether it passes every check.
        messages: Chat messages: user, then assistant and tool in turn, then the closing words.
            ``arguments`` are JSON text, because a column of objects would be filled up with each
            other's keys (Arrow has one type per column).
        tools: The tools in OpenAI's function form, as JSON text for the same reason.
        policy: Who demonstrates.
    """

    task_id: str
    kind: str
    success: bool
    messages: tuple[JsonDict, ...]
    tools: str
    policy: str = ORACLE

    def row(self) -> JsonDict:
        """Return the row of a conversational data set, as ``SFTTrainer`` takes it."""
        return {"messages": list(self.messages), "tools": self.tools}


def demonstrations(
    env: AnyEnv,
    split: str = "train",
    size: int = 1000,
    *,
    first: int = 0,
    system: str = "",
    inertia: float = 0.0,
    policy: str | Mapping[str, float] = ORACLE,
    also: str = "",
    without: Collection[str] = (),
    images: bool = False,
    max_image_side: int | None = MAX_IMAGE_SIDE,
) -> Iterator[Demonstration]:
    """Yield scripted policies' episodes on tasks ``first`` to ``first + size - 1`` of a split.

    Args:
        env: The environment, as ``gym.make`` returns it; its own episode is left alone. What
            wrappers around it do is not shown.
        split: The split.
        size: Number of tasks.
        first: Index of the first.
        system: A system message to begin with; none if empty.
        inertia: Share of tasks on which the demonstrator reads and reports but changes nothing, as
            clinicians do who see a result and do not act on it. Imitation learns that too; what
            it takes to unlearn it is the verifier's reward.
        policy: Name of one of the family's baselines, practices or solvers; or names with weights,
            by which one is drawn for each task. Only the oracle has to solve every task; what the
            others do is shown as it comes, with its success.
        also: Name of a policy whose episode on each task follows the first one's, such as one that
            answers out of habit, without having looked. Imitation learns both, and cannot tell by
            the task which it is to be; the verifier's reward can. Nothing is left out of it.
        without: Tools the demonstrator leaves alone, such as looks at what the instruction says
            already: a small model is spared long results that it needs nothing of.
        images: Whether tool messages hold the pictures shown, as blocks with pillow images before
            the text; see :mod:`healthgym.integrations.trl.vision`. Without them, the text of a
            result says what was shown.
        max_image_side: Most pixels of a picture's longer side; no limit if None.

    Raises:
        ConfigurationError: If ``inertia`` is not a share, there is no such policy or tool, or the
            environment is none of ours.
        HealthGymError: If the oracle fails a task, which is a bug of its family.
    """
    if not 0 <= inertia <= 1:
        raise ConfigurationError(f"inertia is a share between 0 and 1, not {inertia}.")
    inner = env.unwrapped
    if not isinstance(inner, HealthEnv):
        raise ConfigurationError(f"{env} holds no environment of healthgym.")
    tasks = parse_split(split)
    show = partial(
        demonstrate, inner, tasks, system=system, images=images, max_image_side=max_image_side
    )
    named = {policy: 1.0} if isinstance(policy, str) else policy
    chosen = Weighted(named, "policies")
    for index in range(first, first + size):
        rng = task_rng(inner.family.generator.name, tasks, index, _WHOSE)
        yield show(index, inertia=inertia, policy=chosen.draw(rng), without=without)
        if also:
            yield show(index, policy=also)


def demonstrate(
    env: HealthEnv,
    split: Split,
    index: int,
    *,
    system: str = "",
    inertia: float = 0.0,
    policy: str = ORACLE,
    without: Collection[str] = (),
    images: bool = False,
    max_image_side: int | None = MAX_IMAGE_SIDE,
) -> Demonstration:
    """Return a scripted policy's episode on one task; see :func:`demonstrations`."""
    family = env.family
    instance = family.generator.generate(split, index)
    episode = env.episode_of(instance)
    rng: np.random.Generator = task_rng(family.generator.name, split, index, _STREAM)
    messages = [{"role": "system", "content": system}] if system else []
    messages.append({"role": "user", "content": episode.instruction()})
    player = family.player(policy, instance, rng, env.role)
    action = player.act()
    inert = bool(rng.random() < inertia)
    left_out = {_spec(episode, name).name for name in without}
    while action is not None and not episode.done():
        seen = []
        # One call at a time, as TRL executes them, so that each has an answer of its own.
        for request in actions.calls_of(action, actions.text_of(action)):
            spec, _ = episode.seat().catalog.resolve(request.name)
            if spec.name not in left_out and not (inert and spec.kind is ToolKind.WRITE):
                asked, answer, shown = _exchange(episode, spec, dict(request.arguments))
                seen.append(answer["content"])
                if images and shown:
                    answer["content"] = blocks(answer["content"], shown, max_image_side)
                messages += [asked, answer]
        action = player.act("\n\n".join(seen))
    if not episode.done():
        episode.stop()
    verdict = episode.verdict()
    success = verdict.success and episode.submitted()
    if policy == ORACLE and not success and not inert:
        failed = [result.check.name for result in verdict.checks if not result.passed]
        raise HealthGymError(
            f"The oracle failed {episode.task.task_id} ({episode.task.kind}): "
            f"{', '.join(failed) or 'nothing was submitted'}."
        )
    messages.append({"role": "assistant", "content": CLOSING})
    tools = json.dumps(episode.seat().catalog.openai())
    task = episode.task
    return Demonstration(task.task_id, task.kind, success, tuple(messages), tools, policy)


def _spec(episode: AnyEpisode, name: str) -> ToolSpec:
    try:
        return episode.seat().catalog.resolve(name)[0]
    except ToolError as error:
        raise ConfigurationError(f"No tool can be left out by the name {name!r}: {error}") from None


def _exchange(
    episode: AnyEpisode, spec: ToolSpec, arguments: JsonDict
) -> tuple[JsonDict, JsonDict, tuple[Image, ...]]:
    """Return a call, its answer and the pictures shown with it."""
    function = {"name": spec.identifier, "arguments": json.dumps(arguments, ensure_ascii=False)}
    outcome = episode.step(ToolCall(spec.name, arguments))
    asked = {
        "role": "assistant",
        "content": "",
        "tool_calls": [{"type": "function", "function": function}],
    }
    answer = {"role": "tool", "name": spec.identifier, "content": outcome.observation}
    return asked, answer, outcome.images
