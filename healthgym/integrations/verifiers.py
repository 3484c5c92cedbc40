"""The verifiers face: a taskset whose tools are the episode's, and whose reward is our verdict.

For verifiers 0.4 and what is built on it (prime-rl, the Environments Hub). Each rollout has a tool
server of its own, as the library starts them: a process that keeps the episode. What was done goes
into the rollout's state as a list of actions, and the reward plays them again from the seed, so
that a saved trace can be scored anew and nothing but calls counts.

verifiers finds a taskset by the name of a module at the top level, one per environment:
``healthgym export verifiers ID --out DIR`` writes that package, which is what the Hub wants, too.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator
from typing import ClassVar

from healthgym.core.action import text_of
from healthgym.core.borders import Json, JsonDict, Settings
from healthgym.core.env import HealthEnv
from healthgym.core.images import Image
from healthgym.core.optional import require
from healthgym.core.selection import parse_split
from healthgym.core.tool import ToolCall
from healthgym.errors import ConfigurationError
from healthgym.integrations.sessions import SessionTask, oracle_calls
from healthgym.presentation.pictures import png
from healthgym.registration import make_health_env

require("verifiers.v1", extra="verifiers", purpose="A taskset for verifiers")

import verifiers.v1 as vf  # noqa: E402
from pydantic import Field  # noqa: E402
from verifiers.v1.harnesses.null import NullHarnessConfig  # noqa: E402

_OVER = "The episode is over."


class HealthConfig(vf.TasksetConfig):
    """Which tasks are played; each is a flag of ``vf-eval``, such as ``--env.taskset.tasks``."""

    env_id: str = ""
    """Registered id of the environment; empty for the taskset's own."""
    settings: JsonDict = Field(default_factory=dict)
    """Arguments of the environment."""
    split: str = "train"
    """Split of the tasks."""
    tasks: int = 100
    """How many of them."""
    first: int = 0
    """Index of the first."""


class HealthData(vf.TaskData):
    """A task as it travels: what the agent reads, and which episode it is."""

    session: JsonDict
    """The fields of a :class:`~healthgym.integrations.sessions.SessionTask`."""


class HealthState(vf.State):
    """What a rollout shares with its tool server."""

    actions: list[str] = Field(default_factory=list)
    """What was done, in order."""
    over: bool = False
    """Whether the episode is over."""


def _begun(data: HealthData) -> HealthEnv:
    """Return an environment at the beginning of a task's episode.

    Raises:
        ConfigurationError: If the task is another by now.
    """
    task = SessionTask.model_validate(data.session)
    env = make_health_env(task.env_id, task.env_kwargs)
    _, info = env.reset(options={"split": str(task.split), "index": task.index})
    if info["task_id"] != task.task_id:
        raise ConfigurationError(f"The task is {info['task_id']}, not {task.task_id}.")
    return env


class HealthToolset(vf.Toolset[vf.ToolsetConfig, HealthState]):
    """The tools of one rollout's episode, under their own names."""

    TOOL_PREFIX = None

    async def setup_task(self, task: HealthData) -> None:
        """Begin the episode."""
        self._env = _begun(task)

    def register(self, mcp: Json) -> None:
        """Serve the catalog of the episode; the protocol's handlers call these two."""
        mcp.list_tools = self.list_tools
        mcp.call_tool = self._with_state(self.call_tool)

    async def list_tools(self) -> Json:
        """Return the tools in the protocol's form."""
        from mcp.types import Tool

        catalog = self._env.episode.seat(self._env.role).catalog
        return [
            Tool(
                name=spec.identifier,
                description=spec.description,
                input_schema=spec.mcp()["inputSchema"],
            )
            for spec in catalog.specs
        ]

    async def call_tool(self, name: str, arguments: JsonDict, context: Json = None) -> Json:
        """Carry out a call and keep it; what the agent does wrong is told in the answer."""
        from mcp.types import CallToolResult

        env = self._env
        if env.episode.done(env.role):
            return CallToolResult(content=[_text(_OVER)], is_error=True)
        call = ToolCall(name, arguments)
        text, _, terminated, truncated, info = env.step(call)
        self.state.actions = [*self.state.actions, text_of(call)]
        self.state.over = terminated or truncated
        content = [_text(text), *(_picture(image) for image in info.get("images", ()))]
        return CallToolResult(content=content, is_error="error" in info)


