"""A small full-text index: BM25 over title, headings and body, in arrays that can be mapped.

The libraries that would do (bm25s, tantivy) cannot search an overlay together with a mapped base,
and are no part of a base install; what is needed of them is below.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields
from hashlib import blake2b
from pathlib import Path
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from healthgym.worlds.managed_care.handbook.words import stem, words_of

Floats: TypeAlias = npt.NDArray[np.float32]
Places: TypeAlias = npt.NDArray[np.int32]
Longs: TypeAlias = npt.NDArray[np.int64]
Keys: TypeAlias = npt.NDArray[np.uint64]

#: Saturation and length normalization of BM25, at their usual values.
_K1, _B = 1.2, 0.75
#: How much more a word counts in the title or path, in a heading, and in the first lines, which
#: say what a page is about, than in the body.
_TITLE, _HEADING, _LEAD = 8.0, 2.0, 2.0
_HEADINGS = re.compile(r"^#{2,6} +(.+)$", re.MULTILINE)
#: The first line that is neither blank nor part of a heading, a table or a rule.
_LEADING = re.compile(r"^(?![#|\-\s]).+$", re.MULTILINE)
_LEADING_BYTES = re.compile(_LEADING.pattern.encode(), re.MULTILINE)
#: Where a reference leads to says nothing about the page it stands on.
_TARGET = re.compile(r"(?<=\])\([^)\s]+\)")


@dataclass(frozen=True, slots=True)
class Index:
    """Postings of a fixed sequence of pages; a page is its place in that sequence.

    Attributes:
        keys: Hashes of the words, ascending. Shape (words,).
        starts: Where each word's postings begin, and the end. Shape (words + 1,).
        places: Pages with the word, ascending within a word. Shape (postings,).
        impacts: What the word adds to the page's score. Shape (postings,).
        rarity: Inverse document frequency of each word. Shape (words,).
        shape: Number of pages, and their mean length. Shape (2,).
    """

    keys: Keys
    starts: Longs
    places: Places
    impacts: Floats
    rarity: Floats
    shape: Floats

    def __len__(self) -> int:
        return int(self.shape[0])

    def scores(self, words: Sequence[str]) -> Floats:
        """Return the score of every page for the words of a query. Shape (pages,)."""
        total = np.zeros(len(self), np.float32)
        matched = np.zeros(len(self), np.float32)
        for word in words:
            row = self._row(word)
            if row >= 0:
                span = slice(int(self.starts[row]), int(self.starts[row + 1]))
                total[self.places[span]] += self.impacts[span]
                matched[self.places[span]] += 1.0
        # A page with all words of the query goes before one that repeats a single word.
        return np.asarray(total * matched / max(1, len(words)), np.float32)

    def score(self, counted: Counted, words: Sequence[str]) -> float:
        """Return the score that a page outside the index would have in it."""
        total, matched = 0.0, 0
        norm = _norm(counted.length, float(self.shape[1]))
        for word in words:
            often = counted.weights.get(word, 0.0)
            if often:
                row = self._row(word)
                rare = float(self.rarity[row]) if row >= 0 else _rarity(1, len(self))
                total += rare * often * (_K1 + 1) / (often + norm)
                matched += 1
        return total * matched / max(1, len(words))

    def _row(self, word: str) -> int:
        key = _key(word)
        row = int(np.searchsorted(self.keys, np.uint64(key)))
        return row if row < len(self.keys) and int(self.keys[row]) == key else -1

    def save(self, folder: Path) -> None:
        """Write the arrays into a folder, one file each."""
        for item in fields(self):
            np.save(folder / f"index-{item.name}.npy", getattr(self, item.name))

    @classmethod
    def load(cls, folder: Path) -> Index:
        """Map the arrays of a folder; nothing is read before it is asked for."""
        names = [item.name for item in fields(cls)]
        paths = (folder / f"index-{name}.npy" for name in names)
        # Plain arrays over the mapped files: slices of numpy's own class for these cost more.
        return cls(*(np.asarray(np.load(path, mmap_mode="r")) for path in paths))


@dataclass(frozen=True, slots=True)
class Counted:
    """The words of a page: weighted by where they stand, and the page's length in words."""

    weights: dict[str, float]
    length: int


def count(path: str, title: str, text: str) -> Counted:
    """Count the words of a page.

    Args:
        path: Its path, which counts like the title.
        title: Its title.
        text: Its markdown.
    """
    text = _TARGET.sub("", text)
    body = words_of(text)
    weights = {word: float(times) for word, times in body.items()}
    for word in words_of(f"{title} {path.removesuffix('.md')}"):
        weights[word] = weights.get(word, 0.0) + _TITLE
    for word, times in words_of("\n".join(_HEADINGS.findall(text))).items():
        weights[word] = weights.get(word, 0.0) + _HEADING * min(times, 2)
    for word in words_of(_lead(text)):
        weights[word] = weights.get(word, 0.0) + _LEAD
    return Counted(weights, sum(body.values()))


def recount(counted: Counted, old: str, new: str) -> Counted | None:
    """Count a page that differs in some lines from one that is counted.

    A task changes a few numbers on pages that are otherwise as printed.

    Args:
        counted: The other page's words; path and title are the same.
        old: The other page's text.
        new: The text to count.

    Returns:
        What :func:`count` returns, words that went with a weight of 0; None where a heading or
        the first lines differ or a line is there more often, which that one has to see.
    """
    before, after = old.split("\n"), new.split("\n")
    kept = set(before) & set(after)
    gone = [line for line in before if line not in kept]
    come = [line for line in after if line not in kept]
    if len(before) - len(gone) != len(after) - len(come) or _headed(gone) or _headed(come):
        return None
    if _lead(old) != _lead(new):
        return None
    weights, length = dict(counted.weights), counted.length
    for lines, sign in ((gone, -1), (come, 1)):
        for word, often in words_of(_TARGET.sub("", "\n".join(lines))).items():
            weights[word] = weights.get(word, 0.0) + sign * often
            length += sign * often
    return Counted(weights, length)


