"""Measure what training a pretrained model takes of a GPU: results/accelerator.json.

    python benchmarks/accelerator.py             a GPU of some 60 GB, about two minutes
    python benchmarks/accelerator.py --quick     one small shape, on a CPU too

Shapes are those of Qwen3 and of SmolLM2-135M with random weights, which cost what trained ones do:
nothing is loaded. Learning is a step on 8 conversations of 650 tokens through the adapters of
``healthgym train``; drawing is four replies of 25 tokens in each of 32 conversations that grow to
that length, as a step of reward draws them, and beside it what a token takes of transformers' own
``generate``. Minutes are those of a run of 1,600 demonstrations and 1,280 rollouts.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from _harness import Figures, Run, Suite

#: Tokens of a conversation, of its first message with what is told of tools, and of a reply.
_LENGTH, _FIRST, _REPLY, _REPLIES = 650, 200, 25, 4
#: Conversations of a step of learning, and those drawn side by side.
_LEARNED, _DRAWN = 8, 32
#: Demonstrations and rollouts of a run.
_DEMOS, _ROLLOUTS = 1_600, 1_280
_VOCABULARY = 151_936

suite = Suite("accelerator", __doc__)


@dataclass(frozen=True)
class Shape:
    """A model's shape, measured as it would be trained.

    Attributes:
        name: Its name.
        kind: Its configuration in transformers.
        sizes: What that is told.
    """

    name: str
    kind: str
    sizes: dict[str, Any]

    def __call__(self, run: Run) -> Figures:
        """Learn from conversations, draw replies, and tell time and memory of both."""
        import torch
        import transformers

        from healthgym.integrations.trl.models import adapters

        gpu = torch.cuda.is_available()
        device = torch.device("cuda" if gpu else "cpu")
        sizes = {**self.sizes, **(_SMALL if run.quick else {})}
        config = getattr(transformers, self.kind)(**sizes, max_position_embeddings=2048)
        with device:
            model: Any = transformers.AutoModelForCausalLM.from_config(config, dtype=torch.bfloat16)
        weights = _gib(device)
        chosen = adapters(model)
        if chosen is not None:
            from peft import get_peft_model

            model = get_peft_model(model, chosen)
        learning = _learning(model, run)
        drawing = _drawing(model, run)
        steps = _DEMOS / _LEARNED
        batches = _ROLLOUTS / _DRAWN
        learn_s, draw_s = learning["learn_step_s"], drawing["draw_batch_s"]
        return {
            "device": torch.cuda.get_device_name() if gpu else "CPU",
            "torch": torch.__version__,
            "parameters": sum(each.numel() for each in model.parameters()),
            "weights_gib": weights,
            **learning,
            **drawing,
            "imitation_minutes": steps * learn_s / 60,
            "drawing_minutes": batches * draw_s / 60,
            "learning_minutes": _ROLLOUTS / _LEARNED * learn_s / 60,
        }


def _learning(model: Any, run: Run) -> Figures:
    import torch

    taught = [each for each in model.parameters() if each.requires_grad]
    optimizer = torch.optim.AdamW(taught, lr=1e-5)
    ids = torch.randint(0, 1000, (_LEARNED, 64 if run.quick else _LENGTH), device=model.device)
    model.train()

    def step() -> None:
        with torch.autocast(model.device.type, torch.bfloat16):
            loss = model(input_ids=ids, labels=ids).loss
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()

    step()  # which makes the optimizer's state, and is not counted
    taken = _median(step, model.device, run.repeats(5))
    return {"learn_step_s": taken, "learn_peak_gib": _peak(model.device)}


def _drawing(model: Any, run: Run) -> Figures:
    """Draw four replies in each of some conversations, and one by transformers' own way."""
    import torch

    from healthgym.integrations.trl.memory import Memory
    from healthgym.integrations.trl.reading import Reader

    model.eval()
    rows, reply, first = (2, 4, 16) if run.quick else (_DRAWN, _REPLY, _FIRST)
    growth = (_LENGTH - _FIRST - _REPLIES * _REPLY) // (_REPLIES - 1)
    told = [first, *[4 if run.quick else growth] * (_REPLIES - 1)]
    chance = torch.Generator(model.device).manual_seed(0)

    def draw(turns: int = _REPLIES, longest: int = reply) -> None:
        reader = Reader(model, -1, longest)  # no token ends a reply, so that all are as long
        memories, unread = [Memory() for _ in range(rows)], 0
        for count in told[:turns]:
            fresh = [[7] * (count + unread)] * rows
            reader.replies(memories, fresh, 1.0, chance)
            unread = 1  # the last token of a reply is read with what follows it

    def generate(tokens: int = reply) -> None:
        ids = torch.full((rows, first), 7, device=model.device)
        with torch.no_grad():
            model.generate(
                input_ids=ids,
                attention_mask=torch.ones_like(ids),
                do_sample=True,
                top_k=0,
                max_new_tokens=tokens,
                min_new_tokens=tokens,
                pad_token_id=0,
            )

    _forget(model.device)
    draw(1, 3)
    taken = _median(draw, model.device, run.repeats(3))
    peak = _peak(model.device)
    generate(2)
    return {
        "draw_batch_s": taken,
        "draw_token_ms": 1000 * taken / (_REPLIES * reply),
        "draw_peak_gib": peak,
        "generate_token_ms": 1000 * _median(generate, model.device, 1) / reply,
    }


