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
    PICTURES_DROPPED,
    PICTURES_FOLLOW,
    Calling,
    Showing,
    conversation,
    fit,
    results,
    tool_manual,
)
from healthgym.policies.messages import Message, Picture, Request, Speaker
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


SEEN = Picture("data:image/png;base64,AA==", 500)


def gallery(showing: Showing, count: int = 3) -> tuple[Message, ...]:
    """A chat of several looks, each shown a picture."""
    chat = [Message(Speaker.USER, "task")]
    for number in range(count):
        asked, _ = turn(number, 1)
        chat += [asked, *results(asked, f"view {number}", [SEEN], showing)]
    return tuple(chat)


@pytest.mark.parametrize("showing", [Showing.FOLLOW, Showing.RESULT])
def test_the_oldest_pictures_go_first_and_their_text_stays(showing: Showing) -> None:
    chat = gallery(showing)
    fitted = fit(chat, 1400)
    assert sum(len(message.images) for message in fitted) == 2
    assert sum(message.tokens for message in fitted) <= 1400
    told = "\n".join(message.text for message in fitted)
    assert [f"view {number}" in told for number in range(3)] == [True] * 3
    assert told.count(PICTURES_DROPPED) == 1
    assert PICTURES_FOLLOW + "\n" + PICTURES_DROPPED not in told
    assert len(fitted) == len(chat)


@pytest.mark.parametrize("showing", [Showing.FOLLOW, Showing.RESULT])
def test_a_server_takes_only_so_many_pictures(showing: Showing) -> None:
    assert sum(len(message.images) for message in fit(gallery(showing), 10**6, 1)) == 1
    assert fit(gallery(showing), 10**6, 3) == gallery(showing)


def test_results_go_after_pictures_and_the_latest_never() -> None:
    fitted = fit(gallery(Showing.FOLLOW), 10)
    assert [message.text for message in fitted if message.speaker is Speaker.TOOL][-1] == "view 2"
    assert fitted[-1].images == (SEEN,)
    assert sum(len(message.images) for message in fitted) == 1


@pytest.mark.parametrize("shape", [(5, 7), (5, 7, 3), (1, 1)])
def test_a_picture_survives_its_data_url(shape: tuple[int, ...]) -> None:
    picture = np.random.default_rng(0).integers(0, 256, shape, dtype=np.uint8)
    head, _, body = Picture.of(picture).url.partition(",")
    assert head == "data:image/png;base64"
    with Image.open(io.BytesIO(base64.b64decode(body))) as opened:
        assert np.array_equal(np.asarray(opened), picture)


def test_what_is_no_picture_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="uint8 array"):
        Picture.of(np.zeros((2, 2)))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("shape", "side", "detail", "tokens"),
    [
        ((512, 512), None, "", 350),
        ((1024, 1024, 3), None, "high", 1399),
        ((1024, 1024, 3), 512, "", 350),
        ((2048, 256), 1024, "", 175),
        ((32, 32), None, "", 85),
        ((1024, 1024), None, "low", 85),
    ],
)
def test_a_picture_is_counted_by_its_size(
    shape: tuple[int, ...], side: int | None, detail: str, tokens: int
) -> None:
    picture = Picture.of(np.zeros(shape, np.uint8), side, detail)
    assert picture.tokens == tokens
    assert Message(Speaker.USER, "four", images=(picture, picture)).tokens == 1 + 2 * tokens
    image = picture.openai()["image_url"]
    assert image.get("detail", "") == detail
    assert ("detail" in image) == bool(detail)


def test_pictures_follow_a_tools_answer_in_a_users_message() -> None:
    asked, _ = turn(1, 1)
    answer, follows = results(asked, "two bars", [SEEN])
    assert answer.openai() == {"role": "tool", "content": "two bars", "tool_call_id": "c1"}
    assert follows.openai()["content"] == [
        {"type": "text", "text": PICTURES_FOLLOW},
        {"type": "image_url", "image_url": {"url": SEEN.url}},
    ]


def test_pictures_can_stand_in_a_tools_answer() -> None:
    asked, _ = turn(1, 1)
    (answer,) = results(asked, "two bars", [SEEN], Showing.RESULT)
    assert answer.openai() == {
        "role": "tool",
        "content": [
            {"type": "text", "text": "two bars"},
            {"type": "image_url", "image_url": {"url": SEEN.url}},
        ],
        "tool_call_id": "c1",
    }
    assert answer.template()["content"] == [
        {"type": "image", "image": SEEN.url},
        {"type": "text", "text": "two bars"},
    ]


def test_models_that_read_text_only_are_shown_none() -> None:
    asked, _ = turn(1, 1)
    assert results(asked, "two bars", [SEEN], Showing.NONE) == results(asked, "two bars")


def test_a_recording_can_be_told_with_its_pictures() -> None:
    trajectory = recorded(call("draw_accounts"), call("submit", answer=1))
    (name,) = trajectory.turns[0].pictures
    plain = conversation(trajectory)
    assert not any(message.images for message in plain)
    found = conversation(trajectory, picture={name: SEEN}.get, showing=Showing.RESULT)
    assert [message.images for message in found] == [(), (), (SEEN,), ()]
    assert [message.text for message in found] == [message.text for message in plain]
    assert conversation(trajectory, picture=lambda name: None) == plain
