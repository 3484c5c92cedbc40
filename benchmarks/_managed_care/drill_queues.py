"""Queues of the marathon's drill as a small model works them, and as they are demonstrated."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache

import numpy as np

from healthgym.core.episode import Episode
from healthgym.core.seeding import Split
from healthgym.core.tool import ToolCall, call
from healthgym.envs.managed_care.marathon.crew import MarathonEpisode
from healthgym.envs.managed_care.marathon.family import ReviewMarathon
from healthgym.envs.managed_care.marathon.task import MarathonInstance
from healthgym.envs.managed_care.marathon.workers import QUEUE
from healthgym.envs.managed_care.utilization_management import drill
from healthgym.integrations.selfplay.games import Talk, written
from healthgym.integrations.trl import chat
from healthgym.integrations.trl.foreign import AnyTokenizer
from healthgym.rewards import SparseReward

#: Share of the demonstrations that leave the queue after its first case.
LEFT = 2 / 3
#: What a nurse calls once a case is done, and calls of a view at most.
SAVES, _LONGEST_VIEW = "review__save_criteria_evaluation", 6


@cache
def family(size: int) -> ReviewMarathon:
    """Return the drill's queues of a size."""
    return ReviewMarathon("drill", size=size)


def begun(instance: MarathonInstance) -> MarathonEpisode:
    """Begin a queue."""
    own = family(len(instance.reference.pieces))
    return Episode(own, instance, SparseReward(), own.rules)


def drawn(split: Split, size: int, index: int) -> MarathonInstance:
    """Return a queue of a size."""
    return family(size).generator.generate(split, index)


@dataclass
class Work:
    """A queue, as a model sees it that forgets a case once it is saved.

    Attributes:
        episode: The episode.
        turns: What was called and answered so far, as text.
        since: Of these, those that stand in the view at hand, besides the first.
        views: What was read and said, a view after the other.
    """

    episode: MarathonEpisode
    turns: list[tuple[str, str]] = field(default_factory=list)
    since: int = 0
    views: list[Talk] = field(default_factory=list)

    def look(self, tokenizer: AnyTokenizer) -> Talk:
        """Return the view at hand, with what was answered last."""
        if self.since and self.views:
            self.views[-1].heard = self.turns[-1][1]
            self.views[-1].hear(tokenizer, "", "")
            return self.views[-1]
        text = f"{chat.USER}{self.episode.instruction('agent')}{chat.END}\n{chat.ASSISTANT}"
        # What listed the queue stays in view, and what ended the case before.
        for said, heard in dict.fromkeys((*self.turns[:1], *self.turns[-1:])):
            text += f"{said}\n{chat.TOOL}{heard}{chat.END}\n{chat.ASSISTANT}"
        self.views.append(Talk("agent"))
        self.views[-1].add(tokenizer.encode(text))
        return self.views[-1]

    def say(self, text: str, action: object) -> None:
        """Make a call, and hear what is answered."""
        outcome = self.episode.step(action)
        self.turns.append((text, outcome.observation))
        done = SAVES in text and not outcome.errors
        self.since = 0 if done or self.since == _LONGEST_VIEW else self.since + 1

    @property
    def shares(self) -> tuple[float, float]:
        """The shares of cases that are solved, and finished."""
        found = self.episode.verdict().metrics
        return found["solved"] / found["cases"], found["finished"] / found["cases"]


def script(instance: MarathonInstance, rng: np.random.Generator) -> Iterator[ToolCall]:
    """Yield what a demonstrator calls, who looks at everything that a case needs anew."""
    pieces = list(instance.reference.pieces.values())
    yield call(QUEUE)
    for piece in pieces[:1] if rng.random() < LEFT else pieces:
        page, data, saved, _ = drill.solve(piece.instance, rng)
        # The data names the page.
        yield from (each for each in (data, page, saved) if isinstance(each, ToolCall))
    yield call("finish")


def demonstrated(size: int, index: int) -> tuple[MarathonInstance, list[tuple[str, ToolCall]]]:
    """Return a queue, and what a demonstrator calls in it, with the text of each call."""
    instance = drawn(Split.TRAIN, size, index)
    catalog = begun(instance).seat("agent").catalog
    made = script(instance, np.random.default_rng((size, index)))
    return instance, [(written(one, catalog.resolve(one.name)[0].identifier), one) for one in made]


def read(size: int, index: int) -> list[str]:
    """Return all texts of a demonstration."""
    instance, calls = demonstrated(size, index)
    work = Work(begun(instance))
    for text, made in calls:
        work.say(text, made)
    return [work.episode.instruction("agent"), *(text for turn in work.turns for text in turn)]


def shown(size: int, index: int, tokenizer: AnyTokenizer) -> list[Talk]:
    """Return the views of a demonstration."""
    instance, calls = demonstrated(size, index)
    work = Work(begun(instance))
    for text, made in calls:
        ids = tokenizer.encode(text)
        work.look(tokenizer).add(ids, own=True)
        work.say(text, made)
    return work.views
