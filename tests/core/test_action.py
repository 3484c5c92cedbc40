"""What an agent may send, in which shape, and everything it may do wrong.

The forms of single models are tried in ``test_language.py``.
"""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from healthgym.core.action import MAX_ACTION_LENGTH, MAX_CALLS, calls_of, parse, text_of
from healthgym.core.tool import ToolCall, call
from healthgym.errors import ToolError

READ = ToolCall("read", {"account": "elm"})
TEXT = '{"name": "read", "arguments": {"account": "elm"}}'
OTHER = '{"name": "submit", "arguments": {"answer": 3}}'
SURROGATE = "\ud800"


def read(action: object) -> tuple[ToolCall, ...]:
    """The calls in an action, as the engine reads them."""
    return calls_of(action, text_of(action))


@pytest.mark.parametrize(
    "action",
    [
        READ,
        {"name": "read", "arguments": {"account": "elm"}},
        {"name": "read", "parameters": {"account": "elm"}},
        {"name": "read", "arguments": '{"account": "elm"}'},
        {"function": {"name": "read", "arguments": '{"account": "elm"}'}},
        {"tool_calls": [{"id": "1", "type": "function", "function": json.loads(TEXT)}]},
        {"role": "assistant", "content": "well", "tool_calls": json.loads(TEXT)},
        [READ],
        (READ,),
        [{"name": "read", "arguments": {"account": "elm"}}],
        {"tool_calls": [READ]},
        TEXT,
        f"  \n{TEXT}\n ",
        f"[{TEXT}]",
        json.dumps({"tool_calls": [json.loads(TEXT)]}),
        f"Let me look.\n<tool_call>{TEXT}",
        f'My {{plan}} is {{"a": 1}}.\n{{"a": 1}}\n<tool_call>{TEXT}',
        f"```json\n{TEXT}\n```",
        f"```\n{TEXT}\n```",
        f"Here:\n```json\n<tool_call>{TEXT}</tool_call>\n```",
        f"```json\n{TEXT}",
        f"```python\n{TEXT}\n```",
        f"<tool_call>{TEXT}</tool_call>",
        f"Looking.\n<tool_call>\n{TEXT}\n</tool_call>",
        f"<tool_call>\n{TEXT}",
        f"Not {OTHER} but <tool_call>{TEXT}</tool_call>",
        f"Calls go in `<tool_call>` tags.\n<tool_call>{TEXT}</tool_call>",
        f"<think>perhaps {OTHER}</think>{TEXT}",
        f"perhaps {OTHER}</think>\n{TEXT}",
        f"<think>a</think> so <think><tool_call>{OTHER}</tool_call></think><tool_call>{TEXT}",
    ],
)
def test_one_call_in_every_form(action: object) -> None:
    assert read(action) == (READ,)


def test_an_argument_may_hold_the_marks_that_calls_are_found_by() -> None:
    for word in ("<tool_call>", "</tool_call>", "<think>", "</think>", "```", "{"):
        wanted = call("send", text=f"a {word} b")
        text = json.dumps({"name": "send", "arguments": dict(wanted.arguments)})
        assert parse(text) == (wanted,)
        assert read(wanted) == (wanted,)
        assert parse(f"<tool_call>{text}</tool_call>") == (wanted,)
        assert parse(f"Looking. <tool_call>{text}</tool_call>") == (wanted,)
        assert parse(f"```json\n{text}\n```") == (wanted,)


@pytest.mark.parametrize(
    "text",
    [
        f"<tool_call>{TEXT}</tool_call>\n<tool_call>{OTHER}</tool_call>",
        f"<tool_call>{TEXT}<tool_call>{OTHER}",
        f"[{TEXT}, {OTHER}]",
        f"{TEXT}\n{OTHER}",
        f"{TEXT}; {OTHER}",
        f"```json\n{TEXT}\n```\n```json\n{OTHER}\n```",
    ],
)
def test_several_calls_keep_their_order(text: str) -> None:
    assert [found.name for found in parse(text)] == ["read", "submit"]


