"""An episode that is kept in two files: which task it is, and what was done in it.

Who works on it needs no process that goes on: each command plays the recorded calls again, from the
seed, and adds one. So whoever has both files can score it anew, on another machine, and gets what
the first one got. Episodes that hear from outside (an endpoint in another seat, a judge that is
asked) are refused: their calls alone do not tell what happened.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from healthgym.core.action import calls_of, text_of
from healthgym.core.borders import Info, JsonDict, Settings
from healthgym.core.calls import Lapsed
from healthgym.core.env import HealthEnv
from healthgym.core.family import ORACLE
from healthgym.core.images import Image
from healthgym.core.seeding import Split
from healthgym.core.selection import parse_split
from healthgym.core.tool import ToolCall
from healthgym.core.writing import locked, require_plain, writable, write_whole
from healthgym.errors import ConfigurationError, TrajectoryError
from healthgym.registration import make_health_env
from healthgym.version import __version__
from healthgym.worlds.workspace.allowance import unhurried

_OVER = "The episode is over."
_MAKE = "`healthgym session new FILE ID` writes one."
#: How many times as long as when it was made a call may take that is played again.
_TIMES = 4.0
#: Characters of an answer's digest that are kept; they tell a changed answer, and keep no secret.
_DIGEST = 16


class SessionTask(BaseModel):
    """Which episode it is.

    Attributes:
        layout: Layout of the file.
        env_id: Registered id of the environment.
        env_kwargs: Its arguments.
        split: Split of the task.
        index: Its index there.
        task_id: Its id, so that a changed generator is noticed.
        version: Version of healthgym that wrote it.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)

    layout: Literal["healthgym.session/1"] = Field(default="healthgym.session/1", alias="schema")
    env_id: str
    env_kwargs: JsonDict = Field(default_factory=dict)
    split: Split
    index: int = Field(ge=0)
    task_id: str
    version: str = __version__

    @classmethod
    def of(
        cls, env_id: str, env_kwargs: Settings | None = None, *, split: str = "test", index: int = 0
    ) -> Self:
        """Return the task of a registered environment.

        Raises:
            ConfigurationError: If there is no such environment, argument, split or task.
        """
        env = make_health_env(env_id, env_kwargs)
        task = env.open_episode(split, index).task
        return cls(
            env_id=env_id.rpartition(":")[2],
            env_kwargs=dict(env_kwargs or {}),
            split=parse_split(split),
            index=index,
            task_id=task.task_id,
        )

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> Self:
        """Read a task's file.

        Raises:
            ConfigurationError: If there is none, or it is not one.
        """
        try:
            return cls.model_validate_json(require_plain(path).read_text(encoding="utf-8"))
        except OSError as error:
            raise ConfigurationError(f"{path}: {error.strerror}. {_MAKE}") from None
        except (ValidationError, UnicodeDecodeError):
            raise ConfigurationError(f"{path} is not a session's task. {_MAKE}") from None

    def write(self, path: str | os.PathLike[str]) -> Path:
        """Write the task's file, and return where."""
        return write_whole(path, self.model_dump_json(indent=1, by_alias=True) + "\n")


@dataclass(frozen=True, slots=True)
class Answer:
    """What a call is answered.

    Attributes:
        text: What the agent reads.
        failed: Whether the call was refused.
        over: Whether the episode is over by it, or was before.
        images: Pictures shown.
    """

    text: str
    failed: bool = False
    over: bool = False
    images: tuple[Image, ...] = ()


