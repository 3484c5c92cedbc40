"""Pictures as the engine knows them: what counts as one, and its name."""

from __future__ import annotations

import numpy as np
import pytest

from healthgym.core.images import checked, fingerprint
from healthgym.core.tool import ToolResult
from healthgym.errors import ConfigurationError

NOISE = np.random.default_rng(0).integers(0, 256, (7, 9, 3), np.uint8)


@pytest.mark.parametrize(
    "picture",
    [
        np.zeros((2, 2)),
        np.zeros((2, 2, 4), np.uint8),
        np.zeros((2, 2, 1), np.uint8),
        np.zeros(4, np.uint8),
        np.zeros((0, 5), np.uint8),
        [[0, 255]],
        None,
    ],
)
def test_what_is_no_picture_is_refused(picture: object) -> None:
    for use in (checked, lambda image: ToolResult("", (image,))):
        with pytest.raises(ConfigurationError, match="uint8 array of shape"):
            use(picture)  # type: ignore[arg-type]


def test_a_result_keeps_a_copy() -> None:
    cached = NOISE.copy()
    (shown,) = ToolResult("noise", (cached,)).images
    cached[:] = 0
    assert (shown == NOISE).all()
    shown[:] = 1
    assert not cached.any()


def test_a_fingerprint_is_that_of_shape_and_pixels() -> None:
    assert fingerprint(NOISE) == fingerprint(np.asfortranarray(NOISE)) == fingerprint(NOISE.copy())
    grey = np.zeros((2, 6), np.uint8)
    others = [NOISE, NOISE[::-1], grey, grey.reshape(6, 2), grey.reshape(2, 2, 3), grey + 1]
    assert len({fingerprint(each) for each in others}) == len(others)


def test_a_fingerprint_never_changes() -> None:
    # Recordings name pictures by it.
    assert fingerprint(np.arange(12, dtype=np.uint8).reshape(3, 4)) == (
        "967d8801605d2952eb3eb81fe957e822"
    )
