"""What is learned of a conversation, and the proof that its calls are among it.

A chat template marks what the assistant says. Not every template writes calls, or marks them: a
model trained over such a one would learn to say that it calls, and not to call. So what is marked
is read back, as any face would read it, and has to be the calls that were made.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import groupby
from pathlib import Path
from typing import Any

from healthgym.core.borders import JsonDict, JsonObject
from healthgym.core.language import read_turn
from healthgym.core.tool import ToolCall
from healthgym.errors import ConfigurationError, ToolError
from healthgym.integrations.trl import chat
from healthgym.integrations.trl.foreign import AnyProcessor, AnyTokenizer

#: Label of a token that is not learned, as the losses of transformers have it.
IGNORED = -100


def labelled(
    tokenizer: AnyTokenizer, messages: Sequence[JsonObject], tools: list[JsonDict]
) -> dict[str, list[int]]:
    """Return a conversation as ``input_ids`` and ``labels``, -100 where nothing is to be learned.

    Only what the assistant says is learned, the mark that ends a reply included. It is done here
    rather than by the trainer because its data set would pass through Arrow, which fills objects
    up with each other's keys, or as JSON changes 1.7 to 1.7000000000000002.

    Args:
        tokenizer: A tokenizer with our chat format, or one whose own TRL can train with.
        messages: The messages, with arguments as JSON text.
        tools: The tools in OpenAI's function form.

    Raises:
        ConfigurationError: If the chat template cannot write the conversation, or what it marks
            does not hold the calls, naming the template.
    """
    template = training_template(tokenizer)
    ours = chat.is_ours(template)
    try:
        shown = tokenizer.apply_chat_template(
            # Ours prints arguments that are text as they are; others print text in quotes.
            list(messages) if ours else [_with_objects(message) for message in messages],
            tools=tools,
            chat_template=template,
            return_dict=True,
            return_assistant_tokens_mask=True,
        )
    except Exception as error:  # a template is a program of whoever published the model
        raise ConfigurationError(
            f"The chat template {template_name(tokenizer)} cannot write the conversation: "
            f"{str(error)[:200]}."
        ) from error
    ids, marks = shown["input_ids"], shown["assistant_masks"]
    labels = [token if mark else IGNORED for token, mark in zip(ids, marks, strict=True)]
    require_calls(tokenizer, labels, messages, tools)
    return {"input_ids": ids, "labels": labels}


def learns_calls(tokenizer: AnyTokenizer) -> bool:
    """Return whether a model learns to call tools from what a tokenizer's chat template marks."""
    if not tokenizer.chat_template:
        return False
    name, arguments = "look_up", {"account": "elm", "count": 3}
    kinds = {"account": "string", "count": "integer"}
    schema = {"type": "object", "properties": {key: {"type": kinds[key]} for key in kinds}}
    described = {"name": name, "description": "Look up.", "parameters": schema}
    call = {"type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}
    messages: list[JsonObject] = [
        {"role": "user", "content": "Go on."},
        {"role": "assistant", "content": "", "tool_calls": [call]},
        {"role": "tool", "name": name, "content": "7"},
        {"role": "assistant", "content": "Done."},
    ]
    try:
        labelled(tokenizer, messages, [{"type": "function", "function": described}])
    except ConfigurationError:
        return False
    return True


def require_calls(
    processing: AnyProcessor,
    labels: Sequence[int],
    messages: Sequence[JsonObject],
    tools: Sequence[JsonObject],
) -> None:
    """Return if the calls of a conversation can be read in what is learned of it.

    Args:
        processing: The tokenizer, or the processor of a vision-language model.
        labels: The conversation's labels.
        messages: Its messages.
        tools: The tools in OpenAI's function form.

    Raises:
        ConfigurationError: If a call is missing there, or reads otherwise, naming the template.
    """
    tokenizer = chat.tokenizer_of(processing)
    made = [call for message in messages for call in _calls(message)]
    spans = [
        tokenizer.decode(list(span), skip_special_tokens=False)
        for learned, span in groupby(labels, lambda label: label != IGNORED)
        if learned
    ]
    read = list(_read(tokenizer, spans, tools))
    missing = next((call for n, call in enumerate(made) if read[n : n + 1] != [call]), None)
    if missing is None:
        return
    learned = " ... ".join(spans)
    raise ConfigurationError(
        f"The chat template {template_name(processing)} does not have a model learn the call of "
        f"{missing.name} with {json.dumps(dict(missing.arguments))[:200]}; what it marks as said "
        f"by the assistant is {learned[:300]!r}. Train with another template, such as "
        "healthgym.integrations.trl.chat.chat_template(list_tools=True)."
    )


def training_template(processing: AnyProcessor) -> str:
    """Return the chat template that marks what the assistant says.

    Raises:
        ConfigurationError: If neither the template does nor TRL knows a form of it that does.
    """
    template: str = processing.chat_template
    if "{%- generation" in template or "{% generation" in template:
        return template
    from trl.chat_template_utils import get_training_chat_template

    try:
        return get_training_chat_template(processing) or template
    except ValueError as error:
        raise ConfigurationError(
            f"The chat template {template_name(processing)} does not mark what the assistant says, "
            "and TRL knows no form of it that does."
        ) from error


def template_name(processing: AnyProcessor) -> str:
    """Return the name of a tokenizer's chat template: TRL's, where it is one of those."""
    name = _names().get(processing.chat_template)
    return name or f"of {getattr(processing, 'name_or_path', '') or type(processing).__name__}"


@cache
def _names() -> dict[str, str]:
    import trl

    folder = Path(str(trl.__file__)).parent / "chat_templates"
    return {file.read_text("utf-8"): file.stem for file in sorted(folder.glob("*.jinja"))}


def _calls(message: JsonObject) -> Iterator[ToolCall]:
    for call in message.get("tool_calls") or ():
        function = call["function"]
        arguments = function["arguments"]
        yield ToolCall(
            function["name"], json.loads(arguments) if isinstance(arguments, str) else arguments
        )


def _read(
    tokenizer: AnyTokenizer, spans: Sequence[str], tools: Sequence[JsonObject]
) -> Iterator[ToolCall]:
    """Yield the calls in what is learned; what cannot be read holds none."""
    schemas = {tool["function"]["name"]: tool["function"]["parameters"] for tool in tools}
    for span in spans:
        try:
            yield from read_turn(span.rstrip().removesuffix(tokenizer.eos_token), schemas.get).calls
        except ToolError:
            continue


def _with_objects(message: JsonObject) -> JsonDict:
    """Return a message with its calls' arguments as objects."""
    if "tool_calls" not in message:
        return dict(message)
    calls: list[Any] = [
        {"type": "function", "function": {"name": call.name, "arguments": call.arguments}}
        for call in _calls(message)
    ]
    return {**message, "tool_calls": calls}
