"""The face of an episode that TRL's trainers play.

TRL takes a class: ``reset(**row)`` begins a rollout, and every other public function of the class
is a tool. The tools built here hand their arguments to the episode as they came, so the engine's
own validation answers the model and a mistake costs what it costs everywhere else.

Pictures in tool results reach the model as TRL 1.16 has it: a tool returns a list of content
blocks, the image in it is expanded to the model's image tokens, and its pixels go along with every
later forward pass. That works for a processor (not a bare tokenizer) whose chat template renders
tool messages with images, whose tokenizer has ``<|image_pad|>`` or ``<|image|>``, and whose image
processor returns ``image_grid_thw``: Qwen3-VL and its descendants. What TRL does not do:

* count pictures apart from words: an image's tokens fall under ``max_completion_length``, and a
  result that does not fit is dropped with its picture, which ends the rollout. Bound pictures with
  ``max_image_side`` and leave room;
* train on pictures in tool results with models whose template has no such messages (Qwen2.5-VL,
  SmolVLM, Idefics 3): the trainer refuses them when it is made.

TRL reads a tool's schema from its signature, by way of transformers, which knows no records, dates
or bounds. A tool that takes any is offered as its schema, which chat templates and reply parsers
take as it is: see :class:`_Offered`.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from healthgym.core.borders import JsonDict
from healthgym.core.env import HealthEnv
from healthgym.core.episode import AnyEpisode
from healthgym.core.images import Image
from healthgym.core.schema import expressible
from healthgym.core.tool import ToolCall, ToolSpec
from healthgym.core.verdict import Verdict
from healthgym.errors import (
    ConfigurationError,
    EpisodeStateError,
    HealthGymError,
    InfrastructureError,
    MissingDependencyError,
)
from healthgym.integrations.trl.replies import unread
from healthgym.integrations.trl.turns import turn_rewards
from healthgym.presentation.pictures import shrink

#: What a tool answers once the episode is over: TRL goes on until the model calls no tool.
OVER = "Episode is over. Reply without a tool call."
#: Longer side of pictures in training, unless told otherwise: 196 tokens of Qwen3-VL if square.
MAX_IMAGE_SIDE = 448
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
        masked: What failed outside the episode, such as ``EndpointTimeoutError``; empty if there
            is a reward.
        turns: What each turn earned, which sums to the reward; see
            :func:`~healthgym.integrations.trl.turns.turn_rewards`. None if there is no reward.
    """

    kind: str
    reward: float | None
    verdict: Verdict | None
    submitted: bool
    calls: int
    refused: int
    masked: str = ""
    turns: tuple[float, ...] = ()


def reached(episode: AnyEpisode) -> RolloutOutcome:
    """Return what became of a rollout's episode; one that was left before its end is stopped."""
    if not episode.done():
        episode.stop()
    verdict = episode.verdict()
    return RolloutOutcome(
        episode.task.kind,
        episode.total_reward(),
        verdict,
        episode.submitted(),
        len(episode.events),
        sum(bool(event.error) for event in episode.events),
        turns=turn_rewards(episode),
    )


class TrlEnvironment:
    """One rollout slot. TRL makes as many as a batch needs and uses each again and again.

    Make subclasses with :func:`environment_class`. The name of everything that is not a tool
    begins with an underscore, because TRL would offer it to the model.
    """

    _env: ClassVar[HealthEnv]
    _tools: ClassVar[tuple[str, ...]]
    _schemas: ClassVar[Mapping[str, JsonDict]] = {}
    _images: ClassVar[bool]
    _max_image_side: ClassVar[int | None]

    def __init__(self) -> None:
        # TRL lists the functions of the class, and takes what the instance has by their names.
        for name, schema in self._schemas.items():
            vars(self)[name] = _Offered(schema, getattr(self, name))
        self._episode: AnyEpisode | None = None
        self._result: RolloutOutcome | None = None
        self._outage: InfrastructureError | None = None
        self._fault: Exception | None = None
        self._at: tuple[str, JsonDict] = ("", {})

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
        self._episode = self._outage = self._fault = self._result = None
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
        self._episode, self._outage = episode, episode.crash
        return episode.instruction() if episode.crash is None else _UNAVAILABLE

    def _call(self, name: str, arguments: JsonDict) -> Any:
        """Carry out a tool call and return what the model reads; text, or blocks with images."""
        if self._outage or self._fault:
            return _UNAVAILABLE
        if self._episode is None:
            raise EpisodeStateError("Call reset() before a tool.")
        if self._episode.done():
            return OVER
        try:
            said = unread(arguments)
            outcome = self._episode.step(ToolCall(name, arguments) if said is None else said)
        except InfrastructureError as error:
            self._outage = error
            return _UNAVAILABLE
        except Exception as error:
            # TRL would show it to the model and go on to score the episode; see _outcome.
            self._fault, self._at = error, (name, arguments)
            return _UNAVAILABLE
        if outcome.images and self._images:
            return blocks(outcome.observation, outcome.images, self._max_image_side)
        return outcome.observation

    def _outcome(self) -> RolloutOutcome:
        """Return what became of the rollout, reached once and kept.

        Raises:
            HealthGymError: If a tool failed for a reason of ours, which TRL had swallowed, and
                the environment's :class:`~healthgym.core.faults.FaultLedger` does not let it pass.
        """
        if self._result is None:
            self._result = self._reached()
        return self._result

    def _reached(self) -> RolloutOutcome:
        if self._fault is not None and self._episode is not None:
            task_id = self._episode.task.task_id
            try:
                self._env.faults.take(task_id, self._at, self._fault)
            except Exception as error:  # the ledger raises the failure itself, of whatever kind
                raise HealthGymError(f"A tool failed on our account: {error!r}") from error
            return self._masked()
        if self._outage is not None or self._episode is None:
            return self._masked()
        try:
            return reached(self._episode)
        except InfrastructureError as error:
            self._outage = error
            return self._masked()

    def _masked(self) -> RolloutOutcome:
        kind = self._episode.task.kind if self._episode else ""
        cause = type(self._outage).__name__ if self._outage else "a failure of ours"
        return RolloutOutcome(kind, None, None, False, 0, 0, cause)


