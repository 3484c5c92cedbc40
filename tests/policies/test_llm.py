"""The LLM policy against a stand-in endpoint: whose fault is whose, and what is remembered."""

from __future__ import annotations

import base64
import io
import json
from pathlib import Path
from typing import Any

import gymnasium as gym
import httpx
import numpy as np
import pytest
from PIL import Image

from healthgym.core.chat_client import ChatClient
from healthgym.core.endpoint import Endpoint
from healthgym.core.env import HealthEnv
from healthgym.core.spending import Budget, Prices, estimate_tokens
from healthgym.core.trajectory import picture_folder, read_trajectories
from healthgym.errors import ConfigurationError, EndpointError
from healthgym.policies.chat import PICTURES_FOLLOW, Calling
from healthgym.policies.evaluation import evaluate
from healthgym.policies.llm import LLMPolicy
from healthgym.policies.messages import LEAST_PICTURE_TOKENS, Speaker
from tests.core.signs import SIGNS_ID, make_signs
from tests.core.toys import LEDGER_ID, Ledger, LedgerReference, make_ledger
from tests.standin import Reply, completion, stand_in


class Script:
    """A transport that answers with given replies and keeps the requests."""

    def __init__(self, *replies: Reply) -> None:
        self.replies = list(replies)
        self.bodies: list[dict[str, Any]] = []

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.bodies.append(json.loads(request.content))
        reply = self.replies.pop(0) if len(self.replies) > 1 else self.replies[0]
        return httpx.Response(
            reply.status, content=reply.body, headers={"content-type": reply.content_type}
        )


def policy(script: Script, **options: Any) -> LLMPolicy:
    client = ChatClient(
        Endpoint("http://h/v1", "toy-model", retries=0),
        transport=httpx.MockTransport(script),
        sleep=lambda seconds: None,
    )
    return LLMPolicy(client, **options)


def play(player: LLMPolicy, env: HealthEnv | None = None) -> list[str]:
    env = env or make_ledger()
    observation, info = env.reset(options={"split": "test", "index": 3})
    player.begin(env, observation, info)
    seen, over = [], False
    while not over:
        observation, _, terminated, truncated, info = env.step(player.act(observation))
        if "images" in info:
            player.see(info["images"])
        seen.append(observation)
        over = terminated or truncated
    return seen


READ = ("ledger__list_accounts", "{}")
SUBMIT = ("ledger__submit", '{"answer": 1}')


def test_tools_are_offered_and_calls_reach_the_environment() -> None:
    script = Script(completion(None, [READ]), completion("I know.", [SUBMIT]))
    player = policy(script, system="Be brief.")
    seen = play(player)
    assert "submitted 1" in seen[1]
    first, second = script.bodies
    names = [tool["function"]["name"] for tool in first["tools"]]
    assert "ledger__submit" in names
    assert [message["role"] for message in first["messages"]] == ["system", "user"]
    assert second["messages"][2]["tool_calls"][0]["function"]["name"] == "ledger__list_accounts"
    assert second["messages"][3] == {"role": "tool", "content": seen[0], "tool_call_id": "c0"}
    assert player.usage.requests == 2
    assert player.name == "toy-model"


def test_text_mode_describes_the_tools_and_offers_none() -> None:
    said = '<think>hm</think><tool_call>{"name": "submit", "arguments": {"answer": 1}}</tool_call>'
    script = Script(completion("{oops"), completion(said))
    seen = play(policy(script, calling="text"))
    assert "tools" not in script.bodies[0]
    assert "ledger__submit" in script.bodies[0]["messages"][0]["content"]
    assert [m["role"] for m in script.bodies[1]["messages"]] == [
        "system", "user", "assistant", "user",
    ]  # fmt: skip
    assert script.bodies[1]["messages"][2]["content"] == "{oops"
    assert seen[0].split("\n")[1].startswith("Error: ")
    assert "submitted 1" in seen[1]


