"""Bounds, dates and published names, in schemas and in what is refused."""

from collections.abc import Callable
from datetime import date, datetime
from typing import Annotated, Any

import pytest
from annotated_types import Len
from pydantic import AfterValidator, Field

from healthgym.core.bounds import matches, size_within, within
from healthgym.core.catalog import ToolCatalog
from healthgym.core.schema import argument_model, parameters_schema, type_schema, validate
from healthgym.core.tool import ToolKind, Toolset, call, tool
from healthgym.errors import ConfigurationError, ToolError
from tests.core.desk import CATALOG, SPECS, DeskTools
from tests.core.test_records import taking
from tests.core.toys import LedgerWorld


def check(function: Callable[..., Any], **arguments: Any) -> dict[str, Any]:
    return validate(argument_model(function), "act", "act(...)", arguments)


CASES: list[tuple[Any, dict[str, Any], Any, Any, str]] = [
    (Annotated[int, Field(ge=1)], {"minimum": 1}, 1, 0, "must be at least 1"),
    (Annotated[int, Field(le=9)], {"maximum": 9}, 9, 10, "must be at most 9"),
    (Annotated[float, Field(gt=0)], {"exclusiveMinimum": 0}, 0.1, 0.0, "must be more than 0"),
    (Annotated[float, Field(lt=1)], {"exclusiveMaximum": 1}, 0, 1, "must be less than 1"),
    (Annotated[int, Field(multiple_of=5)], {"multipleOf": 5}, 10, 4, "must be a multiple of 5"),
    (Annotated[str, Field(min_length=2)], {"minLength": 2}, "ab", "a", "2 or more characters"),
    (Annotated[str, Field(max_length=2)], {"maxLength": 2}, "ab", "abc", "2 or fewer characters"),
    (Annotated[str, Field(pattern="^a+$")], {"pattern": "^a+$"}, "aa", "ab", "the pattern '^a+$'"),
    (Annotated[list[int], Len(1)], {"minItems": 1}, [1], [], "1 or more items"),
    (Annotated[list[int], Field(max_length=1)], {"maxItems": 1}, [1], [1, 2], "1 or fewer items"),
    (Annotated[tuple[int, ...], Len(1)], {"minItems": 1}, [1], [], "1 or more items"),
    (Annotated[tuple[int, ...], Len(0, 1)], {"maxItems": 1}, [1], [1, 2], "1 or fewer items"),
    (Annotated[dict[str, int], Len(1)], {"minProperties": 1}, {"a": 1}, {}, "1 or more items"),
    (Annotated[int | None, Field(ge=1)], {"minimum": 1}, None, 0, "must be at least 1"),
    (Annotated[int | float, Field(ge=1)], {"minimum": 1}, 1.5, 0.5, "must be at least 1"),
]


@pytest.mark.parametrize(("hint", "words", "good", "bad", "said"), CASES)
def test_a_bound_is_in_the_schema_and_holds(
    hint: Any, words: dict[str, Any], good: Any, bad: Any, said: str
) -> None:
    assert words.items() <= type_schema(hint).items()
    accepted = check(taking(hint), x=good)["x"]
    assert accepted == (tuple(good) if isinstance(accepted, tuple) else good)
    with pytest.raises(ToolError, match="argument 'x': must ") as caught:
        check(taking(hint), x=bad)
    assert said in str(caught.value)


@pytest.mark.parametrize("value", ["1", True, 1.0])
def test_bounds_coerce_nothing(value: object) -> None:
    with pytest.raises(ToolError, match="valid integer"):
        check(taking(Annotated[int, Field(ge=0)]), x=value)


@pytest.mark.parametrize(
    "hint",
    [
        Annotated[str, Field(ge=1)],
        Annotated[int, Field(max_length=1)],
        Annotated[bool, Field(ge=1)],
        Annotated[int | str, Field(ge=1)],
        Annotated[str, Field(pattern="(")],
        Annotated[str, Field(pattern="(?=a)")],
        Annotated[int, AfterValidator(abs)],
        Annotated[int, "a note"],
    ],
)
def test_a_bound_that_json_cannot_say_fails_for_its_author(hint: Any) -> None:
    with pytest.raises(TypeError, match=r"no such word|not a pattern"):
        parameters_schema(taking(hint))


@pytest.mark.parametrize("value", ["2026-02-28", "2024-02-29"])
def test_dates_are_given_as_text(value: str) -> None:
    assert check(taking(date), x=value)["x"] == date.fromisoformat(value)


@pytest.mark.parametrize(
    "value",
    ["2026-02-29", "2026-2-28", "20260228", "2026-W09-1", "2026-02-28T00:00:00Z", "", 20260228,
     None, "٢٠٢٦-02-28", ["2026-02-28"]],
)  # fmt: skip
def test_what_is_no_date_is_refused(value: object) -> None:
    with pytest.raises(ToolError, match=r"'x': (use a date such as|there is no day)"):
        check(taking(date), x=value)


