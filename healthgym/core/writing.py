"""Files that are written whole or not at all."""

from __future__ import annotations

import os
import stat
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import ModuleType
from typing import BinaryIO, TextIO

from healthgym.errors import ConfigurationError

fcntl: ModuleType | None
try:
    import fcntl
except ImportError:  # Windows
    fcntl = None


@contextmanager
def written_whole(path: str | os.PathLike[str]) -> Iterator[TextIO]:
    """Open a file for text that takes its place once all is written and on the disk.

    Until then, and after a failure, what was there before is there still.

    Args:
        path: The file; its folder is made.

    Raises:
        ConfigurationError: If there is something other than a file in its place, or it cannot be
            written there.
    """
    target = writable(path)
    if target.exists() and stat.S_ISCHR(target.stat().st_mode):  # such as /dev/null
        with target.open("w", encoding="utf-8") as file:
            yield file
        return
    aside = target.with_name(f".{target.name}.{os.getpid()}-{threading.get_ident()}.part")
    try:
        opened = aside.open("w", encoding="utf-8")
    except OSError as error:
        raise ConfigurationError(f"{path} cannot be written: {error.strerror}.") from None
    try:
        with opened as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        aside.replace(target)
    finally:
        with suppress(FileNotFoundError):
            aside.unlink()


def write_whole(path: str | os.PathLike[str], text: str) -> Path:
    """Write a file whole or not at all, and return its path.

    Raises:
        ConfigurationError: If there is something other than a file in its place.
    """
    with written_whole(path) as file:
        file.write(text)
    return Path(path)


def writable(path: str | os.PathLike[str]) -> Path:
    """Return where a file is to be written, its folder made; what is there is left alone.

    Better before a long run than after it.

    Raises:
        ConfigurationError: If it cannot be written there.
    """
    # A link stays one: what it leads to is written.
    target = Path(path).resolve()
    target.parent.mkdir(parents=True, exist_ok=True)
    if target.exists():
        mode = target.stat().st_mode
        if not (stat.S_ISREG(mode) or stat.S_ISCHR(mode)):
            raise ConfigurationError(f"{path} is not a file that can be written.")
        possible = os.access(target, os.W_OK)
    else:
        possible = os.access(target.parent, os.W_OK)
    if not possible:
        raise ConfigurationError(f"{path} may not be written.")
    return target


def require_plain(path: str | os.PathLike[str]) -> Path:
    """Return a path after a look that it is no pipe or socket, which would keep a reader waiting.

    Raises:
        ConfigurationError: If it is one, or a folder.
    """
    found = Path(path)
    if found.exists() and not (found.is_file() or found.is_char_device()):
        raise ConfigurationError(f"{path} is a folder, a pipe or a socket, not a file.")
    return found


@contextmanager
def locked(file: BinaryIO) -> Iterator[None]:
    """Keep other writers out, so that none takes a line being written for one cut short."""
    if fcntl is None:
        yield
        return
    fcntl.flock(file, fcntl.LOCK_EX)
    try:
        yield
    finally:
        fcntl.flock(file, fcntl.LOCK_UN)
