"""The engine's verbs: reading on, being done, and what the rest of the engine knows of them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from healthgym.core.episode import AnyEpisode, Episode
from healthgym.core.family import EpisodeConfig, single
from healthgym.core.seeding import Split
from healthgym.core.tool import ToolKind, call
from healthgym.core.verbs import EngineToolset, Verb
from healthgym.errors import ConfigurationError
from healthgym.rewards import SparseReward
from tests.core.playing import play, snapshot_of
from tests.core.toys import Desk, DeskWorld
from tests.core.toys.desk import DeskTools

MORE = call("read_more")
SILENT = EpisodeConfig(max_turns=500, show_clock=False)


def desk(config: EpisodeConfig = SILENT, *verbs: Verb) -> AnyEpisode:
    family = Desk()
    if verbs:
        family.roles = single(DeskTools, verbs=frozenset(verbs))
    return Episode(family, family.generator.generate(Split.TRAIN, 0), SparseReward(), config)


def test_a_family_offers_the_verbs_it_names_and_no_others() -> None:
    names = [spec.name for spec in desk(SILENT, Verb.READ_MORE).seat().catalog.specs]
    assert names[-1] == "read_more"
    assert "wait" not in names
    assert "finish" not in names
    assert [spec.name for spec in desk().seat().catalog.specs][-4:] == list(Verb)
    refused = desk(SILENT, Verb.WAIT).step(MORE)
    assert "There is no tool named 'read_more'" in refused.errors[0]


@given(st.integers(1, 60), st.integers(1, 150), st.booleans())
def test_reading_on_loses_nothing_and_repeats_nothing(
    words: int, limit: int, show_clock: bool
) -> None:
    episode = desk(replace(SILENT, max_observation=limit, show_clock=show_clock))
    shown = [episode.step(call("recite", words=words)).observation]
    while shown[-1].endswith("read_more continues)"):
        assert len(shown) < 400
        shown.append(episode.step(MORE).observation)
    bodies = [text.partition("\n")[2] if show_clock else text for text in shown]
    whole = "".join(
        body.rpartition("\n")[0] if body.endswith("read_more continues)") else body
        for body in bodies
    )
    assert whole == " ".join(map(str, range(words)))
    assert episode.step(MORE).errors == (
        "The last result was shown whole; there is no more of it.",
    )


def test_it_tells_how_much_is_left() -> None:
    episode = desk(replace(SILENT, max_observation=40))
    whole = " ".join(map(str, range(40)))
    text = episode.step(call("recite", words=40)).observation
    assert text == f"{whole[:40]}\n({len(whole) - 40} more characters; read_more continues)"


def test_without_the_verb_a_long_result_is_cut_with_a_notice() -> None:
    episode = desk(replace(SILENT, max_observation=40), Verb.WAIT)
    text = episode.step(call("recite", words=40)).observation
    assert text.endswith("\n(cut after 40 characters)")


def test_what_is_left_stays_readable_until_another_result_is_cut() -> None:
    episode = desk(replace(SILENT, max_observation=40))
    whole = " ".join(map(str, range(40)))
    play(episode, [call("recite", words=40), call("who"), call("refuse")])
    assert episode.step(MORE).observation.startswith(whole[40:80])
    play(episode, [call("recite", words=30)])
    rest = " ".join(map(str, range(30)))[40:]
    assert episode.step(MORE).observation == rest
    assert episode.step(MORE).errors


def test_what_is_left_is_part_of_a_clone() -> None:
    episode = desk(replace(SILENT, max_observation=40))
    episode.step(call("recite", words=60))
    twin = episode.clone()
    first = [episode.step(MORE).observation for _ in range(2)]
    assert [twin.step(MORE).observation for _ in range(2)] == first
    assert snapshot_of(twin) == snapshot_of(episode)


def test_finishing_hands_in() -> None:
    episode = desk()
    outcome = episode.step(call("finish"))
    assert (outcome.observation, outcome.terminated) == ("Finished.", True)
    event = episode.events[-1]
    assert (event.tool, event.kind) == ("finish", ToolKind.SUBMIT)
    assert episode.submitted()
    assert episode.verdict().checks[0].passed  # the engine's own check


def test_a_role_with_nothing_left_to_do_is_done() -> None:
    class Idle(DeskWorld):
        def left_to_do(self, role: str) -> bool:
            return len(self.answers) < 2

    class IdleDesk(Desk):
        def open(self, instance: Any) -> DeskWorld:
            return Idle()

    family = IdleDesk()
    episode = Episode(family, family.generator.generate(Split.TRAIN, 0), SparseReward(), SILENT)
    answers = [call("answer", letter=letter, text="x") for letter in "abc"]
    assert not episode.step(answers[0]).terminated
    last = episode.step(answers[1:])
    assert last.terminated
    assert episode.submitted()
    assert len(episode.events) == 2  # what follows in the same action is dropped


def test_the_verbs_need_an_episode() -> None:
    with pytest.raises(ConfigurationError, match="in an episode only"):
        EngineToolset(DeskWorld()).read_more()
