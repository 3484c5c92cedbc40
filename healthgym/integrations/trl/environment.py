"""The face of an episode that TRL's trainers play.

TRL takes a class: ``reset(**row)`` begins a rollout, and every other public function of the class
is a tool. The tools built here hand their arguments to the episode as they came, so the engine's
own validation answers the model and a mistake costs what it costs everywhere else.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

from healthgym.core.env import HealthEnv
from healthgym.core.episode import Episode
from healthgym.core.tool import Image, ToolCall, ToolSpec
from healthgym.core.verdict import Verdict
from healthgym.errors import (
    ConfigurationError,
    EpisodeStateError,
    HealthGymError,
    InfrastructureError,
    MissingDependencyError,
)

#: What a tool answers once the episode is over: TRL goes on until the model calls no tool.
OVER = "Episode is over. Reply without a tool call."
_UNAVAILABLE = "The environment is unavailable. Reply without a tool call."
#: Names that mean something else to TRL than a tool.
_TAKEN = frozenset({"reset", "get_reward"})


@dataclass(frozen=True, slots=True)
class RolloutOutcome:
    """What became of one rollout.

    Attributes:
        kind: The task type.
        reward: The episode's reward; None if something outside the episode failed.
        verdict: The verdict under the episode's profile; None if there is none.
        submitted: Whether the policy handed in an answer.
        calls: Tool calls that reached the episode.
        refused: How many of them were refused.
    """

    kind: str
    reward: float | None
    verdict: Verdict | None
    submitted: bool
    calls: int
    refused: int


class TrlEnvironment:
    """One rollout slot. TRL makes as many as a batch needs and uses each again and again.

    Make subclasses with :func:`environment_class`. The name of everything that is not a tool
    begins with an underscore, because TRL would offer it to the model.
    """

    _env: ClassVar[HealthEnv]
    _unsubmitted: ClassVar[float]
    _tools: ClassVar[tuple[str, ...]]

    def __init__(self) -> None:
        self._episode: Episode[Any] | None = None
        self._outage: InfrastructureError | None = None
        self._fault: Exception | None = None

    def reset(self, *, split: str, index: int, **_row: object) -> str:
        """Begin a rollout.

        Args:
            split: Where the task is drawn from.
            index: Its index. Members of a GRPO group come with the same row, hence the same task.

        Returns:
            The instruction, which TRL appends to the row's last user message.

        Raises:
            ConfigurationError: If the task has other tools than the class.
        """
        self._episode = self._outage = self._fault = None
        try:
            episode = self._env.open_episode(split, int(index))
        except InfrastructureError as error:
            self._outage = error
            return _UNAVAILABLE
        offered = tuple(spec.identifier for spec in episode.seat().catalog.specs)
        if offered != self._tools:
            raise ConfigurationError(
                f"Task {episode.task.task_id} has the tools {', '.join(offered)}, but its "
                f"environment offers {', '.join(self._tools)}: TRL shows one set of tools per "
                "environment. Give tasks with other tools an environment of their own."
            )
        self._episode = episode
        return episode.instruction()

    def _call(self, name: str, arguments: dict[str, Any]) -> Any:
        """Carry out a tool call and return what the model reads; text, or blocks with images."""
        if self._outage or self._fault:
            return _UNAVAILABLE
        if self._episode is None:
            raise EpisodeStateError("Call reset() before a tool.")
        if self._episode.done():
            return OVER
        try:
            outcome = self._episode.step(ToolCall(name, arguments))
        except InfrastructureError as error:
            self._outage = error
            return _UNAVAILABLE
        except Exception as error:
            # TRL would show it to the model and go on to score the episode; see _outcome.
            self._fault = error
            return _UNAVAILABLE
        if outcome.images:
            return _blocks(outcome.observation, outcome.images)
        return outcome.observation

    def _outcome(self) -> RolloutOutcome:
        """Return what became of the rollout.

        Raises:
            HealthGymError: If a tool failed for a reason of ours, which TRL had swallowed.
        """
        if self._fault is not None:
            raise HealthGymError(f"A tool failed on our account: {self._fault!r}") from self._fault
        if self._outage is not None or self._episode is None:
            return self._masked()
        episode = self._episode
        try:
            verdict = episode.verdict()
        except InfrastructureError as error:
            self._outage = error
            return self._masked()
        reward = episode.total_reward()
        if not episode.submitted():
            # Progress made without an answer is not kept: never submitting must be the worst
            # outcome, or a policy that is charged for calls learns to make none.
            reward = min(reward, 0.0) + self._unsubmitted
        refused = sum(bool(event.error) for event in episode.events)
        return RolloutOutcome(
            episode.task.kind,
            reward,
            verdict,
            episode.submitted(),
            len(episode.events),
            refused,
        )

    def _masked(self) -> RolloutOutcome:
        kind = self._episode.task.kind if self._episode else ""
        return RolloutOutcome(kind, None, None, False, 0, 0)


def environment_class(
    env: HealthEnv, *, name: str = "", unsubmitted: float = -0.5, split: str = "", index: int = 0
) -> type[TrlEnvironment]:
    """Return the class to give TRL as ``environment_factory``.

    Args:
        env: The environment; all rollouts share its immutable data, and none its own episode.
        name: Name of the class; made from the environment's id if omitted.
        unsubmitted: Reward of an episode that is never submitted, beside its costs.
        split: Split of the task whose tools the class offers; the environment's own if omitted.
        index: Index of that task.

    Raises:
        ConfigurationError: If a tool has a name that TRL keeps for itself, or ``unsubmitted`` is
            not negative.
    """
    if not unsubmitted < 0:
        raise ConfigurationError(
            f"unsubmitted is a negative reward, not {unsubmitted}: an episode that is never "
            "submitted must be worth less than one that fails."
        )
    specs = env.open_episode(split or env.split, index).seat().catalog.specs
    for spec in specs:
        if spec.identifier in _TAKEN or spec.identifier.startswith("_"):
            raise ConfigurationError(f"TRL cannot offer a tool named {spec.identifier}.")
    members: dict[str, Any] = {spec.identifier: _method(spec) for spec in specs}
    members["_env"] = env
    members["_unsubmitted"] = unsubmitted
    members["_tools"] = tuple(spec.identifier for spec in specs)
    title = name or (env.spec.id if env.spec else type(env).__name__)
    return type(re.sub(r"\W", "_", title), (TrlEnvironment,), members)


def _method(spec: ToolSpec) -> Callable[..., Any]:
    """Return a method that shows the tool's signature and passes on whatever it is given.

    It takes any keyword, and ``self`` by position only, so that no argument a model invents can
    fail before the engine sees it.
    """

    def method(self: TrlEnvironment, /, **arguments: Any) -> Any:
        return self._call(spec.name, arguments)

    receiver = inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)
    parameters = tuple(spec.signature.parameters.values())
    method.__name__ = method.__qualname__ = spec.identifier
    method.__doc__ = spec.function.__doc__
    # No return annotation: transformers would print it into the schema.
    method.__annotations__ = {item.name: item.annotation for item in parameters}
    method.__signature__ = inspect.Signature([receiver, *parameters])  # type: ignore[attr-defined]
    return method


def _blocks(text: str, images: tuple[Image, ...]) -> list[dict[str, Any]]:
    try:
        from PIL import Image as Picture
    except ImportError:
        raise MissingDependencyError(
            'Tools that show pictures need pillow: pip install "healthgym[render]".'
        ) from None
    shown = [{"type": "image", "image": Picture.fromarray(image)} for image in images]
    return [*shown, {"type": "text", "text": text}]
