"""Catalogs: names in every form, and roles that cannot reach each other's tools."""

from datetime import timedelta

import pytest

from healthgym.core.catalog import ToolCatalog
from healthgym.core.tool import ToolKind, ToolResult, Toolset, call, tool
from healthgym.errors import ConfigurationError, ToolError
from tests.core.toys import ArchiveTools, BuyerTools, LedgerTools, LedgerWorld, SellerTools

BASE = {"elm": 5, "oak": 7}


@pytest.fixture
def catalog() -> ToolCatalog:
    return ToolCatalog([LedgerTools, ArchiveTools])


@pytest.mark.parametrize(
    ("name", "full"),
    [
        ("ledger.read_balance", "ledger.read_balance"),
        ("ledger__read_balance", "ledger.read_balance"),
        ("archive.read_balance", "archive.read_balance"),
        ("archive__read_balance", "archive.read_balance"),
        ("transfer", "ledger.transfer"),
        ("submit", "ledger.submit"),
    ],
)
def test_names_resolve(catalog: ToolCatalog, name: str, full: str) -> None:
    assert catalog.resolve(name)[0].name == full


@pytest.mark.parametrize(
    "name",
    ["read_balance", "Transfer", "ledger", "__init__", "world", "ledger.world", "", "x" * 999],
)
def test_other_names_are_refused_with_the_list(catalog: ToolCatalog, name: str) -> None:
    with pytest.raises(ToolError, match="Tools: ledger__read_balance") as caught:
        catalog.resolve(name)
    assert len(str(caught.value)) < 400


def test_only_keeps_the_named_tools_and_frees_their_short_names() -> None:
    catalog = ToolCatalog([LedgerTools, ArchiveTools], only=["archive.read_balance"])
    assert [spec.name for spec in catalog.specs] == ["archive.read_balance"]
    assert catalog.resolve("read_balance")[0].name == "archive.read_balance"
    with pytest.raises(ToolError):
        catalog.resolve("transfer")
    with pytest.raises(ConfigurationError, match="nothing"):
        ToolCatalog([LedgerTools], only=["nothing"])


def test_two_tools_cannot_share_a_full_name() -> None:
    with pytest.raises(ConfigurationError, match="Two tools are named read_messages"):
        ToolCatalog([BuyerTools, SellerTools])


def test_inherited_tools_belong_to_the_subclass() -> None:
    assert [spec.name for spec in SellerTools.specs()] == [
        "read_messages",
        "send_message",
        "agree",
        "read_cost",
    ]
    assert SellerTools.specs() is SellerTools.specs()


def test_an_override_replaces_the_tool() -> None:
    class Quiet(BuyerTools):
        @tool(ToolKind.READ, takes=timedelta(0))
        def read_messages(self) -> str:
            """Read nothing."""
            return ""

    spec = {spec.name: spec for spec in Quiet.specs()}["read_messages"]
    assert (spec.description, spec.takes) == ("Read nothing.", timedelta(0))


def test_invoking_validates_and_runs_on_the_right_toolset(catalog: ToolCatalog) -> None:
    world = LedgerWorld(BASE)
    world.changes["elm"] = 6
    bound = [LedgerTools(world), ArchiveTools(world)]
    now = catalog.invoke(bound, call("ledger.read_balance", account="elm"))
    assert now.result == ToolResult("6")
    then = catalog.invoke(bound, call("archive.read_balance", account="elm"))
    assert (then.result.text, then.arguments["days"]) == ("5", 1)
    with pytest.raises(ToolError, match="is missing"):
        catalog.invoke(bound, call("transfer", source="elm"))


def test_usage_is_one_line(catalog: ToolCatalog) -> None:
    assert catalog.resolve("list_accounts")[0].usage == (
        "ledger__list_accounts(order?: name|balance, limit?: integer)"
    )


def test_two_faces_name_a_tool_as_each_allows(catalog: ToolCatalog) -> None:
    spec = catalog.resolve("transfer")[0]
    assert spec.openai()["function"]["name"] == "ledger__transfer"
    assert spec.mcp()["name"] == "ledger.transfer"
    assert spec.mcp()["inputSchema"] == spec.openai()["function"]["parameters"]
    assert not spec.mcp()["annotations"]["readOnlyHint"]


def test_a_toolset_without_tools_is_empty() -> None:
    assert Toolset.specs() == ()
