"""One form of transcript: chat messages with tool calls, for endpoints and for fine-tuning.

The same messages are sent to a model behind an endpoint (:meth:`Message.openai` and
:meth:`Message.responses`) and written as rows for supervised fine-tuning
(:meth:`Message.template`), so that a model can be trained on the episodes another one solved.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from enum import StrEnum

from healthgym.core import action as actions
from healthgym.core.borders import JsonObject
from healthgym.core.tool import ToolCall
from healthgym.core.trajectory import Trajectory
from healthgym.errors import ConfigurationError, ToolError
from healthgym.policies.messages import Message, Picture, Request, Speaker

#: Stands in for a tool result that no longer fits the context.
DROPPED = "(result dropped to save space; make the call again if you need it)"
#: Stands in for pictures that no longer fit; the text beside them stays.
PICTURES_DROPPED = "(pictures dropped to save space; ask for them again if you need them)"
#: Says whose pictures follow, where they may not stand in a tool's message.
PICTURES_FOLLOW = "(pictures of the result)"
_ANSWERED_BELOW = "(see the result of the last call)"


class Calling(StrEnum):
    """How a model is given its tools and makes its calls."""

    TOOLS = "tools"  #: the endpoint's own tool calls
    TEXT = "text"  #: tools described in the system message, calls written as text


class Showing(StrEnum):
    """Where a model is shown the pictures of a tool's result."""

    FOLLOW = "follow"  #: in a user's message after it, which every server for vision models takes
    RESULT = "result"  #: in the tool's own message, where the server takes it
    NONE = "none"  #: nowhere: for models that read text only


def tool_manual(tools: Sequence[JsonObject]) -> str:
    """Describe tools in words, for models that are given none by their endpoint.

    The form is that of Qwen and Hermes chat templates, which many models have seen in training.

    Args:
        tools: The tools in OpenAI's function form.
    """
    listed = "\n".join(json.dumps(tool["function"], ensure_ascii=False) for tool in tools)
    return (
        "You act by calling tools. Each is given here with the JSON Schema of its arguments:\n"
        f"<tools>\n{listed}\n</tools>\n"
        "Answer each turn with one call and nothing after it, in this form:\n"
        '<tool_call>{"name": "<tool>", "arguments": {...}}</tool_call>'
    )


def reply(text: str, calls: Sequence[ToolCall], first_id: int) -> Message:
    """Return an assistant's message that makes calls, numbered from ``first_id``."""
    requests = tuple(
        Request(f"call_{first_id + n}", call.name, json.dumps(dict(call.arguments)))
        for n, call in enumerate(calls)
    )
    return Message(Speaker.ASSISTANT, text, requests)


def results(
    asked: Message,
    observation: str,
    images: Sequence[Picture] = (),
    showing: Showing = Showing.FOLLOW,
) -> tuple[Message, ...]:
    """Return the messages that answer an assistant's message.

    The engine answers all calls of a turn in one text. It goes to the last call, because models
    read in order; a message without a valid call is answered by the user.

    Args:
        asked: The assistant's message.
        observation: What the environment answered.
        images: Pictures shown with it.
        showing: Where they go. OpenAI's API takes none in a tool's message, so by default they
            follow in a user's.
    """
    seen = () if showing is Showing.NONE else tuple(images)
    if not asked.requests:
        return (Message(Speaker.USER, observation, images=seen),)
    *earlier, last = asked.requests
    answered = [Message(Speaker.TOOL, _ANSWERED_BELOW, answers=call) for call in earlier]
    inside = seen if showing is Showing.RESULT else ()
    answered.append(Message(Speaker.TOOL, observation, answers=last, images=inside))
    if seen and not inside:
        answered.append(Message(Speaker.USER, PICTURES_FOLLOW, images=seen))
    return tuple(answered)


