"""Actions by number, for algorithms that want a discrete space."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, SupportsInt

import gymnasium as gym
import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from healthgym.core.borders import AnyEnv, Begun, JsonDict, JsonObject, Options, Stepped
from healthgym.core.env import HealthEnv
from healthgym.core.tool import ToolCall
from healthgym.core.unwrapping import health_env
from healthgym.errors import ConfigurationError

#: A tool call as an object, as a mapping or as text.
Call = ToolCall | JsonObject | str
#: Writes the menu of an episode, from what the agent may see of it.
MenuWriter = Callable[[HealthEnv], Sequence[Call]]


class ActionMenu(gym.Wrapper[Any, Any, Any, Any], gym.utils.RecordConstructorArgs):
    """Lets an agent choose among tool calls by number.

    ``info["action_mask"]`` says which numbers are on the menu (int8, shape (size,)), and
    ``info["menu"]`` what they stand for, after each reset. A number off the menu is a refused
    call: it is answered with an error and costs a turn.

    Args:
        env: The environment.
        menu: The calls; or a function that writes them for each new episode. It is given the
            environment, and must keep to what an agent may see: the task and the tools.
        size: Number of actions, where the menu is a function: the longest it writes.
    """

    def __init__(
        self, env: AnyEnv, menu: Sequence[Call] | MenuWriter, size: int | None = None
    ) -> None:
        inner = health_env(env)
        if callable(menu):
            if size is None:
                raise ConfigurationError("A menu that changes needs its greatest size.")
            gym.utils.RecordConstructorArgs.__init__(self, menu=menu, size=size)
        else:
            fixed = [_plain(entry) for entry in menu]
            if size not in (None, len(fixed)):
                raise ConfigurationError(f"The menu has {len(fixed)} entries, not {size}.")
            size = len(fixed)
            gym.utils.RecordConstructorArgs.__init__(self, menu=fixed)
        gym.Wrapper.__init__(self, env)
        if size < 1:
            raise ConfigurationError("A menu needs at least one entry.")
        self.action_space = spaces.Discrete(size)
        self._size = size
        self._menu = menu
        self._inner = inner
        self._entries: tuple[Call, ...] = ()

    def reset(self, *, seed: int | None = None, options: Options | None = None) -> Begun:
        """Reset, and write the menu.

        Raises:
            ConfigurationError: If the menu is longer than the action space.
        """
        observation, info = self.env.reset(seed=seed, options=options)
        self._entries = tuple(self._menu(self._inner) if callable(self._menu) else self._menu)
        if len(self._entries) > self._size:
            raise ConfigurationError(
                f"The menu has {len(self._entries)} entries; the space has {self._size}."
            )
        info["menu"] = [_plain(entry) for entry in self._entries]
        info["action_mask"] = self._mask()
        return observation, info

    def step(self, action: SupportsInt) -> Stepped:
        """Make the call of a number."""
        number = int(action)
        entry = self._entries[number] if 0 <= number < len(self._entries) else ""
        observation, reward, terminated, truncated, info = self.env.step(entry)
        info["action_mask"] = self._mask()
        return observation, reward, terminated, truncated, info

    def _mask(self) -> NDArray[np.int8]:
        return (np.arange(self._size) < len(self._entries)).astype(np.int8)


def _plain(entry: Call) -> JsonDict | str:
    if isinstance(entry, ToolCall):
        return {"name": entry.name, "arguments": dict(entry.arguments)}
    return entry if isinstance(entry, str) else dict(entry)
