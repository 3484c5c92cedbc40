"""Playing a served environment over its wire, answer by answer as they came."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from types import TracebackType
from typing import Self
from urllib.parse import urlsplit

from websockets.sync.client import connect

from healthgym.core.borders import JsonDict

_PATIENCE = 60


@dataclass(frozen=True, slots=True)
class Played:
    """An episode.

    Attributes:
        answers: What the server said, in order, the answer to the reset first.
        earned: Sum of the rewards.
        done: Whether it came to its end.
    """

    answers: tuple[JsonDict, ...]
    earned: float
    done: bool

    @property
    def last(self) -> JsonDict:
        """The observation that it ended with."""
        found: JsonDict = self.answers[-1]["observation"]
        return found


class Refused(Exception):
    """The server answered a message of the protocol with an error."""


class Session:
    """One connection, and so one episode at a time.

    Args:
        base_url: Address of the server.
    """

    def __init__(self, base_url: str) -> None:
        self._connection = connect(
            f"ws://{urlsplit(base_url).netloc}/ws", proxy=None, max_size=1 << 26
        )

    def __enter__(self) -> Self:
        """Stay connected."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close the connection."""
        self._connection.close()

    def ask(self, operation: str, data: JsonDict) -> JsonDict:
        """Send a message and return the data of its answer.

        Raises:
            Refused: If the server answers with an error.
        """
        self._connection.send(json.dumps({"type": operation, "data": data}))
        answer = json.loads(self._connection.recv(_PATIENCE))
        if answer["type"] == "error":
            raise Refused(f"{operation}: {answer['data']}")
        found: JsonDict = answer["data"]
        return found

    def begin(self, options: JsonDict) -> JsonDict:
        """Begin an episode and return the answer."""
        return self.ask("reset", {"episode_id": "checked", **options})

    def play(self, episode: JsonDict) -> Played:
        """Play an episode of a package to its end, or as far as its actions go."""
        return self.go_on(self.begin(episode["options"]), episode["actions"])

    def go_on(self, begun: JsonDict, actions: Iterable[JsonDict]) -> Played:
        """Take actions until they are used up or the episode is over."""
        answers = [begun]
        for action in actions:
            if answers[-1]["done"]:
                break
            answers.append(self.ask("step", action))
        earned = sum(answer["reward"] or 0.0 for answer in answers)
        return Played(tuple(answers), earned, bool(answers[-1]["done"]))


def play(base_url: str, episode: JsonDict) -> Played:
    """Play an episode in a session of its own."""
    with Session(base_url) as session:
        return session.play(episode)
