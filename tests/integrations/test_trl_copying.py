"""What a small model repeats before it imitates, when it stops, and how computing is compared."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import pytest

pytest.importorskip("transformers")
torch = pytest.importorskip("torch")

from healthgym.integrations.trl import chat, demonstrations, effort  # noqa: E402
from healthgym.integrations.trl.config import Reinforced  # noqa: E402
from healthgym.integrations.trl.copying import (  # noqa: E402
    Copying,
    Lists,
    learn_to_copy,
    shapes_of,
    words_of,
)
from healthgym.integrations.trl.models import _texts  # noqa: E402
from healthgym.integrations.trl.tiny import (  # noqa: E402
    TinyConfig,
    tiny_model,
    train_tokenizer,
)
from healthgym.registration import make_health_env  # noqa: E402

SHAPE = TinyConfig(hidden=16, layers=1, heads=2, feed_forward=16, vocabulary=500)


@pytest.fixture(scope="module")
def tokenizer(toy_id: str) -> Any:
    return train_tokenizer(_texts(demonstrations(make_health_env(toy_id), "train", 40)), 500)


def test_what_is_repeated_is_what_was_read(tokenizer: Any) -> None:
    lists = Lists(tokenizer, 0, ["one", "two"])
    for read, said in [
        *(lists.tokens() for _ in range(20)),
        *(lists.entries() for _ in range(20)),
    ]:
        text = tokenizer.decode(read)
        assert text.startswith(chat.USER)
        assert text.endswith(chat.ASSISTANT)
        start = len(tokenizer.encode(chat.USER))
        assert read[start : start + len(said) - 1] == said[:-1]
        assert said[-1] == tokenizer.eos_token_id
    kinds = " ".join(tokenizer.decode(lists.entries()[1]) for _ in range(60))
    assert "one" in kinds
    assert any(word.startswith("S") and word[1:].isdigit() for word in kinds.split())


def test_nothing_can_be_guessed_of_a_list_of_tokens(tokenizer: Any) -> None:
    lists = Lists(tokenizer, 1)
    seen = {token for _ in range(300) for token in lists.tokens()[1][:-1]}
    marks = {*tokenizer.all_special_ids, *tokenizer.encode(chat.CALL + chat.CALL_END)}
    assert not seen & marks
    assert len(seen) > 0.99 * (len(tokenizer) - len(marks))


def test_a_lesson_ends_when_the_loss_has_fallen(tokenizer: Any) -> None:
    model = tiny_model(tokenizer, SHAPE, 0)
    told: list[int] = []
    easy = Copying(steps=60, batch=2, loss=100.0)
    copied = learn_to_copy(model, tokenizer, easy, 0, report=lambda step, loss: told.append(step))
    assert copied.steps == (20, 20)
    assert told == list(range(1, 41))
    assert copied.collapsed
    assert copied.warning() == ""
    assert not model.training


def test_who_has_not_learned_to_copy_is_told_of(tokenizer: Any) -> None:
    weights = []
    for _ in range(2):
        model = tiny_model(tokenizer, SHAPE, 0)
        copied = learn_to_copy(model, tokenizer, Copying(steps=5, batch=2), 0)
        assert copied.steps == (5, 0)
        assert not copied.collapsed
        assert "not learned to copy: after 5 steps" in copied.warning()
        weights.append(model.model.embed_tokens.weight.detach().clone())
    assert torch.equal(*weights)


@pytest.mark.slow
def test_the_loss_collapses(tokenizer: Any) -> None:
    model = tiny_model(tokenizer, TinyConfig(), 0)
    copied = learn_to_copy(model, tokenizer, Copying(), 0, words=["one", "two"])
    assert copied.collapsed, copied


def test_words_are_in_order() -> None:
    assert words_of(["b a1 a", "c a"]) == ["a", "b", "c"]


def test_a_level_is_read_alike_in_a_chart_and_in_an_answer(tokenizer: Any) -> None:
    chart, answer = (
        tokenizer.encode(text) for text in ("12:37:00+00:00 MG 1.54 mg/dL", '{"value": [1.54]}')
    )
    level = tokenizer.encode("1.54")
    for read in (chart, answer):
        assert any(read[at : at + len(level)] == level for at in range(len(read)))


def test_reward_costs_what_it_reads_draws_and_learns() -> None:
    rows = [
        {"step": 1, "rollout/tokens": 100.0, "rollout/drawn": 20.0},
        {"step": 5, "validation/success": 0.5},
        {"step": 10, "rollout/tokens": 200.0, "rollout/drawn": 40.0},
    ]
    settings = Reinforced(steps=10, batch=8, group=4)
    read, drawn = 150, 30
    whole = 80 * (read + (effort.DRAWN - 1) * drawn + effort.LEARNED * read)
    assert effort.of_reward(rows, settings) == pytest.approx(whole)
    # Where batches are cut, what was read is read once more; where they are used again, learned.
    again = replace(settings, reuse=2, minibatch=4)
    more = 80 * (read + effort.LEARNED * read)
    later = [*rows, {"step": 40, "loss": 0.0}]
    assert effort.of_reward(later, again) == pytest.approx(whole + more)
    # What ended early took less.
    assert effort.of_reward(rows[:1], settings) == pytest.approx(
        8 * (100 + (effort.DRAWN - 1) * 20 + effort.LEARNED * 100)
    )
    assert effort.of_imitation([100, 200], 4) == pytest.approx(effort.LEARNED * 600)


def test_what_charts_hold_is_repeated_with_other_letters_and_digits(tokenizer: Any) -> None:
    known = "0283b437-ef20-41bb-a026-b60a742d536a"
    shapes = shapes_of([f"Age of patient {known}? It is 7 of 10.", "at 2019-04-01T08:00:30+00:00."])
    assert shapes == [known, "2019-04-01T08:00:30+00:00."]
    lists = Lists(tokenizer, 0, shapes=shapes)
    said = " ".join(tokenizer.decode(lists.entries()[1]) for _ in range(40))
    assert known not in said
    assert len(re.findall(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", said)) > 10
