"""What a model says in these tests, put into its mouth."""

from __future__ import annotations

import json
from typing import Any


def reply(processor: Any, text: str) -> list[int]:
    ids: list[int] = processor.tokenizer.encode(f"{text}<|im_end|>", add_special_tokens=False)
    return ids


def call(name: str, **arguments: Any) -> str:
    body = json.dumps({"name": name, "arguments": arguments})
    return f"<tool_call>\n{body}\n</tool_call>"


LOOK, HALVES, ASK = call("look"), call("halves"), call("ask")
LEFT, RIGHT, DONE = call("submit", side="left"), call("submit", side="right"), "Done."


def submit(demo: Any) -> str:
    side = json.loads(demo.messages[3]["tool_calls"][0]["function"]["arguments"])["side"]
    return call("submit", side=side)


class Scripted:
    """Stands in for generation in play: says what it is told to, and keeps what it saw."""

    def __init__(self, processor: Any, *texts: str) -> None:
        self.replies = [reply(processor, text) for text in texts]

    def __call__(self, model: Any, processing: Any, slots: Any, sampling: Any) -> list[list[int]]:
        self.ids, self.images = slots[0].ids, slots[0].images
        return [self.replies.pop(0)]
