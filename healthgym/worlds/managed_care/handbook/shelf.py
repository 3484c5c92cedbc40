"""Where the pages of a library stand: in memory, or in files that are mapped."""

from __future__ import annotations

import json
import mmap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, fields
from datetime import date
from functools import cached_property
from hashlib import blake2b
from pathlib import Path
from typing import Protocol

import numpy as np

from healthgym.core.seeding import content_hash
from healthgym.errors import DamagedDataError, MissingDataError
from healthgym.worlds.managed_care.handbook.page import Audience, Card, Page
from healthgym.worlds.managed_care.handbook.search import Counted, Index, build, count


class Shelf(Protocol):
    """Pages in the order of their paths; a page is its place."""

    @property
    def paths(self) -> Sequence[str]:
        """The paths, ascending."""

    @property
    def places(self) -> Mapping[str, int]:
        """Place by path."""

    @property
    def index(self) -> Index:
        """The index of all pages."""

    @property
    def digest(self) -> str:
        """A hash of everything on the shelf."""

    def card(self, place: int) -> Card:
        """Return a page's card."""

    def data(self, place: int) -> bytes:
        """Return a page's text in UTF-8."""

    def counted(self, place: int) -> tuple[str, Counted]:
        """Return a page's text and its words, counted once."""


class MemoryShelf:
    """Pages held in memory; the index is made when somebody first searches.

    Args:
        pages: The pages, in any order.

    Raises:
        DamagedDataError: If two have one path.
    """

    def __init__(self, pages: Iterable[Page]) -> None:
        self._pages = sorted(pages, key=lambda page: page.path)
        self._counted: dict[int, tuple[str, Counted]] = {}
        self.paths = tuple(page.path for page in self._pages)
        self.places = {path: place for place, path in enumerate(self.paths)}
        if len(self.places) < len(self.paths):
            twice = next(a for a, b in zip(self.paths, self.paths[1:], strict=False) if a == b)
            raise DamagedDataError(f"Two pages of the handbook are called {twice}.")

    @cached_property
    def index(self) -> Index:
        """The index of all pages."""
        return build(count(page.path, page.title, page.text) for page in self._pages)

    @cached_property
    def digest(self) -> str:
        """A hash of everything on the shelf."""
        return content_hash([asdict(page) for page in self._pages])

    def card(self, place: int) -> Card:
        """Return a page's card."""
        return self._pages[place]

    def data(self, place: int) -> bytes:
        """Return a page's text in UTF-8."""
        return self._pages[place].text.encode()

    def counted(self, place: int) -> tuple[str, Counted]:
        """Return a page's text and its words, counted once."""
        if place not in self._counted:
            page = self._pages[place]
            self._counted[place] = page.text, count(page.path, page.title, page.text)
        return self._counted[place]


_CARDS, _TEXTS, _STARTS = "cards.json", "texts.md", "starts.npy"


class MappedShelf:
    """Pages in a folder that :func:`write_shelf` made; a text is read when it is asked for.

    Args:
        folder: The folder.

    Raises:
        MissingDataError: If the folder lacks one of its files.
        DamagedDataError: If a file is not what it should be.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._made: dict[int, Card] = {}
        self._counted: dict[int, tuple[str, Counted]] = {}
        try:
            table = json.loads((folder / _CARDS).read_bytes())
            with (folder / _TEXTS).open("rb") as file:
                self._texts = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
            self._starts = np.load(folder / _STARTS, mmap_mode="r")
            self.index = Index.load(folder)
            self._cards: list[list[object]] = table["cards"]
            self.digest = str(table["digest"])
            self.paths = tuple(str(row[0]) for row in self._cards)
        except (FileNotFoundError, NotADirectoryError) as error:
            raise MissingDataError(
                f"{folder} is no handbook: {error.filename} is missing."
            ) from error
        except (ValueError, TypeError, LookupError, EOFError) as error:
            raise DamagedDataError(f"{folder} is a damaged handbook: {error}.") from error
        self.places = {path: place for place, path in enumerate(self.paths)}
        if len(self._texts) != self._starts[-1] or len(self.index) != len(self.paths):
            raise DamagedDataError(f"{folder} is a damaged handbook: its files do not agree.")

    def card(self, place: int) -> Card:
        """Return a page's card."""
        found = self._made.get(place)
        if found is None:
            found = self._made[place] = _card(self._cards[place])
        return found

    def data(self, place: int) -> bytes:
        """Return a page's text in UTF-8."""
        return self._texts[self._starts[place] : self._starts[place + 1]]

    def counted(self, place: int) -> tuple[str, Counted]:
        """Return a page's text and its words, counted once."""
        if place not in self._counted:
            card, text = self.card(place), self.data(place).decode()
            self._counted[place] = text, count(card.path, card.title, text)
        return self._counted[place]

    def __reduce__(self) -> tuple[type, tuple[object, ...]]:
        return type(self), (self.folder,)


def _row(card: Card) -> list[object]:
    values = (getattr(card, item.name) for item in fields(Card))
    return [value.isoformat() if isinstance(value, date) else value for value in values]


def _card(row: Sequence[object]) -> Card:
    path, title, version, effective, supersedes, amends, audience = row
    return Card(
        path=str(path),
        title=str(title),
        version=str(version),
        effective=date.fromisoformat(str(effective)),
        supersedes=str(supersedes),
        amends=tuple(amends),  # type: ignore[arg-type]
        audience=tuple(Audience(each) for each in audience),  # type: ignore[attr-defined]
    )


def write_shelf(pages: Iterable[Page], folder: Path) -> None:
    """Write pages and their index into a folder, for :class:`MappedShelf`.

    Args:
        pages: The pages, by ascending path; each is let go before the next is asked for.
        folder: An empty folder.

    Raises:
        DamagedDataError: If the paths do not ascend.
    """
    rows: list[list[object]] = []
    starts = [0]
    digest = blake2b(digest_size=16)
    counted = []
    with (folder / _TEXTS).open("wb") as file:
        for page in pages:
            if rows and page.path <= str(rows[-1][0]):
                raise DamagedDataError(f"{page.path} comes after {rows[-1][0]} in the handbook.")
            data = page.text.encode()
            file.write(data)
            starts.append(starts[-1] + len(data))
            rows.append(_row(page))
            digest.update(json.dumps(rows[-1]).encode())
            digest.update(data)
            counted.append(count(page.path, page.title, page.text))
    build(counted).save(folder)
    np.save(folder / _STARTS, np.array(starts, np.int64))
    table = {"cards": rows, "digest": digest.hexdigest()}
    (folder / _CARDS).write_text(json.dumps(table), "utf-8")
