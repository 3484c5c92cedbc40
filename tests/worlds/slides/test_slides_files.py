"""Slides and masks as files: written, read back, refused."""

import gzip
import struct
from pathlib import Path

import numpy as np
import pytest

from healthgym.errors import DamagedDataError, MissingDataError
from healthgym.worlds.imaging.raster import resize
from healthgym.worlds.slides import foci
from healthgym.worlds.slides.files import FileSlide, draw_mask, open_mask, read_asap
from healthgym.worlds.slides.grid import ArrayPage, gold_tiles, tumor_areas
from healthgym.worlds.slides.publish import write_mask, write_slide
from healthgym.worlds.slides.sampling import tile_statistics
from healthgym.worlds.slides.source import view
from healthgym.worlds.slides.synthetic import SyntheticSlide
from tests.sized import first_ones

XML = """<?xml version="1.0"?>
<ASAP_Annotations><Annotations>{}</Annotations></ASAP_Annotations>"""
ONE = """<Annotation Name="a" Type="Polygon" PartOfGroup="{}" Color="#F4FA58"><Coordinates>{}
</Coordinates></Annotation>"""


def polygon(group: str, points: list[tuple[float, float]]) -> str:
    corners = "".join(
        f'<Coordinate Order="{number}" X="{x}" Y="{y}"/>' for number, (x, y) in enumerate(points)
    )
    return ONE.format(group, corners)


def square(left: float, top: float, side: float) -> list[tuple[float, float]]:
    return [(left, top), (left + side, top), (left + side, top + side), (left, top + side)]


class Corner:
    """The upper left of a synthetic slide, small enough to be written in a second."""

    def __init__(self, slide: SyntheticSlide, side: int = 2048) -> None:
        self.width = self.height = side
        self.mpp, self.downsamples, self.key = 0.25, (1.0, 2.0, 4.0), "corner"
        self._slide = slide

    def read(self, level: int, x: int, y: int, width: int, height: int) -> np.ndarray:
        away = 8192 // 2**level
        return self._slide.read(level, x + away, y + away, width, height)


@pytest.fixture(scope="module")
def written(scene, tmp_path_factory) -> tuple[Corner, Path]:
    pytest.importorskip("openslide")
    path = tmp_path_factory.mktemp("slides") / "slide.tif"
    corner = Corner(SyntheticSlide(scene))
    write_slide(path, corner, "deflate")
    return corner, path


def test_openslide_reads_what_was_written(written) -> None:
    corner, path = written
    slide = FileSlide(path)
    assert (slide.width, slide.height) == (2048, 2048)
    assert slide.downsamples == corner.downsamples
    assert slide.mpp == pytest.approx(0.25, rel=1e-3)


@pytest.mark.parametrize("downsample", [1, 2, 3.0, 4, 8])
def test_a_file_shows_the_same_pixels(written, downsample: float) -> None:
    corner, path = written
    slide = FileSlide(path)
    for left, top in ((0, 0), (500, 780), (1900, 1900)):
        there = view(slide, downsample, left, top, 90, 70)
        assert np.array_equal(view(corner, downsample, left, top, 90, 70), there)


class Flat(Corner):
    """A slide without a pyramid, which remembers the largest region that was read of it."""

    most = 0

    def __init__(self, slide: SyntheticSlide, side: int) -> None:
        super().__init__(slide, side)
        self.downsamples, self.key = (1.0,), f"flat {side}"

    def read(self, level: int, x: int, y: int, width: int, height: int) -> np.ndarray:
        self.most = max(self.most, width * height)
        return super().read(level, x, y, width, height)


@pytest.mark.parametrize("downsample", first_ones([12.4, 32]))
def test_a_file_without_a_pyramid_is_read_part_by_part(scene, tmp_path, downsample: float) -> None:
    pytest.importorskip("openslide")
    flat = Flat(SyntheticSlide(scene), 2500)
    write_slide(tmp_path / "flat.tif", flat, "deflate")
    whole = flat.read(0, 0, 0, 2500, 2500)
    flat.most = 0
    width, height = (int(2480 / downsample), int(2480 / downsample))
    shown = view(flat, downsample, 0, 0, width, height)
    assert flat.most <= 1100**2
    assert np.array_equal(
        shown, view(FileSlide(tmp_path / "flat.tif"), downsample, 0, 0, *shown.shape[:2])
    )
    used = int(np.ceil(width * downsample))
    means = resize(whole[:used, :used], height, width)
    off = np.abs(shown.astype(int) - means)
    assert off.max() == 0 if downsample == 32 else off.mean() < 2


def test_a_file_gives_the_same_measurements(written) -> None:
    corner, path = written
    assert tile_statistics(corner, (0, 0)) == tile_statistics(FileSlide(path), (0, 0))


def test_jpeg_is_near(written, tmp_path: Path) -> None:
    corner, _ = written
    write_slide(tmp_path / "j.tif", corner, "jpeg")
    slide = FileSlide(tmp_path / "j.tif")
    there, here = (view(s, 2, 300, 300, 200, 200).astype(float) for s in (slide, corner))
    assert np.abs(there - here).mean() < 4
    assert (tmp_path / "j.tif").stat().st_size < written[1].stat().st_size / 2


