"""Seats that are filled by a policy: by a model behind an endpoint, above all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol, Self

from healthgym.core.borders import JsonDict, JsonObject
from healthgym.core.chat_client import ChatClient
from healthgym.core.endpoint import Endpoint
from healthgym.core.players import Player
from healthgym.policies.chat import Calling
from healthgym.policies.llm import LLMPolicy


class Sitting(Protocol):
    """A policy that can be taken back to where it stood, without asking anybody again."""

    @property
    def answers(self) -> int:
        """How many actions it has given in this episode."""

    def start(self, observation: str, tools: Sequence[JsonDict]) -> None:
        """Start an episode.

        Args:
            observation: What is read first.
            tools: The tools, in OpenAI's function form.
        """

    def act(self, observation: str) -> object:
        """Return the next action."""

    def back_at(self, answers: int) -> Self:
        """Return an independent copy that stands where this one stood after so many actions."""


class PolicyPlayer(Player):
    """Plays a seat by a policy.

    A scripted player is taken back by playing it again. This one is not asked twice for the same
    action: the answer might be another.

    Args:
        policy: The policy.
        instruction: What the seat reads first.
        tools: The seat's tools, in OpenAI's function form.
    """

    def __init__(self, policy: Sitting, instruction: str, tools: Sequence[JsonDict]) -> None:
        super().__init__(tuple)  # no moves of its own
        self._policy = policy
        self._instruction, self._tools = instruction, tools

    def act(self, observation: str = "") -> object:
        """Return the policy's next action.

        Args:
            observation: The answer to its last action; before the first, what it was told besides
                the instruction.
        """
        if not self._policy.answers:
            observation = f"{self._instruction}\n\n{observation}".strip()
            self._policy.start(observation, self._tools)
        return self._policy.act(observation)

    @property
    def position(self) -> int:
        """How many actions it has been asked for."""
        return self._policy.answers

    def at(self, position: int) -> Player:
        """Return a player that stands where this one stood after so many actions."""
        return PolicyPlayer(self._policy.back_at(position), self._instruction, self._tools)


@dataclass(frozen=True)
class EndpointSeat:
    """A chat model behind an OpenAI-compatible endpoint, in a seat.

    What it does is in the record of the episode, turn by turn, which is played again without it.

    Attributes:
        endpoint: Where the model is, and how it is asked; or that as its fields.
        calling: ``"tools"`` for the endpoint's own tool calls, ``"text"`` for calls in its words.
        system: Text of a system message; none if empty and not needed.
        max_context: Longest history sent, in estimated tokens.
    """

    endpoint: Endpoint | JsonObject
    calling: str = "tools"
    system: str = ""
    max_context: int = 24_000

    def __post_init__(self) -> None:
        Endpoint.of(self.endpoint)
        Calling(self.calling)

    @cached_property
    def _client(self) -> ChatClient:
        """The client, one for all episodes, and with it the budget."""
        return ChatClient(Endpoint.of(self.endpoint))

    def sit(self, role: str, instruction: str, tools: Sequence[JsonDict]) -> Player:
        """Return a player of one episode."""
        policy = LLMPolicy(
            self._client,
            calling=self.calling,
            system=self.system,
            max_context=self.max_context,
        )
        return PolicyPlayer(policy, instruction, tools)
