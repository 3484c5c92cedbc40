"""In which numbers a model computes, and that what was saved is opened as it was."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("trl")

import torch

from healthgym.integrations.trl import models
from healthgym.integrations.trl.foreign import AnyModel, AnyTokenizer
from healthgym.integrations.trl.tiny import (
    TinyConfig,
    tiny_model,
    train_tokenizer,
)

FULL, HALF = torch.float32, torch.bfloat16


@pytest.fixture(scope="module")
def tokenizer() -> AnyTokenizer:
    return train_tokenizer(["Potassium 3.4 mmol/L, sodium 140."] * 8, 300)


@pytest.fixture
def model(tokenizer: AnyTokenizer) -> AnyModel:
    return tiny_model(tokenizer, TinyConfig(hidden=16, layers=1, feed_forward=16), 0)


@pytest.mark.skipif(torch.cuda.is_available(), reason="a GPU computes in bfloat16")
@pytest.mark.parametrize(
    ("stored", "instructions", "computed"),
    [
        (FULL, {"amx_bf16": True, "avx512_bf16": True}, FULL),  # a model made here stays as it is
        (HALF, {"amx_bf16": True}, HALF),
        (HALF, {"amx_bf16": False, "avx512_bf16": True}, HALF),
        (HALF, {"amx_bf16": False}, FULL),  # emulated, it would be slower than 32 bits
        (HALF, {}, FULL),
        (torch.float16, {"amx_bf16": True}, FULL),
    ],
    ids=str,
)
def test_a_processor_computes_in_what_it_multiplies(
    model: AnyModel,
    tokenizer: AnyTokenizer,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    stored: torch.dtype,
    instructions: dict[str, bool],
    computed: torch.dtype,
) -> None:
    monkeypatch.setattr(torch.cpu, "get_capabilities", lambda: instructions, raising=False)
    model.to(stored).save_pretrained(tmp_path)
    tokenizer.save_pretrained(tmp_path)
    opened, _ = models.open_checkpoint(tmp_path)
    assert {parameter.dtype for parameter in opened.parameters()} == {computed}
    for name, saved in model.state_dict().items():
        assert torch.equal(opened.state_dict()[name], saved.to(computed)), name
