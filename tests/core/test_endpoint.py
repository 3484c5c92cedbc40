"""The endpoint client against a real socket: what it sends, and every way an endpoint can fail."""

from __future__ import annotations

import gc
import json
import pickle
import socket
import threading
from dataclasses import asdict, replace
from typing import Any

import httpx
import pytest

from healthgym.core.chat_client import ChatClient
from healthgym.core.endpoint import Completion, Endpoint
from healthgym.core.spending import Budget, Prices
from healthgym.errors import (
    BudgetExceededError,
    ConfigurationError,
    EndpointAbsentError,
    EndpointAnswerError,
    EndpointError,
    EndpointRefusedError,
    EndpointTimeoutError,
    EndpointUnreachableError,
)
from healthgym.policies.messages import Message, Speaker
from tests.liar import heard, liar
from tests.standin import Reply, completion, stand_in

HELLO = [Message(Speaker.USER, "x" * 400)]
TOOL = {"type": "function", "function": {"name": "f", "description": "d", "parameters": {}}}


class Sleeper:
    def __init__(self) -> None:
        self.waits: list[float] = []

    def __call__(self, seconds: float) -> None:
        self.waits.append(seconds)


def ask(url: str, *, sleep: Sleeper | None = None, **options: Any) -> Completion:
    endpoint = Endpoint(url, "m", **{"retries": 2, "timeout": 60.0, **options})
    with ChatClient(endpoint, sleep=sleep or Sleeper()) as client:
        return client.complete(HELLO, [TOOL])


def test_a_request_carries_what_the_api_asks_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_KEY", "sesame")
    with stand_in(completion("hi")) as server:
        extra = {"max_tokens": None, "max_completion_tokens": 7}
        answer = ask(server.base_url + "/", api_key_env="MY_KEY", temperature=0.5, extra=extra)
    assert answer.text == "hi"
    assert answer.finish_reason == "stop"
    assert server.headers[0]["authorization"] == "Bearer sesame"
    assert server.requests == [
        {
            "path": "/v1/chat/completions",
            "model": "m",
            "messages": [{"role": "user", "content": "x" * 400}],
            "temperature": 0.5,
            "max_completion_tokens": 7,
            "tools": [TOOL],
        }
    ]


def test_no_key_is_sent_unless_a_variable_is_named() -> None:
    with stand_in(completion("hi")) as server:
        ask(server.base_url)
    assert "authorization" not in server.headers[0]


