"""A client for OpenAI-compatible endpoints, in either of their forms.

It tells two kinds of failure apart. What the endpoint does wrong (refuses, times out, answers with
something that is no completion) is an :class:`~healthgym.errors.EndpointError`, never a score.
What the model does wrong (no call, arguments that are not JSON, a tool that does not exist) is
returned as it came, for the environment to answer.

An endpoint that takes no connection at all is told at once, as long as it has never taken one:
then its address is wrong, or it was not started. Once it has answered, an outage may pass.

Policies, simulated people and judges all ask through it.
"""

from __future__ import annotations

import math
import re
import threading
import time
import weakref
from collections.abc import Callable, Sequence
from email.utils import parsedate_to_datetime
from functools import partial
from http import HTTPStatus

import httpx

from healthgym.core.borders import Json, JsonObject
from healthgym.core.closing import Closing
from healthgym.core.endpoint import Api, Chatted, Completion, Endpoint
from healthgym.core.forms import (
    PATHS,
    DeclinedError,
    NoCompletionError,
    Said,
    error_text,
    read_answer,
    request_body,
)
from healthgym.core.pacing import Pace
from healthgym.core.redaction import Redactor, shown_address
from healthgym.core.spending import Budget, Meter, Usage, estimate_tokens, require_prices
from healthgym.core.wire import Answer, Wire
from healthgym.errors import (
    ConfigurationError,
    EndpointAbsentError,
    EndpointAnswerError,
    EndpointError,
    EndpointRefusedError,
    EndpointTimeoutError,
    EndpointWordsError,
)

_AGAIN = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 520, 522, 524, 529})
#: Longest answer that is read, in bytes; and how much of a refusal, in characters.
_MOST_BYTES, _READ = 8 << 20, 1 << 16
#: Of these, refusals that say nothing of how much room there is.
_NO_CROWD = frozenset({409, 425})
#: Refusals that are about what was said, as OpenAI, Azure, Anthropic, vLLM and others word them.
_ABOUT_WORDS = frozenset({400, 413, 422})
_WORDS = re.compile(
    r"context[ _-]?(?:length|window|size)"
    r"|(?:prompt|input|request|message)s?\b.{0,40}\btoo (?:long|large)"
    r"|max(?:imum)?[ _-](?:context|model|input|prompt|sequence)[ _-]?(?:length|len|tokens)"
    r"|content[ _-]?(?:filter|policy|management)|safety system|request_too_large",
    re.IGNORECASE,
)


class _Transient(Exception):
    """A failure that may pass.

    Args:
        reason: What failed.
        kind: The error that it is once it has not passed.
        wait: What the endpoint asked for, in seconds.
        crowded: Whether there was no room for the request; None if that cannot be known.
    """

    def __init__(
        self,
        reason: str,
        kind: type[EndpointError],
        wait: float | None = None,
        crowded: bool | None = None,
    ) -> None:
        super().__init__(reason)
        self.kind = kind
        self.wait = wait
        self.crowded = crowded


