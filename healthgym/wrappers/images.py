"""Pictures as observations."""

from __future__ import annotations

from typing import Any, Literal

import gymnasium as gym
import numpy as np
from gymnasium import spaces

from healthgym.core.borders import AnyEnv, Begun, Info, JsonDict, Options, Stepped
from healthgym.core.images import Image
from healthgym.errors import ConfigurationError
from healthgym.presentation.pictures import resample


class ImageObservation(gym.Wrapper[Any, Any, Any, Any], gym.utils.RecordConstructorArgs):
    """Observes ``{"text": ..., "image": ...}``: the picture that came with the text, or black.

    Pictures keep their proportions: they are made smaller, by the mean of the area, or larger, by
    nearest neighbour, and padded with black to the right and below. All pictures of a step, in
    full size, stay in ``info["images"]``.

    Args:
        env: An environment with text observations and pictures in ``info["images"]``.
        height: Height of the image, in pixels.
        width: Width of the image, in pixels.
        frames: None observes the first picture of a step. A number observes that many, stacked as
            ``"images"`` of shape (frames, height, width, 3), black where there are fewer, and
            ``"shown"``, how many of them are pictures. ``"all"`` observes as many as there are, a
            ``Sequence``, which vector environments hand on as tuples.
        hold: Whether the last pictures stay in view until a step shows new ones.
    """

    def __init__(
        self,
        env: AnyEnv,
        height: int = 224,
        width: int = 224,
        frames: int | Literal["all"] | None = None,
        hold: bool = False,
    ) -> None:
        gym.utils.RecordConstructorArgs.__init__(
            self, height=height, width=width, frames=frames, hold=hold
        )
        gym.Wrapper.__init__(self, env)
        if height < 1 or width < 1:
            raise ConfigurationError(f"An image of {height} x {width} pixels has no content.")
        if frames not in (None, "all") and not (isinstance(frames, int) and frames >= 1):
            raise ConfigurationError(f"frames is at least 1, 'all' or None, not {frames!r}.")
        self._shape = (height, width)
        self._frames = frames
        self._hold = hold
        self._held: tuple[Image, ...] = ()
        image = spaces.Box(0, 255, (height, width, 3), np.uint8)
        seen: dict[str, spaces.Space[Any]]
        if frames is None:
            seen = {"image": image}
        elif frames == "all":
            seen = {"images": spaces.Sequence(image)}
        else:
            stack = spaces.Box(0, 255, (frames, height, width, 3), np.uint8)
            seen = {"images": stack, "shown": spaces.Discrete(frames + 1)}
        self.observation_space = spaces.Dict({"text": env.observation_space, **seen})

    def reset(self, *, seed: int | None = None, options: Options | None = None) -> Begun:
        """Reset, and observe the first text with its pictures."""
        text, info = self.env.reset(seed=seed, options=options)
        self._held = ()
        return self._observe(text, info), info

    def step(self, action: object) -> Stepped:
        """Step, and observe the text with its pictures."""
        text, reward, terminated, truncated, info = self.env.step(action)
        return self._observe(text, info), reward, terminated, truncated, info

    def _observe(self, text: object, info: Info) -> JsonDict:
        images = tuple(info.get("images", ()))
        if self._hold:
            images = self._held = images or self._held
        if self._frames is None:
            image = fit(images[0], *self._shape) if images else self._black(())
            return {"text": text, "image": image}
        if self._frames == "all":
            return {"text": text, "images": tuple(fit(image, *self._shape) for image in images)}
        stack = self._black((self._frames,))
        for place, image in zip(stack, images, strict=False):
            place[:] = fit(image, *self._shape)
        shown = np.int64(min(len(images), self._frames))
        return {"text": text, "images": stack, "shown": shown}

    def _black(self, leading: tuple[int, ...]) -> Image:
        return np.zeros((*leading, *self._shape, 3), np.uint8)


def fit(image: Image, height: int, width: int) -> Image:
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
    scale = min(height / image.shape[0], width / image.shape[1])
    rows = max(round(image.shape[0] * scale), 1)
    columns = max(round(image.shape[1] * scale), 1)
    if scale < 1:
        scaled = resample(image, rows, columns)
    else:
        # The middle of each pixel of the frame, looked up in the picture.
        y = ((np.arange(rows) + 0.5) * image.shape[0] / rows).astype(int)
        x = ((np.arange(columns) + 0.5) * image.shape[1] / columns).astype(int)
        scaled = image[y[:, None], x]
    frame[:rows, :columns] = scaled if scaled.ndim == 3 else scaled[:, :, None]
    return frame
