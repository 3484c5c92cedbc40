"""A client for OpenAI-compatible ``/chat/completions`` endpoints.

It tells two kinds of failure apart. What the endpoint does wrong (refuses, times out, answers with
something that is no completion) is an :class:`~healthgym.errors.EndpointError`, never a score.
What the model does wrong (no call, arguments that are not JSON, a tool that does not exist) is
returned as it came, for the environment to answer.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from typing import Self

import httpx

from healthgym.core.borders import JsonDict, JsonObject
from healthgym.errors import ConfigurationError, EndpointError
from healthgym.policies.chat import Message
from healthgym.policies.usage import (
    Budget,
    Meter,
    Prices,
    Usage,
    estimate_tokens,
    require_prices,
)

_AGAIN = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 520, 522, 524, 529})


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
        timeout: Seconds to wait for one answer.
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
    """A failure that may pass; ``wait`` is what the endpoint asked for, in seconds."""

    def __init__(self, reason: str, wait: float | None = None) -> None:
        super().__init__(reason)
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

    def complete(self, messages: Sequence[Message], tools: Sequence[JsonObject] = ()) -> Completion:
        """Return the model's answer to a chat.

        Args:
            messages: The chat, oldest first.
            tools: Tools in OpenAI's function form; none if empty.

        Raises:
            EndpointError: If the endpoint gave no usable completion, repetitions included.
            BudgetExceededError: If the budget was spent before this request.
        """
        self.meter.check()
        body = self._body(messages, tools)
        for attempt in range(self.endpoint.retries + 1):
            try:
                completion = self._ask(body, messages)
            except _Transient as failure:
                if attempt == self.endpoint.retries:
                    raise EndpointError(
                        f"{self._url}: {failure} ({attempt + 1} attempts)."
                    ) from failure.__cause__
                self._pause(failure, attempt)
            else:
                self.meter.add(completion.usage)
                return completion
        raise AssertionError("unreachable")

    def _pause(self, failure: _Transient, attempt: int) -> None:
        if failure.wait is not None and failure.wait > self.endpoint.max_wait:
            raise EndpointError(
                f"{self._url}: {failure}; it asks to wait {failure.wait:.0f} s, and the limit is "
                f"{self.endpoint.max_wait:.0f} s."
            )
        doubled = min(self.endpoint.backoff * 2**attempt, self.endpoint.max_wait)
        self._sleep(doubled if failure.wait is None else failure.wait)

    def _body(self, messages: Sequence[Message], tools: Sequence[JsonObject]) -> JsonDict:
        body: JsonDict = {
            "model": self.endpoint.model,
            "messages": [message.openai() for message in messages],
            "temperature": self.endpoint.temperature,
            "max_tokens": self.endpoint.max_tokens,
        }
        if tools:
            body["tools"] = list(tools)
        body.update(self.endpoint.extra)
        return {name: value for name, value in body.items() if value is not None}

    def _ask(self, body: JsonObject, messages: Sequence[Message]) -> Completion:
        try:
            response = self._http.post(self._url, json=body)
        except httpx.TimeoutException as error:
            raise _Transient(f"no answer within {self.endpoint.timeout:g} s") from error
        except httpx.TransportError as error:
            raise _Transient(f"{type(error).__name__}: {error}") from error
        if response.status_code in _AGAIN:
            raise _Transient(_describe(response), _retry_after(response))
        if not response.is_success:
            hint = ""
            if response.status_code in (401, 403):
                named = self.endpoint.api_key_env
                hint = f" The key came from {named}." if named else " No key was sent."
            raise EndpointError(f"{self._url}: {_describe(response)}.{hint}")
        if "html" in response.headers.get("content-type", ""):
            raise EndpointError(
                f"{self._url}: answered with a web page instead of JSON; is the address right?"
            )
        try:
            data = response.json()
        except ValueError as error:
            raise _Transient("the answer is not valid JSON") from error
        return self._read(data, messages)

    def _read(self, data: object, messages: Sequence[Message]) -> Completion:
        if not isinstance(data, dict):
            raise _Transient("the answer is not a completion")
        if data.get("error"):
            # Some gateways answer 200 and put the error of the provider behind them in the body.
            raise _Transient(f"error: {_error_text(data['error'])}")
        choices = data.get("choices")
        choice = choices[0] if isinstance(choices, list) and choices else None
        message = choice.get("message") if isinstance(choice, dict) else None
        if not isinstance(choice, dict) or not isinstance(message, dict):
            raise _Transient("the answer has no choices")
        content, listed = message.get("content"), message.get("tool_calls")
        text = content if isinstance(content, str) else ""
        calls = tuple(map(_raw_call, listed)) if isinstance(listed, list) else ()
        usage = self._usage(data.get("usage"), messages, text, calls)
        return Completion(text, calls, usage, str(choice.get("finish_reason") or ""))

    def _usage(
        self,
        reported: object,
        messages: Sequence[Message],
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
