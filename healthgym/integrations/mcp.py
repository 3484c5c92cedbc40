"""The face for any agent that speaks the Model Context Protocol: one session, one episode.

The session's tools are the episode's, and :data:`BRIEFING`, which tells the task. The reward and
the verdict are told in the result that ends the episode, and nowhere before. Sessions are told
apart by the id that streamable HTTP gives them; over stdio there is one.

Both lines of the library are served: mcp 1 registers handlers by decorators, mcp 2 takes them when
the server is made.
"""

from __future__ import annotations

import base64
import inspect
import json
import threading
from collections import OrderedDict
from dataclasses import dataclass, field
from pathlib import Path

from healthgym.core.borders import Json, JsonDict, Settings
from healthgym.core.env import HealthEnv
from healthgym.core.episode import AnyEpisode
from healthgym.core.images import Image
from healthgym.core.optional import require
from healthgym.core.selection import parse_split
from healthgym.core.tool import ToolCall
from healthgym.core.trajectory import TrajectoryWriter
from healthgym.errors import ConfigurationError
from healthgym.integrations.serving import Limits
from healthgym.integrations.serving.gate import App
from healthgym.presentation.pictures import png
from healthgym.registration import make_health_env
from healthgym.version import __version__

#: The tool that tells the task.
BRIEFING = "read_task"
_OVER = "Episode is over."
_HOW = (
    f"You work on one task. Call {BRIEFING} first: it says what is asked. Then use the other "
    "tools; the episode ends when you hand in, or when you are out of turns."
)


@dataclass(frozen=True, slots=True)
class Told:
    """What a call is answered.

    Attributes:
        text: What the agent reads.
        failed: Whether the call was refused.
        images: Pictures shown.
        closing: Reward, success and verdict, in the result that ends the episode; else None.
    """

    text: str
    failed: bool = False
    images: tuple[Image, ...] = ()
    closing: JsonDict | None = None


