"""verifiers' own commands find, prove and play our tasks, against a stand-in for a model."""

import asyncio
import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from healthgym.errors import ConfigurationError
from healthgym.integrations.hub import export_verifiers
from healthgym.integrations.sessions import oracle_calls
from healthgym.registration import make_health_env

FHIR = "HealthAgent/FhirRecord-v1"
NAME = "healthgym-fhirrecord-v1"
Answer = Callable[[list[dict[str, Any]]], dict[str, Any]]


def test_the_package_names_its_environment(tmp_path: Path) -> None:
    folder = export_verifiers("HealthAgent/XrayCorrection-v1", tmp_path, {"difficulty": "hard"})
    assert folder.name == "healthgym-xraycorrection-v1"
    module = (folder / "healthgym_xraycorrection_v1.py").read_text()
    assert "class XrayCorrection(HealthTaskset)" in module
    assert "SETTINGS = {'difficulty': 'hard'}" in module
    with pytest.raises(ConfigurationError, match="is there already"):
        export_verifiers("HealthAgent/XrayCorrection-v1", tmp_path)
    with pytest.raises(ConfigurationError, match="no environment"):
        export_verifiers("HealthAgent/Nowhere-v1", tmp_path)


@pytest.fixture
def package(tmp_path: Path) -> Path:
    pytest.importorskip("verifiers.v1")
    return export_verifiers(FHIR, tmp_path)


def command(package: Path, name: str, *arguments: str) -> "subprocess.CompletedProcess[str]":
    """Run one of verifiers' commands where the package can be imported."""
    beside = Path(sys.executable).parent
    return subprocess.run(
        [beside / name, NAME, *arguments],
        capture_output=True, text=True, check=False, cwd=package, timeout=300,
        env={**os.environ, "PYTHONPATH": str(package), "OF_NOBODY": "none",
             "PATH": f"{beside}:{os.environ['PATH']}"},
    )  # fmt: skip


def test_the_library_proves_the_tasks_itself(package: Path) -> None:
    done = command(
        package, "vf-validate", "--taskset.tasks", "3", "--runtime.type", "subprocess",
        "--rich", "False",
    )  # fmt: skip
    (summary,) = package.glob("outputs/*/summary.json")
    checks = json.loads(summary.read_text())["checks"]
    # The oracle succeeds on each, and what was not touched earns nothing.
    assert (checks["gold"]["valid"], checks["noop"]["valid"]) == (3, 3), done.stdout + done.stderr


def test_pictures_are_shown() -> None:
    pytest.importorskip("verifiers.v1")
    import verifiers.v1 as vf

    from healthgym.integrations.verifiers import HealthConfig, HealthTaskset, HealthToolset

    config = HealthConfig(env_id="HealthAgent/CtAbnormality-v1", tasks=1, split="test")
    (task,) = HealthTaskset(config).load()

    async def shown() -> Any:
        tools = HealthToolset(vf.ToolsetConfig())
        await tools.setup_task(task.data)
        assert "view_slice" in [tool.name for tool in await tools.list_tools()]
        return await tools.call_tool("view_slice", {"plane": "axial", "window": "lung"})

    told = asyncio.run(shown())
    assert [part.type for part in told.content] == ["text", "image"]
    assert not told.is_error


@pytest.fixture
def serve() -> Iterator[Callable[[Answer], str]]:
    servers = []

    def start(answer: Answer) -> str:
        handler = type("_Stand", (_Stand,), {"answer": staticmethod(answer)})
        servers.append(ThreadingHTTPServer(("127.0.0.1", 0), handler))
        threading.Thread(target=servers[-1].serve_forever, daemon=True).start()
        return f"http://127.0.0.1:{servers[-1].server_port}/v1"

    yield start
    for server in servers:
        server.shutdown()
        server.server_close()


class _Stand(BaseHTTPRequestHandler):
    """Streams one message, as an OpenAI-compatible endpoint does."""

    answer: Answer

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        message = type(self).answer(body["messages"])
        finish = "tool_calls" if message.get("tool_calls") else "stop"
        choice = {"index": 0, "delta": message, "finish_reason": None}
        usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        for choices in ([choice], [{"index": 0, "delta": {}, "finish_reason": finish}], []):
            chunk = {
                "id": "1", "object": "chat.completion.chunk", "created": 0, "model": "stand-in",
                "choices": choices, **({} if choices else {"usage": usage}),
            }  # fmt: skip
            self.wfile.write(f"data: {json.dumps(chunk)}\n\n".encode())
        self.wfile.write(b"data: [DONE]\n\n")

    def log_message(self, *_: object) -> None:
        """Say nothing."""


def oracle(count: int) -> Answer:
    """Answers with the next call of the oracle, of whichever task the chat is about."""
    env, calls = make_health_env(FHIR), {}
    for index in range(count):
        text, _ = env.reset(options={"split": "test", "index": index})
        calls[text] = oracle_calls(env, "test", index)

    def answer(chat: list[dict[str, Any]]) -> dict[str, Any]:
        asked = next(message["content"] for message in chat if message["role"] == "user")
        asked = asked if isinstance(asked, str) else asked[0]["text"]
        done = sum(message["role"] == "assistant" for message in chat)
        call = calls[asked][done]
        function = {
            "name": call.name.replace(".", "__"), "arguments": json.dumps(dict(call.arguments))
        }  # fmt: skip
        tool = {"index": 0, "id": f"call-{done}", "type": "function", "function": function}
        return {"role": "assistant", "content": None, "tool_calls": [tool]}

    return answer


def rollouts(package: Path, url: str, tasks: int) -> list[dict[str, Any]]:
    """Play tasks through `vf-eval`, and return the traces."""
    done = command(
        package, "vf-eval", "--env.taskset.tasks", str(tasks), "--env.taskset.split", "test",
        "-m", "stand-in", "--client.base-url", url, "--client.api-key-var", "OF_NOBODY",
        "--no-push", "--clean",
    )  # fmt: skip
    (traces,) = package.glob("outputs/*/traces.jsonl")
    episodes = [json.loads(line) for line in traces.read_text().splitlines()]
    found = [trace for episode in episodes for trace in episode.get("traces", [episode])]
    assert len(found) == tasks, done.stdout + done.stderr
    assert [trace["errors"] for trace in found] == [[]] * tasks, done.stdout
    return found


def test_the_oracles_calls_earn_one_and_nothing_earns_zero(
    package: Path, serve: Callable[[Answer], str]
) -> None:
    played = rollouts(package, serve(oracle(3)), 3)
    assert [trace["rewards"]["verdict"]["score"] for trace in played] == [1.0] * 3
    assert all(trace["info"]["verdict"]["strict"]["success"] for trace in played)
    assert all(trace["metrics"]["calls"] > 0 for trace in played)
    for folder in package.glob("outputs/*"):
        folder.rename(package / f"kept-{folder.name}")
    idle = rollouts(package, serve(lambda chat: {"role": "assistant", "content": "Done."}), 2)
    assert [trace["rewards"]["verdict"]["score"] for trace in idle] == [0.0] * 2
