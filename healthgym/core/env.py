"""The Gymnasium face of the engine."""

from __future__ import annotations

from typing import Any, ClassVar

import gymnasium as gym
import numpy as np

from healthgym.core.episode import Episode, RewardFunction
from healthgym.core.family import EpisodeConfig, Family
from healthgym.core.render import draw_transcript, transcript
from healthgym.core.seeding import INDEX_BOUND, Split
from healthgym.core.task import KindIndex, TaskKey
from healthgym.core.trajectory import Trajectory
from healthgym.errors import ConfigurationError, EpisodeStateError
from healthgym.spaces import JsonText, UnicodeText

_RENDER_MODES = ("ansi", "rgb_array")
_FILTERS = ("kind", "difficulty")
_OPTIONS = {"task_id", "index", "split", *_FILTERS}
_MAX_DRAWS = 400


class HealthEnv(gym.Env[str, Any]):
    """A single-agent environment over a task family.

    Observations are text. An action is a tool call: JSON text, or anything else
    :func:`healthgym.core.action.parse` accepts. ``reset`` takes a seed and options.

    Reset options: ``task_id`` or ``index`` chooses the task; ``kind`` and ``difficulty`` (one
    value, or a list of them) draw among the tasks that have these; ``split`` overrides the
    environment's split for that episode.

    Args:
        family: Generator, world, tools and verifier.
        reward: The reward function.
        split: Which task set to draw from.
        config: The rules of an episode.
        render_mode: ``"ansi"`` for text, ``"rgb_array"`` for pictures of it.
    """

    metadata: ClassVar[dict[str, Any]] = {  # type: ignore[misc]
        "render_modes": list(_RENDER_MODES),
        "render_fps": 1,
    }

    def __init__(
        self,
        family: Family[Any],
        reward: RewardFunction,
        *,
        split: str = "train",
        config: EpisodeConfig | None = None,
        render_mode: str | None = None,
    ) -> None:
        if render_mode is not None and render_mode not in _RENDER_MODES:
            accepted = ", ".join(_RENDER_MODES)
            raise ConfigurationError(f"render_mode {render_mode!r} is not one of {accepted}.")
        self.family = family
        self.reward = reward
        self.config = config or EpisodeConfig()
        self.split = parse_split(split)
        self.render_mode = render_mode
        self.observation_space = UnicodeText(4 * self.config.max_observation)
        self.action_space = JsonText(self.config.max_observation)
        self._episode: Episode[Any] | None = None
        self._images: tuple[np.ndarray[Any, Any], ...] = ()

    @property
    def episode(self) -> Episode[Any]:
        """The current episode.

        Raises:
            EpisodeStateError: Before the first reset.
        """
        if self._episode is None:
            raise EpisodeStateError("Call reset() first.")
        return self._episode

    def open_episode(self, split: Split | str, index: int) -> Episode[Any]:
        """Return a new episode of a task, leaving the environment's own episode alone."""
        instance = self.family.generator.generate(parse_split(split), index)
        return Episode(self.family, instance, self.reward, self.config)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[str, dict[str, Any]]:
        """Begin a new episode; see the class for the options.

        Raises:
            ConfigurationError: If an option is unknown, or no task fits it.
        """
        super().reset(seed=seed)
        split, index = self._choose(options or {})
        self._episode = self.open_episode(split, index)
        self._images = ()
        task = self._episode.task
        info = {
            "task_id": task.task_id,
            "split": str(task.key.split),
            "kind": task.kind,
            "tools": self._episode.seat().catalog.openai(),
        }
        return self._episode.instruction(), info

    def _choose(self, options: dict[str, Any]) -> tuple[Split, int]:
        unknown = options.keys() - _OPTIONS
        if unknown:
            raise ConfigurationError(
                f"Unknown reset option {', '.join(sorted(map(str, unknown)))}; "
                f"use {', '.join(sorted(_OPTIONS))}."
            )
        wanted = {name: options[name] for name in _FILTERS if name in options}
        if len(options.keys() & {"task_id", "index"}) + bool(wanted) > 1:
            raise ConfigurationError(
                "Give task_id, or index, or kind and difficulty: each of them chooses the task."
            )
        split = parse_split(options.get("split", self.split))
        # Drawn even where it is not used: the stream must not depend on the options.
        drawn = int(self.np_random.integers(self.family.generator.size(split)))
        if "task_id" in options:
            key = TaskKey.parse(str(options["task_id"]))
            if key.family != self.family.generator.name:
                raise ConfigurationError(
                    f"Task {key} belongs to {key.family}, not to {self.family.generator.name}."
                )
            return key.split, key.index
        if wanted:
            return split, self._find(split, drawn, wanted)
        index = options.get("index", drawn)
        if isinstance(index, bool) or not isinstance(index, int | np.integer):
            raise ConfigurationError(f"A task index is an integer, not {index!r}.")
        if not 0 <= index < INDEX_BOUND:
            raise ConfigurationError(f"A task index lies in [0, {INDEX_BOUND}), not {index}.")
        return split, int(index)

    def _find(self, split: Split, first: int, wanted: dict[str, Any]) -> int:
        """Return the first index, of those drawn from ``first`` on, whose task is as wanted."""
        generator = self.family.generator
        accepted = {
            name: list(value) if isinstance(value, list | tuple) else [value]
            for name, value in wanted.items()
        }
        rng = np.random.Generator(np.random.PCG64(first))
        index, seen = first, set()
        for _ in range(_MAX_DRAWS):
            if wanted.keys() == {"kind"} and isinstance(generator, KindIndex):
                facts: dict[str, Any] = {"kind": generator.kind(split, index)}
            else:
                task = generator.generate(split, index).task
                facts = {"kind": task.kind, "difficulty": task.metadata.get("difficulty")}
            if all(facts[name] in values for name, values in accepted.items()):
                return index
            seen.add(", ".join(f"{name} {facts[name]!r}" for name in accepted))
            index = int(rng.integers(generator.size(split)))
        raise ConfigurationError(
            f"None of {_MAX_DRAWS} tasks of {split} has {wanted}; there are: "
            f"{'; '.join(sorted(seen)[:40])}."
        )

    def step(self, action: Any) -> tuple[str, float, bool, bool, dict[str, Any]]:
        """Carry out one action; never raises for what an agent can send."""
        outcome = self.episode.step(action)
        self._images = outcome.images or self._images
        info: dict[str, Any] = {
            "task_id": self.episode.task.task_id,
            "turns_left": self.episode.turns_left(),
            "time": self.episode.world.clock.now.isoformat(),
        }
        if outcome.images:
            info["images"] = outcome.images
        if outcome.errors:
            info["error"] = outcome.errors[0]
        if outcome.terminated or outcome.truncated:
            verdicts = self.episode.verdicts()
            info["verdict"] = verdicts
            info["success"] = verdicts[str(self.config.profile)]["success"]
        return (
            outcome.observation,
            outcome.reward,
            outcome.terminated,
            outcome.truncated,
            info,
        )

    def trajectory(self) -> Trajectory:
        """Return the record of the current episode so far."""
        from healthgym.version import __version__

        episode = self.episode
        spec = self.spec
        return Trajectory(
            env_id=spec.id if spec else "",
            env_kwargs=dict(spec.kwargs) if spec else {},
            task_id=episode.task.task_id,
            kind=episode.task.kind,
            instructions={role: episode.instruction(role) for role in episode.roles},
            tools={role: episode.seat(role).catalog.openai() for role in episode.roles},
            turns=episode.turns,
            verdicts={role: episode.verdicts(role) for role in episode.roles},
            rewards={role: episode.total_reward(role) for role in episode.roles},
            version=__version__,
        )

    def render(self) -> Any:
        """Return the transcript as text, or as a picture of shape (height, width, 3), uint8."""
        if self.render_mode is None:
            return None
        text = transcript(self.episode)
        if self.render_mode == "ansi":
            return text
        return draw_transcript(text, self._images)

    def __getstate__(self) -> dict[str, Any]:
        """Leave the running episode out: a pickled environment is reset before its next use."""
        return {**self.__dict__, "_episode": None, "_images": ()}


def parse_split(split: Split | str) -> Split:
    """Return the split of a name.

    Raises:
        ConfigurationError: If there is none of that name.
    """
    try:
        return Split(split)
    except ValueError:
        accepted = ", ".join(Split)
        raise ConfigurationError(f"{split!r} is not a split; use one of {accepted}.") from None
