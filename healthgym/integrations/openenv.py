"""The OpenEnv face: a server whose sessions are episodes, for every trainer that has its client.

A session is a WebSocket connection, and OpenEnv's own server keeps it; here is what it keeps: an
environment whose action is one tool call, or the text that holds one. Sessions share the family's
immutable data and nothing else. OpenEnv's plain ``POST /reset`` and ``/step`` make an environment
for each request, so that they can begin an episode and not go on with it; use its client.

Environments run one step at a time on one thread. A step takes well under a millisecond where
nothing outside is asked; a counterpart behind an endpoint holds up the other sessions, so such
environments want a server of their own.
"""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from healthgym.core.borders import Argument, Info, JsonDict, Settings
from healthgym.core.env import HealthEnv
from healthgym.core.optional import require
from healthgym.core.seeding import Split
from healthgym.core.trajectory import TrajectoryWriter
from healthgym.errors import ConfigurationError, EpisodeStateError
from healthgym.integrations.serving import Limits
from healthgym.presentation.pictures import data_url, png
from healthgym.registration import make_health_env
from healthgym.version import __version__

if TYPE_CHECKING:
    from fastapi import FastAPI

require("openenv.core.env_server", extra="openenv", purpose="The OpenEnv server")

from openenv.core.env_server import HTTPEnvServer  # noqa: E402
from openenv.core.env_server.interfaces import Environment  # noqa: E402
from openenv.core.env_server.types import (  # noqa: E402
    Action,
    ConcurrencyConfig,
    EnvironmentMetadata,
    Observation,
    State,
)
from pydantic import Field  # noqa: E402

#: Most tasks that one request of the Task API lists.
_PREVIEW = 100


class HealthAction(Action):
    """One tool call, or the text a model wrote."""

    tool: str = Field(default="", description="name of the tool; empty if text holds the call")
    arguments: JsonDict = Field(default_factory=dict, description="the tool's arguments")
    text: str = Field(default="", description="what the model wrote, in any vendor's form of calls")


class HealthObservation(Observation):
    """What the agent is told."""

    text: str = Field(default="", description="the instruction, or the answer to a call")
    tools: list[JsonDict] = Field(
        default_factory=list, description="on reset, the tools in OpenAI's function form"
    )
    images: list[str] = Field(default_factory=list, description="pictures shown, as data URLs")
    error: str = Field(default="", description="why a call was refused; empty if it was not")
    truncated: bool = Field(default=False, description="whether the episode ran out of turns")
    verdict: JsonDict = Field(
        default_factory=dict, description="at the end, the verdicts by profile"
    )


class HealthState(State):
    """Where a session stands."""

    env_id: str = ""
    task_id: str = ""
    split: str = ""
    done: bool = False


@dataclass(frozen=True, slots=True)
class Served:
    """What a server offers.

    Attributes:
        envs: The environments by id, the default one first. Each session plays a copy.
        record: File that finished episodes are appended to; none if None.
    """

    envs: Mapping[str, HealthEnv]
    record: Path | None = None

    @property
    def default(self) -> str:
        """The id of the environment that is played unless another is asked for."""
        return next(iter(self.envs))


