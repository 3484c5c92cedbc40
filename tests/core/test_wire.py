"""The clients against a server that lies, stalls, drips, sends bombs, or breaks off."""

from __future__ import annotations

import gzip
import json
import resource
import time
import zlib
from collections.abc import Callable
from functools import cache
from typing import Any

import pytest

from healthgym.core.chat_client import ChatClient
from healthgym.core.endpoint import Completion, Endpoint
from healthgym.core.spending import Budget, Meter, Prices, Usage
from healthgym.errors import (
    BudgetExceededError,
    ConfigurationError,
    EndpointAnswerError,
    EndpointError,
    EndpointTimeoutError,
    EndpointUnreachableError,
    EndpointWordsError,
)
from healthgym.policies.llm import LLMPolicy
from healthgym.policies.messages import Message, Speaker
from healthgym.worlds.fhir.remote import RemoteStore
from tests.liar import Behaviour, dripping, liar, response, saying, silent

KEY = "sk-Zq7/vTn+2b9=Xw"
HELLO = [Message(Speaker.USER, "hello")]
_LIMIT = 0.4
#: Far above the limit, so that a busy machine fails no test, and far below what the faults last.
_SOON = 8.0


def said(text: object = "hi", **more: Any) -> bytes:
    message = {"content": text, **more.pop("message", {})}
    return json.dumps({"choices": [{"message": message}], **more}).encode()


def chatted(url: str, **options: Any) -> Completion:
    given = {"retries": 0, "timeout": 30.0, "backoff": 0.0, **options}
    with ChatClient(Endpoint(url, "m", **given)) as client:
        return client.complete(HELLO)


def read(url: str, **options: Any) -> object:
    with RemoteStore(url, retries=0, **{"timeout": 30.0, **options}) as store:
        return store.read("Patient", "1")


CLIENTS = pytest.mark.parametrize("ask", [chatted, read])

# -- time ------------------------------------------------------------------------------------------

STALLS: dict[str, Behaviour] = {
    "nothing is said": silent,
    "the status drips": dripping(b"", b"H"),
    "headers drip": dripping(b"HTTP/1.1 200 OK\r\n", b"X-A: b\r\n"),
    "one header drips": dripping(b"HTTP/1.1 200 OK\r\nX-A: ", b"b"),
    "it goes on and on": dripping(b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
    "the body drips": dripping(b"HTTP/1.1 200 OK\r\nContent-Length: 99999\r\n\r\n", b" "),
    "chunks drip": dripping(
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", b"1\r\n \r\n"
    ),
    "a packed body drips": dripping(
        b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 99999\r\n\r\n"
        + gzip.compress(b"")[:10],
        b"\x00",
    ),
}


@CLIENTS
@pytest.mark.parametrize("behave", STALLS.values(), ids=STALLS)
def test_an_exchange_has_one_limit_however_it_is_drawn_out(
    ask: Callable[..., object], behave: Behaviour
) -> None:
    begun = time.monotonic()
    with liar(behave) as url, pytest.raises(EndpointError):
        ask(url, timeout=_LIMIT)
    assert time.monotonic() - begun < _SOON


def test_a_request_that_is_taken_in_slowly_has_the_same_limit() -> None:
    def sip(connection: Any, over: Any) -> None:
        while not over.wait(0.05):
            connection.recv(512)

    long = [Message(Speaker.USER, "x" * (8 << 20))]
    endpoint = Endpoint("http://h/v1", "m", retries=0, timeout=_LIMIT)
    begun = time.monotonic()
    with liar(sip, tiny_window=True) as url:
        client = ChatClient(Endpoint(url, "m", retries=0, timeout=endpoint.timeout))
        with client, pytest.raises(EndpointTimeoutError):
            client.complete(long)
    assert time.monotonic() - begun < _SOON


def test_every_request_has_a_deadline() -> None:
    asked = {"base_url": "http://localhost/v1", "model": "m"}
    assert Endpoint(**asked).patience == 600.0
    assert Endpoint(**asked, timeout=1.0).patience == 60.0
    assert Endpoint(**asked, deadline=5.0).patience == 5.0


def test_repetitions_share_a_deadline() -> None:
    begun = time.monotonic()
    with liar(silent) as url, pytest.raises(EndpointTimeoutError, match=r"of the 0\.9 s"):
        chatted(url, timeout=_LIMIT, retries=50, backoff=0.2, deadline=0.9)
    assert time.monotonic() - begun < _SOON


def test_a_read_of_a_record_system_is_given_up_after_twice_its_limit() -> None:
    begun = time.monotonic()
    with liar(silent) as url, pytest.raises(EndpointError, match="Tried"):
        RemoteStore(url, retries=50, timeout=_LIMIT).read("Patient", "1")
    assert time.monotonic() - begun < _SOON


# -- size ------------------------------------------------------------------------------------------


@cache
def bomb(wbits: int = 31, size: int = 128 << 20) -> bytes:
    pack = zlib.compressobj(1, wbits=wbits)
    return b"".join(pack.compress(bytes(1 << 20)) for _ in range(size >> 20)) + pack.flush()


@pytest.mark.parametrize(
    ("ask", "coding", "wbits"),
    [(chatted, "deflate", 15), (chatted, "gzip", 31), (read, "gzip", 31)],
)
def test_a_bomb_is_left_where_it_is(ask: Callable[..., object], coding: str, wbits: int) -> None:
    packed = response(bomb(wbits), headers=f"Content-Encoding: {coding}\r\n".encode())
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with liar(saying(packed)) as url, pytest.raises(EndpointError, match="enormous"):
        ask(url)
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) >> 10
    assert grown < 200, f"{grown} MiB"


