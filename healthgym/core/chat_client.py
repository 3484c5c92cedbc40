"""A client for OpenAI-compatible ``/chat/completions`` endpoints.

It tells two kinds of failure apart. What the endpoint does wrong (refuses, times out, answers with
something that is no completion) is an :class:`~healthgym.errors.EndpointError`, never a score.
What the model does wrong (no call, arguments that are not JSON, a tool that does not exist) is
returned as it came, for the environment to answer.

Policies, simulated people and judges all ask through it.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Sequence
from email.utils import parsedate_to_datetime
from functools import partial
from typing import Self

import httpx

from healthgym.core.borders import Json, JsonDict, JsonObject
from healthgym.core.endpoint import Chatted, Completion, Endpoint, RawCall
from healthgym.core.spending import Budget, Meter, Usage, estimate_tokens, require_prices
from healthgym.errors import (
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

    It connects when it is first asked, so that what is only replayed needs neither key nor
    network. A copy in another process counts what it spends anew.

    Args:
        endpoint: Where and how.
        budget: When to stop; the endpoint's own if None.
        transport: Replaces the network, for tests.
        sleep: Waits a number of seconds.

    Raises:
        ConfigurationError: If a budget in dollars has no prices.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        *,
        budget: Budget | None = None,
        transport: httpx.BaseTransport | None = None,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        budget = budget or endpoint.budget
        require_prices(budget, endpoint.prices)
        self.endpoint = endpoint
        self.meter = Meter(budget)
        self._transport, self._sleep = transport, sleep
        self._url = f"{endpoint.base_url.rstrip('/')}/chat/completions"
        self._lock = threading.Lock()
        self._connection: httpx.Client | None = None

    @property
    def _http(self) -> httpx.Client:
        with self._lock:
            if self._connection is None:
                key, transport = self.endpoint.key(), self._transport
                headers = {"Authorization": f"Bearer {key}"} if key else {}
                self._connection = httpx.Client(
                    headers=headers, timeout=self.endpoint.timeout, transport=transport
                )
            return self._connection

    def __reduce__(self) -> tuple[Callable[[Endpoint], ChatClient], tuple[Endpoint]]:
        """Leave connections, locks and what was spent out of a pickle."""
        made = partial(
            ChatClient, budget=self.meter.budget, transport=self._transport, sleep=self._sleep
        )
        return made, (self.endpoint,)

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
            ConfigurationError: If the key is missing.
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
        """Close the connections; the next request opens new ones."""
        with self._lock:
            if self._connection is not None:
                self._connection.close()
            self._connection = None

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