@pytest.mark.parametrize(
    "value", ["2026-03-13T09:00:00Z", "2026-03-13T09:00:00.5+01:00", "2026-03-13T09:00:00-12:00"]
)
def test_times_have_an_offset(value: str) -> None:
    moment = check(taking(datetime), x=value)["x"]
    assert moment == datetime.fromisoformat(value)
    assert moment.utcoffset() is not None


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ("2026-03-13T09:00:00", "say the offset from UTC as well, such as '2026-03-13T09:00:00Z'"),
        ("2026-03-13", "use a date and time with its offset, such as '2026-03-13T09:00:00Z'"),
        ("2026-03-13 09:00:00Z", "use a date and time"),
        (1773392400, "use a date and time"),
        ("2026-03-13T25:00:00Z", "there is no time"),
        ("2026-03-13T09:00:00+25:00", "there is no time"),
        ("0001-01-01T00:00:00+14:00", "there is no time"),
    ],
)
def test_what_is_no_time_is_refused(value: object, said: str) -> None:
    with pytest.raises(ToolError) as caught:
        check(taking(datetime), x=value)
    assert f"argument 'x': {said}" in str(caught.value)


def test_arguments_are_published_under_their_aliases() -> None:
    assert list(SPECS["desk.list"].parameters["properties"]) == ["class", "from", "share", "shelf"]
    bound = [DeskTools(LedgerWorld({}))]
    done = CATALOG.invoke(bound, call("list", **{"class": "b", "from": "2026-01-01"}))
    assert done.result.text == "b 2026-01-01 0.5 None"
    assert done.arguments["class_"] == "b"
    with pytest.raises(ToolError, match="there is no argument 'class_'"):
        CATALOG.invoke(bound, call("list", class_="b"))


@pytest.mark.parametrize(
    ("name", "full"),
    [
        ("list", "desk.list"),
        ("desk__list", "desk.list"),
        ("office.continue", "office.continue"),
        ("office__continue", "office.continue"),
        ("continue", "office.continue"),
    ],
)
def test_tools_are_published_under_their_names(name: str, full: str) -> None:
    assert CATALOG.resolve(name)[0].name == full


@pytest.mark.parametrize("name", ["list_", "continue_", "desk.continue_", "desk.continue"])
def test_the_names_of_the_methods_are_not_offered(name: str) -> None:
    with pytest.raises(ToolError, match="There is no tool named"):
        CATALOG.resolve(name)


@pytest.mark.parametrize("name", ["a b", "a..b", ".a", "a.", "__a", "a-b", "1a"])
def test_a_name_is_made_of_words(name: str) -> None:
    with pytest.raises(TypeError, match="words joined by dots"):
        tool(ToolKind.READ, name=name)


def test_two_tools_cannot_be_published_under_one_name() -> None:
    class More(DeskTools):
        @tool(ToolKind.READ, name="list")
        def list_all(self) -> str:
            """List."""
            return ""

    with pytest.raises(ConfigurationError, match=r"Two tools are named desk\.list"):
        ToolCatalog([More])


def test_two_arguments_cannot_be_published_under_one_name() -> None:
    def act(self: object, x: int, y: Annotated[int, Field(alias="x")]) -> None:
        """Do.

        Args:
            x: X.
            y: Y.
        """

    with pytest.raises(TypeError, match="Two parts of tool act are named x"):
        type("Tools", (Toolset,), {"act": tool(ToolKind.READ)(act)}).specs()  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("schema", "value", "moved"),
    [
        ({}, -0.0, -0.0),
        ({}, 2**53 + 1, 2**53 + 1),
        ({"type": "integer", "minimum": 1, "maximum": 9}, 12, 9),
        ({"type": "integer", "exclusiveMinimum": 1}, 0, 2),
        ({"type": "integer", "minimum": 3, "multipleOf": 5}, 1, 5),
        ({"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1}, 0, 1e-6),
        ({"type": "string", "minLength": 3}, "ab", "aba"),
        ({"type": "string", "minLength": 1, "maxLength": 2}, "", "a"),
        ({"type": "string", "maxLength": 2}, "abc", "ab"),
    ],
)
def test_values_are_moved_into_bounds(schema: dict[str, Any], value: Any, moved: Any) -> None:
    assert repr(within(schema, value)) == repr(moved)


def test_sizes_and_patterns() -> None:
    assert [size_within({"minItems": 1, "maxItems": 2}, n) for n in range(4)] == [1, 1, 2, 2]
    assert matches({}, "b")
    assert not matches({"pattern": "^a$"}, "b")
