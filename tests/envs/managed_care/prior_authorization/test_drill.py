"""The drill of prior authorization: small, whole, judged as every other task, and no giveaway."""

from __future__ import annotations

import numpy as np
import pytest

from healthgym.core.episode import Episode
from healthgym.core.seeding import Split
from healthgym.core.spending import estimate_tokens
from healthgym.core.tool import call
from healthgym.envs.managed_care.prior_authorization.drill import TOOLS, TURNS
from healthgym.envs.managed_care.prior_authorization.family import AuthorizationFamily
from healthgym.envs.managed_care.prior_authorization.task import AuthorizationInstance
from healthgym.errors import ConfigurationError
from healthgym.policies.evaluation import evaluate
from healthgym.policies.results import Evaluation
from healthgym.rewards import SparseReward
from tests.envs.managed_care.prior_authorization.playing import AuthorizationEpisode
from tests.sized import some

_ID = "HealthAgent/PriorAuthorization-v1"
_KWARGS = {"difficulty": "drill"}
FAMILY = AuthorizationFamily("drill")


def played(policy: str, episodes: int = 60) -> Evaluation:
    return evaluate(_ID, policy, episodes=episodes, env_kwargs=_KWARGS, floor=False)


def drawn(index: int) -> AuthorizationInstance:
    return FAMILY.generator.draw(Split.TEST, index)


def episode(instance: AuthorizationInstance) -> AuthorizationEpisode:
    return Episode(FAMILY, instance, SparseReward(), FAMILY.rules)


def test_whoever_knows_the_answer_is_right_under_both_profiles() -> None:
    results = played("oracle").results
    assert all(result.success["strict"] and result.success["paper"] for result in results)
    assert max(result.calls for result in results) <= TURNS


@pytest.mark.parametrize("policy", ["nop", "random"])
def test_who_does_not_decide_gets_nothing(policy: str) -> None:
    assert not any(result.success["strict"] for result in played(policy, 20).results)


@pytest.mark.parametrize("policy", ["prior", "flood", "always_submit", "gather_everything"])
def test_who_does_not_read_is_right_no_more_often_than_a_guess(policy: str) -> None:
    hits = [result.success["strict"] for result in played(policy, some(120, 60)).results]
    assert sum(hits) / len(hits) < 0.45


def test_all_three_actions_are_right_and_none_is_usual() -> None:
    kinds = [result.kind.split("-")[0] for result in played("oracle", 120).results]
    shares = [kinds.count(kind) / len(kinds) for kind in sorted(set(kinds))]
    assert len(shares) == 3
    assert min(shares) > 0.2


def test_page_and_note_are_short_and_the_tools_few() -> None:
    for index in range(30):
        instance = drawn(index)
        playing = episode(instance)
        looks = FAMILY.oracle(instance, np.random.default_rng(0))[:2]
        read = sum(estimate_tokens(len(playing.step(each).observation)) for each in looks)
        assert read <= 400
    offered = {tool["function"]["name"] for tool in FAMILY.roles["agent"].catalog.openai()}
    assert {name.replace(".", "__") for name in TOOLS} == offered


def test_a_wrong_reason_is_wrong() -> None:
    instance = next(one for one in map(drawn, range(60)) if one.reference.gaps)
    wanted, playing = instance.reference, episode(instance)
    other = ({"C1", "C2"} - wanted.gaps) or {"C9"}
    playing.step(
        call(
            "auth.finalize_provider_determination",
            case_id=wanted.drilled,
            final_action=str(wanted.action),
            override_reason=f"{wanted.policy.id}, {other.pop()}",
        )
    )
    playing.step(call("finish"))
    failed = {each.check.name for each in playing.verdict().checks if not each.passed}
    assert failed == {"grounds_named"}


def test_a_drill_has_no_place_for_canonical_tasks() -> None:
    with pytest.raises(ConfigurationError, match="drill"):
        AuthorizationFamily("drill", canonical=True)