class KeptSession:
    """An episode whose calls are kept in a file; several processes may call, one after the other.

    Args:
        task: Which one.
        record: The file of calls, JSON Lines; one that is not there yet is an episode that begins.

    Raises:
        ConfigurationError: If there is no such environment or task.
        TrajectoryError: If the task is not the one that was written down.
    """

    def __init__(self, task: SessionTask, record: Path) -> None:
        self.task = task
        self.record = writable(require_plain(record))
        self._env = make_health_env(task.env_id, task.env_kwargs)
        # How many calls were played here, and how many bytes of the record they are.
        self._calls = self._played = 0
        self._begin()

    def read(self) -> str:
        """Return what the agent reads first."""
        return self._first

    def tools(self) -> list[JsonDict]:
        """Return the tools in OpenAI's function form."""
        return self._env.episode.seat(self._env.role).catalog.openai()

    def usages(self) -> list[str]:
        """Return a line on each tool: how it is called, and its kind."""
        specs = self._env.episode.seat(self._env.role).catalog.specs
        return [f"{spec.usage}  [{spec.kind}]" for spec in specs]

    def turns(self) -> int:
        """Return how many turns an episode of the task has."""
        return self._env.config.budget(self._env.role)

    def call(self, name: str, arguments: str = "{}") -> Answer:
        """Carry out one call, and keep it.

        It is on the disk before it is answered, so that nobody has read an answer to a call that is
        not on record.

        Args:
            name: The tool.
            arguments: Its arguments, a JSON object as text. What is not one is answered by the
                engine and costs a turn, as on every other face.

        Raises:
            TrajectoryError: If the recorded calls are answered otherwise than when they were made.
            HealthGymError: If something failed on our account; then nothing is kept.
        """
        action = _action(name, arguments.strip() or "{}")
        with self._opened() as file:
            self._catch_up(file)
            if self._env.episode.done(self._env.role):
                return Answer(_OVER, failed=True, over=True)
            answer, late = self._step(action)
            file.write(_line(action, answer.text, late))
            file.flush()
            os.fsync(file.fileno())
            self._calls, self._played = self._calls + 1, file.tell()
        return answer

    def score(self) -> JsonDict:
        """Return the verdict on what was done; work that is not handed in is scored as it stands.

        Returns:
            ``task_id``, ``success`` (under the environment's profile), ``reward``, ``calls`` made,
            and ``verdict`` by profile.

        Raises:
            TrajectoryError: If the recorded calls are answered otherwise than when they were made.
            HealthGymError: If judging fails; there is no score then.
        """
        with self._opened() as file:
            self._begin()
            self._catch_up(file)
            # Judging ends the episode here; who calls next begins with what is on record.
            self._played = -1
        env, role = self._env, self._env.role
        if not env.episode.done(role):
            env.stop()
        verdicts = env.episode.verdicts(role)
        return {
            "task_id": self.task.task_id,
            "success": verdicts[str(env.config.profile)]["success"],
            "reward": env.episode.total_reward(role),
            "calls": self._calls,
            "verdict": verdicts,
        }

    def _begin(self) -> None:
        options = {"split": str(self.task.split), "index": self.task.index}
        self._first, info = self._env.reset(options=options)
        if info["task_id"] != self.task.task_id:
            raise TrajectoryError(f"The task is {info['task_id']}, not {self.task.task_id}.")
        self._calls = self._played = 0

    @contextmanager
    def _opened(self) -> Iterator[BinaryIO]:
        with self.record.open("a+b") as file, locked(file):
            yield file

    def _catch_up(self, file: BinaryIO) -> None:
        """Play what is on record and was not played here yet."""
        size = file.seek(0, os.SEEK_END)
        if not 0 <= self._played <= size:
            self._begin()
        file.seek(self._played)
        for line in file:
            if not line.endswith(b"\n"):
                # Cut short by a crash, so nobody has read its answer.
                file.truncate(self._played)
                break
            action, digest, late = _parsed(line, self._calls + 1)
            if self._env.episode.done(self._env.role):
                raise self._odd("was made after the episode was over.")
            with unhurried(_TIMES):
                answer, _ = self._step(Lapsed(action, late))
            if _digest(answer.text) != digest:
                raise self._odd(
                    "was answered otherwise when it was made; it was recorded with healthgym "
                    f"{self.task.version}, and this is {__version__}."
                )
            self._calls, self._played = self._calls + 1, self._played + len(line)

    def _odd(self, what: str) -> TrajectoryError:
        number, self._played = self._calls + 1, -1
        return TrajectoryError(f"Call {number} {what}")

    def _step(self, action: object) -> tuple[Answer, dict[int, str]]:
        """Return the answer, and which calls of the action the machine's clock refused, and how."""
        before = len(self._env.episode.events)
        text, _, terminated, truncated, info = self._env.step(action)
        if self._env.episode.world.said:
            raise ConfigurationError(
                "What is heard from outside, such as from an endpoint, cannot be played again from "
                "calls alone; use scripted counterparts."
            )
        over = terminated or truncated
        own = [e for e in self._env.episode.events[before:] if e.role == self._env.role]
        late = {place: event.error for place, event in enumerate(own) if event.unrepeatable}
        return Answer(text, "error" in info, over, tuple(info.get("images", ()))), late


def _action(name: str, arguments: str) -> str:
    """Return a call as text; what is no JSON by itself could name another tool than was called."""
    try:
        json.loads(arguments)
    except (ValueError, RecursionError):
        arguments = json.dumps(arguments)
    return f'{{"name": {json.dumps(name)}, "arguments": {arguments}}}'


def _line(action: str, answer: str, late: dict[int, str]) -> bytes:
    told = {"action": action, "answer": _digest(answer), **({"late": late} if late else {})}
    return json.dumps(told).encode("ascii") + b"\n"


def _parsed(line: bytes, number: int) -> tuple[str, str, dict[int, str]]:
    try:
        found = json.loads(line)
        action, digest = found["action"], found["answer"]
        late = {int(place): str(reason) for place, reason in found.get("late", {}).items()}
    except (ValueError, TypeError, KeyError, RecursionError, AttributeError):
        action = digest = None
    if not isinstance(action, str) or not isinstance(digest, str):
        raise TrajectoryError(f"Line {number} of the record is not a call.")
    return action, digest, late


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:_DIGEST]


def oracle_calls(env: HealthEnv, split: str, index: int) -> list[ToolCall]:
    """Return the calls by which the oracle solves a task; the environment is reset to it.

    Raises:
        ConfigurationError: If there is no such task, or what the oracle did is no success.
    """
    env.reset(options={"split": split, "index": index})
    instance = env.family.generator.generate(parse_split(split), index)
    player = env.family.player(ORACLE, instance, env.np_random, env.role)
    seat = env.episode.seat(env.role)
    calls: list[ToolCall] = []
    info: Info = {}
    action = player.act()
    while action is not None:
        calls += calls_of(action, text_of(action), seat.grammar, seat.catalog.schema)
        text, _, terminated, truncated, info = env.step(action)
        action = None if terminated or truncated else player.act(text)
    if not info.get("success"):
        raise ConfigurationError(f"The oracle does not succeed on task {index} of {split}.")
    return calls
