"""What `healthgym demos` writes is what `datasets.load_dataset` reads."""

import json
from pathlib import Path

import pytest

from healthgym.cli import main
from healthgym.integrations.trl import demonstrations
from healthgym.registration import make

ENV = "HealthAgent/FhirRecord-v1"


@pytest.mark.parametrize("name", ["demos.jsonl", "demos.parquet"])
def test_demonstrations_come_back_as_they_were(tmp_path: Path, name: str) -> None:
    datasets = pytest.importorskip("datasets")
    out = tmp_path / "set" / name
    assert main(["demos", ENV, "--n", "6", "--out", str(out), "--card"]) == 0
    read = datasets.load_dataset(str(out.parent), split="train", cache_dir=str(tmp_path / "cache"))
    # Wrapped, as gymnasium.make returns it.
    shown = list(demonstrations(make(ENV), "train", 6))
    assert [row["task_id"] for row in read] == [demo.task_id for demo in shown]
    for row, demo in zip(read, shown, strict=True):
        assert row["tools"] == demo.tools
        kept = [{k: v for k, v in message.items() if v is not None} for message in row["messages"]]
        assert kept == list(demo.messages)


@pytest.mark.parametrize("name", ["kept.jsonl", "kept.parquet"])
def test_recorded_episodes_keep_their_arguments(tmp_path: Path, name: str) -> None:
    datasets = pytest.importorskip("datasets")
    record, out = tmp_path / "runs.jsonl", tmp_path / "set" / name
    evaluated = ["eval", ENV, "--policy", "oracle", "--episodes", "4", "--no-floor"]
    assert main([*evaluated, "--record", str(record)]) == 0
    recorded = ["--recorded", str(record), "--split", "test", "--out", str(out), "--card"]
    assert main(["demos", ENV, *recorded]) == 0
    read = datasets.load_dataset(str(out.parent), split="test", cache_dir=str(tmp_path / "cache"))
    runs = [json.loads(line) for line in record.read_text().splitlines()]
    assert len(read) == len(runs)
    for row, run in zip(read, runs, strict=True):
        asked = [
            {**each["function"], "arguments": json.loads(each["function"]["arguments"])}
            for message in row["messages"]
            for each in message.get("tool_calls") or []
        ]
        assert asked == [json.loads(turn["action"]) for turn in run["turns"]]


def test_an_empty_set_is_refused_as_parquet(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    (tmp_path / "none.jsonl").touch()
    out = tmp_path / "set.parquet"
    assert main(["demos", ENV, "--recorded", str(tmp_path / "none.jsonl"), "--out", str(out)]) == 2
    assert not out.exists()
