"""NeMo Gym's own agent plays our resources server, with a stand-in for the model."""

import asyncio
import importlib
import json
from collections.abc import Callable
from http.cookies import SimpleCookie
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from healthgym.errors import ConfigurationError
from healthgym.integrations.hub import export_nemo_gym
from healthgym.integrations.sessions import SessionTask, oracle_calls
from healthgym.registration import make_health_env

FHIR = "HealthAgent/FhirRecord-v1"
SERVER, AGENT = "healthgym_fhirrecord_v1_resources_server", "healthgym_fhirrecord_v1_simple_agent"
Row = dict[str, Any]


def exported(out: Path, tasks: int = 3) -> list[Row]:
    folder = export_nemo_gym(FHIR, out, range(tasks), split="test")
    return [json.loads(line) for line in (folder / "data" / "test.jsonl").read_text().splitlines()]


def test_a_row_names_its_task_and_nothing_of_its_answer(tmp_path: Path) -> None:
    rows = exported(tmp_path)
    env = make_health_env(FHIR)
    for index, row in enumerate(rows):
        text, info = env.reset(options={"split": "test", "index": index})
        asked = row["responses_create_params"]
        assert asked["input"] == [{"role": "user", "content": text}]
        assert [tool["name"] for tool in asked["tools"]] == [
            tool["function"]["name"] for tool in info["tools"]
        ]
        assert SessionTask.model_validate(row["healthgym"]).task_id == info["task_id"]
        assert set(row) == {"responses_create_params", "healthgym", "agent_ref"}
    config = (tmp_path / "healthgym_fhirrecord_v1/configs/healthgym_fhirrecord_v1.yaml").read_text()
    assert f"{SERVER}:" in config
    assert f"name: {AGENT}" in config
    with pytest.raises(ConfigurationError, match="is there already"):
        exported(tmp_path)


def server() -> Any:
    pytest.importorskip("nemo_gym")
    from nemo_gym.server_utils import ServerClient

    from healthgym.integrations.nemo_gym import HealthResourcesServer, HealthServerConfig

    config = HealthServerConfig(name=SERVER, host="127.0.0.1", port=1, entrypoint="app.py")
    return HealthResourcesServer.model_construct(
        config=config, server_client=ServerClient.model_construct()
    )


class Reply:
    """An answer as NeMo Gym's client gives it."""

    def __init__(self, status: int, body: bytes, cookies: dict[str, str]) -> None:
        self.status, self.ok, self._body, self.cookies = status, status < 400, body, SimpleCookie()
        self.cookies.load(cookies)
        self.content = SimpleNamespace(read=self.read)

    async def read(self) -> bytes:
        return self._body

    def raise_for_status(self) -> None:
        raise AssertionError(self._body)


class Wires:
    """Leads what servers send each other to their applications, in this process."""

    def __init__(self, model: Callable[[list[Row]], Row]) -> None:
        self.apps: dict[str, Any] = {}
        self._model = model

    async def post(
        self, server_name: str, url_path: str, json: Any = None, cookies: Any = None
    ) -> Reply:
        import httpx
        from fastapi.encoders import jsonable_encoder

        body = jsonable_encoder(json, exclude_unset=True)
        if server_name == "policy_model":
            return Reply(200, _json(self._model(body["input"])), {})
        known = {name: getattr(each, "value", each) for name, each in (cookies or {}).items()}
        transport = httpx.ASGITransport(app=self.apps[server_name])
        async with httpx.AsyncClient(
            transport=transport, base_url="http://server", cookies=known
        ) as client:
            answer = await client.post(url_path, json=body)
        return Reply(answer.status_code, answer.content, {**known, **dict(answer.cookies)})


def _json(value: Any) -> bytes:
    return json.dumps(value).encode()


def response(*output: Row) -> Row:
    return {
        "id": "r", "created_at": 0, "model": "stand-in", "object": "response", "output": [*output],
        "parallel_tool_calls": False, "tool_choice": "auto", "tools": [],
    }  # fmt: skip


