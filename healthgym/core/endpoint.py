"""A client for OpenAI-compatible ``/chat/completions`` endpoints.

It tells two kinds of failure apart. What the endpoint does wrong (refuses, times out, answers with
something that is no completion) is an :class:`~healthgym.errors.EndpointError`, never a score.
What the model does wrong (no call, arguments that are not JSON, a tool that does not exist) is
returned as it came, for the environment to answer.

Policies, simulated people and judges all ask through it.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields
from email.utils import parsedate_to_datetime
from typing import Protocol, Self

import httpx

from healthgym.core.borders import Json, JsonDict, JsonObject
from healthgym.core.spending import (
    Budget,
    Meter,
    Prices,
    Usage,
    estimate_tokens,
    require_prices,
)
from healthgym.errors import (
    ConfigurationError,
    EndpointAnswerError,
    EndpointError,
    EndpointRefusedError,
    EndpointTimeoutError,
    EndpointUnreachableError,
)

_AGAIN = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 520, 522, 524, 529})
#: Headers of an answer that are read.
_HEADERS = ("content-type", "retry-after", "date")
#: Longest answer that is read, in bytes.
_MOST_BYTES = 8 << 20


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where a model is, and how it is asked.

    Attributes:
        base_url: Address that ``/chat/completions`` is appended to, such as
            ``http://localhost:8000/v1``.
        model: Name of the model at that address.
        api_key_env: Environment variable that holds the key; no key is sent if empty.
        temperature: Sampling temperature.
        max_tokens: Most tokens of one answer.
        seed: Sent along where it is set; servers that know no seed leave it out of account.
        timeout: Seconds for one answer, from the request to its last byte.
        retries: How often a request is repeated after a failure that may pass.
        backoff: Seconds before the first repetition; doubled for each further one.
        max_wait: Most seconds before a repetition. An endpoint that asks for more is not waited
            for.
        prices: What tokens cost.
        extra: Further fields of the request body; a field set to None is left out, which is how
            ``max_tokens`` is replaced for models that call it otherwise.
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
    prices: Prices = field(default_factory=Prices)
    extra: JsonObject = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not self.base_url.startswith(("http://", "https://")):
            raise ConfigurationError(
                f"The endpoint's address {self.base_url!r} must begin with http:// or https://."
            )
        if not self.model:
            raise ConfigurationError("An endpoint needs the name of a model.")
        if self.retries < 0 or min(self.timeout, self.max_tokens) <= 0 or self.backoff < 0:
            raise ConfigurationError(
                "retries and backoff are not negative; timeout and max_tokens are positive."
            )

    @classmethod
    def of(cls, given: Endpoint | JsonObject) -> Endpoint:
        """Return an endpoint that is given as one, or as its fields, as a record keeps it.

        Raises:
            ConfigurationError: If it is neither.
        """
        if isinstance(given, Endpoint):
            return given
        try:
            kept = dict(given)
            prices = kept.pop("prices", {})
            return cls(**kept, prices=prices if isinstance(prices, Prices) else Prices(**prices))
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
        return key


class Chatted(Protocol):
    """A message of a chat, such as :class:`TextMessage`."""

    @property
    def tokens(self) -> int:
        """Estimated length."""

    def openai(self) -> JsonDict:
        """Return the message as the chat completions API takes it."""


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


@dataclass(frozen=True, slots=True)
class RawCall:
    """A tool call as the model wrote it: nothing about it is known to be valid."""

    id: str
    name: object
    arguments: object


@dataclass(frozen=True, slots=True)
class Completion:
    """A model's answer.

    Attributes:
        text: What it wrote beside its calls; empty if nothing.
        calls: Its tool calls.
        usage: What the request cost.
        finish_reason: Why it stopped, in the endpoint's words.
    """

    text: str
    calls: tuple[RawCall, ...]
    usage: Usage
    finish_reason: str = ""


class _Transient(Exception):
    """A failure that may pass.

    Args:
        reason: What failed.
        kind: The error that it is once it has not passed.
        wait: What the endpoint asked for, in seconds.
    """

    def __init__(self, reason: str, kind: type[EndpointError], wait: float | None = None) -> None:
        super().__init__(reason)
        self.kind = kind
        self.wait = wait


class ChatClient:
    """Asks an endpoint, again where that can help. Safe to share between threads.

    Args:
        endpoint: Where and how.
        budget: When to stop.
        transport: Replaces the network, for tests.
        sleep: Waits a number of seconds.

    Raises:
        ConfigurationError: If the key is missing, or a budget in dollars has no prices.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        *,
        budget: Budget | None = None,
        transport: httpx.BaseTransport | None = None,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        budget = budget or Budget()
        require_prices(budget, endpoint.prices)
        self.endpoint = endpoint
        self.meter = Meter(budget)
        self._sleep = sleep
        key = endpoint.key()
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        self._url = f"{endpoint.base_url.rstrip('/')}/chat/completions"
        self._http = httpx.Client(headers=headers, timeout=endpoint.timeout, transport=transport)

    def complete(
        self,
        messages: Sequence[Chatted],
        tools: Sequence[JsonObject] = (),
        seed: int | None = None,
    ) -> Completion:
        """Return the model's answer to a chat.

        Args:
            messages: The chat, oldest first.
            tools: Tools in OpenAI's function form; none if empty.
            seed: Seed of this answer; the endpoint's if None.

        Raises:
            EndpointError: If the endpoint gave no usable completion, repetitions included; the
                subclasses tell what it did instead.
            BudgetExceededError: If the budget was spent before this request.
        """
        self.meter.check()
        body = self._body(messages, tools, self.endpoint.seed if seed is None else seed)
        for attempt in range(self.endpoint.retries + 1):
            try:
                completion = self._ask(body, messages)
            except _Transient as failure:
                if attempt == self.endpoint.retries:
                    raise failure.kind(
                        f"{self._url}: {failure} ({attempt + 1} attempts)."
                    ) from failure.__cause__
                self._pause(failure, attempt)
            else:
                self.meter.add(completion.usage)
                return completion
        raise AssertionError("unreachable")

    def _pause(self, failure: _Transient, attempt: int) -> None:
        if failure.wait is not None and failure.wait > self.endpoint.max_wait:
            raise failure.kind(
                f"{self._url}: {failure}; it asks to wait {failure.wait:.0f} s, and the limit is "
                f"{self.endpoint.max_wait:.0f} s."
            )
        doubled = min(self.endpoint.backoff * 2**attempt, self.endpoint.max_wait)
        self._sleep(doubled if failure.wait is None else failure.wait)

    def _body(
        self, messages: Sequence[Chatted], tools: Sequence[JsonObject], seed: int | None
    ) -> JsonDict:
        body: JsonDict = {
            "model": self.endpoint.model,
            "messages": [message.openai() for message in messages],
            "temperature": self.endpoint.temperature,
            "max_tokens": self.endpoint.max_tokens,
            "seed": seed,
        }
        if tools:
            body["tools"] = list(tools)
        body.update(self.endpoint.extra)
        return {name: value for name, value in body.items() if value is not None}

    def _ask(self, body: JsonObject, messages: Sequence[Chatted]) -> Completion:
        try:
            response = self._post(body)
        except httpx.TimeoutException as error:
            reason = f"no answer within {self.endpoint.timeout:g} s"
            raise _Transient(reason, EndpointTimeoutError) from error
        except httpx.HTTPError as error:
            reason = f"{type(error).__name__}: {error}"
            raise _Transient(reason, EndpointUnreachableError) from error
        if response.status_code in _AGAIN:
            raise _Transient(_describe(response), EndpointRefusedError, _retry_after(response))
        if not response.is_success:
            hint = ""
            if response.status_code in (401, 403):
                named = self.endpoint.api_key_env
                hint = f" The key came from {named}." if named else " No key was sent."
            raise EndpointRefusedError(f"{self._url}: {_describe(response)}.{hint}")
        if "html" in response.headers.get("content-type", ""):
            raise EndpointAnswerError(
                f"{self._url}: answered with a web page instead of JSON; is the address right?"
            )
        try:
            data = response.json()
        except (ValueError, RecursionError) as error:
            raise _Transient("the answer is not valid JSON", EndpointAnswerError) from error
        return self._read(data, messages)

    def _post(self, body: JsonObject) -> httpx.Response:
        """Send a request and read all of the answer.

        The client's own limit is for each wait. An endpoint that sends a byte now and then would
        never reach it, so the whole answer has one as well.
        """
        until = time.monotonic() + self.endpoint.timeout
        read = bytearray()
        with self._http.stream("POST", self._url, json=body) as response:
            for part in response.iter_bytes():
                read += part
                if time.monotonic() > until:
                    raise httpx.ReadTimeout("the answer came too slowly", request=response.request)
                if len(read) > _MOST_BYTES:
                    raise _Transient("the answer is enormous", EndpointAnswerError)
        kept = {name: response.headers[name] for name in _HEADERS if name in response.headers}
        return httpx.Response(response.status_code, headers=kept, content=bytes(read))

    def _read(self, data: Json, messages: Sequence[Chatted]) -> Completion:
        if not isinstance(data, dict):
            raise _Transient("the answer is not a completion", EndpointAnswerError)
        if data.get("error"):
            # Some gateways answer 200 and put the error of the provider behind them in the body.
            raise _Transient(f"error: {_error_text(data['error'])}", EndpointRefusedError)
        choices = data.get("choices")
        choice = choices[0] if isinstance(choices, list) and choices else None
        message = choice.get("message") if isinstance(choice, dict) else None
        if not isinstance(choice, dict) or not isinstance(message, dict):
            raise _Transient("the answer has no choices", EndpointAnswerError)
        content, listed = message.get("content"), message.get("tool_calls")
        text = content if isinstance(content, str) else ""
        calls = tuple(map(_raw_call, listed)) if isinstance(listed, list) else ()
        usage = self._usage(data.get("usage"), messages, text, calls)
        return Completion(text, calls, usage, str(choice.get("finish_reason") or ""))

    def _usage(
        self,
        reported: object,
        messages: Sequence[Chatted],
        text: str,
        calls: Sequence[RawCall],
    ) -> Usage:
        counts = reported if isinstance(reported, dict) else {}
        prompt, completion = counts.get("prompt_tokens"), counts.get("completion_tokens")
        estimated = not (isinstance(prompt, int) and isinstance(completion, int))
        if not isinstance(prompt, int):
            prompt = sum(message.tokens for message in messages)
        if not isinstance(completion, int):
            written = len(text) + sum(len(str(c.name)) + len(str(c.arguments)) for c in calls)
            completion = estimate_tokens(written)
        usd = self.endpoint.prices.of(prompt, completion)
        return Usage(prompt, completion, 1, usd, int(estimated))

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _raw_call(item: object) -> RawCall:
    outer = item if isinstance(item, dict) else {}
    function = outer.get("function")
    body = function if isinstance(function, dict) else {}
    return RawCall(str(outer.get("id") or ""), body.get("name"), body.get("arguments"))


def _describe(response: httpx.Response) -> str:
    try:
        data = response.json()
    except ValueError:
        reason = "" if "html" in response.headers.get("content-type", "") else response.text
    else:
        reason = _error_text(data.get("error", data) if isinstance(data, dict) else data)
    reason = " ".join(reason.split())[:200]
    return f"status {response.status_code}{': ' if reason else ''}{reason}"


def _error_text(error: object) -> str:
    if isinstance(error, dict) and isinstance(error.get("message"), str):
        return str(error["message"])[:200]
    return (error if isinstance(error, str) else json.dumps(error))[:200]


def _retry_after(response: httpx.Response) -> float | None:
    """Return the wait an endpoint asks for: seconds, or a date (RFC 9110, section 10.2.3).

    A date is read against the response's own Date, so that two clocks need not agree.
    """
    value = response.headers.get("retry-after", "").strip()
    try:
        return max(float(value), 0.0) if value else None
    except ValueError:
        pass
    try:
        until = parsedate_to_datetime(value)
        answered = parsedate_to_datetime(response.headers.get("date", ""))
        return max((until - answered).total_seconds(), 0.0)
    except (TypeError, ValueError):
        return None
