"""Generation that reads a conversation once: the keys and values of each stay between its turns.

The layers are those of a Qwen or a Llama of transformers, called one by one, because its own
``generate`` keeps no cache between calls for conversations that grow by different lengths.

On a GPU the step that draws one token more is recorded once a turn and played again: to launch the
thousand kernels of it one by one takes the host many times as long as the GPU takes to compute it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import torch
from torch.nn import functional

from healthgym.integrations.trl.foreign import AnyModel
from healthgym.integrations.trl.memory import Memory

#: Finished rows are dropped from a batch once so large a share of it is finished.
_DROP = 0.5


class Reader:
    """Draws replies from a model, conversation by conversation, many at a time.

    Args:
        model: A causal language model that is
            :func:`~healthgym.integrations.trl.memory.readable`; its weights are looked up at each
            call.
        end: The token that ends a reply.
        longest: Most tokens of a reply.
    """

    def __init__(self, model: AnyModel, end: int, longest: int) -> None:
        # Adapters stand inside of the layers of the model that they were given to.
        self.model = model.get_base_model() if hasattr(model, "get_base_model") else model
        self.end, self.longest = end, longest
        config = model.config
        self.context: int = config.max_position_embeddings
        self._layers = config.num_hidden_layers
        self._heads = config.num_attention_heads
        # Some kinds only ever divide their width by the heads, and do not say so.
        self._width = getattr(config, "head_dim", None) or config.hidden_size // self._heads
        self._kept = config.num_key_value_heads

    @property
    def device(self) -> torch.device:
        """Where the model computes."""
        device: torch.device = self.model.device
        return device

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
            if batch.shrinks and len(going) <= _DROP * len(rows):
                batch.drop(going)
                rows, tokens = [rows[place] for place in going], tokens[going]
            logits = batch.go_on(tokens)
        return found

    def forward(
        self,
        ids: torch.Tensor,
        positions: torch.Tensor,
        keys: torch.Tensor,
        values: torch.Tensor,
        seen: int,
    ) -> torch.Tensor:
        """Return hidden states of new tokens, shape (rows, tokens, hidden); the cache is filled.

        Args:
            ids: The new tokens, shape (rows, tokens).
            positions: Where each stands in its conversation, likewise.
            keys: The cache, shape (layers, rows, heads, room, width).
            values: Likewise.
            seen: How much of the room is looked at; no position is beyond it.
        """
        inner = self.model.model
        rows, count = ids.shape
        mask = torch.arange(seen, device=ids.device) <= positions[..., None]
        # Queries that share a key stand one behind the other, as if they were further tokens.
        sharing = self._heads // self._kept
        mask = mask.repeat(1, sharing, 1)[:, None]
        shared = (rows, self._kept, sharing * count, self._width)
        cos, sin = (part[:, None] for part in inner.rotary_emb(keys[0, 0], positions))
        hidden = inner.embed_tokens(ids)
        here = torch.arange(rows, device=ids.device)[:, None]
        for number, layer in enumerate(inner.layers):
            attend = layer.self_attn
            normed = layer.input_layernorm(hidden)
            query = attend.q_proj(normed).view(rows, count, self._heads, self._width)
            key = attend.k_proj(normed).view(rows, count, self._kept, self._width)
            value = attend.v_proj(normed).view(rows, count, self._kept, self._width)
            if hasattr(attend, "q_norm"):
                query, key = attend.q_norm(query), attend.k_norm(key)
            query = _turned(query.transpose(1, 2), cos, sin)
            key = _turned(key.transpose(1, 2), cos, sin)
            keys[number][here, :, positions] = key.transpose(1, 2)
            values[number][here, :, positions] = value
            mixed = functional.scaled_dot_product_attention(
                query.reshape(shared),
                keys[number][:, :, :seen],
                values[number][:, :, :seen],
                attn_mask=mask,
            )
            mixed = mixed.reshape(rows, self._heads, count, self._width).transpose(1, 2)
            hidden = hidden + attend.o_proj(mixed.reshape(rows, count, -1))
            hidden = hidden + layer.mlp(layer.post_attention_layernorm(hidden))
        return inner.norm(hidden)  # type: ignore[no-any-return]

    def logits(self, hidden: torch.Tensor) -> torch.Tensor:
        """Return the logits of the tokens behind hidden states, shape (rows, vocabulary)."""
        return self.model.lm_head(hidden)  # type: ignore[no-any-return]

    def room(self, rows: int, length: int) -> torch.Tensor:
        """Return an empty half of a cache."""
        shape = (self._layers, rows, self._kept, length, self._width)
        return torch.zeros(shape, device=self.device, dtype=self.model.dtype)

    def placed(self, numbers: object) -> torch.Tensor:
        """Return whole numbers where the model computes."""
        return torch.tensor(numbers, device=self.device)


class _Batch:
    """Conversations read side by side, the cache of all in one piece."""

    def __init__(
        self, reader: Reader, memories: Sequence[Memory], fresh: Sequence[Sequence[int]]
    ) -> None:
        self._reader = reader
        self.lengths = reader.placed([memory.length for memory in memories])
        self._room = max(map(len, fresh)) + int(self.lengths.max()) + reader.longest
        self.keys, self.values = (reader.room(len(memories), self._room) for _ in range(2))
        for row, memory in enumerate(memories):
            if memory.keys is not None and memory.values is not None:
                self.keys[:, row, :, : memory.length] = memory.keys
                self.values[:, row, :, : memory.length] = memory.values
                # Twice is more than long conversations leave room for.
                memory.keys = memory.values = None
        #: Whether rows can be dropped; a recorded step has as many as it was recorded with.
        self.shrinks = not _records(reader.device)
        self._recorded: _Recorded | None = None

    def begin(self, fresh: Sequence[Sequence[int]]) -> torch.Tensor:
        """Read what is new; return the logits of the next tokens, shape (rows, vocabulary)."""
        counts = self._reader.placed([len(each) for each in fresh])
        widest = max(map(len, fresh))
        # What stands behind a shorter row is overwritten before anything attends to it.
        ids = self._reader.placed([[*each, *([0] * (widest - len(each)))] for each in fresh])
        positions = self.lengths[:, None] + torch.arange(widest, device=ids.device)
        hidden = self._read(ids, positions, int(positions.max()) + 1)
        self.lengths = self.lengths + counts
        last = hidden[torch.arange(len(fresh), device=ids.device), counts - 1]
        return self._reader.logits(last)

    def go_on(self, tokens: torch.Tensor) -> torch.Tensor:
        """Read one token more of each; return the logits of the next ones."""
        ids, positions = tokens[:, None], self.lengths[:, None]
        self.lengths = self.lengths + 1
        if self.shrinks:
            return self._next(ids, positions, int(self.lengths.max()))
        if self._recorded is None:
            self._recorded = _Recorded(partial(self._next, seen=self._room), ids, positions)
        return self._recorded(ids, positions)

    def keep(self, place: int, memory: Memory) -> None:
        """Put what was read of a row into its memory."""
        length = int(self.lengths[place])
        memory.keys = self.keys[:, place, :, :length].clone()
        memory.values = self.values[:, place, :, :length].clone()

    def drop(self, kept: Sequence[int]) -> None:
        """Drop all rows but some."""
        self.keys, self.values = self.keys[:, kept], self.values[:, kept]
        self.lengths = self.lengths[list(kept)]

    def _read(self, ids: torch.Tensor, positions: torch.Tensor, seen: int) -> torch.Tensor:
        return self._reader.forward(ids, positions, self.keys, self.values, seen)

    def _next(self, ids: torch.Tensor, positions: torch.Tensor, seen: int) -> torch.Tensor:
        return self._reader.logits(self._read(ids, positions, seen)[:, 0])


def _records(device: torch.device) -> bool:
    """Return whether steps are recorded on a device."""
    return device.type == "cuda"


class _Recorded:
    """A step of a GPU, recorded once and played with other tokens.

    Args:
        step: Computes logits of tokens at positions; the same kernels whatever these are.
        ids: Tokens of the first step, shape (rows, 1).
        positions: Their positions, likewise.
    """

    def __init__(
        self,
        step: Callable[[torch.Tensor, torch.Tensor], torch.Tensor],
        ids: torch.Tensor,
        positions: torch.Tensor,
    ) -> None:
        self._ids, self._positions = ids.clone(), positions.clone()
        with torch.cuda.device(ids.device):
            # Libraries make room for themselves when first called, which cannot be recorded. What
            # this step writes to the cache, the first one that is played writes again.
            aside: Any = torch.cuda.Stream()  # type: ignore[no-untyped-call,unused-ignore]
            aside.wait_stream(torch.cuda.current_stream())
            with torch.cuda.stream(aside):
                step(self._ids, self._positions)
            torch.cuda.current_stream().wait_stream(aside)
            self._graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(self._graph):
                self._logits = step(self._ids, self._positions)

    def __call__(self, ids: torch.Tensor, positions: torch.Tensor) -> torch.Tensor:
        """Return the logits of further tokens; good until the next call."""
        self._ids.copy_(ids)
        self._positions.copy_(positions)
        self._graph.replay()
        return self._logits


def _draw(logits: torch.Tensor, temperature: float, generator: torch.Generator) -> torch.Tensor:
    """Return a token of each row."""
    if not temperature:
        return logits.argmax(dim=-1)
    shares = (functional.log_softmax(logits.float(), dim=-1) / temperature).exp()
    return torch.multinomial(shares, 1, generator=generator)[:, 0]


def _turned(x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> torch.Tensor:
    """Return vectors turned by their positions (RoPE, Su et al. 2021)."""
    left, right = x.chunk(2, dim=-1)
    return x * cos + torch.cat((-right, left), dim=-1) * sin
