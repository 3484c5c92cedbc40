"""Who finishes every case solves it; who begins them all, or does not read, solves none."""

from __future__ import annotations

import numpy as np
import pytest

from healthgym.core.episode import Episode
from healthgym.core.seeding import Split
from healthgym.rewards import PotentialReward
from tests.envs.managed_care.marathon.queueing import FAMILIES, by, played, solved

DESKS = sorted(FAMILIES)


@pytest.mark.parametrize("index", range(2))
@pytest.mark.parametrize("policy", ["oracle", "earliest"])
@pytest.mark.parametrize("desk", DESKS)
def test_who_knows_the_answers_solves_every_case_in_any_order(desk, policy, index) -> None:
    episode = by(desk, policy, index)
    verdict = episode.verdict()
    assert verdict.success, verdict.failure_modes
    assert solved(episode) == 1.0
    assert episode.total_reward() == pytest.approx(1.0)
    assert not any(event.error for event in episode.events)
    assert verdict.metrics["abandoned"] == verdict.metrics["deadline_misses"] == 0
    assert verdict.metrics["wrong_case_writes"] == verdict.metrics["carried_facts"] == 0


@pytest.mark.parametrize(("split", "index"), [(Split.TRAIN, 23), (Split.TEST, 126)])
def test_a_case_turned_to_last_can_still_be_decided_in_time(split, index) -> None:
    """Once one was due before its call could be held, and one that was returned was deemed."""
    family = FAMILIES["reviews"]
    instance = family.generator.draw(split, index)
    episode = family.rehearse(instance)
    for action in family.oracle(instance, np.random.default_rng(0)):
        episode.step(action)
    verdict = episode.verdict()
    assert verdict.success, verdict.failure_modes


@pytest.mark.parametrize("index", range(3))
@pytest.mark.parametrize("desk", DESKS)
def test_who_begins_every_case_and_finishes_none_solves_none(desk, index) -> None:
    episode = by(desk, "fan_out", index)
    metrics = episode.verdict().metrics
    assert metrics["touched"] == metrics["cases"]
    assert metrics["solved"] == 0
    assert episode.total_reward() == pytest.approx(0.0)


@pytest.mark.parametrize("desk", DESKS)
def test_one_case_alone_is_worth_its_share(desk) -> None:
    episode = by(desk, "one_case")
    assert not episode.verdict().success
    assert solved(episode) == pytest.approx(1 / 3)
    assert episode.total_reward() == pytest.approx(1 / 3)
    assert episode.verdict().metrics["touched"] == 1


@pytest.mark.parametrize(
    ("desk", "policy"),
    [(desk, policy) for desk, family in FAMILIES.items() for policy in family.jobs if policy],
)
def test_who_does_not_read_solves_next_to_nothing(desk, policy) -> None:
    found = [solved(by(desk, policy, index)) for index in range(3)]
    assert sum(found) / len(found) <= 1 / 9


@pytest.mark.parametrize("desk", DESKS)
def test_doing_nothing_is_worth_nothing(desk) -> None:
    episode = played(desk, ())
    assert solved(episode) == 0
    assert episode.total_reward() == 0


@pytest.mark.parametrize(
    ("canonical", "size"),
    [
        (True, 5),
        pytest.param(True, 25, marks=pytest.mark.slow),
        pytest.param(False, 25, marks=pytest.mark.slow),
    ],
)
@pytest.mark.parametrize("desk", DESKS)
def test_as_many_cases_as_the_source_has_can_all_be_solved(desk, canonical, size) -> None:
    family = type(FAMILIES[desk])(size=size, canonical=canonical)
    task = family.generator.draw(Split.TEST, 0)
    episode = Episode(family, task, PotentialReward(), family.rules)
    for made in family.oracle(task, np.random.default_rng(0)):
        assert not episode.step(made).errors
    verdict = episode.verdict()
    assert verdict.success, verdict.failure_modes
    assert verdict.metrics["solved"] == verdict.metrics["finished"] == size
