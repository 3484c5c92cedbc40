"""Where a model is, how it is asked, and what it answers, at an OpenAI-compatible server."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from enum import StrEnum
from typing import Protocol
from urllib.parse import urlsplit

from healthgym.core.borders import JsonDict, JsonObject
from healthgym.core.redaction import kept_settings, named_secrets, secrets_of, shown_address
from healthgym.core.spending import Budget, Prices, Usage, estimate_tokens
from healthgym.errors import ConfigurationError


class Api(StrEnum):
    """The form in which a server is asked."""

    CHAT = "chat"  #: chat completions
    RESPONSES = "responses"  #: responses, of which the server stores none


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where a model is, and how it is asked.

    Attributes:
        base_url: Address that ``/chat/completions`` or ``/responses`` is appended to, such as
            ``http://localhost:8000/v1``.
        model: Name of the model at that address.
        api_key_env: Environment variable that holds the key; no key is sent if empty.
        temperature: Sampling temperature.
        max_tokens: Most tokens of one answer.
        seed: Sent along where it is set; servers that know no seed leave it out of account, and
            the responses form has none.
        timeout: Seconds for one answer, from the request to its last byte.
        retries: How often a request is repeated after a failure that may pass.
        backoff: Seconds before the first repetition; doubled for each further one.
        max_wait: Most seconds before a repetition. An endpoint that asks for more is not waited
            for.
        deadline: Most seconds of a request with its repetitions and the waits between them; five
            times ``timeout``, and a minute at least, if None.
        prices: What tokens cost.
        budget: When to stop; each client counts for itself.
        extra: Further fields of the request body; a field set to None is left out, which is how
            ``max_tokens`` is replaced for models that call it otherwise.
        api: The form in which it is asked; see :class:`Api`.
        echo_reasoning: Whether what the model thought before a call is sent back to it with the
            call, as some models need that go on thinking between calls. In the responses form,
            asks for it sealed; what the server sends whole goes back there anyway.
        concurrency: Most requests at the same time. Below it, the client finds out how many the
            endpoint bears; see :mod:`healthgym.core.pacing`.
    """

    base_url: str
    model: str
    api_key_env: str = ""
    temperature: float = 0.0
    max_tokens: int = 1024
    seed: int | None = None
    timeout: float = 120.0
    retries: int = 4
    backoff: float = 1.0
    max_wait: float = 60.0
    deadline: float | None = None
    prices: Prices = field(default_factory=Prices)
    budget: Budget = field(default_factory=Budget)
    extra: JsonObject = field(default_factory=dict)
    api: str = Api.CHAT
    echo_reasoning: bool = False
    concurrency: int = 64

    @property
    def patience(self) -> float:
        """Most seconds that a request may take in all."""
        return max(5 * self.timeout, 60.0) if self.deadline is None else self.deadline

    def __post_init__(self) -> None:
        if not is_address(self.base_url):
            raise ConfigurationError(
                f"The endpoint's address {shown_address(str(self.base_url))!r} must begin with "
                "http:// or https:// and name a host."
            )
        if not self.model:
            raise ConfigurationError("An endpoint needs the name of a model.")
        if self.api not in list(Api):
            raise ConfigurationError(f"An endpoint's api is chat or responses, not {self.api!r}.")
        if type(self.concurrency) is not int or self.concurrency < 1:
            raise ConfigurationError("concurrency is a whole number from 1.")
        positive = (self.timeout, self.max_tokens, 1 if self.deadline is None else self.deadline)
        if not all(math.isfinite(each) and each > 0 for each in positive):
            raise ConfigurationError("timeout, max_tokens and deadline are positive numbers.")
        others = (self.retries, self.backoff, self.max_wait, self.temperature)
        if not all(math.isfinite(each) and each >= 0 for each in others):
            raise ConfigurationError(
                "retries, backoff, max_wait and temperature are numbers that are not negative."
            )

    def __repr__(self) -> str:
        shown = kept_settings({each.name: getattr(self, each.name) for each in fields(self)})
        return f"Endpoint({', '.join(f'{name}={value!r}' for name, value in shown.items())})"

    @property
    def secrets(self) -> frozenset[str]:
        """What of the settings may not be shown; the key, which is none of them, left out."""
        return frozenset(secrets_of(self.base_url) | named_secrets(self.extra))

    def address(self, path: str) -> str:
        """Return the address of something below the base address, whose query it keeps."""
        base, mark, query = self.base_url.partition("?")
        return f"{base.rstrip('/')}/{path}{mark}{query}"

    @classmethod
    def of(cls, given: Endpoint | JsonObject) -> Endpoint:
        """Return an endpoint that is given as one, or as its fields, as a record keeps it.

        Raises:
            ConfigurationError: If it is neither.
        """
        if isinstance(given, Endpoint):
            return given
        if not isinstance(given, Mapping):
            raise ConfigurationError(
                f"A {type(given).__name__} is neither an endpoint nor the fields of one."
            )
        try:
            nested = {"prices": Prices, "budget": Budget}
            made = {
                name: kind(**given[name])
                for name, kind in nested.items()
                if isinstance(given.get(name), Mapping)
            }
            return cls(**{**given, **made})
        except (TypeError, ValueError) as error:
            raise ConfigurationError(
                f"Not an endpoint: {error}. It has base_url and model, and may have "
                f"{', '.join(each.name for each in fields(cls)[2:])}."
            ) from None

    def key(self) -> str:
        """Return the API key, or an empty string if none is to be sent.

        Raises:
            ConfigurationError: If the environment variable is not set.
        """
        if not self.api_key_env:
            return ""
        key = os.environ.get(self.api_key_env, "").strip()
        if not key:
            raise ConfigurationError(f"The environment variable {self.api_key_env} is not set.")
        if not (key.isascii() and key.isprintable()):
            raise ConfigurationError(
                f"The environment variable {self.api_key_env} holds characters that no key has, "
                "such as a line break."
            )
        return key