class ChatClient(Closing):
    """Asks an endpoint, again where that can help. Safe to share between threads.

    It connects when it is first asked, so that what is only replayed needs neither key nor
    network. A copy in another process counts what it spends anew.

    Args:
        endpoint: Where and how.
        budget: When to stop; the endpoint's own if None.
        transport: Replaces the network, for tests.
        sleep: Waits a number of seconds.
        notice: Told in a sentence whenever a request is to be repeated; from any thread.

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
        notice: Callable[[str], None] | None = None,
    ) -> None:
        budget = budget or endpoint.budget
        require_prices(budget, endpoint.prices)
        self.endpoint = endpoint
        self.meter = Meter(budget)
        self.pace = Pace(endpoint.concurrency, sleep)
        self._transport, self._sleep, self._notice = transport, sleep, notice
        self._met = False
        self._url = endpoint.address(PATHS[Api(endpoint.api)])
        self._shown = shown_address(self._url)
        self._lock = threading.Lock()
        self._connection: tuple[Wire, Redactor] | None = None
        self._hang_up: Callable[[], object] = lambda: None

    @property
    def _connected(self) -> tuple[Wire, Redactor]:
        """The connections, and what keeps secrets out of what comes by them."""
        with self._lock:
            if self._connection is None:
                key = self.endpoint.key()
                wire = Wire(
                    timeout=self.endpoint.timeout,
                    most_bytes=_MOST_BYTES,
                    headers={"Authorization": f"Bearer {key}"} if key else {},
                    transport=self._transport,
                )
                self._connection = wire, Redactor({key, *self.endpoint.secrets})
                # Judges, persons and seats have nobody who closes what they ask through.
                self._hang_up = weakref.finalize(self, wire.close)
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
            EndpointAbsentError: At once, if nobody has ever taken a connection there.
            BudgetExceededError: If the budget was spent before this request.
            ConfigurationError: If the key is missing.
        """
        body = request_body(
            self.endpoint, messages, tools, self.endpoint.seed if seed is None else seed
        )
        until = 0.0
        for attempt in range(self.endpoint.retries + 1):
            queued = time.monotonic()
            with self.pace.turn(again=attempt > 0) as turn:
                begun = time.monotonic()
                # Waiting for a place is nobody's answer that does not come.
                until = until + begun - queued if attempt else begun + self.endpoint.patience
                self.meter.check()
                try:
                    completion = self._ask(body, messages, until - begun)
                except _Transient as error:
                    failure, turn.crowded = error, error.crowded
                else:
                    turn.crowded = False
                    self.meter.add(completion.usage)
                    return completion
            if attempt == self.endpoint.retries:
                told = f"{self._shown}: {failure} ({attempt + 1} attempts)."
                raise failure.kind(told)
            self._pause(failure, attempt, until)
        raise AssertionError("unreachable")

    def _pause(self, failure: _Transient, attempt: int, until: float) -> None:
        if failure.wait is not None and failure.wait > self.endpoint.max_wait:
            raise failure.kind(
                f"{self._shown}: {failure}; it asks to wait {failure.wait:.0f} s, and the limit is "
                f"{self.endpoint.max_wait:.0f} s."
            )
        doubled = min(self.endpoint.backoff * 2.0 ** min(attempt, 64), self.endpoint.max_wait)
        wait = doubled if failure.wait is None else failure.wait
        if time.monotonic() + wait >= until:
            raise failure.kind(
                f"{self._shown}: {failure} ({attempt + 1} attempts); no time is left of the "
                f"{self.endpoint.patience:g} s for an answer."
            )
        if failure.wait is not None:
            self.pace.hold(wait)
        if self._notice is not None:
            self._notice(f"{self._shown}: {failure}; asked again in {wait:.3g} s.")
        self._sleep(wait)

    def _ask(self, body: bytes, messages: Sequence[Chatted], seconds: float) -> Completion:
        wire, redact = self._connected
        try:
            answer = wire.ask(
                "POST",
                self._url,
                content=body,
                headers={"Content-Type": "application/json"},
                seconds=seconds,
            )
        except EndpointAbsentError as error:
            told = redact.text(str(error))
            if not self._met:
                absent = EndpointAbsentError(f"{self._shown}: nobody answers ({told}).")
                absent.never = True
                raise absent from None
            raise _Transient(told, EndpointAbsentError) from None
        except EndpointError as error:
            self._met = True
            crowded = True if isinstance(error, EndpointTimeoutError) else None
            raise _Transient(redact.text(str(error)), type(error), crowded=crowded) from None
        except (httpx.InvalidURL, UnicodeError):
            raise ConfigurationError(f"{self._shown} is no address of HTTP.") from None
        self._met = True
        if answer.status in _AGAIN:
            crowded = answer.status not in _NO_CROWD or None
            reason, wait = _describe(answer, redact), _retry_after(answer)
            raise _Transient(reason, EndpointRefusedError, wait, crowded)
        if not answer.ok:
            raise self._refused(answer, redact)
        if answer.is_page:
            raise EndpointAnswerError(
                f"{self._shown}: answered with a web page instead of JSON; is the address right?"
            )
        try:
            data = redact.value(answer.json())
        except ValueError:
            raise _Transient("the answer is not valid JSON", EndpointAnswerError) from None
        return self._read(data, messages)

    def _refused(self, answer: Answer, redact: Redactor) -> EndpointRefusedError:
        """Return the error for a request that is refused for good."""
        reason, hint = _describe(answer, redact), ""
        if answer.status in (401, 403):
            named = self.endpoint.api_key_env
            none = " No key was sent; api_key_env (--api-key-env) names the variable with one."
            hint = f" The key came from {named}." if named else none
        elif answer.status == HTTPStatus.NOT_FOUND:
            hint = " Are the address, up to /v1, and the model's name right?"
        said = answer.status in _ABOUT_WORDS and _WORDS.search(redact.text(answer.text[:_READ]))
        kind = EndpointWordsError if said else EndpointRefusedError
        return kind(f"{self._shown}: {reason}.{hint}")

    def _read(self, data: Json, messages: Sequence[Chatted]) -> Completion:
        try:
            said = read_answer(self.endpoint, data)
        except NoCompletionError as error:
            raise _Transient(str(error), EndpointAnswerError) from None
        except DeclinedError as error:
            raise _Transient(str(error), EndpointRefusedError) from None
        usage = self._usage(said, messages)
        return Completion(said.text, said.calls, usage, said.finish_reason, said.reasoning)

    def _usage(self, said: Said, messages: Sequence[Chatted]) -> Usage:
        prompt, completion, cached = said.prompt_tokens, said.completion_tokens, said.cached_tokens
        estimated = prompt is None or completion is None
        if prompt is None:
            prompt = sum(message.tokens for message in messages)
        if completion is None:
            completion = estimate_tokens(said.written)
        usd = self.endpoint.prices.of(prompt, completion, cached)
        return Usage(prompt, completion, 1, usd, int(estimated), cached)

    def close(self) -> None:
        """Close the connections; the next request opens new ones."""
        with self._lock:
            self._hang_up()
            self._connection = None


def _describe(answer: Answer, redact: Redactor) -> str:
    try:
        data = redact.value(answer.json())
    except ValueError:
        reason = "" if answer.is_page else redact.text(answer.text[:_READ])
    else:
        reason = error_text(data.get("error", data) if isinstance(data, dict) else data)
    reason = " ".join(reason.split())[:200]
    return f"status {answer.status}{': ' if reason else ''}{reason}"


def _retry_after(answer: Answer) -> float | None:
    """Return the wait an endpoint asks for: seconds, or a date (RFC 9110, section 10.2.3).

    A date is read against the answer's own Date, so that two clocks need not agree. What is no
    number of seconds is left out of account.
    """
    value = answer.headers.get("retry-after", "").strip()
    try:
        wait = float(value)
    except ValueError:
        try:
            until = parsedate_to_datetime(value)
            answered = parsedate_to_datetime(answer.headers.get("date", ""))
            wait = (until - answered).total_seconds()
        except (TypeError, ValueError, OverflowError):
            return None
    return None if math.isnan(wait) else max(wait, 0.0)
