"""Pictures as the engine knows them: checked, and named by their content.

A picture is a uint8 array of shape (height, width), grey, or (height, width, 3), red, green, blue.
"""

from __future__ import annotations

import hashlib
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from healthgym.errors import ConfigurationError

Image: TypeAlias = NDArray[np.uint8]


def checked(image: object) -> Image:
    """Return a picture as it is.

    Raises:
        ConfigurationError: If it is no picture.
    """
    array: Image = np.asarray(image)
    colour = array.ndim == 3 and array.shape[2] == 3
    if array.dtype != np.uint8 or not (array.ndim == 2 or colour) or array.size == 0:
        raise ConfigurationError(
            f"A picture is a uint8 array of shape (h, w) or (h, w, 3), not {array.dtype} "
            f"{array.shape}."
        )
    return array


def fingerprint(image: Image) -> str:
    """Return a hex digest of a picture's shape and pixels: 32 characters, fit for a file name."""
    height, width, *channels = image.shape
    digest = hashlib.blake2b(f"{height} {width} {channels}\n".encode(), digest_size=16)
    digest.update(np.ascontiguousarray(image).data)
    return digest.hexdigest()
