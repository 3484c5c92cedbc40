"""An episode that is kept in files is the episode, and its score is played again from them."""

import json
from pathlib import Path

import pytest

from healthgym.cli import main
from healthgym.core.trajectory import picture_folder
from healthgym.errors import ConfigurationError, TrajectoryError
from healthgym.integrations.sessions import KeptSession, SessionTask, oracle_calls
from healthgym.registration import make_health_env
from healthgym.worlds.workspace import CodeLimits, PythonTools

FHIR, CT = "HealthAgent/FhirRecord-v1", "HealthAgent/CtAbnormality-v1"


def session(path: Path, index: int = 3) -> KeptSession:
    return KeptSession(SessionTask.of(FHIR, index=index), path / "actions.jsonl")


def solved(path: Path) -> KeptSession:
    found = session(path)
    for call in oracle_calls(make_health_env(FHIR), "test", 3):
        # Each call by a process of its own, as on the command line.
        answer = session(path).call(call.name, json.dumps(dict(call.arguments)))
        assert not answer.failed
    assert answer.over
    return found


def test_a_session_answers_as_the_environment_does(tmp_path: Path) -> None:
    kept, env = session(tmp_path), make_health_env(FHIR)
    text, info = env.reset(options={"split": "test", "index": 3})
    assert kept.read() == text
    assert kept.tools() == info["tools"]
    for name, arguments in (
        ("search_patients", {"family": "Doe"}), ("nonsense", {}), ("calculate", {"x": 1}),
    ):  # fmt: skip
        expected = env.step({"name": name, "arguments": arguments})
        answer = session(tmp_path).call(name, json.dumps(arguments))
        assert (answer.text, answer.failed) == (expected[0], "error" in expected[4])
    assert session(tmp_path).call("calculate", "no JSON").failed
    assert session(tmp_path).score()["calls"] == 4


@pytest.mark.parametrize(
    "arguments",
    ['{}, "name": "finish"', '{"value": []}, "name": "finish"', '{}}{"name": "finish"}', "[" * 999],
)
def test_no_arguments_call_another_tool(arguments: str, tmp_path: Path) -> None:
    answer = session(tmp_path).call("search_patients", arguments)
    assert (answer.failed, answer.over) == (True, False)
    assert session(tmp_path).score()["calls"] == 1


def test_the_oracle_scores_one_and_nothing_scores_zero(tmp_path: Path) -> None:
    assert not session(tmp_path / "idle").score()["success"]
    found = solved(tmp_path).score()
    assert (found["success"], found["reward"]) == (True, 1.0)
    assert solved(tmp_path / "again").score() == found


def test_turns_end_and_what_was_done_stays(tmp_path: Path) -> None:
    kept = session(tmp_path)
    answers = [kept.call("search_patients") for _ in range(kept.turns() + 1)]
    assert [answer.over for answer in answers[-3:]] == [False, True, True]
    assert answers[-1].text == "The episode is over."
    assert kept.score()["calls"] == kept.turns()


def test_a_record_that_was_tampered_with_has_no_score(tmp_path: Path) -> None:
    kept = solved(tmp_path)
    whole = kept.record.read_text()
    lines = whole.splitlines(keepends=True)
    for broken, reason in (
        (whole + lines[-1], "after the episode was over"),
        ("".join(lines[1:]), "answered otherwise"),
        (whole.replace('"answer": "', '"answer": "0'), "answered otherwise"),
        (whole + "no call\n", "not a call"),
        (whole + '{"action": 1, "answer": ""}\n', "not a call"),
    ):
        kept.record.write_text(broken)
        with pytest.raises(TrajectoryError, match=reason):
            kept.score()
    other = SessionTask.of(FHIR).model_copy(update={"task_id": "fhir-record/test/7"})
    with pytest.raises(TrajectoryError, match="not fhir-record/test/7"):
        KeptSession(other, tmp_path / "other.jsonl")


#: Takes about half a second of a processor.
SLOW = json.dumps({"code": "n = 0\nfor i in range(4_000_000): n += i\nn"})


@pytest.mark.parametrize(("then", "now"), [(0.01, 60.0), (60.0, 0.3)])
def test_another_machines_time_costs_no_score(
    then: float, now: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nor can an agent that has failed be rid of it, by a call at the bound of its time."""
    pytest.importorskip("pydantic_monty")
    pytest.importorskip("duckdb")
    task = SessionTask.of("HealthAgent/EhrDataQuality-v1")
    monkeypatch.setattr(PythonTools, "limits", CodeLimits(seconds=then))
    kept = KeptSession(task, tmp_path / "a.jsonl")
    assert kept.call("run_python", SLOW).failed == (then < 1)
    kept.call("list_tables")  # the clock moves by a call that is carried out, and by no other
    kept.call("submit")
    monkeypatch.setattr(PythonTools, "limits", CodeLimits(seconds=now))
    found = KeptSession(task, tmp_path / "a.jsonl").score()
    assert (found["calls"], found["success"]) == (3, False)


def test_a_call_cut_short_by_a_crash_was_not_made(tmp_path: Path) -> None:
    kept = solved(tmp_path)
    whole = kept.record.read_bytes()
    kept.record.write_bytes(whole[:-3])
    assert not kept.score()["success"]
    assert kept.record.read_bytes() == whole[: whole[:-1].rindex(b"\n") + 1]


def test_what_is_no_task_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "task.json"
    for text in ("", "{}", '{"schema": "healthgym.session/2"}'):
        file.write_text(text)
        with pytest.raises(ConfigurationError, match="not a session's task"):
            SessionTask.read(file)
    with pytest.raises(ConfigurationError, match="No such file"):
        SessionTask.read(tmp_path / "nowhere.json")


def test_a_session_on_the_command_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["session", "new", "task.json", FHIR, "--index", "3"]) == 0
    assert main(["session", "new", "task.json", FHIR]) == 2
    assert main(["session", "read", "task.json"]) == 0
    assert "S9121858" in capsys.readouterr().out
    assert main(["session", "tools", "task.json"]) == 0
    assert "finish(value: array)  [submit]" in capsys.readouterr().out
    assert main(["session", "tools", "task.json", "nonsense"]) == 2
    assert main(["session", "call", "task.json", "nonsense"]) == 1
    assert main(["session", "call", "task.json", "finish", '{"value": [-1]}']) == 0
    assert capsys.readouterr().out.endswith("(The episode is over.)\n")
    assert main(["session", "score", "task.json", "--reward", "r.txt", "--json", "v.json"]) == 0
    assert Path("r.txt").read_text(encoding="utf-8") == "0\n"
    told = json.loads(Path("v.json").read_text(encoding="utf-8"))
    assert (told["schema"], told["success"], told["calls"]) == (
        "healthgym.session_score/1", False, 2,
    )  # fmt: skip
    assert main(["session", "score", "task.json"]) == 0
    shown = capsys.readouterr()
    assert shown.out == "success: no, reward: 0\n"
    assert "\nstrict: answer failed\n" in shown.err


def test_pictures_are_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "task.json"
    SessionTask.of(CT).write(file)
    call = next(
        call for call in oracle_calls(make_health_env(CT), "test", 0) if "view" in call.name
    )
    assert main(["session", "call", str(file), call.name, json.dumps(dict(call.arguments))]) == 0
    told = capsys.readouterr().out.splitlines()[-1]
    (picture,) = picture_folder(tmp_path / "task.actions.jsonl").glob("*.png")
    assert told == f"(Picture: {picture})"
