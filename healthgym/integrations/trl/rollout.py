"""Plays a language model on many tasks at once, over the same tokens as in training."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from healthgym.core import action as actions
from healthgym.core.env import HealthEnv
from healthgym.core.episode import Episode
from healthgym.core.seeding import Split
from healthgym.errors import ToolError
from healthgym.integrations.trl import chat
from healthgym.integrations.trl.environment import OVER


@dataclass(frozen=True, slots=True)
class Sampling:
    """How replies are drawn.

    Attributes:
        temperature: 0 takes the likeliest token.
        max_new_tokens: Longest reply.
        max_length: Longest episode in tokens after the first message; the rollout ends where the
            next turn would not fit, as it does in TRL.
        batch: Episodes played side by side.
    """

    temperature: float = 0.0
    max_new_tokens: int = 96
    max_length: int = 2048
    batch: int = 64


@dataclass(slots=True)
class _Slot:
    """One episode being played."""

    episode: Episode[Any]
    ids: list[int]
    prompt: int
    replies: int = 0
    words: list[str] = field(default_factory=list)
    live: bool = True


@dataclass(frozen=True, slots=True)
class Played:
    """A finished rollout.

    Attributes:
        episode: The episode, over or abandoned.
        tokens: Length of the whole conversation in tokens.
        closing: What the model said without calling a tool, if anything.
    """

    episode: Episode[Any]
    tokens: int
    closing: str


def play(
    model: Any,
    tokenizer: Any,
    env: HealthEnv,
    tasks: Iterable[tuple[Split, int]],
    sampling: Sampling,
    *,
    system: str = "",
    progress: Callable[[int], None] = lambda count: None,
) -> list[Played]:
    """Play tasks to their end and return the episodes in the order of the tasks.

    The conversation is carried on as tokens, like TRL's: replies are not rendered again.

    Args:
        model: A causal language model, in evaluation mode.
        tokenizer: Its tokenizer, with chat template and response template.
        env: The environment; its own episode is left alone.
        tasks: Split and index of each task.
        sampling: How replies are drawn.
        system: A system message; none if empty.
        progress: Told how many episodes have just been finished.
    """
    queue = list(tasks)
    played: list[Played] = []
    for start in range(0, len(queue), sampling.batch):
        chosen = queue[start : start + sampling.batch]
        slots = [_seat(tokenizer, env.open_episode(*task), system) for task in chosen]
        while live := [slot for slot in slots if slot.live]:
            for slot, reply in zip(live, _generate(model, tokenizer, live, sampling), strict=True):
                _answer(tokenizer, slot, reply, sampling.max_length)
        played += [Played(slot.episode, len(slot.ids), " ".join(slot.words)) for slot in slots]
        progress(len(slots))
    return played


def _seat(tokenizer: Any, episode: Episode[Any], system: str) -> _Slot:
    messages = [{"role": "system", "content": system}] if system else []
    messages.append({"role": "user", "content": episode.instruction()})
    tools = episode.seat().catalog.openai()
    ids = chat.render(tokenizer, messages, tools, generate=True)
    return _Slot(episode, ids, len(ids))


def _generate(
    model: Any, tokenizer: Any, slots: Sequence[_Slot], sampling: Sampling
) -> list[list[int]]:
    import torch

    longest = max(len(slot.ids) for slot in slots)
    pad, end = tokenizer.pad_token_id, tokenizer.eos_token_id
    padded = [[pad] * (longest - len(slot.ids)) + slot.ids for slot in slots]
    mask = [[0] * (longest - len(slot.ids)) + [1] * len(slot.ids) for slot in slots]
    drawn = {"do_sample": True, "temperature": sampling.temperature, "top_k": 0, "top_p": 1.0}
    with torch.no_grad():
        out = model.generate(
            input_ids=torch.tensor(padded, device=model.device),
            attention_mask=torch.tensor(mask, device=model.device),
            max_new_tokens=sampling.max_new_tokens,
            pad_token_id=pad,
            eos_token_id=end,
            **(drawn if sampling.temperature else {"do_sample": False}),
        )
    replies = [row[longest:].tolist() for row in out]
    return [ids[: ids.index(end) + 1] if end in ids else ids for ids in replies]


def _answer(tokenizer: Any, slot: _Slot, reply: list[int], max_length: int) -> None:
    """Carry out one reply; without a call, the rollout is over."""
    from trl.chat_template_utils import parse_response

    tools: list[Any] = slot.episode.seat().catalog.openai()
    message = parse_response(tokenizer, reply, prefix=slot.ids, tools=tools)
    slot.ids += reply
    slot.replies += 1
    calls = message.get("tool_calls") or []
    if not calls:
        slot.words.append(message["content"])
        slot.live = False
        return
    for request in calls:
        name = request["function"]["name"]
        suffix = chat.suffix_ids(tokenizer, name, _call(slot.episode, request))
        if len(slot.ids) + len(suffix) > slot.prompt + max_length:
            slot.live = False
            return
        slot.ids += suffix
    # As many turns as the episode allows, and one for the closing words.
    slot.live = slot.replies <= slot.episode.config.max_turns


def _call(episode: Episode[Any], request: dict[str, Any]) -> str:
    if episode.done():
        return OVER
    try:
        (call,) = actions.parse(request)
    except ToolError as error:
        return f"Error: {error}"
    return episode.step(call).observation