@pytest.mark.parametrize(
    ("reply", "complaint"),
    [
        (completion(None), "No tool call found"),
        (completion("I cannot help."), "No tool call found"),
        (completion(None, [("ledger__submit", '{"answer": ')]), "not valid JSON"),
        (completion(None, [("ledger__submit", "[1]")]), "JSON object"),
        (completion(None, [("nope", "{}")]), "no tool named 'nope'"),
        (completion(None, [(None, "{}")]), "needs a 'name'"),
        (completion(None, [("ledger__submit", 7)]), "JSON object"),
        (completion(None, [("ledger__submit", '{"answer": [1]}')]), "argument 'answer"),
    ],
    ids=[
        "silence",
        "words",
        "json-cut-short",
        "arguments-a-list",
        "unknown-tool",
        "no-name",
        "arguments-a-number",
        "wrong-type",
    ],
)
def test_a_models_mistake_is_answered_by_the_environment(reply: Reply, complaint: str) -> None:
    script = Script(reply, completion(None, [SUBMIT]))
    seen = play(policy(script))
    assert complaint in seen[0]
    assert "submitted 1" in seen[1]
    # Whatever came back, the next request holds a history that any endpoint accepts.
    for message in script.bodies[1]["messages"]:
        for request in message.get("tool_calls", []):
            assert isinstance(json.loads(request["function"]["arguments"]), dict)
            assert request["function"]["name"]
        if message["role"] == "tool":
            assert message["tool_call_id"] == "c0"


def test_calls_without_ids_are_numbered() -> None:
    script = Script(completion(None, [READ], ids=False), completion(None, [SUBMIT], ids=False))
    player = policy(script)
    play(player)
    asked, answer = script.bodies[1]["messages"][1:]
    assert asked["tool_calls"][0]["id"] == answer["tool_call_id"] != ""


def test_arguments_sent_as_an_object_are_understood() -> None:
    script = Script(completion(None, [("ledger__submit", {"answer": 1})]))
    assert "submitted 1" in play(policy(script))[0]


def test_an_endpoints_failure_is_raised() -> None:
    with pytest.raises(EndpointError):
        play(policy(Script(Reply("{}", 500))))


def test_a_new_episode_begins_with_an_empty_history() -> None:
    script = Script(completion(None, [SUBMIT]))
    player = policy(script)
    play(player)
    play(player)
    assert script.bodies[0] == script.bodies[1]
    assert player.usage.requests == 2


def test_old_results_are_dropped_to_fit_the_context() -> None:
    script = Script(*[completion(None, [READ])] * 4, completion(None, [SUBMIT]))
    player = policy(script, max_context=1)
    play(player)
    sent = [m["content"] for m in script.bodies[-1]["messages"] if m["role"] == "tool"]
    kept = [m.text for m in player.messages if m.speaker is Speaker.TOOL]
    assert sent != kept
    assert sent[-1] == kept[-1]
    assert all("result dropped" in text for text in sent[:-1])


def looks(*names: str) -> list[Reply]:
    return [completion(None, [(name, "{}")]) for name in names]


SIDE = completion(None, [("submit", '{"side": "left"}')])


def parts(message: dict[str, Any]) -> list[Any]:
    """What a message holds: text as it is, pictures as arrays."""
    content = message["content"]
    if not isinstance(content, list):
        return [content]
    return [
        decoded(part["image_url"]["url"]) if part["type"] == "image_url" else part["text"]
        for part in content
    ]


def decoded(url: str) -> Any:
    head, _, body = url.partition(",")
    assert head == "data:image/png;base64"
    with Image.open(io.BytesIO(base64.b64decode(body))) as opened:
        return np.asarray(opened)