@pytest.mark.parametrize("coding", ["br", "zstd", "gzip, gzip", "compress", "\x80"])
def test_packings_that_were_not_asked_for_are_not_unpacked(coding: str) -> None:
    head = f"Content-Encoding: {coding}\r\n".encode("latin-1")
    answer = saying(response(said(), headers=head))
    with liar(answer) as url, pytest.raises(EndpointAnswerError, match="packed"):
        chatted(url)


def test_a_packed_answer_is_read() -> None:
    packed = response(gzip.compress(said("packed")), headers=b"Content-Encoding: gzip\r\n")
    with liar(saying(packed)) as url:
        assert chatted(url).text == "packed"


# -- lies ------------------------------------------------------------------------------------------

DEEP = b'{"a":' * 100_000 + b"1" + b"}" * 100_000
LIES: dict[str, bytes] = {
    "nothing": b"",
    "no http": b"220 smtp ready\r\n",
    "broken off in the headers": b"HTTP/1.1 200 OK\r\nContent-Le",
    "broken off in the body": response(said())[:-5],
    "broken off while packed": response(
        gzip.compress(said() * 9)[:-9], headers=b"Content-Encoding: gzip\r\n"
    ),
    "packed wrongly": response(said(), headers=b"Content-Encoding: gzip\r\n"),
    "two lengths": response(said(), headers=b"Content-Length: 3\r\n"),
    "a length that is none": b"HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\n{}",
    "a chunk that is none": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n{}",
    "a header without a name": b"HTTP/1.1 200 OK\r\n: x\r\n\r\n{}",
    "a header of a megabyte": b"HTTP/1.1 200 OK\r\nX: " + b"y" * (1 << 20) + b"\r\n\r\n{}",
    "bytes in a header": b"HTTP/1.1 503 \xff\xfe\r\nX: \xff\r\nContent-Length: 2\r\n\r\n{}",
    "deep": response(DEEP),
    "deep lists": response(b"[" * 200_000),
    "deep refusal": response(DEEP, "400 Bad Request"),
    "an endless number": response(b'{"choices": ' + b"9" * 100_000 + b"}"),
    "no text": response(b"\xff\xfe\x00\xd8"),
    "nothing at all": response(b"null"),
    "a charset that is none": (
        b"HTTP/1.1 500 No\r\nContent-Type: text/plain; charset=hex\r\nContent-Length: 2\r\n\r\nzz"
    ),
    "nowhere to go": b"HTTP/1.1 302 Found\r\nLocation: http://[::\r\nContent-Length: 0\r\n\r\n",
    "round and round": b"HTTP/1.1 307 x\r\nLocation: /v1\r\nContent-Length: 0\r\n\r\n",
    "wait for ever": response(b"{}", "429 Slow", b"Retry-After: nan\r\n"),
    "wait for infinity": response(b"{}", "429 Slow", b"Retry-After: inf\r\n"),
    "wait a long number": response(b"{}", "429 Slow", b"Retry-After: " + b"9" * 5000 + b"\r\n"),
    "wait for a year that is none": response(
        b"{}", "429 Slow", b"Retry-After: Mon, 01 Jan 99999999999999999999 00:00:00 GMT\r\n"
    ),
    "an odd error": response(b'{"error": ' + b"[" * 500 + b"]" * 500 + b"}"),
    "an odd cookie": response(b"{}", headers=b"Set-Cookie: \x01=;;;expires=99\r\n" * 50),
}


