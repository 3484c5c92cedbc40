"""Recordings for a person to read, and as training data with their pictures."""

from __future__ import annotations

import base64
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

from healthgym.cli import main
from healthgym.core.images import fingerprint
from healthgym.core.tool import call
from healthgym.core.trajectory import picture_folder
from healthgym.presentation.html import inline
from healthgym.presentation.pictures import png
from healthgym.wrappers import RecordTrajectories
from tests.core.signs import SIGNS_ID

Record = Callable[..., Path]


@pytest.fixture
def record(tmp_path: Path) -> Record:
    """Records episodes that look twice and then say left, which is right for some of them."""

    def write(pictures: bool = True, count: int = 4) -> Path:
        path = tmp_path / "runs.jsonl"
        env = RecordTrajectories(gym.make(SIGNS_ID), path, pictures)
        for index in range(count):
            env.reset(options={"index": index})
            env.step(call("look"))
            env.step(call("halves"))
            env.step(call("submit", side="left"))
        env.close()
        return path

    return write


def test_one_file_holds_text_pictures_and_verdicts(record: Record, tmp_path: Path) -> None:
    out = tmp_path / "new" / "page.html"
    path = record()
    assert main(["view", str(path), "--html", str(out)]) == 0
    page = out.read_text(encoding="utf-8")
    assert page.count("<details") == 4
    assert page.count("<img") == 12
    assert "http" not in page.replace("http-equiv", "")
    assert "The half named is the lit one." in page
    # Small pictures are embedded as they are, in the order they were shown.
    first = next(iter(picture_folder(path).glob("*.png")))
    assert base64.b64encode(first.read_bytes()).decode() in page


def test_pictures_that_were_not_kept_are_missed_or_made_again(
    record: Record, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    kept, bare, again = (tmp_path / name for name in ("kept.html", "bare.html", "again.html"))
    path = record()
    main(["view", str(path), "--html", str(kept)])
    for file in picture_folder(path).iterdir():
        file.unlink()
    main(["view", str(path), "--html", str(bare)])
    assert "12 pictures not at hand (--replay makes them again)" in capsys.readouterr().err
    assert "<img" not in bare.read_text()
    main(["view", str(path), "--html", str(again), "--replay"])
    assert again.read_text() == kept.read_text()


def test_a_recording_that_comes_out_differently_is_told(
    record: Record, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = record(pictures=False, count=1)
    path.write_text(path.read_text().replace("The sign, 32", "The sign, 33"))
    assert main(["view", str(path), "--html", str(tmp_path / "o.html"), "--replay"]) == 0
    assert "no pictures: toy-signs/train/0, turn 1, observation" in capsys.readouterr().err


def test_episodes_can_be_chosen(record: Record, capsys: pytest.CaptureFixture[str]) -> None:
    path = str(record())

    def listed(*options: str) -> list[str]:
        assert main(["view", path, *options]) == 0
        lines = capsys.readouterr().out.splitlines()
        return [line for line in lines if "toy-signs/train/" in line]

    every = listed()
    assert [line.partition(".")[0] for line in every] == ["1", "2", "3", "4"]
    assert listed("--first", "2", "--n", "2") == every[1:3]
    assert listed("--task", "toy-signs/train/2") == [every[2]]
    failed = listed("--failed")
    assert set(failed) < set(every)
    assert failed
    assert main(["view", path, "--n", "0"]) == 2


def test_the_text_says_that_there_were_pictures(
    record: Record, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["view", str(record(count=1))])
    text = capsys.readouterr().out
    assert "The left and the right half.\n(2 pictures)" in text
    assert "=== agent: paper " in text


def test_large_pictures_are_made_smaller() -> None:
    opener = pytest.importorskip("PIL.Image")
    noise = np.random.default_rng(0).integers(0, 256, (300, 500, 3), np.uint8)
    head, _, body = inline(png(noise), 100).partition(",")
    with opener.open(io.BytesIO(base64.b64decode(body))) as opened:
        assert opened.size == (100, 60)
    assert head in ("data:image/png;base64", "data:image/jpeg;base64")
    assert len(body) < 20_000


def test_a_name_that_is_no_fingerprint_reads_no_file(record: Record, tmp_path: Path) -> None:
    (tmp_path / "secret.png").write_bytes(b"secret")
    path = record(count=1)
    data = json.loads(path.read_text())
    data["turns"][0]["pictures"] = ["../secret"]
    path.write_text(json.dumps(data) + "\n")
    assert main(["view", str(path), "--html", str(tmp_path / "page.html")]) == 2


def rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def images(row: dict[str, Any]) -> list[str]:
    return [
        part["image"]
        for message in row["messages"]
        if isinstance(message["content"], list)
        for part in message["content"]
        if part["type"] == "image"
    ]


@pytest.mark.parametrize("source", ["oracle", "kept", "replayed"])
def test_demonstrations_hold_pictures_where_asked_for(
    record: Record, tmp_path: Path, source: str
) -> None:
    pytest.importorskip("PIL")
    out = tmp_path / "demos.jsonl"
    recorded = ["--recorded", str(record(source == "kept"))] if source != "oracle" else []
    command = ["demos", SIGNS_ID, "--n", "4", "--out", str(out), *recorded]
    assert main(command) == 0
    plain = rows(out)
    assert all(isinstance(m["content"], str) for row in plain for m in row["messages"])
    assert main([*command, "--images", "--max-image-side", "16"]) == 0
    seen = rows(out)
    assert len(seen) == len(plain) > 0
    for row, bare in zip(seen, plain, strict=True):
        assert len(images(row)) == (1 if source == "oracle" else 3)
        for message, told in zip(row["messages"], bare["messages"], strict=True):
            content = message["content"]
            text = content[-1]["text"] if isinstance(content, list) else content
            assert text == told["content"]
    from PIL import Image

    body = images(seen[0])[0].partition(",")[2]
    with Image.open(io.BytesIO(base64.b64decode(body))) as opened:
        assert opened.size == (16, 12)


def test_a_fingerprint_is_what_names_a_kept_file(record: Record) -> None:
    from PIL import Image

    for file in picture_folder(record(count=1)).iterdir():
        with Image.open(file) as opened:
            assert fingerprint(np.asarray(opened)) == file.stem
