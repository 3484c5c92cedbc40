"""Inspect plays our tasks with its stand-in for a model, and scores them by our verdict."""

import json
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from healthgym.errors import ConfigurationError
from healthgym.integrations.sessions import oracle_calls
from healthgym.registration import make_health_env

pytest.importorskip("inspect_ai")
pytestmark = pytest.mark.filterwarnings("ignore")

FHIR, XRAY = "HealthAgent/FhirRecord-v1", "HealthAgent/XrayCorrection-v1"


def task(env_id: str = FHIR, **options: Any) -> Any:
    from healthgym.integrations.inspect import episodes

    return episodes(env_id, **options)


def model(answer: Callable[[list[Any]], Any]) -> Any:
    """A model that answers a chat as a function of it."""
    from inspect_ai.model import ModelUsage, get_model

    def output(chat: list[Any], *_: Any) -> Any:
        said = answer(chat)
        # Otherwise it loads a table from the network to count tokens with.
        said.usage = ModelUsage()
        return said

    return get_model("mockllm/model", custom_outputs=output)


def oracle(env_id: str, count: int) -> Callable[[list[Any]], Any]:
    """Answers with the next call of the oracle, of the sample that is asked for."""
    from inspect_ai.model import ModelOutput
    from inspect_ai.solver._task_state import sample_state

    env = make_health_env(env_id)
    calls = [oracle_calls(env, "test", index) for index in range(count)]

    def answer(chat: list[Any]) -> Any:
        state = sample_state()
        assert state is not None
        done = sum(message.role == "assistant" for message in chat)
        call = calls[state.metadata["index"]][done]
        return ModelOutput.for_tool_call("mockllm", call.name.replace(".", "__"),
                                         dict(call.arguments))  # fmt: skip

    return answer


def run(what: Any, how: Any, tmp_path: Path, **options: Any) -> Any:
    from inspect_ai import eval as evaluated

    log = evaluated(what, model=how, log_dir=str(tmp_path), display="none", **options)[0]
    assert log.status == "success", log.error
    return log


def accuracy(log: Any) -> float:
    return float(log.results.scores[0].metrics["accuracy"].value)


@pytest.mark.parametrize("env_id", [FHIR, XRAY])
def test_the_oracles_calls_score_one_on_parallel_samples(tmp_path: Path, env_id: str) -> None:
    log = run(task(env_id, tasks=6), model(oracle(env_id, 6)), tmp_path, max_samples=6)
    assert accuracy(log) == 1.0
    assert [sample.scores["verdict"].value for sample in log.samples] == [1.0] * 6
    assert log.samples[0].scores["verdict"].metadata["verdict"]["strict"]["success"]
    # Each sample has the answers of its own task, not of the one that was played beside it.
    answers = [json.dumps([m.text for m in s.messages if m.role == "tool"]) for s in log.samples]
    assert len(set(answers)) == 6


def test_nothing_scores_zero_and_costs_all_turns(tmp_path: Path) -> None:
    from inspect_ai.model import ModelOutput

    how = model(lambda chat: ModelOutput.from_content("mockllm", "I will look into it."))
    log = run(task(tasks=2), how, tmp_path)
    assert accuracy(log) == 0.0
    turns = make_health_env(FHIR).config.budget("agent")
    for sample in log.samples:
        assert len(sample.store["healthgym:actions"]) == turns
        assert "No tool call found" in sample.messages[2].text


def test_mistakes_cost_a_turn_and_are_answered_by_the_engine(tmp_path: Path) -> None:
    from inspect_ai.model import ModelOutput

    calls = [
        ("no_such_tool", {}),
        ("read_resource", {"resource_type": "Patient"}),  # an argument is missing
        ("calculate", {"expression": "1 +"}),  # refused by the tool itself
        ("calculate", {"expression": "1 + 1"}),
    ]

    def answer(chat: list[Any]) -> Any:
        done = sum(message.role == "assistant" for message in chat)
        if done >= len(calls):
            return ModelOutput.for_tool_call("mockllm", "finish", {"value": [-1]})
        return ModelOutput.for_tool_call("mockllm", *calls[done])

    sample = run(task(tasks=1), model(answer), tmp_path).samples[0]
    assert len(sample.store["healthgym:actions"]) == 5
    env = make_health_env(FHIR)
    env.reset(options={"split": "test", "index": 0})
    told = [message for message in sample.messages if message.role == "tool"]
    for (name, arguments), message in zip(calls, told, strict=False):
        expected = env.step({"name": name, "arguments": arguments})[0]
        assert expected in (message.text, message.error and message.error.message), name


def test_a_log_is_scored_anew_from_its_actions(tmp_path: Path) -> None:
    from inspect_ai import score

    from healthgym.integrations.inspect import verdict

    log = run(task(tasks=1), model(oracle(FHIR, 1)), tmp_path)
    assert accuracy(score(log, verdict(FHIR), action="overwrite")) == 1.0
    changed = deepcopy(log)
    changed.samples[0].store["healthgym:actions"].pop()
    assert accuracy(score(changed, verdict(FHIR), action="overwrite")) == 0.0


def test_another_agent_of_inspects_has_the_same_tools(tmp_path: Path) -> None:
    from inspect_ai.model import ModelOutput
    from inspect_ai.solver import basic_agent

    solve = oracle(FHIR, 2)

    def answer(chat: list[Any]) -> Any:
        over = any(m.role == "tool" and m.function == "finish" for m in chat)
        done = ModelOutput.for_tool_call("mockllm", "submit", {"answer": "done"})
        return done if over else solve(chat)

    log = run(task(tasks=2), model(answer), tmp_path, solver=basic_agent())
    assert accuracy(log) == 1.0


def test_pictures_are_shown(tmp_path: Path) -> None:
    from inspect_ai.model import ContentImage, ModelOutput

    view = ("view_slice", {"plane": "axial", "window": "lung"})
    how = model(lambda chat: ModelOutput.for_tool_call("mockllm", *view))
    log = run(task("HealthAgent/CtAbnormality-v1", tasks=1), how, tmp_path)
    shown = next(m for m in log.samples[0].messages if m.role == "tool").content
    assert any(isinstance(part, ContentImage) for part in shown)


def test_inspect_finds_the_task_by_its_name(tmp_path: Path) -> None:
    log = run("healthgym/episodes", model(oracle(FHIR, 1)), tmp_path,
              task_args={"env_id": FHIR, "tasks": 1})  # fmt: skip
    assert accuracy(log) == 1.0


def test_what_there_is_not_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="has tasks"):
        task(first=-1)
    with pytest.raises(ConfigurationError, match="no environment"):
        task("HealthAgent/Nowhere-v1")