def conversation(
    trajectory: Trajectory,
    *,
    role: str = "",
    system: str = "",
    calling: Calling = Calling.TOOLS,
    closing: str = "",
    picture: Callable[[str], Picture | None] | None = None,
    showing: Showing = Showing.FOLLOW,
) -> tuple[Message, ...]:
    """Return a recorded episode as a chat, as one role saw it.

    A recording names the pictures that were shown. Without ``picture`` they are left out, and the
    texts are those of a model that reads text only.

    Args:
        trajectory: The recording.
        role: Whose side of it; that of the role that was played from outside if empty.
        system: Text of a system message; none if empty and not needed.
        calling: Tool calls as such, or as the text a model writes.
        closing: The assistant's last words, after the last answer. Without them the chat ends
            with the last action.
        picture: Finds a picture by its fingerprint; one that it does not find is left out.
        showing: Where pictures go.

    Raises:
        ConfigurationError: If nobody plays that role in the recording.
    """
    role = role or trajectory.role
    if role not in trajectory.instructions:
        raise ConfigurationError(f"Nobody plays {role!r} in {trajectory.task_id}.")
    if calling is Calling.TEXT:
        system = f"{system}\n\n{tool_manual(trajectory.tools[role])}".strip()
    messages = [Message(Speaker.SYSTEM, system)] if system else []
    messages.append(Message(Speaker.USER, trajectory.instructions[role]))
    tools = {str(tool["function"]["name"]): tool["function"] for tool in trajectory.tools[role]}
    made = 0
    for turn in trajectory.turns:
        if turn.role != role:
            continue
        if turn.news:
            messages.append(Message(Speaker.USER, turn.news))
        asked = _asked(turn.action, calling, tools, made)
        made += len(asked.requests)
        found = map(picture, turn.pictures) if picture else ()
        images = [image for image in found if image is not None]
        messages += [asked, *results(asked, turn.observation, images, showing)]
    if closing:
        messages.append(Message(Speaker.ASSISTANT, closing))
    while len(messages) > 1 and messages[-1].speaker is not Speaker.ASSISTANT:
        messages.pop()
    return tuple(messages)


def _asked(action: str, calling: Calling, tools: Mapping[str, JsonObject], made: int) -> Message:
    def schema(name: str) -> JsonObject | None:
        tool = tools.get(_identifier(name, tools))
        return tool["parameters"] if tool else None

    try:
        parsed = actions.parse(action, schema)
    except ToolError:
        return Message(Speaker.ASSISTANT, action)
    calls = [ToolCall(_identifier(call.name, tools), call.arguments) for call in parsed]
    if calling is Calling.TOOLS:
        return reply("", calls, made)
    bodies = (json.dumps({"name": c.name, "arguments": dict(c.arguments)}) for c in calls)
    return Message(
        Speaker.ASSISTANT, "\n".join(f"<tool_call>{body}</tool_call>" for body in bodies)
    )


def _identifier(name: str, names: Collection[str]) -> str:
    """Return the one form of a tool's name that models are offered, where it names a tool."""
    identifier = name.replace(".", "__")
    suffixed = [offered for offered in names if offered.endswith(f"__{identifier}")]
    return suffixed[0] if identifier not in names and len(suffixed) == 1 else identifier


def fit(
    messages: Sequence[Message], max_tokens: int, max_pictures: int | None = None
) -> tuple[Message, ...]:
    """Return the messages with the oldest pictures and then the oldest results dropped to fit.

    The first messages up to the instruction, everything the model wrote itself and the latest
    result with its pictures are kept, whatever their length. What is dropped is replaced by
    :data:`PICTURES_DROPPED` or :data:`DROPPED`, so that the model knows there was something.

    More is dropped than has to be, by up to a quarter of the limit: so what is sent begins with the
    same messages for many turns, and a server that keeps what it has read once can go on from it.

    Args:
        messages: A chat, oldest first.
        max_tokens: Limit, in estimated tokens.
        max_pictures: Most pictures; some servers take only so many. The limit holds for older
            results only.
    """
    fitted = list(messages)
    spoken = [n for n, message in enumerate(fitted) if message.speaker is Speaker.ASSISTANT]
    if not spoken:
        return tuple(fitted)
    seen = sum(len(message.images) for message in fitted)
    spare = _in_steps(sum(message.tokens for message in fitted), max_tokens)
    unseen = 0 if max_pictures is None else _in_steps(seen, max_pictures)
    older = range(spoken[0] + 1, spoken[-1])
    for n in older:
        message = fitted[n]
        if spare <= 0 and unseen <= 0:
            break
        if message.images:
            note = PICTURES_DROPPED
            if message.text != PICTURES_FOLLOW:
                note = f"{message.text}\n{PICTURES_DROPPED}"
            fitted[n] = replace(message, text=note, images=())
            unseen -= len(message.images)
            spare -= message.tokens - fitted[n].tokens
    for n in older:
        if spare <= 0:
            break
        message = fitted[n]
        if message.speaker in (Speaker.USER, Speaker.TOOL) and message.tokens > len(DROPPED) // 4:
            fitted[n] = replace(message, text=DROPPED)
            spare -= message.tokens - fitted[n].tokens
    return tuple(fitted)


def _in_steps(amount: int, limit: int) -> int:
    """Return how much is over a limit, rounded up to quarters of it."""
    step = max(limit // 4, 1)
    return max(-(-(amount - limit) // step) * step, 0)
