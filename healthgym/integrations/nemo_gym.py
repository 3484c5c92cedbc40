"""The NeMo Gym face: a resources server whose sessions are episodes.

A row of the data names the task (:class:`~healthgym.integrations.sessions.SessionTask`), its tools
are endpoints under their own names, and ``/verify`` is our verdict on what the session did. Written
for NeMo Gym 0.7. ``healthgym export nemo-gym`` writes the server's folder with rows and
configuration.

Tools answer text; pictures are named and not shown, so imaging environments want another face.
"""

from __future__ import annotations

import json
from collections import OrderedDict
from copy import copy
from typing import ClassVar

from healthgym.core.borders import Json, JsonDict
from healthgym.core.env import HealthEnv
from healthgym.core.optional import require
from healthgym.core.tool import ToolCall
from healthgym.integrations.sessions import SessionTask
from healthgym.registration import make_health_env

_PURPOSE = "A resources server for NeMo Gym"
require("nemo_gym.base_resources_server", extra="nemo-gym", purpose=_PURPOSE)

from fastapi import FastAPI, HTTPException, Request  # noqa: E402
from nemo_gym.base_resources_server import (  # noqa: E402
    BaseResourcesServerConfig,
    BaseSeedSessionRequest,
    BaseSeedSessionResponse,
    BaseVerifyRequest,
    BaseVerifyResponse,
    ResourcesCloseSessionRequest,
    ResourcesCloseSessionResponse,
    ResourcesSeedSessionRequest,
    ResourcesSeedSessionResponse,
    ReverifyMode,
    SimpleResourcesServer,
)
from nemo_gym.server_utils import SESSION_ID_KEY  # noqa: E402
from pydantic import ConfigDict, Field, PrivateAttr  # noqa: E402

_OVER = "The episode is over."
_UNSHOWN = "(Pictures are not shown here.)"
#: Sessions kept, and ids of closed ones remembered; of more, the oldest are forgotten.
_MOST = 4096


class HealthServerConfig(BaseResourcesServerConfig):
    """The server's configuration: nothing of its own, for the rows name environment and task."""

    # What was done is the session's, and a saved response need not hold all of it.
    REVERIFY_MODE: ClassVar[ReverifyMode] = ReverifyMode.UNSUPPORTED


class HealthSeedRequest(BaseSeedSessionRequest):
    """A row, as agents send it; what else it holds is passed over."""

    model_config = ConfigDict(extra="allow")

    healthgym: SessionTask


class HealthVerifyRequest(BaseVerifyRequest):
    """A row with what the model wrote."""

    model_config = ConfigDict(extra="allow")


class HealthVerifyResponse(BaseVerifyResponse):
    """The verdict: the reward is 1.0 where it is a success, else 0.0."""

    model_config = ConfigDict(extra="allow")

    success: bool = False
    calls: int = 0
    episode_return: float = 0.0
    verdict: JsonDict = Field(default_factory=dict)


class HealthResourcesServer(SimpleResourcesServer):
    """Serves episodes to NeMo Gym's agents, one a session."""

    config: HealthServerConfig
    _envs: dict[str, HealthEnv] = PrivateAttr(default_factory=dict)
    _sessions: OrderedDict[str, HealthEnv] = PrivateAttr(default_factory=OrderedDict)
    _closed: OrderedDict[str, None] = PrivateAttr(default_factory=OrderedDict)

    def setup_webserver(self) -> FastAPI:
        """Return the application; a tool is an endpoint under its name, after the library's own."""
        app = super().setup_webserver()
        app.post("/{tool}")(self.call)
        return app

    async def seed_session(
        self, request: Request, body: ResourcesSeedSessionRequest | HealthSeedRequest
    ) -> ResourcesSeedSessionResponse | BaseSeedSessionResponse:
        """Begin an episode of the row's task in the caller's session."""
        if isinstance(body, HealthSeedRequest):
            self._sessions[request.session[SESSION_ID_KEY]] = self._begun(body.healthgym)
            self._forget(self._sessions)
            return BaseSeedSessionResponse()
        session = body.resources_session_id
        if session in self._closed:
            raise HTTPException(409, f"Session {session} was closed.")
        if session not in self._sessions:
            task = SessionTask.model_validate(body.task_data["healthgym"])
            self._sessions[session] = self._begun(task)
            self._forget(self._sessions)
        request.session[SESSION_ID_KEY] = session
        return ResourcesSeedSessionResponse(resources_session_id=session)

    async def close_resources_session(
        self, body: ResourcesCloseSessionRequest
    ) -> ResourcesCloseSessionResponse:
        """Let go of a session; one that was never there cannot begin afterwards."""
        self._sessions.pop(body.resources_session_id, None)
        self._closed[body.resources_session_id] = None
        self._forget(self._closed)
        return ResourcesCloseSessionResponse(resources_session_id=body.resources_session_id)

    async def call(self, tool: str, request: Request) -> str:
        """Carry out a call; what the agent does wrong is told in the answer."""
        env = self._sessions.get(request.session[SESSION_ID_KEY])
        if env is None:
            raise HTTPException(404, "No episode runs in this session; seed one.")
        if env.episode.done(env.role):
            return _OVER
        arguments = json.loads(await request.body() or b"{}")
        # Arguments that are no object are for the engine to refuse.
        named = isinstance(arguments, dict)
        action = ToolCall(tool, arguments) if named else {"name": tool, "arguments": arguments}
        text, _, _, _, info = env.step(action)
        return f"{text}\n{_UNSHOWN}" if info.get("images") else text

    async def verify(self, request: Request, body: HealthVerifyRequest) -> HealthVerifyResponse:
        """Judge what the session did, and let go of it; a lost session is no score."""
        env = self._sessions.pop(request.session[SESSION_ID_KEY], None)
        if env is None:
            return HealthVerifyResponse(
                **body.model_dump(), reward=0.0, mask_sample=True,
                failure_kind="healthgym:session_lost",
                failure_reason="The session is not there; the server may have been restarted.",
            )  # fmt: skip
        if not env.episode.done(env.role):
            env.stop()
        verdicts = env.episode.verdicts(env.role)
        success = bool(verdicts[str(env.config.profile)]["success"])
        return HealthVerifyResponse(
            **body.model_dump(),
            reward=float(success),
            success=success,
            calls=len(env.episode.turns),
            episode_return=env.episode.total_reward(env.role),
            verdict=verdicts,
        )

    def _begun(self, task: SessionTask) -> HealthEnv:
        key = json.dumps([task.env_id, task.env_kwargs], sort_keys=True)
        if key not in self._envs:
            self._envs[key] = make_health_env(task.env_id, task.env_kwargs)
        # A copy is an episode of its own; what is immutable is shared.
        env = copy(self._envs[key])
        _, info = env.reset(options={"split": str(task.split), "index": task.index})
        if info["task_id"] != task.task_id:
            raise HTTPException(409, f"The task is {info['task_id']}, not {task.task_id}.")
        return env

    @staticmethod
    def _forget(held: OrderedDict[str, Json]) -> None:
        while len(held) > _MOST:
            held.popitem(last=False)
