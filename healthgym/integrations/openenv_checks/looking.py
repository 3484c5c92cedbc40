"""What a check of ours is: a function that looks at a package and its running server."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from openenv.validation import Level, NormalizedManifest

from healthgym.core.borders import JsonDict
from healthgym.core.env import HealthEnv
from healthgym.core.trajectory import Trajectory, read_trajectories
from healthgym.integrations.openenv_checks.wire import Played, play
from healthgym.registration import make_health_env

if TYPE_CHECKING:
    from healthgym.integrations.openenv_checks.subject import ProcessSubject


class Unchecked(Exception):
    """What a check asks cannot be found out here; it says why."""


@dataclass(frozen=True, slots=True)
class Finding:
    """What a check found.

    Attributes:
        problems: What is wrong; nothing, and the check passes.
        measured: Figures.
        looked: What was done to find out, in a sentence.
    """

    looked: str
    problems: Sequence[str] = ()
    measured: JsonDict = field(default_factory=dict)


class Package:
    """A package, its running server, and what was played on it.

    Args:
        root: Folder of the package.
        manifest: Its manifest.
        running: Its server.
    """

    def __init__(self, root: Path, manifest: NormalizedManifest, running: ProcessSubject) -> None:
        self.root = root
        self.manifest = manifest
        self.running = running

    @property
    def url(self) -> str:
        """Address of the server."""
        return self.running.base_url

    @cached_property
    def episodes(self) -> list[JsonDict]:
        """The oracle's episodes."""
        return _read(self.root / "oracle" / "episodes.json")

    @cached_property
    def canaries(self) -> list[JsonDict]:
        """The episodes that must earn nothing."""
        return _read(self.root / str(self.manifest.capabilities.canaries))

    @cached_property
    def solved(self) -> list[Played]:
        """The oracle's episodes as they went."""
        return [play(self.url, episode) for episode in self.episodes]

    @cached_property
    def attacked(self) -> list[tuple[str, Played]]:
        """The canaries as they went."""
        return [(each["name"], play(self.url, each)) for each in self.canaries]

    def records(self) -> list[Trajectory]:
        """Return the records of the episodes that the server has finished so far."""
        return list(read_trajectories(self.running.folder / "episodes.jsonl"))

    @cached_property
    def env(self) -> HealthEnv:
        """The environment, made here of what the server's records say."""
        _ = self.solved
        record = self.records()[0]
        return make_health_env(record.env_id, record.env_kwargs)


@dataclass(frozen=True, slots=True)
class OurCheck:
    """A check of RFC 008 that the library has no grader for.

    Attributes:
        check_id: Its id in the library's policy.
        level: What it needs.
        look: Looks.
    """

    check_id: str
    level: Level
    look: Callable[[Package], Finding]


def _read(path: Path) -> list[JsonDict]:
    found: list[JsonDict] = json.loads(path.read_text("utf-8"))
    return found