def test_a_missing_key_is_the_callers_mistake(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MY_KEY", raising=False)
    client = ChatClient(Endpoint("http://localhost/v1", "m", api_key_env="MY_KEY"))
    with pytest.raises(ConfigurationError, match="MY_KEY is not set"):
        client.complete(HELLO)


def test_a_client_can_be_sent_to_another_process() -> None:
    with stand_in(completion("hi")) as server:
        first = ChatClient(Endpoint(server.base_url, "m", budget=Budget(requests=1)))
        first.complete(HELLO)
        twin = pickle.loads(pickle.dumps(first))
        assert twin.complete(HELLO).text == "hi"
        for client in (first, twin):
            with pytest.raises(BudgetExceededError):
                client.complete(HELLO)
            client.close()


@pytest.mark.parametrize(
    "options",
    [
        {"base_url": "localhost:8000"},
        {"model": ""},
        {"retries": -1},
        {"timeout": 0},
        {"max_tokens": 0},
        {"backoff": -1.0},
    ],
)
def test_an_endpoint_that_makes_no_sense_is_refused(options: dict[str, object]) -> None:
    with pytest.raises(ConfigurationError):
        Endpoint(**{"base_url": "http://h/v1", "model": "m", **options})  # type: ignore[arg-type]


@pytest.mark.parametrize("status", [408, 429, 500, 502, 503, 529])
def test_a_passing_failure_is_repeated(status: int) -> None:
    sleeper = Sleeper()
    with stand_in(Reply("{}", status), Reply("{}", status), completion("hi")) as server:
        assert ask(server.base_url, sleep=sleeper, backoff=0.5).text == "hi"
    assert sleeper.waits == [0.5, 1.0]
    assert len(server.requests) == 3


def test_repetitions_come_to_an_end() -> None:
    sleeper = Sleeper()
    body = json.dumps({"error": {"message": "overloaded"}})
    with (
        stand_in(Reply(body, 503)) as server,
        pytest.raises(EndpointError, match=r"status 503: overloaded \(3 attempts\)"),
    ):
        ask(server.base_url, sleep=sleeper)
    assert len(server.requests) == 3
    assert len(sleeper.waits) == 2


@pytest.mark.parametrize("status", [400, 401, 403, 404, 422])
def test_a_lasting_refusal_is_not_repeated(status: int) -> None:
    body = json.dumps({"error": {"message": "no such model"}})
    with (
        stand_in(Reply(body, status)) as server,
        pytest.raises(EndpointError, match=f"status {status}: no such model"),
    ):
        ask(server.base_url)
    assert len(server.requests) == 1


@pytest.mark.parametrize(("status", "hint"), [(401, "--api-key-env"), (404, "up to /v1")])
def test_a_lasting_refusal_says_what_to_look_at(status: int, hint: str) -> None:
    with stand_in(Reply("{}", status)) as server, pytest.raises(EndpointError, match=hint):
        ask(server.base_url)


def test_a_refused_key_is_named_but_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_KEY", "sesame")
    with (
        stand_in(Reply("{}", 401)) as server,
        pytest.raises(EndpointError, match="came from MY_KEY") as caught,
    ):
        ask(server.base_url, api_key_env="MY_KEY")
    assert "sesame" not in str(caught.value)


@pytest.mark.parametrize(
    ("headers", "wait"),
    [
        ({"Retry-After": "7"}, 7.0),
        ({"Retry-After": "0.25"}, 0.25),
        ({"Retry-After": "-3"}, 0.0),
        ({"Retry-After": "soon"}, 1.0),
    ],
)
def test_retry_after_is_honoured(headers: dict[str, str], wait: float) -> None:
    sleeper = Sleeper()
    with stand_in(Reply("{}", 429, headers), completion("hi")) as server:
        ask(server.base_url, sleep=sleeper)
    assert sleeper.waits == [wait]


def test_a_retry_date_is_read_against_the_answers_own_date() -> None:
    dates = {
        "Date": "Wed, 01 Nov 2023 10:00:00 GMT",
        "Retry-After": "Wed, 01 Nov 2023 10:00:09 GMT",
    }
    replies = [httpx.Response(429, headers=dates), httpx.Response(200, text=completion("hi").body)]
    sleeper = Sleeper()
    transport = httpx.MockTransport(lambda request: replies.pop(0))
    with ChatClient(Endpoint("http://h/v1", "m"), transport=transport, sleep=sleeper) as client:
        assert client.complete(HELLO).text == "hi"
    assert sleeper.waits == [9.0]


def test_an_endpoint_that_asks_for_too_long_a_wait_is_not_waited_for() -> None:
    sleeper = Sleeper()
    with (
        stand_in(Reply("{}", 429, {"Retry-After": "3600"})) as server,
        pytest.raises(EndpointError, match="asks to wait 3600 s"),
    ):
        ask(server.base_url, sleep=sleeper)
    assert sleeper.waits == []


def test_silence_times_out_and_is_repeated() -> None:
    with stand_in(Reply("{}", delay=30.0), completion("hi")) as server:
        # On a busy machine the answer may come late as well, so there are many attempts.
        assert ask(server.base_url, timeout=0.2, retries=100).text == "hi"


def test_endless_silence_is_the_endpoints_failure() -> None:
    with (
        stand_in(Reply("{}", delay=30.0)) as server,
        pytest.raises(EndpointError, match=r"no answer within 0\.1 s \(2 attempts\)"),
    ):
        ask(server.base_url, timeout=0.1, retries=1)


def test_an_answer_that_breaks_off_is_asked_for_again() -> None:
    whole = completion("hi")
    with stand_in(replace(whole, cut=20), whole) as server:
        assert ask(server.base_url).text == "hi"
    assert len(server.requests) == 2


def test_an_answer_that_keeps_breaking_off_is_no_connection() -> None:
    with (
        stand_in(replace(completion("hi"), cut=20)) as server,
        pytest.raises(EndpointUnreachableError, match="3 attempts"),
    ):
        ask(server.base_url)


def test_an_answer_byte_by_byte_has_the_same_time_as_any() -> None:
    # Each byte comes within the limit; all of them take minutes.
    with (
        stand_in(replace(completion("hi"), drip=0.05)) as server,
        pytest.raises(EndpointTimeoutError, match=r"within 0\.3 s"),
    ):
        ask(server.base_url, timeout=0.3, retries=0)


def test_an_answer_that_goes_on_and_on_is_left() -> None:
    with (
        stand_in(Reply(" " * (9 << 20))) as server,
        pytest.raises(EndpointAnswerError, match="enormous"),
    ):
        ask(server.base_url, retries=0)


@pytest.mark.parametrize(
    ("reply", "kind"),
    [
        (Reply("{}", 503), EndpointRefusedError),
        (Reply("{}", 404), EndpointRefusedError),
        (Reply("{}", delay=30.0), EndpointTimeoutError),
        (Reply("not json"), EndpointAnswerError),
        (Reply("[" * 200_000), EndpointAnswerError),
        (Reply("<html>", content_type="text/html"), EndpointAnswerError),
        (Reply('{"error": "odd"}'), EndpointRefusedError),
    ],
)
def test_each_failure_has_its_error(reply: Reply, kind: type[EndpointError]) -> None:
    with stand_in(reply) as server, pytest.raises(kind):
        ask(server.base_url, retries=0, timeout=0.5 if reply.delay else 60.0)


def test_a_seed_is_sent_where_there_is_one() -> None:
    with stand_in(completion("hi")) as server, ChatClient(Endpoint(server.base_url, "m")) as client:
        client.complete(HELLO)
        client.complete(HELLO, seed=0)
        ask(server.base_url, seed=5)
    assert [request.get("seed") for request in server.requests] == [None, 0, 5]


def test_an_endpoint_is_told_by_its_fields() -> None:
    whole = Endpoint(
        "http://h/v1",
        "m",
        seed=3,
        prices=Prices(1.0, 2.0),
        budget=Budget(requests=9),
        extra={"top_p": 0.5},
    )
    assert Endpoint.of(json.loads(json.dumps(asdict(whole)))) == whole
    assert Endpoint.of(whole) is whole
    for given in ({"base_url": "http://h"}, {"base_url": "http://h", "model": "m", "colour": 1}):
        with pytest.raises(ConfigurationError, match="has base_url and model"):
            Endpoint.of(given)


def test_a_closed_port_is_the_endpoints_failure() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
        # Bound, so that nobody else gets it, but not listening.
        sleeper = Sleeper()
        with pytest.raises(EndpointAbsentError, match="nobody answers"):
            ask(f"http://127.0.0.1:{port}/v1", sleep=sleeper)
        assert sleeper.waits == []


def test_a_web_page_points_at_the_address() -> None:
    page = Reply("<html>welcome</html>", content_type="text/html; charset=utf-8")
    with stand_in(page) as server, pytest.raises(EndpointError, match="is the address right"):
        ask(server.base_url)
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ('{"choices": [{"mess', "not valid JSON"),
        ("[]", "not a completion"),
        ("{}", "no choices"),
        ('{"choices": []}', "no choices"),
        ('{"choices": [{"message": null}]}', "no choices"),
        ('{"choices": [7]}', "no choices"),
        ('{"error": {"message": "provider down"}}', "provider down"),
        ('{"error": "odd"}', "odd"),
    ],
)
def test_an_answer_that_is_no_completion_is_the_endpoints_failure(body: str, reason: str) -> None:
    with stand_in(Reply(body)) as server, pytest.raises(EndpointError, match=reason):
        ask(server.base_url)
    assert len(server.requests) == 3