def message(text: str) -> Row:
    content = [{"type": "output_text", "text": text, "annotations": []}]
    return {
        "type": "message", "id": "m", "role": "assistant", "status": "completed",
        "content": content,
    }  # fmt: skip


def oracle(count: int) -> Callable[[list[Row]], Row]:
    env, calls = make_health_env(FHIR), {}
    for index in range(count):
        text, _ = env.reset(options={"split": "test", "index": index})
        calls[text] = oracle_calls(env, "test", index)

    def answer(chat: list[Row]) -> Row:
        done = sum(item.get("type") == "function_call" for item in chat)
        asked = calls[chat[0]["content"]]
        if done == len(asked):
            return response(message("Done."))
        call = asked[done]
        return response({
            "type": "function_call", "id": f"f{done}", "call_id": f"c{done}",
            "name": call.name.replace(".", "__"), "arguments": json.dumps(dict(call.arguments)),
        })  # fmt: skip

    return answer


def play(rows: list[Row], model: Callable[[list[Row]], Row]) -> list[Row]:
    """Have the library's simple agent play rows, all at a time; return what was verified."""
    agents = pytest.importorskip("responses_api_agents.simple_agent.app")
    agent_of = importlib.import_module("nemo_gym.config_types")
    wires = Wires(model)
    config = agents.SimpleAgentConfig(
        name=AGENT, host="127.0.0.1", port=2, entrypoint="app.py",
        resources_server=agent_of.ResourcesServerRef(type="resources_servers", name=SERVER),
        model_server=agent_of.ModelServerRef(type="responses_api_models", name="policy_model"),
    )  # fmt: skip
    agent = agents.SimpleAgent.model_construct(config=config, server_client=wires)
    wires.apps = {SERVER: server().setup_webserver(), AGENT: agent.setup_webserver()}

    async def all_of_them() -> list[Row]:
        replies = await asyncio.gather(*(wires.post(AGENT, "/run", row) for row in rows))
        for reply in replies:
            assert reply.ok, await reply.read()
        return [json.loads(await reply.read()) for reply in replies]

    return asyncio.run(all_of_them())


@pytest.mark.filterwarnings("ignore")
def test_the_oracles_calls_earn_one_and_nothing_earns_zero(tmp_path: Path) -> None:
    pytest.importorskip("nemo_gym")
    rows = exported(tmp_path)
    solved = play(rows, oracle(3))
    assert [each["reward"] for each in solved] == [1.0] * 3
    assert [each["verdict"]["strict"]["success"] for each in solved] == [True] * 3
    assert all(each["calls"] > 0 and not each["mask_sample"] for each in solved)
    idle = play(rows, lambda chat: response(message("Nothing to do.")))
    assert [(each["reward"], each["calls"]) for each in idle] == [(0.0, 0)] * 3


@pytest.mark.filterwarnings("ignore")
def test_sessions_are_seeded_and_closed_as_the_library_asks(tmp_path: Path) -> None:
    pytest.importorskip("nemo_gym")
    from fastapi.testclient import TestClient
    from nemo_gym.base_resources_server import ResourcesSeedSessionRequest
    from nemo_gym.testing.session_conformance import check_resources_session_contract

    row = exported(tmp_path, 1)[0]
    app = server().setup_webserver()
    seed = ResourcesSeedSessionRequest.model_validate({
        "resources_session_id": "one", "episode_id": {"rollout_id": "e"},
        "task_id": {"taskset": "t", "task_id": "1"}, "task_data": {"healthgym": row["healthgym"]},
    })  # fmt: skip
    check_resources_session_contract(app, seed, keeps_state=True)
    client = TestClient(app)
    assert client.post("/search_patients", json={}).status_code == 404
    assert client.post("/seed_session", json=row).status_code == 200
    assert "Error" in client.post("/nonsense", json={}).json()
    assert "Error" in client.post("/search_patients", json=[1]).json()
    lost = TestClient(app).post("/verify", json={**row, "response": response()}).json()
    assert (lost["reward"], lost["mask_sample"]) == (0.0, True)
