"""Plays a language model on many tasks at once, to score it and to train it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from healthgym.core.borders import JsonDict
from healthgym.core.env import HealthEnv
from healthgym.core.episode import AnyEpisode
from healthgym.core.faults import is_outage
from healthgym.core.seeding import Split
from healthgym.core.tool import ToolCall
from healthgym.errors import ConfigurationError
from healthgym.integrations.trl import chat
from healthgym.integrations.trl.environment import MAX_IMAGE_SIDE, OVER, blocks
from healthgym.integrations.trl.foreign import AnyModel, AnyProcessor
from healthgym.integrations.trl.memory import Memory, readable
from healthgym.integrations.trl.replies import read_reply, unread
from healthgym.integrations.trl.turns import by_reply, turn_rewards


@dataclass(frozen=True, slots=True)
class Sampling:
    """How replies are drawn.

    Attributes:
        temperature: 0 takes the likeliest token.
        max_new_tokens: Longest reply.
        max_length: Longest episode in tokens after the first message; the rollout ends where the
            next turn would not fit, as it does in TRL.
        batch: Episodes played side by side.
        images: Whether the model is shown pictures; it must come with a processor then.
        max_image_side: Most pixels of a picture's longer side; no limit if None.
    """

    temperature: float = 0.0
    max_new_tokens: int = 96
    max_length: int = 2048
    batch: int = 64
    images: bool = False
    max_image_side: int | None = MAX_IMAGE_SIDE


@dataclass(slots=True)
class Talk:
    """A conversation so far.

    Attributes:
        ids: Its tokens.
        images: Its pictures, as pillow images, in the order of their tokens.
        memory: What a small model has read of it, so that it reads nothing twice.
    """

    ids: list[int]
    images: list[Any]
    memory: Memory = field(default_factory=Memory)


@dataclass(slots=True, kw_only=True)
class _Slot(Talk):
    """One episode being played."""

    episode: AnyEpisode
    said: list[bool]
    turns: list[int] = field(default_factory=list)
    words: list[str] = field(default_factory=list)
    live: bool = True
    outage: str = ""

    @property
    def prompt(self) -> int:
        return self.said.index(True) if True in self.said else len(self.said)

    def add(self, ids: Sequence[int], *, own: bool) -> None:
        """Add tokens, the model's own or what it is to read."""
        self.ids += ids
        self.said += [own] * len(ids)


@dataclass(frozen=True, slots=True)
class Played:
    """A finished rollout.

    Attributes:
        episode: The episode; one that the model left before its end was stopped.
        closing: What the model said without calling a tool, if anything.
        outage: What outside the episode failed in the middle of it, such as an endpoint in another
            seat or a judge; the episode has no score then. Empty otherwise.
        ids: The whole conversation in tokens; none of a script's.
        said: Whether each of them is the model's own.
        turns: How many turns of the episode the model had taken after each of its replies, of
            which each is a run of its own tokens; none of a script's.
    """

    episode: AnyEpisode
    closing: str = ""
    outage: str = ""
    ids: Sequence[int] = ()
    said: Sequence[bool] = ()
    turns: tuple[int, ...] = ()

    @property
    def tokens(self) -> int:
        """Length of the whole conversation in tokens; 0 for a script."""
        return len(self.ids)

    @property
    def reply_rewards(self) -> tuple[float, ...]:
        """What each reply earned, which sums to the episode's return; none if it has no score."""
        if self.outage or not self.turns:
            return ()
        return by_reply(turn_rewards(self.episode), self.turns)


