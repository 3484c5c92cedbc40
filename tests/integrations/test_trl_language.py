"""The templates that TRL ships: what they write is read, and what they mark is learned or refused.

A tokenizer of characters stands in for each model's own; the text is what the template makes it.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from healthgym.core.language import read_turn
from healthgym.core.seeding import Split
from healthgym.core.tool import ToolCall
from healthgym.errors import ConfigurationError
from healthgym.registration import make_health_env

trl = pytest.importorskip("trl")

from healthgym.integrations.trl import chat  # noqa: E402
from healthgym.integrations.trl.chat import ToolText  # noqa: E402
from healthgym.integrations.trl.config import TrainConfig  # noqa: E402
from healthgym.integrations.trl.labels import (  # noqa: E402
    labelled,
    learns_calls,
    template_name,
)
from healthgym.integrations.trl.models import ready, tell_tools  # noqa: E402
from healthgym.integrations.trl.replies import WHOLE, Unread, read_reply, teach  # noqa: E402

FOLDER = Path(str(trl.__file__)).parent / "chat_templates"
TEMPLATES = {
    file.stem: file.read_text("utf-8")
    for file in sorted(FOLDER.glob("*.jinja"))
    if not file.stem.endswith("_training")
}
#: Those that leave calls out, or cannot write a conversation with calls.
WITHOUT_CALLS = {
    "cohere", "cohere2", "deepseek_r1_distill", "gemma", "gemma3", "idefics3", "lfm2", "llama3",
    "llava_next", "phi3", "phi3_5", "qwen2_5_vl", "smolvlm",
}  # fmt: skip
#: Those that write calls, but mark nothing, in a form that TRL does not know either.
UNMARKED = {"gemma4", "gemma4_v2", "gemma4_v3", "gemma4_v4", "gemma4_v5", "llama3_1", "llama3_2"}
#: Those that write the first call of a turn and no other, or refuse to write two.
ONE_CALL = {"gptoss", "llama3_1", "llama3_2"}

KINDS = {
    "note": "string", "zip": "string", "count": "integer", "share": "number", "exact": "boolean",
    "tags": "array", "record": "object",
}  # fmt: skip
ARGUMENTS: dict[str, Any] = {
    "note": 'a "b" <c>\nd, e) f] {x} </p>', "zip": "75001", "count": -3, "share": 1.5,
    "exact": True, "tags": ["u", 2], "record": {"k": "v"},
}  # fmt: skip
SCHEMA = {"type": "object", "properties": {key: {"type": kind} for key, kind in KINDS.items()}}
SCHEMAS = {"look_up": SCHEMA, "submit": SCHEMA}
TOOLS: list[Any] = [
    {"type": "function", "function": {"name": name, "description": "-", "parameters": SCHEMA}}
    for name in SCHEMAS
]


@pytest.fixture(scope="module")
def tokenizer() -> Any:
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    pre_tokenizers_used = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    inner = Tokenizer(models.BPE({letter: n for n, letter in enumerate(letters)}, []))
    inner.pre_tokenizer, inner.decoder = pre_tokenizers_used, decoders.ByteLevel()
    return PreTrainedTokenizerFast(
        tokenizer_object=inner, eos_token="</s>", bos_token="<s>", pad_token="<pad>",
        clean_up_tokenization_spaces=False,
    )  # fmt: skip


def conversation(calls: int, words: str, arguments: dict[str, Any] = ARGUMENTS) -> list[Any]:
    made = [
        {"type": "function", "id": f"call{n}wxyz", "function": {"name": name, "arguments": text}}
        for n, (name, text) in enumerate(
            zip(("look_up", "submit"), [json.dumps(arguments)] * 2, strict=True)
        )
    ]
    return [
        {"role": "user", "content": "Go on."},
        {"role": "assistant", "content": words, "tool_calls": made[:calls]},
    ]


def written(tokenizer: Any, name: str, calls: int, words: str) -> str:
    """What a template writes after the head of the reply; arguments as text if it has to be."""
    messages = conversation(calls, words)
    settings = {"tools": TOOLS, "chat_template": TEMPLATES[name], "tokenize": False}
    head = tokenizer.apply_chat_template(messages[:1], add_generation_prompt=True, **settings)
    for as_text in (False, True):
        for call in messages[1]["tool_calls"]:
            call["function"]["arguments"] = json.dumps(ARGUMENTS) if as_text else ARGUMENTS
        try:
            whole = tokenizer.apply_chat_template(messages, **settings)
        except TypeError:
            continue
        # Where the head goes on with a mark that a finished turn lacks, the turn begins before it.
        return str(whole[len(common(head, whole)) :])
    raise AssertionError(name)


def common(first: str, second: str) -> str:
    length = next(
        (n for n, (a, b) in enumerate(zip(first, second, strict=False)) if a != b),
        min(len(first), len(second)),
    )
    return first[:length]


@pytest.mark.parametrize("name", sorted(TEMPLATES.keys() - WITHOUT_CALLS))
def test_what_a_template_writes_is_read(tokenizer: Any, name: str) -> None:
    wanted = (ToolCall("look_up", ARGUMENTS), ToolCall("submit", ARGUMENTS))
    for calls in (1,) if name in ONE_CALL else (1, 2):
        for words in ("", "Looking."):
            text = written(tokenizer, name, calls, words)
            assert read_turn(text, SCHEMAS.get).calls == wanted[:calls]


@pytest.mark.parametrize("name", TEMPLATES)
def test_a_template_has_calls_learned_or_is_refused_by_name(tokenizer: Any, name: str) -> None:
    tokenizer.chat_template = TEMPLATES[name]
    for calls in (1, 2):
        messages = conversation(calls, "")
        if name in WITHOUT_CALLS | UNMARKED or (name in ONE_CALL and calls > 1):
            with pytest.raises(ConfigurationError, match=rf"template {name} (does|cannot)"):
                labelled(tokenizer, messages, TOOLS)
            continue
        row = labelled(tokenizer, messages, TOOLS)
        learned = tokenizer.decode([token for token in row["labels"] if token != -100])
        assert learned.count("75001") == calls
        assert "Go on." not in learned
    assert learns_calls(tokenizer) is (name not in WITHOUT_CALLS | UNMARKED)


def test_the_call_and_not_only_the_words_are_learned(tokenizer: Any) -> None:
    tokenizer.chat_template = TEMPLATES["deepseek_r1_distill"]
    with pytest.raises(ConfigurationError, match=r"learn the call of look_up .*Looking"):
        labelled(tokenizer, conversation(1, "Looking."), TOOLS)
    assert labelled(tokenizer, conversation(0, "Looking."), TOOLS)["labels"]


def test_a_call_that_would_read_otherwise_is_refused(tokenizer: Any) -> None:
    """LFM2.5 writes text in quotes as it is, so that its own quotes end it."""
    tokenizer.chat_template = TEMPLATES["lfm2_2_5"]
    with pytest.raises(ConfigurationError, match="The chat template lfm2_2_5 does not"):
        labelled(tokenizer, conversation(1, "", {"note": "it's, zip='1'"}), TOOLS)


def test_a_template_that_trl_does_not_know_is_refused(tokenizer: Any) -> None:
    tokenizer.chat_template = "{% for m in messages %}{{ m.content }}{% endfor %}"
    with pytest.raises(ConfigurationError, match="does not mark what the assistant says"):
        labelled(tokenizer, conversation(1, ""), TOOLS)


class Resized:
    """Stands in for a model whose tokenizer is changed."""

    def __init__(self) -> None:
        from types import SimpleNamespace

        self.config, self.generation_config = SimpleNamespace(), SimpleNamespace()

    def resize_token_embeddings(self, size: int) -> None:
        self.size = size


@pytest.mark.parametrize("name", TEMPLATES)
def test_a_tokenizer_keeps_a_template_that_calls_can_be_learned_from_or_gets_ours(
    tokenizer: Any, name: str
) -> None:
    import copy

    own = copy.deepcopy(tokenizer)
    own.chat_template = TEMPLATES[name]
    ready(Resized(), own)
    assert (own.chat_template == TEMPLATES[name]) is (name not in WITHOUT_CALLS | UNMARKED)
    row = labelled(own, conversation(1, ""), TOOLS)
    assert "75001" in own.decode([token for token in row["labels"] if token != -100])


def replies() -> Iterator[tuple[str, bool | None]]:
    """Replies, and whether they are a call (True), words (False), or handed on as text (None)."""
    call = json.dumps({"name": "look_up", "arguments": {"count": 3}})
    yield f"<tool_call>{call}</tool_call></s>", True
    yield call, True
    yield f"```json\n{call}\n```</s>", True
    yield f"I look.\n<tool_call>{call}", True
    yield f"I look.\n{call}", None
    yield "<tool_call>\n<function=look_up>\n<parameter=count>\n3\n</parameter>\n</function>", True
    yield '[TOOL_CALLS]look_up[ARGS]{"count": 3}</s>', True
    yield "[look_up(count=3)]", True
    yield "I am done.</s>", False
    yield f"The call {call} would do it.", False
    yield f"{call} would do it.", None
    yield f"<tool_call>{call[:-2]}</tool_call>", None
    yield "<tool_call>\n<function=look_up>\n<parameter=count>\n3", None
    yield '{"name": "nothing", "arguments": {}}', None
    yield '{"name": "look_up", "count": 3}', None
    yield json.dumps([json.loads(call)] * 17), None


@pytest.mark.parametrize(("reply", "kind"), list(replies()))
def test_trainers_read_replies_as_the_environment_does(
    tokenizer: Any, reply: str, kind: bool | None
) -> None:
    from trl.chat_template_utils import parse_response

    teach(tokenizer)
    ids = tokenizer(reply)["input_ids"]
    message = parse_response(tokenizer, ids, prefix=[1], tools=TOOLS)
    assert message == read_reply(tokenizer, ids, TOOLS)
    calls = [call["function"] for call in message.get("tool_calls", ())]
    if kind is None:
        (call,) = calls
        assert call["name"] == "look_up"
        assert call["arguments"].keys() == {WHOLE}
        assert isinstance(call["arguments"][WHOLE], Unread)
        assert call["arguments"][WHOLE] == reply.removesuffix("</s>")
    else:
        assert calls == [{"name": "look_up", "arguments": {"count": 3}}] * kind
    assert read_reply(tokenizer, ids, []) == {
        "role": "assistant",
        "content": reply.removesuffix("</s>"),
    }


def test_what_is_written_in_reasoning_begun_by_the_template_is_no_call(tokenizer: Any) -> None:
    call = json.dumps({"name": "submit", "arguments": {}})
    ids, prompt = (
        tokenizer(text)["input_ids"]
        for text in (f"Maybe\n<tool_call>{call}</tool_call>", "Go on.\n<think>\n")
    )
    assert "tool_calls" in read_reply(tokenizer, ids, TOOLS)
    assert read_reply(tokenizer, ids, TOOLS, prompt) == {"role": "assistant", "content": ""}
    ids += tokenizer(f"</think>I look.\n<tool_call>{call}</tool_call>")["input_ids"]
    read = read_reply(tokenizer, ids, TOOLS, prompt)
    assert read["content"] == "I look."
    assert len(read["tool_calls"]) == 1


def test_what_a_tokenizer_was_taught_is_copied_with_it(tokenizer: Any) -> None:
    import copy

    teach(tokenizer)
    twin = copy.deepcopy(tokenizer)
    assert twin.parse_response.__self__ is twin


# -- how much of the tools is told -----------------------------------------------------------------


def learned(row: dict[str, list[int]]) -> list[int]:
    return [token for token in row["labels"] if token != -100]


@pytest.mark.parametrize("name", sorted(TEMPLATES.keys() - WITHOUT_CALLS - UNMARKED))
def test_told_briefly_the_same_is_learned(tokenizer: Any, name: str) -> None:
    tokenizer.chat_template = TEMPLATES[name]
    calls = 1 if name in ONE_CALL else 2
    messages = conversation(calls, "")
    whole = labelled(tokenizer, messages, TOOLS)
    tell_tools(tokenizer, ToolText.COMPACT)
    brief = labelled(tokenizer, messages, TOOLS)
    text = tokenizer.decode(brief["input_ids"])
    assert "look_up(note?, zip?, count?, share?, exact?, tags?, record?)\nsubmit(" in text
    assert '"description"' not in text
    assert learned(brief) == learned(whole)
    tell_tools(tokenizer, ToolText.NONE)
    unsaid = labelled(tokenizer, messages, TOOLS)
    assert "zip?" not in tokenizer.decode(unsaid["input_ids"])
    assert learned(unsaid) == learned(whole)
    tell_tools(tokenizer, ToolText.FULL)
    assert labelled(tokenizer, messages, TOOLS) == whole


@pytest.mark.parametrize("listed", [False, True])
def test_our_own_template_tells_of_tools_if_asked(tokenizer: Any, listed: bool) -> None:
    tokenizer.chat_template = chat.chat_template(list_tools=listed)
    for text, told in (
        (ToolText.FULL, "look_up(note: string, zip: string"),
        (ToolText.COMPACT, "look_up(note?, zip?"),
    ):
        tell_tools(tokenizer, text)
        ids = chat.render(tokenizer, conversation(0, "-")[:1], TOOLS, generate=True)
        assert told in tokenizer.decode(ids)
    tell_tools(tokenizer, ToolText.NONE)
    ids = chat.render(tokenizer, conversation(0, "-")[:1], TOOLS, generate=True)
    assert tokenizer.decode(ids) == chat.USER + "Go on.<|im_end|>\n" + chat.ASSISTANT


def test_what_a_system_message_says_is_kept(tokenizer: Any) -> None:
    tokenizer.chat_template = chat.chat_template(list_tools=True)
    tell_tools(tokenizer, ToolText.COMPACT)
    said = [{"role": "system", "content": "Be brief."}, *conversation(0, "-")]
    text = tokenizer.decode(chat.render(tokenizer, said, TOOLS, generate=False))
    assert text.startswith("<|im_start|>system\nBe brief.\n\nTools, ? is optional:\nlook_up(")
    assert text.count("<|im_start|>system") == 1


def test_the_tools_of_a_record_fit_into_1200_characters() -> None:
    """At 3.5 to 4 characters a token, as tokenizers of English and JSON have it, 300 tokens."""
    env = make_health_env("HealthAgent/FhirRecord-v1")
    tools = env.open_episode(Split.TEST, 0).seat().catalog.openai()
    assert len(tools) == 17
    told = render_text(
        chat.with_tool_text(chat.chat_template(list_tools=True), ToolText.COMPACT), tools
    )
    assert len(told) < 1_200 < len(json.dumps(tools)) / 5
    for tool in tools:
        function = tool["function"]
        line = next(one for one in told.splitlines() if one.startswith(function["name"] + "("))
        needed = function["parameters"].get("required", [])
        taken = [n + "?" * (n not in needed) for n in function["parameters"].get("properties", {})]
        assert line == f"{function['name']}({', '.join(taken)})"


def render_text(template: str, tools: list[Any]) -> str:
    from transformers.utils.chat_template_utils import render_jinja_template

    (text,), _ = render_jinja_template(
        [[{"role": "user", "content": ""}]], tools, chat_template=template
    )
    return str(text)


def test_a_template_that_marks_nothing_is_named(tokenizer: Any) -> None:
    name = min(UNMARKED)
    tokenizer.chat_template = TEMPLATES[name]
    assert template_name(tokenizer) == name
    with pytest.raises(ConfigurationError, match=name):
        tell_tools(tokenizer, ToolText.COMPACT)


def test_no_other_word_is_a_tool_text() -> None:
    with pytest.raises(
        ConfigurationError, match="'short' is no way to tell of tools: full, compact, none"
    ):
        TrainConfig("HealthAgent/FhirRecord-v1", tool_text="short")
    config = TrainConfig("HealthAgent/FhirRecord-v1", tool_text="compact")
    assert TrainConfig.from_json(config.to_json()) == config
