"""A policy that asks a language model behind an endpoint."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from healthgym.core.env import HealthEnv
from healthgym.core.tool import Image
from healthgym.policies.chat import (
    Calling,
    Message,
    Request,
    Speaker,
    data_url,
    fit,
    results,
    tool_manual,
)
from healthgym.policies.endpoint import ChatClient, Completion
from healthgym.policies.usage import Usage


class LLMPolicy:
    """Plays episodes by asking a model for each action.

    Whatever the model answers is handed to the environment, mistakes included. A call that is not
    well-formed is kept in the history as plain text, because many endpoints refuse a history with
    broken calls in it.

    Args:
        client: The endpoint; several policies may share it, and with it the budget.
        calling: The endpoint's own tool calls, or tools described in the system message for
            models and servers without.
        system: Text of the system message; none if empty and not needed.
        max_context: Longest history sent, in estimated tokens; older results are dropped first.
        name: Name in tables; the model's if empty.
    """

    def __init__(
        self,
        client: ChatClient,
        *,
        calling: Calling | str = Calling.TOOLS,
        system: str = "",
        max_context: int = 24_000,
        name: str = "",
    ) -> None:
        self._client = client
        self._calling = Calling(calling)
        self._system = system
        self._max_context = max_context
        self._name = name or client.endpoint.model
        self._usage = Usage()
        self._messages: list[Message] = []
        self._tools: Sequence[dict[str, Any]] = ()
        self._seen: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """Name in tables."""
        return self._name

    @property
    def usage(self) -> Usage:
        """Everything this policy has spent."""
        return self._usage

    @property
    def messages(self) -> tuple[Message, ...]:
        """The current episode's chat, nothing dropped."""
        return tuple(self._messages)

    def begin(self, env: HealthEnv, observation: str, info: dict[str, Any]) -> None:
        """Start an episode with an empty history."""
        tools: list[dict[str, Any]] = info["tools"]
        system = self._system
        if self._calling is Calling.TEXT:
            system = f"{system}\n\n{tool_manual(tools)}".strip()
            tools = []
        self._tools = tools
        self._messages = [Message(Speaker.SYSTEM, system)] if system else []
        self._seen = ()

    def see(self, images: Sequence[Image]) -> None:
        """Take the pictures that come with the next observation."""
        self._seen = tuple(map(data_url, images))

    def act(self, observation: str) -> Any:
        """Return the model's next action.

        Raises:
            EndpointError: If the endpoint gives no completion.
            BudgetExceededError: If the budget is spent.
        """
        asked = self._messages[-1] if self._messages else Message(Speaker.SYSTEM)
        if asked.speaker is Speaker.ASSISTANT:
            self._messages += results(asked, observation, self._seen)
        else:
            self._messages.append(Message(Speaker.USER, observation, images=self._seen))
        self._seen = ()
        completion = self._client.complete(fit(self._messages, self._max_context), self._tools)
        self._usage += completion.usage
        action = _action(completion)
        self._messages.append(_remembered(completion, action, len(self._messages)))
        return action


def _action(completion: Completion) -> Any:
    """Return what the environment is given: the calls, or the text if there is none."""
    if not completion.calls:
        return completion.text
    return {
        "tool_calls": [
            {"name": call.name, "arguments": call.arguments} for call in completion.calls
        ]
    }


def _remembered(completion: Completion, action: Any, made: int) -> Message:
    """Return the answer as the history keeps it; ``made`` numbers calls that came without an id."""
    requests = []
    for n, call in enumerate(completion.calls):
        arguments = _object_text(call.arguments)
        if not isinstance(call.name, str) or not call.name or arguments is None:
            break
        requests.append(Request(call.id or f"call_{made}_{n}", call.name, arguments))
    if len({request.id for request in requests}) < len(completion.calls):
        written = json.dumps(action, default=str)
        return Message(Speaker.ASSISTANT, f"{completion.text}\n{written}".strip())
    return Message(Speaker.ASSISTANT, completion.text, tuple(requests))


def _object_text(arguments: object) -> str | None:
    """Return arguments as the text of a JSON object, or None if they are none.

    Most servers send text; some send the object itself, and nothing where a tool takes nothing.
    """
    try:
        value = json.loads(arguments or "{}") if isinstance(arguments, str) else arguments or {}
    except (ValueError, RecursionError):
        return None
    return json.dumps(value) if isinstance(value, dict) else None
