"""Episodes share no case: not within a split, and no patient, policy or seed across splits."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import pytest

from healthgym.core.seeding import Split
from healthgym.envs.managed_care.marathon.generator import SPARE
from healthgym.envs.managed_care.marathon.task import Piece
from tests.envs.managed_care.marathon.queueing import FAMILIES

DESKS = sorted(FAMILIES)
#: Episodes of three cases from each split: some, and as many as let stand-ins be among their cases.
FEW, MANY = 3, 40


def drawn(desk: str, split: Split, episodes: int) -> Iterator[Piece]:
    generator = FAMILIES[desk].generator
    for index in range(episodes):
        yield from generator.draw(split, index).reference.pieces.values()


@pytest.mark.parametrize("episodes", [FEW, pytest.param(MANY, marks=pytest.mark.slow)])
@pytest.mark.parametrize("desk", DESKS)
def test_no_two_episodes_have_one_case(desk, episodes) -> None:
    keys: Counter[object] = Counter()
    hashes: Counter[str] = Counter()
    people: dict[Split, set[str]] = {}
    stood_in = 0
    for split in Split:
        people[split] = set()
        for piece in drawn(desk, split, episodes):
            number = piece.instance.task.key
            keys[number] += 1
            hashes[piece.content_hash()] += 1
            people[split].add(piece.patient_id)
            stood_in += number.index >= SPARE
    assert max(keys.values()) == 1
    assert max(hashes.values()) == 1
    assert not people[Split.TRAIN] & people[Split.VALIDATION]
    assert not people[Split.TRAIN] & people[Split.TEST]
    assert not people[Split.VALIDATION] & people[Split.TEST]
    # At the other desks hardly a case does not fit.
    assert stood_in or desk != "reviews" or episodes < MANY


@pytest.mark.parametrize("desk", DESKS)
@pytest.mark.parametrize("size", [1, 3, 25])
def test_the_numbers_of_tasks_that_stand_by_are_one_episode_s_alone(desk, size) -> None:
    generator = type(FAMILIES[desk])(size=size).generator
    taken: Counter[int] = Counter()
    for index in range(200):
        taken.update(generator.numbers(Split.TRAIN, index))
    assert max(taken.values()) == 1
    assert max(number for number in taken if number < SPARE) == 200 * size - 1
