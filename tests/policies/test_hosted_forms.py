"""The responses form, reasoning apart from answers, and requests that begin alike."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

import pytest

from healthgym.core.chat_client import ChatClient
from healthgym.core.endpoint import Endpoint
from healthgym.core.trajectory import read_trajectories
from healthgym.policies.evaluation import evaluate
from healthgym.policies.llm import LLMPolicy
from tests.core.toys import LEDGER_ID
from tests.standin import Reply, completion, stand_in

DECOY = '<tool_call>{"name": "submit", "arguments": {"answer": 99}}</tool_call>'


def response(*calls: tuple[str, str]) -> Reply:
    output: list[dict[str, Any]] = [
        {
            "type": "reasoning",
            "id": "rs",
            "encrypted_content": "sealed",
            "summary": [{"type": "summary_text", "text": DECOY}],
        }
    ]
    output += [
        {"type": "function_call", "call_id": f"c{n}", "name": name, "arguments": arguments}
        for n, (name, arguments) in enumerate(calls)
    ]
    usage = {
        "input_tokens": 100,
        "output_tokens": 10,
        "input_tokens_details": {"cached_tokens": 60},
    }
    return Reply(json.dumps({"status": "completed", "output": output, "usage": usage}))


def test_a_model_plays_in_the_responses_form(tmp_path: Path) -> None:
    record = tmp_path / "runs.jsonl"
    read = response(("ledger__list_accounts", "{}"), ("ledger__list_accounts", "{}"))
    with (
        stand_in(read, response(("ledger__submit", '{"answer": 1}'))) as server,
        ChatClient(Endpoint(server.base_url, "m", api="responses")) as client,
    ):
        scored = evaluate(LEDGER_ID, LLMPolicy(client), episodes=1, record=record)
    first, second = server.requests
    assert first["path"] == "/v1/responses"
    assert first["store"] is False
    assert first["tools"][0]["strict"] is False
    sent = [item.get("type", item.get("role")) for item in second["input"]]
    assert sent == ["user", "reasoning"] + ["function_call"] * 2 + ["function_call_output"] * 2
    assert scored.usage.cached_tokens == 120
    (episode,) = read_trajectories(record)
    assert episode.run["reasoning"] == [DECOY, DECOY]
    assert DECOY not in "".join(turn.action for turn in episode.turns)


@pytest.mark.parametrize("api", ["chat", "responses"])
def test_each_request_begins_as_the_one_before(api: str) -> None:
    call = [("ledger__list_accounts", "{}")]
    read = completion(None, call) if api == "chat" else response(*call)
    bodies: list[str] = []

    def answer(body: dict[str, Any]) -> Reply:
        bodies.append(json.dumps(body))
        return read

    with (
        stand_in(answer) as server,
        ChatClient(Endpoint(server.base_url, "m", api=api)) as client,
    ):
        evaluate(LEDGER_ID, LLMPolicy(client), episodes=1, floor=False, env_kwargs={"max_turns": 5})
    assert len(bodies) == 5
    for before, after in itertools.pairwise(bodies):
        assert after.startswith(before.removesuffix("]}"))
