"""What a small model has read of a conversation, kept between its turns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from healthgym.integrations.trl.foreign import AnyModel

if TYPE_CHECKING:
    import torch


@dataclass(slots=True)
class Memory:
    """What a model has read of one conversation.

    Attributes:
        keys: Keys by layer, shape (layers, heads, length, width); None before anything is read.
        values: Values, likewise.
    """

    keys: torch.Tensor | None = None
    values: torch.Tensor | None = None

    @property
    def length(self) -> int:
        """How many tokens it holds."""
        return 0 if self.keys is None else self.keys.shape[2]


def readable(model: AnyModel) -> bool:
    """Return whether :class:`~healthgym.integrations.trl.reading.Reader` reads for a model.

    It does so for a whole Qwen3 with a key for each query, as the small model is.
    """
    config: Any = getattr(model, "config", None)
    return (
        getattr(config, "model_type", "") == "qwen3"
        and config.num_key_value_heads == config.num_attention_heads
        and not hasattr(model, "peft_config")
    )
