"""How far a long command is, and how long it still takes."""

from __future__ import annotations

import io

import pytest

from healthgym.cli import progress
from healthgym.cli.progress import Progress, in_words, watched


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    now = [0.0]
    monkeypatch.setattr(progress, "perf_counter", lambda: now[0])
    return now


@pytest.mark.parametrize(
    ("seconds", "told"), [(0.4, "0 s"), (59, "59 s"), (150, "2 min"), (7200, "2.0 h")]
)
def test_a_time_is_told_as_people_do(seconds: float, told: str) -> None:
    assert in_words(seconds) == told


def test_what_is_soon_over_says_nothing(
    clock: list[float], capsys: pytest.CaptureFixture[str]
) -> None:
    for _ in watched(range(10), 10, "files"):
        clock[0] += 0.1
    assert capsys.readouterr().err == ""


def test_a_log_gets_a_line_now_and_then(
    clock: list[float], capsys: pytest.CaptureFixture[str]
) -> None:
    for _ in watched(range(10), 10, "files"):
        clock[0] += 10
    lines = capsys.readouterr().err.splitlines()
    assert lines[0] == "2/10 files, about 80 s left"
    assert lines[-1] == "10/10 files"
    assert len(lines) == 5


def test_a_terminal_has_one_line_that_goes(
    clock: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    terminal = Terminal()
    monkeypatch.setattr("sys.stderr", terminal)
    for _ in watched(range(3), None, "files"):
        clock[0] += 3
    shown = terminal.getvalue()
    assert "\n" not in shown
    assert shown.startswith("\r1 files")
    assert shown.endswith("\r\033[K")


def test_more_can_be_told(clock: list[float]) -> None:
    told = Progress(4, "episodes")
    clock[0] = 5
    told()
    assert told.line("half of them solved") == "1/4 episodes, half of them solved, about 15 s left"
