"""Small scans for quick tests, and episodes on them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

pytest.importorskip("scipy")
pytest.importorskip("nibabel")

from healthgym.core.env import HealthEnv
from healthgym.core.episode import AnyEpisode, Episode
from healthgym.core.seeding import Split
from healthgym.core.tool import call
from healthgym.envs.ct_abnormality.env import CtAbnormalityEnv
from healthgym.envs.ct_abnormality.task import (
    CtConfig,
    CtReference,
    CtStart,
    CtTask,
)
from healthgym.worlds.volumes.world import VolumeWorld

CtEpisode = Episode[CtTask, CtReference, CtStart, VolumeWorld]

#: A scan that is drawn in a moment.
SMALL = CtConfig(slices=(60, 70), size=160)


class Reader:
    """An environment of small scans, and what tests do with it."""

    def __init__(self, env: HealthEnv) -> None:
        self.env = env

    def open(self, index: int = 0, split: str = "train") -> CtEpisode:
        """Return a new episode."""
        return self.env.open_episode(split, index)

    def truth(self, index: int = 0, split: str = "train") -> dict[str, bool]:
        """Return what is on a scan."""
        instance = self.env.family.generator.generate(Split(split), index)
        return dict(instance.reference.truth)

    def written(self, text: str, index: int = 0) -> dict[str, Any]:
        """Return the verdicts by profile after a text was written and handed in."""
        episode = self.open(index)
        if text:
            do(episode, "write_predictions", text=text)
        do(episode, "submit")
        return episode.verdicts()

    def script(self, name: str, index: int = 0, split: str = "train") -> list[Any]:
        """Return the actions of a scripted policy."""
        instance = self.env.family.generator.generate(Split(split), index)
        return list(self.env.family.scripts()[name](instance, np.random.default_rng(0)))


def do(episode: AnyEpisode, name: str, **arguments: Any) -> str:
    """Make a call that must be carried out, and return what it says."""
    outcome = episode.step(call(name, **arguments))
    assert not outcome.errors, outcome.errors
    return outcome.observation.partition("\n")[2]


def refused(episode: AnyEpisode, name: str, **arguments: Any) -> str:
    """Make a call that must be refused, and return why."""
    before = episode.world.digest()
    outcome = episode.step(call(name, **arguments))
    assert outcome.errors
    assert episode.world.digest() == before
    return outcome.errors[0]


@pytest.fixture(scope="session")
def reader() -> Reader:
    """An environment of small scans."""
    return Reader(CtAbnormalityEnv(difficulty=SMALL))
