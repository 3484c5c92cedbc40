"""`healthgym eval`, `demos` and `replay` as processes."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import pytest

from healthgym.cli import main, policies
from healthgym.policies.results import SCHEMA
from tests.cli.terminal import TOY, healthgym
from tests.standin import completion, stand_in


def test_a_table_and_progress() -> None:
    done = healthgym("eval", TOY, "--policy", "prior", "--episodes", "20")
    assert done.returncode == 0, done.stderr
    assert "ToyLedger-v0: prior on test, profile strict" in done.stdout
    assert "do nothing" in done.stdout
    assert done.stdout.splitlines()[-3].split()[:4] == ["all", "20", "20", "0.0%"]
    assert done.stderr.splitlines()[-1] == "20/20 episodes, 0% strict success"


def test_json_to_a_file_and_to_the_terminal(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "deep" / "out.json"
    common = ["eval", TOY, "--episodes", "3", "--samples", "2", "--set", "max_turns=4"]
    assert main([*common, "--json", str(out)]) == 0
    assert "k=2: 100.0% / 100.0%" in capsys.readouterr().out
    data = json.loads(out.read_text())
    assert data["schema"] == SCHEMA
    assert data["env_kwargs"] == {"max_turns": 4}
    assert len(data["results"]) == 6
    assert main([*common, "--json", "-", "--summary"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert shown["results"] == []
    assert shown["rows"] == data["rows"]


def test_a_markdown_table(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["eval", TOY, "--episodes", "3", "--markdown", "--no-floor"]) == 0
    shown = capsys.readouterr().out
    assert "| task type | tasks |" in shown


def test_a_hosted_model_from_the_command_line() -> None:
    with stand_in(completion(None, [("submit", '{"answer": 0}')])) as server:
        done = healthgym(
            "eval", TOY, "--policy", "llm", "--base-url", server.base_url, "--model", "toy",
            "--episodes", "6", "--workers", "2", "--prices", "1", "2", "--budget-usd", "1",
            "--extra", '{"top_p": 0.9}', "--system", "Be brief.",
        )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "toy on test" in done.stdout
    assert "Endpoint: 6 requests, 600 tokens read, 60 written, 0.0007 USD." in done.stdout
    assert {request["top_p"] for request in server.requests} == {0.9}
    assert {request["messages"][0]["content"] for request in server.requests} == {"Be brief."}


def test_a_spent_budget_keeps_what_was_finished() -> None:
    with stand_in(completion(None, [("submit", '{"answer": 0}')])) as server:
        done = healthgym(
            "eval", TOY, "--policy", "llm", "--base-url", server.base_url, "--model", "toy",
            "--episodes", "50", "--budget-tokens", "330",
        )  # fmt: skip
    assert done.returncode == 2
    assert "all" in done.stdout
    assert "Traceback" not in done.stderr
    assert done.stderr.splitlines()[-1].startswith(
        "healthgym: stopped early: The budget of 330 tokens is spent (330 used in 3 requests)"
    )


def test_demonstrations_from_the_oracle_and_from_a_recording(tmp_path: Path) -> None:
    shown, record, kept = (tmp_path / name for name in ("demos", "record", "kept"))
    assert main(["demos", TOY, "--n", "5", "--out", str(shown)]) == 0
    oracle = [json.loads(line) for line in shown.read_text().splitlines()]
    assert [row["task_id"] for row in oracle] == [f"toy-ledger/train/{n}" for n in range(5)]
    common = ["eval", TOY, "--split", "train", "--episodes", "5", "--record", str(record)]
    assert main(common) == 0
    assert main([*common, "--policy", "prior"]) == 0
    assert main(["demos", TOY, "--recorded", str(record), "--out", str(kept)]) == 0
    rows = [json.loads(line) for line in kept.read_text().splitlines()]
    assert [row["task_id"] for row in rows] == [row["task_id"] for row in oracle]
    for row, made in zip(rows, oracle, strict=True):
        assert row.keys() == made.keys()
        assert json.loads(row["tools"]) == json.loads(made["tools"])
        assert [m["role"] for m in row["messages"]] == [m["role"] for m in made["messages"]]
        assert row["messages"][-1] == made["messages"][-1]
        assert row["messages"][2]["content"] == made["messages"][2]["content"]


def test_a_recording_is_replayed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    record = tmp_path / "record.jsonl"
    assert (
        main(["eval", TOY, "--policy", "random", "--episodes", "4", "--record", str(record)]) == 0
    )
    capsys.readouterr()
    assert main(["replay", str(record)]) == 0
    assert capsys.readouterr().out == "4 episodes replayed to the same bytes\n"
    record.write_text(
        record.read_text().replace("coins from", "coins out of").replace("[2024", "[2025")
    )
    assert main(["replay", str(record)]) == 2


@pytest.mark.parametrize(
    ("asked", "own", "named", "sent"),
    [
        ("https://api.openai.com/v1", None, None, "OPENAI_API_KEY"),
        ("https://models.example.org/v1", "https://models.example.org/v1", None, "OPENAI_API_KEY"),
        ("https://elsewhere.example.com/v1", None, None, ""),
        ("https://api.openai.com/v1", "https://models.example.org/v1", None, ""),
        ("https://api.openai.com.example.com/v1", None, None, ""),
        ("https://elsewhere.example.com/v1", None, "OPENAI_API_KEY", "OPENAI_API_KEY"),
        ("https://api.openai.com/v1", None, "", ""),
    ],
)
def test_a_key_goes_unasked_only_to_whom_it_is_for(
    asked: str, own: str | None, named: str | None, sent: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    if own is not None:
        monkeypatch.setenv("OPENAI_BASE_URL", own)
    args = argparse.Namespace(base_url=asked, api_key_env=named)
    assert policies._key_variable(args) == sent


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (["eval", TOY, "--actors", "2"], "give --ray ADDRESS"),
        (["demos", TOY, "--out", "x.jsonl", "--actors", "2"], "give --ray ADDRESS"),
        (
            ["demos", TOY, "--out", "x.jsonl", "--recorded", "y.jsonl", "--ray", "local"],
            "--recorded ones are read here",
        ),
        (["eval", TOY, "--ray", "local", "--pictures"], "leave out --ray"),
    ],
)
def test_what_a_cluster_cannot_do_is_said(
    line: list[str],
    said: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(line) == 2
    assert said in capsys.readouterr().err
    assert not list(tmp_path.iterdir())
