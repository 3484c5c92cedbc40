"""The reader and listener: what an agent is shown and told suffices."""

from __future__ import annotations

from itertools import product

import pytest

from healthgym.core.episode import Episode
from healthgym.core.family import EpisodeConfig
from healthgym.core.players import Player
from healthgym.core.seeding import Split
from healthgym.core.verdict import Profile
from healthgym.envs.managed_care.care_management import hearing
from healthgym.envs.managed_care.care_management.family import CareFamily
from healthgym.rewards import SparseReward
from healthgym.worlds.managed_care.conversation.persona import Concern
from healthgym.worlds.managed_care.conversation.replies import lines, sentences, spoken
from healthgym.worlds.managed_care.vocabulary.care import MotivationStage
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
        "Hello again. I've been down in the dumps, on more days than not, though some were free "
        "of it. My nerves have been on edge, a few times, on three or four days. I sleep fine, "
        "there wasn't one bad night."
    )
    asked = [(Topic.PHQ9, "2"), (Topic.GAD7, "1"), (Topic.PHQ9, "3"), (Topic.PHQ9, "4")]
    assert hearing.points(said, asked) == {Topic.PHQ9: {"2": 2, "3": 0}, Topic.GAD7: {"1": 1}}


def test_every_way_to_answer_an_item_is_worth_one_score_and_answers_that_item_alone() -> None:
    for topic, items in ((Topic(name), each) for name, each in spoken().items.items()):
        asked = [(topic, number) for number in items]
        for number, words in items.items():
            for text in words.none:
                assert hearing.points(text, asked) == {topic: {number: 0}}, text
            for idiom, points, text in product(spoken().idioms, "123", words.some):
                for often in idiom[points]:
                    said = sentences(text.format(often=often))
                    assert hearing.points(said, asked) == {topic: {number: int(points)}}, said


def test_what_worries_somebody_and_what_they_mean_to_do_is_told_without_doubt() -> None:
    for key, listed in lines().items():
        kind, _, name = key.partition(".")
        for line in listed:
            if kind == "worry" and name:
                assert hearing.hint(line.text) is Topic(name), line.text
            elif kind == "readiness":
                assert hearing.readiness(line.text) is MotivationStage(name), line.text
            elif kind == "still":
                assert Concern(name) in hearing.worries(line.text), line.text


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
