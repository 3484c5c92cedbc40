"""Games between seats, many at a time: who has the turn is answered together with all who have."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import torch

from healthgym.core.borders import JsonObject
from healthgym.core.episode import AnyEpisode
from healthgym.core.tool import ToolCall
from healthgym.integrations.trl import chat
from healthgym.integrations.trl.foreign import AnyTokenizer
from healthgym.integrations.trl.memory import Memory
from healthgym.integrations.trl.reading import Reader

_CALL = re.compile(re.escape(chat.CALL) + "(.*?)" + re.escape(chat.CALL_END), re.DOTALL)
#: Turns of one game at most; more is a fault of the family.
_MOST_TURNS = 200


#: What a model replied to a conversation, by the model and the tokens.
Known = dict[tuple[int, tuple[int, ...]], list[int]]


class Worker(Protocol):
    """Somebody scripted who sits at a seat."""

    def turn(self) -> None:
        """Do what can be done now."""


@dataclass(slots=True)
class Talk:
    """What a seat has read and said.

    Attributes:
        role: The seat.
        ids: Its tokens so far.
        said: Whether each of them is the seat's own.
        heard: What was answered to its last call, until it has the turn again.
        memory: What the model has read of it.
    """

    role: str
    ids: list[int] = field(default_factory=list)
    said: list[bool] = field(default_factory=list)
    heard: str = ""
    memory: Memory = field(default_factory=Memory)

    def hear(self, tokenizer: AnyTokenizer, news: str, instruction: str) -> None:
        """Read what came since the last call, and the head of the next reply.

        Args:
            tokenizer: The tokenizer.
            news: What the seat was told meanwhile.
            instruction: What it reads first.
        """
        if self.ids:
            text = "\n".join(part for part in (self.heard, news) if part)
            head = f"\n{chat.TOOL}{text}{chat.END}\n{chat.ASSISTANT}"
        else:
            text = "\n\n".join(part for part in (instruction, news) if part)
            head = f"{chat.USER}{text}{chat.END}\n{chat.ASSISTANT}"
        self.add(tokenizer.encode(head))

    def add(self, ids: Sequence[int], *, own: bool = False) -> None:
        """Add tokens, the seat's own or what it reads."""
        self.ids += ids
        self.said += [own] * len(ids)

    @property
    def fresh(self) -> list[int]:
        """What the model has not read yet."""
        return self.ids[self.memory.length :]


@dataclass(slots=True)
class Game:
    """One episode with somebody at every seat.

    Attributes:
        episode: The episode.
        workers: Who is scripted, by role.
        readers: Who plays as a model, by role.
        talks: What the models have read and said, by role.
    """

    episode: AnyEpisode
    workers: Mapping[str, Worker]
    readers: Mapping[str, Reader]
    talks: dict[str, Talk] = field(default_factory=dict)

    def won(self, role: str) -> bool:
        """Return whether a seat passes every check that it is judged by."""
        return bool(self.episode.verdict(role).success)

    @property
    def both(self) -> bool:
        """Whether every seat does."""
        return all(map(self.won, self.episode.roles))


def play(
    games: Sequence[Game],
    tokenizer: AnyTokenizer,
    *,
    temperature: float = 0.0,
    seed: int = 0,
    known: Known | None = None,
) -> None:
    """Play games to their end.

    A seat whose conversation fills its model's context is out of turns.

    Args:
        games: The games, at their beginning.
        tokenizer: The tokenizer of all models.
        temperature: At which replies are drawn; 0 takes the likeliest tokens.
        seed: Of what is drawn.
        known: Replies of models that no longer change, at temperature 0; it grows.
    """
    generator = torch.Generator().manual_seed(seed)
    for _ in range(_MOST_TURNS):
        waiting: dict[int, list[tuple[Game, Talk]]] = {}
        going = False
        for game in games:
            role = _scripted(game)
            if role is not None:
                going = True
                talk = game.talks.setdefault(role, Talk(role))
                episode = game.episode
                talk.hear(tokenizer, episode.news(role), episode.instruction(role))
                reader = game.readers[role]
                if len(talk.ids) + reader.longest > reader.context:
                    episode.stop(role)
                    continue
                waiting.setdefault(id(reader), []).append((game, talk))
        if not going:
            break
        for asked in waiting.values():
            _answer(asked, tokenizer, temperature, generator, known)
    for game in games:
        for role in game.episode.roles:
            if not game.episode.done(role):
                game.episode.stop(role)
        for talk in game.talks.values():
            talk.memory = Memory()


