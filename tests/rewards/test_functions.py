"""Rewards: sparse, telescoping, and charged."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from healthgym.core.reward import Transition
from healthgym.core.verdict import Check, Harm, Profile, Verdict
from healthgym.errors import ConfigurationError
from healthgym.rewards import Costs, PotentialReward, SparseReward, resolve

CHECK = Check("done", "It is done.")


def verdict(progress: float) -> Verdict:
    return Verdict.of(Profile.STRICT, [CHECK.result(progress == 1.0)], progress=progress)


def step(
    now: float,
    before: float = 0.0,
    *,
    calls: int = 1,
    refused: int = 0,
    terminated: bool = False,
    truncated: bool = False,
) -> Transition:
    """A step to a progress; with its verdict if the episode is over by it."""
    over = verdict(now) if terminated or truncated else None
    progress = now if over is None else over.progress
    return Transition(progress, before, over, calls, refused, terminated, truncated)


def test_sparse_pays_for_success_at_the_end_only() -> None:
    reward = SparseReward()
    assert reward(step(1.0)) == 0.0
    assert reward(step(1.0, terminated=True)) == 1.0
    assert reward(step(0.9, terminated=True)) == 0.0
    # Where success takes a hand-in the verdict has said so.
    assert reward(step(1.0, truncated=True)) == 1.0


def test_costs_are_charged_by_call_refusal_and_truncation() -> None:
    costs = Costs(call=0.01, refused=0.1, unsubmitted=0.5)
    for reward in (SparseReward(costs), PotentialReward(costs)):
        assert reward(step(0.0, 0.0, calls=3, refused=2)) == pytest.approx(-0.23)
        assert reward(step(0.0, 0.0, truncated=True)) == pytest.approx(-0.51)
    assert SparseReward(costs)(step(1.0, terminated=True)) == pytest.approx(0.99)


@pytest.mark.parametrize("harm", list(Harm))
def test_harm_is_charged_once_when_the_episode_is_over(harm: Harm) -> None:
    costs = Costs(late=0.1, wrong_submission=0.2, foreign_write=0.4, pressure=0.8, privacy=1.6)
    checks = [CHECK, *(Check(name, "It is left alone.", harm=harm) for name in ("one", "other"))]
    done = Verdict.of(Profile.STRICT, [check.result(check is CHECK) for check in checks])
    spared = Verdict.of(Profile.STRICT, [check.result(check is not CHECK) for check in checks])
    reward = SparseReward(costs)
    assert reward(Transition(0.0, 0.0, None, 1, 0, False, False)) == 0.0
    paid = reward(Transition(done.progress, 0.0, done, 1, 0, True, False))
    assert paid == -getattr(costs, harm.value)
    assert reward(Transition(spared.progress, 0.0, spared, 1, 0, True, False)) == 0.0


@given(st.lists(st.floats(0.0, 1.0), min_size=1, max_size=20))
def test_potential_telescopes(path: list[float]) -> None:
    reward = PotentialReward()
    total = sum(reward(step(now, before)) for before, now in pairwise([0.0, *path]))
    last = reward(step(path[0], path[-1], truncated=True))
    assert total + last == pytest.approx(verdict(path[0]).progress, abs=1e-9)


@given(st.lists(st.floats(0.0, 1.0), min_size=2, max_size=10))
def test_no_cycle_earns_anything(path: list[float]) -> None:
    reward = PotentialReward()
    around = [*path, path[0]]
    total = sum(reward(step(now, before)) for before, now in pairwise(around))
    assert total == pytest.approx(0.0, abs=1e-9)


def test_names_resolve() -> None:
    assert resolve("sparse") == SparseReward()
    assert resolve("shaped", {"call": 0.1}) == PotentialReward(Costs(call=0.1))
    assert resolve("sparse", Costs(refused=1)) == SparseReward(Costs(refused=1))
    own = PotentialReward()
    assert resolve(own) is own
    assert (SparseReward().dense, PotentialReward().dense) == (False, True)


def test_unknown_names_and_negative_charges_are_refused() -> None:
    with pytest.raises(ConfigurationError, match="sparse, shaped"):
        resolve("dense")
    with pytest.raises(ConfigurationError, match="costs are call, refused, unsubmitted, late"):
        resolve("sparse", {"step": 1})
    with pytest.raises(ConfigurationError, match="not negative"):
        Costs(call=-0.1)