class _Offered(JsonDict):
    """A tool as its schema, in OpenAI's function form, which can be called as TRL calls tools."""

    def __init__(self, schema: JsonDict, method: Callable[..., object]) -> None:
        super().__init__(schema)
        self.__name__: str = schema["function"]["name"]
        self._method = method

    def __call__(self, /, **arguments: object) -> Any:
        return self._method(**arguments)


def environment_class(
    env: HealthEnv,
    *,
    name: str = "",
    split: str = "",
    index: int = 0,
    images: bool = False,
    max_image_side: int | None = MAX_IMAGE_SIDE,
) -> type[TrlEnvironment]:
    """Return the class to give TRL as ``environment_factory``.

    Args:
        env: The environment; all rollouts share its immutable data, and none its own episode.
        name: Name of the class; made from the environment's id if omitted.
        split: Split of the task whose tools the class offers; the environment's own if omitted.
        index: Index of that task.
        images: Whether the model is shown the pictures of tool results. It must be a
            vision-language model then; a text model reads the text of the result, which says what
            was shown.
        max_image_side: Most pixels of a picture's longer side; larger ones are made smaller. No
            limit if None.

    Raises:
        ConfigurationError: If a tool has a name that TRL keeps for itself, or ``max_image_side``
            is not positive.
    """
    if max_image_side is not None and max_image_side < 1:
        raise ConfigurationError(f"max_image_side is at least 1, not {max_image_side}.")
    specs = env.open_episode(split or env.split, index).seat().catalog.specs
    for spec in specs:
        if spec.identifier in _TAKEN or spec.identifier.startswith("_"):
            raise ConfigurationError(f"TRL cannot offer a tool named {spec.identifier}.")
    members: JsonDict = {spec.identifier: _method(spec) for spec in specs}
    members["_env"] = env
    members["_images"] = images
    members["_max_image_side"] = max_image_side
    members["_schemas"] = {
        spec.identifier: spec.openai() for spec in specs if not expressible(spec.function)
    }
    members["_tools"] = tuple(spec.identifier for spec in specs)
    title = name or (env.spec.id if env.spec else type(env).__name__)
    return type(re.sub(r"\W", "_", title), (TrlEnvironment,), members)


def _method(spec: ToolSpec) -> Callable[..., object]:
    """Return a method that shows the tool's signature and passes on whatever it is given.

    It takes any keyword, and ``self`` by position only, so that no argument a model invents can
    fail before the engine sees it.
    """

    def method(self: TrlEnvironment, /, **arguments: object) -> Any:
        return self._call(spec.name, arguments)

    receiver = inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)
    parameters = tuple(spec.signature.parameters.values())
    method.__name__ = method.__qualname__ = spec.identifier
    method.__doc__ = spec.function.__doc__
    # No return annotation: transformers would print it into the schema.
    method.__annotations__ = {item.name: item.annotation for item in parameters}
    method.__signature__ = inspect.Signature([receiver, *parameters])  # type: ignore[attr-defined]
    return method


def blocks(text: str, images: Sequence[Image], max_side: int | None = None) -> list[JsonDict]:
    """Return a tool's result as content blocks, the pictures before the text.

    Args:
        text: The text of the result.
        images: Its pictures.
        max_side: Most pixels of a picture's longer side.

    Raises:
        MissingDependencyError: If pillow is not installed.
    """
    try:
        from PIL import Image as Picture
    except ImportError:
        raise MissingDependencyError(
            'Tools that show pictures need pillow: pip install "healthgym[render]".'
        ) from None
    # In colour, always: image processors stack the pictures of a batch.
    shown = [Picture.fromarray(shrink(image, max_side)).convert("RGB") for image in images]
    return [*({"type": "image", "image": each} for each in shown), {"type": "text", "text": text}]
