"""Records as arguments: their schemas, their checks, and authors who leave something out."""

from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass, make_dataclass
from datetime import UTC, date, datetime
from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, ConfigDict, Field

from healthgym.core.schema import (
    argument_model,
    expressible,
    parameters_schema,
    type_schema,
    validate,
)
from healthgym.core.tool import ToolKind, Toolset, call, tool
from healthgym.errors import ToolError
from tests.core.desk import CATALOG, PACKET, SPECS, Call, Contact, DeskTools, Packet, Shelf, Visit
from tests.core.toys import LedgerWorld

CALL = {"kind": "call", "minutes": 5}


def invoke(tool_name: str, /, **arguments: Any) -> dict[str, Any]:
    bound = [DeskTools(LedgerWorld({}))]
    return dict(CATALOG.invoke(bound, call(tool_name, **arguments)).arguments)


def refusal(tool_name: str, /, **arguments: Any) -> str:
    with pytest.raises(ToolError) as caught:
        invoke(tool_name, **arguments)
    problems, _, usage = str(caught.value).partition(". Usage: ")
    assert usage == CATALOG.resolve(tool_name)[0].usage
    return problems


def test_a_record_is_an_object_with_described_fields() -> None:
    schema = SPECS["desk.send"].parameters["properties"]["packet"]
    assert schema["description"] == "What to send."
    assert (schema["required"], schema["additionalProperties"]) == (["documents", "sent"], False)
    document = schema["properties"]["documents"]["items"]
    assert document["description"] == "A document.\n\nIt has pages."
    assert list(document["properties"]) == ["note", "title", "shelf", "pages", "class"]
    page = document["properties"]["pages"]["items"]["properties"]
    assert page["scanned"] == {
        "type": "string",
        "format": "date",
        "nullable": True,
        "description": 'Day it was scanned, e.g. "2026-03-13".',
    }
    assert page["note"]["description"] == 'Free text, e.g. "fragile".'


def test_a_union_lists_its_records_each_announced_by_one_field() -> None:
    options = type_schema(Contact)["oneOf"]
    assert [option["description"] for option in options] == ["A call on the telephone.", "A visit."]
    kinds = [option["properties"]["kind"] for option in options]
    assert kinds[0] == {"type": "string", "const": "call", "description": "What it was."}
    assert kinds[1]["enum"] == ["visit", "house call"]
    assert all("kind" in option["required"] for option in options)
    assert type_schema(Contact | None)["nullable"]


def test_methods_are_handed_the_records_themselves() -> None:
    packet = invoke("send", packet=PACKET)["packet"]
    assert isinstance(packet, Packet)
    assert packet.sent == datetime(2026, 3, 13, 9, tzinfo=UTC)
    document = packet.documents[0]
    assert (document.class_, document.shelf, document.note) == ("a", Shelf.OPEN, "")
    assert document.pages[0].scanned == date(2026, 3, 13)
    given = invoke("log", contact=CALL, others=[{"kind": "house call", "page": {"number": 2}}])
    assert given["contact"] == Call(minutes=5)
    assert isinstance(given["others"][0], Visit)


def changed(path: str, value: Any) -> dict[str, Any]:
    packet: Any = deepcopy(PACKET)
    *way, last = [int(step) if step.isdigit() else step for step in path.split(".")]
    place = packet
    for step in way:
        place = place[step]
    place[last] = value
    return dict(packet)


@pytest.mark.parametrize(
    ("path", "value", "said"),
    [
        ("documents.0.title", "", "must have 1 or more characters"),
        ("documents.0.title", 5, "input should be a valid string"),
        ("documents.0.class", "z", "must match the pattern '^[a-c]$'"),
        ("documents.0.shelf", "OPEN", "use one of 'open', 'locked'"),
        ("documents.0.pages.0.number", 0, "must be at least 1"),
        ("documents.0.pages.0.number", "1", "input should be a valid integer"),
        ("documents.0.pages.0.number", True, "input should be a valid integer"),
        ("documents.0.pages.0.scanned", "13.3.2026", "use a date such as '2026-03-13'"),
        ("documents.0.pages.0", [], "must be an object"),
        ("documents", [], "must have 1 or more items"),
        ("sent", "2026-03-13T09:00:00", "say the offset from UTC as well"),
        ("weights", {"a": 0}, ""),
    ],
)
def test_a_problem_is_named_by_its_path(path: str, value: Any, said: str) -> None:
    where = "weights.a" if path == "weights" else path
    assert f"argument 'packet.{where}': {said}" in refusal("send", packet=changed(path, value))


def test_what_is_missing_or_too_much_in_a_record_is_named() -> None:
    packet = changed("documents", [{"class_": "a"}])
    assert refusal("send", packet=packet) == (
        "desk__send: argument 'packet.documents.0.title' is missing; "
        "there is no argument 'packet.documents.0.class_'"
    )


def test_at_most_five_problems_are_told() -> None:
    packet = changed("documents", [{"title": 1, "pages": [{}, {}, {}], "note": 2, "shelf": 3}] * 2)
    assert refusal("send", packet=packet).count("argument 'packet.documents") == 5


