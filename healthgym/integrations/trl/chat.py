"""The chat format: a template with generation marks, and how to read a reply back.

TRL asks three things of a template: it renders tool calls and tool results, a longer conversation
begins with the tokens of a shorter one, and what the assistant wrote is marked, so that only that
is learned.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import Any

from healthgym.core.borders import JsonDict, JsonObject
from healthgym.integrations.trl.foreign import AnyProcessor, AnyTokenizer

USER, ASSISTANT, TOOL, SYSTEM = (
    f"<|im_start|>{r}\n" for r in ("user", "assistant", "tool", "system")
)
PAD, END, CALL, CALL_END = "<|pad|>", "<|im_end|>", "<tool_call>", "</tool_call>"

_TOOLS = r"""
{%- if tools %}
  {{- '<|im_start|>system\n' }}
  {%- if messages[0].role == 'system' %}{{- messages[0].content + '\n\n' }}{%- endif %}
  {{- 'Tools:' }}
  {%- for tool in tools %}
    {%- set f = tool.function if tool.function is defined else tool %}
    {{- '\n' + f.name + '(' }}
    {%- for name, schema in f.parameters.properties.items() %}
      {{- ('' if loop.first else ', ') + name + ': ' }}
      {{- schema.type if schema.type is string else 'any' }}
    {%- endfor %}
    {{- '): ' + f.description.split('\n')[0] }}
  {%- endfor %}
  {{- '\nCall one as <tool_call>{"name": ..., "arguments": {...}}</tool_call><|im_end|>\n' }}
{%- elif messages[0].role == 'system' %}
  {{- '<|im_start|>system\n' + messages[0].content + '<|im_end|>\n' }}
{%- endif %}"""

_MESSAGES = r"""
{%- for message in messages %}
  {%- if message.role == 'user' or message.role == 'tool' %}
    {{- '<|im_start|>' + message.role + '\n' + message.content + '<|im_end|>\n' }}
  {%- elif message.role == 'assistant' %}
    {{- '<|im_start|>assistant\n' }}
    {%- generation %}
      {{- message.content or '' }}
      {%- for call in message.tool_calls or [] %}
        {%- set f = call.function if call.function is defined else call %}
        {{- '<tool_call>{"name": "' + f.name + '", "arguments": ' }}
        {{- f.arguments if f.arguments is string else f.arguments | tojson }}
        {{- '}</tool_call>' }}
      {%- endfor %}
      {{- '<|im_end|>' }}
    {%- endgeneration %}
    {{- '\n' }}
  {%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}{{- '<|im_start|>assistant\n' }}{%- endif %}"""

#: Put before any template: the tools become lines of the system message, names and arguments only.
_BRIEF = r"""
{%- if tools %}
  {%- set brief = namespace(text='Tools, ? is optional:') %}
  {%- for tool in tools %}
    {%- set f = tool.function if tool.function is defined else tool %}
    {%- set taken = f.parameters.properties if f.parameters is defined else {} %}
    {%- set needed = f.parameters.required if f.parameters is defined else [] %}
    {%- set brief.text = brief.text + '\n' + f.name + '(' %}
    {%- for name in taken or {} %}
      {%- set mark = '' if name in (needed or []) else '?' %}
      {%- set brief.text = brief.text + ('' if loop.first else ', ') + name + mark %}
    {%- endfor %}
    {%- set brief.text = brief.text + ')' %}
  {%- endfor %}
  {%- set brief.text = brief.text + '\n<tool_call>{"name": ..., "arguments": {...}}</tool_call>' %}
  {%- if messages[0].role != 'system' %}
    {%- set messages = [{'role': 'system', 'content': brief.text}] + messages %}
  {%- elif messages[0].content is string %}
    {%- set said = messages[0].content + '\n\n' + brief.text %}
    {%- set messages = [{'role': 'system', 'content': said}] + messages[1:] %}
  {%- else %}
    {%- set said = messages[0].content + [{'type': 'text', 'text': brief.text}] %}
    {%- set messages = [{'role': 'system', 'content': said}] + messages[1:] %}
  {%- endif %}
  {%- set tools = none %}
{%- endif %}"""
_UNSAID = r"{%- set tools = none %}"


class ToolText(StrEnum):
    """How much of the tools a model is told before the task."""

    #: All that the model's own chat template writes: names, descriptions, schemas.
    FULL = "full"
    #: Names and arguments, a line each: under 300 tokens for the 17 tools of FhirRecord.
    COMPACT = "compact"
    #: Nothing: for a model that is trained on one set of tools.
    NONE = "none"


def with_tool_text(template: str, text: ToolText) -> str:
    """Return a chat template that tells of the tools more briefly.

    Whatever renders the template is served, trainers and servers alike; replies are written as
    before.

    Args:
        template: Any chat template that takes a system message.
        text: How much it tells.
    """
    bare = template.removeprefix(_lines(_BRIEF)).removeprefix(_lines(_UNSAID))
    before = {ToolText.FULL: "", ToolText.COMPACT: _BRIEF, ToolText.NONE: _UNSAID}[text]
    return _lines(before) + bare


def is_ours(template: str) -> bool:
    """Return whether a template writes messages as :func:`chat_template` does."""
    return template.endswith(_lines(_MESSAGES))


def chat_template(*, list_tools: bool) -> str:
    """Return the template.

    Args:
        list_tools: Whether the tools are listed before the task. A model trained from scratch on
            one set of tools has no need of a list that never changes.
    """
    return _lines((_TOOLS if list_tools else "") + _MESSAGES)


def _lines(template: str) -> str:
    """Return a template without what it is laid out with."""
    return "".join(line.strip() for line in template.splitlines())


#: Reads a reply: text, then any number of calls. Broken JSON makes the whole reply text.
RESPONSE_TEMPLATE: JsonDict = {
    "defaults": {"role": "assistant"},
    "start_anchor": ASSISTANT,
    "fields": {
        "tool_calls": {
            "open": CALL,
            "close_pattern": r"</tool_call>\s*",
            "repeats": True,
            "content": "json",
            "transform": {"type": "function", "function": "{content}"},
        },
        "content": {"close_pattern": r"<\|im_end\|>\s*", "content": "text"},
    },
}


def reads_pictures(processing: AnyProcessor) -> bool:
    """Return whether this is the processor of a vision-language model, and no bare tokenizer."""
    return hasattr(processing, "tokenizer") and hasattr(processing, "image_processor")


def tokenizer_of(processing: AnyProcessor) -> AnyTokenizer:
    """Return the tokenizer: of a processor its own, else what is given."""
    return processing.tokenizer if reads_pictures(processing) else processing


def suffix_ids(processing: AnyProcessor, name: str, content: str | list[JsonDict]) -> list[int]:
    """Return the tokens between a tool call and the next reply, as TRL appends them.

    Args:
        processing: The tokenizer, or the processor of a vision-language model.
        name: The tool.
        content: What it answered: text, or for a processor content blocks with images.
    """
    return answer_ids(processing, [{"role": "tool", "name": name, "content": content}])


def answer_ids(processing: AnyProcessor, answers: Sequence[JsonObject]) -> list[int]:
    """Return the tokens between a reply and the next one.

    Rendered from a short stand-in conversation: a chat template is prefix preserving, so what
    comes after a reply does not depend on what came before it.

    Args:
        processing: The tokenizer, or the processor of a vision-language model.
        answers: Messages of the tools called, in the order of the calls, or of the user.
    """
    names = [answer["name"] for answer in answers if answer["role"] == "tool"]
    calls = [{"type": "function", "function": {"name": n, "arguments": {}}} for n in names]
    said = {"content": "", "tool_calls": calls} if calls else {"content": "-"}
    before: list[JsonDict] = [
        {"role": "user", "content": "-"},
        {"role": "assistant", **said},
    ]
    prefix = render(processing, before, generate=False)
    whole = render(processing, [*before, *map(dict, answers)], generate=True)
    end = tokenizer_of(processing).eos_token_id
    ends = [place for place, token in enumerate(prefix) if token == end]
    return whole[ends[-1] + 1 if ends else len(prefix) :]


def render(
    processing: AnyProcessor,
    messages: list[JsonDict],
    tools: list[JsonDict] | None = None,
    *,
    generate: bool,
) -> list[int]:
    """Return the tokens of a conversation, with the head of the next reply if asked for."""
    vision = reads_pictures(processing)
    if vision:
        from trl.data_utils import prepare_multimodal_messages

        messages = prepare_multimodal_messages(messages)
    ids: Any = processing.apply_chat_template(
        messages,
        tools=tools,
        add_generation_prompt=generate,
        tokenize=True,
        return_dict=False,
    )
    # A processor answers with a batch, even of one conversation.
    found: list[int] = ids[0] if vision else ids
    return found