def test_arguments_may_be_left_out() -> None:
    for action in ('{"name": "list"}', {"name": "list", "arguments": None}, '{"name":"list",'
                   '"arguments":""}'):  # fmt: skip
        assert read(action) == (ToolCall("list"),)


def test_a_duplicate_key_means_its_last_value() -> None:
    assert parse('{"name": "read", "name": "list"}') == (ToolCall("list"),)


def test_a_call_is_a_copy() -> None:
    tags = ["a"]
    (parsed,) = read(call("annotate", tags=tags))
    tags.append("b")
    assert parsed.arguments["tags"] == ["a"]


class Odd:
    pass


def nested(depth: int) -> list[object]:
    inner: list[object] = []
    for _ in range(depth - 1):
        inner = [inner]
    return inner


deep_list = nested(5001)
circle: list[object] = []
circle.append(circle)


@pytest.mark.parametrize(
    ("action", "reason"),
    [
        ("", "No tool call found"),
        ("I would read the balance of elm.", "No tool call found"),
        ("<think>" + TEXT, "No tool call found"),
        ([], "No tool call found"),
        ("{}", "needs a 'name'"),
        ({}, "needs a 'name'"),
        ('{"name": 5}', "needs a 'name'"),
        ({"function": "read"}, "needs a 'name'"),
        (ToolCall(5), "needs a 'name'"),  # type: ignore[arg-type]
        ("[1]", "No tool call found"),
        ('["read"]', "is a JSON object"),
        ({"tool_calls": None}, "is a JSON object"),
        ('{"name": "read", "arguments": [1]}', "are a JSON object"),
        ('{"name": "read", "arguments": "[1]"}', "are a JSON object"),
        ('{"name": "read", "arguments": {"account": "elm"}', "not valid JSON"),
        ('{"name": "read", "arguments": "{"}', "not valid JSON"),
        ("<tool_call>read elm</tool_call>", "not valid JSON"),
        ("{'name': 'read'}", "not valid JSON"),
        ('{"name": "read", "arguments": {"n": NaN}}', "NaN is not JSON"),
        ('{"name": "read", "arguments": {"n": -Infinity}}', "not JSON"),
        ('{"name": "read", "arguments": {"n": 1e999}}', "too large"),
        ('{"name": "read", "arguments": {"n": %s}}' % ("9" * 19), "64 bits"),
        ('{"name": "read", "arguments": {"n": %s}}' % ("9" * 9000), "64 bits"),
        (f'see\n{{"name": "read", "arguments": {{"n": {"[" * 70}{"]" * 70}}}}}', "64 deep"),
        ('{"name":"read","arguments":{"n":%s}}' % ('{"a":' * 70 + "1" + "}" * 70), "64 deep"),
        ("[" * 90_000, "JSON"),
        ('{"a":' * 15_000, "JSON"),
        ("a" * (MAX_ACTION_LENGTH + 1), "longer than"),
        ("{" * 1_000_000, "longer than"),
        (call("read", account="a" * 1_000_000), "longer than"),
        (f"[{', '.join([TEXT] * (MAX_CALLS + 1))}]", "at most 16"),
        (SURROGATE, "not valid Unicode"),
        (f'{{"name": "read", "arguments": {{"account": "{SURROGATE}"}}}}', "not valid Unicode"),
        ('{"name": "read", "arguments": {"account": "\\ud800"}}', "lone surrogate"),
        ('{"name": "read", "arguments": {"\\uDFFF": 1}}', "lone surrogate"),
        ('{"name": "\\ud800"}', "lone surrogate"),
        ('call\n{"name": "read", "arguments": {"account": "\\ud800"}}', "lone surrogate"),
        ('<tool_call>{"name": "read\\udc00"}</tool_call>', "lone surrogate"),
        ('```json\n{"name": "read\\udc00"}\n```', "lone surrogate"),
        (json.dumps({"name": "read", "arguments": '{"account": "\\ud800"}'}), "lone surrogate"),
        (json.dumps({"name": "read", "arguments": SURROGATE}), "lone surrogate"),
        (ToolCall(SURROGATE), "lone surrogate"),
        (call("read", account=SURROGATE), "lone surrogate"),
        ({"name": "read", "arguments": {SURROGATE: 1}}, "lone surrogate"),
        (call("read", n=float("nan")), "cannot express"),
        (call("read", n=2**63), "more than 64 bits"),
        (call("read", n=10**5000), "cannot express"),
        (call("read", n={1, 2}), "cannot express"),
        (call("read", n=b"x"), "cannot express"),
        (ToolCall("read", None), "cannot express"),  # type: ignore[arg-type]
        (ToolCall("read", ["account"]), "cannot express"),  # type: ignore[arg-type]
        (deep_list, "cannot express"),
        (nested(499), "64 deep"),
        (nested(501), "cannot express"),
        ({"name": "read", "arguments": {"n": nested(700)}}, "cannot express"),
        (circle, "cannot express"),
        ({"name": "read", "arguments": {"n": deep_list}}, "cannot express"),
        ([Odd()], "cannot express"),
        (None, "No tool call found"),
        (5, "No tool call found"),
        (b"{}", "cannot express"),
        (Odd(), "cannot express"),
    ],
    ids=lambda v: v if isinstance(v, str) and len(v) < 40 and v.isascii() else type(v).__name__,
)
def test_what_is_no_call_is_answered_with_a_reason(action: object, reason: str) -> None:
    with pytest.raises(ToolError, match=reason) as caught:
        read(action)
    assert len(str(caught.value)) < 400
    str(caught.value).encode("utf-8")


