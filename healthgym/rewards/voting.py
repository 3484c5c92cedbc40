"""Asks a model the same several times over an OpenAI-compatible endpoint."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, TypeVar

from healthgym.core.borders import JsonObject
from healthgym.core.endpoint import Endpoint, TextMessage
from healthgym.core.redaction import shown_address
from healthgym.core.spending import Budget
from healthgym.errors import ConfigurationError, EndpointError, EndpointWordsError

if TYPE_CHECKING:
    import httpx

#: How often a model is asked where nothing is said.
VOTES = 3
_T = TypeVar("_T")
Chat = Sequence[TextMessage]


def electors(given: Endpoint | JsonObject, votes: int) -> tuple[Endpoint | JsonObject, int]:
    """Return who is asked and how often, of an endpoint or its fields with ``votes`` among them.

    Args:
        given: The endpoint, or its fields.
        votes: How often it is asked where that is not said.

    Raises:
        ConfigurationError: If the number of votes is none.
    """
    if isinstance(given, Endpoint) or not isinstance(given, Mapping):
        return Endpoint.of(given), votes
    said = given.get("votes", votes)
    if type(said) is not int:
        raise ConfigurationError(f"A judge's votes are a whole number, not {said!r:.40}.")
    return {name: value for name, value in given.items() if name != "votes"}, said


class Electorate:
    """A model that is asked for several votes on one thing.

    Where the endpoint has a seed, each vote has one of its own, counted up from that. Without a
    temperature above 0 or a seed all votes are one vote.

    Args:
        endpoint: Where the model is, and how it is asked; or that as its fields.
        votes: How often it is asked.
        budget: When to stop.
        transport: Replaces the network, for tests.
        sleep: Waits a number of seconds.

    Raises:
        ConfigurationError: If an argument makes no sense, or the key is missing.
    """

    def __init__(
        self,
        endpoint: Endpoint | JsonObject,
        *,
        votes: int = VOTES,
        budget: Budget | None = None,
        transport: httpx.BaseTransport | None = None,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        if votes < 1:
            raise ConfigurationError(f"A judge has at least one vote, not {votes}.")
        # With who asks: most judges are named in a declaration, and never asked.
        from healthgym.core.chat_client import ChatClient

        self.votes = votes
        self._client = ChatClient(
            Endpoint.of(endpoint), budget=budget, transport=transport, sleep=sleep
        )

    def ask(self, chat: Chat, read: Callable[[str], _T]) -> tuple[_T | None, ...]:
        """Return every vote; None for one that did not come in, or is no vote.

        Args:
            chat: The messages of one vote.
            read: Reads an answer, and raises a ValueError if it is no vote.

        Raises:
            EndpointError: If no answer came: an outage is never a score.
            BudgetExceededError: If the budget is spent.
        """
        return votes_of(self.answers(chat), read)

    def answers(self, chat: Chat) -> tuple[str | None, ...]:
        """Return every answer as it came, those that are no vote included; None for an outage.

        An endpoint that refuses what was said to it, as too long or not fit, has answered: whoever
        is judged chose those words.

        Args:
            chat: The messages of one vote.

        Raises:
            EndpointError: If no answer came: an outage is never a score.
            BudgetExceededError: If the budget is spent.
        """
        found: list[str | None] = []
        last: EndpointError | None = None
        seed = self._client.endpoint.seed
        for number in range(self.votes):
            try:
                own = None if seed is None else seed + number
                found.append(self._client.complete(chat, seed=own).text)
            except EndpointWordsError:
                found.append("")
            except EndpointError as error:
                last = error
                found.append(None)
        if last is not None and not any(answer is not None for answer in found):
            raise type(last)(f"All {self.votes} votes failed; the last one: {last}") from last
        return tuple(found)

    def undecided(self, what: str) -> EndpointError:
        """Return the error to raise where too few votes came in to decide.

        Args:
            what: What was voted on.
        """
        url = shown_address(self._client.endpoint.base_url)
        return EndpointError(f"{url}: too few of {self.votes} votes came in to judge {what}.")


def votes_of(answers: Sequence[str | None], read: Callable[[str], _T]) -> tuple[_T | None, ...]:
    """Return answers as votes; None for one that did not come in, or is no vote.

    Args:
        answers: The answers, as they came.
        read: Reads an answer, and raises a ValueError if it is no vote.
    """
    return tuple(None if answer is None else _read(answer, read) for answer in answers)


def _read(text: str, read: Callable[[str], _T]) -> _T | None:
    try:
        return read(text)
    except (ValueError, RecursionError):
        return None
