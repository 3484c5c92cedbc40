"""Conversations in which lists are repeated: what a small model needs before it can quote."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from healthgym.integrations.selfplay.games import Talk
from healthgym.integrations.trl import chat
from healthgym.integrations.trl.foreign import AnyTokenizer

_ITEMS = (3, 9)


def repetitions(tokenizer: AnyTokenizer, words: list[str], count: int, seed: int) -> Iterator[Talk]:
    """Yield conversations in which the assistant repeats random words and numbers.

    Args:
        tokenizer: The tokenizer.
        words: What lists are drawn from, beside numbers.
        count: How many conversations.
        seed: Of what is drawn.
    """
    rng = np.random.default_rng(seed)
    for _ in range(count):
        size = int(rng.integers(*_ITEMS))
        items = [
            words[int(rng.integers(len(words)))]
            if rng.random() < 0.5
            else "".join(map(str, rng.integers(10, size=int(rng.integers(3, 7)))))
            for _ in range(size)
        ]
        text, talk = " ".join(items), Talk("")
        talk.add(tokenizer.encode(f"{chat.USER}{text}{chat.END}\n{chat.ASSISTANT}"))
        ids = tokenizer.encode(f"{text}{chat.END}")
        talk.add(ids, [0.0] * len(ids))
        yield talk
