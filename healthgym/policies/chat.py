"""One form of transcript: chat messages with tool calls, for endpoints and for fine-tuning.

The same messages are sent to a model behind an endpoint (:meth:`Message.openai`) and written as
rows for supervised fine-tuning (:meth:`Message.template`), so that a model can be trained on the
episodes another one solved.
"""

from __future__ import annotations

import base64
import json
import struct
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

import numpy as np

from healthgym.core import action as actions
from healthgym.core.family import AGENT
from healthgym.core.tool import Image, ToolCall
from healthgym.core.trajectory import Trajectory
from healthgym.errors import ConfigurationError, ToolError
from healthgym.policies.usage import estimate_tokens

#: Stands in for a tool result that no longer fits the context.
DROPPED = "(result dropped to save space; make the call again if you need it)"
#: Tokens an image is counted as; endpoints differ, most charge between 250 and 1,500.
IMAGE_TOKENS = 800
_ANSWERED_BELOW = "(see the result of the last call)"


class Speaker(StrEnum):
    """Who says a message, in OpenAI's words."""

    SYSTEM = "system"
    USER = "user"
    ASSISTANT = "assistant"
    TOOL = "tool"


class Calling(StrEnum):
    """How a model is given its tools and makes its calls."""

    TOOLS = "tools"  #: the endpoint's own tool calls
    TEXT = "text"  #: tools described in the system message, calls written as text


@dataclass(frozen=True, slots=True)
class Request:
    """A tool call inside a message.

    Attributes:
        id: Ties the call to its result.
        name: Name of the tool.
        arguments: The arguments as JSON text: an object.
    """

    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a chat.

    Attributes:
        speaker: Who says it.
        text: What is said.
        requests: Tool calls of an assistant's message.
        answers: For a tool's message, the call it answers.
        images: Pictures as data URLs; only a user's message may carry them.
    """

    speaker: Speaker
    text: str = ""
    requests: tuple[Request, ...] = ()
    answers: Request | None = None
    images: tuple[str, ...] = ()

    @property
    def tokens(self) -> int:
        """Estimated length: four characters a token, and a fixed amount for each picture."""
        written = sum(len(call.name) + len(call.arguments) for call in self.requests)
        return estimate_tokens(len(self.text) + written) + IMAGE_TOKENS * len(self.images)

    def openai(self) -> dict[str, Any]:
        """Return the message as the chat completions API takes it."""
        message: dict[str, Any] = {"role": str(self.speaker), "content": self.text}
        if self.images:
            parts = [{"type": "image_url", "image_url": {"url": url}} for url in self.images]
            message["content"] = [{"type": "text", "text": self.text}, *parts]
        if self.requests:
            message["content"] = self.text or None
            message["tool_calls"] = [
                {
                    "id": call.id,
                    "type": "function",
                    "function": {"name": call.name, "arguments": call.arguments},
                }
                for call in self.requests
            ]
        if self.answers is not None:
            message["tool_call_id"] = self.answers.id
        return message

    def template(self) -> dict[str, Any]:
        """Return the message as a row of a conversational data set holds it: without ids.

        Arguments stay JSON text, because a column of objects would be filled up with each other's
        keys (Arrow has one type for a column).
        """
        message: dict[str, Any] = {"role": str(self.speaker), "content": self.text}
        if self.requests:
            message["tool_calls"] = [
                {
                    "type": "function",
                    "function": {"name": call.name, "arguments": call.arguments},
                }
                for call in self.requests
            ]
        if self.answers is not None:
            message["name"] = self.answers.name
        return message


def tool_manual(tools: Sequence[Mapping[str, Any]]) -> str:
    """Describe tools in words, for models that are given none by their endpoint.

    The form is that of Qwen and Hermes chat templates, which many models have seen in training.

    Args:
        tools: The tools in OpenAI's function form.
    """
    listed = "\n".join(json.dumps(tool["function"], ensure_ascii=False) for tool in tools)
    return (
        "You act by calling tools. Each is given here with the JSON Schema of its arguments:\n"
        f"<tools>\n{listed}\n</tools>\n"
        "Answer each turn with one call and nothing after it, in this form:\n"
        '<tool_call>{"name": "<tool>", "arguments": {...}}</tool_call>'
    )


def reply(text: str, calls: Sequence[ToolCall], first_id: int) -> Message:
    """Return an assistant's message that makes calls, numbered from ``first_id``."""
    requests = tuple(
        Request(f"call_{first_id + n}", call.name, json.dumps(dict(call.arguments)))
        for n, call in enumerate(calls)
    )
    return Message(Speaker.ASSISTANT, text, requests)


def results(asked: Message, observation: str, images: Sequence[str] = ()) -> tuple[Message, ...]:
    """Return the messages that answer an assistant's message.

    The engine answers all calls of a turn in one text. It goes to the last call, because models
    read in order; a message without a valid call is answered by the user. Pictures follow in a
    user's message: the API takes none in a tool's.

    Args:
        asked: The assistant's message.
        observation: What the environment answered.
        images: Pictures shown with it, as data URLs.
    """
    if not asked.requests:
        return (Message(Speaker.USER, observation, images=tuple(images)),)
    *earlier, last = asked.requests
    answered = [Message(Speaker.TOOL, _ANSWERED_BELOW, answers=call) for call in earlier]
    answered.append(Message(Speaker.TOOL, observation, answers=last))
    if images:
        answered.append(Message(Speaker.USER, "(pictures of the result)", images=tuple(images)))
    return tuple(answered)


