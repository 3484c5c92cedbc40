"""Transcripts as chat messages."""

from __future__ import annotations

import base64
import io
import json

import numpy as np
import pytest
from PIL import Image

from healthgym.core.tool import call
from healthgym.core.trajectory import Trajectory
from healthgym.errors import ConfigurationError
from healthgym.policies.chat import (
    DROPPED,
    IMAGE_TOKENS,
    Calling,
    Message,
    Request,
    Speaker,
    conversation,
    data_url,
    fit,
    results,
    tool_manual,
)
from tests.core.toys import make_ledger


def recorded(*actions: object) -> Trajectory:
    env = make_ledger()
    env.reset(options={"split": "test", "index": 3})
    for action in actions:
        env.step(action)
    return env.trajectory()


def test_a_recording_becomes_a_chat_with_tool_calls() -> None:
    read = call("ledger.read_balance", account="elm")
    trajectory = recorded(read, call("submit", answer=1))
    chat = conversation(trajectory, system="Be brief.")
    assert [message.openai() for message in chat] == [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": trajectory.instructions["agent"]},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {
                    "id": "call_0",
                    "type": "function",
                    "function": {
                        "name": "ledger__read_balance",
                        "arguments": '{"account": "elm"}',
                    },
                }
            ],
        },
        {
            "role": "tool",
            "tool_call_id": "call_0",
            "content": trajectory.turns[0].observation,
        },
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {
                    "id": "call_1",
                    "type": "function",
                    "function": {"name": "ledger__submit", "arguments": '{"answer": 1}'},
                }
            ],
        },
    ]


def test_a_row_for_training_has_names_instead_of_ids() -> None:
    chat = conversation(recorded(call("submit", answer=1)), closing="Done.")
    assert [message.template() for message in chat[1:]] == [
        {
            "role": "assistant",
            "content": "",
            "tool_calls": [
                {
                    "type": "function",
                    "function": {"name": "ledger__submit", "arguments": '{"answer": 1}'},
                }
            ],
        },
        {"role": "tool", "name": "ledger__submit", "content": chat[2].text},
        {"role": "assistant", "content": "Done."},
    ]
    assert "submitted 1" in chat[2].text


def test_calls_can_be_written_as_text() -> None:
    trajectory = recorded(call("submit", answer=1))
    system, _, said = conversation(trajectory, system="Be brief.", calling=Calling.TEXT)
    assert system.text == f"Be brief.\n\n{tool_manual(trajectory.tools['agent'])}"
    assert (
        said.text == '<tool_call>{"name": "ledger__submit", "arguments": {"answer": 1}}</tool_call>'
    )
    assert said.requests == ()


def test_text_without_a_call_is_answered_by_the_user() -> None:
    chat = conversation(recorded("what now?", call("submit", answer=1)))
    assert [message.speaker for message in chat] == ["user", "assistant", "user", "assistant"]
    assert chat[1].text == "what now?"
    assert "No tool call found" in chat[2].text


def test_every_call_of_a_turn_has_an_answer() -> None:
    both = [call("list_accounts"), call("ledger.read_balance", account="elm")]
    chat = conversation(recorded(both, call("submit", answer=1)))
    asked, first, second = chat[1:4]
    assert [request.id for request in asked.requests] == ["call_0", "call_1"]
    assert [first.answers, second.answers] == list(asked.requests)
    assert "[ledger__list_accounts]" in second.text


def test_a_role_that_nobody_plays_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="Nobody plays 'seller'"):
        conversation(recorded(), role="seller")


def test_the_manual_lists_every_tool_with_its_schema() -> None:
    env = make_ledger()
    _, info = env.reset(seed=1)
    manual = tool_manual(info["tools"])
    listed = manual.split("<tools>\n")[1].split("\n</tools>")[0].splitlines()
    assert [json.loads(line) for line in listed] == [tool["function"] for tool in info["tools"]]


def turn(number: int, length: int) -> tuple[Message, Message]:
    request = Request(f"c{number}", "read", "{}")
    asked = Message(Speaker.ASSISTANT, "", (request,))
    return asked, Message(Speaker.TOOL, str(number) * length, answers=request)


def test_a_chat_that_fits_is_left_alone() -> None:
    chat = (Message(Speaker.USER, "task"), *turn(1, 4000), *turn(2, 4000))
    assert fit(chat, 2100) == chat


def test_the_oldest_results_go_first_and_leave_a_note() -> None:
    chat = (Message(Speaker.USER, "t" * 4000), *turn(1, 4000), *turn(2, 4000), *turn(3, 4000))
    fitted = fit(chat, 3500)
    assert [message.text[:1] or "-" for message in fitted] == ["t", "-", "(", "-", "2", "-", "3"]
    assert fitted[2].text == DROPPED
    assert fitted[2].answers == chat[2].answers
    assert sum(message.tokens for message in fitted) <= 3500


def test_task_own_words_and_latest_result_are_never_dropped() -> None:
    said = Message(Speaker.ASSISTANT, "a" * 4000)
    chat = (Message(Speaker.USER, "t" * 4000), said, *turn(2, 4000), *turn(3, 4000))
    fitted = fit(chat, 1)
    kept = [message for message in fitted if message.text != DROPPED]
    assert kept == [chat[0], said, chat[2], chat[4], chat[5]]


def test_dropped_results_take_their_pictures_along() -> None:
    picture = Message(Speaker.USER, "(picture)", images=("data:,",))
    chat = (Message(Speaker.USER, "task"), turn(1, 4)[0], picture, *turn(2, 4))
    assert sum(message.tokens for message in chat) > IMAGE_TOKENS
    assert fit(chat, 100)[2].images == ()


@pytest.mark.parametrize("shape", [(5, 7), (5, 7, 3), (1, 1)])
def test_a_picture_survives_its_data_url(shape: tuple[int, ...]) -> None:
    picture = np.random.default_rng(0).integers(0, 256, shape, dtype=np.uint8)
    head, _, body = data_url(picture).partition(",")
    assert head == "data:image/png;base64"
    with Image.open(io.BytesIO(base64.b64decode(body))) as opened:
        assert np.array_equal(np.asarray(opened), picture)


@pytest.mark.parametrize("picture", [np.zeros((2, 2)), np.zeros((2, 2, 4), np.uint8)])
def test_what_is_no_picture_is_refused(picture: np.ndarray) -> None:
    with pytest.raises(ConfigurationError, match="uint8 array"):
        data_url(picture)


def test_pictures_follow_a_tools_answer_in_a_users_message() -> None:
    asked, _ = turn(1, 1)
    answer, shown = results(asked, "two bars", ["data:image/png;base64,AA=="])
    assert answer.openai() == {"role": "tool", "content": "two bars", "tool_call_id": "c1"}
    assert shown.openai()["content"][1] == {
        "type": "image_url",
        "image_url": {"url": "data:image/png;base64,AA=="},
    }
