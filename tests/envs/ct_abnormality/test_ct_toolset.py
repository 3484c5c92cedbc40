"""The agent's verbs."""

from __future__ import annotations

import json
import re
import sys

import gymnasium as gym
import numpy as np
import pytest

import healthgym  # noqa: F401
from healthgym.core.tool import call
from healthgym.envs.ct_abnormality.resources import LABELS
from healthgym.envs.ct_abnormality.workstation import QUANTITIES
from healthgym.errors import MissingDependencyError
from tests.envs.ct_abnormality.conftest import Reader, do, refused


def test_info_says_where_things_are(reader: Reader) -> None:
    text = do(reader.open(), "volume_info")
    assert re.search(r"160 x 160 pixels, \d+ slices; voxel", text)
    assert "lungs: x -" in text
    assert "Warning" not in text


@pytest.mark.parametrize("plane", ["axial", "coronal", "sagittal"])
def test_slices_come_with_their_text(reader: Reader, plane: str) -> None:
    episode = reader.open()
    outcome = episode.step(call("view_slice", plane=plane, position=10.0, window="bone"))
    image = outcome.images[0]
    assert image.dtype == np.uint8
    assert image.ndim == 2
    assert image.std() > 10
    assert f"{plane} slice" in outcome.observation
    assert "bone window" in outcome.observation
    assert ("right at left" in outcome.observation) == (plane != "sagittal")


def test_a_zoomed_picture_shows_less_of_the_plane(reader: Reader) -> None:
    episode = reader.open()
    wide = do(episode, "view_slice")
    near = do(episode, "view_slice", zoom=4.0, row=-20.0, column=60.0)
    spans = [
        [float(value) for value in re.findall(r"x (-?\d+) to (-?\d+)", text)[0]]
        for text in (wide, near)
    ]
    assert spans[1][1] - spans[1][0] == pytest.approx((spans[0][1] - spans[0][0]) / 4, abs=2)
    assert spans[1][0] < 60 < spans[1][1]
    assert "window 30/200 HU" in do(episode, "view_slice", level=30.0, width=200.0)


def test_slabs_are_ordered(reader: Reader) -> None:
    episode = reader.open()
    shown = {}
    for mode in ("minip", "mean", "mip"):
        outcome = episode.step(call("view_slab", mode=mode, thickness=30.0, window="mediastinal"))
        shown[mode] = outcome.images[0].astype(int)
        assert f"{mode} of" in outcome.observation
    assert (shown["minip"] <= shown["mean"] + 1).all()
    assert (shown["mean"] <= shown["mip"] + 1).all()
    assert shown["mip"].mean() > shown["minip"].mean() + 20


def test_a_sheet_shows_many_slices(reader: Reader) -> None:
    outcome = reader.open().step(call("contact_sheet", first=-60.0, last=60.0, count=6))
    assert not outcome.errors
    assert outcome.images[0].ndim == 3
    assert "6 axial slices from -60 to 60 mm" in outcome.observation


def test_every_measurement_is_one_short_line(reader: Reader) -> None:
    episode = reader.open()
    for quantity in QUANTITIES:
        text = do(episode, "measure", quantity=quantity)
        assert re.match(rf"{quantity}: -?\d", text)
        assert len(text) < 60
        assert "\n" not in text


def test_calls_are_recorded_revised_and_shown(reader: Reader) -> None:
    episode = reader.open()
    first, second = episode.world.items[:2]
    count = len(episode.world.items)
    assert do(episode, "record_call", finding=first.upper(), answer="yes") == (
        f"{first}: yes ({count - 1} open)"
    )
    assert "use revise_call" in refused(episode, "record_call", finding=first, answer="no")
    assert "already" in refused(episode, "revise_call", finding=first, answer="yes")
    assert "use record_call" in refused(episode, "revise_call", finding=second, answer="yes")
    do(episode, "revise_call", finding=first, answer="no")
    assert do(episode, "show_calls").startswith(f"{first}: no\n")
    assert episode.world.lines == (f"{first}: no",)


