"""The page: one HTML file that loads nothing, and in which nothing recorded is ever a program.

Episodes are kept in packed blocks that the page opens when they are looked at, so that ten thousand
of them stay a file that a browser takes. A policy in its head (Content-Security-Policy) lets a
browser run the page's own program and no other, and fetch nothing.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, TextIO

from healthgym.core.borders import JsonDict
from healthgym.errors import ConfigurationError, MissingDependencyError
from healthgym.presentation.viewer.records import Index, PictureFinder, Shown, body

if TYPE_CHECKING:
    import jinja2

#: Episodes in a block: enough that what they have in common is packed once, and few enough that
#: one of them is at hand in a moment.
CHUNK = 40
#: The parts of the page's program, in their order.
_PROGRAM = ("index", "values", "results", "episode", "statistics", "table", "compare", "main")
_PICTURE = re.compile(r"data:image/(png|jpeg);base64,[A-Za-z0-9+/]*={0,2}")


@dataclass(frozen=True, slots=True)
class Section:
    """A part of a report above the episodes.

    Attributes:
        heading: Its heading; none if empty.
        table: Rows of text, the heading first.
        picture: A picture, as a data URL.
        alt: What the picture shows.
        figure: A drawing as SVG markup of our own making; whatever of it was recorded is escaped.
        notes: Sentences below.
        lead: Whether the notes are what matters most.
        closed: Whether it opens with a click.
    """

    heading: str = ""
    table: Sequence[Sequence[str]] = ()
    picture: str = ""
    alt: str = ""
    figure: str = ""
    notes: Sequence[str] = ()
    lead: bool = False
    closed: bool = False


@dataclass(frozen=True, slots=True)
class PageData:
    """What a page shows.

    Attributes:
        title: Its heading.
        note: A sentence below it.
        episodes: The episodes, which are read once and not held.
        sections: A report above them.
        compare: The two runs that are compared to begin with, by name.
        answers: Whether episodes say what would have been right. The page then says so on top.
    """

    title: str
    episodes: Iterable[Shown]
    note: str = ""
    sections: Sequence[Section] = ()
    compare: tuple[str, str] | None = None
    answers: bool = False


@dataclass(slots=True)
class _Blocks:
    """Packs episodes into blocks, and numbers their pictures."""

    find: PictureFinder
    index: Index = field(default_factory=Index)
    _pictures: dict[str, int | None] = field(default_factory=dict)
    _new: list[tuple[int, str]] = field(default_factory=list)

    def of(self, episodes: Iterable[Shown]) -> Iterator[JsonDict]:
        """Yield pictures and blocks in the order that the page holds them."""
        lines: list[str] = []
        for shown in episodes:
            self.index.add(shown)
            lines.append(json.dumps(body(shown, self._picture), separators=(",", ":")))
            for place, url in self._new:
                yield {"name": f"picture-{place}", "text": url}
            self._new.clear()
            if len(lines) == CHUNK:
                yield self._block(lines)
        if lines:
            yield self._block(lines)

    def _block(self, lines: list[str]) -> JsonDict:
        number = (len(self.index.rows) - 1) // CHUNK
        text = packed("\n".join(lines))
        lines.clear()
        return {"name": f"block-{number}", "text": text}

    def _picture(self, name: str) -> int | None:
        if name not in self._pictures:
            url = self.find(name)
            # A data URL goes into the page as it is, so it has to be one.
            if url is None or not _PICTURE.fullmatch(url):
                return None
            self._pictures[name] = len(self._pictures)
            self._new.append((len(self._pictures) - 1, url))
        return self._pictures[name]

    def packed_index(self) -> str:
        """Return the index of the episodes so far; complete once all blocks were taken."""
        return packed(json.dumps({**self.index.to_dict(), "chunk": CHUNK}, separators=(",", ":")))


def packed(text: str) -> str:
    """Return a text deflated (RFC 1951), in base64: no character of it means anything in HTML."""
    packer = zlib.compressobj(6, zlib.DEFLATED, -15)
    return base64.b64encode(packer.compress(text.encode("utf-8")) + packer.flush()).decode("ascii")


def write_page(file: TextIO, data: PageData, pictures: PictureFinder = lambda name: None) -> int:
    """Write a page piece by piece, and return how many episodes are on it.

    Args:
        file: Where to.
        data: What it shows.
        pictures: Finds the pictures shown.

    Raises:
        ConfigurationError: If a section holds a picture that is no data URL.
        MissingDependencyError: If jinja2 is not installed.
    """
    for section in data.sections:
        if section.picture and not _PICTURE.fullmatch(section.picture):
            raise ConfigurationError(f"The picture of {section.heading!r} is no data URL of one.")
    template, style, program = _template(), _read("page.css"), _program()
    blocks = _Blocks(pictures)
    pieces = template.generate(
        data=data,
        style=style,
        program=program,
        style_hash=_hash(style),
        program_hash=_hash(program),
        blocks=blocks.of(data.episodes),
        index=blocks.packed_index,
        compare=json.dumps(data.compare),
    )
    # Half a character, which text from a file's name may hold, has no bytes in a file.
    file.writelines(piece.encode("utf-8", "replace").decode("utf-8") for piece in pieces)
    return len(blocks.index.rows)


def page(data: PageData, pictures: PictureFinder = lambda name: None) -> str:
    """Return a page as text; see :func:`write_page`."""
    import io

    buffer = io.StringIO()
    write_page(buffer, data, pictures)
    return buffer.getvalue()


def _read(name: str) -> str:
    return (files("healthgym.presentation.viewer") / "data" / name).read_text(encoding="utf-8")


@cache
def _program() -> str:
    return "".join(["'use strict';\n", *(_read(f"{name}.js") for name in _PROGRAM)])


@cache
def _template() -> jinja2.Template:
    try:
        import jinja2
    except ImportError:
        raise MissingDependencyError(
            'Pages of episodes need jinja2: pip install "healthgym[report]".'
        ) from None
    env = jinja2.Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True)
    return env.from_string(_read("page.html.j2"))


def _hash(text: str) -> str:
    """Return the fingerprint by which a Content-Security-Policy names a script or a style."""
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode('utf-8')).digest()).decode()}"
