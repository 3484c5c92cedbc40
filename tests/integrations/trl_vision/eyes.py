"""A vision-language model of some hundred thousand weights, made from nothing: no download.

It is a Qwen3-VL, with the family's own chat template. Its processor is the family's without videos,
so that torchvision is not needed; pictures are read by pillow.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any, ClassVar

import pytest
import torch
from transformers import Qwen3VLConfig, Qwen3VLForConditionalGeneration, Qwen3VLProcessor
from transformers.models.qwen2_vl.image_processing_pil_qwen2_vl import Qwen2VLImageProcessorPil
from transformers.processing_utils import ProcessorMixin
from transformers.utils.chat_template_utils import render_jinja_template
from trl.chat_template_utils import add_response_schema, qwen3_vl_chat_template

from healthgym.integrations.trl.demonstrations import Demonstration
from healthgym.integrations.trl.tiny import train_tokenizer

MARKS = ("<|vision_start|>", "<|vision_end|>", "<|image_pad|>", "<|video_pad|>")
PATCH = 8
# Deprecations the libraries raise about each other, none of them for something chosen here.
QUIET = [
    pytest.mark.filterwarnings("ignore::FutureWarning"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::UserWarning"),
]


class Eyes(ProcessorMixin):  # type: ignore[misc,no-untyped-call]
    """Qwen3-VL's processor for pictures and text."""

    return_mm_token_type_ids = True
    text_kwargs: ClassVar[dict[str, bool]] = {"return_token_type_ids": False}
    replace_image_token = Qwen3VLProcessor.replace_image_token

    def __init__(
        self, image_processor: Any = None, tokenizer: Any = None, chat_template: Any = None
    ) -> None:
        self.image_token = "<|image_pad|>"
        self.image_token_id = tokenizer.convert_tokens_to_ids("<|image_pad|>")
        self.video_token_id = tokenizer.convert_tokens_to_ids("<|video_pad|>")
        super().__init__(image_processor, tokenizer, chat_template=chat_template)


def processor(demos: Iterable[Demonstration], vocabulary: int = 900) -> Any:
    """A processor whose tokenizer knows the texts of demonstrations, made without pictures."""
    demos = list(demos)
    # Whole conversations, so that the list of tools, most of each, is a few dozen tokens.
    heard, _ = render_jinja_template(
        [list(demo.messages) for demo in demos],
        tools=json.loads(demos[0].tools),
        chat_template=qwen3_vl_chat_template,
    )
    tokenizer = train_tokenizer(heard * 4, vocabulary)
    tokenizer.add_special_tokens({"additional_special_tokens": list(MARKS)})
    looker = Qwen2VLImageProcessorPil(
        patch_size=PATCH, temporal_patch_size=2, merge_size=2, min_pixels=16**2, max_pixels=64**2
    )
    made = Eyes(looker, tokenizer, qwen3_vl_chat_template)
    add_response_schema(made)
    return made


def model(processor: Any, seed: int = 0) -> Any:
    """An untrained model for a processor."""
    tokenizer = processor.tokenizer
    number = tokenizer.convert_tokens_to_ids
    torch.manual_seed(seed)
    rope = {
        "rope_type": "default",
        "rope_theta": 10_000.0,
        "mrope_section": [4, 2, 2],
        "mrope_interleaved": True,
    }
    made = Qwen3VLForConditionalGeneration(
        Qwen3VLConfig(
            text_config={
                "vocab_size": len(tokenizer),
                "initializer_range": 0.08,
                "hidden_size": 64,
                "intermediate_size": 128,
                "num_hidden_layers": 2,
                "num_attention_heads": 4,
                "num_key_value_heads": 4,
                "head_dim": 16,
                "max_position_embeddings": 4096,
                "pad_token_id": tokenizer.pad_token_id,
                "eos_token_id": tokenizer.eos_token_id,
                "bos_token_id": None,
                "rope_parameters": rope,
            },
            vision_config={
                "initializer_range": 0.15,
                "depth": 2,
                "hidden_size": 32,
                "intermediate_size": 64,
                "num_heads": 2,
                "patch_size": PATCH,
                "spatial_merge_size": 2,
                "temporal_patch_size": 2,
                "out_hidden_size": 64,
                "num_position_embeddings": 64,
                "deepstack_visual_indexes": [0],
            },
            image_token_id=number("<|image_pad|>"),
            video_token_id=number("<|video_pad|>"),
            vision_start_token_id=number("<|vision_start|>"),
            vision_end_token_id=number("<|vision_end|>"),
            tie_word_embeddings=True,
        )
    )
    made.generation_config.eos_token_id = tokenizer.eos_token_id
    made.generation_config.pad_token_id = tokenizer.pad_token_id
    return made
