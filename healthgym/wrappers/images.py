"""Pictures as observations."""

from __future__ import annotations

from typing import Any, SupportsFloat

import gymnasium as gym
import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from healthgym.errors import ConfigurationError


class ImageObservation(gym.Wrapper[Any, Any, Any, Any], gym.utils.RecordConstructorArgs):
    """Observes ``{"text": ..., "image": ...}``: the picture that came with the text, or black.

    Pictures keep their proportions: they are made smaller or larger to fit, by nearest neighbour,
    and padded with black to the right and below. All pictures of a step, in full size, stay in
    ``info["images"]``.

    Args:
        env: An environment with text observations and pictures in ``info["images"]``.
        height: Height of the image, in pixels.
        width: Width of the image, in pixels.
    """

    def __init__(self, env: gym.Env[Any, Any], height: int = 224, width: int = 224) -> None:
        gym.utils.RecordConstructorArgs.__init__(self, height=height, width=width)
        gym.Wrapper.__init__(self, env)
        if height < 1 or width < 1:
            raise ConfigurationError(f"An image of {height} x {width} pixels has no content.")
        self._shape = (height, width)
        image = spaces.Box(0, 255, (height, width, 3), np.uint8)
        self.observation_space = spaces.Dict({"text": env.observation_space, "image": image})

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Reset, and observe the first text with its picture."""
        text, info = self.env.reset(seed=seed, options=options)
        return self._observe(text, info), info

    def step(self, action: Any) -> tuple[Any, SupportsFloat, bool, bool, dict[str, Any]]:
        """Step, and observe the text with the first of its pictures."""
        text, reward, terminated, truncated, info = self.env.step(action)
        return self._observe(text, info), reward, terminated, truncated, info

    def _observe(self, text: Any, info: dict[str, Any]) -> dict[str, Any]:
        images = info.get("images", ())
        image = fit(images[0], *self._shape) if images else np.zeros((*self._shape, 3), np.uint8)
        return {"text": text, "image": image}


def fit(image: NDArray[np.uint8], height: int, width: int) -> NDArray[np.uint8]:
    """Scale a picture to fit into a frame and pad it with black.

    Args:
        image: Shape (h, w) or (h, w, 3), uint8.
        height: Height of the frame, in pixels.
        width: Width of the frame, in pixels.

    Returns:
        Shape (height, width, 3), uint8.
    """
    frame = np.zeros((height, width, 3), np.uint8)
    if image.size == 0:
        return frame
    colour = image if image.ndim == 3 else np.repeat(image[:, :, None], 3, axis=2)
    scale = min(height / colour.shape[0], width / colour.shape[1])
    rows = max(round(colour.shape[0] * scale), 1)
    columns = max(round(colour.shape[1] * scale), 1)
    # The middle of each pixel of the frame, looked up in the picture.
    y = ((np.arange(rows) + 0.5) * colour.shape[0] / rows).astype(int)
    x = ((np.arange(columns) + 0.5) * colour.shape[1] / columns).astype(int)
    frame[:rows, :columns] = colour[y[:, None], x]
    return frame
