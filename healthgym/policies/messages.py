"""Chat messages with tool calls, in each form in which they are sent to a model or kept."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from enum import StrEnum

from healthgym.core.borders import JsonDict
from healthgym.core.endpoint import Reasoning
from healthgym.core.images import Image, checked
from healthgym.core.spending import estimate_tokens
from healthgym.presentation.pictures import data_url, png, shrink

#: Pixels to a token. Vision models take one for 750 to 1,024 (28 x 28 or 32 x 32) pixels.
PIXELS_PER_TOKEN = 750
#: Tokens of a picture sent with ``detail="low"``, and the least any picture is counted as.
LEAST_PICTURE_TOKENS = 85


class Speaker(StrEnum):
    """Who says a message, in OpenAI's words."""

    SYSTEM = "system"
    USER = "user"
    ASSISTANT = "assistant"
    TOOL = "tool"


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture inside a message.

    Attributes:
        url: The picture as a data URL.
        tokens: Estimated tokens.
        detail: What OpenAI calls detail: ``low``, ``high`` or ``auto``; not sent if empty.
    """

    url: str
    tokens: int = LEAST_PICTURE_TOKENS
    detail: str = ""

    @classmethod
    def of(cls, image: Image, max_side: int | None = None, detail: str = "") -> Picture:
        """Return an image as it is sent: PNG, made smaller if a side has more than ``max_side``.

        Raises:
            ConfigurationError: If it is no picture, or ``max_side`` is not positive.
        """
        small = shrink(checked(image), max_side)
        counted = LEAST_PICTURE_TOKENS
        if detail != "low":
            counted = max(-(-small.shape[0] * small.shape[1] // PIXELS_PER_TOKEN), counted)
        return cls(data_url(png(small)), counted, detail)

    def openai(self) -> JsonDict:
        """Return the part of a message that holds it."""
        image = {"url": self.url, "detail": self.detail} if self.detail else {"url": self.url}
        return {"type": "image_url", "image_url": image}

    def responses(self) -> JsonDict:
        """Return the part of an item of input that holds it."""
        part = {"type": "input_image", "image_url": self.url}
        return {**part, "detail": self.detail} if self.detail else part


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
        images: Pictures of a user's or a tool's message.
        reasoning: What an assistant thought before its calls, as far as it is sent back.
    """

    speaker: Speaker
    text: str = ""
    requests: tuple[Request, ...] = ()
    answers: Request | None = None
    images: tuple[Picture, ...] = ()
    reasoning: Reasoning = field(default_factory=Reasoning)

    @property
    def tokens(self) -> int:
        """Estimated length: four characters a token, and pictures by their size."""
        written = sum(len(call.name) + len(call.arguments) for call in self.requests)
        if self.requests:
            written += len(self.reasoning.text) if self.reasoning.field else 0
            written += sum(map(len, self.reasoning.items))
        seen = sum(picture.tokens for picture in self.images)
        return estimate_tokens(len(self.text) + written) + seen

    def openai(self) -> JsonDict:
        """Return the message as the chat completions API takes it."""
        message: JsonDict = {"role": str(self.speaker), "content": self.text}
        if self.images:
            parts = [picture.openai() for picture in self.images]
            message["content"] = [{"type": "text", "text": self.text}, *parts]
        if self.requests:
            message["content"] = self.text or None
            if self.reasoning.field:
                message[self.reasoning.field] = self.reasoning.text
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

    def responses(self) -> list[JsonDict]:
        """Return the message as the items of input that the responses API takes, in their order."""
        content: str | list[JsonDict] = self.text
        if self.images:
            parts = [picture.responses() for picture in self.images]
            content = [{"type": "input_text", "text": self.text}, *parts]
        if self.answers is not None:
            done = {"type": "function_call_output", "call_id": self.answers.id}
            return [{**done, "output": content}]
        if not self.requests:
            return [{"role": str(self.speaker), "content": content}]
        # Reasoning has to stand before the call it led to, and nowhere else.
        items: list[JsonDict] = [json.loads(item) for item in self.reasoning.items]
        if self.text:
            items.append({"role": str(self.speaker), "content": self.text})
        items += [
            {
                "type": "function_call",
                "call_id": call.id,
                "name": call.name,
                "arguments": call.arguments,
            }
            for call in self.requests
        ]
        return items

    def template(self) -> JsonDict:
        """Return the message as a row of a conversational data set holds it: without ids.

        Arguments stay JSON text, because a column of objects would be filled up with each other's
        keys (Arrow has one type for a column). Pictures are parts with data URLs, which the
        processors of transformers read, before the text.
        """
        message: JsonDict = {"role": str(self.speaker), "content": self.text}
        if self.images:
            parts = [{"type": "image", "image": picture.url} for picture in self.images]
            message["content"] = [*parts, {"type": "text", "text": self.text}]
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
