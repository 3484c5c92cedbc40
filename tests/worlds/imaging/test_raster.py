"""Grey levels, sizes, sheets, marks and files."""

from pathlib import Path

import numpy as np
import pytest

from healthgym.errors import DamagedDataError, MissingDataError
from healthgym.worlds.imaging import raster

RAMP = np.arange(64, dtype=np.uint8).reshape(8, 8)


def test_display_is_linear_and_clips() -> None:
    shown = raster.display(np.array([-2000.0, -1000.0, -500.0, 0.0, 99.0]), -1000, 0)
    assert shown.tolist() == [0, 0, 128, 255, 255]
    assert raster.display(np.array([-1000.0, 0.0]), 0, -1000).tolist() == [255, 0]


def test_shrinking_takes_means() -> None:
    small = raster.resize(RAMP.astype(np.float32), 4, 2)
    np.testing.assert_allclose(small, RAMP.reshape(4, 2, 2, 4).mean((1, 3)), rtol=1e-6)
    uneven = raster.resize(RAMP.astype(np.float32), 3, 3)
    assert uneven.mean() == pytest.approx(RAMP.mean(), rel=1e-5)


def test_enlarging_is_linear_and_keeps_the_range() -> None:
    large = raster.resize(np.array([[0, 100]], np.uint8), 2, 4)
    assert large.tolist() == [[0, 25, 75, 100]] * 2
    assert raster.resize(np.full((1, 1, 3), 7, np.uint8), 5, 4).tolist() == [[[7] * 3] * 4] * 5


def test_boxes_are_cut_to_the_picture() -> None:
    assert raster.clip_box((-5, 2.4, 100, 3), 8, 8) == (0, 2, 8, 3)
    assert raster.clip_box((9, 9, 9, 9), 8, 8) == (7, 7, 8, 8)


def test_a_sheet_holds_every_picture() -> None:
    sheet = raster.contact_sheet([RAMP, RAMP + 100, RAMP[:3]], 2)
    np.testing.assert_array_equal(sheet[4:12, 4:12, 0], RAMP)
    np.testing.assert_array_equal(sheet[4:12, 16:24, 2], RAMP + 100)
    np.testing.assert_array_equal(sheet[16:19, 4:12, 1], RAMP[:3])
    with pytest.raises(ValueError, match="at least one"):
        raster.contact_sheet([], 2)


def test_labels_are_drawn_above_the_pictures() -> None:
    pytest.importorskip("PIL")
    sheet = raster.contact_sheet([RAMP, RAMP], 2, ["a", "b"])
    plain = raster.contact_sheet([RAMP, RAMP], 2)
    assert sheet.shape[0] > plain.shape[0]
    assert (sheet[:18] == (255, 230, 120)).all(axis=2).any() or sheet[:18].max() > 100
    with pytest.raises(ValueError, match="shorter"):
        raster.contact_sheet([RAMP, RAMP], 2, ["a"])


def test_marks_leave_the_picture_alone() -> None:
    before = RAMP.copy()
    lines = raster.draw_lines(RAMP, [2, 99], [5], (1, 2, 3))
    assert (lines[2] == (1, 2, 3)).all()
    assert (lines[:, 5] == (1, 2, 3)).all()
    box = raster.draw_box(RAMP, (1, 1, 4, 4), (9, 9, 9))
    assert (box[1, 1:4] == 9).all()
    assert (box[2, 2] == RAMP[2, 2]).all()
    np.testing.assert_array_equal(RAMP, before)


def test_files_round_trip(tmp_path: Path) -> None:
    pytest.importorskip("PIL")
    for image in (RAMP, raster.rgb(RAMP)):
        raster.save_image(tmp_path / "view.png", image)
        np.testing.assert_array_equal(raster.load_image(tmp_path / "view.png"), image)


def test_odd_files(tmp_path: Path) -> None:
    pil = pytest.importorskip("PIL.Image")
    deep = np.linspace(0, 4000, 64).reshape(8, 8).astype(np.uint16)
    pil.fromarray(deep).save(tmp_path / "deep.png")
    assert raster.load_image(tmp_path / "deep.png").max() == 255
    pil.new("RGBA", (4, 4), (200, 100, 50, 0)).save(tmp_path / "clear.png")
    assert raster.load_image(tmp_path / "clear.png").max() == 0
    pil.new("P", (4, 4)).save(tmp_path / "palette.png")
    assert raster.load_image(tmp_path / "palette.png").shape == (4, 4, 3)


def test_what_is_no_picture_is_one_clear_error(tmp_path: Path) -> None:
    pytest.importorskip("PIL")
    with pytest.raises(MissingDataError, match=r"no picture .*none\.png"):
        raster.load_image(tmp_path / "none.png")
    # Pillow would have Ghostscript run this, whatever it is called.
    eps = "%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n%%EndComments\nshowpage\n%%EOF\n"
    (tmp_path / "eps.png").write_text(eps)
    with pytest.raises(DamagedDataError, match=r"cannot identify"):
        raster.load_image(tmp_path / "eps.png")
    (tmp_path / "text.png").write_text("not a picture")
    with pytest.raises(DamagedDataError, match=r"text\.png cannot be read"):
        raster.load_image(tmp_path / "text.png")
    raster.save_image(tmp_path / "cut.png", np.tile(RAMP, (40, 40)))
    data = (tmp_path / "cut.png").read_bytes()
    (tmp_path / "cut.png").write_bytes(data[: len(data) // 2])
    with pytest.raises(DamagedDataError, match=r"cut\.png cannot be read"):
        raster.load_image(tmp_path / "cut.png")
