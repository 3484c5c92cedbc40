"""Acting by hand: the short form of calls, and whole games through a pipe."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from healthgym.cli.play import PictureFolder, read_line
from healthgym.core.tool import ToolCall, call
from tests.cli.terminal import SIGNS, TOY, healthgym
from tests.core.toys import Ledger, LedgerReference, make_ledger


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("list_accounts", call("ledger.list_accounts")),
        ("list_accounts order=balance limit=3",
         call("ledger.list_accounts", order="balance", limit=3)),
        ("ledger.read_balance account=elm", call("ledger.read_balance", account="elm")),
        ("ledger__read_balance elm", call("ledger.read_balance", account="elm")),
        ('ledger.read_balance account="elm tree"',
         call("ledger.read_balance", account="elm tree")),
        ("ledger.read_balance account=elm tree", call("ledger.read_balance", account="elm tree")),
        ("ledger.read_balance account=12", call("ledger.read_balance", account="12")),
        ("ledger.read_balance account=a=b", call("ledger.read_balance", account="a=b")),
        ("submit 12", call("ledger.submit", answer=12)),
        ("submit answer=twelve", call("ledger.submit", answer="twelve")),
        ('annotate tags=["a b", "c"] facts={"n": 1}',
         call("ledger.annotate", tags=["a b", "c"], facts={"n": 1})),
        ("annotate tags=[oops", call("ledger.annotate", tags="[oops")),
        ("nonsense", call("nonsense")),
        ("what is this?", call("what")),
        ("<tool_call>{}</tool_call>", "<tool_call>{}</tool_call>"),
        ('{"name": "submit", "arguments": {}}', '{"name": "submit", "arguments": {}}'),
    ],
)  # fmt: skip
def test_a_line_is_read_by_the_tools_schema(line: str, expected: ToolCall | str) -> None:
    catalog = make_ledger().open_episode("test", 0).seat().catalog
    assert read_line(line, catalog) == expected


def solution(index: int) -> list[str]:
    reference = Ledger().generator.generate("train", index).reference  # type: ignore[arg-type]
    assert isinstance(reference, LedgerReference)
    transfer = (
        f"transfer source={reference.source} target={reference.target} amount={reference.amount}"
    )
    moves = [transfer] if reference.amount else []
    return [f"ledger.read_balance {reference.target}", *moves, f"submit {reference.answer}"]


@pytest.mark.parametrize("index", [0, 1, 2])
def test_a_whole_game_through_a_pipe(index: int) -> None:
    typed = "\n".join(["help", "help submit", "task", "", "oops", *solution(index), "ignored"])
    done = healthgym("play", TOY, "--index", str(index), typed=typed)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert f"Task toy-ledger/train/{index} (" in done.stdout
    assert "ledger__submit(answer: integer|string)" in done.stdout
    assert "  answer: The balance asked for." in done.stdout
    assert "There is no tool named 'oops'" in done.stdout
    assert "Reward 1.00" in done.stdout
    assert "strict: success" in done.stdout
    assert "  [x] reported: The submitted answer is the balance" in done.stdout
    assert "ignored" not in done.stdout


def test_pictures_are_kept_and_their_place_is_told(tmp_path: Path) -> None:
    typed = "look\nhalves\nsubmit left\n"
    done = healthgym(
        "play", SIGNS, "--index", "0", "--pictures", str(tmp_path / "new"), typed=typed
    )
    assert done.returncode == 0, done.stderr
    assert [path.name for path in sorted((tmp_path / "new").iterdir())] == [
        "001.png", "002.png", "003.png",
    ]  # fmt: skip
    assert f"[picture 1, 32 x 24: {tmp_path / 'new' / '001.png'}]" in done.stdout
    assert "[picture 3, 16 x 24: " in done.stdout
    assert (tmp_path / "new" / "002.png").read_bytes().startswith(b"\x89PNG")


def test_pictures_go_to_a_new_folder_unless_told_otherwise(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    shown = PictureFolder()
    assert list(shown.keep([])) == []
    assert not list(tmp_path.iterdir())
    (told,) = shown.keep([np.zeros((2, 3), np.uint8)])
    (file,) = tmp_path.rglob("*.png")
    assert told == f"[picture 1, 3 x 2: {file}]"


@pytest.mark.parametrize("typed", ["quit\n", "list_accounts\n", ""])
def test_a_game_can_be_left(typed: str) -> None:
    done = healthgym("play", TOY, "--seed", "4", typed=typed)
    assert done.returncode == 0
    assert done.stdout.endswith("Left before the end; nothing was scored.\n")
    assert ("ash" in done.stdout) == ("ash" in done.stdout.split("> list_accounts")[-1])


def test_a_game_ends_when_the_turns_are_over() -> None:
    done = healthgym("play", TOY, "--set", "max_turns=2", typed="oops\noops\n")
    assert "(1 call left)" in done.stdout
    assert "strict: failure" in done.stdout
    assert "  [ ] reported" in done.stdout


def test_a_task_can_be_named() -> None:
    done = healthgym("play", TOY, "--task", "toy-ledger/test/5", typed="quit\n")
    assert "Task toy-ledger/test/5 (" in done.stdout