def play(
    model: AnyModel,
    processing: AnyProcessor,
    env: HealthEnv,
    tasks: Iterable[tuple[Split, int]],
    sampling: Sampling,
    *,
    system: str = "",
    progress: Callable[[int], None] = lambda count: None,
) -> list[Played]:
    """Play tasks to their end and return the episodes in the order of the tasks.

    The conversation is carried on as tokens, like TRL's: replies are not rendered again. Where
    something outside an episode fails, that episode ends there without a score, and says so; the
    others go on.

    Args:
        model: A causal language model or a vision-language model, in evaluation mode.
        processing: Its tokenizer, or its processor, with chat template and response template.
        env: The environment; its own episode is left alone.
        tasks: Split and index of each task.
        sampling: How replies are drawn.
        system: A system message; none if empty.
        progress: Told how many episodes have just been finished.

    Raises:
        ConfigurationError: If pictures are to be shown and there is no image processor.
        InfrastructureError: If somebody who begins is out of reach: then there is no episode.
    """
    episodes = [partial(env.open_episode, split, index) for split, index in tasks]
    return play_episodes(model, processing, episodes, sampling, system=system, progress=progress)


def play_episodes(
    model: AnyModel,
    processing: AnyProcessor,
    episodes: Iterable[Callable[[], AnyEpisode]],
    sampling: Sampling,
    *,
    system: str = "",
    progress: Callable[[int], None] = lambda count: None,
) -> list[Played]:
    """Play episodes of whatever environments; see :func:`play`.

    Args:
        model: The model, in evaluation mode.
        processing: Its tokenizer, or its processor.
        episodes: What begins each of them, called when its batch does.
        sampling: How replies are drawn.
        system: A system message; none if empty.
        progress: Told how many episodes have just been finished.

    Raises:
        ConfigurationError: As :func:`play`.
        InfrastructureError: As :func:`play`.
    """
    if sampling.images and not chat.reads_pictures(processing):
        raise ConfigurationError(
            "Showing pictures needs the processor of a vision-language model, not a tokenizer."
        )
    queue = list(episodes)
    played: list[Played] = []
    for start in range(0, len(queue), sampling.batch):
        chosen = queue[start : start + sampling.batch]
        slots = [_seat(processing, begin(), system) for begin in chosen]
        while live := [slot for slot in slots if slot.live]:
            for slot, reply in zip(live, generate(model, processing, live, sampling), strict=True):
                _whatever_fails(slot, partial(_answer, processing, slot, reply, sampling))
        for slot in slots:
            if not slot.episode.done() and not slot.outage:
                _whatever_fails(slot, slot.episode.stop)
        played += [
            Played(
                slot.episode,
                " ".join(slot.words),
                slot.outage,
                slot.ids,
                slot.said,
                tuple(slot.turns),
            )
            for slot in slots
        ]
        progress(len(slots))
    return played


def _whatever_fails(slot: _Slot, act: Callable[[], object]) -> None:
    """Do something in an episode; if something outside it fails, it ends without a score."""
    try:
        act()
    except Exception as error:  # which are outages, one function knows; all others go on
        if not is_outage(error):
            raise
        slot.live, slot.outage = False, f"{type(error).__name__}: {error}"


def _seat(processing: AnyProcessor, episode: AnyEpisode, system: str) -> _Slot:
    messages = [{"role": "system", "content": system}] if system else []
    messages.append({"role": "user", "content": episode.instruction()})
    tools = episode.seat().catalog.openai()
    ids = chat.render(processing, messages, tools, generate=True)
    return _Slot(ids, [], episode=episode, said=[False] * len(ids))


def generate(
    model: AnyModel, processing: AnyProcessor, slots: Sequence[Talk], sampling: Sampling
) -> list[list[int]]:
    """Return the tokens of a model's next reply in each conversation, up to its end mark.

    Args:
        model: The model, in evaluation mode.
        processing: Its tokenizer, or its processor.
        slots: The conversations, each with the head of the reply.
        sampling: How the replies are drawn.
    """
    import torch

    tokenizer = chat.tokenizer_of(processing)
    if readable(model):
        return _read_on(model, tokenizer.eos_token_id, slots, sampling)
    longest = max(len(slot.ids) for slot in slots)
    pad, end = tokenizer.pad_token_id, tokenizer.eos_token_id
    padded = [[pad] * (longest - len(slot.ids)) + slot.ids for slot in slots]
    mask = [[0] * (longest - len(slot.ids)) + [1] * len(slot.ids) for slot in slots]
    inputs = {"input_ids": torch.tensor(padded), "attention_mask": torch.tensor(mask)}
    drawn = {"do_sample": True, "temperature": sampling.temperature, "top_k": 0, "top_p": 1.0}
    with torch.no_grad():
        out = model.generate(
            **{name: value.to(model.device) for name, value in inputs.items()},
            **_seen(model, processing, slots, inputs["input_ids"]),
            max_new_tokens=sampling.max_new_tokens,
            pad_token_id=pad,
            eos_token_id=end,
            **(drawn if sampling.temperature else {"do_sample": False}),
        )
    replies = [row[longest:].tolist() for row in out]
    return [ids[: ids.index(end) + 1] if end in ids else ids for ids in replies]


