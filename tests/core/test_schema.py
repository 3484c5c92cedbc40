"""Schemas are those of transformers; validation is strict and total."""

import json
from collections.abc import Callable
from enum import Enum, StrEnum
from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from healthgym.core.schema import (
    argument_model,
    describe,
    expressible,
    parameters_schema,
    validate,
)
from healthgym.core.tool import ToolKind, Toolset, tool
from healthgym.errors import ToolError
from tests.core.toys import ArchiveTools, BuyerTools, LedgerTools, SellerTools

SPECS = [
    spec for cls in (LedgerTools, ArchiveTools, BuyerTools, SellerTools) for spec in cls.specs()
]


class Colour(StrEnum):
    RED = "red"
    BLUE = "blue"


class Grade(Enum):
    ONE = 1
    TWO = 2


def everything(
    self,  # type: ignore[no-untyped-def]
    text: str,
    count: int,
    share: float,
    flag: bool,
    mode: Literal["fast", "slow"],
    mixed: Literal["a", 1, True],
    colour: Colour,
    grades: list[Grade],
    words: list[str],
    table: dict[str, list[int]],
    anything: Any,
    bare_list: list,  # type: ignore[type-arg]
    bare_dict: dict,  # type: ignore[type-arg]
    number: int | float,
    maybe: str | None = None,
    maybe_number: int | float | None = None,
    maybe_words: list[str] | None = None,
    either: list[int] | list[str] | None = None,
    copy: Colour | None = None,
    json: int = 1,
) -> str:
    """Take everything.

    In two paragraphs.

    Args:
        text: Text,
            over two lines.
        count: Count.
        share: Share: a ratio.
        flag: Flag.
        mode: Mode.
        mixed: Mixed.
        colour: Colour.
        grades: Grades.
        words: Words.
        table: Table.
        anything: Anything.
        bare_list: A list.
        bare_dict: A dict.
        number: Number.
        maybe: Maybe.
        maybe_number: Maybe.
        maybe_words: Maybe.
        either: Either.
        copy: Copy.
        json: A name that pydantic's models use themselves.

    Returns:
        Nothing of note.

    Raises:
        ToolError: Never.
    """
    return ""


VALID: dict[str, Any] = {
    "text": "a",
    "count": 1,
    "share": 0.5,
    "flag": True,
    "mode": "fast",
    "mixed": 1,
    "colour": "red",
    "grades": [1, 2],
    "words": ["a"],
    "table": {"a": [1]},
    "anything": {"b": None},
    "bare_list": [1, "a"],
    "bare_dict": {"a": 1},
    "number": 2,
}


def check(arguments: dict[str, Any], function: Callable[..., Any] = everything) -> dict[str, Any]:
    return validate(argument_model(function), "tool", "tool(...)", arguments)


@pytest.mark.parametrize("function", [*(spec.function for spec in SPECS), everything])
def test_schema_equals_that_of_transformers(function: Callable[..., Any]) -> None:
    utils = pytest.importorskip("transformers.utils")
    theirs = utils.get_json_schema(function)["function"]
    assert expressible(function)
    assert parameters_schema(function) == theirs["parameters"]
    assert describe(function)[0] == theirs["description"]


def test_valid_arguments_are_typed_and_defaults_filled_in() -> None:
    checked = check(VALID)
    assert list(checked)[:2] == ["text", "count"]
    assert checked["colour"] is Colour.RED
    assert checked["grades"] == [Grade.ONE, Grade.TWO]
    assert (checked["maybe"], checked["json"]) == (None, 1)
    assert check({**VALID, "share": 1, "either": ["a"], "copy": "blue"})["copy"] is Colour.BLUE


