"""A policy that asks a language model behind an endpoint."""

from __future__ import annotations

import json
from collections.abc import Sequence
from copy import copy
from typing import Any, Self

from healthgym.core.borders import Info, JsonDict
from healthgym.core.chat_client import ChatClient
from healthgym.core.endpoint import Completion, Reasoning
from healthgym.core.env import HealthEnv
from healthgym.core.images import Image
from healthgym.core.spending import Usage
from healthgym.errors import ConfigurationError, EndpointWordsError
from healthgym.policies.chat import Calling, Showing, fit, results, tool_manual
from healthgym.policies.messages import Message, Picture, Request, Speaker


class LLMPolicy:
    """Plays episodes by asking a model for each action.

    Whatever the model answers is handed to the environment, mistakes included. Where the endpoint
    refuses a chat for its words, as too long or not fit, once the model has spoken in it, the
    model's turn is an empty action: it cannot end an episode without a score so. A call that is not
    well-formed is kept in the history as plain text, because many endpoints refuse a history with
    broken calls in it. What the model thinks before it answers, where the server tells it apart, is
    no part of the action and is never looked through for calls.

    Args:
        client: The endpoint; several policies may share it, and with it the budget.
        calling: The endpoint's own tool calls, or tools described in the system message for
            models and servers without.
        system: Text of the system message; none if empty and not needed.
        max_context: Longest history sent, in estimated tokens; older pictures are dropped first,
            then older results.
        showing: Where pictures go: ``"follow"`` (a user's message after the tool's), ``"result"``
            (the tool's message itself), or ``"none"`` for models that read text only.
        max_image_side: Most pixels of a picture's longer side; larger pictures are made smaller.
            No limit if None.
        max_pictures: Most pictures in a request, the latest; of a result with more, the first, and
            the text says so. No limit but the context's if None.
        detail: OpenAI's ``detail`` of pictures: ``"low"``, ``"high"`` or ``"auto"``; not sent if
            empty.
        name: Name in tables; the model's if empty.

    Raises:
        ConfigurationError: If a limit is not positive.
    """

    def __init__(
        self,
        client: ChatClient,
        *,
        calling: Calling | str = Calling.TOOLS,
        system: str = "",
        max_context: int = 24_000,
        showing: Showing | str = Showing.FOLLOW,
        max_image_side: int | None = 1024,
        max_pictures: int | None = None,
        detail: str = "",
        name: str = "",
    ) -> None:
        if any(limit is not None and limit < 1 for limit in (max_image_side, max_pictures)):
            raise ConfigurationError("max_image_side and max_pictures are at least 1, or None.")
        self._client = client
        self._calling = Calling(calling)
        self._system = system
        self._max_context = max_context
        self._showing = Showing(showing)
        self._max_side = max_image_side
        self._max_pictures = max_pictures
        self._detail = detail
        self._name = name or client.endpoint.model
        self._usage = Usage()
        self._messages: list[Message] = []
        self._tools: Sequence[JsonDict] = ()
        self._seen: tuple[Picture, ...] = ()
        self._note = ""
        self._thoughts: list[str] = []

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

    @property
    def reasoning(self) -> tuple[str, ...]:
        """What the model thought before each action of the current episode; empty for nothing."""
        return tuple(self._thoughts)

    def begin(self, env: HealthEnv, observation: str, info: Info) -> None:
        """Start an episode with an empty history."""
        self.start(observation, info["tools"])

    def start(self, observation: str, tools: Sequence[JsonDict]) -> None:
        """Start an episode with an empty history, without an environment at hand.

        Args:
            observation: What is read first; it is sent by the first :meth:`act`.
            tools: The tools, in OpenAI's function form.
        """
        system = self._system
        if self._calling is Calling.TEXT:
            system = f"{system}\n\n{tool_manual(tools)}".strip()
            tools = ()
        self._tools = tools
        self._messages = [Message(Speaker.SYSTEM, system)] if system else []
        self._seen, self._note, self._thoughts = (), "", []

    @property
    def answers(self) -> int:
        """How many actions the model has given in this episode."""
        return sum(message.speaker is Speaker.ASSISTANT for message in self._messages)

    def back_at(self, answers: int) -> Self:
        """Return an independent copy that stands where this one stood after so many actions.

        What it spends from then on counts for itself.
        """
        twin = copy(self)
        twin._messages, left = [], answers
        twin._thoughts = self._thoughts[:answers]
        for message in self._messages:
            if not left and message.speaker is not Speaker.SYSTEM:
                break
            twin._messages.append(message)
            left -= message.speaker is Speaker.ASSISTANT
        return twin

    def see(self, images: Sequence[Image]) -> None:
        """Take the pictures that come with the next observation."""
        if self._showing is Showing.NONE:
            return
        shown = images[: self._max_pictures]
        self._seen = tuple(Picture.of(image, self._max_side, self._detail) for image in shown)
        if len(shown) < len(images):
            self._note = f"\n(the first {len(shown)} of {len(images)} pictures are shown)"

    def act(self, observation: str) -> object:
        """Return the model's next action.

        Raises:
            EndpointError: If the endpoint gives no completion.
            BudgetExceededError: If the budget is spent.
        """
        observation += self._note
        asked = self._messages[-1] if self._messages else Message(Speaker.SYSTEM)
        if asked.speaker is Speaker.ASSISTANT:
            self._messages += results(asked, observation, self._seen, self._showing)
        else:
            self._messages.append(Message(Speaker.USER, observation, images=self._seen))
        self._seen, self._note = (), ""
        sent = fit(self._messages, self._max_context, self._max_pictures)
        try:
            completion = self._client.complete(sent, self._tools)
        except EndpointWordsError:
            if not self.answers:
                raise
            # It has talked itself out of being answered. That is its own turn lost, not an outage.
            completion = Completion("", (), Usage())
        self._usage += completion.usage
        self._thoughts.append(completion.reasoning.text)
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


def _remembered(completion: Completion, action: object, made: int) -> Message:
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
    thought = completion.reasoning if requests else Reasoning()
    return Message(Speaker.ASSISTANT, completion.text, tuple(requests), reasoning=thought)


def _object_text(arguments: object) -> str | None:
    """Return arguments as the text of a JSON object, or None if they are none.

    Most servers send text; some send the object itself, and nothing where a tool takes nothing.
    """
    try:
        value = json.loads(arguments or "{}") if isinstance(arguments, str) else arguments or {}
    except (ValueError, RecursionError):
        return None
    return json.dumps(value) if isinstance(value, dict) else None
