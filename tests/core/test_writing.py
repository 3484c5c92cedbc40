"""Files are written whole or not at all."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

import pytest

from healthgym.core.trajectory import TrajectoryWriter
from healthgym.core.writing import writable, write_whole, written_whole
from healthgym.errors import ConfigurationError


def test_a_failure_leaves_what_was_there(tmp_path: Path) -> None:
    out = tmp_path / "deep" / "out.json"
    write_whole(out, "before")

    def fail() -> None:
        with written_whole(out) as file:
            file.write("half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fail()
    assert out.read_text() == "before"
    assert [each.name for each in out.parent.iterdir()] == ["out.json"]
    write_whole(out, "after")
    assert out.read_text() == "after"


def test_a_look_before_a_long_run_writes_nothing(tmp_path: Path) -> None:
    writable(tmp_path / "new" / "out.json")
    assert list((tmp_path / "new").iterdir()) == []


def test_a_file_that_cannot_be_made_is_named_as_it_was_asked_for(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def refuse(self: Path, *_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(self))

    monkeypatch.setattr(Path, "open", refuse)
    asked = tmp_path / "out.json"
    with pytest.raises(ConfigurationError) as refusal:
        write_whole(asked, "text")
    assert str(refusal.value) == f"{asked} cannot be written: No space left on device."


def test_a_link_stays_one(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "real")
    write_whole(tmp_path / "link", "text")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_text() == "text"


def test_a_device_stays_one() -> None:
    write_whole(os.devnull, "text")
    assert stat.S_ISCHR(os.stat(os.devnull).st_mode)


def test_what_is_no_file_is_refused_and_not_waited_for(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for path in (pipe, tmp_path):
        with pytest.raises(ConfigurationError):
            write_whole(path, "text")
        with pytest.raises(ConfigurationError):
            TrajectoryWriter(path)