def test_dunder_names_are_names_like_others() -> None:
    assert parse('{"name": "__class__"}') == (ToolCall("__class__"),)


def test_numbers_at_the_bounds_are_kept() -> None:
    (parsed,) = parse(f'{{"name": "a", "arguments": {{"n": [{2**63 - 1}, {-(2**63)}, 1e308]}}}}')
    assert parsed.arguments["n"] == [2**63 - 1, -(2**63), 1e308]


def test_surrogate_pairs_are_characters() -> None:
    (parsed,) = parse('{"name": "a", "arguments": {"text": "\\ud83d\\ude00"}}')
    assert parsed.arguments["text"] == "\U0001f600"


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters()),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
fragments = st.lists(
    st.sampled_from(
        [
            "{",
            "}",
            "[",
            "]",
            '"name"',
            ":",
            '"a"',
            ",",
            "<tool_call>",
            "</tool_call>",
            "```",
            "json\n",
            "<think>",
            "</think>",
            "\\ud800",
            '"arguments"',
            "1e999",
            "null",
            TEXT,
            OTHER,
            "9" * 400,
            "\x00",
            "\u2028",
        ]
    ),
    max_size=25,
).map("".join)


@settings(max_examples=400)
@given(fragments | st.text(st.characters(exclude_categories=())) | json_values)
def test_nothing_but_a_tool_error_leaves_the_parser(action: object) -> None:
    try:
        calls = read(action)
    except ToolError:
        return
    assert calls
    for found in calls:
        assert isinstance(found.name, str)
        json.dumps([found.name, found.arguments], ensure_ascii=False, allow_nan=False).encode()


@given(
    st.text(min_size=1, max_size=20),
    st.dictionaries(st.text(max_size=8), st.integers(-(2**63), 2**63 - 1) | st.text(max_size=30)),
)
def test_calls_written_as_json_are_read_back(name: str, arguments: dict[str, object]) -> None:
    wanted = (ToolCall(name, arguments),)
    text = json.dumps({"name": name, "arguments": arguments})
    assert parse(text) == wanted
    assert read(json.loads(text)) == wanted
    assert read(wanted[0]) == wanted


@pytest.mark.parametrize(
    "action",
    ["x" * 10_000_000, ToolCall("a.b", {"x": "y" * 200_000}), [{"name": "a" * 200_000}]],
    ids=["text", "call", "list"],
)
def test_what_is_too_long_is_kept_cut_and_answered_as_it_was(action: object) -> None:
    kept = text_of(action)
    assert len(kept) < 1100
    assert kept.endswith(("x" * 900, "y" * 900, "a" * 900))
    for sent in (action, kept):
        with pytest.raises(ToolError, match="longer than 100000 characters"):
            calls_of(sent, text_of(sent))
    assert text_of(kept) == kept