def _lead(text: str) -> str:
    """Return the first paragraph of a page, headings and tables left out."""
    found = _LEADING.search(text)
    return found[0] if found else ""


def _headed(lines: Iterable[str]) -> bool:
    return any(line.startswith("#") for line in lines)


def query_words(query: str) -> tuple[str, ...]:
    """Return the stems of a query, each once, in order."""
    return tuple(words_of(query))


def build(pages: Iterable[Counted]) -> Index:
    """Return the index of pages in the order in which they come."""
    vocabulary: dict[str, int] = {}
    words, places, weights, lengths = [], [], [], []
    for place, counted in enumerate(pages):
        lengths.append(counted.length)
        words.append([vocabulary.setdefault(word, len(vocabulary)) for word in counted.weights])
        weights.append(np.fromiter(counted.weights.values(), np.float32, len(counted.weights)))
        places.append(np.full(len(counted.weights), place, np.int32))
    keys = np.array([_key(word) for word in vocabulary], np.uint64)
    ranks = np.empty(len(keys), np.int64)
    ranks[np.argsort(keys, kind="stable")] = np.arange(len(keys))
    flat = np.array([word for row in words for word in row], np.int64)
    rows = ranks[flat]
    order = np.argsort(rows, kind="stable")
    rows = rows[order]
    where: Places = np.concatenate([np.empty(0, np.int32), *places])[order]
    many = np.bincount(rows, minlength=len(keys))
    starts = np.concatenate([[0], np.cumsum(many)]).astype(np.int64)
    mean = float(np.mean(lengths)) if lengths else 1.0
    rarity = np.log1p((len(lengths) - many + 0.5) / (many + 0.5)).astype(np.float32)
    norms = _K1 * (1 - _B + _B * np.array(lengths, np.float64) / max(mean, 1.0))
    often = np.concatenate([np.empty(0, np.float32), *weights])[order].astype(np.float64)
    impacts = rarity[rows] * often * (_K1 + 1) / (often + norms[where])
    shape = np.array([len(lengths), mean], np.float32)
    return Index(np.sort(keys), starts, where, impacts.astype(np.float32), rarity, shape)


def _key(word: str) -> int:
    """Return 64 bits of a word; two words sharing them is not to be expected in a lifetime."""
    return int.from_bytes(blake2b(word.encode(), digest_size=8).digest(), "big")


def _rarity(pages: int, total: int) -> float:
    return float(np.log1p((total - pages + 0.5) / (pages + 0.5)))


def _norm(length: int, mean: float) -> float:
    return _K1 * (1 - _B + _B * length / max(mean, 1.0))


_SNIPPET = 220
#: Places of one word that are looked at for a snippet.
_LOOKS = 4
_TARGET_BYTES = re.compile(rb"(?<=\])\([^)\s]+\)")


def snippet(data: bytes, words: Sequence[str]) -> tuple[str, str]:
    """Return the line of a text that shows most words of a query, and the heading it is under.

    Args:
        data: Markdown in UTF-8: words are ASCII, and lowering bytes is ten times faster.
        words: Stems.

    Returns:
        The line, cut to about 220 characters, and the heading's words.
    """
    lowered, sought = data.lower(), [word.encode() for word in words]
    best, most = 0, 0
    for start in sorted({start for word in sought for start in _lines(lowered, word)}):
        line = _TARGET_BYTES.sub(b"", lowered[start : _end(lowered, start)])
        shown = 0 if line.startswith(b"#") else sum(word in line for word in sought)
        if shown > most:
            best, most = start, shown
    if not most:  # only headings have its words: the first lines tell more than they again
        lead = _LEADING_BYTES.search(data)
        best = lead.start() if lead else best
    above = data.rfind(b"\n#", 0, best)
    heading = data[above + 1 : _end(data, above + 1)] if above >= 0 else b""
    shown_line = data[best : _end(data, best)].decode()
    return _cut(shown_line, words), heading.decode().lstrip("# ").strip()


def _lines(lowered: bytes, word: bytes) -> Iterator[int]:
    """Yield where the first lines with a word begin."""
    spot = -1
    for _ in range(_LOOKS):
        spot = lowered.find(word, spot + 1)
        if spot < 0:
            return
        yield lowered.rfind(b"\n", 0, spot) + 1
        # Once a line will do.
        spot = _end(lowered, spot)


def _end(data: bytes, start: int) -> int:
    found = data.find(b"\n", start)
    return len(data) if found < 0 else found


def _cut(line: str, words: Sequence[str]) -> str:
    line = _TARGET.sub("", line).lstrip("#>-*| ").strip()
    if len(line) <= _SNIPPET:
        return line
    first = min((spot for word in words if (spot := line.lower().find(word)) >= 0), default=0)
    start = max(0, min(first - 60, len(line) - _SNIPPET))
    return ("…" if start else "") + line[start : start + _SNIPPET].strip() + "…"


__all__ = ["Counted", "Index", "build", "count", "query_words", "snippet", "stem"]