def test_what_the_model_gets_wrong_is_handed_on() -> None:
    message = {
        "content": None,
        "tool_calls": [{"id": "a", "function": {"name": None, "arguments": "{oh"}}, "what"],
    }
    body = json.dumps({"choices": [{"message": message}]})
    with stand_in(Reply(body)) as server:
        answer = ask(server.base_url)
    assert answer.text == ""
    assert [(call.name, call.arguments) for call in answer.calls] == [(None, "{oh"), (None, None)]


def test_usage_is_counted_and_priced() -> None:
    prices = Prices(prompt=2.0, completion=10.0)
    with stand_in(completion("hi", usage=(1000, 50))) as server:
        usage = ask(server.base_url, prices=prices).usage
    assert (usage.prompt_tokens, usage.completion_tokens, usage.estimated) == (1000, 50, 0)
    assert usage.usd == pytest.approx(0.0025)


def test_usage_the_endpoint_does_not_report_is_estimated() -> None:
    with stand_in(completion("y" * 40, usage=None)) as server:
        usage = ask(server.base_url).usage
    assert (usage.prompt_tokens, usage.completion_tokens, usage.estimated) == (100, 10, 1)


@pytest.mark.parametrize(
    "budget",
    [Budget(tokens=220), Budget(usd=0.00022), Budget(requests=2)],
    ids=["tokens", "dollars", "requests"],
)
def test_a_spent_budget_stops_before_the_next_request(budget: Budget) -> None:
    endpoint_prices = Prices(1.0, 1.0)
    with stand_in(completion("hi")) as server:
        endpoint = Endpoint(server.base_url, "m", prices=endpoint_prices)
        with ChatClient(endpoint, budget=budget) as client:
            client.complete(HELLO)
            client.complete(HELLO)
            with pytest.raises(BudgetExceededError, match="requests"):
                client.complete(HELLO)
    assert len(server.requests) == 2


def test_a_budget_in_dollars_needs_prices() -> None:
    with pytest.raises(ConfigurationError, match="prices"):
        ChatClient(Endpoint("http://h/v1", "m"), budget=Budget(usd=1.0))


def test_a_client_that_is_dropped_hangs_up() -> None:
    """An unclosed socket would be a warning, and so a failure, of whichever test comes next."""
    hung_up = threading.Event()

    def behave(connection: socket.socket, over: threading.Event) -> None:
        raw = json.dumps({"choices": [{"message": {"content": "hi"}}]}).encode()
        heard(connection)
        head = f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {len(raw)}"
        connection.sendall(head.encode() + b"\r\n\r\n" + raw)
        if not connection.recv(1):
            hung_up.set()

    with liar(behave) as url:
        client = ChatClient(Endpoint(url, "m"))
        assert client.complete(HELLO).text == "hi"
        assert not hung_up.is_set()
        del client
        gc.collect()
        assert hung_up.wait(5.0)