def test_a_mask_says_the_same_after_writing(scene, tmp_path: Path) -> None:
    pytest.importorskip("openslide")
    page = foci.mask(scene.tumor)
    write_mask(tmp_path / "m.tif", page.values, foci.STEP)
    again = open_mask(tmp_path / "m.tif", scene.width, scene.height)
    assert again.shape == (scene.height // 16, scene.width // 16)
    here = tumor_areas(page, scene.width, scene.height)
    there = tumor_areas(again, scene.width, scene.height)
    assert gold_tiles(here) == gold_tiles(there)
    factor = (foci.STEP // 16) ** 2
    assert {t: (a * factor, b * factor) for t, (a, b) in here.items()} == there


def test_outlines_are_drawn(tmp_path: Path) -> None:
    pytest.importorskip("PIL")
    path = tmp_path / "a.xml"
    parts = [
        polygon("_0", square(0, 0, 4096)),
        polygon("Tumor", square(8192, 0, 2048)),
        polygon("_2", square(0, 0, 3900)),
        polygon("_1", [(0, 0), (9, 9)]),  # a line has no area
    ]
    path.write_text(XML.format("".join(parts)))
    outlines = read_asap(path)
    assert (len(outlines.tumor), len(outlines.excluded)) == (2, 1)
    areas = tumor_areas(draw_mask(outlines, 16_384, 4096), 16_384, 4096)
    shares = [tumor / all_ for tumor, all_ in areas.values()]
    assert shares == pytest.approx([1 - (3900 / 4096) ** 2, 0, 0.25, 0], abs=0.02)
    assert gold_tiles(areas) == ((2, 0),)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("<ASAP", "cannot be read"),
        ("<!DOCTYPE x><x/>", "document type"),
        (XML.format(polygon("_7", square(0, 0, 9))), "'_7'"),
        (XML.format(polygon("_0", square(0, 0, 9)).replace('X="0"', "")), "cannot be read"),
    ],
)
def test_a_damaged_annotation_is_one_error(tmp_path: Path, text: str, problem: str) -> None:
    (tmp_path / "a.xml").write_text(text)
    with pytest.raises(DamagedDataError, match=problem):
        read_asap(tmp_path / "a.xml")


def test_what_is_no_slide_is_one_error(tmp_path: Path, written) -> None:
    with pytest.raises(MissingDataError):
        FileSlide(tmp_path / "none.tif")
    broken = tmp_path / "broken.tif"
    broken.write_bytes(b"II" + struct.pack("<H", 43) + b"\0" * 40)
    with pytest.raises(DamagedDataError, match="OpenSlide reads"):
        _ = FileSlide(broken).width
    with pytest.raises(MissingDataError):
        open_mask(tmp_path / "none.tif", 10, 10)


def test_a_file_cut_short_is_one_error(tmp_path: Path, written) -> None:
    data = written[1].read_bytes()
    (tmp_path / "cut.tif").write_bytes(data[: len(data) // 2])
    with pytest.raises(DamagedDataError):
        FileSlide(tmp_path / "cut.tif").read(0, 0, 0, 9, 9)


def test_real_outlines_on_a_grid(data_dir: Path, tmp_path: Path) -> None:
    folder = data_dir / "camelyon16-annotations" / "asap_xml_reserialised"
    if not folder.is_dir():
        pytest.skip("needs CAMELYON16 outlines in HEALTHGYM_DATA/camelyon16-annotations")
    pytest.importorskip("PIL")
    target = tmp_path / "tumor_094.xml"
    target.write_bytes(gzip.decompress((folder / "tumor_094.xml.gz").read_bytes()))
    width, height = 97_792, 221_184
    areas = tumor_areas(draw_mask(read_asap(target), width, height), width, height)
    tumor = sum(part for part, _ in areas.values())
    one = max(all_ for _, all_ in areas.values())
    assert tumor / one == pytest.approx(3.74, abs=0.15)  # its area, measured on the polygon
    assert 3 <= len(gold_tiles(areas)) <= 12


def test_a_scanner_file(data_dir: Path) -> None:
    path = data_dir / "pathology-wsi" / "CMU-1-Small-Region.svs"
    if not path.is_file():
        pytest.skip("needs CMU-1-Small-Region.svs in HEALTHGYM_DATA/pathology-wsi")
    pytest.importorskip("openslide")
    slide = FileSlide(path)
    assert (slide.width, slide.height) == (2220, 2967)
    assert slide.mpp == pytest.approx(0.499)
    statistics = tile_statistics(slide, (0, 0))
    assert any(field is not None and field.count > 5 for field in statistics.fields)
    assert statistics.stains.tissue > 0.2


def test_an_array_is_a_page() -> None:
    page = ArrayPage(np.arange(12, dtype=np.uint8).reshape(3, 4))
    assert page.shape == (3, 4)
    assert page.read(1, 0, 3, 2).tolist() == [[1, 2], [5, 6]]
