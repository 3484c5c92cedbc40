"""A fixed set of documents, each made or read when it is first asked for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Generic, Protocol, TypeVar

from healthgym.core.seeding import content_hash
from healthgym.errors import ToolError
from healthgym.worlds.corpus.ranking import Ranking


class Document(Protocol):
    """What a corpus holds."""

    @property
    def text(self) -> str:
        """Everything a search looks at."""


DocumentT = TypeVar("DocumentT", bound=Document)


class Corpus(Generic[DocumentT]):
    """Documents by id. Immutable for its users, so environments share it.

    Args:
        ids: The ids, in the order of the list.
        load: Returns the document of an id; called once for each.
    """

    def __init__(self, ids: Sequence[str], load: Callable[[str], DocumentT]) -> None:
        self.ids = tuple(ids)
        self._places = {id_: place for place, id_ in enumerate(self.ids)}
        self._load = load
        self._documents: dict[str, DocumentT] = {}
        self._ranking: Ranking | None = None

    def __len__(self) -> int:
        return len(self.ids)

    def __contains__(self, id_: object) -> bool:
        return id_ in self._places

    def document(self, id_: str) -> DocumentT:
        """Return a document.

        Raises:
            ToolError: If there is none of that id.
        """
        if id_ not in self._places:
            raise ToolError(f"There is no document {id_[:40]!r} here.")
        found = self._documents.get(id_)
        if found is None:
            found = self._documents[id_] = self._load(id_)
        return found

    def content_hash(self) -> str:
        """Return a hex digest of the ids: a document is told by its id."""
        return content_hash(self.ids)

    def search(self, query: str) -> list[str]:
        """Return the ids of all documents with a word of the query, best first.

        Raises:
            MissingDependencyError: If the search library is not installed.
        """
        if self._ranking is None:
            self._ranking = Ranking([self.document(id_).text for id_ in self.ids])
        return [self.ids[place] for place in self._ranking.rank(query)]
