import json
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from hypothesis import given
from hypothesis import strategies as st

from healthgym.core.tool import call
from healthgym.errors import ConfigurationError
from healthgym.wrappers import ImageObservation
from healthgym.wrappers.images import fit
from tests.core.signs import SIGNS_ID
from tests.core.toys import LEDGER_ID


def test_the_picture_of_a_step_is_observed_and_black_otherwise() -> None:
    env = ImageObservation(gym.make(LEDGER_ID), 16, 12)
    observation, _ = env.reset(seed=0)
    assert observation in env.observation_space
    assert not observation["image"].any()
    observation, _, _, _, info = env.step(call("draw_accounts"))
    assert observation in env.observation_space
    assert (observation["image"] == (255, 0, 0)).all()  # 8 x 6 fills 16 x 12
    assert info["images"][0].shape == (8, 6, 3)
    observation, *_ = env.step(call("list_accounts"))
    assert not observation["image"].any()


def test_a_frame_needs_pixels() -> None:
    with pytest.raises(ConfigurationError):
        ImageObservation(gym.make(LEDGER_ID), 0, 5)


@pytest.mark.parametrize("frames", [0, -1, "some"])
def test_a_stack_needs_frames(frames: Any) -> None:
    with pytest.raises(ConfigurationError, match="frames"):
        ImageObservation(gym.make(LEDGER_ID), frames=frames)


@pytest.mark.parametrize(("frames", "shown"), [(1, 1), (2, 2), (3, 2)])
def test_the_first_pictures_of_a_step_are_stacked(frames: int, shown: int) -> None:
    env = ImageObservation(gym.make(SIGNS_ID), 24, 16, frames)
    observation, _ = env.reset(seed=0)
    assert observation in env.observation_space
    assert (observation["shown"], observation["images"].any()) == (0, False)
    observation, _, _, _, info = env.step(call("halves"))
    assert observation in env.observation_space
    assert observation["images"].shape == (frames, 24, 16, 3)
    assert observation["shown"] == shown
    for seen, image in zip(observation["images"], info["images"], strict=False):
        assert (seen == (image if image.ndim == 3 else image[:, :, None])).all()
    assert not observation["images"][shown:].any()


def test_all_pictures_can_be_observed() -> None:
    env = ImageObservation(gym.make(SIGNS_ID), 24, 16, "all")
    env.reset(seed=0)
    for name, count in [("halves", 2), ("ask", 0), ("look", 1)]:
        observation, *_ = env.step(call(name))
        assert observation in env.observation_space
        assert len(observation["images"]) == count


def test_a_picture_can_stay_in_view() -> None:
    env = ImageObservation(gym.make(SIGNS_ID), 24, 32, hold=True)
    env.reset(seed=0)
    looked, *_ = env.step(call("look"))
    asked, _, _, _, info = env.step(call("ask"))
    assert (asked["image"] == looked["image"]).all()
    assert asked["image"].any()
    assert "images" not in info
    again, _ = env.reset(seed=0)
    assert not again["image"].any()


@pytest.mark.filterwarnings("ignore:.*is different from the unwrapped version")
@pytest.mark.parametrize("frames", [None, 2, "all"])
def test_check_env(frames: Any) -> None:
    env = ImageObservation(gym.make(SIGNS_ID).unwrapped, 8, 8, frames)
    check_env(env, skip_render_check=True)


@pytest.mark.parametrize("kind", [gym.vector.SyncVectorEnv, gym.vector.AsyncVectorEnv])
@pytest.mark.parametrize("frames", [None, 2, "all"])
def test_vector_environments_hand_pictures_on(kind: Any, frames: Any) -> None:
    named = f"tests.core.signs:{SIGNS_ID}"  # processes that start afresh have to be told
    makers = [lambda: ImageObservation(gym.make(named), 24, 32, frames)] * 2
    shared = {"shared_memory": False} if kind is gym.vector.AsyncVectorEnv else {}
    envs = kind(makers, **shared)
    try:
        envs.reset(seed=[1, 2])
        observations, *_ = envs.step([json.dumps({"name": "look", "arguments": {}})] * 2)
        for place, seed in enumerate([1, 2]):
            alone = ImageObservation(gym.make(SIGNS_ID), 24, 32, frames)
            alone.reset(seed=seed)
            expected, *_ = alone.step(call("look"))
            if frames is None:
                assert (observations["image"][place] == expected["image"]).all()
            elif frames == "all":
                (seen,), (image,) = observations["images"][place], expected["images"]
                assert (seen == image).all()
            else:
                assert (observations["images"][place] == expected["images"]).all()
                assert observations["shown"].tolist() == [1, 1]
    finally:
        envs.close()


def test_a_smaller_picture_keeps_what_is_fine() -> None:
    lines = np.zeros((64, 64), np.uint8)
    lines[::4] = 255
    # Nearest neighbour would show either all of the lines or none.
    assert set(np.unique(fit(lines, 16, 16))) == {64}


@given(*[st.integers(1, 40)] * 4, st.booleans())
def test_fit_keeps_proportions_and_pads(
    rows: int, columns: int, height: int, width: int, grey: bool
) -> None:
    image = np.full((rows, columns) if grey else (rows, columns, 3), 200, np.uint8)
    frame = fit(image, height, width)
    assert frame.shape == (height, width, 3)
    lit = (frame == 200).all(axis=2)
    assert ((frame == 0).all(axis=2) | lit).all()
    shown_rows, shown_columns = int(lit.any(axis=1).sum()), int(lit.any(axis=0).sum())
    assert shown_rows == height or shown_columns == width
    assert lit[:shown_rows, :shown_columns].all()
    assert abs(shown_rows / rows * columns - shown_columns) <= 1 + columns / rows


def test_fit_at_the_same_size_changes_nothing() -> None:
    image = np.random.default_rng(0).integers(0, 256, (7, 9, 3), np.uint8)
    assert (fit(image, 7, 9) == image).all()


def test_fit_doubles_each_pixel() -> None:
    image = np.arange(4, dtype=np.uint8).reshape(2, 2)
    doubled = fit(image, 4, 4)[:, :, 0]
    assert doubled.tolist() == [[0, 0, 1, 1], [0, 0, 1, 1], [2, 2, 3, 3], [2, 2, 3, 3]]


def test_an_empty_picture_is_black() -> None:
    assert not fit(np.zeros((0, 5, 3), np.uint8), 4, 4).any()
