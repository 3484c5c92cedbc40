"""Tasks that change as training goes on."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import gymnasium as gym

from healthgym.core.borders import AnyEnv, Begun, Options, Settings, Stepped
from healthgym.errors import ConfigurationError


@dataclass(frozen=True, slots=True)
class Stage:
    """A part of a curriculum.

    Attributes:
        options: Reset options, such as ``{"kind": ["v1-t1", "v1-t2"]}``.
        kwargs: Arguments of the environment, such as ``{"difficulty": "easy"}``; the environment
            is made anew with them when the stage begins.
        episodes: Finished episodes after which the next stage begins; None for the last stage.
        success: If given, the next stage begins only while this share of the last ``window``
            finished episodes succeeded; ``episodes`` is then the fewest episodes.
        window: Episodes that ``success`` looks back on.
    """

    options: Settings = field(default_factory=dict)
    kwargs: Settings = field(default_factory=dict)
    episodes: int | None = None
    success: float | None = None
    window: int = 50

    def __post_init__(self) -> None:
        if self.episodes is not None and self.episodes < 1:
            raise ConfigurationError("A stage takes at least one episode.")
        if self.success is not None and not 0 < self.success <= 1:
            raise ConfigurationError("The success that ends a stage is a share in (0, 1].")
        if self.window < 1:
            raise ConfigurationError("The window of a stage is at least one episode.")


class Curriculum(gym.Wrapper[Any, Any, Any, Any], gym.utils.RecordConstructorArgs):
    """Walks through stages, from easy to hard, as episodes are finished.

    ``info["stage"]`` has the number of the stage. Options given to ``reset`` go before those of
    the stage, and an episode whose task was given by them does not count.

    Args:
        env: The environment, made by ``gymnasium.make`` if a stage has ``kwargs``.
        stages: The stages in order, or mappings with their fields.

    Raises:
        ConfigurationError: If a stage but the last has no end.
    """

    def __init__(self, env: AnyEnv, stages: Sequence[Stage | Settings]) -> None:
        self.stages = tuple(s if isinstance(s, Stage) else Stage(**s) for s in stages)
        gym.utils.RecordConstructorArgs.__init__(self, stages=[asdict(s) for s in self.stages])
        gym.Wrapper.__init__(self, env)
        if not self.stages:
            raise ConfigurationError("A curriculum needs at least one stage.")
        if any(stage.episodes is None for stage in self.stages[:-1]):
            raise ConfigurationError("Every stage but the last needs a number of episodes.")
        if any(stage.kwargs for stage in self.stages) and env.spec is None:
            raise ConfigurationError("Stages with kwargs need an environment made by gym.make.")
        self._spec = env.spec
        self.stage = 0
        self._finished = 0
        self._recent: deque[bool] = deque(maxlen=self.stages[0].window)
        self._counts = False
        if self.stages[0].kwargs:
            self._remake()

    def reset(self, *, seed: int | None = None, options: Options | None = None) -> Begun:
        """Reset to a task of the current stage."""
        if self._is_over():
            self._advance()
        given = dict(options or {})
        self._counts = not given.keys() & {"task_id", "index"}
        stage = dict(self.stages[self.stage].options)
        if not self._counts:
            stage = {name: value for name, value in stage.items() if name == "split"}
        observation, info = self.env.reset(seed=seed, options={**stage, **given})
        info["stage"] = self.stage
        return observation, info

    def step(self, action: object) -> Stepped:
        """Step, and count the episode if it is over."""
        observation, reward, terminated, truncated, info = self.env.step(action)
        info["stage"] = self.stage
        if (terminated or truncated) and self._counts and "fault" not in info:
            self._finished += 1
            self._recent.append(bool(info.get("success", False)))
        return observation, reward, terminated, truncated, info

    def _is_over(self) -> bool:
        stage = self.stages[self.stage]
        if self.stage + 1 == len(self.stages) or stage.episodes is None:
            return False
        if self._finished < stage.episodes:
            return False
        if stage.success is None:
            return True
        full = len(self._recent) == stage.window
        return full and sum(self._recent) >= stage.success * stage.window

    def _advance(self) -> None:
        before = self.stages[self.stage].kwargs
        self.stage += 1
        self._finished = 0
        self._recent = deque(maxlen=self.stages[self.stage].window)
        if self.stages[self.stage].kwargs != before:
            self._remake()

    def _remake(self) -> None:
        """Replace the environment, which goes on with the random numbers of the old one."""
        assert self._spec is not None
        random = self.env.unwrapped.np_random
        self.env.close()
        self.env = gym.make(self._spec, **self.stages[self.stage].kwargs)
        self.env.unwrapped.np_random = random