@CLIENTS
@pytest.mark.parametrize("raw", LIES.values(), ids=LIES)
def test_every_lie_is_a_typed_error(ask: Callable[..., object], raw: bytes) -> None:
    with liar(saying(raw)) as url, pytest.raises(EndpointError):
        ask(url)


def test_cookies_are_not_kept() -> None:
    answer = saying(response(said(), headers=b"Set-Cookie: a=b\r\n"))
    with liar(answer) as url, ChatClient(Endpoint(url, "m")) as client:
        client.complete(HELLO)
        assert not client._connected[0]._client.cookies


# -- what is spent ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "usage",
    [
        {"prompt_tokens": -(10**6), "completion_tokens": -5},
        {"prompt_tokens": 0, "completion_tokens": 0},
        {"prompt_tokens": int("9" * 4000), "completion_tokens": int("9" * 4000)},
        {"prompt_tokens": 1e400, "completion_tokens": float("nan")},
        {"prompt_tokens": True, "completion_tokens": False},
        {"prompt_tokens": "7", "completion_tokens": [1]},
        [1, 2],
        "much",
    ],
)
def test_no_usage_keeps_a_budget_from_being_spent(usage: object) -> None:
    prices = Prices(1.0, 1.0)
    with liar(saying(response(said(usage=usage)))) as url:
        endpoint = Endpoint(url, "m", prices=prices, retries=0, timeout=30.0)
        with ChatClient(endpoint, budget=Budget(tokens=6)) as client:
            for _ in range(2):
                spent = client.complete(HELLO).usage
                assert spent.tokens == 3
                assert spent.usd > 0
                assert spent.estimated
            with pytest.raises(BudgetExceededError):
                client.complete(HELLO)


@pytest.mark.parametrize("amount", [-1, float("nan"), float("inf"), True, -0.5])
def test_limits_and_prices_are_amounts(amount: Any) -> None:
    for made in (
        lambda: Budget(tokens=amount),
        lambda: Budget(usd=amount),
        lambda: Budget(requests=amount),
        lambda: Prices(prompt=amount),
        lambda: Prices(completion=amount),
        lambda: Meter().add(Usage(usd=amount)),
        lambda: Meter().add(Usage(prompt_tokens=amount)),
    ):
        with pytest.raises(ConfigurationError):
            made()


# -- secrets ---------------------------------------------------------------------------------------


def shown(error: BaseException | None) -> str:
    """Return what a traceback says of an error and of those that led to it."""
    if error is None:
        return ""
    before = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    return f"{error!r} {error}\n{shown(before)}"


ECHOES = (KEY, json.dumps(KEY)[1:-1].replace("/", "\\/"), "sk-Zq7%2FvTn%2B2b9%3DXw", KEY.upper())