def _scripted(game: Game) -> str | None:
    """Let scripted seats play; return the model's seat that has the turn, or None at the end."""
    for _ in range(_MOST_TURNS):
        role = game.episode.to_act()
        if role is None or role not in game.workers:
            return role
        game.workers[role].turn()
    return None


def _answer(
    asked: Sequence[tuple[Game, Talk]],
    tokenizer: AnyTokenizer,
    temperature: float,
    generator: torch.Generator,
    known: Known | None,
) -> None:
    """Have one model answer in every game in which it has the turn."""
    reader = asked[0][0].readers[asked[0][1].role]
    words = [(id(reader), tuple(talk.ids)) for _, talk in asked] if known is not None else []
    found = [known.get(each) for each in words] if known is not None else [None] * len(asked)
    talks = [talk for (_, talk), reply in zip(asked, found, strict=True) if reply is None]
    fresh = reader.replies(
        [talk.memory for talk in talks], [talk.fresh for talk in talks], temperature, generator
    )
    made = iter(fresh)
    replies = [next(made) if reply is None else reply for reply in found]
    if known is not None:
        known.update(zip(words, replies, strict=True))
    for (game, talk), reply in zip(asked, replies, strict=True):
        talk.add(reply, own=True)
        text = tokenizer.decode(reply, skip_special_tokens=False)
        outcome = game.episode.step(called(text), talk.role)
        talk.heard = outcome.observation


def called(text: str) -> object:
    """Return the call that a reply makes; the text itself where it makes none."""
    found = _CALL.search(text)
    if found is None:
        return text
    try:
        made: object = json.loads(found[1])
    except ValueError:
        return text
    return made if isinstance(made, dict) else text


def written(call: ToolCall, name: str) -> str:
    """Return a call as a model writes it.

    Args:
        call: The call.
        name: The tool's name for models.
    """
    given: JsonObject = {"name": name, "arguments": dict(call.arguments)}
    return f"{chat.CALL}{json.dumps(given, ensure_ascii=False)}{chat.CALL_END}{chat.END}"


def shown(episode: AnyEpisode, role: str, tokenizer: AnyTokenizer) -> Talk:
    """Return what a seat read and said in an episode that somebody scripted has played.

    What came between two of its turns has to have been taken as news, as models take it.

    Args:
        episode: The episode.
        role: The seat.
        tokenizer: The tokenizer.
    """
    talk, catalog = Talk(role), episode.seat(role).catalog
    for turn in episode.turns:
        if turn.role != role:
            continue
        talk.hear(tokenizer, turn.news, episode.instruction(role))
        action = json.loads(turn.action)
        name = catalog.resolve(action["name"])[0].identifier
        call = ToolCall(action["name"], action["arguments"])
        ids = tokenizer.encode(written(call, name))
        talk.add(ids, own=True)
        talk.heard = turn.observation
    return talk


def texts(episode: AnyEpisode) -> list[str]:
    """Return what was read and said in an episode, for a tokenizer to learn from."""
    found = [episode.instruction(role) for role in episode.roles]
    for turn in episode.turns:
        action = json.loads(turn.action)
        name = episode.seat(turn.role).catalog.resolve(action["name"])[0].identifier
        call = ToolCall(action["name"], action["arguments"])
        found += [turn.news, turn.observation, written(call, name)]
    return [text for text in found if text]
