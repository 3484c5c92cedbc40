"""The two steps of learning: imitation of demonstrations, then reward from games played."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import torch
from torch.nn import functional

from healthgym.integrations.selfplay.games import Game, Talk
from healthgym.integrations.trl.foreign import AnyModel

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Imitation:
    """How demonstrations are learned from.

    Attributes:
        steps: Steps of the optimizer.
        batch: Conversations in a step.
        rate: Highest learning rate; it rises over a twentieth of the steps, then falls to 0.
        clip: Largest norm of a gradient.
    """

    steps: int = 1200
    batch: int = 24
    rate: float = 3e-3
    clip: float = 1.0


@dataclass(frozen=True, slots=True)
class Reinforcement:
    """How reward is learned from.

    Attributes:
        rounds: Rounds of games and learning.
        tasks: Tasks in a round.
        group: Games of each task, which are compared with each other.
        rate: Learning rate.
        clip: Largest norm of a gradient.
        ratio: How far the probability of a token may move in a round before it counts no more.
        batch: Conversations in a step of the optimizer: many small steps at a low rate learn more
            from the same games than few large ones.
        passes: How often the games of a round are learned from.
    """

    rounds: int = 60
    tasks: int = 16
    group: int = 8
    rate: float = 1.5e-4
    clip: float = 0.5
    ratio: float = 0.2
    batch: int = 16
    passes: int = 2


def imitate(
    model: AnyModel,
    talks: Sequence[Talk],
    settings: Imitation,
    seed: int,
    report: Callable[[int, float], None] = lambda step, loss: None,
) -> None:
    """Learn to say what was said in demonstrations.

    Args:
        model: The model; it is changed.
        talks: The demonstrations.
        settings: How.
        seed: Of their order.
        report: Told of each step and its loss, in nats a token.
    """
    optimizer = torch.optim.AdamW(model.parameters(), settings.rate, betas=(0.9, 0.98))
    model.train()
    for step, chosen in enumerate(_batches(talks, settings, seed)):
        for group in optimizer.param_groups:
            group["lr"] = settings.rate * _warmth(step, settings.steps)
        ids, said = _padded(chosen)
        loss = -_logps(model, ids, said).mean()
        _descend(loss, model, optimizer, settings.clip)
        report(step + 1, loss.item())
    model.eval()


def reinforce(
    model: AnyModel,
    optimizer: torch.optim.Optimizer,
    games: Sequence[Game],
    settings: Reinforcement,
    seed: int,
    seats: Sequence[str] = (),
) -> float:
    """Learn from one round of games, and return the share of conversations that told something.

    Each conversation is paid its seat's verdict, compared with the same seat's in the other games
    of its task; where all are paid alike there is nothing to learn.

    Args:
        model: The model that played; it is changed.
        optimizer: Its optimizer.
        games: The games, those of one task after each other.
        settings: How.
        seed: Of the order in which conversations are learned from.
        seats: The model's, where somebody else sits at the others; all if empty.
    """
    paid = [
        pair
        for group in _groups(games, settings.group)
        for pair in _advantages(group, seats or group[0].episode.roles)
    ]
    return learn(model, optimizer, paid, settings, seed)


def learn(
    model: AnyModel,
    optimizer: torch.optim.Optimizer,
    paid: Sequence[tuple[Talk, float]],
    settings: Reinforcement,
    seed: int,
) -> float:
    """Learn from conversations that were paid, and return the share of those that told something.

    Args:
        model: The model that spoke; it is changed.
        optimizer: Its optimizer.
        paid: Conversations, each with what it was worth beside the others of its task.
        settings: How.
        seed: Of the order in which conversations are learned from.
    """
    telling = [(talk, worth) for talk, worth in paid if worth]
    model.train()
    for chosen in _drawn(telling, settings, seed):
        ids, said = _padded([talk for talk, _ in chosen])
        now = _logps(model, ids, said)
        before = torch.tensor([p for talk, _ in chosen for p in _own(talk.logps, talk.said)])
        worth = torch.tensor([each for talk, each in chosen for _ in _own(talk.said, talk.said)])
        ratio = (now - before).exp()
        kept = ratio.clamp(1 - settings.ratio, 1 + settings.ratio)
        gain = torch.minimum(ratio * worth, kept * worth)
        # A token counts the same wherever it stands, so that long replies are not learned less.
        _descend(-gain.mean(), model, optimizer, settings.clip)
    model.eval()
    return len(telling) / len(paid) if paid else 0.0


def _drawn(paid: Sequence[T], settings: Reinforcement, seed: int) -> Iterator[Sequence[T]]:
    """Yield the batches of a round, in another order at each pass."""
    rng = np.random.default_rng(seed)
    for _ in range(settings.passes):
        order = rng.permutation(len(paid))
        for start in range(0, len(order), settings.batch):
            yield [paid[place] for place in order[start : start + settings.batch]]


def _logps(model: AnyModel, ids: torch.Tensor, said: torch.Tensor) -> torch.Tensor:
    """Return the log-probability of each token that was said, row after row.

    Only there are logits made: they are as much work as a layer.
    """
    hidden = model.model(input_ids=ids[:, :-1]).last_hidden_state[said[:, 1:]]
    logps = functional.log_softmax(model.lm_head(hidden), dim=-1)
    return logps.gather(1, ids[:, 1:][said[:, 1:]][:, None])[:, 0]


def _own(values: Sequence[T], said: Sequence[bool]) -> Iterator[T]:
    return (value for value, mine in zip(values, said, strict=True) if mine)


def _groups(games: Sequence[Game], size: int) -> Iterator[Sequence[Game]]:
    return (games[start : start + size] for start in range(0, len(games), size))


def _advantages(group: Sequence[Game], seats: Iterable[str]) -> Iterator[tuple[Talk, float]]:
    """Yield each conversation of a task's games with what it was worth beside the others."""
    for role in seats:
        held = [game for game in group if role in game.talks]
        rewards = np.array([float(game.won(role)) for game in held])
        spread = rewards.std() if held else 0.0
        for game, reward in zip(held, rewards, strict=True):
            worth = (reward - rewards.mean()) / spread if spread else 0.0
            yield game.talks[role], float(worth)


