"""Who finishes every case solves it; who begins them all, or does not read, solves none."""

from __future__ import annotations

import pytest

from tests.envs.managed_care.marathon.queueing import FAMILIES, by, played, solved

DESKS = sorted(FAMILIES)


@pytest.mark.parametrize("index", range(4))
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