@pytest.mark.parametrize("echo", ECHOES)
@pytest.mark.parametrize("status", ["401 No", "500 Oh", "200 OK", "404 Gone", "302 Found"])
def test_an_echoed_key_is_told_nowhere(
    echo: str, status: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_KEY", KEY)
    long = "x" * 150 + f" you sent Bearer {echo} " + "x" * 90
    bodies = [json.dumps({"error": {"message": long}}), f"<pre>{long}", json.dumps([long])]
    for body in bodies:
        answer = saying(response(body.encode(), status))
        with liar(answer) as url, pytest.raises(EndpointError) as caught:
            chatted(url, api_key_env="MY_KEY")
        assert echo not in shown(caught.value)
        assert KEY[:9] not in shown(caught.value)


def test_a_key_in_a_model_s_words_is_masked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_KEY", KEY)
    call = {"id": KEY, "function": {"name": "f", "arguments": json.dumps({"a": KEY})}}
    message = {"tool_calls": [call], "reasoning": KEY}
    raw = response(said(f"Authorization: Bearer {KEY}", message=message))
    with liar(saying(raw)) as url:
        answer = chatted(url, api_key_env="MY_KEY")
    assert KEY not in repr(answer)
    assert answer.text == "Authorization: Bearer ***"


@pytest.mark.parametrize("key", ["sk-1\nX: y", "sk-\x00", "schlüssel", "sk\u2028x"])
def test_a_key_that_no_header_carries_is_named_and_not_shown(
    key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("os.environ", {"MY_KEY": key})
    with pytest.raises(ConfigurationError, match="MY_KEY") as caught:
        chatted("http://127.0.0.1:9/v1", api_key_env="MY_KEY")
    assert key not in shown(caught.value)


@CLIENTS
@pytest.mark.parametrize("raw", [b"", response(b"{}", "500 No"), response(b"{}"), response(b"<")])
def test_a_key_inside_an_address_is_not_shown(ask: Callable[..., object], raw: bytes) -> None:
    with liar(saying(raw)) as url:
        for secret in (
            url.replace("//", "//me:hunter2hunter2@"),
            f"{url}?key=hunter2hunter2",
            f"{url}/sk-hunter2hunter2",
        ):
            with pytest.raises(EndpointError) as caught:
                ask(secret)
            assert "hunter2" not in shown(caught.value)


def test_an_endpoint_that_is_printed_shows_no_key() -> None:
    endpoint = Endpoint(
        "https://me:hunter2@host/v1?key=hunter2hunter2#hunter2",
        "m",
        extra={"api_key": "hunter2", "deep": [{"password": "hunter2"}], "top_p": 0.5},
    )
    assert "hunter2" not in repr(endpoint)
    assert "https://***@host/v1?key=***" in repr(endpoint)
    assert "'top_p': 0.5" in repr(endpoint)
    with pytest.raises(ConfigurationError) as caught:
        Endpoint("me:hunter2@host/v1", "m")
    assert "hunter2" not in shown(caught.value)


def test_an_address_keeps_its_query_behind_the_path() -> None:
    endpoint = Endpoint("https://host/v1/?api-version=2", "m")
    assert endpoint.address("chat/completions") == "https://host/v1/chat/completions?api-version=2"


# -- words that an endpoint refuses ----------------------------------------------------------------

TOO_LONG = (
    b'{"error": {"code": "context_length_exceeded", "message": "too many"}}',
    b'{"error": {"message": "This model\'s maximum context length is 8192 tokens."}}',
    b'{"error": {"message": "prompt is too long: 9 tokens"}}',
    b'{"error": {"code": "content_filter", "message": "flagged"}}',
)


@pytest.mark.parametrize("body", TOO_LONG)
def test_a_model_cannot_talk_itself_out_of_its_score(body: bytes) -> None:
    answers = [response(said("long words")), response(body, "400 Bad Request")]

    def behave(connection: Any, over: Any) -> None:
        saying(answers.pop(0))(connection, over)

    with liar(behave) as url, ChatClient(Endpoint(url, "m", retries=0)) as client:
        policy = LLMPolicy(client)
        policy.start("begin", ())
        assert policy.act("begin") == "long words"
        assert policy.act("go on") == ""
    # What nobody but the caller said is the caller's: no score is drawn from it.
    with liar(saying(response(body, "400 Bad Request"))) as url:
        client = ChatClient(Endpoint(url, "m", retries=0))
        policy = LLMPolicy(client)
        policy.start("begin", ())
        with client, pytest.raises(EndpointWordsError):
            policy.act("begin")


def test_halves_of_characters_do_not_end_a_run() -> None:
    raw = response(b'{"choices": [{"message": {"content": "a\\ud800b"}}]}')
    with liar(saying(raw)) as url, ChatClient(Endpoint(url, "m", retries=0)) as client:
        policy = LLMPolicy(client)
        policy.start("begin \udfff", ())
        assert policy.act("begin \udfff") == "a?b"
        assert policy.act("again \udfff") == "a?b"


def test_arguments_that_are_nested_deep_reach_the_environment_as_such() -> None:
    arguments: object = 1
    for _ in range(400):
        arguments = {"a": arguments}
    call = {"id": "1", "function": {"name": "f", "arguments": arguments}}
    answer = saying(response(said(message={"tool_calls": [call]})))
    with liar(answer) as url, ChatClient(Endpoint(url, "m", retries=0)) as client:
        policy = LLMPolicy(client)
        policy.start("begin", ())
        assert "nested too deep" in json.dumps(policy.act("begin"))


def test_a_port_that_nobody_listens_at_is_no_connection() -> None:
    with pytest.raises(EndpointUnreachableError):
        chatted("http://127.0.0.1:9/v1")
