"""Tasks for Inspect: a sample per task, our tools, and our verdict as the score.

What an agent did is kept as a list of actions in the sample's store, and so in Inspect's log; the
scorer plays it again from the seed. So a log can be scored anew (``inspect score``), and nothing
but calls counts. Any of Inspect's agents may be the solver; the one here answers what is no call as
the engine does on every face, so that it costs a turn.

Found by Inspect as ``healthgym/episodes`` once both are installed.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from copy import copy
from typing import TypeAlias

from healthgym.core.action import text_of
from healthgym.core.borders import Argument, Json, JsonDict, JsonObject
from healthgym.core.env import HealthEnv
from healthgym.core.optional import require
from healthgym.core.selection import parse_split
from healthgym.core.tool import ToolCall
from healthgym.errors import ConfigurationError
from healthgym.presentation.pictures import data_url, png
from healthgym.registration import make_health_env
from healthgym.version import __version__

require("inspect_ai", extra="inspect", purpose="A task for Inspect")

from inspect_ai import Task, task  # noqa: E402
from inspect_ai.dataset import MemoryDataset, Sample  # noqa: E402
from inspect_ai.model import (  # noqa: E402
    ChatMessageUser,
    ContentImage,
    ContentText,
    execute_tools,
    get_model,
)
from inspect_ai.scorer import Score, accuracy, scorer, stderr  # noqa: E402
from inspect_ai.solver import solver  # noqa: E402
from inspect_ai.tool import ToolDef, ToolError, ToolParams  # noqa: E402

#: Where the actions of a sample stand in its store.
ACTIONS = "healthgym:actions"
#: The attribute of our tools by which their episode is reached, also for what is no call.
_PUT = "healthgym_put"
_OVER = "The episode is over."
#: Carries out an action (None for none): its answer, whether it failed, whether all is over.
Put: TypeAlias = Callable[[str | ToolCall | None], tuple[str, bool, bool]]
#: Messages allowed for each turn, and beside them: what approvers refuse costs no turn of ours.
_MESSAGES_A_TURN, _MESSAGES_BESIDE = 4, 20


@task
def episodes(
    env_id: str,
    split: str = "test",
    tasks: int = 50,
    first: int = 0,
    settings: JsonDict | None = None,
) -> Json:
    """Return a task of Inspect's over an environment's tasks.

    Args:
        env_id: Registered id of the environment.
        split: Split of the tasks.
        tasks: How many of them, from ``first`` on.
        first: Index of the first.
        settings: Arguments of the environment.

    Raises:
        ConfigurationError: If there is no such environment, argument, split or task.
    """
    env = make_health_env(env_id, settings)
    indices = range(first, first + tasks)
    size = env.family.generator.size(parse_split(split))
    if first < 0 or tasks < 1 or first + tasks > size:
        raise ConfigurationError(f"{env_id} has tasks 0 to {size - 1} in {split}.")
    return Task(
        dataset=MemoryDataset([_sample(env, split, index) for index in indices], name=env_id),
        setup=begin(env_id, settings),
        solver=play(),
        scorer=verdict(env_id, settings),
        message_limit=_MESSAGES_A_TURN * env.config.budget(env.role) + _MESSAGES_BESIDE,
        name=env_id.rpartition("/")[2],
        version=__version__,
        metadata={"env_id": env_id, "split": split, "healthgym": __version__},
    )


def _sample(env: HealthEnv, split: str, index: int) -> Json:
    text, info = env.reset(options={"split": split, "index": index})
    about = {"split": split, "index": index, "task_id": info["task_id"], "kind": info["kind"]}
    return Sample(input=text, id=info["task_id"], metadata=about)


@solver
def begin(env_id: str, settings: JsonDict | None = None) -> Json:
    """Return the solver that opens a sample's episode and offers its tools, as a task's setup.

    Args:
        env_id: Registered id of the environment.
        settings: Its arguments.
    """
    shared = make_health_env(env_id, settings)

    async def solve(state: Json, generate: Json) -> Json:
        # A copy is an episode of its own; what is immutable is shared.
        env = _reset(copy(shared), state.metadata)
        state.store.set(ACTIONS, [])
        catalog = env.episode.seat(env.role).catalog.openai()
        state.tools = [_tool(env, state.store, spec["function"]) for spec in catalog]
        return state

    return solve


def _reset(env: HealthEnv, metadata: JsonObject) -> HealthEnv:
    _, info = env.reset(options={"split": metadata["split"], "index": metadata["index"]})
    if info["task_id"] != metadata["task_id"]:
        raise ConfigurationError(f"The task is {info['task_id']}, not {metadata['task_id']}.")
    return env


def _tool(env: HealthEnv, store: Json, function: JsonObject) -> Json:
    name = str(function["name"])

    # Inspect hands on all arguments where there are keyword arguments of any type.
    async def execute(**kwargs: Argument) -> Json:
        text, images, failed = _carried_out(env, store, ToolCall(name, kwargs))
        if failed:
            raise ToolError(text)
        if not images:
            return text
        return [ContentText(text=text), *(ContentImage(image=image) for image in images)]

    def put(action: str | ToolCall | None) -> tuple[str, bool, bool]:
        text, _, failed = ("", [], False) if action is None else _carried_out(env, store, action)
        return text, failed, env.episode.done(env.role)

    setattr(execute, _PUT, put)
    return ToolDef(
        execute,
        name=name,
        description=function["description"],
        parameters=ToolParams.model_validate(function["parameters"]),
        # The engine bounds what it tells, and an agent pages through the rest.
        max_output=0,
    ).as_tool()


def _carried_out(
    env: HealthEnv, store: Json, action: str | ToolCall
) -> tuple[str, list[str], bool]:
    """Carry out an action and keep it; return answer, pictures (data URLs), and if it failed."""
    if env.episode.done(env.role):
        return _OVER, [], True
    text, _, _, _, info = env.step(action)
    store.set(ACTIONS, [*store.get(ACTIONS, []), text_of(action)])
    return text, [data_url(png(image)) for image in info.get("images", ())], "error" in info


@solver
def play() -> Json:
    """Return the solver that lets the model act until the episode is over; after :func:`begin`.

    What Inspect refuses before a tool sees it (an unknown tool, arguments against the schema) is
    put to the engine, so that a mistake costs a turn and is answered as everywhere.
    """

    async def solve(state: Json, generate: Json) -> Json:
        put: Put | None = getattr(state.tools[0], _PUT, None) if state.tools else None
        if put is None:
            raise ConfigurationError("Begin the episode first: begin(env_id) is the task's setup.")
        over = False
        while not (over or state.completed):
            state.output = await get_model().generate(state.messages, tools=state.tools)
            said = state.output.message
            state.messages.append(said)
            if not said.tool_calls:
                text, _, over = put(said.text)
                state.messages.append(ChatMessageUser(content=text))
                continue
            answers, _ = await execute_tools(state.messages, state.tools)
            by_id = {call.id: call for call in said.tool_calls}
            for answer in answers:
                call = by_id.get(getattr(answer, "tool_call_id", None))
                if call is not None and answer.error is not None and answer.error.type == "parsing":
                    answer.content, answer.error = put(_as_written(call))[0], None
            state.messages.extend(answers)
            over = put(None)[2]
        state.completed = True
        return state

    return solve


def _as_written(call: Json) -> str | ToolCall:
    """Return a call that Inspect refused, as the model made it as far as that is known."""
    if call.parse_error is None:
        return ToolCall(call.function, call.arguments)
    return f'{{"name": {json.dumps(call.function)}, "arguments": (not JSON)}}'


@scorer(metrics=[accuracy(), stderr()])
def verdict(env_id: str, settings: JsonDict | None = None) -> Json:
    """Return the scorer: 1 where the verdict is a success, 0 where it is not.

    The score's metadata has the reward and the verdicts by profile. Work that is not handed in is
    scored as it stands.

    Args:
        env_id: Registered id of the environment.
        settings: Its arguments.
    """
    shared = make_health_env(env_id, settings)

    async def score(state: Json, target: Json) -> Json:
        env = _reset(copy(shared), state.metadata)
        for action in state.store.get(ACTIONS, []):
            env.step(action)
        if not env.episode.done(env.role):
            env.stop()
        verdicts = env.episode.verdicts(env.role)
        found = verdicts[str(env.config.profile)]
        missed = [check["name"] for check in found.get("checks", []) if check["passed"] is False]
        return Score(
            value=float(found["success"]),
            explanation=f"Failed: {', '.join(missed)}." if missed else "All checks passed.",
            metadata={"reward": env.episode.total_reward(env.role), "verdict": verdicts},
        )

    return score
