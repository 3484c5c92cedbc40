"""Pictures are handed over where they are asked for, whole, and to whoever shows them."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from healthgym.core.seeding import Split
from healthgym.core.trajectory import TrajectoryWriter
from healthgym.errors import ConfigurationError
from healthgym.integrations.trl import demonstrations, environment_class, trl_spec
from tests.core.signs import SIGNS_ID

pytest.importorskip("datasets")
pytest.importorskip("trl")
torch = pytest.importorskip("torch")
pytest.importorskip("PIL")

from healthgym.integrations.trl.folder import RunFolder  # noqa: E402
from healthgym.integrations.trl.vision import PictureCollator, picture_dataset  # noqa: E402
from tests.integrations.trl_vision.eyes import QUIET  # noqa: E402

pytestmark = QUIET


def test_pictures_are_handed_over_only_where_asked_for(env: Any) -> None:
    blind, seeing = (environment_class(env, images=images)() for images in (False, True))
    for slot in (blind, seeing):
        slot.reset(split="train", index=0)
    assert blind.look() == "The sign, 32 x 24 pixels."
    image, text = seeing.look()
    assert text == {"type": "text", "text": blind._episode.turns[0].observation}
    picture = env.family.generator.generate(Split.TRAIN, 0).start
    assert image["image"].mode == "RGB"
    assert (np.asarray(image["image"]) == picture[:, :, None]).all()
    assert [block["type"] for block in seeing.halves()] == ["image", "image", "text"]
    assert seeing.ask().startswith("I have not seen it.")


def test_pictures_are_bounded(env: Any) -> None:
    slot = environment_class(env, images=True, max_image_side=16)()
    slot.reset(split="train", index=0)
    assert slot.look()[0]["image"].size == (16, 12)
    with pytest.raises(ConfigurationError, match="max_image_side"):
        environment_class(env, images=True, max_image_side=0)


def test_the_spec_passes_pictures_on() -> None:
    factory = trl_spec(SIGNS_ID, size=2, images=True, max_image_side=16).environment_factory
    slot = factory()  # type: ignore[operator]
    slot.reset(split="train", index=0)
    assert slot.look()[0]["image"].size == (16, 12)


def test_demonstrations_differ_in_pictures_only(env: Any, demos: list[Any]) -> None:
    for plain, seen in zip(demonstrations(env, size=8), demos, strict=True):
        assert "image" not in json.dumps(plain.messages)
        for told, message in zip(plain.messages, seen.messages, strict=True):
            if isinstance(message["content"], list):
                *images, text = message["content"]
                assert {image["type"] for image in images} == {"image"}
                message = {**message, "content": text["text"]}
            assert message == told


def test_a_data_set_gives_every_pixel_back_and_no_empty_image(demos: list[Any]) -> None:
    rows = picture_dataset(demos)
    assert len(rows) == len(demos)
    for row, demo in zip(rows, demos, strict=True):
        assert row["images"] == []
        assert row["tools"] == demo.tools
        for message, told in zip(row["messages"], demo.messages, strict=True):
            if isinstance(told["content"], list):
                image, text = message["content"]
                assert np.array_equal(image["image"], told["content"][0]["image"])
                assert "image" not in text
            else:
                assert message == told


def test_rows_of_the_command_line_make_a_data_set_too(demos: list[Any], processor: Any) -> None:
    from healthgym.cli.records import _picture_url

    written = [json.loads(json.dumps(demo.row(), default=_picture_url)) for demo in demos]
    collate = PictureCollator(processor)
    read, made = (collate(list(picture_dataset(rows))) for rows in (written, demos))
    assert read.keys() == made.keys()
    assert all(torch.equal(read[name], made[name]) for name in made)


def test_a_report_shows_the_pictures_of_its_episodes(env: Any, tmp_path: Path) -> None:
    from healthgym.integrations.trl.report import _pictures

    env.reset(options={"index": 0})
    for action in ("look", "halves", "submit"):
        env.step({"name": action, "arguments": {"side": "left"} if action == "submit" else {}})
    run = env.trajectory()
    shown = [name for turn in run.turns for name in turn.pictures]
    assert len(shown) == 3
    for number, (kept, found) in enumerate(
        ((run, True), (replace(run, env_id="Nowhere-v0"), False))  # its episodes cannot be played
    ):
        folder = RunFolder(tmp_path / str(number))
        with TrajectoryWriter(folder.folder("trajectories") / "grpo.jsonl") as writer:
            writer.write(kept)
        finder = _pictures(folder)
        assert [bool(finder(name)) for name in shown] == [found] * 3