def conversation(
    trajectory: Trajectory,
    *,
    role: str = AGENT,
    system: str = "",
    calling: Calling = Calling.TOOLS,
    closing: str = "",
) -> tuple[Message, ...]:
    """Return a recorded episode as a chat, as one role saw it.

    Pictures are not part of a recording; the text says how many there were.

    Args:
        trajectory: The recording.
        role: Whose side of it.
        system: Text of a system message; none if empty and not needed.
        calling: Tool calls as such, or as the text a model writes.
        closing: The assistant's last words, after the last answer. Without them the chat ends
            with the last action.

    Raises:
        ConfigurationError: If nobody plays that role in the recording.
    """
    if role not in trajectory.instructions:
        raise ConfigurationError(f"Nobody plays {role!r} in {trajectory.task_id}.")
    if calling is Calling.TEXT:
        system = f"{system}\n\n{tool_manual(trajectory.tools[role])}".strip()
    messages = [Message(Speaker.SYSTEM, system)] if system else []
    messages.append(Message(Speaker.USER, trajectory.instructions[role]))
    names = [str(tool["function"]["name"]) for tool in trajectory.tools[role]]
    made = 0
    for turn in trajectory.turns:
        if turn.role != role:
            continue
        asked = _asked(turn.action, calling, names, made)
        made += len(asked.requests)
        shown = f"\n({turn.images} pictures)" if turn.images else ""
        messages += [asked, *results(asked, turn.observation + shown)]
    if closing:
        messages.append(Message(Speaker.ASSISTANT, closing))
    while len(messages) > 1 and messages[-1].speaker is not Speaker.ASSISTANT:
        messages.pop()
    return tuple(messages)


def _asked(action: str, calling: Calling, names: Sequence[str], made: int) -> Message:
    try:
        parsed = actions.parse(action)
    except ToolError:
        return Message(Speaker.ASSISTANT, action)
    calls = [ToolCall(_identifier(call.name, names), call.arguments) for call in parsed]
    if calling is Calling.TOOLS:
        return reply("", calls, made)
    bodies = (json.dumps({"name": c.name, "arguments": dict(c.arguments)}) for c in calls)
    return Message(
        Speaker.ASSISTANT, "\n".join(f"<tool_call>{body}</tool_call>" for body in bodies)
    )


def _identifier(name: str, names: Sequence[str]) -> str:
    """Return the one form of a tool's name that models are offered, where it names a tool."""
    identifier = name.replace(".", "__")
    suffixed = [offered for offered in names if offered.endswith(f"__{identifier}")]
    return suffixed[0] if identifier not in names and len(suffixed) == 1 else identifier


def fit(messages: Sequence[Message], max_tokens: int) -> tuple[Message, ...]:
    """Return the messages with the oldest results dropped until they fit.

    The first messages up to the instruction, everything the model wrote itself and the latest
    result are kept, whatever their length; a dropped result is replaced by :data:`DROPPED`, so
    that the model knows there was one.

    Args:
        messages: A chat, oldest first.
        max_tokens: Limit, in estimated tokens.
    """
    fitted = list(messages)
    total = sum(message.tokens for message in fitted)
    spoken = [n for n, message in enumerate(fitted) if message.speaker is Speaker.ASSISTANT]
    if not spoken:
        return tuple(fitted)
    for n in range(spoken[0] + 1, spoken[-1]):
        if total <= max_tokens:
            break
        message = fitted[n]
        if message.speaker in (Speaker.USER, Speaker.TOOL) and message.tokens > len(DROPPED) // 4:
            fitted[n] = replace(message, text=DROPPED, images=())
            total += fitted[n].tokens - message.tokens
    return tuple(fitted)


def data_url(image: Image) -> str:
    """Return a picture as a PNG data URL.

    Args:
        image: uint8 array of shape (height, width) or (height, width, 3).

    Raises:
        ConfigurationError: If the array is of another shape or type.
    """
    grey = image.ndim == 2
    if image.dtype != np.uint8 or not (grey or (image.ndim == 3 and image.shape[2] == 3)):
        raise ConfigurationError(
            f"A picture is a uint8 array of shape (h, w) or (h, w, 3), not {image.dtype} "
            f"{image.shape}."
        )
    height, width = image.shape[:2]
    rows = np.ascontiguousarray(image).reshape(height, -1)
    # Each row begins with the number of its filter; 0 is none (PNG specification, section 9).
    filtered = np.zeros((height, rows.shape[1] + 1), np.uint8)
    filtered[:, 1:] = rows
    header = struct.pack(">IIBBBBB", width, height, 8, 0 if grey else 2, 0, 0, 0)
    png = (
        b"\x89PNG\r\n\x1a\n"
        + _chunk(b"IHDR", header)
        + _chunk(b"IDAT", zlib.compress(filtered.tobytes(), 6))
        + _chunk(b"IEND", b"")
    )
    return "data:image/png;base64," + base64.b64encode(png).decode("ascii")


def _chunk(kind: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
