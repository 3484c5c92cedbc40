"""The two forms in which OpenAI-compatible servers are asked: chat completions and responses.

A form says where a request goes, what is in it, and what of the answer is text, reasoning and
calls. Reasoning is kept apart from the text: nothing in it is ever taken for a call.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from healthgym.core.borders import Json, JsonDict, JsonObject
from healthgym.core.endpoint import Api, Chatted, Endpoint, RawCall, Reasoning

#: Where a request goes, below the base address.
PATHS = {Api.CHAT: "chat/completions", Api.RESPONSES: "responses"}
#: Fields of a message in which servers put reasoning: DeepSeek's and vLLM's, and OpenRouter's.
_THOUGHT = ("reasoning_content", "reasoning")
#: Most tokens of one request that anybody can have counted.
_MOST_TOKENS = 10**9


class NoCompletionError(ValueError):
    """An answer has not the form that was asked for; the message says what is missing."""


class DeclinedError(ValueError):
    """An answer says, in place of a completion, that there is none."""


@dataclass(frozen=True, slots=True)
class Said:
    """What an answer says.

    Attributes:
        text: The text.
        calls: The tool calls.
        reasoning: What was thought before.
        finish_reason: Why it stopped, in the endpoint's words.
        prompt_tokens: Tokens read; None if that is not told, or cannot be.
        completion_tokens: Tokens written; likewise.
        cached_tokens: Tokens of those read that the endpoint had kept from an earlier request.
    """

    text: str
    calls: tuple[RawCall, ...]
    reasoning: Reasoning
    finish_reason: str
    prompt_tokens: int | None
    completion_tokens: int | None
    cached_tokens: int

    @property
    def written(self) -> int:
        """Characters that the model wrote, reasoning included."""
        called = sum(len(str(call.name)) + len(str(call.arguments)) for call in self.calls)
        return len(self.text) + len(self.reasoning.text) + called


def request_body(
    endpoint: Endpoint,
    messages: Sequence[Chatted],
    tools: Sequence[JsonObject],
    seed: int | None,
) -> bytes:
    """Return the body of a request.

    Settings and tools stand before the messages, and these grow at their end only. So each request
    of an episode begins with the bytes of the one before, for servers that keep what they have
    read once.

    Args:
        endpoint: Where and how it is asked.
        messages: The chat, oldest first.
        tools: Tools in OpenAI's function form; none if empty.
        seed: Seed of the answer; none is sent where the form knows none.
    """
    if endpoint.api == Api.RESPONSES:
        body = _asked_of_responses(endpoint, messages, tools)
    else:
        body = _asked_of_chat(endpoint, messages, tools, seed)
    last = "input" if endpoint.api == Api.RESPONSES else "messages"
    body |= {name: value for name, value in endpoint.extra.items() if name != last}
    body[last] = endpoint.extra.get(last, body.pop(last))
    # ASCII, so that no half of a character that a model once wrote fails to be sent.
    return json.dumps({k: v for k, v in body.items() if v is not None}).encode("ascii")


def _asked_of_chat(
    endpoint: Endpoint,
    messages: Sequence[Chatted],
    tools: Sequence[JsonObject],
    seed: int | None,
) -> JsonDict:
    return {
        "model": endpoint.model,
        "temperature": endpoint.temperature,
        "max_tokens": endpoint.max_tokens,
        "seed": seed,
        "tools": list(tools) or None,
        "messages": [message.openai() for message in messages],
    }


def _asked_of_responses(
    endpoint: Endpoint, messages: Sequence[Chatted], tools: Sequence[JsonObject]
) -> JsonDict:
    # Nothing is stored there: the chat is ours, and is sent whole. So reasoning that is to come
    # back has to come sealed. The form has no seed.
    return {
        "model": endpoint.model,
        "temperature": endpoint.temperature,
        "max_output_tokens": endpoint.max_tokens,
        "stream": False,  # some servers stream unless told otherwise
        "store": False,
        "include": ["reasoning.encrypted_content"] if endpoint.echo_reasoning else None,
        # Without a word on it, the form makes schemas strict, and every argument required.
        "tools": [
            {"type": "function", **tool["function"], "strict": False} for tool in tools
        ] or None,
        "input": [item for message in messages for item in message.responses()],
    }  # fmt: skip


def read_answer(endpoint: Endpoint, data: Json) -> Said:
    """Return what an answer says; what the model got wrong in it stays as it is.

    Args:
        endpoint: Who was asked, and how.
        data: The JSON of the answer.

    Raises:
        NoCompletionError: If it is no answer of the form.
        DeclinedError: If it is an error, whatever its status was.
    """
    if not isinstance(data, dict):
        raise NoCompletionError("the answer is not a completion")
    if data.get("error"):
        # Some gateways answer 200 and put the error of the provider behind them in the body.
        raise DeclinedError(f"error: {error_text(data['error'])}")
    if endpoint.api == Api.RESPONSES:
        return _read_response(data)
    return _read_chat(data, endpoint.echo_reasoning)


def _read_chat(data: JsonDict, echo: bool) -> Said:
    choices = data.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices else None
    message = choice.get("message") if isinstance(choice, dict) else None
    if not isinstance(choice, dict) or not isinstance(message, dict):
        raise NoCompletionError("the answer has no choices")
    content, listed = message.get("content"), message.get("tool_calls")
    text, thought = content if isinstance(content, str) else "", ""
    if isinstance(content, list):
        text = "".join(_texts(content, "text"))
        thought = "\n".join(
            inner
            for part in content
            if isinstance(part, dict)
            for inner in _texts(part.get("thinking"), "text")
        )
    refusal = message.get("refusal")
    if not text and isinstance(refusal, str):
        text = refusal
    told = ((name, message.get(name)) for name in _THOUGHT)
    field, written = next(
        ((name, value) for name, value in told if isinstance(value, str) and value), ("", thought)
    )
    usage = _object(data.get("usage"))
    calls = tuple(map(_chat_call, listed)) if isinstance(listed, list) else ()
    return Said(
        text,
        calls,
        Reasoning(written, field if echo else ""),
        str(choice.get("finish_reason") or ""),
        *_counts(usage, "prompt", "completion", bool(text or calls)),
    )


def _read_response(data: JsonDict) -> Said:
    output = data.get("output")
    if not isinstance(output, list):
        raise NoCompletionError("the answer has no output")
    status = data.get("status")
    if status in ("failed", "cancelled"):
        raise DeclinedError(f"the response is {status}")
    if status in ("queued", "in_progress"):
        # Nothing was said yet; taken for an answer, it would be a turn that the model never had.
        raise NoCompletionError(f"the response is {status}")
    items = [item for item in output if isinstance(item, dict)]
    said = [item for item in items if item.get("type") == "message"]
    text = "".join(part for item in said for part in _spoken(item.get("content")))
    calls = tuple(
        RawCall(str(item.get("call_id") or ""), item.get("name"), item.get("arguments"))
        for item in items
        if item.get("type") == "function_call"
    )
    thought = [item for item in items if item.get("type") == "reasoning"]
    incomplete = _object(data.get("incomplete_details"))
    return Said(
        text,
        calls,
        Reasoning(
            "\n".join(part for item in thought for part in _thoughts(item)),
            # An item that holds no more than its id refers to what a server stored: nothing.
            items=tuple(json.dumps(item) for item in thought if _whole(item)),
        ),
        str(incomplete.get("reason") or status or ""),
        *_counts(_object(data.get("usage")), "input", "output", bool(text or calls)),
    )


def _spoken(content: object) -> Iterator[str]:
    """Yield the texts of a message; some servers send one text in place of parts."""
    if isinstance(content, str):
        yield content
    yield from _texts(content, "output_text", "refusal")


def _thoughts(item: JsonDict) -> Iterator[str]:
    """Yield the texts of a reasoning item: the reasoning itself, or else its summary."""
    own = list(_texts(item.get("content"), "reasoning_text", "text"))
    yield from own or _texts(item.get("summary"), "summary_text")


def _whole(item: JsonDict) -> bool:
    return bool(item.get("encrypted_content") or item.get("content"))


def _texts(parts: object, *kinds: str) -> Iterator[str]:
    for part in parts if isinstance(parts, list) else ():
        if isinstance(part, dict) and part.get("type") in kinds:
            value = part.get("refusal" if part["type"] == "refusal" else "text")
            if isinstance(value, str):
                yield value


def _chat_call(item: object) -> RawCall:
    outer = _object(item)
    function = _object(outer.get("function"))
    return RawCall(str(outer.get("id") or ""), function.get("name"), function.get("arguments"))


def _object(value: object) -> JsonDict:
    return value if isinstance(value, dict) else {}


def _counts(
    usage: JsonDict, read: str, written: str, wrote: bool
) -> tuple[int | None, int | None, int]:
    prompt = _count(usage.get(f"{read}_tokens"), 1)
    completion = _count(usage.get(f"{written}_tokens"), 1 if wrote else 0)
    kept = _count(_object(usage.get(f"{read}_tokens_details")).get("cached_tokens"), 0) or 0
    return prompt, completion, min(kept, prompt or 0)


def _count(reported: object, least: int) -> int | None:
    """Return a number of tokens; None for what is no such number, or cannot be so few."""
    if isinstance(reported, bool) or not isinstance(reported, int):
        return None
    return reported if least <= reported <= _MOST_TOKENS else None


def error_text(error: object) -> str:
    """Return what an error in JSON says, in at most 200 characters."""
    if isinstance(error, dict) and isinstance(error.get("message"), str):
        return str(error["message"])[:200]
    return (error if isinstance(error, str) else json.dumps(error))[:200]
