"""The world of one episode over a corpus: a note, the documents, and a draft list."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

from healthgym.core.clock import Clock
from healthgym.core.seeding import content_hash
from healthgym.core.world import World
from healthgym.errors import ToolError
from healthgym.worlds.corpus.documents import Corpus

#: Most lines of a draft; a bound on memory, far beyond any honest list.
MAX_LINES = 1000


class CorpusWorld(World):
    """A note to read, documents to search, and an ordered draft of lines to write.

    Args:
        note: The text the documents are to be matched to.
        corpus: The documents; shared between worlds.
        clock: Start of the episode; the world keeps this object and advances it.
    """

    def __init__(self, note: str, corpus: Corpus[Any], clock: Clock) -> None:
        self.note = note
        self.corpus = corpus
        self.clock = clock
        self._draft: tuple[str, ...] = ()

    @property
    def draft(self) -> tuple[str, ...]:
        """The lines of the draft, in order."""
        return self._draft

    def write(self, lines: Sequence[str]) -> None:
        """Replace the draft.

        Raises:
            ToolError: If it is too long.
        """
        if len(lines) > MAX_LINES:
            raise ToolError(f"The list may have {MAX_LINES} lines, not {len(lines)}.")
        self._draft = tuple(lines)

    def digest(self) -> str:
        """Return a hex digest of the draft."""
        return content_hash(self._draft)

    def clone(self) -> Self:
        """Return an independent world over the same note and corpus."""
        other = type(self)(self.note, self.corpus, self.clock.clone())
        other._draft = self._draft
        return other
