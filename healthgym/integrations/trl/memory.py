"""What a model has read of a conversation, kept between its turns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from healthgym.integrations.trl.foreign import AnyModel

if TYPE_CHECKING:
    import torch

#: Kinds of models, by transformers' names, whose layers the reader knows how to call.
_KNOWN = ("llama", "qwen2", "qwen3")


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

    It does so for a Qwen2, Qwen3 or Llama that attends to all it has read, adapters or not.
    """
    config: Any = getattr(model, "config", None)
    if getattr(config, "model_type", "") not in _KNOWN:
        return False
    rope: dict[str, Any] = getattr(config, "rope_parameters", None) or {}
    return (
        rope.get("rope_type", "default") == "default"
        and rope.get("partial_rotary_factor", 1.0) == 1.0
        and set(getattr(config, "layer_types", None) or ()) <= {"full_attention"}
    )
