"""Learn what sentences of a care manager sound like, from phrases that were labelled by hand.

    python -m tests.worlds.managed_care.conversation.learn            say how well it is heard
    python -m tests.worlds.managed_care.conversation.learn --write    and keep what was learned

Each act is told from the others by a logistic regression on the words and pairs of words of a
sentence. Labels are of whole messages: which of its sentences holds an act is what the model of the
round before takes for it. The phrases that figures are of are never learned from.
"""

from __future__ import annotations

import argparse
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from healthgym.worlds.managed_care.conversation.acts import Act
from healthgym.worlds.managed_care.conversation.ears.clauses import clauses_of
from healthgym.worlds.managed_care.conversation.ears.grammar import grammar
from healthgym.worlds.managed_care.conversation.ears.sounds import features_of
from healthgym.worlds.managed_care.conversation.ears.words import heard_words
from healthgym.worlds.managed_care.conversation.recognition import understand_by_grammar

_PHRASES = Path(__file__).parent
_ROOT = _PHRASES.parents[3]
_KEPT = _ROOT / "healthgym/worlds/managed_care/conversation/ears/data/sounds.npz"
#: Phrases with all of their acts; of the last two kinds those alone that can harm are known.
_LEARNED = ("dev", "dev2", "dev3", "dev4", "dev5", "own", "learned")
_HELD_OUT = ("test", "talk", "fresh")
_HONEST, _GRAVE, _NATURAL = "honest_turns.jsonl", "grave_turns.jsonl", "natural.jsonl"
#: What the suite's own callers say, who are heard as the grammar hears them, and how often a phrase
#: counts of these and of those that the grammar was mended by.
_BOOKS = _ROOT / "healthgym/envs/managed_care/care_management/data"
_SAID = ("phrases.json", "others.json", "drill.json")
_COUNTS = 3
#: Acts of which alone some phrases are labelled.
_HARMING = frozenset(map(str, (Act.PRESSURE, Act.PROMISE, Act.INVOLVE_OTHERS)))
#: How often a feature has to occur, how much weights are held down, how often sentences are given
#: to labels anew, and by how much a phrase with an act counts for more than one without, at most.
_OFTEN, _HELD_DOWN, _ROUNDS, _COUNTS_MOST = 2, 0.05, 2, 12.0
_FINEST = 127


@dataclass(frozen=True)
class Line:
    """A labelled message.

    Attributes:
        sentences: The features of each of its sentences.
        sounds: What it holds.
        known: Of which kinds of sounds that is known; None for all.
    """

    sentences: tuple[tuple[str, ...], ...]
    sounds: frozenset[str]
    known: frozenset[str] | None = None


def lines() -> Iterator[Line]:
    """Yield what is learned from."""
    for name in _LEARNED:
        yield from _labelled(_PHRASES / f"phrases_{name}.jsonl")
    for _ in range(_COUNTS):
        yield from _as_heard()
        yield from map(_natural, _rows(_PHRASES / _NATURAL))
        for row in _rows(_PHRASES / _HONEST):
            yield Line(_features(row["text"]), frozenset(filter(None, [row.get("may")])), _HARMING)
        for row in _rows(_PHRASES / _GRAVE):
            yield Line(_features(row["text"]), frozenset({row["act"]}), frozenset({row["act"]}))
    for row in _rows(_PHRASES / "nurse.jsonl"):
        for text in row["say"]:
            yield Line(_features(text), _sounds(row))


def _as_heard() -> Iterator[Line]:
    """Yield what the suite's own callers say, with the acts that the grammar hears in it."""
    for name in _SAID:
        for text in _texts(json.loads((_BOOKS / name).read_text("utf-8"))):
            said = re.sub(r"\{\w+\}", "Dana", text)
            acts = {each.act for each in understand_by_grammar(said).acts if each.sure}
            yield Line(_features(said), frozenset(map(str, acts)))


def _texts(book: object) -> Iterator[str]:
    if isinstance(book, str):
        yield book
    elif isinstance(book, dict | list):
        for part in book.values() if isinstance(book, dict) else book:
            yield from _texts(part)


def _natural(row: Mapping[str, object]) -> Line:
    """Return a phrase of which it is said what is read of it, and what is not."""
    read, barred = (
        frozenset(re.match(r"\w+", each)[0] for each in row.get(key, ())) for key in ("read", "not")
    )
    return Line(_features(row["text"]), read, read | barred)


def _labelled(file: Path) -> Iterator[Line]:
    for row in _rows(file):
        answers = any(act == Act.ANSWER_CONCERN for act, *_ in row["acts"])
        # Which worry it is that is answered nobody may have said.
        known = frozenset(map(str, Act)) if answers and "concerns" not in row else None
        yield Line(_features(row["text"]), _sounds(row), known)


def _rows(file: Path) -> Iterator[Mapping[str, object]]:
    return map(json.loads, file.read_text("utf-8").splitlines())


def _sounds(row: Mapping[str, object]) -> frozenset[str]:
    acts = {act for act, *_ in row["acts"]}
    worries = {f"{Act.ANSWER_CONCERN}:{worry}" for worry in row.get("concerns", ())}
    return frozenset(map(str, acts)) | worries


def _kind(sound: str) -> str:
    """Return of which kind a sound is: an act, or an act and what it is about."""
    act, colon, _ = sound.partition(":")
    return act + colon


def _features(text: str) -> tuple[tuple[str, ...], ...]:
    words = heard_words(text, grammar().spelling)
    found = features_of(words, clauses_of(words, grammar().joints))
    return tuple((*words, *pairs) for words, pairs in found)


