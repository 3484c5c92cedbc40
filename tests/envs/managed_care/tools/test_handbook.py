"""The handbook's tools: what an agent sees of the library."""

from types import SimpleNamespace
from typing import Any, cast

import pytest

from healthgym.core.tool import ToolKind
from healthgym.envs.managed_care.tools.handbook import HandbookToolset
from healthgym.errors import ToolError
from healthgym.worlds.managed_care.handbook.edition import written_library
from healthgym.worlds.managed_care.policies.pages import BULLETINS


@pytest.fixture
def tools() -> HandbookToolset:
    return HandbookToolset(cast(Any, SimpleNamespace(handbook=written_library())))


def test_the_three_tools_only_read():
    assert {spec.name: spec.kind for spec in HandbookToolset.specs()} == {
        "handbook.search": ToolKind.READ,
        "handbook.read": ToolKind.READ,
        "handbook.contents": ToolKind.READ,
    }


def test_a_hit_can_be_read(tools):
    first = tools.search("letter delivery channel and member notice").splitlines()[0]
    path, title, edition = first.split(" | ")
    assert (title, edition) == ("Letters", "2026.1, effective 2026-01-01")
    assert tools.read(path).startswith(f"{path} | version 2026.1")
    assert "clinical rationale" in tools.read(path, "denial")


def test_a_section_narrows_a_search(tools):
    lines = tools.search("consent", "care-manager/").splitlines()
    assert all(line.startswith("care-manager/") for line in lines[::2])


def test_contents_of_root_folder_and_page(tools):
    assert "payer-um/ | Payer utilization management | " in tools.contents()
    assert "payer-um/operational/letters.md | Letters" in tools.contents("payer-um/operational")
    assert "    Denial" in tools.contents("payer-um/operational/letters.md")


def test_a_day_without_medical_bulletins_says_so(tools):
    told = tools.contents(f"{BULLETINS}/")
    assert told.startswith("No medical bulletin is in force")
    assert tools.search("MP-SUR-014", BULLETINS) == told


@pytest.mark.parametrize(
    ("name", "arguments", "sentence"),
    [
        ("search", (" ",), "a few words"),
        ("search", ("x" * 401,), "a few words"),
        ("search", ("pend", "cellar"), "no folder 'cellar'"),
        ("read", ("letters",), "no page 'letters'"),
        ("read", ("SKILL.md", "Colours"), "no heading 'Colours'"),
        ("contents", ("cellar",), "no folder 'cellar'"),
    ],
)
def test_what_is_refused_says_what_is_accepted(tools, name, arguments, sentence):
    with pytest.raises(ToolError, match=sentence):
        getattr(tools, name)(*arguments)


def test_no_word_found_is_an_answer(tools):
    assert tools.search("zyxomab") == "No page has a word of 'zyxomab'."