def _batches(talks: Sequence[Talk], settings: Imitation, seed: int) -> Iterator[Sequence[Talk]]:
    """Yield batches of conversations of like length, in another order each time round."""
    rng = np.random.default_rng(seed)
    made = 0
    while True:
        order = rng.permutation(len(talks))
        # Sorted within stretches of some batches: little padding, and still mixed.
        stretch = 8 * settings.batch
        batches = []
        for start in range(0, len(order), stretch):
            part = sorted(order[start : start + stretch], key=lambda one: len(talks[one].ids))
            batches += [
                part[at : at + settings.batch] for at in range(0, len(part), settings.batch)
            ]
        for place in rng.permutation(len(batches)):
            if made == settings.steps:
                return
            made += 1
            yield [talks[one] for one in batches[place]]


def _padded(talks: Sequence[Talk]) -> tuple[torch.Tensor, torch.Tensor]:
    """Return tokens, filled up on the right, and which of them the seat said itself."""
    width = max(len(talk.ids) for talk in talks)
    ids = [[*talk.ids, *([0] * (width - len(talk.ids)))] for talk in talks]
    said = [[*talk.said, *([False] * (width - len(talk.said)))] for talk in talks]
    return torch.tensor(ids), torch.tensor(said)


def _warmth(step: int, steps: int) -> float:
    rising = max(steps // 20, 1)
    return min((step + 1) / rising, (steps - step) / max(steps - rising, 1))


def _descend(
    loss: torch.Tensor, model: AnyModel, optimizer: torch.optim.Optimizer, clip: float
) -> None:
    optimizer.zero_grad()
    loss.backward()  # type: ignore[no-untyped-call]
    torch.nn.utils.clip_grad_norm_(model.parameters(), clip)
    optimizer.step()
