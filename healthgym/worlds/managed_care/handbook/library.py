"""The handbook as a world carries it: shared pages, under the few that its task has changed."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields
from datetime import date
from difflib import get_close_matches
from functools import lru_cache
from types import MappingProxyType

import numpy as np

from healthgym.core.seeding import content_hash
from healthgym.worlds.managed_care.handbook.page import Card, Page
from healthgym.worlds.managed_care.handbook.search import (
    Counted,
    Floats,
    count,
    query_words,
    recount,
    snippet,
)
from healthgym.worlds.managed_care.handbook.shelf import MemoryShelf, Shelf
from healthgym.worlds.managed_care.refusals import Refusal, RefusalCode

#: Pages that speak for their folder, in order of preference.
_FRONT_PAGES = ("SKILL.md", "README.md")
#: What fits so much worse than the best that it only shares a word with the query is left out.
_FAINT = 0.1
#: Sorts after every character that a path may have.
_AFTER = "\U0010ffff"


@dataclass(frozen=True, slots=True)
class Hit:
    """A page that a search found.

    Attributes:
        card: Its card.
        score: How well it fits; comparable within one search.
        heading: The heading under which the snippet stands; empty if it stands above all.
        snippet: A line of the page that shows words of the query.
    """

    card: Card
    score: float
    heading: str
    snippet: str


@dataclass(frozen=True, slots=True)
class Entry:
    """A line of the contents: a page, or a folder.

    Attributes:
        path: Of the page, or of the folder with a slash at its end.
        title: The page's, or that of the folder's front page; may be empty.
        pages: Pages within; 1 for a page.
        version: Of a page.
        effective: Of a page.
    """

    path: str
    title: str
    pages: int
    version: str = ""
    effective: date | None = None


class Library:
    """Pages by path. Immutable; what it shares with others is never copied.

    Args:
        shelf: The base.
        changed: Pages that stand before those of the base, or beside them, by path.
        hidden: Folders of the base that are not there, each with a slash at its end.
    """

    def __init__(
        self,
        shelf: Shelf,
        changed: Mapping[str, Page] | None = None,
        hidden: tuple[str, ...] = (),
    ) -> None:
        self._shelf = shelf
        self._changed: Mapping[str, Page] = MappingProxyType(dict(changed or {}))
        self._hidden = hidden
        self._changed_counted: dict[str, Counted] = {}

    @classmethod
    def of(cls, pages: Iterable[Page]) -> Library:
        """Return a library of pages held in memory.

        Raises:
            DamagedDataError: If two have one path.
        """
        return cls(MemoryShelf(pages))

    def __copy__(self) -> Library:
        return self

    def __deepcopy__(self, memo: dict[int, object]) -> Library:
        return self

    def __reduce__(self) -> tuple[type, tuple[object, ...]]:
        return type(self), (self._shelf, dict(self._changed), self._hidden)

    def __contains__(self, path: object) -> bool:
        return path in self._changed or (
            path in self._shelf.places and not str(path).startswith(self._hidden or _AFTER)
        )

    def __len__(self) -> int:
        return sum(1 for _ in self.paths())

    def paths(self, folder: str = "") -> Iterator[str]:
        """Yield the paths of a folder and its folders, ascending; of all if none is named."""
        start, end = self._span(folder)
        added = {
            path
            for path in self._changed
            if path.startswith(folder) and path not in self._shelf.places
        }
        hidden = self._hidden or (_AFTER,)
        base = (path for path in self._shelf.paths[start:end] if not path.startswith(hidden))
        changed = (
            (path for path in self._changed if path.startswith(hidden)) if self._hidden else ()
        )
        kept = {path for path in changed if path.startswith(folder)}
        return iter(sorted({*base, *added, *kept}) if added or kept else base)

    def overlay(self, pages: Iterable[Page]) -> Library:
        """Return this library with pages put before those of the same path, or added.

        Takes time by the number of the pages, not of the library.
        """
        changed = {**self._changed, **{page.path: page for page in pages}}
        return Library(self._shelf, changed, self._hidden)

    def without(self, *folders: str) -> Library:
        """Return this library without folders: for ablations of the domain or medical half."""
        gone = tuple(f"{folder.rstrip('/')}/" for folder in folders)
        kept = {path: page for path, page in self._changed.items() if not path.startswith(gone)}
        return Library(self._shelf, kept, (*self._hidden, *gone))

    @property
    def changed(self) -> Mapping[str, Page]:
        """The pages that stand before those of the base, or beside them."""
        return self._changed

    @property
    def digest(self) -> str:
        """A hash of what can be read here."""
        changed = [[page.path, page.text] for _, page in sorted(self._changed.items())]
        return content_hash([self._shelf.digest, changed, self._hidden])

    def card(self, path: str) -> Card:
        """Return what is known of a page without opening it.

        Raises:
            Refusal: If there is no such page.
        """
        found = self._changed.get(path)
        return found if found is not None else self._shelf.card(self._place(path))

    def read(self, path: str) -> Page:
        """Return a page.

        Args:
            path: From the root, such as ``payer-um/01-workflow.md``.

        Raises:
            Refusal: If there is no such page; the sentence names those of similar path.
        """
        path = path.strip().lstrip("/")
        found = self._changed.get(path)
        if found is not None:
            return found
        place = self._place(path)
        card = self._shelf.card(place)
        if isinstance(card, Page):
            return card
        known = {item.name: getattr(card, item.name) for item in fields(Card)}
        return Page(**known, text=self._shelf.data(place).decode())

    def _place(self, path: str) -> int:
        if path in self:
            return self._shelf.places[path]
        known = [known for known in self.paths() if known.endswith(f"/{path.rsplit('/')[-1]}")]
        near = known[:3] or get_close_matches(path, list(self.paths()), 3, 0.5)
        hint = f"; there are {', '.join(near)}" if near else ""
        raise Refusal(RefusalCode.NOT_FOUND, f"The handbook has no page {path[:120]!r}{hint}.")

    def contents(self, folder: str = "") -> tuple[Entry, ...]:
        """Return what stands in a folder: its pages, then the folders in it.

        Args:
            folder: From the root, such as ``payer-um/operational``; the root if empty.

        Raises:
            Refusal: If there is no such folder.
        """
        prefix = f"{folder.strip().strip('/')}/".lstrip("/")
        pages: list[Entry] = []
        folders: dict[str, list[str]] = {}
        for path in self.paths(prefix):
            name, slash, _ = path[len(prefix) :].partition("/")
            if slash:
                folders.setdefault(f"{prefix}{name}/", []).append(path)
            else:
                card = self.card(path)
                pages.append(Entry(path, card.title, 1, card.version, card.effective))
        if not pages and not folders:
            known = ", ".join(entry.path for entry in self.contents() if entry.pages > 1)
            raise Refusal(
                RefusalCode.NOT_FOUND,
                f"The handbook has no folder {folder[:120]!r}; at the top there are {known}.",
            )
        inner = (
            Entry(name, self._front_title(name), len(paths)) for name, paths in folders.items()
        )
        return (*pages, *inner)

    def _front_title(self, folder: str) -> str:
        fronts = (f"{folder}{name}" for name in _FRONT_PAGES)
        return next((self.card(path).title for path in fronts if path in self), "")

    def amendments(self, path: str) -> tuple[str, ...]:
        """Return the pages that amend a page, ascending by effective day."""
        cards = [card for card in map(self.card, self.paths()) if path in card.amends]
        return tuple(card.path for card in sorted(cards, key=lambda c: (c.effective, c.path)))

    def search(self, query: str, section: str = "", limit: int = 8) -> tuple[Hit, ...]:
        """Return the pages that fit a query best, the best first; ties by path.

        What fits a tenth as well as the best, or less, is left out.

        Args:
            query: Words, such as ``knee arthroplasty conservative treatment``.
            section: Folder to look in, such as ``medical-library/drug-pa``; everywhere if empty.
            limit: Most pages to return.
        """
        words = query_words(query)
        prefix = f"{section.strip().strip('/')}/".lstrip("/")
        found = [
            (-round(score, 4), path)
            for path, score in (
                *self._base_scores(words, prefix, limit),
                *self._changed_scores(words, prefix),
            )
            if score > 0
        ]
        hits = []
        found.sort()
        least = -found[0][0] * _FAINT if found else 0.0
        for score, path in found[:limit]:
            if -score < least:
                break
            shown, heading = snippet(self._data(path), words)
            hits.append(Hit(self.card(path), -score, heading, shown))
        return tuple(hits)

    def _data(self, path: str) -> bytes:
        found = self._changed.get(path)
        return self._shelf.data(self._shelf.places[path]) if found is None else found.text.encode()

    def _base_scores(
        self, words: tuple[str, ...], prefix: str, limit: int
    ) -> Iterator[tuple[str, float]]:
        start, end = self._span(prefix)
        scores = self._shelf.index.scores(words)[start:end]
        for path in self._changed:
            place = self._shelf.places.get(path, -1)
            if start <= place < end:
                scores[place - start] = 0.0
        for folder in self._hidden:
            first, last = self._span(folder)
            scores[max(0, first - start) : max(0, last - start)] = 0.0
        for place in _best(scores, limit):
            yield self._shelf.paths[start + place], float(scores[place])

    def _changed_scores(self, words: tuple[str, ...], prefix: str) -> Iterator[tuple[str, float]]:
        for path, page in self._changed.items():
            if path.startswith(prefix):
                counted = self._changed_counted.get(path)
                if counted is None:
                    counted = self._changed_counted[path] = self._count(path, page)
                yield path, self._shelf.index.score(counted, words)

    def _count(self, path: str, page: Page) -> Counted:
        """Count an overlaid page, by what differs where there is one under it."""
        place = self._shelf.places.get(path)
        if place is not None and self._shelf.card(place).title == page.title:
            old, counted = self._shelf.counted(place)
            found = recount(counted, old, page.text)
            if found is not None:
                return found
        return _counted(path, page.title, page.text)

    def _span(self, prefix: str) -> tuple[int, int]:
        """Return where the paths of a folder begin and end on the shelf."""
        if not prefix:
            return 0, len(self._shelf.paths)
        paths = self._shelf.paths
        return bisect_left(paths, prefix), bisect_left(paths, prefix + _AFTER)


def _best(scores: Floats, limit: int) -> list[int]:
    """Return the places of the best scores above zero, ties in order."""
    places = np.flatnonzero(scores > 0)
    if len(places) > limit:
        least = np.partition(scores, -limit)[-limit]
        places = np.flatnonzero(scores >= max(least, np.float32(1e-9)))
    order = np.argsort(-scores[places], kind="stable")
    return [int(place) for place in places[order][:limit]]


@lru_cache(maxsize=64)
def _counted(path: str, title: str, text: str) -> Counted:
    """Count an overlaid page; tasks that drew the same numbers share it."""
    return count(path, title, text)
