"""Recordings for a person to read, and as training data with their pictures."""

from __future__ import annotations

import base64
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gymnasium as gym
import httpx
import numpy as np
import pytest

from healthgym.cli import _parser, main
from healthgym.cli.recordings import recordings
from healthgym.cli.serving import LivePage, served
from healthgym.cli.view import Selection
from healthgym.core.images import fingerprint
from healthgym.core.tool import call
from healthgym.core.trajectory import picture_folder
from healthgym.presentation.pictures import inline, png
from healthgym.wrappers import RecordTrajectories
from tests.core.signs import SIGNS_ID
from tests.presentation.pages import bodies, index, pictures

Record = Callable[..., Path]


@pytest.fixture
def record(tmp_path: Path) -> Record:
    """Records episodes that look twice and then say left, which is right for some of them."""

    def write(pictures: bool = True, count: int = 4) -> Path:
        path = tmp_path / "runs.jsonl"
        env = RecordTrajectories(gym.make(SIGNS_ID), path, pictures)
        for number in range(count):
            env.reset(options={"index": number})
            env.step(call("look"))
            env.step(call("halves"))
            env.step(call("submit", side="left"))
        env.close()
        return path

    return write


def test_one_file_holds_text_pictures_and_verdicts(
    record: Record, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("jinja2")
    out = tmp_path / "new" / "page.html"
    path = record()
    assert main(["view", str(path), "--html", str(out)]) == 0
    assert capsys.readouterr().err == f"4 episodes written to {out}\n"
    page = out.read_text(encoding="utf-8")
    assert len(bodies(page)) == 4
    assert index(page)["runs"] == ["runs"]
    assert "The half named is the lit one." in str(bodies(page))
    # Small pictures are embedded as they are; of four episodes with three each, some are the same.
    kept = {base64.b64encode(f.read_bytes()).decode() for f in picture_folder(path).iterdir()}
    assert {url.partition(",")[2] for url in pictures(page)} == kept
    assert "answer" not in bodies(page)[0]


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
    assert pictures(bare.read_text()) == []
    main(["view", str(path), "--html", str(again), "--replay"])
    assert pictures(again.read_text()) == pictures(kept.read_text()) != []
    # Replayed episodes tell the progress after each turn: none before the work is handed in.
    for body in bodies(again.read_text()):
        before, end = body["progress"][:-1], body["progress"][-1]
        assert before == [0.0, 0.0]
        assert end == body["verdicts"]["agent"]["strict"]["progress"]


def test_answers_are_told_where_asked_for(record: Record, tmp_path: Path) -> None:
    out = tmp_path / "page.html"
    assert main(["view", str(record()), "--html", str(out), "--answers"]) == 0
    for body in bodies(out.read_text()):
        side = body["answer"]["reference"]["side"]
        assert body["answer"]["calls"][-1] == ["submit", {"side": side}]
        assert body["verdicts"]["agent"]["strict"]["success"] == (side == "left")


def test_a_folder_is_looked_through_for_recordings(
    record: Record, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder, out = tmp_path / "run", tmp_path / "page.html"
    (folder / "trajectories").mkdir(parents=True)
    text = record(count=2).read_text()
    (folder / "trajectories" / "base.jsonl").write_text(text)
    (folder / "deep.jsonl").write_text(text.splitlines()[0] + "\n")
    (folder / "demonstrations.jsonl").write_text('{"messages": []}\n')
    assert main(["view", str(folder), "--html", str(out)]) == 0
    assert index(out.read_text())["runs"] == ["deep", "base"]
    assert len(bodies(out.read_text())) == 3
    (empty := tmp_path / "empty").mkdir()
    assert main(["view", str(empty), "--html", str(tmp_path / "none.html")]) == 2
    assert main(["view", str(tmp_path / "missing"), "--html", str(tmp_path / "none.html")]) == 2
    assert not (tmp_path / "none.html").exists()
    told = capsys.readouterr().err
    assert "holds no recorded episodes" in told
    assert "There is no recording" in told


def test_a_page_is_served_to_this_machine_and_follows_its_file(
    record: Record, capsys: pytest.CaptureFixture[str]
) -> None:
    path = record(count=1)
    argv = ["view", str(path), "--html", "unused"]
    chosen = Selection(recordings([str(path)]), _parser().parse_args(argv))
    with served(LivePage(chosen.write_page, [path])) as url:
        first = httpx.get(url)
        assert len(bodies(first.text)) == 1
        assert first.headers["content-security-policy"] == "frame-ancestors 'none'"
        with path.open("a") as file:
            file.write(path.read_text())
        assert len(bodies(httpx.get(url).text)) == 2
        assert httpx.head(url).text == ""
        assert httpx.get(f"{url}runs.jsonl").status_code == 404
        for host in ("evil.example", "evil.example:80", "127.0.0.1:1", ""):
            assert httpx.get(url, headers={"Host": host}).status_code == 421
        path.write_text("no recording\n")
        assert httpx.get(url).status_code == 500
    assert main(["view", str(path), "--port", "99999"]) == 2
    assert "Traceback" not in capsys.readouterr().err


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
        assert main(["view", path, "--text", *options]) == 0
        lines = capsys.readouterr().out.splitlines()
        return [line for line in lines if "toy-signs/train/" in line]

    every = listed()
    assert [line.partition(".")[0] for line in every] == ["1", "2", "3", "4"]
    assert listed("--first", "2", "--n", "2") == every[1:3]
    assert listed("--task", "toy-signs/train/2") == [every[2]]
    failed = listed("--failed")
    assert set(failed) < set(every)
    assert failed
    assert main(["view", path, "--text", "--n", "0"]) == 2


def test_the_text_says_that_there_were_pictures(
    record: Record, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["view", str(record(count=1)), "--text"])
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