def test_findings_not_asked_for_cannot_be_called(reader: Reader) -> None:
    episode = reader.open()
    other = next(label for label in LABELS if label not in episode.world.items)
    assert "was not asked for" in refused(episode, "record_call", finding=other, answer="yes")
    assert "was not asked for" in refused(episode, "record_call", finding="Gout", answer="yes")
    assert "there are Medical material" in refused(episode, "show_criteria", finding="Gout")


def test_lines_that_cannot_be_read_are_named(reader: Reader) -> None:
    episode = reader.open()
    label = episode.world.items[0]
    written = do(episode, "write_predictions", text=f"## Calls\n{label}: yes\n{label}: maybe\n?")
    assert written.endswith(f"line 3, 4 ('{label}: maybe')")
    assert "not read" not in do(episode, "write_predictions", text=f"## Calls\n\n{label}: yes")


def test_calls_written_as_json_are_read_and_can_be_revised(reader: Reader) -> None:
    episode = reader.open()
    first, *others = episode.world.items
    text = json.dumps(dict.fromkeys(episode.world.items, "no"))
    written = do(episode, "write_predictions", text=text)
    assert "(all called); the published evaluator reads lines such as 'finding: yes'" in written
    assert written.endswith(f"not {len(episode.world.items)}")
    do(episode, "revise_call", finding=first, answer="yes")
    assert episode.world.lines == (*(f"{label}: no" for label in others), f"{first}: yes")


def test_a_call_may_be_added_to_json(reader: Reader) -> None:
    episode = reader.open()
    first, second = episode.world.items[:2]
    do(episode, "write_predictions", text=json.dumps({first: True}))
    do(episode, "record_call", finding=second, answer="no")
    assert episode.world.lines == (f"{first}: yes", f"{second}: no")


def test_revising_clears_a_contradiction(reader: Reader) -> None:
    episode = reader.open()
    label = episode.world.items[0]
    do(episode, "write_predictions", text=f"{label}: yes\n{label}: no")
    do(episode, "revise_call", finding=label, answer="yes")
    assert episode.world.lines == (f"{label}: yes",)


@pytest.mark.parametrize(
    ("tool", "arguments", "reason"),
    [
        ("view_slice", {"position": 900.0}, "axial planes lie between z="),
        ("view_slice", {"zoom": 0.5}, "zoom lies between"),
        ("view_slice", {"zoom": 2.0, "row": 5000.0}, "y lies between"),
        ("view_slice", {"width": -3.0}, "A window has"),
        ("view_slice", {"width": 1e-320}, "A window has"),
        ("view_slab", {"thickness": 0.0}, "thickness lies"),
        ("view_slab", {"thickness": 61.0}, "thickness lies"),
        ("contact_sheet", {"count": 25}, "count lies"),
        ("contact_sheet", {"first": -5000.0}, "planes lie between"),
        ("region_hu", {"x": 0.0, "y": 0.0, "z": 0.0, "size": 0.0}, "size lies"),
        ("region_hu", {"x": 9000.0, "y": 0.0, "z": 0.0}, "x lies between"),
        (
            "find_components",
            {"low": [0.0, 0.0], "high": [1.0, 1.0, 1.0], "threshold": 0.0},
            "A point is",
        ),
        (
            "find_components",
            {"low": [0.0, 0.0, 0.0], "high": [-5.0, 5.0, 5.0], "threshold": 0.0},
            "above that of low",
        ),
        ("distance", {"start": [], "end": [0.0, 0.0, 0.0]}, "A point is"),
        ("write_predictions", {"text": "x" * 20_001}, "longer than"),
        ("write_predictions", {"text": ""}, "read exactly so"),
    ],
)
def test_mistakes_are_explained(
    reader: Reader, tool: str, arguments: dict[str, object], reason: str
) -> None:
    assert reason in refused(reader.open(), tool, **arguments)


def test_without_scipy_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("scipy", "scipy.ndimage"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(MissingDependencyError, match=r"healthgym\[imaging\]"):
        gym.make("HealthAgent/CtAbnormality-v1")
