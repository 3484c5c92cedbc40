"""Writes tasks as Harbor's folders.

The agent gets a command, ``episode``, whose episode is kept by another user of the container
(:mod:`healthgym.integrations.sessions`). The tests have the task's file of their own and look at
nothing but the record of calls, which they play again from the seed.
"""

from __future__ import annotations

import json
import re
import shlex
import shutil
from collections.abc import Iterable
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from tempfile import TemporaryDirectory

from healthgym.core.borders import Settings
from healthgym.core.tool import ToolCall
from healthgym.core.writing import write_whole
from healthgym.errors import ConfigurationError
from healthgym.integrations.sessions import KeptSession, SessionTask, oracle_calls
from healthgym.registration import make_health_env
from healthgym.version import __version__

#: Layout of ``task.toml`` that is written; Harbor 0.26 reads it.
SCHEMA_VERSION = "1.4"
#: The path of a wheel, and the extras that are asked of it.
_WHEEL = re.compile(r"(?P<path>[^\[]+\.whl)(?P<extras>\[[\w,-]+\])?")
#: A requirement as pip takes it, without what a shell or a Dockerfile would read otherwise.
_REQUIREMENT = re.compile(r"[\w.\-\[\],=<>!~+@:/ ]+")
#: Seconds an agent has for a turn and to begin with: a generous guess, to be edited in task.toml.
_SECONDS_A_TURN, _LEAST_SECONDS = 60, 900


@dataclass(frozen=True, slots=True)
class HarborExport:
    """What is the same for all tasks of an export.

    Attributes:
        env_id: Registered id of the environment.
        env_kwargs: Its arguments.
        split: Split of the tasks.
        install: What pip installs in the images: a requirement, or the path of a wheel (extras may
            follow it in brackets), which is copied beside each Dockerfile. This version of
            healthgym if empty.
        separate: Whether the verifier has a container of its own.
    """

    env_id: str
    env_kwargs: Settings = field(default_factory=dict)
    split: str = "test"
    install: str = ""
    separate: bool = False

    @property
    def wheel(self) -> Path | None:
        """The wheel that is installed, if it is one."""
        found = _WHEEL.fullmatch(self.install)
        return Path(found["path"]) if found else None

    @property
    def _extras(self) -> str:
        found = _WHEEL.fullmatch(self.install)
        return (found["extras"] or "") if found else ""

    @property
    def requirement(self) -> str:
        """What pip is told in an image.

        Raises:
            ConfigurationError: If the wheel is not there, or the requirement is none.
        """
        if self.wheel is not None:
            if not self.wheel.is_file():
                raise ConfigurationError(f"There is no wheel {self.wheel}.")
            return f"./{self.wheel.name}{self._extras}"
        found = self.install or f"healthgym=={__version__}"
        if not _REQUIREMENT.fullmatch(found):
            raise ConfigurationError(f"{found!r} is not a requirement of pip's.")
        return found


def export_harbor(export: HarborExport, out: Path, indices: Iterable[int]) -> list[Path]:
    """Write a folder for each task; return where they are.

    Each is written after its solution has been played as a session and has succeeded.

    Args:
        export: What to export.
        out: Folder that the tasks' folders are written into.
        indices: Indices of the tasks in their split.

    Raises:
        ConfigurationError: If there is no such environment, argument or task, if a task's folder is
            there already, or an episode hears from outside, which calls alone cannot repeat.
    """
    requirement = export.requirement
    env = make_health_env(export.env_id, export.env_kwargs)
    written = []
    for index in indices:
        task = SessionTask.of(export.env_id, export.env_kwargs, split=export.split, index=index)
        folder = out / f"{_slug(task.env_id)}-{export.split}-{index:05d}"
        if folder.exists():
            raise ConfigurationError(
                f"{folder} is there already; remove it, or name another folder."
            )
        calls = oracle_calls(env, export.split, index)
        with TemporaryDirectory() as aside:
            session = KeptSession(task, Path(aside) / "actions.jsonl")
            for call in calls:
                session.call(call.name, json.dumps(dict(call.arguments)))
            if not session.score()["success"]:
                raise ConfigurationError(f"{task.task_id}: its solution does not play again.")
            whole = Path(aside) / folder.name
            _write_task(export, requirement, whole, session, env.episode.task.kind)
            _write(whole / "solution" / "solve.sh", _solution(calls))
            out.mkdir(parents=True, exist_ok=True)
            shutil.move(whole, folder)
        written.append(folder)
    return written