def _median(work: Callable[[], None], device: Any, repeats: int) -> float:
    """Return the median seconds of some repeats."""
    taken = []
    for _ in range(repeats):
        _wait(device)
        begun = time.perf_counter()
        work()
        _wait(device)
        taken.append(time.perf_counter() - begun)
    return sorted(taken)[len(taken) // 2]


def _wait(device: Any) -> None:
    import torch

    if device.type == "cuda":
        torch.cuda.synchronize()


def _forget(device: Any) -> None:
    import torch

    gc.collect()
    if device.type == "cuda":
        torch.cuda.empty_cache()
        torch.cuda.reset_peak_memory_stats()


def _gib(device: Any) -> float:
    import torch

    return torch.cuda.memory_allocated() / 2**30 if device.type == "cuda" else 0.0


def _peak(device: Any) -> float:
    import torch

    return torch.cuda.max_memory_allocated() / 2**30 if device.type == "cuda" else 0.0


def _qwen3(hidden: int, layers: int, heads: int, wide: int, *, tied: bool) -> dict[str, Any]:
    return {
        "vocab_size": _VOCABULARY,
        "hidden_size": hidden,
        "num_hidden_layers": layers,
        "num_attention_heads": heads,
        "num_key_value_heads": 8,
        "head_dim": 128,
        "intermediate_size": wide,
        "tie_word_embeddings": tied,
    }


#: What a quick run makes of each.
_SMALL = {"hidden_size": 144, "num_hidden_layers": 1, "intermediate_size": 64, "vocab_size": 1000}
for _shape in (
    Shape(
        "smollm2_135m",
        "LlamaConfig",
        {
            "vocab_size": 49_152,
            "hidden_size": 576,
            "num_hidden_layers": 30,
            "num_attention_heads": 9,
            "num_key_value_heads": 3,
            "intermediate_size": 1536,
            "tie_word_embeddings": True,
        },
    ),
    Shape("qwen3_0_6b", "Qwen3Config", _qwen3(1024, 28, 16, 3072, tied=True)),
    Shape("qwen3_1_7b", "Qwen3Config", _qwen3(2048, 28, 16, 6144, tied=True)),
    Shape("qwen3_4b", "Qwen3Config", _qwen3(2560, 36, 32, 9728, tied=True)),
    Shape("qwen3_8b", "Qwen3Config", _qwen3(4096, 36, 32, 12288, tied=False)),
):
    suite.measure(_shape.name)(_shape)

if __name__ == "__main__":
    raise SystemExit(suite.main())
