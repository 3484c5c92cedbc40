"""OpenEnv's own client plays the served environments; `make test-faces` has what this needs."""

import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import httpx
import pytest

from healthgym.core.trajectory import read_trajectories
from healthgym.errors import ConfigurationError
from healthgym.registration import make_health_env

pytest.importorskip("openenv")
uvicorn = pytest.importorskip("uvicorn")
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")

FHIR, XRAY = "HealthAgent/FhirRecord-v1", "HealthAgent/XrayCorrection-v1"


class Running:
    """A server in this process, stopped as a signal stops it."""

    def __init__(self, app: Any, token: str = "", **limits: Any) -> None:
        from healthgym.integrations.serving import Gate, Limits
        from healthgym.integrations.serving.running import listening
        from healthgym.worlds.fhir.doorkeeper import Doorkeeper

        bounds = Limits(**limits)
        gate = Gate(app, Doorkeeper(frozenset({"127.0.0.1"}), token=token), bounds)
        self._socket = listening("127.0.0.1", 0)
        self.url = f"http://127.0.0.1:{self._socket.getsockname()[1]}"
        config = uvicorn.Config(gate, log_level="warning", ws_max_size=bounds.message)
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(target=self._server.run, args=([self._socket],))
        self._thread.start()

    def stop(self) -> None:
        self._server.should_exit = True
        self._thread.join()
        self._socket.close()


@pytest.fixture
def start() -> Iterator[Any]:
    from healthgym.integrations.openenv import openenv_app
    from healthgym.integrations.serving import Limits

    running: list[Running] = []

    def make(ids: list[str], *, token: str = "", record: Path | None = None, **limits: Any) -> str:
        app = openenv_app(ids, record=record, limits=Limits(**limits))
        running.append(Running(app, token, **limits))
        return running[-1].url

    yield make
    for each in running:
        each.stop()


def client(url: str) -> Any:
    from openenv.core.generic_client import GenericEnvClient

    return GenericEnvClient(base_url=url).sync()


def oracle_calls(env_id: str, index: int) -> list[dict[str, Any]]:
    """What the oracle does on a test task, as actions of the served environment."""
    from healthgym.core.action import calls_of, text_of
    from healthgym.core.family import ORACLE

    env = make_health_env(env_id)
    env.reset(options={"split": "test", "index": index})
    instance = env.family.generator.generate("test", index)
    player = env.family.player(ORACLE, instance, env.np_random, env.role)
    calls, action = [], player.act()
    while action is not None:
        calls += [
            {"tool": call.name, "arguments": dict(call.arguments)}
            for call in calls_of(action, text_of(action))
        ]
        text, _, terminated, truncated, _ = env.step(action)
        action = None if terminated or truncated else player.act(text)
    return calls


def test_the_oracle_succeeds_through_openenvs_client(start: Any, tmp_path: Path) -> None:
    record = tmp_path / "episodes.jsonl"
    url = start([FHIR, XRAY], record=record)
    for env_id in (FHIR, XRAY):
        with client(url) as env:
            env.reset(env=env_id, split="test", index=3)
            for action in oracle_calls(env_id, 3):
                result = env.step(action)
            assert result.done
            assert result.metadata["success"]
            assert result.observation["verdict"]["strict"]["success"]
    assert [run.env_id for run in read_trajectories(record)] == [FHIR, XRAY]


def test_a_session_plays_what_the_environment_plays(start: Any) -> None:
    env = make_health_env(FHIR)
    text, info = env.reset(seed=11, options={"split": "validation"})
    with client(start([FHIR])) as served:
        result = served.reset(seed=11, split="validation")
        assert result.observation["text"] == text
        assert result.metadata["task_id"] == info["task_id"]
        assert result.observation["tools"] == info["tools"]
        said = served.step({"text": "no call at all"})
        assert said.observation["text"] == env.step("no call at all")[0]
        assert said.observation["error"]
        assert not said.observation["verdict"]


