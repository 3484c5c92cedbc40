"""What a sentence sounds like, by its words and pairs of words: a second ear beside the grammar.

The grammar hears what it was told of, and people have other words. What they mean by those is
learned from thousands of labelled phrases (``learn.py`` beside the tests of conversations): each
word and each pair of words weighs for or against each act. Weights are whole numbers, so that a
sentence sounds the same on every machine.
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from itertools import pairwise
from typing import Final

import numpy as np
from numpy.typing import NDArray

from healthgym.worlds.managed_care.conversation.acts import Act
from healthgym.worlds.managed_care.conversation.ears.clauses import Clauses
from healthgym.worlds.managed_care.conversation.ears.words import Break, Words

_ROOM = "healthgym.worlds.managed_care.conversation.ears"
_BEGINS, _TOLD, _ASKED = "^", ".", "?"
#: Which share of the pairs of words of a sentence is said elsewhere, too: of nine in ten sentences
#: that people say as much, and of few rows of key words.
_FLUENT: Final = 0.55

#: The words of a sentence, and its pairs of words.
Features = tuple[tuple[str, ...], tuple[str, ...]]
#: An act, and which worry is answered by it, if it is an answer to one.
Sound = tuple[Act, str]


@dataclass(frozen=True, slots=True)
class Sounds:
    """Weights of words and pairs of words.

    Attributes:
        rows: The row of each word and pair.
        columns: What each column is of.
        weights: Rows of whole numbers, one of each act, and a last one of zeros. Shape
            (features + 1, acts), int8.
        scales: By what the weights of an act are multiplied. Shape (acts,).
        biases: What a sentence of no weight sounds like. Shape (acts,).
    """

    rows: Mapping[str, int]
    columns: tuple[Sound, ...]
    weights: NDArray[np.int8]
    scales: NDArray[np.float64]
    biases: NDArray[np.float64]

    def of(self, sentences: Sequence[Features]) -> tuple[NDArray[np.float64], list[float]]:
        """Return how much sentences sound like each act, and like anything that is said at all.

        Args:
            sentences: Words and pairs of words of each sentence.

        Returns:
            How much each sounds like each act, above 0 more than not, of shape (sentences, acts);
            and which share of the pairs of each is known.
        """
        get, silent = self.rows.get, len(self.weights) - 1
        rows: list[int] = []
        begins, sizes, shares = [], [], []
        for words, pairs in sentences:
            joined = [row for row in map(get, pairs) if row is not None]
            known = [row for row in map(get, words) if row is not None] + joined
            begins.append(len(rows))
            sizes.append(max(len(known), 1))
            shares.append(len(joined) / len(pairs))
            rows += known or (silent,)
        if not rows:
            return np.zeros((0, len(self.columns))), shares
        total = np.add.reduceat(self.weights[rows], begins, axis=0, dtype=np.int32)
        return total / np.sqrt(sizes)[:, None] * self.scales + self.biases, shares


@dataclass(frozen=True, slots=True)
class Sounding:
    """What the sentences of a message sound like.

    Attributes:
        spans: The words of each sentence, as bits.
        heard: How much each sounds like each act. Shape (sentences, acts).
        loud: The same by column, as plain numbers.
        fluent: Which share of its pairs of words each has in common with what is said otherwise.
    """

    spans: tuple[int, ...]
    heard: NDArray[np.float64]
    loud: Sequence[Sequence[float]]
    fluent: Sequence[float]

    def unlike(self, act: Act, level: float) -> int:
        """Return the words of the sentences that sound less like an act than a level."""
        columns = _columns().get(act, ())
        bits = 0
        for place, span in enumerate(self.spans if columns else ()):
            if all(self.loud[column][place] < level for column in columns):
                bits |= span
        return bits

    def like(self, levels: NDArray[np.float64]) -> Iterator[tuple[int, Sound]]:
        """Yield what sentences sound like more than a level, of those in which one is said.

        Key words in a row sound like what they are taken from, and are no sentence.

        Args:
            levels: The level of each act. Shape (acts,).

        Yields:
            The words of a sentence, as bits, and what it sounds like.
        """
        columns = sounds().columns
        for place in np.flatnonzero(self.heard > levels).tolist():
            sentence, column = divmod(place, len(columns))
            if self.fluent[sentence] >= _FLUENT:
                yield self.spans[sentence], columns[column]


@cache
def _columns() -> Mapping[Act, tuple[int, ...]]:
    """Return the columns of each act."""
    found: dict[Act, tuple[int, ...]] = {}
    for column, (act, _) in enumerate(sounds().columns):
        found[act] = (*found.get(act, ()), column)
    return found


#: Of a message that sounds neither like an act nor unlike one.
SILENCE: Final = Sounding((), np.zeros((0, 0)), (), ())


def sounding(words: Words, clauses: Clauses) -> Sounding:
    """Return what the sentences of a message sound like."""
    heard, fluent = sounds().of(features_of(words, clauses))
    return Sounding(clauses.sentences, heard, heard.T.tolist(), fluent)


def features_of(words: Words, clauses: Clauses) -> tuple[Features, ...]:
    """Return the words, and the pairs of words, of each sentence of a message, each once."""
    found, place = [], 0
    for span in clauses.sentences:
        end = place + span.bit_count()
        asked = words.breaks[end] & Break.ASKED
        line = (_BEGINS, *words.words[place:end], _ASKED if asked else _TOLD)
        pairs = dict.fromkeys(map(" ".join, pairwise(line)))
        found.append((tuple(dict.fromkeys(line[1:])), tuple(pairs)))
        place = end
    return tuple(found)


@cache
def sounds() -> Sounds:
    """Return what was learned."""
    with np.load(io.BytesIO((files(_ROOM) / "data" / "sounds.npz").read_bytes())) as kept:
        names = bytes(kept["features"]).decode().split("\n")
        labels = bytes(kept["sounds"]).decode().split("\n")
        return Sounds(
            rows={name: row for row, name in enumerate(names)},
            columns=tuple(map(sound_of, labels)),
            weights=np.vstack((kept["weights"], np.zeros((1, len(labels)), np.int8))),
            scales=kept["scales"],
            biases=kept["biases"],
        )


def sound_of(label: str) -> Sound:
    """Return what a label stands for: ``greet``, or ``answer_concern:cost``."""
    act, _, worry = label.partition(":")
    return Act(act), worry
