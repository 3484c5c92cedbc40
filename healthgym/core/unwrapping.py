"""From an environment as Gymnasium hands it out to the one inside its wrappers."""

from __future__ import annotations

from healthgym.core.borders import AnyEnv
from healthgym.core.env import HealthEnv
from healthgym.errors import ConfigurationError


def health_env(env: AnyEnv) -> HealthEnv:
    """Return the environment inside all wrappers.

    Raises:
        ConfigurationError: If it is not one of this engine.
    """
    inner = env.unwrapped
    if not isinstance(inner, HealthEnv):
        raise ConfigurationError(f"{inner} is not a healthgym environment.")
    return inner


__all__ = ["health_env"]
