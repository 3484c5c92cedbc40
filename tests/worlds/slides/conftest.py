import numpy as np
import pytest

from healthgym.worlds.slides.compose import Recipe, draw_scene
from healthgym.worlds.slides.scene import Scene

#: A slide of some 5 x 5 mm with every kind of tissue and artefact.
SMALL = Recipe(
    columns=(5, 6),
    rows=(5, 6),
    tissue=(11, 14),
    nodes=(1, 2),
    tiles=(3, 6),
    contrast=0.5,
    mimics=2,
    mimic_tiles=(2, 3),
    follicles=(0.6, 0.9),
    artefacts=2,
)


@pytest.fixture(scope="session")
def scene() -> Scene:
    return draw_scene(np.random.default_rng(7), SMALL)


@pytest.fixture(scope="session")
def scenes() -> list[Scene]:
    return [draw_scene(np.random.default_rng(seed), SMALL) for seed in range(6)]
