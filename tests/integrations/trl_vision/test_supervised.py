"""Demonstrations with pictures: what is in a batch, and what is learned from it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from healthgym.core.seeding import Split
from healthgym.errors import ConfigurationError
from healthgym.integrations.trl import demonstrations
from healthgym.integrations.trl.rollout import Sampling, play
from tests.core.signs import SIGNS_ID
from tests.integrations.trl_vision.replies import DONE, LOOK, Scripted, submit

pytest.importorskip("datasets")
pytest.importorskip("trl")
torch = pytest.importorskip("torch")
pytest.importorskip("PIL")

from healthgym.integrations.trl.policy import ModelPolicy  # noqa: E402
from healthgym.integrations.trl.vision import PictureCollator, picture_dataset  # noqa: E402
from healthgym.policies.evaluation import evaluate  # noqa: E402
from tests.integrations.trl_vision import eyes  # noqa: E402
from tests.integrations.trl_vision.eyes import QUIET  # noqa: E402
from tests.integrations.trl_vision.learning import supervise, vision_weights  # noqa: E402

pytestmark = QUIET


def test_a_batch_holds_tools_pictures_and_what_is_learned(demos: list[Any], processor: Any) -> None:
    batch = PictureCollator(processor)(list(picture_dataset(demos[:3])))
    tokenizer = processor.tokenizer
    assert batch["image_grid_thw"].tolist() == [[1, 4, 4]] * 3
    assert batch["pixel_values"].shape == (48, 3 * 2 * eyes.PATCH**2)
    for ids, labels, demo in zip(batch["input_ids"], batch["labels"], demos, strict=False):
        text = tokenizer.decode(ids)
        assert '"name": "halves"' in text
        assert text.count("<|image_pad|>") == 4
        side = json.loads(demo.messages[3]["tool_calls"][0]["function"]["arguments"])["side"]
        learned = tokenizer.decode(labels[labels != -100])
        assert learned.split("<|im_end|>\n") == [
            '\n<tool_call>\n{"name": "look", "arguments": {}}\n</tool_call>',
            f'\n<tool_call>\n{{"name": "submit", "arguments": {{"side": "{side}"}}}}\n</tool_call>',
            "Done.",
            "",
        ]
    with pytest.raises(ConfigurationError):
        PictureCollator(tokenizer)


def test_rows_of_several_lengths_are_padded(env: Any, processor: Any, demos: list[Any]) -> None:
    longer = next(demonstrations(env, size=1, images=True, system="Look at it. " * 9))
    batch = PictureCollator(processor)(list(picture_dataset([demos[0], longer])))
    short, whole = batch["attention_mask"].sum(1).tolist()
    assert short < whole == batch["input_ids"].shape[1]
    assert (batch["labels"][0, short:] == -100).all()
    assert (batch["input_ids"][0, short:] == processor.tokenizer.pad_token_id).all()
    alone = PictureCollator(processor)(list(picture_dataset([demos[0]])))
    for name in ("input_ids", "labels", "mm_token_type_ids"):
        assert torch.equal(batch[name][0, :short], alone[name][0])


def test_training_and_play_see_the_same_tokens(
    env: Any, processor: Any, demos: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is learned, said by a model in play, gives the conversation it was learned from."""
    (row,) = PictureCollator(processor)(list(picture_dataset(demos[:1])))["input_ids"].tolist()
    says = Scripted(processor, "\n" + LOOK, "\n" + submit(demos[0]), DONE)
    monkeypatch.setattr("healthgym.integrations.trl.rollout.generate", says)
    played = play(None, processor, env, [(Split.TRAIN, 0)], Sampling(images=True))
    assert played[0].episode.verdict().success
    # The template ends with a line end that no model writes.
    assert row[: len(says.ids)] == says.ids
    assert processor.tokenizer.decode(row[len(says.ids) :]) == "\n"
    assert [image.size for image in says.images] == [(32, 24)]


def test_a_supervised_step_learns_from_pixels(
    demos: list[Any], processor: Any, tmp_path: Path
) -> None:
    model = eyes.model(processor)
    before = vision_weights(model).clone()
    supervise(model, processor, demos, 1, tmp_path)
    assert (vision_weights(model) != before).float().mean() > 0.5


@pytest.mark.slow
def test_a_model_learns_to_read_signs_from_their_pixels(
    env: Any, processor: Any, tmp_path: Path
) -> None:
    """A minute on one core. Shown black pictures instead, the same model guesses."""
    model = eyes.model(processor)
    supervise(model, processor, list(demonstrations(env, size=256, images=True)), 250, tmp_path)
    tasks = [(Split.TEST, index) for index in range(60)]

    def solved() -> int:
        played = play(model.eval(), processor, env, tasks, Sampling(images=True))
        assert all(item.episode.submitted() for item in played)
        return sum(item.episode.verdict().success for item in played)

    assert solved() >= 57
    scored = evaluate(SIGNS_ID, ModelPolicy(model, processor, Sampling(images=True)), episodes=20)
    assert scored.success is not None
    assert scored.success.estimate >= 0.95
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            "healthgym.integrations.trl.environment.shrink",
            lambda image, side: np.zeros_like(image),
        )
        assert 15 <= solved() <= 45
