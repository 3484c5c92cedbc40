"""The reader and listener: what an agent is shown and told suffices."""

from __future__ import annotations

import pytest

from healthgym.core.episode import Episode
from healthgym.core.family import EpisodeConfig
from healthgym.core.players import Player
from healthgym.core.seeding import Split
from healthgym.core.verdict import Profile
from healthgym.envs.managed_care.care_management import hearing
from healthgym.envs.managed_care.care_management.family import CareFamily
from healthgym.rewards import SparseReward
from healthgym.worlds.managed_care.voices import Topic
from tests.envs.managed_care.care_management.playing import CareEpisode

COUNT = 20


def played(family: CareFamily, index: int) -> CareEpisode:
    """Return a task after the solver has played it."""
    instance = family.generator.generate(Split.TRAIN, index)
    episode: CareEpisode = Episode(family, instance, SparseReward(), EpisodeConfig(max_turns=100))
    player = Player.of_solver(family.solvers()["solver"], episode.instruction())
    observation = ""
    while not episode.done():
        action = player.act(observation)
        if action is None:
            break
        observation = episode.step(action).observation
    return episode


@pytest.mark.parametrize(("level", "least"), [("easy", 0.85), ("medium", 0.75)])
def test_tasks_can_be_solved_by_reading_and_listening(level: str, least: float) -> None:
    family = CareFamily(level)
    solved = sum(
        played(family, index).verdict(profile=Profile.STRICT).success for index in range(COUNT)
    )
    assert solved >= least * COUNT


def test_scores_are_heard_from_everyday_words() -> None:
    said = (
        "Hello again. Feeling low: more days than not, but there were free ones too. "
        "The nerves: some days. Not a lot of them. The bad sleep: no, nothing like that."
    )
    assert hearing.points(said) == {Topic.PHQ9: {"2": 2, "3": 0}, Topic.GAD7: {"1": 1}}


def test_medicines_are_heard_apart_from_what_stands_beside_them() -> None:
    said = (
        "I miss lisinopril twice a week or so, on the weekend. Metformin, always. "
        "Ibuprofen, always. I've missed two visits for it. I've stopped warfarin."
    )
    heard = hearing.medicines(said, ["lisinopril", "metformin", "warfarin"])
    assert {name: taken.level.value for name, taken in heard.items()} == {
        "lisinopril": "partial",
        "metformin": "adherent",
        "Ibuprofen": "adherent",
        "warfarin": "non_adherent",
    }
    assert [name for name, taken in heard.items() if not taken.at_all] == ["warfarin"]
