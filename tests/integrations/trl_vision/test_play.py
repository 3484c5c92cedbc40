"""Models and policies play with pictures, and see those of their own episode."""

from __future__ import annotations

from typing import Any

import pytest

from healthgym.core.seeding import Split
from healthgym.errors import ConfigurationError
from healthgym.integrations.trl import chat
from healthgym.integrations.trl.rollout import Sampling, play
from tests.core.signs import SIGNS_ID
from tests.integrations.trl_vision.replies import ASK, HALVES, LEFT, LOOK, Scripted, reply, submit

pytest.importorskip("datasets")
pytest.importorskip("trl")
pytest.importorskip("torch")
pytest.importorskip("PIL")

from healthgym.integrations.trl.policy import ModelPolicy
from healthgym.integrations.trl.vision import PictureCollator, picture_dataset
from healthgym.policies.evaluation import evaluate
from tests.integrations.trl_vision import eyes
from tests.integrations.trl_vision.eyes import QUIET

pytestmark = QUIET


def test_play_needs_a_processor_to_show_pictures(env: Any, processor: Any) -> None:
    with pytest.raises(ConfigurationError, match="processor"):
        play(None, processor.tokenizer, env, [(Split.TEST, 0)], Sampling(images=True))


@pytest.mark.parametrize("images", [True, False])
def test_an_untrained_model_plays_to_the_end(env: Any, processor: Any, images: bool) -> None:
    tasks = [(Split.TEST, index) for index in range(3)]
    sampling = Sampling(temperature=1.0, max_new_tokens=4, batch=2, images=images)
    assert len(play(eyes.model(processor).eval(), processor, env, tasks, sampling)) == 3


def test_episodes_with_and_without_pictures_are_played_side_by_side(
    env: Any, processor: Any
) -> None:
    """The next reply depends on the pictures of its own episode only, not on its neighbours'."""
    from healthgym.integrations.trl import rollout

    model = eyes.model(processor).eval()
    sampling = Sampling(images=True, max_new_tokens=6)

    def slot(index: int, *said: str) -> Any:
        made = rollout._seat(processor, env.open_episode("test", index), "")
        for text in said:
            rollout._answer(processor, made, reply(processor, text), sampling)
        return made

    seats = [slot(0, LOOK), slot(1, ASK), slot(2, HALVES), slot(3)]
    assert [len(seat.images) for seat in seats] == [1, 0, 2, 0]
    together = rollout.generate(model, processor, seats, sampling)
    assert together == [rollout.generate(model, processor, [seat], sampling)[0] for seat in seats]
    assert chat.reads_pictures(processor)


def test_a_policy_carries_the_same_conversation_on(
    processor: Any, demos: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    (row,) = PictureCollator(processor)(list(picture_dataset(demos[:1])))["input_ids"].tolist()
    says = Scripted(processor, "\n" + LOOK, "\n" + submit(demos[0]))
    monkeypatch.setattr("healthgym.integrations.trl.policy.generate", says)
    policy = ModelPolicy(None, processor, Sampling(images=True))
    scored = evaluate(SIGNS_ID, policy, episodes=1, split="train")
    assert scored.success is not None
    assert scored.success.estimate == 1.0
    assert row[: len(says.ids)] == says.ids
    assert len(says.images) == 1
    assert policy.usage.requests == 2


def test_a_policy_hears_what_the_environment_says_to_anything(
    processor: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    says = Scripted(processor, "Hm.", HALVES + "\n" + ASK, LEFT)
    monkeypatch.setattr("healthgym.integrations.trl.policy.generate", says)
    policy = ModelPolicy(None, processor, Sampling(images=True), system="Be brief.")
    evaluate(SIGNS_ID, policy, episodes=1)
    text = processor.tokenizer.decode(says.ids)
    assert "system\nBe brief." in text
    assert "<|im_start|>user\nError: No tool call found" in text
    assert text.count("<tool_response>\n") == 2
    assert text.count("<|vision_start|>") == len(says.images) == 2
    assert text.index("(see the result of the last call)") < text.index("[halves]")


def test_a_policy_falls_silent_where_the_conversation_would_be_too_long(processor: Any) -> None:
    policy = ModelPolicy(None, processor, Sampling(max_length=-1))
    scored = evaluate(SIGNS_ID, policy, episodes=1)
    assert scored.results[0].refused == 4
    assert policy.usage.requests == 0
    with pytest.raises(ConfigurationError, match="processor"):
        ModelPolicy(None, processor.tokenizer, Sampling(images=True))
