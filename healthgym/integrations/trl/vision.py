"""What a vision-language model needs of TRL's trainers beside what a text model does.

Demonstrations with pictures are trained on with :class:`PictureCollator`::

    rows = picture_dataset(demonstrations(env, images=True))
    SFTTrainer(model, processing_class=processor, train_dataset=rows,
               data_collator=PictureCollator(processor),
               args=SFTConfig(..., max_length=None, remove_unused_columns=False))

and environments that show pictures with :class:`PictureGRPOTrainer`::

    spec = trl_spec("HealthAgent/CtAbnormality-v1", images=True)
    PictureGRPOTrainer(model, processing_class=processor, **spec.arguments(), args=GRPOConfig(...))
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import datasets
import numpy as np
import torch
from PIL import Image
from trl import GRPOTrainer  # type: ignore[attr-defined,unused-ignore]
from trl.data_utils import prepare_multimodal_messages

from healthgym.core.borders import JsonDict, JsonObject
from healthgym.errors import ConfigurationError
from healthgym.integrations.trl.chat import reads_pictures
from healthgym.integrations.trl.demonstrations import Demonstration
from healthgym.integrations.trl.foreign import AnyDataset, AnyProcessor
from healthgym.integrations.trl.labels import IGNORED, require_calls, training_template
from healthgym.presentation.pictures import png


class PictureGRPOTrainer(GRPOTrainer):  # type: ignore[misc,unused-ignore]
    """``GRPOTrainer``, for batches in which not every rollout looks at pictures.

    TRL 1.16 fails where all rollouts that saw a picture have ended before the others: it goes on
    to tell the model which tokens are pictures, under a name that models of the Qwen family do not
    know. Here it tells so only where there are pictures. Everything else is TRL's own.
    """

    def _generate_single_turn(
        self,
        prompt_ids: Any,
        images: Any,
        multimodal_fields: Any,
        num_generations: int,
        has_tool_images: bool = False,
    ) -> Any:
        seen = has_tool_images and "pixel_values" in multimodal_fields
        return super()._generate_single_turn(  # type: ignore[no-untyped-call]
            prompt_ids, images, multimodal_fields, num_generations, has_tool_images=seen
        )


def picture_dataset(demonstrations: Iterable[Demonstration | JsonObject]) -> AnyDataset:
    """Return demonstrations as a ``datasets.Dataset`` for a vision-language model.

    Messages are kept as JSON and pictures as PNG files; a row is put together when it is read.
    Kept as they are, Arrow would give every text block an ``image`` of None, which chat templates
    take for a picture. The empty column ``images`` is the sign by which TRL knows a data set with
    pictures; the pictures stay in the messages, where they were shown, because TRL moves none of
    that column into tool messages.

    Args:
        demonstrations: Made with ``images=True``; or rows, as ``healthgym demos --images`` writes
            them.
    """
    rows = []
    for shown in demonstrations:
        row = shown.row() if isinstance(shown, Demonstration) else shown
        files: list[bytes] = []
        messages = json.dumps([_stored(message, files) for message in row["messages"]])
        rows.append({"messages": messages, "files": files, "tools": row["tools"]})
    return datasets.Dataset.from_list(rows).with_transform(_restored)


def _stored(message: JsonObject, files: list[bytes]) -> JsonDict:
    """Return a message with numbers for its pictures, which are added to ``files``."""
    if isinstance(message["content"], str):
        return dict(message)
    content = []
    for block in message["content"]:
        # A picture given as a data URL is text already, and what processors read as well.
        if block["type"] == "image" and not isinstance(block["image"], str):
            files.append(png(np.asarray(block["image"], np.uint8)))
            block = {"type": "image", "image": len(files) - 1}
        content.append(block)
    return {**message, "content": content}


def _restored(columns: Mapping[str, Sequence[Any]]) -> dict[str, list[Any]]:
    rows = []
    for text, files in zip(columns["messages"], columns["files"], strict=True):
        messages = json.loads(text)
        for message in messages:
            if isinstance(message["content"], list):
                for block in message["content"]:
                    if block["type"] == "image" and isinstance(block["image"], int):
                        file = files[block["image"]]
                        block["image"] = Image.open(
                            io.BytesIO(file), formats=("PNG", "JPEG")
                        ).convert("RGB")
        rows.append(messages)
    tools = list(columns["tools"])
    return {"messages": rows, "tools": tools, "images": [[] for _ in rows]}


class PictureCollator:
    """Makes a batch of conversations with pictures; only what the assistant says is learned.

    TRL's own collator for pictures leaves the tools out of the conversation. This one shows them,
    as they are shown in reinforcement learning.

    Args:
        processor: The processor; its chat template marks what the assistant says, or is one that
            TRL knows a marked form of.

    Raises:
        ConfigurationError: If it is no processor of images.
    """

    def __init__(self, processor: AnyProcessor) -> None:
        if not reads_pictures(processor):
            raise ConfigurationError(
                "Pictures need the processor of a vision-language model, not a tokenizer."
            )
        self._processor = processor
        self._template = training_template(processor)

    def __call__(self, rows: Sequence[JsonObject]) -> JsonDict:
        """Return ``input_ids``, ``attention_mask``, ``labels`` and what the model sees."""
        shown = [self._one(row) for row in rows]
        longest = max(each["input_ids"].shape[1] for each in shown)
        tokenizer = self._processor.tokenizer
        fills = {"input_ids": tokenizer.pad_token_id, "labels": IGNORED}
        batch: JsonDict = {}
        for name in dict.fromkeys(name for each in shown for name in each):
            parts = [each[name] for each in shown if name in each]
            if name in _PER_TOKEN:
                fill = fills.get(name, 0)
                parts = [_padded(part, longest, fill) for part in parts]
            batch[name] = torch.cat(parts)
        return batch

    def _one(self, row: JsonObject) -> JsonDict:
        tools = row.get("tools") or None
        tools = json.loads(tools) if isinstance(tools, str) else tools
        shown = self._processor.apply_chat_template(
            [prepare_multimodal_messages(row["messages"])],
            tools=tools,
            chat_template=self._template,
            tokenize=True,
            return_dict=True,
            return_tensors="pt",
            return_assistant_tokens_mask=True,
        )
        one = dict(shown)
        said = torch.as_tensor(one.pop("assistant_masks")).bool().reshape(one["input_ids"].shape)
        one["labels"] = one["input_ids"].masked_fill(~said, IGNORED)
        require_calls(
            self._processor, one["labels"].flatten().tolist(), row["messages"], tools or []
        )
        return one


#: Fields with one value a token; all others have one row an image, or one a patch of it.
_PER_TOKEN = frozenset(
    {"input_ids", "attention_mask", "labels", "token_type_ids", "mm_token_type_ids"}
)


def _padded(row: torch.Tensor, length: int, fill: int) -> torch.Tensor:
    return torch.nn.functional.pad(row, (0, length - row.shape[1]), value=fill)
