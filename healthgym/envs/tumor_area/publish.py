"""Writing a synthetic task as files, in the layout that the real source reads."""

from __future__ import annotations

from pathlib import Path

from healthgym.core.seeding import Split
from healthgym.envs.tumor_area.generator import TumorAreaGenerator
from healthgym.worlds.slides.foci import STEP, mask
from healthgym.worlds.slides.publish import Compression, write_mask, write_slide
from healthgym.worlds.slides.synthetic import SyntheticSlide


def materialize(
    generator: TumorAreaGenerator,
    split: Split,
    index: int,
    folder: str | Path,
    name: str = "tumor_001",
    compression: Compression = "jpeg",
) -> Path:
    """Write a task's slide and mask: ``images/NAME.tif`` and ``masks/NAME_mask.tif``.

    An environment with ``source=folder`` then shows the same slide; with ``"deflate"`` the same
    pixels.

    Args:
        generator: Draws the task.
        split: Its split.
        index: Its index.
        folder: Where to; made if it is not there.
        name: Name of the slide.
        compression: ``"deflate"`` keeps every pixel, ``"jpeg"`` is smaller.

    Returns:
        The slide's file.
    """
    scene, _ = generator.scene(split, index)
    images, masks = Path(folder) / "images", Path(folder) / "masks"
    images.mkdir(parents=True, exist_ok=True)
    masks.mkdir(parents=True, exist_ok=True)
    path = images / f"{name}.tif"
    write_slide(path, SyntheticSlide(scene), compression)
    write_mask(masks / f"{name}_mask.tif", mask(scene.tumor).values, STEP)
    return path