def is_address(text: object) -> bool:
    """Return whether a text is the address of a host that HTTP can be spoken with."""
    try:
        parts = urlsplit(text) if isinstance(text, str) else None
        named = parts is not None and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False
    whole = named and str(text).isprintable() and " " not in str(text)
    return whole and parts is not None and parts.scheme in ("http", "https")


class Chatted(Protocol):
    """A message of a chat, such as :class:`TextMessage`."""

    @property
    def tokens(self) -> int:
        """Estimated length."""

    def openai(self) -> JsonDict:
        """Return the message as the chat completions API takes it."""

    def responses(self) -> list[JsonDict]:
        """Return the message as the items of input that the responses API takes."""


@dataclass(frozen=True, slots=True)
class TextMessage:
    """A message of text alone.

    Attributes:
        role: Who says it: ``system``, ``user`` or ``assistant``.
        text: What is said.
    """

    role: str
    text: str

    @property
    def tokens(self) -> int:
        """Estimated length: four characters a token."""
        return estimate_tokens(len(self.text))

    def openai(self) -> JsonDict:
        """Return the message as the chat completions API takes it."""
        return {"role": self.role, "content": self.text}

    def responses(self) -> list[JsonDict]:
        """Return the message as the items of input that the responses API takes."""
        return [self.openai()]


@dataclass(frozen=True, slots=True)
class RawCall:
    """A tool call as the model wrote it: nothing about it is known to be valid."""

    id: str
    name: object
    arguments: object


@dataclass(frozen=True, slots=True)
class Reasoning:
    """What a model thought before it answered, kept apart from its answer.

    Attributes:
        text: The reasoning, or what the server tells of it; empty if nothing.
        field: Field of a chat's message in which it is to be sent back; not sent if empty.
        items: Items of the responses form that are to be sent back as they came, as JSON text.
    """

    text: str = ""
    field: str = ""
    items: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Completion:
    """A model's answer.

    Attributes:
        text: What it wrote beside its calls; empty if nothing.
        calls: Its tool calls.
        usage: What the request cost.
        finish_reason: Why it stopped, in the endpoint's words.
        reasoning: What it thought before, where the server tells.
    """

    text: str
    calls: tuple[RawCall, ...]
    usage: Usage
    finish_reason: str = ""
    reasoning: Reasoning = field(default_factory=Reasoning)
