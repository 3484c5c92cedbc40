import gymnasium as gym
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from healthgym.core.tool import call
from healthgym.errors import ConfigurationError
from healthgym.wrappers import ImageObservation
from healthgym.wrappers.images import fit
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
