"""The protocol's own client works in an episode, over stdio and over HTTP."""

import json
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from healthgym.core.trajectory import read_trajectories
from healthgym.registration import make_health_env

pytest.importorskip("mcp")
anyio = pytest.importorskip("anyio")
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")

ENV = "HealthAgent/FhirRecord-v1"
ARGS = ["serve", "mcp", ENV, "--split", "test", "--first", "3"]


def oracle_calls(index: int) -> list[tuple[str, dict[str, Any]]]:
    from healthgym.core.action import calls_of, text_of

    env = make_health_env(ENV)
    env.reset(options={"split": "test", "index": index})
    instance = env.family.generator.generate("test", index)
    player = env.family.player("oracle", instance, env.np_random, env.role)
    calls, action = [], player.act()
    while action is not None:
        calls += [
            (call.name.replace(".", "__"), dict(call.arguments))
            for call in calls_of(action, text_of(action))
        ]
        text, _, terminated, truncated, _ = env.step(action)
        action = None if terminated or truncated else player.act(text)
    return calls


def failed(result: Any) -> bool:
    return bool(getattr(result, "isError", False) or getattr(result, "is_error", False))


async def play(session: Any, index: int) -> dict[str, Any]:
    """Read the task, err once, and do what the oracle does; return the closing result."""
    await session.initialize()
    names = [tool.name for tool in (await session.list_tools()).tools]
    assert names[0] == "read_task"
    env = make_health_env(ENV)
    text, info = env.reset(options={"split": "test", "index": index})
    assert names[1:] == [tool["function"]["name"] for tool in info["tools"]]
    assert (await session.call_tool("read_task", {})).content[0].text == text
    assert failed(await session.call_tool(names[1], {"no_such_argument": 1}))
    for name, arguments in oracle_calls(index):
        result = await session.call_tool(name, arguments)
        assert not failed(result)
        last = result.content[-1].text
        if (name, arguments) != oracle_calls(index)[-1]:
            assert "reward" not in last
    closing: dict[str, Any] = json.loads(last)
    assert failed(await session.call_tool(names[1], {}))
    return closing


def test_an_episode_over_stdio(tmp_path: Path) -> None:
    from mcp import ClientSession, StdioServerParameters
    from mcp.client.stdio import stdio_client

    record = tmp_path / "episodes.jsonl"
    command = StdioServerParameters(
        command=sys.executable, args=["-m", "healthgym", *ARGS, "--record", str(record)],
        cwd=str(Path(__file__).parents[2]),
    )  # fmt: skip

    async def run() -> dict[str, Any]:
        async with stdio_client(command) as (read, write), ClientSession(read, write) as session:
            return await play(session, 3)

    closing = anyio.run(run)
    assert closing["success"]
    assert closing["reward"] > 0
    assert [run.task_id for run in read_trajectories(record)] == [closing["task_id"]]


@pytest.fixture
def url() -> Iterator[str]:
    uvicorn = pytest.importorskip("uvicorn")
    from healthgym.integrations.mcp import McpFace, mcp_app
    from healthgym.integrations.serving import Gate, Limits
    from healthgym.integrations.serving.running import listening
    from healthgym.worlds.fhir.doorkeeper import Doorkeeper

    face = McpFace.of(ENV, split="test", first=3)
    gate = Gate(mcp_app(face, Limits()), Doorkeeper(frozenset({"127.0.0.1"})), Limits())
    opened = listening("127.0.0.1", 0)
    server = uvicorn.Server(uvicorn.Config(gate, log_level="warning", lifespan="on"))
    thread = threading.Thread(target=server.run, args=([opened],))
    thread.start()
    yield f"http://127.0.0.1:{opened.getsockname()[1]}/mcp"
    server.should_exit = True
    thread.join()
    opened.close()


def test_each_session_over_http_has_an_episode_of_its_own(url: str) -> None:
    from mcp import ClientSession
    from mcp.client import streamable_http

    connect = getattr(streamable_http, "streamable_http_client", None)
    if connect is None:
        connect = streamable_http.streamablehttp_client

    async def run() -> list[dict[str, Any]]:
        closings = []
        for index in (3, 4):
            async with connect(url) as streams, ClientSession(*streams[:2]) as session:
                closings.append(await play(session, index))
        return closings

    closings = anyio.run(run)
    assert all(closing["success"] for closing in closings)
    assert len({closing["task_id"] for closing in closings}) == 2