def test_sessions_do_not_see_each_other(start: Any) -> None:
    url, sessions = start([FHIR]), 24
    with ExitStack() as stack:
        envs = [stack.enter_context(client(url)) for _ in range(sessions)]
        with ThreadPoolExecutor(8) as pool:
            begun = list(pool.map(lambda at: at[1].reset(split="test", index=at[0]),
                                  enumerate(envs)))  # fmt: skip
            list(pool.map(lambda env: env.step({"text": "nothing"}), envs[::2]))
        states = [env.state() for env in envs]
    assert [state["task_id"] for state in states] == [r.metadata["task_id"] for r in begun]
    assert len({state["task_id"] for state in states}) == sessions
    assert [state["step_count"] for state in states] == [1, 0] * (sessions // 2)


def test_there_are_no_more_sessions_than_allowed(start: Any) -> None:
    url = start([FHIR], sessions=1)
    with client(url) as first:
        first.reset(seed=1)
        with pytest.raises(Exception, match=r"(?i)capacity|session"), client(url) as second:
            second.reset(seed=1)
        assert first.state()["task_id"]


def test_who_may_call(start: Any) -> None:
    url = start([FHIR], token="secret", message=1000)
    own = {"Authorization": "Bearer secret"}
    assert httpx.get(f"{url}/health").status_code == 401
    assert httpx.get(f"{url}/health", headers=own).status_code == 200
    assert httpx.get(f"{url}/health", headers={**own, "Host": "evil.example"}).status_code == 421
    foreign = {**own, "Origin": "http://evil.example"}
    assert httpx.get(f"{url}/health", headers=foreign).status_code == 403
    assert httpx.post(f"{url}/reset", headers=own, content=b"x" * 1001).status_code == 413
    with pytest.raises(Exception, match=r"(?i)403|reject|connect"), client(url) as env:
        env.reset(seed=1)


def test_too_many_requests_are_refused(start: Any) -> None:
    url = start([FHIR], rate=0.001, burst=2)
    assert [httpx.get(f"{url}/health").status_code for _ in range(3)] == [200, 200, 429]


def test_the_librarys_own_validation_passes(start: Any) -> None:
    validate = Path(sys.executable).with_name("openenv")
    done = subprocess.run(
        [validate, "validate", "--url", start([FHIR])], capture_output=True, text=True, check=False
    )
    assert "Verdict: PASS" in done.stdout, done.stdout


def test_the_task_api(start: Any) -> None:
    url = start([FHIR])
    name = httpx.get(f"{url}/list_environments").json()[0]
    splits = httpx.get(f"{url}/{name}/splits").json()
    assert {split["name"] for split in splits} >= {"train", "test"}
    task = httpx.post(f"{url}/{name}/task", json={"split": "test", "index": 5}).json()["task"]
    with client(url) as env:
        assert env.reset(split="test", index=5).metadata["task_id"] == task["id"]


def test_a_shutdown_loses_no_finished_episode(tmp_path: Path) -> None:
    record = tmp_path / "episodes.jsonl"
    command = [sys.executable, "-m", "healthgym", "serve", "openenv", FHIR, "--port", "0"]
    with subprocess.Popen(
        [*command, "--record", str(record)], stdout=subprocess.PIPE, text=True
    ) as server:
        assert server.stdout is not None
        url = server.stdout.readline().strip()
        calls = oracle_calls(FHIR, 3)
        with client(url) as finished, client(url) as unfinished:
            unfinished.reset(split="test", index=4)
            finished.reset(split="test", index=3)
            results = [finished.step(action) for action in calls]
            server.terminate()
            server.wait(60)
    assert [run.task_id for run in read_trajectories(record)] == [results[-1].metadata["task_id"]]


def test_others_need_a_token() -> None:
    from healthgym.integrations.serving import Limits, serve_app

    async def app(*_: object) -> None: ...

    with pytest.raises(ConfigurationError, match="token"):
        serve_app(app, "0.0.0.0", 0, limits=Limits(), extra="openenv")