class HealthSession(Environment[HealthAction, HealthObservation, HealthState]):
    """One session. Subclasses say what is served."""

    SUPPORTS_CONCURRENT_SESSIONS = True
    # One thread for all instead of one for each of thousands of sessions.
    REQUIRES_SINGLE_THREAD_EXECUTOR = True
    served: ClassVar[Served]

    def __init__(self) -> None:
        super().__init__()
        self._env_id = self.served.default
        self._env: HealthEnv | None = None
        self._closed = False
        self._state = HealthState(env_id=self._env_id)

    def reset(
        self, seed: int | None = None, episode_id: str | None = None, **options: Argument
    ) -> HealthObservation:
        """Begin an episode.

        Args:
            seed: Draws the task; the same seed draws the same.
            episode_id: Name of the episode in the session's state.
            options: ``env``, one of the served ids; and the environment's own reset options:
                ``split``, ``index``, ``task_id``, ``kind``, ``difficulty``.

        Raises:
            ConfigurationError: If an option is unknown, or no task fits it.
        """
        self._require_open()
        env_id = str(options.pop("env", self.served.default))
        if env_id not in self.served.envs:
            raise ConfigurationError(f"{env_id} is not served; use {', '.join(self.served.envs)}.")
        if "record" in options:
            raise ConfigurationError("Records are not played over a network.")
        # A copy is half of an episode of its own; what is immutable is shared.
        self._env = copy(self.served.envs[env_id])
        self._env_id = env_id
        text, info = self._env.reset(seed=seed, options=options)
        self._state = HealthState(
            episode_id=episode_id, env_id=env_id, task_id=info["task_id"], split=info["split"]
        )
        about = {"task_id": info["task_id"], "split": info["split"], "kind": info["kind"]}
        return HealthObservation(text=text, tools=info["tools"], metadata=about)

    def step(
        self, action: HealthAction, timeout_s: float | None = None, **_: Argument
    ) -> HealthObservation:
        """Carry out one action; what an agent does wrong is told in the observation.

        Raises:
            EpisodeStateError: If no episode is running.
        """
        self._require_open()
        if self._env is None or self._state.done:
            raise EpisodeStateError("No episode is running; reset first, over the same WebSocket.")
        call = {"name": action.tool, "arguments": action.arguments} if action.tool else action.text
        text, reward, terminated, truncated, info = self._env.step(call)
        self._state.step_count += 1
        self._state.done = terminated or truncated
        if self._state.done and self.served.record is not None and "fault" not in info:
            # Written before it is answered: who has read the end of an episode finds its record.
            with TrajectoryWriter(self.served.record) as writer:
                writer.write(self._env.trajectory())
        return HealthObservation(
            text=text,
            reward=float(reward),
            done=self._state.done,
            truncated=truncated,
            error=str(info.get("error", "")),
            images=[data_url(png(image)) for image in info.get("images", ())],
            verdict=info.get("verdict", {}) if self._state.done else {},
            metadata=_about(info),
        )

    @property
    def state(self) -> HealthState:
        """Where the session stands."""
        return self._state

    def close(self) -> None:
        """Let go of the episode; a session that expired answers so from now on."""
        self._closed, self._env = True, None

    def _require_open(self) -> None:
        if self._closed:
            raise EpisodeStateError("This session has expired; connect again.")

    def get_metadata(self) -> EnvironmentMetadata:
        """Describe what is served."""
        summary = (type(self.served.envs[self._env_id]).__doc__ or "").partition("\n")[0]
        return EnvironmentMetadata(
            name=self.served.default,
            description=f"{summary} Served: {', '.join(self.served.envs)}.",
            version=__version__,
            author="healthgym",
        )

    # -- the Task API, of the default environment --------------------------------------------

    def list_splits(self) -> list[str]:
        """Return the names of the splits."""
        return [str(split) for split in Split if self.num_tasks(str(split))]

    def num_tasks(self, split: str) -> int:
        """Return how many tasks a split has."""
        return self.served.envs[self.served.default].family.generator.size(_split(split))

    def get_task(self, split: str, index: int) -> JsonDict:
        """Return a task's specification.

        Raises:
            IndexError: If there is no such task.
        """
        if not 0 <= index < self.num_tasks(split):
            raise IndexError(index)
        family = self.served.envs[self.served.default].family
        task = family.generator.generate(_split(split), index).task
        return {"id": task.task_id, "index": index, "split": split, "kind": task.kind}

    def get_task_range(
        self, split: str, start: int | None = None, stop: int | None = None
    ) -> list[JsonDict]:
        """Return tasks as a slice does, at most the first 100 of them."""
        places = range(self.num_tasks(split))[start:stop][:_PREVIEW]
        return [self.get_task(split, index) for index in places]

    def list_tasks(self, split: str) -> list[JsonDict]:
        """Return the first tasks of a split."""
        return self.get_task_range(split, 0, _PREVIEW)


def _split(name: str) -> Split:
    try:
        return Split(name)
    except ValueError:
        raise IndexError(f"no split {name}") from None


def _about(info: Info) -> JsonDict:
    kept: JsonDict = {
        name: info[name]
        for name in ("task_id", "turns_left", "time", "success", "fault")
        if name in info
    }
    if "fault" in kept:
        # Whose fault it was is for the server's operator.
        kept["fault"] = True
    return kept


def openenv_app(
    env_ids: list[str],
    *,
    env_kwargs: Settings | None = None,
    limits: Limits | None = None,
    record: Path | None = None,
) -> FastAPI:
    """Return the application that serves environments to OpenEnv's clients.

    Args:
        env_ids: Registered ids; a client chooses by ``reset(env=ID)``, the first is the default.
        env_kwargs: Arguments of every environment.
        limits: How many sessions there may be, and how long they may idle.
        record: File to append finished episodes to.

    Raises:
        ConfigurationError: If there is no such environment or argument.
    """
    from fastapi import FastAPI

    bounds = limits or Limits()
    envs = {env_id.rpartition(":")[2]: make_health_env(env_id, env_kwargs) for env_id in env_ids}
    if not envs:
        raise ConfigurationError("Name at least one environment to serve.")
    if record is not None:
        TrajectoryWriter(record).close()
    session = type("HealthSession", (HealthSession,), {"served": Served(envs, record)})
    server = HTTPEnvServer(
        session,
        HealthAction,
        HealthObservation,
        concurrency_config=ConcurrencyConfig(
            max_concurrent_envs=bounds.sessions, session_timeout=bounds.idle
        ),
        # A path of the Task API; an id's slash would end it.
        env_name=next(iter(envs)).rpartition("/")[2],
        state_cls=HealthState,
    )
    app = FastAPI(title="healthgym", version=__version__)
    server.register_routes(app, mode="simulation")
    return app


__all__: list[Any] = [
    "HealthAction",
    "HealthObservation",
    "HealthSession",
    "HealthState",
    "openenv_app",
]
