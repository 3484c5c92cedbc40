"""BM25 ranking, by the bm25s library."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from healthgym.core.optional import require

_WORD = re.compile(r"[a-z0-9]+(?:[.'-][a-z0-9]+)*")
#: Words that tell nothing about a document.
_COMMON = frozenset(
    (
        *("a", "an", "and", "any", "are", "as", "at", "be", "been", "by"),
        *("for", "from", "has", "have", "if", "in", "is", "it", "its", "less"),
        *("more", "must", "no", "not", "of", "on", "or", "than", "that", "the"),
        *("their", "these", "this", "to", "was", "were", "who", "will", "with"),
    )
)


def words_of(text: str) -> list[str]:
    """Return the words of a text that a search looks at; a plural is found by its singular."""
    found = _WORD.findall(text.lower())
    return [_singular(word) for word in found if word not in _COMMON]


def _singular(word: str) -> str:
    return word[:-1] if len(word) > 3 and word.endswith("s") and word[-2] not in "sui" else word


def require_library() -> None:
    """Make sure that search will work.

    Raises:
        MissingDependencyError: If bm25s is not installed.
    """
    require("bm25s", extra="trials", purpose="Searching a corpus")


class Ranking:
    """An index of texts.

    Args:
        texts: The texts; a rank is a place among them.

    Raises:
        MissingDependencyError: If bm25s is not installed.
    """

    def __init__(self, texts: Sequence[str]) -> None:
        require_library()
        import bm25s

        words = [words_of(text) for text in texts]
        self._known = {word for document in words for word in document}
        self._index = bm25s.BM25(k1=1.2, b=0.75) if self._known else None
        if self._index is not None:
            self._index.index(words, show_progress=False)

    def rank(self, query: str) -> list[int]:
        """Return the places of all texts with a word of the query, best first, ties in order."""
        words = [word for word in words_of(query) if word in self._known]
        if not words or self._index is None:
            return []
        scores = np.asarray(self._index.get_scores(words), dtype=np.float64)
        order = np.lexsort((np.arange(len(scores)), -scores))
        return [int(place) for place in order if scores[place] > 0]