def _write_task(
    export: HarborExport, requirement: str, folder: Path, session: KeptSession, kind: str
) -> None:
    task, marks = session.task, {"VERSION": __version__, "INSTALL": requirement}
    _write(folder / "task.toml", _toml(export, folder.name, session, kind))
    telling = {
        "TURNS": str(session.turns()),
        "TASK": session.read(),
        "TOOLS": "\n".join(session.usages()),
    }
    _write(folder / "instruction.md", _template("instruction.md", telling))
    rooms = [folder / "environment"]
    _write(rooms[0] / "Dockerfile", _template("Dockerfile", marks))
    for name in ("episode", "keeper", "sudoers"):
        _write(rooms[0] / name, _template(name, {}))
    _write(folder / "tests" / "test.sh", _template("test.sh", {}))
    if export.separate:
        rooms.append(folder / "tests")
        _write(rooms[1] / "Dockerfile", _template("Dockerfile.verifier", marks))
    for room in {*rooms, folder / "tests"}:
        task.write(room / "task.json")
    for room in rooms:
        # There even if empty: a Dockerfile cannot copy what may not be there.
        _write(room / "install" / "README", "What the image installs beside what pip knows.\n")
        if export.wheel is not None:
            shutil.copy(export.wheel, room / "install")


def _toml(export: HarborExport, name: str, session: KeptSession, kind: str) -> str:
    task = session.task
    seconds = max(_LEAST_SECONDS, _SECONDS_A_TURN * session.turns())
    verifier = 'environment_mode = "separate"' if export.separate else 'user = "root"'
    # JSON's strings are TOML's basic strings; what TOML cannot hold is escaped by either.
    told = {
        "env_id": task.env_id,
        "task_id": task.task_id,
        "kind": kind,
        "split": str(task.split),
        "healthgym": task.version,
    }
    facts = "\n".join(f"{key} = {json.dumps(value)}" for key, value in told.items())
    return f"""schema_version = "{SCHEMA_VERSION}"
artifacts = ["/opt/episode/actions.jsonl"]

[task]
name = {json.dumps(f"healthgym/{name}")}
description = {json.dumps(f"{task.env_id}, {task.task_id}")}
keywords = ["healthcare", "tool-use"]

[metadata]
{facts}

[agent]
timeout_sec = {seconds}.0
user = "agent"

[verifier]
timeout_sec = 600.0
{verifier}

[environment]
build_timeout_sec = 900.0
cpus = 1
memory_mb = 2048
workdir = "/home/agent"
"""


def _solution(calls: Iterable[ToolCall]) -> str:
    lines = [
        f"episode call {shlex.quote(call.name)} {shlex.quote(json.dumps(dict(call.arguments)))}"
        for call in calls
    ]
    return "\n".join(["#!/bin/sh", "set -eu", *lines, ""])


def _template(name: str, marks: Settings) -> str:
    text = (files(__package__) / "files" / name).read_text(encoding="utf-8")
    for mark, value in marks.items():
        text = text.replace(f"@{mark}@", str(value))
    return text


def _write(path: Path, text: str) -> None:
    write_whole(path, text)
    if text.startswith("#!"):
        path.chmod(0o755)


def _slug(env_id: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", env_id.rpartition("/")[2].lower()).strip("-")
