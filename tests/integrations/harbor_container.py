"""A folder that stands in for a container of an exported task: its paths lie below the folder."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

_PLACES = re.compile(
    r"(?<![\w.-])/(?=(?:opt/episode|opt/pictures|logs|tests|solution|home/agent|usr/local)(?![\w-]))"
)


class Container:
    """Paths of the container lead below a folder, in scripts and in commands."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def at(self, path: str) -> Path:
        """Where a path of the container lies."""
        return self.root / path.lstrip("/")

    def inside(self, text: str) -> str:
        """A text in which the container's paths are ours."""
        return _PLACES.sub(f"{self.root}/", text)

    def build(self, room: Path) -> None:
        """Do what a Dockerfile of an exported task says, without users and without pip."""
        for place in ("opt/episode/venv/bin", "opt/pictures", "home/agent", "logs/verifier",
                      "logs/agent", "logs/artifacts", "tests", "usr/local/bin"):  # fmt: skip
            self.at(place).mkdir(parents=True, exist_ok=True)
        self._script("/opt/episode/venv/bin/python", f'#!/bin/sh\nexec {sys.executable} "$@"\n')
        if (room / "keeper").is_file():
            shutil.copy(room / "task.json", self.at("/opt/episode/task.json"))
            self.at("/opt/episode/actions.jsonl").touch()
            self._script("/usr/local/sbin/episode-keeper", (room / "keeper").read_text())
            asked = (room / "episode").read_text().replace("sudo -n -u keeper ", "")
            self._script("/usr/local/bin/episode", asked)
        else:
            self.put(room, "/tests")

    def put(self, source: Path, target: str) -> None:
        """Copy a file or folder into the container, with the paths in its scripts mapped."""
        for path in sorted(source.rglob("*")) if source.is_dir() else [source]:
            if path.is_dir():
                continue
            place = self.at(target)
            place = place / path.relative_to(source) if source.is_dir() else place
            if path.suffix == ".sh":
                self._script(f"/{place.relative_to(self.root)}", path.read_text())
            else:
                place.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(path, place)

    def _script(self, path: str, text: str) -> None:
        self.at(path).parent.mkdir(parents=True, exist_ok=True)
        self.at(path).write_text(self.inside(text))
        self.at(path).chmod(0o755)

    def run(
        self, command: str, env: dict[str, str] | None = None
    ) -> subprocess.CompletedProcess[str]:
        """Run a command of the container's shell."""
        return subprocess.run(
            ["sh", "-c", self.inside(command)],
            cwd=self.at("/home/agent"), capture_output=True, text=True, check=False,
            env={**os.environ, **(env or {}),
                 "PATH": f"{self.at('/usr/local/bin')}:{os.environ['PATH']}"},
        )  # fmt: skip
