"""A model behind `transformers serve`, as one would score it: a real server, on a real socket.

The model is made on the spot and has learned nothing. What is held to the test is the way: that
requests are taken, answers read, tokens counted and nothing is masked.
"""

from __future__ import annotations

import importlib.util
import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from healthgym.cli import main
from healthgym.core.trajectory import read_trajectories

NEEDED = ("torch", "transformers", "tokenizers", "fastapi", "uvicorn")
ABSENT = [name for name in NEEDED if importlib.util.find_spec(name) is None]
pytestmark = pytest.mark.skipif(
    bool(ABSENT), reason=f"`transformers serve` is not installed: there is no {', '.join(ABSENT)}"
)

ENV = "HealthAgent/FhirRecord-v1"
#: What `transformers` on the path calls; the server and this test share an interpreter.
SERVE = "import sys; from transformers.cli.transformers import main; sys.exit(main())"
#: Seconds that a server may take to load what it serves.
PATIENCE = 180.0


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with an untrained model of two layers, and a tokenizer learned from one task."""
    from healthgym.integrations.trl import chat
    from healthgym.integrations.trl.tiny import TinyConfig, tiny_model, train_tokenizer
    from healthgym.registration import make_health_env

    env = make_health_env(ENV)
    observation, info = env.reset(seed=0)
    texts = [observation, json.dumps(info["tools"])] * 10
    env.close()
    tokenizer = train_tokenizer(texts, 512)
    tokenizer.chat_template = chat.chat_template(list_tools=True)
    folder = tmp_path_factory.mktemp("served") / "tiny"
    tokenizer.save_pretrained(folder)
    tiny_model(tokenizer, TinyConfig(hidden=32, feed_forward=64, context=65536), 0).save_pretrained(
        folder
    )
    return folder


@pytest.fixture(scope="module")
def served(model: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The base address of a server of it."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    told = tmp_path_factory.mktemp("log") / "server.log"
    line = [sys.executable, "-c", SERVE, "serve", str(model), "--host", "127.0.0.1"]
    line += ["--port", str(port), "--device", "cpu", "--dtype", "float32"]
    quiet = {**os.environ, "HF_HUB_OFFLINE": "1", "HF_HUB_DISABLE_TELEMETRY": "1"}
    with told.open("wb") as log:
        server = subprocess.Popen(line, stdout=log, stderr=log, env=quiet)
        try:
            _await(f"http://127.0.0.1:{port}/health", server, told)
            yield f"http://127.0.0.1:{port}/v1"
        finally:
            server.terminate()
            try:
                server.wait(20)
            except subprocess.TimeoutExpired:
                server.kill()
                server.wait()


def _await(address: str, server: subprocess.Popen[bytes], told: Path) -> None:
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        assert server.poll() is None, told.read_text(encoding="utf-8", errors="replace")[-2000:]
        try:
            if httpx.get(address, timeout=2.0).is_success:
                return
        except httpx.HTTPError:
            time.sleep(0.5)
    raise AssertionError(told.read_text(encoding="utf-8", errors="replace")[-2000:])


@pytest.mark.parametrize("calling", ["tools", "text"])
def test_a_model_behind_transformers_serve_is_scored(
    served: str, model: Path, tmp_path: Path, calling: str
) -> None:
    record, result = tmp_path / "runs.jsonl", tmp_path / "result.json"
    line = ["eval", ENV, "--policy", "llm", "--base-url", served, "--model", str(model)]
    line += ["--calling", calling, "--max-tokens", "12", "--max-context", "4000", "--no-floor"]
    line += ["--episodes", "2", "--workers", "2", "--set", "max_turns=3", "--retries", "1"]
    assert main([*line, "--record", str(record), "--json", str(result)]) == 0
    told = json.loads(result.read_text())
    assert (told["errors"], told["stopped"], len(told["results"])) == (0, "", 2)
    assert told["usage"]["requests"] == 6
    assert told["usage"]["estimated"] == 0
    assert 0 < told["usage"]["completion_tokens"] <= 6 * 12
    assert len(list(read_trajectories(record))) == 2
