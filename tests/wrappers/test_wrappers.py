"""What holds for every wrapper: the checker, the spec, pickling, and Gymnasium's own wrappers."""

import pickle
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.envs.registration import EnvSpec
from gymnasium.utils.env_checker import check_env
from gymnasium.wrappers import RecordEpisodeStatistics, RecordVideo

from healthgym.core.tool import call
from healthgym.errors import ConfigurationError
from healthgym.wrappers import (
    ActionMenu,
    Curriculum,
    ImageObservation,
    RecordTrajectories,
    Stage,
    TokenBudget,
)
from tests.core.toys import LEDGER_ID

MENU = [call("list_accounts"), {"name": "draw_accounts"}, '{"name": "submit"}']
WRAPPERS: dict[str, tuple[type[gym.Wrapper[Any, Any, Any, Any]], dict[str, Any]]] = {
    "record": (RecordTrajectories, {}),
    "images": (ImageObservation, {"height": 16, "width": 24}),
    "budget": (TokenBudget, {"limit": 500}),
    "menu": (ActionMenu, {"menu": MENU}),
    "curriculum": (Curriculum, {"stages": [Stage({"kind": "report"}, episodes=2), Stage()]}),
}


def wrap(name: str, tmp_path: Path) -> gym.Env[Any, Any]:
    wrapper, kwargs = WRAPPERS[name]
    if wrapper is RecordTrajectories:
        kwargs = {"path": tmp_path / "runs.jsonl"}
    return wrapper(gym.make(LEDGER_ID), **kwargs)


@pytest.mark.parametrize("name", WRAPPERS)
@pytest.mark.filterwarnings("ignore:.*The environment .* is different from the unwrapped version")
def test_check_env(name: str, tmp_path: Path) -> None:
    env = wrap(name, tmp_path)
    check_env(env, skip_render_check=True)
    env.close()


@pytest.mark.parametrize("name", WRAPPERS)
def test_the_spec_makes_the_same_stack(name: str, tmp_path: Path) -> None:
    env = wrap(name, tmp_path)
    spec = env.spec
    assert spec is not None
    again = gym.make(EnvSpec.from_json(spec.to_json()))
    assert type(again) is type(env)
    assert str(again) == str(env)
    assert again.reset(seed=3)[1]["task_id"] == env.reset(seed=3)[1]["task_id"]
    env.close()
    again.close()


@pytest.mark.parametrize("name", WRAPPERS)
def test_pickle(name: str, tmp_path: Path) -> None:
    env = wrap(name, tmp_path)
    env.reset(seed=3)
    env.step(env.action_space.sample())
    twin = pickle.loads(pickle.dumps(env))
    mine, theirs = env.reset()[0], twin.reset()[0]
    assert str(mine) == str(theirs)
    env.close()


@pytest.mark.parametrize("name", ["record", "budget", "menu"])
def test_other_environments_are_refused(name: str) -> None:
    gym.register("ToyOther-v0", entry_point="tests.wrappers.test_wrappers:Other")
    try:
        wrapper, kwargs = WRAPPERS[name]
        if name == "record":
            kwargs = {"path": "unused"}
        with pytest.raises(ConfigurationError, match="is not a healthgym environment"):
            wrapper(gym.make("ToyOther-v0"), **kwargs)
    finally:
        del gym.registry["ToyOther-v0"]


class Other(gym.Env[int, int]):
    observation_space = gym.spaces.Discrete(2)
    action_space = gym.spaces.Discrete(2)


def test_gymnasium_counts_returns_and_lengths() -> None:
    env = RecordEpisodeStatistics(gym.make(LEDGER_ID, costs={"refused": 0.5}))
    env.reset(seed=0)
    env.step("")
    *_, info = env.step(call("submit", answer="x"))
    assert info["episode"]["r"] == pytest.approx(-0.5)
    assert info["episode"]["l"] == 2


def test_gymnasium_records_videos(tmp_path: Path) -> None:
    pytest.importorskip("moviepy")
    pytest.importorskip("PIL")
    env = RecordVideo(
        gym.make(LEDGER_ID, render_mode="rgb_array"), str(tmp_path / "videos"), disable_logger=True
    )
    env.reset(seed=0)
    env.step(call("draw_accounts"))
    env.step(call("submit", answer="x"))
    env.close()
    (video,) = tmp_path.glob("videos/*.mp4")
    assert video.stat().st_size > 1000


def test_wrappers_stack() -> None:
    env = ImageObservation(TokenBudget(Curriculum(gym.make(LEDGER_ID), [Stage()])), 8, 8)
    env.reset(seed=0)
    observation, _, _, _, info = env.step(call("draw_accounts"))
    assert np.any(observation["image"])
    assert info.keys() >= {"tokens", "stage", "images"}