def test_what_a_record_checks_itself_is_said_of_it() -> None:
    page = {"number": 1}
    twice = changed("documents", [{"title": "A", "pages": [page, page]}])
    said = "argument 'packet.documents.0': two pages have one number"
    assert refusal("send", packet=twice).endswith(said)
    said = "argument 'packet': a packet holds two documents"
    assert refusal("send", packet=changed("documents", [{"title": "A"}] * 3)).endswith(said)


@pytest.mark.parametrize("contact", [{}, {"minutes": 5}, {"kind": 1}, {"kind": ["call"]}, 3, []])
def test_a_record_that_is_not_announced_is_refused(contact: object) -> None:
    assert refusal("log", contact=contact) == (
        "desk__log: argument 'contact': must be an object whose 'kind' is one of "
        "'call', 'visit', 'house call'"
    )


def test_problems_of_an_announced_record_are_its_own() -> None:
    said = refusal("log", contact={"kind": "call", "minutes": 4, "page": None})
    assert said == (
        "desk__log: argument 'contact.minutes': must be a multiple of 5; "
        "there is no argument 'contact.page'"
    )


def test_the_usage_writes_records_out() -> None:
    assert SPECS["desk.log"].usage.startswith(
        "desk__log(contact: {note?: string, kind: call, minutes: integer}|{note?: string, "
        "kind: visit|house call, page?: {note?: string, number: integer, scanned?: date}}, others?:"
    )
    assert "pages?: list[{...}]" in SPECS["desk.send"].usage


def test_transformers_can_express_no_records() -> None:
    known = {name: expressible(spec.function) for name, spec in SPECS.items()}
    assert known == {
        "desk.send": False, "desk.log": False, "desk.list": False, "office.continue": True
    }  # fmt: skip


# -- authors who leave something out ---------------------------------------------------------


class Open(BaseModel):
    """Can be changed."""


class Bare(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")
    a: int = Field(description="A.")


class Undescribed(BaseModel):
    """Says nothing of its field."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    a: int


class Loop(BaseModel):
    """Holds itself."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    a: "Loop | None" = Field(None, description="A.")


@dataclass
class Loose:
    """Can be changed."""


@dataclass(frozen=True)
class Kindless:
    """Has no kind.

    Attributes:
        a: A.
    """

    a: int


@dataclass(frozen=True)
class Counted:
    """Announces itself by a number.

    Attributes:
        kind: A number.
    """

    kind: Literal[1]


@dataclass(frozen=True)
class Again:
    """Announces itself as a call.

    Attributes:
        kind: What it was.
    """

    kind: Literal["call"]


def taking(hint: Any) -> Callable[..., Any]:
    def act(self: object, x) -> None:  # type: ignore[no-untyped-def]
        """Do.

        Args:
            x: X.
        """

    act.__annotations__["x"] = hint
    return act


def test_a_row_is_a_list_to_models_and_a_tuple_to_methods() -> None:
    row = taking(tuple[date, ...])
    listed = parameters_schema(taking(list[date]))
    assert parameters_schema(row) == listed
    assert expressible(taking(list[str]))
    assert not expressible(taking(tuple[str, ...]))
    days = validate(argument_model(row), "act", "act(x)", {"x": ["2026-03-13"]})["x"]
    assert days == (date(2026, 3, 13),)
    with pytest.raises(ToolError, match=r"argument 'x\.1': there is no day"):
        validate(argument_model(row), "act", "act(x)", {"x": ["2026-03-13", "2026-02-30"]})


KIND = Field(discriminator="kind")


@pytest.mark.parametrize(
    ("hint", "reason"),
    [
        (Open, 'needs frozen=True and extra="forbid"'),
        (Loose, "needs frozen=True"),
        (Bare, "Record Bare needs a docstring"),
        (make_dataclass("Made", [("a", int)], frozen=True), "Record Made needs a docstring"),
        (Undescribed, "Field a of record Undescribed needs a description"),
        (Loop, "Record Loop holds itself"),
        (Call | Visit, "needs? a field that tells them apart"),
        (Call | str, "needs? a field that tells them apart"),
        (Annotated[Call, KIND], "two or more records"),
        (Annotated[Call | str, KIND], "two or more records"),
        (Annotated[Call | Kindless, KIND], "no field 'kind'"),
        (Annotated[Call | Counted, KIND], "must be a Literal of text"),
        (Annotated[Call | Again, KIND], "Two records have 'call'"),
        (list[Annotated[int, Field(alias="y")]], "neither argument nor field"),
    ],
)
def test_a_record_that_cannot_be_offered_fails_for_its_author(hint: Any, reason: str) -> None:
    tools = type("Tools", (Toolset,), {"act": tool(ToolKind.READ)(taking(hint))})
    with pytest.raises(TypeError, match=reason):
        tools.specs()


def test_an_option_may_be_none() -> None:
    schema = parameters_schema(taking(Annotated[Call | Visit | None, KIND]))
    assert schema["properties"]["x"]["nullable"]
