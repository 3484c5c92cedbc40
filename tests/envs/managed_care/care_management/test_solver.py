"""The reader and listener: what an agent is shown and told suffices."""

from __future__ import annotations

import json
from importlib.resources import files
from itertools import product

import pytest

from healthgym.core.episode import Episode
from healthgym.core.family import EpisodeConfig
from healthgym.core.players import Player
from healthgym.core.seeding import Split
from healthgym.core.verdict import Profile
from healthgym.envs.managed_care.care_management import hearing
from healthgym.envs.managed_care.care_management.dialling import proxy_of
from healthgym.envs.managed_care.care_management.family import CareFamily
from healthgym.rewards import SparseReward
from healthgym.worlds.managed_care.conversation.persona import Concern
from healthgym.worlds.managed_care.conversation.replies import lines, sentences, spoken
from healthgym.worlds.managed_care.conversation.surroundings import Sudden
from healthgym.worlds.managed_care.vocabulary.care import MotivationStage
from healthgym.worlds.managed_care.voices import Topic
from tests.envs.managed_care.care_management.playing import CareEpisode
from tests.sized import some

COUNT = some(20, 10)


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


@pytest.mark.parametrize(
    ("level", "least"), [("easy", 0.95), ("medium", 0.9), ("conversations", 0.95)]
)
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


#: Whatever is said instead of an answer, and what it sounds like.
_BESIDE = {
    "pickup.machine": "machine",
    "pickup.nobody": "nobody",
    "stranger": "stranger",
    "relative.away": "away",
    "relative.fetches": "passed_on",
    "unable.fetches": "passed_on",
    "unable.identity": "muddled",
    "hearing": "deaf",
    "office_word": "office_word",
    "emergency.coming": "ambulance",
    **{f"emergency.{kind}": "emergency" for kind in Sudden},
}
_SLOTS = {"first": "Aaron", "relation": "sister", "proxy": "Hilda Kim", "when": "after three"}


@pytest.mark.parametrize("key", _BESIDE)
def test_whatever_stands_in_the_way_is_heard_as_what_it_is(key: str) -> None:
    told = [line.text.format(**_SLOTS) for line in lines()[key]]
    assert told
    assert [text for text in told if not hearing.sounds(text, _BESIDE[key])] == []


def test_another_language_is_heard_as_one() -> None:
    foreign = [line.text for key, listed in lines().items() for line in listed if "foreign." in key]
    assert [line for line in foreign if not hearing.sounds(line, "foreign")] == []


def test_a_yes_to_a_part_is_heard_with_its_part() -> None:
    for topic in (Topic.WORK, Topic.FOOD, Topic.FINANCES, Topic.TRANSPORTATION):
        for line in lines()["yes.only"]:
            assert hearing.part(line.text.format(what=spoken().subjects[topic])) is topic
    assert hearing.part("Yes, the job keeps me busy.") is None


def test_who_decides_for_somebody_is_read_from_the_referral() -> None:
    table = files("healthgym.envs.managed_care.care_management") / "data" / "around.json"
    notes = json.loads(table.read_text("utf-8"))["notes"]
    for note in notes["on_file"]:
        assert proxy_of(note.format(proxy="Hilda Kim", relation="sister")) == "Hilda Kim"
    for note in notes["none"]:
        assert not proxy_of(note.format(proxy="Hilda Kim", relation="sister"))
