"""The two sizes of the library: the large one is written once into a cache folder, then mapped.

It holds the compact pages, the pages of all policies, and around them what a real library of its
size consists of: casebooks, minutes of committees, handling notes for every service and drug,
filing guides of the states, benefit riders. These state no criterion and no time limit: they are
what a search has to see through.
"""

from __future__ import annotations

import heapq
import json
import os
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from enum import StrEnum
from functools import cache
from importlib.resources import as_file, files
from operator import attrgetter
from pathlib import Path

import numpy as np

from healthgym.core.cache import BuildCache
from healthgym.core.seeding import content_hash, stable_hash
from healthgym.errors import ConfigurationError, DataError
from healthgym.worlds.managed_care.handbook.edition import edition, written_library
from healthgym.worlds.managed_care.handbook.grammar import Writer
from healthgym.worlds.managed_care.handbook.library import Library
from healthgym.worlds.managed_care.handbook.page import Page, slug
from healthgym.worlds.managed_care.handbook.rules import OperatingRules
from healthgym.worlds.managed_care.handbook.shelf import MappedShelf, write_shelf
from healthgym.worlds.managed_care.handbook.wording import table

#: Raised when the same bank is to give other pages.
_EDITION = "2026.2"
_YEAR = 2025
_KEPT: BuildCache[Library] = BuildCache(4)


class HandbookSize(StrEnum):
    """How large a library is."""

    COMPACT = "compact"  #: the written pages and those of the policies
    FULL = "full"  #: these, and what surrounds them in a real library


@dataclass(frozen=True, slots=True)
class MedicalSource:
    """Where the pages of the policies come from.

    Attributes:
        digest: Changes whenever a page would.
        pages: Makes the pages, in any order; called when the library is written and not when it
            is only mapped.
    """

    digest: str
    pages: Callable[[], Iterable[Page]]


NO_POLICIES = MedicalSource("none", tuple)


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of page that is drawn.

    Attributes:
        folder: Where its pages stand.
        over: Rule of the bank whose names are its topics, one folder each.
        volumes: What there is of each topic.
        name: File name, with ``{volume}``.
        title: Title, with ``{topic}`` and ``{volume}``.
        lead: First paragraph, with the same.
        heading: Rule of the sections' headings.
        parts: Rules of a section's sentences.
        times: Least and most sections.
        rows_of: Rule of the rows of the table at its end; their cells are set apart by ``&``.
        header: The table's header.
        rows: Least and most rows.
        cast: What is drawn anew for each section and mostly kept within it: rule, and in how
            many of ten mentions.
        opening: Rule of what follows the first paragraph once; empty if nothing does.
        focus: In how many of ten mentions a topic is the page's own.
        volumes_are: Rule of the bank that always gives the page's volume; empty if none does.
    """

    folder: str
    over: str
    volumes: tuple[str, ...]
    name: str
    title: str
    lead: str
    heading: str
    parts: tuple[str, ...]
    times: tuple[int, int]
    rows_of: str
    header: tuple[str, ...]
    rows: tuple[int, int]
    cast: tuple[tuple[str, int], ...] = ()
    opening: str = ""
    focus: int = 6
    volumes_are: str = ""

    @classmethod
    def of(cls, row: Mapping[str, object]) -> Kind:
        """Return a kind from its row in ``kinds.json``."""
        values = json.loads(json.dumps(row))
        sections, below = values.pop("sections"), values.pop("table")
        return cls(
            **{**values, "volumes": tuple(map(str, values["volumes"]))},
            heading=sections["heading"],
            parts=tuple(sections["parts"]),
            times=tuple(sections["times"]),
            cast=tuple(sections.get("cast", {}).items()),
            rows_of=below["rule"],
            header=tuple(below["header"].split(" | ")),
            rows=tuple(below["rows"]),
        )

    def path(self, topic: str, volume: str) -> str:
        """Return the path of a page."""
        return f"{self.folder}/{slug(topic)}/{slug(self.name.format(volume=volume))}.md"


@cache
def _bank() -> tuple[Writer, tuple[Kind, ...], str]:
    """Return the writer, the kinds, and a digest of what they were read from."""
    with as_file(files(__package__) / "bank") as folder:
        paths = sorted(folder.glob("*.txt"))
        rows = json.loads((folder / "kinds.json").read_text("utf-8"))
        digest = content_hash([rows, [path.read_text("utf-8") for path in paths]])
        return Writer(paths), tuple(map(Kind.of, rows)), digest


def drawn_pages() -> Iterator[Page]:
    """Yield the drawn pages by ascending path; the same ones every time."""
    writer, kinds, _ = _bank()
    plan = sorted(
        (kind.path(topic, volume), number, topic, volume)
        for number, kind in enumerate(kinds)
        for topic in _topics(writer, kind)
        for volume in kind.volumes
    )
    for path, number, topic, volume in plan:
        key = np.random.SeedSequence(stable_hash(f"handbook/{_EDITION}/{path}"))
        writer.begin(np.random.Generator(np.random.PCG64(key)))
        yield _drawn(writer, kinds[number], path, topic, volume)


def _topics(writer: Writer, kind: Kind) -> list[str]:
    if kind.over != "employer":
        return writer.alternatives(kind.over)
    return [
        f"{town} {group}"
        for town in writer.alternatives("town")[::3]
        for group in writer.alternatives("employer.kind")
    ]


def _drawn(writer: Writer, kind: Kind, path: str, topic: str, volume: str) -> Page:
    shown = f"{volume[:4]}-{volume[4:]}" if _is_month(volume) else volume.replace("-", " ")
    title = kind.title.format(topic=topic, volume=shown)
    title = title[:1].upper() + title[1:]
    blocks = [f"# {title}", kind.lead.format(topic=topic, volume=shown)]
    if kind.opening:
        blocks.append(writer.write(kind.opening))
    for number in range(1, _between(writer, kind.times) + 1):
        writer.release()
        writer.bind(kind.over, topic, kind.focus)
        if kind.volumes_are:
            writer.bind(kind.volumes_are, shown, 10)
        for rule, tenths in kind.cast:
            writer.bind(rule, writer.mention(rule), tenths)
        blocks.append(f"## {number}. {writer.write(kind.heading)}")
        blocks.append(" ".join(writer.write(part) for part in kind.parts))
    rows = [
        tuple(writer.write(kind.rows_of).split(" & ")) for _ in range(_between(writer, kind.rows))
    ]
    blocks += ["## Table", table(kind.header, rows)]
    year = int(volume[:4]) if volume[:4].isdigit() and len(volume) >= 4 else _YEAR
    month = int(volume[4:]) if _is_month(volume) else 1
    return Page(
        path=path,
        title=title,
        version=f"{year}.{month}",
        effective=date(year, month, 1),
        text="\n\n".join(blocks) + "\n",
    )


def _is_month(volume: str) -> bool:
    return len(volume) == 6 and volume.isdigit()


def _between(writer: Writer, bounds: tuple[int, int]) -> int:
    return bounds[0] + writer.below(bounds[1] - bounds[0] + 1)


def full_pages(medical: MedicalSource = NO_POLICIES) -> Iterator[Page]:
    """Yield all pages of the large edition by ascending path.

    Args:
        medical: Where the pages of the policies come from.
    """
    by_path = attrgetter("path")
    written = sorted(edition().pages(OperatingRules()), key=by_path)
    return heapq.merge(written, sorted(medical.pages(), key=by_path), drawn_pages(), key=by_path)


def user_cache_folder() -> Path:
    """Return where a user's programs keep what they can make again (the XDG convention)."""
    named = os.environ.get("XDG_CACHE_HOME", "")
    return (Path(named) if named else Path.home() / ".cache") / "healthgym"


