"""A server that lies in the responses form: a typed error or a refused call, never a lost run."""

from __future__ import annotations

import json
from typing import Any

import pytest

from healthgym.core.chat_client import ChatClient
from healthgym.core.endpoint import Completion, Endpoint, TextMessage
from healthgym.core.spending import Prices
from healthgym.errors import EndpointAnswerError, EndpointError, EndpointRefusedError
from healthgym.policies.evaluation import evaluate
from healthgym.policies.llm import LLMPolicy
from healthgym.policies.results import Evaluation
from tests.core.toys import LEDGER_ID
from tests.standin import Reply, stand_in

HELLO = [TextMessage("user", "x" * 400)]
USAGE = {"input_tokens": 100, "output_tokens": 10}


def body(*output: object, **more: Any) -> Reply:
    return Reply(json.dumps({"status": "completed", "output": output, "usage": USAGE, **more}))


def call(
    name: object = "ledger__list_accounts", arguments: object = "{}", **more: Any
) -> dict[str, Any]:
    made = {"type": "function_call", "call_id": "c", "name": name, "arguments": arguments}
    return {**made, **more}


def message(*content: object) -> dict[str, Any]:
    return {"type": "message", "role": "assistant", "content": [*content]}


def ask(reply: Reply, **options: Any) -> Completion:
    with stand_in(reply) as server:
        given = {"retries": 0, "timeout": 30.0, "api": "responses", **options}
        with ChatClient(Endpoint(server.base_url, "m", **given)) as client:
            return client.complete(HELLO)


NO_ANSWERS = {
    "a list": (Reply("[]"), EndpointAnswerError, "not a completion"),
    "null": (Reply("null"), EndpointAnswerError, "not a completion"),
    "no output": (Reply("{}"), EndpointAnswerError, "no output"),
    "output is text": (Reply('{"output": "hi"}'), EndpointAnswerError, "no output"),
    "output is an object": (Reply('{"output": {"0": 1}}'), EndpointAnswerError, "no output"),
    "half a body": (Reply('{"output": [{"type'), EndpointAnswerError, "not valid JSON"),
    "a chat": (Reply('{"choices": [{"message": {}}]}'), EndpointAnswerError, "no output"),
    "failed": (body(status="failed"), EndpointRefusedError, "the response is failed"),
    "cancelled": (body(status="cancelled"), EndpointRefusedError, "the response is cancelled"),
    "queued": (body(status="queued"), EndpointAnswerError, "the response is queued"),
    "in progress": (body(status="in_progress"), EndpointAnswerError, "is in_progress"),
    "an error": (body(error={"message": "down"}), EndpointRefusedError, "down"),
    "an odd error": (body(error=[[1]] * 500), EndpointRefusedError, "error"),
    "deep": (Reply('{"output": ' + "[" * 90_000 + "]" * 90_000 + "}"), EndpointAnswerError, "JSON"),
    "a long number": (Reply('{"output": [' + "9" * 5000 + "]}"), EndpointAnswerError, "JSON"),
    "huge": (body(message("x" * (9 << 20))), EndpointError, "enormous"),
}


@pytest.mark.parametrize(("reply", "kind", "reason"), NO_ANSWERS.values(), ids=NO_ANSWERS)
def test_what_is_no_answer_is_a_typed_error(
    reply: Reply, kind: type[EndpointError], reason: str
) -> None:
    with pytest.raises(kind, match=reason) as raised:
        ask(reply)
    assert len(str(raised.value)) < 1000


ODD_ITEMS: dict[str, tuple[object, ...]] = {
    "nothing": (),
    "no items": (None, 7, "text", ["list"], True),
    "unknown kinds": ({"type": "web_search_call"}, {"type": "custom_tool_call", "input": "rm"}),
    "odd kinds": ({"type": ["message"]}, {"type": {"a": 1}}, {"type": None}, {}),
    "odd content": (
        {"type": "message", "content": 7},
        {"type": "message", "content": {"text": "x"}},
        message(None, 7, {"type": "output_text", "text": ["x"]}, {"type": ["output_text"]}),
    ),
    "odd reasoning": (
        {"type": "reasoning", "content": "x", "summary": 7},
        {"type": "reasoning", "summary": [{"type": "summary_text", "text": None}]},
    ),
}


@pytest.mark.parametrize("items", ODD_ITEMS.values(), ids=ODD_ITEMS)
def test_odd_items_say_nothing(items: tuple[object, ...]) -> None:
    answer = ask(body(*items))
    assert (answer.text, answer.calls) == ("", ())


@pytest.mark.parametrize(
    "content",
    ["I will not.", [{"type": "refusal", "refusal": "I will not."}]],
    ids=["text", "part"],
)
def test_what_is_said_is_read(content: object) -> None:
    answer = ask(body({"type": "message", "content": content}))
    assert answer.text == "I will not."


def test_an_answer_that_was_cut_short_says_why() -> None:
    cut = body(
        message({"type": "output_text", "text": "half"}),
        call(arguments='{"account_id": "A'),
        status="incomplete",
        incomplete_details={"reason": "max_output_tokens"},
    )
    answer = ask(cut)
    assert (answer.text, answer.finish_reason) == ("half", "max_output_tokens")
    assert answer.calls[0].arguments == '{"account_id": "A'
    for details in (None, "x", 7, {"reason": None}):
        odd = body(status="incomplete", incomplete_details=details)
        assert ask(odd).finish_reason == "incomplete"


