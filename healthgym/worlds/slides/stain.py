"""Haematoxylin and eosin: optical densities of stains, and how to take a colour apart again.

Light falls off exponentially with the amount of stain (Beer-Lambert). Ruifrok and Johnston
(Anal Quant Cytol Histol 2001;23:291-299) published the vectors of the two stains and how to
deconvolve a colour into them; measurements use their vectors, while slides are rendered with
vectors that differ a little from one to the next, as batches of stain do.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]
Vector = tuple[float, float, float]

#: Ruifrok and Johnston: optical density in red, green and blue of a unit of stain.
HAEMATOXYLIN: Vector = (0.650, 0.704, 0.286)
EOSIN: Vector = (0.072, 0.990, 0.105)
#: What is left over: orthogonal to both, as usual.
_RESIDUAL = np.cross(HAEMATOXYLIN, EOSIN)
_UNMIX = np.linalg.inv(
    np.array([HAEMATOXYLIN, EOSIN, _RESIDUAL / np.linalg.norm(_RESIDUAL)])
).astype(np.float32)
#: Optical density (base 10) of each grey level, of light that passes unhindered at 255.
_DENSITY = -np.log10(np.maximum(np.arange(256), 1) / 255.0).astype(np.float32)


@dataclass(frozen=True, slots=True)
class Stain:
    """How one slide was stained and scanned.

    Attributes:
        haematoxylin: Optical density (base e) in red, green and blue of a unit of haematoxylin.
        eosin: Likewise of eosin.
        glass: Light that passes where there is no tissue, in [0, 1].
        drift: Relative change of the amount of stain from the slide's left upper to its right
            lower corner.
    """

    haematoxylin: Vector = (0.58, 0.76, 0.33)
    eosin: Vector = (0.12, 0.86, 0.46)
    glass: Vector = (0.955, 0.95, 0.96)
    drift: float = 0.0


def deconvolve(image: NDArray[np.uint8]) -> tuple[Floats, Floats]:
    """Return the amounts of haematoxylin and eosin of each pixel.

    Args:
        image: Shape (h, w, 3), uint8.

    Returns:
        Two arrays of shape (h, w), optical density (base 10) along the published vectors; below 0
        where a colour is none that the stains can give.
    """
    # The unmixing is linear, so it is a sum of three tables of 256 entries.
    red, green, blue = image[..., 0], image[..., 1], image[..., 2]
    tables = _DENSITY[None, :, None] * _UNMIX[:, None, :2]
    haematoxylin = tables[0, :, 0][red] + tables[1, :, 0][green] + tables[2, :, 0][blue]
    eosin = tables[0, :, 1][red] + tables[1, :, 1][green] + tables[2, :, 1][blue]
    return haematoxylin, eosin
