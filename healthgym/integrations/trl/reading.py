"""Generation that reads a conversation once: the keys and values of each stay between its turns.

The layers are those of a Qwen3 of transformers, called one by one, because its own ``generate``
keeps no cache between calls for conversations that grow by different lengths.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch.nn import functional

from healthgym.integrations.trl.foreign import AnyModel
from healthgym.integrations.trl.memory import Memory

#: Finished rows are dropped from a batch once so large a share of it is finished.
_DROP = 0.5


class Reader:
    """Draws replies from a model, conversation by conversation, many at a time.

    Args:
        model: A Qwen3 causal language model; its weights are looked up at each call.
        end: The token that ends a reply.
        longest: Most tokens of a reply.
    """

    def __init__(self, model: AnyModel, end: int, longest: int) -> None:
        self.model, self.end, self.longest = model, end, longest
        config = model.config
        self.context: int = config.max_position_embeddings
        self._layers = config.num_hidden_layers
        self._heads, self._width = config.num_attention_heads, config.head_dim

    @torch.no_grad()
    def replies(
        self,
        memories: Sequence[Memory],
        fresh: Sequence[Sequence[int]],
        temperature: float,
        generator: torch.Generator,
    ) -> list[list[int]]:
        """Read on in conversations and return a reply to each; the memories grow.

        A reply is its tokens, the mark that ends it included unless it was cut. The last of them is
        not in its memory: it is the first of what is fresh next time.

        Args:
            memories: What was read of each conversation.
            fresh: What is new in each, at least one token.
            temperature: 0 takes the likeliest token.
            generator: Where chance comes from.
        """
        if not fresh:
            return []
        batch = _Batch(self, memories, fresh)
        logits = batch.begin(fresh)
        rows = list(range(len(fresh)))
        found: list[list[int]] = [[] for _ in rows]
        for _ in range(self.longest):
            tokens = _draw(logits, temperature, generator)
            going = []
            for place, (row, token) in enumerate(zip(rows, tokens.tolist(), strict=True)):
                if row < 0:
                    continue
                found[row].append(token)
                if token == self.end or len(found[row]) == self.longest:
                    batch.keep(place, memories[row])
                    rows[place] = -1
                else:
                    going.append(place)
            if not going:
                break
            if len(going) <= _DROP * len(rows):
                batch.drop(going)
                rows, tokens = [rows[place] for place in going], tokens[going]
            logits = batch.go_on(tokens)
        return found

    def forward(
        self, ids: torch.Tensor, positions: torch.Tensor, keys: torch.Tensor, values: torch.Tensor
    ) -> torch.Tensor:
        """Return hidden states of new tokens, shape (rows, tokens, hidden); the cache is filled.

        Args:
            ids: The new tokens, shape (rows, tokens).
            positions: Where each stands in its conversation, likewise.
            keys: The cache, shape (layers, rows, heads, room, width).
            values: Likewise.
        """
        inner = self.model.model
        rows, count = ids.shape
        seen = int(positions.max()) + 1
        mask = torch.arange(seen, device=ids.device) <= positions[..., None]
        cos, sin = (part[:, None] for part in inner.rotary_emb(keys[0, 0], positions))
        hidden = inner.embed_tokens(ids)
        here = torch.arange(rows, device=ids.device)[:, None]
        for number, layer in enumerate(inner.layers):
            attend = layer.self_attn
            normed = layer.input_layernorm(hidden)
            shape = (rows, count, self._heads, self._width)
            query = attend.q_norm(attend.q_proj(normed).view(shape)).transpose(1, 2)
            key = attend.k_norm(attend.k_proj(normed).view(shape)).transpose(1, 2)
            query, key = _turned(query, cos, sin), _turned(key, cos, sin)
            keys[number][here, :, positions] = key.transpose(1, 2)
            values[number][here, :, positions] = attend.v_proj(normed).view(shape)
            mixed = functional.scaled_dot_product_attention(
                query,
                keys[number][:, :, :seen],
                values[number][:, :, :seen],
                attn_mask=mask[:, None],
            )
            hidden = hidden + attend.o_proj(mixed.transpose(1, 2).reshape(rows, count, -1))
            hidden = hidden + layer.mlp(layer.post_attention_layernorm(hidden))
        return inner.norm(hidden)  # type: ignore[no-any-return]

    def room(self, rows: int, length: int) -> torch.Tensor:
        """Return an empty half of a cache."""
        shape = (self._layers, rows, self._heads, length, self._width)
        return torch.zeros(shape, device=self.model.device, dtype=self.model.dtype)

    def placed(self, numbers: object) -> torch.Tensor:
        """Return whole numbers where the model computes."""
        return torch.tensor(numbers, device=self.model.device)


class _Batch:
    """Conversations read side by side, the cache of all in one piece."""

    def __init__(
        self, reader: Reader, memories: Sequence[Memory], fresh: Sequence[Sequence[int]]
    ) -> None:
        self._reader = reader
        self.lengths = reader.placed([memory.length for memory in memories])
        most = max(map(len, fresh)) + int(self.lengths.max()) + reader.longest
        self.keys, self.values = (reader.room(len(memories), most) for _ in range(2))
        for row, memory in enumerate(memories):
            if memory.keys is not None and memory.values is not None:
                self.keys[:, row, :, : memory.length] = memory.keys
                self.values[:, row, :, : memory.length] = memory.values

    def begin(self, fresh: Sequence[Sequence[int]]) -> torch.Tensor:
        """Read what is new; return the logits of the next tokens, shape (rows, vocabulary)."""
        counts = self._reader.placed([len(each) for each in fresh])
        widest = int(counts.max())
        # What stands behind a shorter row is overwritten before anything attends to it.
        ids = self._reader.placed([[*each, *([0] * (widest - len(each)))] for each in fresh])
        positions = self.lengths[:, None] + torch.arange(widest, device=ids.device)
        hidden = self._reader.forward(ids, positions, self.keys, self.values)
        self.lengths = self.lengths + counts
        last = hidden[torch.arange(len(fresh), device=ids.device), counts - 1]
        return self._reader.model.lm_head(last)  # type: ignore[no-any-return]

    def go_on(self, tokens: torch.Tensor) -> torch.Tensor:
        """Read one token more of each; return the logits of the next ones."""
        positions = self.lengths[:, None]
        ids = tokens.to(positions.device)[:, None]
        hidden = self._reader.forward(ids, positions, self.keys, self.values)
        self.lengths = self.lengths + 1
        return self._reader.model.lm_head(hidden[:, 0])  # type: ignore[no-any-return]

    def keep(self, place: int, memory: Memory) -> None:
        """Put what was read of a row into its memory."""
        length = int(self.lengths[place])
        memory.keys = self.keys[:, place, :, :length].clone()
        memory.values = self.values[:, place, :, :length].clone()

    def drop(self, kept: Sequence[int]) -> None:
        """Drop all rows but some."""
        self.keys, self.values = self.keys[:, kept], self.values[:, kept]
        self.lengths = self.lengths[list(kept)]


def _draw(logits: torch.Tensor, temperature: float, generator: torch.Generator) -> torch.Tensor:
    """Return a token of each row; chance is the processor's, so that it is one everywhere."""
    logits = logits.float().cpu()
    if not temperature:
        return logits.argmax(dim=-1)
    shares = (functional.log_softmax(logits, dim=-1) / temperature).exp()
    return torch.multinomial(shares, 1, generator=generator)[:, 0]


def _turned(x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> torch.Tensor:
    """Return vectors turned by their positions (RoPE, Su et al. 2021)."""
    left, right = x.chunk(2, dim=-1)
    return x * cos + torch.cat((-right, left), dim=-1) * sin