def _read_on(
    model: AnyModel, end: int, slots: Sequence[Talk], sampling: Sampling
) -> list[list[int]]:
    """Return the replies of a model whose reading is kept between turns."""
    import torch

    from healthgym.integrations.trl.reading import Reader

    chance = torch.Generator(model.device)
    if sampling.temperature:
        # What is drawn follows from torch's own state, which trainers seed and restore.
        chance.manual_seed(int(torch.randint(2**62, ())))
    return Reader(model, end, sampling.max_new_tokens).replies(
        [slot.memory for slot in slots],
        [slot.ids[slot.memory.length :] for slot in slots],
        sampling.temperature,
        chance,
    )


def _seen(
    model: AnyModel, processing: AnyProcessor, slots: Sequence[Talk], ids: object
) -> JsonDict:
    """Return the pixels of all pictures of a batch, and which tokens stand for them."""
    if not chat.reads_pictures(processing):
        return {}
    # A token that stands for a picture where there is none would be a fault of ours.
    kept: JsonDict = {"suppress_tokens": [model.config.image_token_id]}
    images = [image for slot in slots for image in slot.images]
    if images:
        pixels = processing.image_processor(images=images, return_tensors="pt")
        kept |= {name: value.to(model.device) for name, value in pixels.items()}
        # The name is Qwen's where there is Qwen's grid, else Gemma's; TRL goes by the same sign.
        name = "mm_token_type_ids" if "image_grid_thw" in kept else "token_type_ids"
        kept[name] = (ids == model.config.image_token_id).long().to(model.device)
    return kept


def _answer(processing: AnyProcessor, slot: _Slot, reply: list[int], sampling: Sampling) -> None:
    """Carry out one reply; without a call, the rollout is over."""
    tools = slot.episode.seat().catalog.openai()
    message = read_reply(chat.tokenizer_of(processing), reply, tools, slot.ids)
    slot.add(reply, own=True)
    calls = message.get("tool_calls") or []
    slot.turns.append(_taken(slot.episode))
    if not calls:
        slot.words.append(message["content"])
        slot.live = False
        return
    for request in calls:
        name = request["function"]["name"]
        content, images = _call(slot.episode, request, sampling)
        slot.turns[-1] = _taken(slot.episode)
        suffix = chat.suffix_ids(processing, name, content)
        if len(slot.ids) + len(suffix) > slot.prompt + sampling.max_length:
            slot.live = False
            return
        slot.add(suffix, own=False)
        slot.images += images
    # As many turns as the episode allows, and one for the closing words.
    slot.live = len(slot.turns) <= slot.episode.config.max_turns


def _taken(episode: AnyEpisode) -> int:
    """Return how many turns the role that is played from outside has taken."""
    return sum(turn.role == episode.role for turn in episode.turns)


def _call(
    episode: AnyEpisode, request: JsonDict, sampling: Sampling
) -> tuple[str | list[JsonDict], list[Any]]:
    """Return what a call is answered, and the pictures in it."""
    if episode.done():
        return OVER, []
    function = request["function"]
    said = unread(function["arguments"])
    call = ToolCall(function["name"], function["arguments"])
    outcome = episode.step(call if said is None else said)
    if not (sampling.images and outcome.images):
        return outcome.observation, []
    content = blocks(outcome.observation, outcome.images, sampling.max_image_side)
    return content, [part["image"] for part in content if part["type"] == "image"]