def test_pictures_follow_the_tools_message() -> None:
    script = Script(*looks("halves", "ask"), SIDE)
    env = make_signs()
    play(policy(script), env)
    picture = env.family.generator.generate("test", 3).start  # type: ignore[arg-type]
    *_, answer, shown = script.bodies[1]["messages"]
    assert (answer["role"], parts(answer)) == ("tool", ["The left and the right half."])
    assert shown["role"] == "user"
    _, left, right = parts(shown)
    assert (left == picture[:, :16]).all()
    assert (right == picture[:, 16:, None]).all()
    # A picture is sent with every later request, and once only.
    later = script.bodies[2]["messages"]
    assert later[: len(script.bodies[1]["messages"])] == script.bodies[1]["messages"]
    assert [message["role"] for message in later[-2:]] == ["assistant", "tool"]


def test_pictures_can_be_sent_in_the_tools_message() -> None:
    script = Script(*looks("look"), SIDE)
    play(policy(script, showing="result", detail="low"), make_signs())
    answer = script.bodies[1]["messages"][-1]
    assert answer["role"] == "tool"
    assert answer["content"][0] == {"type": "text", "text": "The sign, 32 x 24 pixels."}
    assert answer["content"][1]["image_url"]["detail"] == "low"


def test_pictures_can_be_kept_from_a_model_that_reads_text_only() -> None:
    script = Script(*looks("look"), SIDE)
    play(policy(script, showing="none"), make_signs())
    assert "image" not in json.dumps(script.bodies)
    assert script.bodies[1]["messages"][-1]["content"] == "The sign, 32 x 24 pixels."


def test_a_model_that_writes_its_calls_is_shown_pictures_with_the_answer() -> None:
    script = Script(completion('<tool_call>{"name": "look", "arguments": {}}</tool_call>'), SIDE)
    play(policy(script, calling="text"), make_signs())
    answer = script.bodies[1]["messages"][-1]
    assert answer["role"] == "user"
    assert [type(part) for part in parts(answer)] == [str, np.ndarray]


def test_pictures_are_made_smaller() -> None:
    script = Script(*looks("look"), SIDE)
    play(policy(script, max_image_side=16), make_signs())
    assert parts(script.bodies[1]["messages"][-1])[1].shape == (12, 16)


def test_the_number_of_pictures_in_a_request_is_limited() -> None:
    script = Script(*looks("look", "halves"), SIDE)
    player = policy(script, max_pictures=1)
    play(player, make_signs())
    counts = [
        sum(part["type"] == "image_url" for m in body["messages"] if isinstance(m["content"], list)
            for part in m["content"])
        for body in script.bodies
    ]  # fmt: skip
    assert counts == [0, 1, 1]
    told = json.dumps(script.bodies[2])
    assert "pictures dropped" in told
    assert "the first 1 of 2 pictures are shown" in told


def test_pictures_count_towards_context_and_estimated_cost() -> None:
    uncounted = [completion(None, [("look", "{}")], usage=None) for _ in range(2)]
    uncounted.append(completion(None, [("submit", '{"side": "left"}')], usage=None))

    def spent(**options: Any) -> int:
        player = policy(Script(*uncounted), **options)
        play(player, make_signs())
        assert player.usage.estimated == 3
        return player.usage.prompt_tokens

    # One picture in the second request and two in the third, each in a message of its own.
    each = LEAST_PICTURE_TOKENS + estimate_tokens(len(PICTURES_FOLLOW))
    assert spent() - spent(showing="none") == 3 * each
    assert spent(max_context=150) < spent()


def test_a_new_episode_begins_without_the_pictures_of_the_last() -> None:
    script = Script(*looks("halves"), SIDE)
    player = policy(script, max_pictures=1)
    player.see([np.zeros((4, 4), np.uint8)] * 2)
    play(player, make_signs())
    assert "image" not in json.dumps(script.bodies[0])
    assert "pictures are shown" not in json.dumps(script.bodies[0])


@pytest.mark.parametrize("limit", [{"max_image_side": 0}, {"max_pictures": 0}])
def test_limits_are_positive(limit: dict[str, int]) -> None:
    with pytest.raises(ConfigurationError):
        policy(Script(SIDE), **limit)


