"""The canonical suite: what it is composed of, which cases it shares, and that it can be won."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from functools import cache

import pytest

from healthgym.core.seeding import Split
from healthgym.core.verdict import Profile
from healthgym.envs.managed_care.prior_auth_arena.canonical import (
    CallCase,
    SharedCase,
    canonical_cases,
)
from healthgym.envs.managed_care.prior_auth_arena.env import PriorAuthArenaEnv
from healthgym.envs.managed_care.prior_auth_arena.family import ArenaFamily
from healthgym.envs.managed_care.prior_auth_arena.task import ArenaInstance
from healthgym.envs.managed_care.prior_authorization.family import AuthorizationFamily
from healthgym.envs.managed_care.utilization_management.family import ReviewFamily
from healthgym.errors import ConfigurationError
from healthgym.worlds.managed_care.vocabulary.authorization import (
    CaseStatus,
    ProviderDeterminationAction,
    ServiceTypeCategory,
)
from tests.envs.managed_care.prior_auth_arena.table import failed, joint, played

FAMILY = ArenaFamily(canonical=True)
SHARED = [(n, row.number) for n, row in enumerate(canonical_cases()) if isinstance(row, SharedCase)]
CALLS = [n for n, row in enumerate(canonical_cases()) if isinstance(row, CallCase)]


@cache
def canonical(index: int, split: Split = Split.TEST) -> ArenaInstance:
    return FAMILY.generator.generate(split, index)


def test_the_suite_is_composed_like_the_published_one() -> None:
    assert FAMILY.generator.size(Split.TEST) == len(canonical_cases()) == 23
    tasks = [canonical(index) for index in range(23)]
    actions = Counter(each.reference.provider.action for each in tasks)
    assert list(map(actions.get, ProviderDeterminationAction)) == [8, 10, 5]
    assert {each.reference.provider.service_type for each in tasks} == set(ServiceTypeCategory)
    assert len({each.task.instruction for each in tasks}) == 23
    assert {each.task.key.family for each in tasks} == {"prior-auth-arena-canonical"}


def test_five_hang_on_a_call_and_two_of_these_are_rightly_denied() -> None:
    assert len(CALLS) == 5
    memos = [n for n in range(23) if canonical(n).reference.memo is not None]
    assert memos == CALLS
    called = [canonical(n).reference.provider for n in CALLS]
    assert {each.action for each in called} == {ProviderDeterminationAction.SUBMIT_PA}
    ends = Counter(each.status for each in called)
    assert ends == {CaseStatus.APPROVED: 3, CaseStatus.DENIED: 2}


def test_a_case_that_the_single_suites_have_is_the_same_case() -> None:
    requests = AuthorizationFamily(canonical=True).generator
    reviews = ReviewFamily(canonical=True).generator
    assert len(SHARED) == len({number for _, number in SHARED}) == 18
    for index, number in SHARED:
        ours, theirs = canonical(index), requests.generate(Split.TEST, number)
        assert replace(ours.reference.provider, beside=frozenset()) == theirs.reference
        assert ours.task.kind == theirs.task.kind
        assert ours.start.now.date() == theirs.start.now.date()
        patient = theirs.reference.patient_id
        chart = ours.start.charts[patient]
        assert chart == theirs.start.charts[patient]
        review = reviews.generate(Split.TEST, number)
        assert review.start.charts[patient].facts == chart.facts
        assert review.reference.policy == ours.reference.provider.policy


@pytest.mark.parametrize("difficulty", ["easy", "hard"])
def test_the_suite_is_there_at_every_difficulty(difficulty: str) -> None:
    generator = ArenaFamily(difficulty, canonical=True).generator
    assert generator.size(Split.TEST) == 23
    for index in CALLS:
        assert generator.generate(Split.TEST, index).reference.memo is not None


def test_other_splits_are_of_the_same_mix_and_share_no_case() -> None:
    asked = {canonical(index).task.kind for index in range(23)}
    patients = {
        split: {canonical(n, split).reference.provider.patient_id for n in range(23)}
        for split in Split
    }
    kinds = Counter(canonical(n, Split.TRAIN).task.kind for n in range(40))
    assert set(kinds) <= asked
    assert len(kinds) > 6
    splits = list(Split)
    for place, split in enumerate(splits):
        for other in splits[place + 1 :]:
            assert not patients[split] & patients[other]


@pytest.mark.parametrize("index", [n for n in range(23) if n in CALLS or n % 4 == 1])
def test_two_who_know_the_answer_win_it(index: int) -> None:
    _require_won(index)


@pytest.mark.slow
@pytest.mark.parametrize("index", range(23))
def test_two_who_know_the_answer_win_every_case(index: int) -> None:
    _require_won(index)


def _require_won(index: int) -> None:
    episode = played(canonical(index))
    for profile in Profile:
        assert [failed(episode, role, profile) for role in episode.roles] == [set(), set()]
        assert joint(episode, profile)
    held = bool(episode.world.parley.lines)
    assert held is (index in CALLS)


def test_a_canonical_environment_has_so_many_test_tasks() -> None:
    env = PriorAuthArenaEnv(canonical=True)
    with pytest.raises(ConfigurationError):
        env.reset(options={"split": "test", "index": 23})


def test_a_drill_has_no_place_for_canonical_tasks() -> None:
    with pytest.raises(ConfigurationError, match="canonical"):
        ArenaFamily("drill", canonical=True)
