"""The world of one episode over a corpus: a note, the documents, and a draft list."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Generic

from healthgym.core.clock import Clock
from healthgym.core.state import state
from healthgym.core.world import World
from healthgym.errors import ToolError
from healthgym.worlds.corpus.documents import Corpus, DocumentT

#: Most lines of a draft; a bound on memory, far beyond any honest list.
MAX_LINES = 1000


class CorpusWorld(World, Generic[DocumentT]):
    """A note to read, documents to search, and an ordered draft of lines to write.

    Args:
        note: The text the documents are to be matched to.
        corpus: The documents; shared between worlds.
        clock: Start of the episode; the world keeps this object and advances it.
    """

    draft = state[tuple[str, ...]](())

    def __init__(self, note: str, corpus: Corpus[DocumentT], clock: Clock) -> None:
        self.note = note
        self.corpus = corpus
        self.clock = clock

    def write(self, lines: Sequence[str]) -> None:
        """Replace the draft.

        Raises:
            ToolError: If it is too long.
        """
        if len(lines) > MAX_LINES:
            raise ToolError(f"The list may have {MAX_LINES} lines, not {len(lines)}.")
        self.draft = tuple(lines)
