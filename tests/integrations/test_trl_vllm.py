"""GRPO with replies from a vLLM server: TRL's own client and loop against a stand-in on a socket.

vLLM runs on no processor of a test machine. The stand-in answers its HTTP API, and says what a
demonstration says next; weights, which travel from one GPU to another, are only counted.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from healthgym.integrations.trl import demonstrations, trl_spec
from healthgym.integrations.trl.tiny import TinyConfig
from healthgym.registration import make_health_env

trl = pytest.importorskip("trl")
pytest.importorskip("requests")

pytestmark = [
    pytest.mark.filterwarnings("ignore::FutureWarning"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::UserWarning"),
]

SHAPE = TinyConfig(hidden=16, layers=1, heads=2, feed_forward=16, vocabulary=500, context=512)


class Speaker:
    """Says what the demonstration of a prompt's task says next; tokens in, tokens out."""

    def __init__(self, tokenizer: Any, demos: list[Any]) -> None:
        from healthgym.integrations.trl import chat

        self._begun: list[tuple[list[int], list[list[int]]]] = []
        self._end = tokenizer.eos_token_id
        for demo in demos:
            said = [n for n, message in enumerate(demo.messages) if message["role"] == "assistant"]
            prompt = chat.render(tokenizer, list(demo.messages[:1]), generate=True)
            replies = []
            for place in said:
                head = chat.render(tokenizer, list(demo.messages[:place]), generate=True)
                whole = chat.render(tokenizer, list(demo.messages[: place + 1]), generate=False)
                reply = whole[len(head) :]
                replies.append(reply[: reply.index(self._end) + 1])
            self._begun.append((prompt, replies))

    def says(self, prompt: list[int]) -> list[int]:
        for begun, replies in self._begun:
            if prompt[: len(begun)] == begun:
                spoken = sum(_holds(prompt[len(begun) :], reply) for reply in replies)
                return replies[min(spoken, len(replies) - 1)]
        return [self._end]


def _holds(tokens: list[int], part: list[int]) -> bool:
    return any(tokens[n : n + len(part)] == part for n in range(len(tokens) - len(part) + 1))


class Server:
    """The HTTP API of a vLLM server, as far as TRL asks for it."""

    def __init__(self, speaker: Speaker) -> None:
        self.asked: list[dict[str, Any]] = []
        asked = self.asked

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                path = self.path.partition("?")[0]
                self._answer(
                    {
                        "/health": {},
                        "/v1/models": {"data": [{"id": "served"}]},
                        "/server_info": {
                            "vllm_config": {"model_config": {"logprobs_mode": "processed_logprobs"}}
                        },
                    }[path]
                )

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                if self.path == "/reset_prefix_cache":
                    self._answer({"success": True})
                    return
                assert self.path == "/v1/completions"
                request = json.loads(body)
                asked.append(request)
                choices = []
                for prompt in request["prompt"]:
                    ids = speaker.says(prompt)[: request["max_tokens"]]
                    names = [f"token_id:{token}" for token in ids]
                    told = {
                        "tokens": names,
                        "token_logprobs": [-0.1] * len(ids),
                        "top_logprobs": [{name: -0.1} for name in names],
                    }
                    one = {"prompt_token_ids": prompt, "token_ids": ids, "logprobs": told}
                    choices += [one] * request["n"]
                self._answer({"choices": choices})

            def _answer(self, body: object) -> None:
                data = json.dumps(body).encode()
                self.send_response(200)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *_: object) -> None:
                pass

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.http.server_address[1]}"


@pytest.fixture
def weights(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """TRL with vLLM to be had, and the names of the weights that would be sent."""
    from trl.generation import vllm_client, vllm_generation

    sent: list[str] = []

    def send(client: Any, metadata: Any, named: Any) -> None:
        sent.extend(name for name, _ in named)

    for module in (vllm_client, vllm_generation):
        monkeypatch.setattr(module, "is_vllm_available", lambda *_, **__: True)
    monkeypatch.setattr(vllm_client.VLLMClient, "init_communicator", lambda *_, **__: None)
    monkeypatch.setattr(vllm_client.VLLMClient, "update_named_params", send)
    return sent


@pytest.fixture
def demos(toy_id: str) -> list[Any]:
    return list(demonstrations(make_health_env(toy_id), "train", 40))


@pytest.fixture
def tokenizer(demos: list[Any]) -> Any:
    from healthgym.integrations.trl.models import _texts
    from healthgym.integrations.trl.tiny import train_tokenizer

    return train_tokenizer(_texts(demos), SHAPE.vocabulary)


@pytest.fixture
def server(tokenizer: Any, demos: list[Any]) -> Iterator[Server]:
    made = Server(Speaker(tokenizer, demos))
    threading.Thread(target=made.http.serve_forever, daemon=True).start()
    yield made
    made.http.shutdown()
    made.http.server_close()


def test_a_server_s_replies_are_played_and_paid(
    server: Server, weights: list[str], tokenizer: Any, toy_id: str, tmp_path: Path
) -> None:
    from healthgym.integrations.trl.tiny import tiny_model

    spec = trl_spec(toy_id, size=8, env_kwargs={"costs": {"unsubmitted": 0.5}})
    trainer = trl.GRPOTrainer(
        model=tiny_model(tokenizer, SHAPE, 0),
        processing_class=tokenizer,
        **spec.arguments(),
        args=trl.GRPOConfig(
            str(tmp_path),
            max_steps=2,
            per_device_train_batch_size=4,
            num_generations=2,
            max_completion_length=400,
            use_vllm=True,
            vllm_mode="server",
            vllm_server_base_url=server.url,
            generation_kwargs={"max_tokens": 96},
            use_cpu=True,
            bf16=False,
            gradient_checkpointing=False,
            report_to="none",
            save_strategy="no",
            logging_steps=1,
            disable_tqdm=True,
        ),
    )
    trainer.train()
    logged = [row for row in trainer.state.log_history if "reward" in row]
    assert [row["reward"] for row in logged] == [1.0, 1.0]
    assert [row["env/success"] for row in logged] == [1.0, 1.0]
    # Each reply is asked for with what was read until then, and no reply is longer than agreed.
    assert {request["max_tokens"] for request in server.asked} == {96}
    assert {request["model"] for request in server.asked} == {"served"}
    assert len(server.asked) >= 4
    lengths = [max(map(len, request["prompt"])) for request in server.asked]
    assert lengths[1] > lengths[0]
    assert "model.embed_tokens.weight" in weights
