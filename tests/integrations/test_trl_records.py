"""Tools whose arguments transformers cannot express are offered to TRL as our schema."""

from __future__ import annotations

import inspect
import json
from pathlib import Path
from typing import Any

import pytest

from healthgym.integrations.trl import environment_class, trl_spec
from healthgym.integrations.trl.tiny import TinyConfig, tiny_model, train_tokenizer
from tests.core.desk import DESK_ID, PACKET, make_desk

pytest.importorskip("datasets")
trl = pytest.importorskip("trl")

# Deprecations the libraries raise about each other, none of them for something chosen here.
pytestmark = [
    pytest.mark.filterwarnings("ignore::FutureWarning"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::UserWarning"),
]

SHAPE = TinyConfig(hidden=16, layers=1, heads=2, feed_forward=16, vocabulary=400, context=512)
PLAIN = "{{ tools | tojson }}"


@pytest.fixture(scope="module")
def tokenizer() -> Any:
    return train_tokenizer(["Report the balance of elm."], SHAPE.vocabulary)


@pytest.fixture(scope="module")
def trainer(tokenizer: Any, tmp_path_factory: pytest.TempPathFactory) -> Any:
    out: Path = tmp_path_factory.mktemp("grpo")
    args = trl.GRPOConfig(
        str(out), max_steps=1, per_device_train_batch_size=2, num_generations=2,
        max_completion_length=16, use_cpu=True, bf16=False, gradient_checkpointing=False,
        report_to="none", save_strategy="no", disable_tqdm=True,
        generation_kwargs={"max_new_tokens": 4},
    )  # fmt: skip
    spec = trl_spec(DESK_ID, size=4)
    made = trl.GRPOTrainer(
        model=tiny_model(tokenizer, SHAPE, 0), processing_class=tokenizer, args=args,
        **spec.arguments(),
    )  # fmt: skip
    made.train()
    return made


def offered() -> list[dict[str, Any]]:
    """Our schemas, in the order in which TRL lists the functions of a class."""
    tools = make_desk().open_episode("train", 0).seat().catalog.openai()
    return sorted(tools, key=lambda tool: tool["function"]["name"])


def test_the_chat_template_sees_our_schemas(trainer: Any, tokenizer: Any) -> None:
    shown = tokenizer.apply_chat_template(
        [{"role": "user", "content": "-"}],
        tools=trainer._env_tools[None],
        chat_template=PLAIN,
        tokenize=False,
    )
    assert json.loads(shown) == offered()
    assert "documents" in shown


def test_nested_arguments_reach_the_episode(trainer: Any) -> None:
    tools, slot = trainer._sync_tool_dicts[0], trainer.environments[0]
    assert set(tools) == {tool["function"]["name"] for tool in offered()}
    slot.reset(split="train", index=0)
    answer = tools["desk__send"](packet=PACKET, copies=2)
    assert answer.endswith("2 of 1")
    event = slot._episode.events[-1]
    assert event.arguments["packet"].documents[0].pages[0].number == 1
    answer = tools["desk__send"](packet={**PACKET, "documents": [{}]}, self=1)
    assert "argument 'packet.documents.0.title' is missing" in answer
    assert "no argument 'self'" in answer
    assert tools["desk__list"](**{"class": "a", "from": "2026-01-01"}).endswith(
        "a 2026-01-01 0.5 None"
    )
    assert len(trainer.environments[1]._episode.events) == 0


def test_replies_are_read_by_our_schemas(trainer: Any, tokenizer: Any) -> None:
    from trl.chat_template_utils import parse_response

    call = {"name": "desk__send", "arguments": {"packet": PACKET}}
    prompt = tokenizer("<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n")["input_ids"]
    ids = tokenizer(f"<tool_call>{json.dumps(call)}</tool_call><|im_end|>")["input_ids"]
    read = parse_response(tokenizer, ids, prefix=prompt, tools=trainer._env_tools[None])
    assert read["tool_calls"][0]["function"]["arguments"] == {"packet": PACKET}


def test_tools_that_transformers_can_express_stay_methods() -> None:
    slot = environment_class(make_desk())()
    assert inspect.ismethod(slot.office__continue)
    assert not inspect.ismethod(slot.desk__send)
    assert {"desk__send", "office__continue"} <= {
        name for name, _ in inspect.getmembers(type(slot), inspect.isfunction)
    }
