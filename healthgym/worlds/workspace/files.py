"""A virtual tree of text files: an immutable base, and an episode's own files over it."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from healthgym.core.state import Stateful, table
from healthgym.errors import ToolError

#: Longest text an episode may write to one file, and to all of them, in characters.
MAX_FILE = 200_000
MAX_WRITTEN = 2_000_000
_MAX_PATH = 300


@dataclass(frozen=True, slots=True)
class Page:
    """Some lines of a file.

    Attributes:
        lines: The lines, without their ends.
        first: Number of the first of them, from 1.
        total: Number of lines of the file.
    """

    lines: tuple[str, ...]
    first: int
    total: int

    @property
    def after(self) -> int:
        """Number of the line after the last one shown; 0 at the end of the file."""
        following = self.first + len(self.lines)
        return following if following <= self.total else 0


@dataclass(frozen=True, slots=True)
class Hit:
    """A line in which a search found its words."""

    path: str
    line: int
    text: str


class FileTree(Stateful):
    """Text files by path, such as ``docs/README.md``. There is nothing outside the tree.

    Args:
        base: Text by path; shared between episodes and never changed. Any mapping will do, so
            texts may be made when they are asked for.
        writable: Folders (``"config/"``) in which the episode may write; none by default.
    """

    _written = table[str, str]()

    def __init__(self, base: Mapping[str, str], *, writable: tuple[str, ...] = ()) -> None:
        self._base = base
        self._writable = writable

    def __contains__(self, path: object) -> bool:
        return path in self._written or path in self._base

    def __iter__(self) -> Iterator[str]:
        return iter(sorted({*self._base, *self._written}))

    def __len__(self) -> int:
        return len({*self._base, *self._written})

    @property
    def written(self) -> Mapping[str, str]:
        """The files written in this episode."""
        return dict(self._written)

    @property
    def writable(self) -> tuple[str, ...]:
        """The folders in which the episode may write."""
        return self._writable

    def paths(self, under: str = "") -> list[str]:
        """Return the paths below a folder, sorted; all of them for ``""``."""
        folder = normalise(under, empty=True)
        if not folder:
            return list(self)
        return [path for path in self if path == folder or path.startswith(f"{folder}/")]

    def read(self, path: str) -> str:
        """Return the whole text of a file.

        Raises:
            ToolError: If there is no such file.
        """
        name = normalise(path)
        if name in self._written:
            return self._written[name]
        try:
            return self._base[name]
        except KeyError:
            raise ToolError(f"There is no file {name[:120]!r}; list_files shows them.") from None

    def page(self, path: str, first: int = 1, count: int = 100, characters: int = 8_000) -> Page:
        """Return lines of a file from ``first``, at most ``count`` of them.

        Lines are added while they fit in ``characters``; one that alone is longer is cut.

        Raises:
            ToolError: If there is no such file, or no such line.
        """
        if first < 1 or count < 1:
            raise ToolError("Lines are counted from 1, and at least one is read.")
        lines = self.read(path).splitlines()
        if first > max(len(lines), 1):
            raise ToolError(f"{path} has {len(lines)} lines.")
        chosen: list[str] = []
        used = 0
        for line in lines[first - 1 : first - 1 + count]:
            shown = line if len(line) <= characters else f"{line[:characters]} (line cut)"
            used += len(shown) + 1
            if chosen and used > characters:
                break
            chosen.append(shown)
        return Page(tuple(chosen), first, len(lines))

    def search(self, text: str, under: str = "", limit: int = 20) -> tuple[list[Hit], int]:
        """Return the first lines that hold all words of ``text``, case aside, and their number."""
        words = text.lower().split()
        if not words:
            raise ToolError("Say what to search for.")
        hits: list[Hit] = []
        found = 0
        for path in self.paths(under):
            content = self.read(path)
            lowered = content.lower()
            if not all(word in lowered for word in words):
                continue
            for number, line in enumerate(content.splitlines(), 1):
                low = line.lower()
                if all(word in low for word in words):
                    found += 1
                    if len(hits) < limit:
                        hits.append(Hit(path, number, line.strip()))
        return hits, found

    def write(self, path: str, text: str) -> str:
        """Write a file into a writable folder and return its path.

        Raises:
            ToolError: If the path lies elsewhere, or the text is too long.
        """
        name = normalise(path)
        if not any(name.startswith(folder) for folder in self._writable):
            places = ", ".join(self._writable) or "no folder"
            raise ToolError(f"{name!r} cannot be written; files can be written in: {places}.")
        if any(other.startswith(f"{name}/") for other in self):
            raise ToolError(f"{name!r} is a folder.")
        if any(parent in self for parent in _parents(name)):
            raise ToolError(f"A folder of {name!r} is a file.")
        total = sum(len(old) for key, old in self._written.items() if key != name)
        if len(text) > MAX_FILE or total + len(text) > MAX_WRITTEN:
            raise ToolError(f"A file holds at most {MAX_FILE} characters, all {MAX_WRITTEN}.")
        self._written[name] = text
        return name

    def delete(self, path: str) -> None:
        """Delete a file that was written in this episode.

        Raises:
            ToolError: If this episode wrote no such file.
        """
        name = normalise(path)
        if name not in self._written:
            raise ToolError(f"{path!r} was not written here; task files cannot be deleted.")
        del self._written[name]


def _parents(path: str) -> list[str]:
    parts = path.split("/")
    return ["/".join(parts[:count]) for count in range(1, len(parts))]


def normalise(path: str, *, empty: bool = False) -> str:
    """Return a path in its one spelling: no leading slash, no ``.``, and nothing above the root.

    Raises:
        ToolError: If the path leads out of the tree, or is empty where it must not be.
    """
    if "\0" in path:
        raise ToolError("A path holds no NUL.")
    if len(path) > _MAX_PATH:
        raise ToolError(f"A path has at most {_MAX_PATH} characters.")
    flat = posixpath.normpath("/" + path.strip().replace("\\", "/")).lstrip("/")
    if ".." in path.replace("\\", "/").split("/"):
        raise ToolError("A path may not hold '..'; there is nothing outside the workspace.")
    if not flat and not empty:
        raise ToolError("Name a file.")
    return flat
