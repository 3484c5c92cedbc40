"""A reward for one side's own interest: it tells them apart, and changes no other number."""

from __future__ import annotations

import pytest

from healthgym.core.episode import Episode
from healthgym.core.reward import RewardFunction, Transition
from healthgym.core.verdict import Check, Judgement, Profile, Verdict
from healthgym.errors import ConfigurationError
from healthgym.registration import make_health_env
from healthgym.rewards import CompetitiveReward, SparseReward, resolve
from healthgym.rewards.functions import INTEREST
from healthgym.worlds.managed_care.relay import PAYER, PROVIDER
from tests.envs.managed_care.prior_auth_arena.table import FAMILY, first, instance, played


def returns(reward: RewardFunction, ending: str, payer: str) -> dict[str, float]:
    """What both sides are paid in the end for the same calls, by another reward."""
    task, once = first(ending), played(first(ending), payer=payer)
    again = Episode(FAMILY, task, reward, FAMILY.rules)
    for turn in once.turns:
        if not again.done(turn.role):
            again.step(turn.action, turn.role)
    for role in again.roles:
        if not again.done(role):
            again.stop(role)
        assert again.verdict(role).success == once.verdict(role).success
    return {role: again.total_reward(role) for role in again.roles}


@pytest.mark.slow
def test_interests_conflict_and_right_and_wrong_stay_what_they_are() -> None:
    competitive = CompetitiveReward()
    assert returns(competitive, "approved", "oracle") == {PROVIDER: 1.0, PAYER: 0.0}
    assert returns(SparseReward(), "approved", "oracle") == {PROVIDER: 1.0, PAYER: 1.0}
    # Care that is due and denied: right for nobody, and in the payer's interest.
    denied = returns(competitive, "approved", "denies_all")
    assert denied[PROVIDER] < denied[PAYER]
    assert returns(SparseReward(), "approved", "denies_all")[PAYER] == 0.0
    # What is not due and rightly denied is worth most to the payer.
    assert returns(competitive, "insisted", "oracle") == {PROVIDER: 0.0, PAYER: 1.0}


def test_the_usual_reward_is_the_default_and_reads_no_interest() -> None:
    env = make_health_env("HealthAgent/PriorAuthArena-v1")
    assert isinstance(env.reward, SparseReward)
    verdict = played(instance(0)).verdict(PAYER)
    told = {name: value for name, value in verdict.metrics.items() if name != INTEREST}
    assert set(told) == {"provider_success", "payer_success", "joint_success"}
    assert verdict.success == bool(told["joint_success"]) is True


def test_it_is_refused_where_no_interests_conflict() -> None:
    judged = Judgement.of([Check("any", "Anything.").result(True)])
    verdict = Verdict.from_judgement(Profile.STRICT, judged, ())
    last = Transition(0.0, 0.0, verdict, 1, 0, terminated=True, truncated=False)
    assert isinstance(resolve("competitive"), CompetitiveReward)
    with pytest.raises(ConfigurationError, match="interests conflict"):
        resolve("competitive")(last)