def handbook(
    size: HandbookSize, medical: MedicalSource = NO_POLICIES, folder: Path | None = None
) -> Library:
    """Return a library under the usual rules; environments of a process share it.

    Args:
        size: Which one.
        medical: Where the pages of the policies come from.
        folder: Cache folder of the full one; the user's if None.

    Raises:
        DamagedDataError: If two pages have one path.
    """
    if size is HandbookSize.FULL:
        return full_library(medical, folder)
    if medical is NO_POLICIES:
        return written_library()
    key = ("compact", medical.digest)
    return _KEPT.get(
        key, lambda: Library.of([*edition().pages(OperatingRules()), *medical.pages()])
    )


def full_library(medical: MedicalSource = NO_POLICIES, folder: Path | None = None) -> Library:
    """Return the large library: mapped if it was written before, else written first.

    Args:
        medical: Where the pages of the policies come from.
        folder: Cache folder; the user's if None. A damaged library in it is written anew.

    Raises:
        ConfigurationError: If the folder cannot be written.
        DamagedDataError: If two pages have one path.
    """
    key = content_hash([_EDITION, _bank()[2], written_library().digest, medical.digest])
    place = (folder or user_cache_folder()) / f"handbook-{key[:16]}"
    return _KEPT.get(place, lambda: Library(_mapped(place, medical)))


def _mapped(place: Path, medical: MedicalSource) -> MappedShelf:
    try:
        return MappedShelf(place)
    except DataError:
        shutil.rmtree(place, ignore_errors=True)
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        # Written beside and moved, so that no process ever maps half a library.
        draft = Path(tempfile.mkdtemp(dir=place.parent, prefix="handbook-draft-"))
    except OSError as error:
        raise ConfigurationError(
            f"The full handbook cannot be written into {place.parent} ({error.strerror}): name a "
            "folder that can be in XDG_CACHE_HOME, or use the compact handbook."
        ) from error
    try:
        write_shelf(full_pages(medical), draft)
        draft.rename(place)
    except OSError:
        if not place.exists():
            raise
    finally:
        shutil.rmtree(draft, ignore_errors=True)
    return MappedShelf(place)
