"""What the wrappers share."""

from __future__ import annotations

from typing import Any

import gymnasium as gym

from healthgym.core.env import HealthEnv
from healthgym.errors import ConfigurationError


def health_env(env: gym.Env[Any, Any]) -> HealthEnv:
    """Return the environment inside all wrappers.

    Raises:
        ConfigurationError: If it is not one of ours.
    """
    inner = env.unwrapped
    if not isinstance(inner, HealthEnv):
        raise ConfigurationError(f"This wrapper needs a healthgym environment, not {inner}.")
    return inner
