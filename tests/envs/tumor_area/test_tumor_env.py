"""The environment as a whole: arguments, baselines, the solver, the optional libraries."""

import subprocess
import sys

import gymnasium as gym
import numpy as np
import pytest

from healthgym.core.family import AGENT
from healthgym.core.tool import call
from healthgym.envs.tumor_area.solver import solve
from healthgym.errors import ConfigurationError
from healthgym.policies.scripted import NopPolicy, RandomPolicy, ScriptPolicy
from tests.sized import some

ID = "HealthAgent/TumorAreaSelection-v1"


def make(**kwargs):
    return gym.make(ID, disable_env_checker=True, **kwargs).unwrapped


def play(env, policy, index: int):
    observation, info = env.reset(options={"index": index, "split": "test"})
    policy.begin(env, observation, info)
    while not env.episode.done():
        observation, _, _, _, info = env.step(policy.act(observation))
    return info


@pytest.mark.parametrize(
    ("kwargs", "reason"),
    [
        ({"difficulty": "impossible"}, "easy, medium, hard"),
        ({"profile": "lenient"}, "profile"),
        ({"max_turns": 0}, "max_turns"),
        ({"looks": 0}, "looks is a positive integer"),
        ({"looks": True}, "looks is a positive integer"),
        ({"split": "dev"}, "split"),
    ],
)
def test_wrong_arguments_are_refused(kwargs, reason: str) -> None:
    with pytest.raises(ConfigurationError, match=reason):
        make(**kwargs)


def test_looks_are_announced_and_counted() -> None:
    env = make(difficulty="easy", looks=2)
    instruction, _ = env.reset(options={"index": 0})
    assert "You have 2 looks" in instruction
    assert env.episode.world.looks == 2


@pytest.mark.parametrize("reward", ["sparse", "shaped"])
def test_rewards_come_at_the_end_only(reward: str) -> None:
    env = make(difficulty="easy", reward=reward)
    env.reset(options={"index": 1})
    gold = [list(tile) for tile in env.episode._instance.reference.tiles]
    for tile in gold[:-1]:
        assert env.step(call("select_tiles", tiles=[tile]))[1] == 0.0
    assert 2 * (len(gold) - 1) / (2 * len(gold) - 1) < 0.9
    paid = env.step(call("submit"))[1]
    assert 0.0 < paid < 1.0 if reward == "shaped" else paid == 0.0


def test_nothing_counts_before_it_is_handed_in() -> None:
    env = make(difficulty="easy", max_turns=1)
    env.reset(options={"index": 1})
    gold = [list(tile) for tile in env.episode._instance.reference.tiles]
    *_, truncated, info = env.step(call("select_tiles", tiles=gold))
    assert truncated
    for found in info["verdict"].values():
        failed = [check["name"] for check in found["checks"] if not check["passed"]]
        assert failed == ["submitted", "tile_f1"]
        assert (found["success"], found["progress"], found["metrics"]) == (False, 0.0, {})


def test_the_solver_solves_easy_slides() -> None:
    env = make(difficulty="easy")
    solved = [play(env, ScriptPolicy("solver"), index)["success"] for index in range(some(6, 4))]
    assert np.mean(solved) >= 0.75


def test_the_solver_beats_every_prior_on_a_large_slide() -> None:
    env = make(difficulty="medium", looks=14)
    scores = {
        name: play(env, ScriptPolicy(name), 2)["verdict"]["strict"]["metrics"]["f1"]
        for name in ("solver", "all_tissue", "prior", "darkest", "palest", "pinkest")
    }
    assert scores.pop("solver") > max(scores.values()) + 0.1


@pytest.mark.parametrize("name", ["flood", "all_tissue", "prior", "darkest", "empty"])
def test_baselines_without_skill_fail(name: str) -> None:
    env = make(difficulty="easy")
    assert sum(play(env, ScriptPolicy(name), index)["success"] for index in range(6)) == 0


def test_doing_nothing_and_anything_fails() -> None:
    env = make(difficulty="easy", max_turns=12)
    for policy in (NopPolicy(), RandomPolicy(0)):
        assert not any(play(env, policy, index)["success"] for index in range(4))


def test_the_solver_survives_odd_observations() -> None:
    """It is sent text and nothing else, and must end whatever it reads."""
    policy = solve("")
    calls = [next(policy)]
    for text in ("Error: no", "", "y=0 1:99/30/10", "(1,0) density 1 area 90/-/0/90 spread 1 od 1"):
        try:
            calls.append(policy.send(text))
        except StopIteration:
            break
    assert [one.name for one in calls][:2] == ["survey_tiles", "submit"]


def test_tools_are_one_seat() -> None:
    env = make(difficulty="easy")
    env.reset(options={"index": 0})
    assert list(env.family.seats(env.episode._instance)) == [AGENT]
    assert len(env.episode.seat().catalog.specs) == 13


def test_the_synthetic_source_needs_no_optional_library() -> None:
    program = (
        "import sys\n"
        "for name in ('scipy', 'PIL', 'openslide', 'nibabel'): sys.modules[name] = None\n"
        "import gymnasium as gym, healthgym\n"
        f"env = gym.make({ID!r}, difficulty='easy', disable_env_checker=True)\n"
        "env.reset(options={'index': 0})\n"
        "for name in ('view_overview', 'survey_tiles', 'tile_statistics', 'show_selection'):\n"
        "    print(env.step(healthgym.call(name))[4].get('error', 'fine'))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["fine"] * 4


def test_real_slides_without_openslide_name_the_extra(tmp_path) -> None:
    (tmp_path / "tumor_076.tif").write_bytes(b"x")
    (tmp_path / "tumor_076.xml").write_text("<a/>")
    program = (
        "import sys\n"
        "sys.modules['openslide'] = None\n"
        "import gymnasium as gym, healthgym\n"
        f"env = gym.make({ID!r}, source={str(tmp_path)!r}, split='test')\n"
        "try: env.reset(options={'index': 0})\n"
        "except healthgym.errors.MissingDependencyError as error: print(error)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert "healthgym[imaging]" in done.stdout


@pytest.mark.slow
@pytest.mark.parametrize(("difficulty", "least"), [("easy", 0.8), ("medium", 0.4), ("hard", 0.3)])
def test_the_solver_over_many_slides(difficulty: str, least: float) -> None:
    env = make(difficulty=difficulty)
    solved = [play(env, ScriptPolicy("solver"), index)["success"] for index in range(10)]
    assert np.mean(solved) >= least
