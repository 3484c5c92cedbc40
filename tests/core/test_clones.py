"""Clones and snapshots: the same past, the same possible futures, and a life of their own."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from healthgym.core.episode import AnyEpisode
from healthgym.core.tool import call
from healthgym.errors import EpisodeStateError
from healthgym.rewards import PotentialReward
from tests.core.playing import READ, WRITE, open_episode, oracle, snapshot_of

random_actions = st.lists(
    st.sampled_from([*oracle(), READ, WRITE, "", call("submit", answer=1)]), max_size=8
)


@given(random_actions, random_actions, random_actions)
def test_a_clone_has_the_same_future_and_a_life_of_its_own(
    past: list[Any], future: list[Any], other: list[Any]
) -> None:
    def live(episode: AnyEpisode, actions: list[Any]) -> None:
        for action in actions:
            if not episode.done():
                episode.step(action)

    episode = open_episode(reward=PotentialReward())
    live(episode, past)
    twin, saved, then = episode.clone(), episode.snapshot(), snapshot_of(episode)
    live(twin, other)
    assert snapshot_of(episode) == then
    live(episode, future)
    late = snapshot_of(episode)
    fresh = open_episode(reward=PotentialReward())
    live(fresh, [*past, *future])
    assert late == snapshot_of(fresh)
    episode.restore(saved)
    assert snapshot_of(episode) == then
    live(episode, future)
    assert snapshot_of(episode) == late
    episode.restore(saved)
    assert snapshot_of(episode) == then


def test_a_snapshot_fits_its_own_episode_only() -> None:
    with pytest.raises(EpisodeStateError, match="another episode"):
        open_episode().restore(open_episode().snapshot())


def test_a_clone_may_be_played_in_another_thread() -> None:
    episode = open_episode()
    episode.step(READ)
    twins = [episode.clone() for _ in range(8)]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda twin: [twin.step(WRITE) for _ in range(3)], twins))
    assert {len(twin.world.notes) for twin in twins} == {3}
    assert len({snapshot_of(twin)[0] for twin in twins}) == 1
    # What is bound to a world is each clone's own, whichever thread comes first.
    assert len({id(twin._runner) for twin in [episode, *twins]}) == 9


def test_writes_of_a_clone_stay_in_the_clone() -> None:
    episode = open_episode()
    episode.step(READ)  # binds the toolsets
    twin = episode.clone()
    twin.step(WRITE)
    assert (episode.world.notes, twin.world.notes) == ([], [("a",)])
    episode.step(WRITE)
    episode.step(WRITE)
    assert len(twin.world.notes) == 1
