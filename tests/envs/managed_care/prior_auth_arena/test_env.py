"""The arena as an environment for one agent: who is at the other desk, and what is refused."""

from __future__ import annotations

import inspect
from typing import Any

import gymnasium as gym
import pytest

from healthgym.core.env import HealthEnv
from healthgym.core.tool import call
from healthgym.core.unwrapping import health_env
from healthgym.core.verdict import Profile
from healthgym.envs.managed_care.prior_auth_arena.env import PriorAuthArenaEnv
from healthgym.envs.managed_care.prior_auth_arena.opponents.graded import STRENGTHS
from healthgym.envs.managed_care.prior_auth_arena.verifier import ArenaVerifier
from healthgym.errors import ConfigurationError
from healthgym.policies.scripted import ScriptPolicy
from healthgym.testing import replay
from healthgym.testing.play import actions_of
from healthgym.worlds.managed_care.relay import PAYER, PROVIDER
from tests.envs.managed_care.prior_auth_arena.table import first

ENV_ID = "HealthAgent/PriorAuthArena-v1"


def made(**arguments: Any) -> HealthEnv:
    return health_env(gym.make(ENV_ID, disable_env_checker=True, **arguments))


def played(env: HealthEnv, ending: str) -> HealthEnv:
    """The environment after its oracle has played the first test task with an ending."""
    key = first(ending).task.key
    for action in actions_of(env, ScriptPolicy("oracle"), key.split, key.index):
        env.step(action)
    return env


@pytest.mark.parametrize(
    ("role", "opponent", "ending", "joint"),
    [
        (PROVIDER, "oracle", "said", 1.0),
        (PROVIDER, "slow", "approved", 1.0),
        (PROVIDER, "misreads", "approved", 0.0),
        (PAYER, "honest", "pended", 1.0),
        (PAYER, "silent", "pended", 0.0),
    ],
)
def test_the_oracle_reckons_with_whoever_is_at_the_other_desk(
    role: str, opponent: str, ending: str, joint: float
) -> None:
    env = played(made(role=role, opponent=opponent), ending)
    verdict = env.episode.verdict(role)
    assert verdict.success
    assert verdict.metrics["joint_success"] == joint
    assert not any(event.error for event in env.episode.events if event.role == role)


def test_a_record_replays_with_whoever_was_drawn() -> None:
    env = played(made(opponent={"slow": 1, "rubber_stamp": 1}, reward="shaped"), "approved")
    record = env.trajectory()
    assert {turn.role for turn in record.turns} == {PROVIDER, PAYER}
    assert replay(record).turns == len(record.turns)


def test_what_the_other_desk_did_wrong_is_not_held_against_the_agent() -> None:
    env = played(made(opponent="denies_all"), "approved")
    metrics = env.episode.verdict().metrics
    assert (metrics["provider_success"], metrics["payer_success"]) == (1.0, 0.0)
    assert env.episode.total_reward() == 1.0


@pytest.mark.parametrize("difficulty", ["medium", "drill"])
@pytest.mark.parametrize("opponent", ["random", "nop"])
@pytest.mark.parametrize("role", [PROVIDER, PAYER])
def test_who_knows_the_answer_does_its_part_beside_somebody_who_knows_nothing(
    role: str, opponent: str, difficulty: str
) -> None:
    env = made(role=role, opponent=opponent, difficulty=difficulty, split="test")
    for index in range(2):
        policy = ScriptPolicy("oracle")
        shown, info = env.reset(options={"index": index})
        policy.begin(env, shown, info)
        over = False
        while not over:
            shown, _, terminated, truncated, info = env.step(policy.act(shown))
            over = terminated or truncated
        assert not info["verdict"]["strict"]["metrics"]["joint_success"]
        assert env.episode.verdict().success
        record = env.trajectory()
        assert replay(record).turns == len(record.turns)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"role": "nurse"}, "role 'nurse' is not one of provider, payer"),
        ({"opponent": "nobody"}, "no policy named 'nobody' for the payer's desk; use absent, agr"),
        ({"opponent": "omits_one"}, "no policy named 'omits_one' for the payer's desk"),
        ({"opponent": {"honest": 1, "nobody": 1}}, "no policy named 'nobody'"),
        ({"opponent": "slow", "difficulty": "drill"}, "no policy named 'slow' for the payer's d"),
        ({"opponent": {"honest": -1}}, "Weights of players"),
        ({"opponent": {"model": "x"}}, "one of endpoint, checkpoint"),
        ({"limits": {"days": 3}}, "there is no days; there are turn_pairs, calls, lasts, rounds"),
        ({"limits": {"cycles": 0}}, "cycles is a number from 1 up, not 0"),
        ({"spell": 0}, "spell is at least 1"),
        ({"difficulty": "harder"}, "harder"),
    ],
)
def test_bad_arguments_are_refused_with_what_is_accepted(
    arguments: dict[str, Any], said: str
) -> None:
    with pytest.raises(ConfigurationError, match=said):
        PriorAuthArenaEnv(**arguments)


def test_limits_are_those_that_are_given() -> None:
    env = PriorAuthArenaEnv(limits={"lasts": 30, "turn_pairs": 2}, spell=9)
    env.reset(options={"index": 0})
    limits = env.episode.world.limits  # type: ignore[attr-defined]  # the arena's world has some
    assert (limits.lasts.seconds, limits.turn_pairs, limits.cycles) == (1800, 2, 6)
    assert env.config.spell == 9


def test_the_page_tells_of_every_opponent_and_its_strength() -> None:
    page = inspect.getdoc(PriorAuthArenaEnv) or ""
    for role, known in STRENGTHS.items():
        (line,) = (each for each in page.splitlines() if each.startswith(f"- {role}: "))
        for name, strength in known.items():
            assert f"``{name}`` ({strength:.2f})" in line


def test_what_both_desks_did_is_worked_out_once_for_each_profile(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[Profile] = []
    found = ArenaVerifier._found

    def counted(self: ArenaVerifier, evidence: Any, profile: Profile) -> Any:
        asked.append(profile)
        return found(self, evidence, profile)

    monkeypatch.setattr(ArenaVerifier, "_found", counted)
    env = made()
    env.reset(options={"index": 0})
    env.step(call("finish"))
    assert len(env.episode.roles) == 2
    assert env.episode.settled
    assert sorted(asked) == sorted(Profile)
