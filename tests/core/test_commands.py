"""Command lines are another way to write the same calls."""

from __future__ import annotations

import pytest

from healthgym.core.catalog import ToolCatalog
from healthgym.core.commands import CommandLine
from healthgym.core.tool import ToolCall, ToolKind, Toolset, call, tool
from healthgym.core.verbs import EngineToolset, Verb
from healthgym.core.world import World
from healthgym.errors import ToolError


class DeskToolset(Toolset[World]):
    """A desk."""

    namespace = "desk"

    @tool(ToolKind.WRITE)
    def file_note(
        self,
        case_id: str,
        pages: int = 1,
        urgent: bool = False,
        tags: list[str] | None = None,
        answers: dict[str, str] | None = None,
        rows: list[dict[str, int]] | None = None,
    ) -> str:
        """File a note.

        Args:
            case_id: Id of the case.
            pages: How many pages.
            urgent: Whether it is urgent.
            tags: What it is about.
            answers: Answers by key.
            rows: Rows of numbers.
        """
        return "filed"

    @tool(ToolKind.READ)
    def look(self) -> str:
        """Look around."""
        return "a desk"


@pytest.fixture(scope="module")
def lines() -> CommandLine:
    verbs = (Verb.FINISH, Verb.HELP, Verb.WAIT)
    return CommandLine("chi", ToolCatalog([DeskToolset, EngineToolset], verbs=verbs))


FILE = "desk.file_note"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("chi desk look", call("desk.look")),
        ("$ chi finish", call("finish")),
        ("chi wait --until 2026-03-02T10:00", call("wait", until="2026-03-02T10:00")),
        ("chi desk file-note --case-id 7", call(FILE, case_id="7")),
        ("chi desk file_note --case_id='a b' --pages 3", call(FILE, case_id="a b", pages=3)),
        ("chi desk file_note --case_id 1 --urgent", call(FILE, case_id="1", urgent=True)),
        ("chi desk file_note --urgent false", call(FILE, urgent=False)),
        ("chi desk file_note --tags x", call(FILE, tags=["x"])),
        ("chi desk file_note --tags x --tags y", call(FILE, tags=["x", "y"])),
        ("""chi desk file_note --tags '["x", "y"]'""", call(FILE, tags=["x", "y"])),
        ("""chi desk file_note --answers '{"a": "1"}'""", call(FILE, answers={"a": "1"})),
        ("""chi desk file_note --rows '[{"a": 1}]'""", call(FILE, rows=[{"a": 1}])),
        ("chi desk file_note --case_id 'one\ntwo'", call(FILE, case_id="one\ntwo")),
        ("chi desk file_note \\\n  --case_id 7", call(FILE, case_id="7")),
        ("I'll look.\n```bash\nchi desk look\n```\nDone.", call("desk.look")),
        ("<think>chi finish</think>\nchi desk look", call("desk.look")),
        ('{"name": "desk.look", "arguments": {}}', call("desk.look")),
        # What is no number is for the tool's own check to refuse.
        ("chi desk file_note --pages many", call(FILE, pages="many")),
    ],
)
def test_a_line_is_a_call(lines: CommandLine, text: str, expected: ToolCall) -> None:
    assert lines(text) == (expected,)


def test_lines_run_in_order_and_prose_is_left_alone(lines: CommandLine) -> None:
    text = "Don't hurry:\nchi desk look\nand then\nchi finish"
    assert [each.name for each in lines(text)] == ["desk.look", "finish"]


@pytest.mark.parametrize(
    ("text", "topic"),
    [
        ("chi", ""),
        ("chi --help", ""),
        ("chi help desk", "desk"),
        ("chi desk --help", "desk"),
        ("chi desk file_note --help", "desk file_note"),
    ],
)
def test_help_can_be_asked_for_anywhere(lines: CommandLine, text: str, topic: str) -> None:
    assert lines(text) == (call("help", topic=topic),)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("hello", "No command found"),
        ("chi attic look", "has no 'attic': there are desk, finish, help, wait"),
        ("chi --what", "has no ''"),
        ("chi desk burn", "has no tool 'burn': there are file_note, look"),
        ("chi desk look --hard", "takes no '--hard'; its arguments are none"),
        ("chi desk file_note loose", "takes no 'loose'; its arguments are --case_id, --pages"),
        ("chi desk look | head", "takes no '|'"),
        ("chi desk file_note --pages 1 --pages 2", "--pages is given 2 times"),
        ("chi desk file_note --case_id", "--case_id needs a value: string"),
        ("chi desk file_note --answers '{\"a\"'", "--answers is not valid JSON"),
        ("chi desk file_note --case_id 'open", "cannot be split into words: No closing quotation"),
        ("chi desk look\n" * 17, "17 commands in one turn"),
    ],
)
def test_what_cannot_be_read_is_refused_in_a_sentence(
    lines: CommandLine, text: str, said: str
) -> None:
    with pytest.raises(ToolError, match=r"\A[^\n]+\Z") as refused:
        lines(text)
    assert said in str(refused.value)


@pytest.mark.parametrize(
    "request_",
    [
        call("desk.look"),
        call(FILE, case_id='it\'s "so"\nand $so \\ on', pages=-2, urgent=False),
        call(FILE, case_id="--help", tags=["a, b", "--urgent"], answers={"q": "é"}),
        call(FILE, case_id="7", rows=[{"a": 1}, {}]),
        call(FILE, case_id="", tags=[]),
        call("finish"),
    ],
    ids=["none", "quotes", "flags", "rows", "empty", "verb"],
)
def test_a_call_is_written_as_the_line_that_is_read_as_it(
    lines: CommandLine, request_: ToolCall
) -> None:
    assert lines(lines.line(request_)) == (request_,)


def test_the_manual_leads_from_servers_to_arguments(lines: CommandLine) -> None:
    top = lines.manual("")
    assert "chi desk <tool>: file_note, look" in top
    assert "chi finish: Say that your work is done" in top
    assert lines.manual("desk").splitlines() == [
        "chi desk file_note: File a note.",
        "chi desk look: Look around.",
    ]
    page = lines.manual("desk file_note")
    assert "--case_id string: Id of the case." in page
    assert "--tags list[string] (optional): What it is about." in page
    assert "takes no arguments" in lines.manual("desk look")
    with pytest.raises(ToolError, match="has no 'attic'"):
        lines.manual("attic")