@pytest.mark.parametrize(
    ("name", "value", "reason"),
    [
        ("text", 1, "'text': input should be a valid string"),
        ("text", None, "valid string"),
        ("count", "1", "'count': input should be a valid integer"),
        ("count", True, "valid integer"),
        ("count", 1.0, "valid integer"),
        ("count", [1], "valid integer"),
        ("share", "0.5", "valid number"),
        ("share", float("nan"), "finite"),
        ("flag", 1, "valid boolean"),
        ("flag", "true", "valid boolean"),
        ("mode", "medium", "use one of 'fast', 'slow'"),
        ("mode", "FAST", "use one of"),
        ("mixed", 1.0, "use one of"),
        ("mixed", ["a"], "use one of"),
        ("colour", "green", "use one of 'red', 'blue'"),
        ("grades", [1, 3], "'grades.1': use one of 1, 2"),
        ("grades", [True], "use one of"),
        ("words", "a", "valid list"),
        ("words", ["a", 1], "'words.1': input should be a valid string"),
        ("table", {"a": ["1"]}, "'table.a.0': input should be a valid integer"),
        ("maybe_number", "1", "maybe_number"),
        ("extra", 1, "there is no argument 'extra'"),
        ("argument_text", "a", "there is no argument 'argument_text'"),
        ("__class__", "a", "there is no argument '__class__'"),
        ("self", "a", "there is no argument 'self'"),
    ],
)
def test_what_does_not_fit_is_refused_by_name(name: str, value: object, reason: str) -> None:
    with pytest.raises(ToolError) as caught:
        check({**VALID, name: value})
    assert reason in str(caught.value)
    assert "Usage: tool(...)" in str(caught.value)


def worded(self: object, result: Colour | str) -> None:
    """Record a result.

    Args:
        result: A known one, or another in words.
    """


def test_a_refusal_shows_no_address_of_a_function() -> None:
    with pytest.raises(ToolError) as caught:
        validate(argument_model(worded), "tool", "tool(...)", {"result": 3})
    assert str(caught.value).startswith("tool: argument 'result': use one of 'red', 'blue'; ")
    assert "function" not in str(caught.value)


def test_missing_arguments_are_named_and_long_lists_of_problems_cut() -> None:
    with pytest.raises(ToolError, match="argument 'count' is missing") as caught:
        check({})
    assert str(caught.value).count("is missing") == 5


@given(st.recursive(st.none() | st.integers() | st.text(), lambda x: st.lists(x) | st.dictionaries(
    st.text(), x), max_leaves=6), st.sampled_from(sorted(VALID)))  # fmt: skip
def test_validation_raises_nothing_else(value: object, name: str) -> None:
    try:
        checked = check({**VALID, name: value})
    except ToolError as error:
        checked = {name: str(error)}
    assert name in checked


def test_defaults_are_not_shared_between_calls() -> None:
    def collect(self: object, words: list[str] = []) -> None:  # noqa: B006
        """Collect.

        Args:
            words: Words.
        """

    check({}, collect)["words"].append("a")
    assert check({}, collect)["words"] == []


def undocumented(self: object, x: int) -> None: ...


def undescribed(self: object, x: int) -> None:
    """Do."""


def untyped(self: object, x) -> None:  # type: ignore[no-untyped-def]
    """Do.

    Args:
        x: X.
    """


def with_tuple(self: object, x: tuple[int, int]) -> None:
    """Do.

    Args:
        x: X.
    """


def with_model(self: object, x: BaseModel) -> None:
    """Do.

    Args:
        x: X.
    """


def with_keys(self: object, x: dict[int, str]) -> None:
    """Do.

    Args:
        x: X.
    """


def with_bytes(self: object, x: Literal[b"a"]) -> None:
    """Do.

    Args:
        x: X.
    """


def with_star(self: object, *x: int) -> None:
    """Do.

    Args:
        x: X.
    """


@pytest.mark.parametrize(
    ("function", "reason"),
    [
        (undocumented, "needs a docstring"),
        (undescribed, "needs a description"),
        (untyped, "needs a type hint"),
        (with_tuple, "JSON has no such type"),
        (with_model, "JSON has no such type"),
        (with_keys, "JSON has no such type"),
        (with_bytes, "JSON has no such type"),
        (with_star, "fixed list of arguments"),
    ],
)
def test_a_tool_that_cannot_be_described_fails_for_its_author(
    function: Callable[..., Any], reason: str
) -> None:
    tools = type("Tools", (Toolset,), {function.__name__: tool(ToolKind.READ)(function)})
    with pytest.raises(TypeError, match=reason):
        tools.specs()


def test_schemas_are_json() -> None:
    for spec in SPECS:
        assert json.loads(json.dumps(spec.openai())) == spec.openai()
        assert json.loads(json.dumps(spec.mcp())) == spec.mcp()