@pytest.mark.parametrize(
    "usage",
    [
        None,
        [],
        "much",
        {},
        {"input_tokens": -100, "output_tokens": -10},
        {"input_tokens": 0, "output_tokens": 0},
        {"input_tokens": "100", "output_tokens": [10]},
        {"input_tokens": True, "output_tokens": True},
        {"input_tokens": 1e300, "output_tokens": 0.5},
        {"input_tokens": 10**12, "output_tokens": 10**12},
        {"input_tokens": -1, "output_tokens": -1, "input_tokens_details": {"cached_tokens": 10**9}},
    ],
)
def test_no_usage_makes_an_answer_free(usage: object) -> None:
    told = ask(body(message({"type": "output_text", "text": "y" * 40}), usage=usage),
               prices=Prices(1.0, 1.0)).usage  # fmt: skip
    assert (told.prompt_tokens, told.completion_tokens, told.estimated) == (100, 10, 1)
    assert told.usd == pytest.approx(110e-6)
    assert told.cached_tokens <= told.prompt_tokens


@pytest.mark.parametrize("cached", [-5, 10**9, "all", None, True, [1]])
def test_what_was_cached_is_part_of_what_was_read(cached: object) -> None:
    usage = {**USAGE, "input_tokens_details": {"cached_tokens": cached}}
    told = ask(body(usage=usage), prices=Prices(1.0, 1.0, 0.0)).usage
    assert 0 <= told.cached_tokens <= told.prompt_tokens == 100


# -- what a lie costs a run ------------------------------------------------------------------------

RIGHT = body(call("ledger__submit", '{"answer": 1}'))
LIES = {
    **{name: reply for name, (reply, _, _) in NO_ANSWERS.items() if name != "huge"},
    **{name: body(*items) for name, items in ODD_ITEMS.items()},
    "no arguments": body({"type": "function_call", "call_id": "c", "name": "ledger__submit"}),
    "no name": body({"type": "function_call", "call_id": "c", "arguments": "{}"}),
    "nothing but a kind": body({"type": "function_call"}),
    "an object of arguments": body(call(arguments={})),
    "a wrong object": body(call("ledger__submit", {"answer": [1]})),
    "a list of arguments": body(call(arguments=[1, 2])),
    "a number": body(call(arguments=7)),
    "arguments that are text": body(call(arguments='"{}"')),
    "arguments that break off": body(call(arguments='{"a": ')),
    "deep arguments": body(call(arguments='{"a":' * 5000 + "1" + "}" * 5000)),
    "a deep object": body(call(arguments=json.loads('{"a":' * 300 + "1" + "}" * 300))),
    "long arguments": body(call(arguments=json.dumps({"a": "x" * (2 << 20)}))),
    "odd names": body(call(7), call(["ledger__submit"]), call({"a": 1}), call(None)),
    "an unknown name": body(call("rm_rf")),
    "a dunder": body(call("__class__")),
    "the same id twice": body(call(), call()),
    "odd ids": body(call(call_id=None), call(call_id={"a": 1}), call(call_id=7)),
    "a long id": body(call(call_id="c" * 100_000)),
    "no id": body({"type": "function_call", "name": "ledger__list_accounts", "arguments": "{}"}),
    "many calls": body(*[call(call_id=f"c{n}") for n in range(3000)]),
    "half a character": body(call(arguments='{"a": "\ud800"}'), message(
        {"type": "output_text", "text": "\udfff"})),
    "sealed nonsense": body(
        {"type": "reasoning", "id": 7, "encrypted_content": {"a": [1]}, "content": "x"}, call()
    ),
    "no number": Reply('{"output": [{"type": "reasoning", "content": NaN}], "usage": NaN}'),
    "cut short": body(call(arguments='{"a'), status="incomplete", incomplete_details=[]),
    "declined": body(message({"type": "refusal", "refusal": "no"})),
}  # fmt: skip


def played(lie: Reply) -> Evaluation:
    """Play five episodes: the second is answered with a lie, again and again."""
    seen: list[str] = []

    def answer(asked: dict[str, Any]) -> Reply:
        first = json.dumps(asked["input"][0])
        if first not in seen:
            seen.append(first)
        return lie if seen.index(first) == 1 else RIGHT

    with stand_in(answer) as server:
        endpoint = Endpoint(server.base_url, "m", api="responses", retries=1, backoff=0.0)
        with ChatClient(endpoint) as client:
            return evaluate(
                LEDGER_ID, LLMPolicy(client), episodes=5, floor=False, env_kwargs={"max_turns": 4}
            )


@pytest.mark.parametrize("lie", LIES.values(), ids=LIES)
def test_a_lie_costs_an_episode_and_not_the_run(lie: Reply) -> None:
    scored = played(lie)
    assert not scored.stopped
    assert len(scored.results) == 5
    others = [each for each in scored.results if each.index != 1]
    assert all(each.submitted and not each.error for each in others)
    second = scored.results[1]
    assert second.error or not second.success["strict"]
    assert len(second.error) < 1000


def test_lies_of_every_kind_in_one_run() -> None:
    replies = [LIES[name] for name in sorted(LIES) if name not in NO_ANSWERS]
    count = [0]

    def answer(asked: dict[str, Any]) -> Reply:
        count[0] += 1
        return RIGHT if count[0] % 3 == 0 else replies[count[0] % len(replies)]

    with stand_in(answer) as server:
        endpoint = Endpoint(server.base_url, "m", api="responses", retries=0)
        with ChatClient(endpoint) as client:
            scored = evaluate(
                LEDGER_ID, LLMPolicy(client), episodes=30, floor=False,
                env_kwargs={"max_turns": 6},
            )  # fmt: skip
    assert not scored.stopped
    assert len(scored.scored) == 30
