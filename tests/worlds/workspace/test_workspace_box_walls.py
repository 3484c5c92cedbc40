"""The walls of a box: that they hold, and that each attempt to break them could succeed."""

import os
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

import gymnasium as gym
import pytest

from healthgym.errors import SandboxUnavailableError
from healthgym.worlds.workspace.box import Box, BoxLimits, open_box, probe, probes
from healthgym.worlds.workspace.box import box as asking
from healthgym.worlds.workspace.box import running as module
from healthgym.worlds.workspace.box.command import Identity
from healthgym.worlds.workspace.box.seccomp import call_numbers, seccomp_filter
from tests.worlds.workspace.boxes import run, small

pytest.importorskip("polars")
pytest.importorskip("pyarrow")

#: A filter that lets everything pass: RET ALLOW.
OPEN = bytes.fromhex("06 00 00 00 00 00 ff 7f")
Weakening = Callable[[list[str]], list[str]]


def test_every_attempt_to_break_a_box_fails(box: Box) -> None:
    assert probe(box) == []


def share_network(line: list[str]) -> list[str]:
    return [
        word
        for word in line
        if word not in ("--unshare-net",)
        # Where all is unshared at once, only this brings it back.
    ] + (["--share-net"] if "--unshare-all" in line else [])


def show_host(line: list[str]) -> list[str]:
    place = tempfile.gettempdir()
    at = line.index("--symlink")
    return [*line[:at], "--bind", place, place, *line[at + 3 :]]


def name_canary(line: list[str]) -> list[str]:
    return [*line[:1], *line[1 : line.index("--clearenv") + 1], "--setenv", "HEALTHGYM_CANARY", "x",
            *line[line.index("--clearenv") + 1 :]]  # fmt: skip


def large_folder(line: list[str]) -> list[str]:
    return ["400000000" if line[n - 1] == "--size" else word for n, word in enumerate(line)]


def same(line: list[str]) -> list[str]:
    return line


class Anything(BoxLimits):
    """Limits that limit nothing."""

    def rlimits(self) -> dict[str, int]:
        return {}


#: For each attempt what must be taken from a box for it to succeed: a change of its command,
#: whether the filter is left out, and whether the limits are.
WEAKENED: dict[str, tuple[Weakening, bool, bool]] = {
    "connect": (share_network, True, False),
    "raw_sockets": (same, True, False),
    "host_files": (show_host, False, False),
    "environment": (name_canary, False, False),
    "fork": (same, True, True),
    "spawn": (same, True, True),
    "raw_clone": (same, True, True),
    "threads": (same, False, True),
    "memory": (same, False, True),
    "uncounted_memory": (same, True, False),
    "namespaces": (same, True, False),
    "tracing": (same, True, False),
    "writing": (show_host, False, False),
    "links": (show_host, False, False),
    "disk": (large_folder, False, True),
}


@pytest.mark.parametrize("name", WEAKENED)
def test_each_attempt_succeeds_where_its_wall_is_left_out(
    name: str, box: Box, monkeypatch: pytest.MonkeyPatch
) -> None:
    change, unfiltered, unlimited = WEAKENED[name]
    whole = module.command
    monkeypatch.setattr(module, "command", lambda *a, **k: _changed(whole(*a, **k), change))
    if unfiltered:
        monkeypatch.setattr(module, "seccomp_filter", lambda: OPEN)
    limits = (Anything if unlimited else BoxLimits)(
        seconds=60.0, memory=1 << 30, disk=8 << 20, threads=12
    )
    weak = Box(box.bwrap, box.runtime, box.identity, limits)
    found = probes.make_attempts(weak, [name])
    assert found.get("controls") == ""
    assert found[name]


def _changed(line: list[str], change: Weakening) -> list[str]:
    end = line.index("--")
    return [*change(line[:end]), *line[end:]]


def test_a_box_without_its_walls_is_refused(box: Box, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "seccomp_filter", lambda: OPEN)
    assert any(found.startswith("raw_sockets") for found in probe(box))


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can be root in a box")
def test_staying_root_is_found_out(box: Box, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(asking, "NOBODY", 0)
    assert probes.make_attempts(small(box), ["identity"])["identity"] == "user 0"


def test_no_box_where_there_is_no_bubblewrap(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(probes, "_opened", None)
    monkeypatch.setattr(shutil, "which", lambda name: None)
    with pytest.raises(SandboxUnavailableError, match="apt-get install bubblewrap"):
        open_box()
    with pytest.raises(SandboxUnavailableError, match="python='sandbox'"):
        gym.make("HealthAgent/EhrDataQuality-v1", python="full")


def test_no_box_where_bubblewrap_isolates_nothing(
    box: Box, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake = tmp_path / "bwrap"
    fake.write_text("#!/bin/sh\nexit 1\n")
    fake.chmod(0o755)
    monkeypatch.setattr(probes, "_opened", None)
    monkeypatch.setattr(shutil, "which", lambda name: str(fake))
    with pytest.raises(SandboxUnavailableError, match="do not hold"):
        open_box()


def test_the_project_its_tests_and_other_packages_are_not_in_the_box(box: Box) -> None:
    code = (
        "import importlib.util, os\n"
        "print([n for n in ('healthgym', 'pyarrow', 'duckdb', 'pip', 'gymnasium', 'numpy')\n"
        "       if importlib.util.find_spec(n)])\n"
        "print(sum('healthgym' in name or 'generator.py' == name\n"
        "          for _, folders, files in os.walk('/') for name in folders + files\n"
        "          if '/box/packages' not in _ and '/box/lib' not in _))\n"
        "print(sorted(os.listdir('/')), sorted(os.listdir('/box')))"
    )
    lines = run(box, code).output.splitlines()
    assert lines[:2] == ["['numpy']", "0"]
    assert "'home'" not in lines[2]
    assert "'proc'" not in lines[2]


def test_the_filter_names_what_it_refuses_and_other_machines_are_refused() -> None:
    assert len(seccomp_filter("x86_64")) % 8 == 0
    assert seccomp_filter("aarch64") != seccomp_filter("x86_64")
    assert call_numbers("x86_64")["socket"] == 41
    with pytest.raises(SandboxUnavailableError, match="x86_64, aarch64"):
        seccomp_filter("riscv64")


@pytest.mark.skipif(os.geteuid() != 0, reason="needs a host root to map")
def test_a_mapped_root_is_refused_for_its_threads_are_not_counted(box: Box) -> None:
    mapped = Box(box.bwrap, box.runtime, Identity.MAPPED, probes.TRIAL)
    found = probes.make_attempts(mapped)
    assert [name for name, what in found.items() if what] == ["threads"]
