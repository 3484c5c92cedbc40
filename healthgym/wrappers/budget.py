"""A limit on how much text an episode may take."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gymnasium as gym

from healthgym.core.borders import AnyEnv, Begun, Options, Stepped
from healthgym.core.spending import estimate_tokens
from healthgym.core.unwrapping import health_env
from healthgym.errors import ConfigurationError

#: Counts the tokens of a text.
TokenCounter = Callable[[str], int]


def estimate(text: str) -> int:
    """Return the tokens of a text at four characters each: English and JSON, roughly."""
    return estimate_tokens(len(text))


class TokenBudget(gym.Wrapper[Any, Any, Any, Any], gym.utils.RecordConstructorArgs):
    """Counts the tokens of an episode and, with a limit, ends it when they are spent.

    Counted are the instruction, every action and every observation, each once: what a chat holds
    at the end, without its template. ``info["tokens"]`` has the count so far. An episode over the
    limit is truncated and scored as it stands, like one out of turns.

    Args:
        env: The environment.
        limit: Most tokens of an episode; only counted if None.
        count: Counts the tokens of a text, such as ``lambda t: len(tokenizer(t).input_ids)``;
            four characters a token if omitted.
    """

    def __init__(
        self,
        env: AnyEnv,
        limit: int | None = None,
        count: TokenCounter | None = None,
    ) -> None:
        gym.utils.RecordConstructorArgs.__init__(self, limit=limit, count=count)
        gym.Wrapper.__init__(self, env)
        if limit is not None and limit < 1:
            raise ConfigurationError(f"A budget of {limit} tokens leaves nothing to act with.")
        self.limit = limit
        self._count = count or estimate
        self._inner = health_env(env)
        self._tokens = 0

    def reset(self, *, seed: int | None = None, options: Options | None = None) -> Begun:
        """Reset, and count the instruction."""
        observation, info = self.env.reset(seed=seed, options=options)
        self._tokens = self._count(self._inner.episode.instruction())
        info["tokens"] = self._tokens
        return observation, info

    def step(self, action: object) -> Stepped:
        """Step, count, and end the episode if the limit is passed."""
        observation, reward, terminated, truncated, info = self.env.step(action)
        inner = self._inner
        if "fault" not in info:
            # Counterparts may have played since; theirs are not this agent's tokens.
            last = next(turn for turn in reversed(inner.episode.turns) if turn.role == inner.role)
            self._tokens += self._count(last.action) + self._count(last.observation)
        over = self.limit is not None and self._tokens > self.limit
        if over and not (terminated or truncated):
            charged, ending = self._inner.stop()
            reward, truncated, info = float(reward) + charged, True, {**info, **ending}
        info["tokens"] = self._tokens
        return observation, reward, terminated, truncated, info