@dataclass(slots=True)
class McpFace:
    """The episodes of a server, one a session.

    Attributes:
        env: The environment.
        env_id: Its id, for records.
        split: Where the tasks are drawn from.
        first: Index of the first session's task; each later session has the next.
        record: File that finished episodes are appended to; none if None.
        most: Episodes that are kept; of more, the one that was not used longest is given up.
    """

    env: HealthEnv
    env_id: str
    split: str = "train"
    first: int = 0
    record: Path | None = None
    most: int = 2048
    _opened: int = 0
    _episodes: OrderedDict[str, AnyEpisode] = field(default_factory=OrderedDict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @classmethod
    def of(
        cls,
        env_id: str,
        env_kwargs: Settings | None = None,
        *,
        split: str = "train",
        first: int = 0,
        record: Path | None = None,
    ) -> McpFace:
        """Return the face of a registered environment.

        Raises:
            ConfigurationError: If there is no such environment, argument, split or task.
        """
        env = make_health_env(env_id, env_kwargs)
        size = env.family.generator.size(parse_split(split))
        if not 0 <= first < size:
            raise ConfigurationError(f"{env_id} has tasks 0 to {size - 1} in {split}, no {first}.")
        if record is not None:
            TrajectoryWriter(record).close()
        return cls(env, env_id, split, first, record)

    def tools(self, session: str) -> list[JsonDict]:
        """Return a session's tools in the protocol's form."""
        with self._lock:
            catalog = self._episode(session).seat(self.env.role).catalog
            specs = [{**spec.mcp(), "name": spec.identifier} for spec in catalog.specs]
        briefing = {
            "name": BRIEFING,
            "description": "Read what is asked of you. Call it first.",
            "inputSchema": {"type": "object", "properties": {}, "additionalProperties": False},
            "annotations": {
                "readOnlyHint": True,
                "destructiveHint": False,
                "openWorldHint": False,
            },
        }
        return [briefing, *specs]

    def call(self, session: str, name: str, arguments: JsonDict) -> Told:
        """Carry out a call in a session's episode.

        Raises:
            HealthGymError: If something failed on our account.
        """
        with self._lock:
            episode, role = self._episode(session), self.env.role
            if name == BRIEFING:
                return Told(episode.instruction(role))
            if episode.done():
                return Told(_OVER, failed=True)
            outcome = episode.step(ToolCall(name, arguments), role)
            closing = self._closed(episode) if episode.done() else None
        return Told(outcome.observation, bool(outcome.errors), outcome.images, closing)

    def _closed(self, episode: AnyEpisode) -> JsonDict:
        if self.record is not None:
            # Before it is answered, so that no shutdown loses it.
            with TrajectoryWriter(self.record) as writer:
                writer.write(self.env.trajectory(episode))
        role = self.env.role
        verdicts = episode.verdicts(role)
        return {
            "task_id": episode.task.task_id,
            "reward": episode.total_reward(role),
            "success": verdicts[str(self.env.config.profile)]["success"],
            "verdict": verdicts,
        }

    def _episode(self, session: str) -> AnyEpisode:
        if session not in self._episodes:
            size = self.env.family.generator.size(parse_split(self.split))
            index = (self.first + self._opened) % size
            self._episodes[session] = self.env.open_episode(self.split, index)
            self._opened += 1
            if len(self._episodes) > self.most:
                self._episodes.popitem(last=False)
        self._episodes.move_to_end(session)
        return self._episodes[session]


def mcp_server(face: McpFace) -> Json:
    """Return the library's low-level server for a face.

    Raises:
        MissingDependencyError: If mcp is not installed.
    """
    lowlevel = require("mcp.server.lowlevel", extra="mcp", purpose="The MCP server")
    types = require("mcp.types", extra="mcp", purpose="The MCP server")
    about = {"version": __version__, "instructions": _HOW}

    def listed(session: str) -> list[Json]:
        return [types.Tool.model_validate(each) for each in face.tools(session)]

    def answered(session: str, name: str, arguments: JsonDict | None) -> Json:
        return types.CallToolResult.model_validate(
            _result(face.call(session, name, arguments or {}))
        )

    if "on_list_tools" in inspect.signature(lowlevel.Server.__init__).parameters:

        async def list_tools(context: Json, _: object) -> Json:
            return types.ListToolsResult(tools=listed(_session(context)))

        async def call_tool(context: Json, params: Json) -> Json:
            return answered(_session(context), params.name, params.arguments)

        return lowlevel.Server(
            "healthgym", on_list_tools=list_tools, on_call_tool=call_tool, **about
        )
    server = lowlevel.Server("healthgym", **about)

    async def list_of_1() -> list[Json]:
        return listed(_session(server.request_context))

    async def call_of_1(name: str, arguments: JsonDict) -> Json:
        return answered(_session(server.request_context), name, arguments)

    server.list_tools()(list_of_1)
    # The engine validates, so that a mistake costs what it costs on every face.
    server.call_tool(validate_input=False)(call_of_1)
    return server


def _session(context: Json) -> str:
    request = getattr(context, "request", None)
    return "" if request is None else str(request.headers.get("mcp-session-id", ""))


def _result(told: Told) -> JsonDict:
    content: list[JsonDict] = [{"type": "text", "text": told.text}]
    content += [
        {
            "type": "image",
            "mimeType": "image/png",
            "data": base64.b64encode(png(image)).decode("ascii"),
        }
        for image in told.images
    ]
    result: JsonDict = {"content": content, "isError": told.failed}
    if told.closing is not None:
        content.append({"type": "text", "text": json.dumps(told.closing)})
        result["structuredContent"] = told.closing
    return result


def run_stdio(face: McpFace) -> None:
    """Serve one session over standard input and output, until the client hangs up."""
    import anyio

    stdio = require("mcp.server.stdio", extra="mcp", purpose="The MCP server")
    server = mcp_server(face)

    async def serve() -> None:
        async with stdio.stdio_server() as (read, write):
            await server.run(read, write, server.create_initialization_options())

    anyio.run(serve)


def mcp_app(face: McpFace, limits: Limits) -> App:
    """Return the ASGI application that serves a face over streamable HTTP at ``/mcp``.

    Sessions that idle are closed by the library where it can (mcp 2, and late versions of mcp 1).
    """
    from contextlib import asynccontextmanager

    manager = require("mcp.server.streamable_http_manager", extra="mcp", purpose="The MCP server")
    applications = require("starlette.applications", extra="mcp", purpose="The MCP server")
    routing = require("starlette.routing", extra="mcp", purpose="The MCP server")
    kind = manager.StreamableHTTPSessionManager
    accepted = inspect.signature(kind.__init__).parameters
    wanted = {
        "session_idle_timeout": limits.idle,
        "max_sessions": limits.sessions,
        "max_request_body_size": limits.message,
    }
    face.most = limits.sessions
    held = kind(
        app=mcp_server(face), **{name: value for name, value in wanted.items() if name in accepted}
    )

    class Endpoint:
        """An object, because a route takes a function for one of requests and not of ASGI."""

        async def __call__(self, scope: Json, receive: Json, send: Json) -> None:
            await held.handle_request(scope, receive, send)

    @asynccontextmanager
    async def lifespan(_: object) -> Json:
        async with held.run():
            yield

    app: App = applications.Starlette(
        routes=[routing.Route("/mcp", endpoint=Endpoint())], lifespan=lifespan
    )
    return app