def test_a_vision_model_is_scored_and_its_pictures_are_kept(tmp_path: Path) -> None:
    """A model that looks at the pixels, behind a transport, through the evaluation loop."""

    def answer(request: httpx.Request) -> httpx.Response:
        last = json.loads(request.content)["messages"][-1]
        seen = [part for part in parts(last) if not isinstance(part, str)]
        if not seen:
            reply = completion(None, [("look", "{}")])
        else:
            left, right = seen[0][:, :16].mean(), seen[0][:, 16:].mean()
            side = "left" if left > right else "right"
            reply = completion(None, [("submit", json.dumps({"side": side}))])
        return httpx.Response(200, content=reply.body, headers={"content-type": "application/json"})

    client = ChatClient(Endpoint("http://h/v1", "eyes"), transport=httpx.MockTransport(answer))
    record = tmp_path / "runs.jsonl"
    scored = evaluate(SIGNS_ID, LLMPolicy(client), episodes=8, record=record, pictures=True)
    assert scored.success is not None
    assert scored.success.estimate == 1.0
    names = {name for run in read_trajectories(record) for t in run.turns for name in t.pictures}
    assert {file.stem for file in picture_folder(record).iterdir()} == names
    assert len(names) == 8


def solve(body: dict[str, Any]) -> Reply:
    """A model that knows the answer, by looking the task up in the generator."""
    instruction = body["messages"][0]["content"]
    generator = Ledger().generator
    for index in range(20):
        instance = generator.generate("test", index)  # type: ignore[arg-type]
        reference = instance.reference
        assert isinstance(reference, LedgerReference)
        if instance.task.instruction == instruction:
            move = {
                "source": reference.source,
                "target": reference.target,
                "amount": reference.amount,
            }
            calls = [("transfer", json.dumps(move))] if reference.amount else []
            return completion(None, [*calls, ("submit", json.dumps({"answer": reference.answer}))])
    raise AssertionError(instruction)


def test_a_hosted_model_is_scored_through_a_real_socket() -> None:
    env = gym.make(LEDGER_ID)
    tasks = [env.reset(options={"split": "test", "index": i})[0] for i in range(4)]
    replies = [solve({"messages": [{"content": text}]}) for text in tasks]
    flaky = [replies[0], Reply("{}", 500), replies[1], Reply("{}", 429, {"Retry-After": "0"})]
    with stand_in(*flaky, *replies[2:]) as server:
        client = ChatClient(
            Endpoint(server.base_url, "m", prices=Prices(1.0, 1.0)), sleep=lambda seconds: None
        )
        with client:
            scored = evaluate(LEDGER_ID, LLMPolicy(client), episodes=4)
    assert scored.success is not None
    assert scored.success.estimate == 1.0
    assert scored.usage.requests == 4
    assert scored.usage.usd == pytest.approx(4 * 110e-6)
    assert "4 requests, 400 tokens read, 40 written, 0.0004 USD" in scored.to_text()


def test_workers_share_an_endpoint_and_its_budget() -> None:
    with stand_in(completion(None, [SUBMIT])) as server:
        client = ChatClient(Endpoint(server.base_url, "m"), budget=Budget(tokens=110 * 6))
        with client:
            scored = evaluate(
                LEDGER_ID,
                lambda: LLMPolicy(client, calling=Calling.TOOLS),
                episodes=50,
                workers=2,
            )
    assert "budget of 660 tokens" in scored.stopped
    assert 6 <= len(scored.scored) <= 7
    assert scored.usage == client.meter.total


def test_a_dead_endpoint_ends_the_run_without_a_score() -> None:
    script = Script(Reply("{}", 503))
    scored = evaluate(LEDGER_ID, policy(script), episodes=50)
    assert scored.success is None
    assert len(scored.errors) == 5
    assert "5 episodes failed in a row" in scored.stopped
    assert scored.rows() == ()
    assert "status 503" in scored.to_text()
