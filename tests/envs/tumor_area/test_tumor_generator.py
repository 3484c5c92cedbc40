"""Tasks: what the seed draws, that splits are apart, and that only pixels tell the answer."""

from dataclasses import replace

import numpy as np
import pytest

from healthgym.core.seeding import Split
from healthgym.envs.tumor_area.family import TumorAreaFamily
from healthgym.envs.tumor_area.generator import TumorAreaGenerator, canonical_slides
from healthgym.envs.tumor_area.task import PRESETS
from healthgym.errors import ConfigurationError
from healthgym.worlds.slides.grid import TileGrid

EASY = TumorAreaGenerator(PRESETS["easy"])
MEDIUM = TumorAreaGenerator(PRESETS["medium"])


def drawn(generator, count: int, split: Split = Split.TRAIN):
    return [generator.scene(split, index) for index in range(count)]


@pytest.fixture(scope="module")
def easy():
    """Scenes of 200 easy tasks, with their tumour tiles as the generator's gold."""
    return [EASY.generate(Split.TRAIN, index) for index in range(200)]


@pytest.mark.parametrize("difficulty", PRESETS)
def test_numbers_of_tumour_tiles(difficulty: str) -> None:
    generator = TumorAreaGenerator(PRESETS[difficulty])
    low, high = generator.config.recipe.tiles
    for index in range(4):
        instance = generator.generate(Split.VALIDATION, index)
        grid = TileGrid(instance.start.slide.width, instance.start.slide.height)
        assert low <= len(instance.reference.tiles) <= high
        assert all(tile in grid for tile in instance.reference.tiles)
        assert set(instance.reference.tiles) <= set(instance.reference.areas)


def test_splits_and_indices_draw_different_slides() -> None:
    hashes = {
        EASY.generate(split, index).start.slide.content_hash()
        for split in Split
        for index in range(5)
    }
    assert len(hashes) == 15


def test_the_same_task_twice() -> None:
    one, two = EASY.scene(Split.TEST, 5), EASY.scene(Split.TEST, 5)
    assert one[0].content_hash() == two[0].content_hash()
    assert one[1] == two[1]


@pytest.mark.parametrize("index", range(10))
def test_canonical_slides_have_the_published_counts(index: int) -> None:
    generator = TumorAreaGenerator(PRESETS["medium"], "tumor-area-canonical", True)
    published = (163, 141, 87, 66, 65, 55, 34, 29, 24, 21)
    reach = (
        (25, 16), (22, 16), (19, 23), (21, 46), (20, 43),
        (20, 40), (38, 6), (12, 45), (43, 11), (15, 47),
    )  # fmt: skip
    instance = generator.generate(Split.TEST, index)
    assert len(instance.reference.tiles) == published[index] == canonical_slides()[index][0]
    grid = TileGrid(instance.start.slide.width, instance.start.slide.height)
    assert reach[index] in grid
    assert abs(grid.columns - reach[index][0]) <= 4
    assert abs(grid.rows - reach[index][1]) <= 4


def test_the_canonical_test_split_has_ten() -> None:
    generator = TumorAreaGenerator(PRESETS["medium"], "tumor-area-canonical", True)
    assert generator.size(Split.TEST) == 10
    assert generator.size(Split.TRAIN) > 10**6
    with pytest.raises(ConfigurationError, match="has 10 tasks"):
        generator.generate(Split.TEST, 10)


@pytest.mark.parametrize("looks", [None, 3])
def test_weighted_difficulties_keep_their_tasks_and_take_the_looks(looks: int | None) -> None:
    tiny = replace(EASY.config, recipe=replace(EASY.config.recipe, tiles=(2, 3)))
    mixed = TumorAreaFamily({"easy": 1, "medium": 1}, looks=looks).generator
    drawn = {name: TumorAreaFamily(name, looks=looks).generator for name in ("easy", "medium")}
    kinds = set()
    for index in range(6):
        instance = mixed.generate(Split.TRAIN, index)
        kind = instance.task.kind
        kinds.add(kind)
        assert instance.task == drawn[kind].generate(Split.TRAIN, index).task
        assert instance.start.looks == (looks or PRESETS[kind].looks)
    assert kinds == {"easy", "medium"}
    assert TumorAreaFamily(tiny).generator.generate(Split.TRAIN, 0).task.kind == "slide"


def test_size_and_place_do_not_tell(easy) -> None:
    """Neither the number of tumour tiles nor where they lie follows from what is shown first."""
    sizes, counts, across, down = [], [], [], []
    for instance in easy:
        slide = instance.start.slide
        grid = TileGrid(slide.width, slide.height)
        tiles = np.array(instance.reference.tiles)
        sizes.append(slide.width * slide.height)
        counts.append(len(tiles))
        across.append((tiles[:, 0].mean() + 0.5) / grid.columns)
        down.append((tiles[:, 1].mean() + 0.5) / grid.rows)
    assert abs(np.corrcoef(sizes, counts)[0, 1]) < 0.25
    assert abs(np.corrcoef(range(len(counts)), counts)[0, 1]) < 0.25
    for places in (across, down):
        assert 0.42 < np.mean(places) < 0.58
        assert np.std(places) > 0.08


def test_the_likeliest_places_of_training_slides_fail(easy) -> None:
    """A prior fitted on 200 tasks, by place relative to the slide, played on the other split."""
    heat = np.zeros((8, 8))
    for instance in easy:
        grid = TileGrid(instance.start.slide.width, instance.start.slide.height)
        for x, y in instance.reference.tiles:
            heat[int(8 * (y + 0.5) / grid.rows), int(8 * (x + 0.5) / grid.columns)] += 1
    count = round(np.mean([len(instance.reference.tiles) for instance in easy]))
    solved, scores = 0, []
    for index in range(100):
        instance = EASY.generate(Split.TEST, index)
        grid = TileGrid(instance.start.slide.width, instance.start.slide.height)
        tiles = sorted(
            grid.tiles(),
            key=lambda t: (
                -heat[int(8 * (t[1] + 0.5) / grid.rows), int(8 * (t[0] + 0.5) / grid.columns)]
            ),
        )[:count]
        hits = len(set(tiles) & set(instance.reference.tiles))
        scores.append(2 * hits / (len(tiles) + len(instance.reference.tiles)))
        solved += scores[-1] >= 0.9
    assert solved <= 5
    assert np.mean(scores) < 0.6


def test_counts_are_spread_over_their_range() -> None:
    counts = [len([1 for a, b in areas.values() if a / b >= 0.2]) for _, areas in drawn(MEDIUM, 30)]
    assert min(counts) < 40
    assert max(counts) > 90


def test_no_room_is_a_configuration_error() -> None:
    recipe = replace(EASY.config.recipe, tiles=(60, 70))
    with pytest.raises(ConfigurationError, match="has room for 60 to 70"):
        TumorAreaGenerator(replace(EASY.config, recipe=recipe)).generate(Split.TRAIN, 0)


def test_the_instruction_names_no_answer(easy) -> None:
    texts = {instance.task.instruction for instance in easy}
    assert len(texts) == 1
    assert all(set(instance.task.metadata) == {"looks"} for instance in easy)