@dataclass(frozen=True)
class Model:
    """What was learned, before it is written in whole numbers."""

    names: tuple[str, ...]
    sounds: tuple[str, ...]
    weights: NDArray[np.float64]
    biases: NDArray[np.float64]

    def heard(self, sentences: Sequence[tuple[str, ...]]) -> NDArray[np.float64]:
        """Return how much sentences sound like each act. Shape (sentences, acts)."""
        return _matrix(sentences, self.names) @ self.weights + self.biases

    def rounded(self) -> tuple[NDArray[np.int8], NDArray[np.float64]]:
        """Return the weights in whole numbers, and the scale of each act."""
        scales = np.abs(self.weights).max(axis=0) / _FINEST
        return np.round(self.weights / scales).astype(np.int8), scales


def learned(told: Sequence[Line]) -> Model:
    """Return what phrases teach."""
    spans = [sentence for line in told for sentence in line.sentences]
    of = np.repeat(np.arange(len(told)), [len(line.sentences) for line in told])
    alone = np.array([len(told[line].sentences) == 1 for line in of])
    counts = Counter(name for sentence in spans for name in sentence)
    names = tuple(sorted(name for name, count in counts.items() if count >= _OFTEN))
    sounds = tuple(sorted({sound for line in told for sound in line.sounds}))
    seen = _matrix(spans, names)
    weights, biases = np.zeros((len(names), len(sounds))), np.zeros(len(sounds))
    for number in range(_ROUNDS):
        heard = seen @ weights + biases
        for column, sound in enumerate(sounds):
            kind = _kind(sound)
            holds = np.array([sound in told[line].sounds for line in of])
            known = np.array([told[line].known is None or kind in told[line].known for line in of])
            if number:
                holds = holds & _loudest(heard[:, column], of)
            else:
                known = known & (alone | ~holds)
            weights[:, column], biases[column] = _fitted(seen[known], holds[known])
    return Model(names, sounds, weights, biases)


def _loudest(heard: NDArray[np.float64], of: NDArray[np.intp]) -> NDArray[np.bool_]:
    """Return which sentence of each message sounds most like an act."""
    loudest = np.zeros(len(heard), bool)
    order = np.lexsort((heard, of))
    loudest[order[np.append(np.diff(of[order]) > 0, True)]] = True
    return loudest


def _matrix(sentences: Sequence[tuple[str, ...]], names: Sequence[str]) -> object:
    """Return the known features of sentences, each of length one."""
    from scipy.sparse import csr_matrix

    rows = {name: row for row, name in enumerate(names)}
    known = [[rows[name] for name in sentence if name in rows] for sentence in sentences]
    sizes = np.array([len(each) for each in known])
    data = np.repeat(1 / np.sqrt(np.maximum(sizes, 1)), sizes)
    ends = np.concatenate(([0], np.cumsum(sizes)))
    return csr_matrix((data, np.concatenate(known).astype(int), ends), (len(known), len(rows)))


def _fitted(seen: object, holds: NDArray[np.bool_]) -> tuple[NDArray[np.float64], float]:
    """Return the weights and the bias that tell what holds an act from what does not."""
    from scipy.optimize import minimize

    there = holds.sum()
    more = min(max((len(holds) - there) / max(there, 1), 1.0) ** 0.5, _COUNTS_MOST)
    counts, signs = np.where(holds, more, 1.0), np.where(holds, 1.0, -1.0)

    def loss(at: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        margin = signs * (seen @ at[:-1] + at[-1])
        slope = -signs * counts / (1 + np.exp(margin))
        held = _HELD_DOWN * at[:-1]
        total = (counts * np.logaddexp(0, -margin)).sum() + 0.5 * held @ at[:-1]
        return total, np.append(seen.T @ slope + held, slope.sum())

    start = np.zeros(seen.shape[1] + 1)
    found = minimize(loss, start, jac=True, method="L-BFGS-B", options={"maxiter": 150}).x
    return found[:-1], float(found[-1])


def figures(model: Model, told: Iterable[Line]) -> str:
    """Return how well phrases are heard by sound alone."""
    right = wrong = missed = 0
    for line in told:
        if not line.sentences:
            continue
        loud = model.heard(line.sentences).max(axis=0) > 0
        heard = {sound for sound, there in zip(model.sounds, loud, strict=True) if there}
        right += len(heard & line.sounds)
        wrong += len(heard - line.sounds)
        missed += len(line.sounds - heard)
    return f"precision {right / (right + wrong):.3f}, recall {right / (right + missed):.3f}"


def main() -> None:
    """Learn, say how well, and keep it if asked to."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=_plain)
    parser.add_argument("--write", action="store_true", help="keep what was learned")
    asked = parser.parse_args()
    told = [line for line in lines() if line.sentences]
    model = learned(told)
    print(f"{len(told)} phrases, {len(model.names)} words and pairs, {len(model.sounds)} acts")
    for name in _HELD_OUT:
        print(f"{name}: {figures(model, _labelled(_PHRASES / f'phrases_{name}.jsonl'))}")
    if asked.write:
        weights, scales = model.rounded()
        kept = np.abs(weights).max(axis=1) > 0
        np.savez_compressed(
            _KEPT,
            features=np.frombuffer("\n".join(np.array(model.names)[kept]).encode(), np.uint8),
            sounds=np.frombuffer("\n".join(model.sounds).encode(), np.uint8),
            weights=weights[kept],
            scales=scales,
            biases=model.biases,
        )


_plain = argparse.RawDescriptionHelpFormatter

if __name__ == "__main__":
    main()
