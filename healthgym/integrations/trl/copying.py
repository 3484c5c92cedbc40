"""Before it imitates, a model made in the run learns to repeat what it has just read.

Most of what is right in an episode is a quotation: a record number, a code, a level. A small model
that has never copied learns the common cases of each by heart instead, and reward cannot repair
that. So it first repeats lists, until its loss collapses, which it does within some hundred steps
once the layers have found how to look up what followed a token before ("induction heads", Olsson
et al. 2022). The first lesson's lists are of any tokens, so that nothing can be guessed; the
second's are of what charts hold: record numbers, codes, numbers, names, dates, and whatever with a
digit in it stands in the demonstrations, its letters and digits drawn anew.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from healthgym.core.shapes import one_of, reshaped
from healthgym.integrations.trl import chat
from healthgym.integrations.trl.foreign import AnyModel, AnyTokenizer

if TYPE_CHECKING:
    import torch

#: Fewest and most tokens of a list of the first lesson, entries of one of the second.
_TOKENS, _ENTRIES = (8, 48), (3, 9)
#: Letters from which on a word with a digit is worth a lesson of its own.
_LONG = 10
#: Steps whose mean loss counts.
_SPAN = 20
#: Steps over which the learning rate rises.
_RISING = 30

#: A list to read, up to the head of the reply, and the reply that repeats it, as tokens.
Repetition = tuple[list[int], list[int]]


@dataclass(frozen=True, slots=True)
class Copying:
    """How a model learns to copy.

    Attributes:
        steps: Most steps of the optimizer, both lessons together; 0 leaves the phase out.
        batch: Lists in a step.
        learning_rate: Its rate, constant after a rise.
        clip: Largest norm of a gradient.
        loss: Loss at which it has collapsed, in nats a token; it begins near 7. Below this one,
            at a rate that does not fall, what is left is noise.
    """

    steps: int = 2000
    batch: int = 16
    learning_rate: float = 4e-3
    clip: float = 1.0
    loss: float = 0.3


@dataclass(frozen=True, slots=True)
class Copied:
    """What came of it.

    Attributes:
        steps: Steps of each lesson.
        loss: Loss at the end of each, in nats a token.
        collapsed: Whether it fell below the bound in both.
    """

    steps: tuple[int, ...]
    loss: tuple[float, ...]
    collapsed: bool

    def warning(self) -> str:
        """Return what to expect of a model that has not learned to copy; empty if it has."""
        if self.collapsed:
            return ""
        return (
            f"The model has not learned to copy: after {sum(self.steps)} steps its loss is "
            f"{self.loss[-1]:.2f} nats a token. It will learn by heart what it should quote; give "
            "it more steps (--copy-steps), or another --seed."
        )


class Lists:
    """Random lists, each with its repetition.

    Args:
        tokenizer: The model's tokenizer.
        seed: Of what is drawn.
        words: Words that lists of entries are drawn from, beside made ones.
        shapes: Ids, times and numbers whose like they are drawn from.
    """

    def __init__(
        self,
        tokenizer: AnyTokenizer,
        seed: int,
        words: Sequence[str] = (),
        shapes: Sequence[str] = (),
    ) -> None:
        self._rng = np.random.default_rng(seed)
        self._tokenizer, self._words = tokenizer, words
        marks = {*tokenizer.all_special_ids, *tokenizer.encode(chat.CALL + chat.CALL_END)}
        self._plain = [token for token in range(len(tokenizer)) if token not in marks]
        self._kinds: tuple[Callable[[], str], ...] = (
            lambda: f"S{self._digits(7)}",
            lambda: f"{self._digits(4)}-{self._digits(4)}-{self._digits(2)}",
            lambda: f"{self._letters(self._size(2, 6))}{self._digits(self._size(0, 5))}",
            lambda: f"{self._digits(1)}.{self._digits(self._size(1, 3))}",
            lambda: self._digits(self._size(1, 5)),
            lambda: f"20{self._digits(2)}-{self._size(1, 13):02}-{self._size(1, 29):02}",
        )
        if words:
            self._kinds += (lambda: self._words[self._size(0, len(self._words))],)
        if shapes:
            # As often as all others together: what is long is what is hard to copy.
            self._kinds += (lambda: reshaped(self._rng, one_of(self._rng, shapes)),) * 6

    def tokens(self) -> Repetition:
        """Return a list of any tokens, among which nothing can be guessed."""
        drawn = self._rng.integers(len(self._plain), size=self._size(*_TOKENS))
        return self._repeated([self._plain[int(each)] for each in drawn])

    def entries(self) -> Repetition:
        """Return a list of what charts hold: record numbers, codes, numbers, dates, words."""
        chosen = self._rng.integers(len(self._kinds), size=self._size(*_ENTRIES))
        text = " ".join(self._kinds[int(each)]() for each in chosen)
        return self._repeated(self._tokenizer.encode(text))

    def _repeated(self, ids: list[int]) -> Repetition:
        encode = self._tokenizer.encode
        head = encode(f"{chat.END}\n{chat.ASSISTANT}")
        return [*encode(chat.USER), *ids, *head], [*ids, *encode(chat.END)]

    def _size(self, low: int, high: int) -> int:
        return int(self._rng.integers(low, high))

    def _digits(self, count: int) -> str:
        return "".join(map(str, self._rng.integers(10, size=count)))

    def _letters(self, count: int) -> str:
        return "".join(chr(ord("A") + int(each)) for each in self._rng.integers(26, size=count))


def learn_to_copy(
    model: AnyModel,
    tokenizer: AnyTokenizer,
    settings: Copying,
    seed: int,
    *,
    words: Sequence[str] = (),
    shapes: Sequence[str] = (),
    report: Callable[[int, float], None] = lambda step, loss: None,
) -> Copied:
    """Teach a model to repeat lists, and say whether it has learned to.

    Args:
        model: The model; it is changed.
        tokenizer: Its tokenizer.
        settings: How.
        seed: Of the lists.
        words: Words of the second lesson.
        shapes: Ids, times and numbers whose like it holds.
        report: Told of each step and its loss, in nats a token.
    """
    import torch

    lists = Lists(tokenizer, seed, words, shapes)
    optimizer = torch.optim.AdamW(model.parameters(), settings.learning_rate, betas=(0.9, 0.98))
    model.train()
    steps: list[int] = []
    ends: list[float] = []
    for lesson in (lists.tokens, lists.entries):
        losses: list[float] = []
        while sum(steps) + len(losses) < settings.steps and not _fallen(losses, settings.loss):
            rate = settings.learning_rate * min((sum(steps) + len(losses) + 1) / _RISING, 1)
            for group in optimizer.param_groups:
                group["lr"] = rate
            loss = _loss(model, [lesson() for _ in range(settings.batch)])
            optimizer.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            torch.nn.utils.clip_grad_norm_(model.parameters(), settings.clip)
            optimizer.step()
            losses.append(loss.item())
            report(sum(steps) + len(losses), losses[-1])
        steps.append(len(losses))
        ends.append(float(np.mean(losses[-_SPAN:])) if losses else float("inf"))
    model.eval()
    return Copied(tuple(steps), tuple(ends), all(end < settings.loss for end in ends))


def _fallen(losses: Sequence[float], bound: float) -> bool:
    return len(losses) >= _SPAN and float(np.mean(losses[-_SPAN:])) < bound


def _loss(model: AnyModel, lists: Sequence[Repetition]) -> torch.Tensor:
    """Return the mean loss on what is repeated, shape (); only there are logits made."""
    import torch

    width = max(len(read) + len(said) for read, said in lists)
    rows = [[*read, *said] for read, said in lists]
    ids = torch.tensor([[*row, *([0] * (width - len(row)))] for row in rows])
    own = torch.zeros(ids.shape, dtype=torch.bool)
    for place, (read, said) in enumerate(lists):
        own[place, len(read) : len(read) + len(said)] = True
    ids, own = ids.to(model.device), own.to(model.device)
    hidden = model.model(input_ids=ids[:, :-1]).last_hidden_state[own[:, 1:]]
    return torch.nn.functional.cross_entropy(model.lm_head(hidden), ids[:, 1:][own[:, 1:]])


def words_of(texts: Sequence[str], most: int = 2000) -> list[str]:
    """Return the words in texts, in order of the alphabet."""
    return sorted({word for text in texts for word in text.split() if word.isalpha()})[:most]


def shapes_of(texts: Sequence[str], most: int = 2000) -> list[str]:
    """Return the long words with a digit in texts, ids and times and such, in order."""
    words = {word.strip("?:,;()[]\"'") for text in texts for word in text.split()}
    found = (word for word in words if len(word) >= _LONG and any(map(str.isdigit, word)))
    return sorted(found)[:most]
