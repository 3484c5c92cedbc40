from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from datetime import datetime

import numpy as np
import pytest

from healthgym.worlds.imaging.raster import Image
from healthgym.worlds.radiography.archive import RenderedRadiographs, Study, is_lateral
from healthgym.worlds.radiography.frontal import render_frontal
from healthgym.worlds.radiography.landmarks import find_landmarks
from healthgym.worlds.radiography.lateral import render_lateral
from healthgym.worlds.radiography.measure import measure, zone_densities
from healthgym.worlds.radiography.scene import Build, Scene, Sight, draw_build

SIZE = 400


def scene(seed: int, *sights: Sight, ratio: float = 0.45, breath: float = 0.0) -> Scene:
    build: Build = draw_build(np.random.default_rng(seed))
    return Scene(build, seed, sights, ratio, breath)


def picture(seed: int, *sights: Sight, ratio: float = 0.45, breath: float = 0.0) -> Image:
    return render_frontal(scene(seed, *sights, ratio=ratio, breath=breath), SIZE)


def number(text: str, place: int = 0) -> float:
    import re

    return float(re.findall(r"[-+]?\d+(?:\.\d+)?", text)[place])


@pytest.mark.parametrize("seed", range(4))
def test_landmarks_are_found_where_the_scene_has_them(seed: int) -> None:
    drawn = replace(scene(seed), shift=5.0)
    marks = find_landmarks(render_frontal(drawn, 512))
    assert abs(marks.middle - 205) <= 3
    assert abs(marks.half - drawn.build.half_width) <= 7
    assert abs(marks.apex - drawn.build.apex) <= 9
    assert abs(marks.carina - 141) <= 6


@pytest.mark.parametrize("seed", range(3))
def test_the_heart_is_as_wide_as_the_scene_says(seed: int) -> None:
    # A border lies inside the outline where the heart is thin: the reading is low, never high.
    ratios = (0.44, 0.56, 0.67)
    found = [number(measure(picture(seed, ratio=ratio), "heart")) for ratio in ratios]
    assert found == sorted(found)
    assert min(np.diff(found)) > 0.05
    for reading, ratio in zip(found, ratios, strict=True):
        assert -0.09 < reading - ratio < 0.03


@pytest.mark.parametrize(("side", "place"), [("right", 0), ("left", 1)])
def test_fluid_lifts_the_base_of_its_side(side: str, place: int) -> None:
    clear = number(measure(picture(3), "bases"), place)
    small = number(measure(picture(3, Sight("effusion", side, amount=0.36)), "bases"), place)
    large = number(measure(picture(3, Sight("effusion", side, amount=0.85)), "bases"), place)
    assert clear > small + 8 > large + 20


@pytest.mark.parametrize("side", ["left", "right"])
def test_air_in_the_pleura_has_a_line(side: str) -> None:
    text = measure(picture(4, Sight("pneumothorax", side, amount=0.8)), "pleura")
    strengths = {"right": number(text, 1), "left": number(text, 3)}
    other = "left" if side == "right" else "right"
    assert strengths[side] > 60 > strengths[other]


@pytest.mark.parametrize("kind", ["opacity", "consolidation"])
@pytest.mark.parametrize("zone", ["upper", "mid", "lower"])
def test_filled_lung_is_dense_in_its_zone(kind: str, zone: str) -> None:
    sick = zone_densities(find_landmarks(picture(5, Sight(kind, "right", zone, 0.8))))
    well = zone_densities(find_landmarks(picture(5)))
    gains = {name: sick[name] - well[name] for name in sick}
    assert max(gains, key=lambda name: gains[name]) == (zone, "right")


def test_devices_are_found_at_their_places() -> None:
    for place, highest in (("arch", 0), ("low", 1)):
        text = measure(picture(6, Sight("balloon_pump", place=place)), "lines")
        spots = [number(text, -2), number(text, -1)]
        assert int(np.argmax(spots)) == highest
    for side, highest in (("right", 0), ("left", 1)):
        text = measure(picture(6, Sight("clips", side)), "clips")
        assert int(np.argmax([number(text, 0), number(text, 1)])) == highest
        text = measure(picture(6, Sight("chest_tube", side, count=2)), "tubes")
        assert [number(text, 0), number(text, 1)][highest] == 2


def test_a_deep_breath_is_seen() -> None:
    tall = [number(measure(picture(7, breath=b), "lungs"), -1) for b in (-28.0, 0.0, 28.0)]
    assert tall[0] < 84 < tall[1] < 95 < tall[2]


def test_every_sight_changes_the_picture_on_its_side_only_where_it_is() -> None:
    plain = picture(8).astype(int)
    for kind in ("nodule", "fracture", "subcutaneous_air", "atelectasis", "consolidation"):
        place = "mid" if kind not in ("fracture", "subcutaneous_air") else ""
        left = picture(8, Sight(kind, "left", place, 0.6)).astype(int)
        changed = np.abs(left - plain) > 12
        assert changed[:, SIZE // 2 :].sum() > 40, kind
        assert changed[:, : SIZE // 2 - 10].sum() < 0.1 * changed[:, SIZE // 2 :].sum(), kind


def test_pictures_look_like_radiographs() -> None:
    for image in (picture(9), render_lateral(scene(9), SIZE)):
        assert image.dtype == np.uint8
        assert image.shape == (SIZE, SIZE)
        assert image.min() < 12
        assert image.max() > 200
        assert 0.02 < (image > 245).mean() + (image < 5).mean() < 0.5


def test_rendering_is_a_function_of_the_scene() -> None:
    code = (
        "import numpy as np, zlib\n"
        "from healthgym.worlds.radiography.frontal import render_frontal\n"
        "from healthgym.worlds.radiography.scene import Scene, Sight, draw_build\n"
        "b = draw_build(np.random.default_rng(2))\n"
        "s = Scene(b, 2, (Sight('consolidation', 'left', 'mid', 0.5),))\n"
        "print(zlib.crc32(render_frontal(s, 256).tobytes()))\n"
    )
    runs = {
        subprocess.run(
            [sys.executable, "-c", code], check=True, capture_output=True, text=True,
            env={"PYTHONHASHSEED": seed, "PATH": ""},
        ).stdout
        for seed in ("1", "2")
    }  # fmt: skip
    assert len(runs) == 1


def test_rendered_pictures_are_shared_and_read_only() -> None:
    study = Study("s1", datetime(2120, 1, 1), ("PA", "LATERAL"))
    one = RenderedRadiographs([study], [scene(1)], 256)
    two = RenderedRadiographs([study], [scene(1)], 256)
    assert one.pixels(0, 0) is two.pixels(0, 0)
    assert not one.pixels(0, 0).flags.writeable
    assert one.content_hash() == two.content_hash()
    assert (one.pixels(0, 0) != one.pixels(0, 1)).mean() > 0.5
    assert is_lateral("LL")
    assert not is_lateral("AP")
