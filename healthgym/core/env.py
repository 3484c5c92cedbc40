"""The Gymnasium face of the engine."""

from __future__ import annotations

from typing import Any, ClassVar

import gymnasium as gym

from healthgym.core.episode import Episode, RewardFunction
from healthgym.core.family import EpisodeConfig, Family
from healthgym.core.images import Image
from healthgym.core.seeding import Split
from healthgym.core.selection import choose_task, parse_split
from healthgym.core.trajectory import Trajectory
from healthgym.errors import ConfigurationError, EpisodeStateError
from healthgym.spaces import JsonText, UnicodeText

__all__ = ["HealthEnv", "parse_split"]

_RENDER_MODES = ("ansi", "rgb_array")


class HealthEnv(gym.Env[str, Any]):
    """A single-agent environment over a task family.

    Observations are text; the pictures of a step are in ``info["images"]``, in full size
    (:class:`healthgym.wrappers.ImageObservation` observes them). An action is a tool call: JSON
    text, or anything else :func:`healthgym.core.action.parse` accepts. ``reset`` takes a seed and
    options.

    Reset options: ``task_id`` or ``index`` chooses the task; ``kind`` and ``difficulty`` (one
    value, or a list of them) draw among the tasks that have these; ``split`` overrides the
    environment's split for that episode.

    Args:
        family: Generator, world, tools and verifier.
        reward: The reward function.
        split: Which task set to draw from.
        config: The rules of an episode.
        render_mode: ``"ansi"`` for text, ``"rgb_array"`` for pictures of it, with the pictures
            last shown beside it.
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
        # The pictures last shown, and the number of the step that showed them.
        self._images: tuple[Image, ...] = ()
        self._shown = 0

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
        split, index = choose_task(self.family.generator, self.np_random, self.split, options or {})
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

    def step(self, action: Any) -> tuple[str, float, bool, bool, dict[str, Any]]:
        """Carry out one action; never raises for what an agent can send."""
        outcome = self.episode.step(action)
        if outcome.images:
            self._images, self._shown = outcome.images, len(self.episode.turns)
        info = self._info()
        if outcome.images:
            info["images"] = outcome.images
        if outcome.errors:
            info["error"] = outcome.errors[0]
        return (
            outcome.observation,
            outcome.reward,
            outcome.terminated,
            outcome.truncated,
            info,
        )

    def stop(self) -> tuple[float, dict[str, Any]]:
        """End the episode as if it were out of turns; return the reward of that, and the info.

        For wrappers that limit something other than turns, such as tokens.

        Raises:
            EpisodeStateError: If the episode is over.
        """
        return self.episode.stop(), self._info()

    def _info(self) -> dict[str, Any]:
        info: dict[str, Any] = {
            "task_id": self.episode.task.task_id,
            "turns_left": self.episode.turns_left(),
            "time": self.episode.world.clock.now.isoformat(),
        }
        if self.episode.done():
            verdicts = self.episode.verdicts()
            info["verdict"] = verdicts
            info["success"] = verdicts[str(self.config.profile)]["success"]
        return info

    def trajectory(self, episode: Episode[Any] | None = None) -> Trajectory:
        """Return the record of an episode so far.

        Args:
            episode: One that was opened apart, as :meth:`open_episode` does; the current one if
                None.
        """
        from healthgym.version import __version__

        episode = episode or self.episode
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
            stopped=tuple(role for role in episode.roles if episode.stopped(role)),
            version=__version__,
        )

    def render(self) -> Any:
        """Return the transcript as text, or as a picture of shape (height, width, 3), uint8."""
        if self.render_mode is None:
            return None
        from healthgym.presentation.render import draw_transcript, transcript

        text = transcript(self.episode)
        if self.render_mode == "ansi":
            return text
        return draw_transcript(text, self._images, f"Shown in step {self._shown}")

    def __getstate__(self) -> dict[str, Any]:
        """Leave the running episode out: a pickled environment is reset before its next use."""
        return {**self.__dict__, "_episode": None, "_images": ()}
