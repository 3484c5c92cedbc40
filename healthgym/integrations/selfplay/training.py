"""Steps of learning: imitation of demonstrations, then reward from what was played."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
import torch
from torch.nn import functional

from healthgym.integrations.selfplay.games import Game, Talk
from healthgym.integrations.trl.foreign import AnyModel
from healthgym.integrations.trl.reading import Reader


@dataclass(frozen=True, slots=True)
class Imitation:
    """How demonstrations are learned from.

    Attributes:
        steps: Steps of the optimizer.
        batch: Conversations in a step.
        rate: Highest learning rate; it rises over a twentieth of the steps, then falls to 0.
        clip: Largest norm of a gradient.
        sorted_by: Batches among which conversations are sorted by length, which saves padding; with
            1 those of a batch are of any length.
    """

    steps: int = 1200
    batch: int = 24
    rate: float = 3e-3
    clip: float = 1.0
    sorted_by: int = 8


@dataclass(frozen=True, slots=True)
class ExpertIteration:
    """How a model learns from the games that it won (expert iteration, Anthony et al. 2017).

    Attributes:
        rounds: Rounds of games and learning.
        tasks: Tasks in a round.
        group: Games of each task, which are compared with each other.
        most: Conversations of a task and seat that are kept of those that won.
        remembered: Rounds whose conversations are learned from.
        steps: Steps of the optimizer after each round.
        batch: Conversations in a step.
        rate: Learning rate.
        clip: Largest norm of a gradient.
    """

    rounds: int = 12
    tasks: int = 24
    group: int = 8
    most: int = 3
    remembered: int = 4
    steps: int = 30
    batch: int = 12
    rate: float = 1e-3
    clip: float = 1.0


#: What a conversation is worth at least, so that what is known is not forgotten.
_LEAST_WORTH = 0.1


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


def won(
    games: Sequence[Game], settings: ExpertIteration, learner: Reader, seed: int
) -> tuple[list[tuple[Talk, float]], float]:
    """Return what a learner said where it won, and how much was to be learned from a round.

    A conversation is worth the share of the same seat's games of its task that were lost: what is
    won anyway says little. It is paid by its seat's verdict alone.

    Args:
        games: The games, those of one task after each other.
        settings: How many of a task's conversations are kept.
        learner: Who learns, at each seat at which it sat; the model may have played others too.
        seed: Of which are kept.

    Returns:
        The conversations, each with its worth, and the share of tasks and seats of which some games
        were won and some lost.
    """
    rng = np.random.default_rng(seed)
    found: list[tuple[Talk, float]] = []
    mixed: list[bool] = []
    for start in range(0, len(games), settings.group):
        group = games[start : start + settings.group]
        for role in group[0].readers:
            held = [one for one in group if role in one.talks and one.readers[role] is learner]
            kept = [game.talks[role] for game in held if game.won(role)]
            if not held:
                continue
            mixed.append(0 < len(kept) < len(held))
            worth = max(1 - len(kept) / len(held), _LEAST_WORTH)
            chosen = rng.permutation(len(kept))[: settings.most]
            found += [(kept[place], worth) for place in chosen]
    return found, sum(mixed) / max(len(mixed), 1)


class Wins:
    """What a learner said where it won, of the last rounds.

    Args:
        settings: How it is learned from.
    """

    def __init__(self, settings: ExpertIteration) -> None:
        self.settings = settings
        self._rounds: deque[Sequence[tuple[Talk, float]]] = deque(maxlen=settings.remembered)

    def add(self, held: Sequence[tuple[Talk, float]]) -> None:
        """Add a round: conversations, each with its worth above 0."""
        self._rounds.append(held)

    def repeat(self, model: AnyModel, optimizer: torch.optim.Optimizer, number: int) -> None:
        """Learn to say it again, drawn by its worth; the rate falls to 0 with the last round.

        Args:
            model: The model; it is changed.
            optimizer: Its optimizer.
            number: Of the round, from 0.
        """
        settings, held = self.settings, list(chain.from_iterable(self._rounds))
        if not held:
            return
        for part in optimizer.param_groups:
            part["lr"] = settings.rate * max(1 - number / settings.rounds, 0.0)
        worth = np.array([each for _, each in held])
        rng = np.random.default_rng(number)
        model.train()
        for _ in range(settings.steps):
            places = rng.choice(len(held), settings.batch, p=worth / worth.sum())
            ids, said = _padded([held[place][0] for place in places])
            _descend(-_logps(model, ids, said).mean(), model, optimizer, settings.clip)
        model.eval()


def _logps(model: AnyModel, ids: torch.Tensor, said: torch.Tensor) -> torch.Tensor:
    """Return the log-probability of each token that was said, row after row.

    Only there are logits made: they are as much work as a layer.
    """
    hidden = model.model(input_ids=ids[:, :-1]).last_hidden_state[said[:, 1:]]
    logps = functional.log_softmax(model.lm_head(hidden), dim=-1)
    return logps.gather(1, ids[:, 1:][said[:, 1:]][:, None])[:, 0]


def _batches(talks: Sequence[Talk], settings: Imitation, seed: int) -> Iterator[Sequence[Talk]]:
    """Yield batches of conversations of like length, in another order each time round."""
    rng = np.random.default_rng(seed)
    made = 0
    while True:
        order = rng.permutation(len(talks))
        # Sorted within stretches of some batches: little padding, and still mixed.
        stretch = settings.sorted_by * settings.batch
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
