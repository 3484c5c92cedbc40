"""Asks a model the same several times over an OpenAI-compatible endpoint."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import TypeVar

import httpx

from healthgym.core.borders import JsonDict
from healthgym.errors import ConfigurationError, EndpointError

_T = TypeVar("_T")
Chat = Sequence[dict[str, str]]


class Electorate:
    """A model that is asked for several votes on one thing.

    Args:
        base_url: Address that ``/chat/completions`` is appended to.
        model: Name of the model.
        api_key_env: Environment variable that holds the key; no key is sent if empty.
        votes: How often it is asked.
        temperature: Sampling temperature.
        timeout: Seconds to wait for one answer.
        transport: Replaces the network, for tests.

    Raises:
        ConfigurationError: If an argument makes no sense, or the key is missing.
    """

    def __init__(
        self,
        base_url: str,
        model: str,
        *,
        api_key_env: str = "",
        votes: int = 3,
        temperature: float = 1.0,
        timeout: float = 120.0,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        if not base_url.startswith(("http://", "https://")) or not model:
            raise ConfigurationError("A judge needs an http(s) address and the name of a model.")
        if votes < 1:
            raise ConfigurationError(f"A judge has at least one vote, not {votes}.")
        key = os.environ.get(api_key_env, "").strip() if api_key_env else ""
        if api_key_env and not key:
            raise ConfigurationError(f"The environment variable {api_key_env} is not set.")
        self.votes = votes
        self._url = f"{base_url.rstrip('/')}/chat/completions"
        self._model, self._temperature = model, temperature
        self._timeout, self._transport = timeout, transport
        self._headers = {"Authorization": f"Bearer {key}"} if key else {}

    def ask(self, chat: Chat, read: Callable[[object], _T]) -> tuple[_T | None, ...]:
        """Return every vote; None for one that failed.

        Args:
            chat: The messages of one vote.
            read: Reads an answer's content, and raises a ValueError if it is no vote.

        Raises:
            EndpointError: If every vote failed: an outage is never a score.
        """
        found: list[_T | None] = []
        reasons: list[str] = []
        with httpx.Client(
            headers=self._headers, timeout=self._timeout, transport=self._transport
        ) as client:
            for _ in range(self.votes):
                try:
                    found.append(read(self._answer(client, chat)))
                except (httpx.HTTPError, ValueError) as error:
                    found.append(None)
                    reasons.append(f"{type(error).__name__}: {error}"[:200])
        if len(reasons) == self.votes:
            raise EndpointError(f"{self._url}: all {self.votes} votes failed ({reasons[-1]}).")
        return tuple(found)

    def undecided(self, what: str) -> EndpointError:
        """Return the error to raise where too few votes came in to decide.

        Args:
            what: What was voted on.
        """
        return EndpointError(f"{self._url}: too few of {self.votes} votes came in to judge {what}.")

    def _answer(self, client: httpx.Client, chat: Chat) -> object:
        body: JsonDict = {
            "model": self._model,
            "temperature": self._temperature,
            "messages": list(chat),
        }
        response = client.post(self._url, json=body)
        response.raise_for_status()
        data = response.json()
        try:
            content: object = data["choices"][0]["message"]["content"]
        except (KeyError, IndexError, TypeError):
            raise ValueError("the answer is not a completion") from None
        return content