def _text(text: str) -> Json:
    from mcp.types import TextContent

    return TextContent(type="text", text=text)


def _picture(image: Image) -> Json:
    from mcp.types import ImageContent

    data = base64.b64encode(png(image)).decode("ascii")
    return ImageContent(type="image", data=data, mime_type="image/png")


class HealthTask(vf.Task[HealthData, HealthState, vf.TaskConfig]):
    """One task: its tools, when it ends, and what it earns."""

    @classmethod
    def toolsets(cls, config: vf.TaskConfig) -> list[HealthToolset]:
        """Return the tool server of a rollout."""
        return [HealthToolset(vf.ToolsetConfig())]

    @property
    def key(self) -> str:
        """The task's id, which is the same wherever the task is drawn."""
        return str(self.data.id)

    @vf.stop
    async def episode_over(self, trace: vf.Trace) -> bool:
        """Stop once the work was handed in, or the turns are used up."""
        return bool(trace.state.over)

    @vf.reward(weight=1.0)
    async def verdict(self, trace: vf.Trace) -> float:
        """Return 1.0 where the verdict is a success, else 0.0; the verdicts go into ``info``."""
        env = _begun(self.data)
        for action in trace.state.actions:
            env.step(action)
        if not env.episode.done(env.role):
            env.stop()
        verdicts = env.episode.verdicts(env.role)
        trace.info["verdict"] = verdicts
        trace.info["return"] = env.episode.total_reward(env.role)
        return float(verdicts[str(env.config.profile)]["success"])

    @vf.metric
    async def calls(self, trace: vf.Trace) -> float:
        """Return how many calls were made."""
        return float(len(trace.state.actions))

    async def validate(self, runtime: vf.Runtime) -> bool:
        """Prove the task: its oracle succeeds."""
        task = SessionTask.model_validate(self.data.session)
        env = make_health_env(task.env_id, task.env_kwargs)
        return bool(oracle_calls(env, str(task.split), task.index))


class HealthTaskset(vf.Taskset[HealthTask, HealthConfig]):
    """The tasks of one environment; subclasses say of which."""

    ENV_ID: ClassVar[str] = ""
    """The environment that is played unless the configuration names one."""
    SETTINGS: ClassVar[Settings] = {}
    """Its arguments; those of the configuration go before them."""

    def load(self) -> Iterator[HealthTask]:
        """Yield the tasks.

        Raises:
            ConfigurationError: If there is no such environment, argument, split or task.
        """
        config = self.config
        env_id = config.env_id or self.ENV_ID
        settings = {**self.SETTINGS, **config.settings}
        env = make_health_env(env_id, settings)
        size = env.family.generator.size(parse_split(config.split))
        if config.tasks < 1 or not 0 <= config.first <= size - config.tasks:
            raise ConfigurationError(f"{env_id} has tasks 0 to {size - 1} in {config.split}.")
        for index in range(config.first, config.first + config.tasks):
            text, info = env.reset(options={"split": config.split, "index": index})
            task = SessionTask(
                env_id=env_id, env_kwargs=settings, split=parse_split(config.split),
                index=index, task_id=info["task_id"],
            )  # fmt: skip
            data = HealthData(
                id=task.task_id,
                name=task.task_id,
                description=info["kind"],
                prompt=text,
                session=task.model_dump(mode="json", by_alias=True),
            )
            yield HealthTask(data, config.task)


class HealthEnvConfig(vf.EnvConfig):
    """Who plays: by default a model with nothing but the tools, on this machine."""

    agent: vf.AgentConfig = vf.AgentConfig(
        harness=NullHarnessConfig(id="null"), runtime=vf.SubprocessConfig()
    )


class HealthVerifiersEnv(vf.Env[HealthEnvConfig]):
    """One agent on one task."""

    async def run(self, task: HealthTask, agents: Json) -> None:
        """Let the agent play."""
        await agents.agent.run(task)


__all__ = [
    "HealthConfig",
    "HealthData",
    "HealthEnvConfig",
    "HealthState",
    "HealthTask",
    "HealthTaskset",
    "HealthToolset",
    "HealthVerifiersEnv",
]

if __name__ == "__main__":
    # How the library starts a tool server: `python -m` with the module of its class.
    HealthToolset.run()
