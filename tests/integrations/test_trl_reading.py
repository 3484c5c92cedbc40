"""Replies of models that are read turn by turn are those that transformers draws."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("trl")

import torch
import transformers

from healthgym.integrations.trl import reading
from healthgym.integrations.trl.memory import Memory, readable
from healthgym.integrations.trl.reading import Reader

_SIZES: dict[str, Any] = {
    "vocab_size": 64,
    "hidden_size": 48,
    "num_hidden_layers": 2,
    "num_attention_heads": 6,
    "intermediate_size": 64,
    "max_position_embeddings": 256,
}
_KINDS = {
    "llama, keys shared": ("LlamaConfig", {"num_key_value_heads": 2}),
    "qwen2, keys shared": ("Qwen2Config", {"num_key_value_heads": 2}),
    "qwen3, keys shared": ("Qwen3Config", {"num_key_value_heads": 2, "head_dim": 16}),
    "qwen3, a key each": ("Qwen3Config", {"num_key_value_heads": 6, "head_dim": 8}),
}
_DEVICES = ["cpu", *(["cuda"] if torch.cuda.is_available() else [])]
_PAD, _LONGEST = 0, 24
#: What is said to each of four models' users, turn by turn, of different lengths.
_TURNS = (
    [[5, 6, 7, 8], [9], [10, 11, 2, 3, 4, 5, 6], [7, 8]],
    [[1], [2, 2, 3, 4, 5], [6, 7], [8, 9, 10]],
    [[1, 2], [3, 4, 5], [6], [7, 8, 9, 10, 11, 1]],
)


def _model(kind: str, device: str, *, adapted: bool) -> Any:
    name, sizes = _KINDS[kind]
    torch.manual_seed(0)
    config = getattr(transformers, name)(**_SIZES, **sizes)
    model = transformers.AutoModelForCausalLM.from_config(config)
    for parameter in model.parameters():
        torch.nn.init.normal_(parameter, std=0.3)  # flat weights would say one token for ever
    if adapted:
        from peft import LoraConfig, get_peft_model

        chosen = LoraConfig(r=4, target_modules="all-linear", task_type="CAUSAL_LM")
        model = get_peft_model(model, chosen)
        for name, parameter in model.named_parameters():
            if "lora_B" in name:
                torch.nn.init.normal_(parameter, std=0.1)
    return model.to(device).eval()


def _whole(model: Any, talk: list[int], end: int | None) -> list[int]:
    """Return the likeliest reply to a conversation that is read from its beginning."""
    ids = torch.tensor([talk], device=model.device)
    out = model.generate(
        input_ids=ids, attention_mask=torch.ones_like(ids), do_sample=False,
        max_new_tokens=_LONGEST, eos_token_id=end, pad_token_id=_PAD,
    )  # fmt: skip
    reply = out[0, len(talk) :].tolist()
    return reply[: reply.index(end) + 1] if end in reply else reply


@pytest.fixture(params=["as it comes", "steps as if recorded"])
def _steps(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have the steps taken that a GPU records: of all rows, looking at all of the room."""
    if request.param != "as it comes":
        monkeypatch.setattr(reading, "_records", lambda device: True)
        monkeypatch.setattr(reading, "_Recorded", lambda step, ids, positions: step)


@pytest.mark.usefixtures("_steps")
@pytest.mark.filterwarnings("ignore:.*is_gradient_checkpointing:FutureWarning")  # peft's
@pytest.mark.parametrize("adapted", [False, True], ids=["whole", "adapters"])
@pytest.mark.parametrize("device", _DEVICES)
@pytest.mark.parametrize("kind", _KINDS)
def test_a_reply_is_that_of_the_whole_conversation(kind: str, device: str, adapted: bool) -> None:
    model = _model(kind, device, adapted=adapted)
    assert readable(model)
    end = _whole(model, _TURNS[0][0], None)[9]  # so that one ends while others go on
    reader = Reader(model, end, _LONGEST)
    memories = [Memory() for _ in _TURNS[0]]
    talks: list[list[int]] = [[] for _ in memories]
    lengths = set()
    for turn in _TURNS:
        for talk, said in zip(talks, turn, strict=True):
            talk += said
        fresh = [talk[one.length :] for one, talk in zip(memories, talks, strict=True)]
        replies = reader.replies(memories, fresh, 0.0, torch.Generator(device))
        assert replies == [_whole(model, talk, end) for talk in talks]
        for talk, reply in zip(talks, replies, strict=True):
            talk += reply
            lengths.add(len(reply))
    assert min(lengths) < _LONGEST
    assert all(one.length == len(talk) - 1 for one, talk in zip(memories, talks, strict=True))


@pytest.mark.parametrize("device", _DEVICES)
def test_what_is_drawn_follows_from_the_generator(device: str) -> None:
    model = _model("llama, keys shared", device, adapted=False)
    reader = Reader(model, _PAD, _LONGEST)

    def drawn(seed: int) -> list[list[int]]:
        chance = torch.Generator(device).manual_seed(seed)
        return reader.replies([Memory() for _ in _TURNS[0]], _TURNS[0], 1.0, chance)

    assert drawn(1) == drawn(1) != drawn(2)


@pytest.mark.parametrize(
    ("name", "changes"),
    [
        ("GPT2Config", {}),
        ("LlamaConfig", {"rope_parameters": {"rope_type": "linear", "factor": 2.0}}),
        ("Qwen2Config", {"use_sliding_window": True, "max_window_layers": 1}),
        ("Qwen3Config", {"use_sliding_window": True, "max_window_layers": 1}),
    ],
)
def test_models_of_another_kind_are_left_to_transformers(
    name: str, changes: dict[str, Any]
) -> None:
    config = getattr(transformers, name)(**changes)

    class Model:
        def __init__(self) -> None:
            self.config = config

    assert not readable(Model())
