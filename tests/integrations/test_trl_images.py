"""Training on pictures by their measurements: the example, and tasks demonstrated twice."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from typing import Any

import pytest

from healthgym.core.seeding import Split
from healthgym.errors import ConfigurationError
from healthgym.integrations.trl import Demonstration, demonstrations
from healthgym.integrations.trl.demonstrations import demonstrate
from healthgym.integrations.trl.folder import RunFolder
from healthgym.registration import make_health_env

for needed in ("scipy", "PIL"):
    pytest.importorskip(needed)

# Deprecations the libraries raise about each other, none of them for something chosen here.
pytestmark = [
    pytest.mark.filterwarnings("ignore::FutureWarning"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::UserWarning"),
]


def example() -> Any:
    path = Path(__file__).parents[2] / "examples" / "train_on_images.py"
    found = importlib.util.spec_from_file_location("example_train_on_images", path)
    assert found is not None
    assert found.loader is not None
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    return module


def called(demo: Demonstration) -> list[str]:
    """Return the names of a demonstration's calls."""
    return [m["tool_calls"][0]["function"]["name"] for m in demo.messages if "tool_calls" in m]


@pytest.fixture(scope="module")
def env() -> Any:
    config = example().CONFIG
    return make_health_env(config.env, config.env_kwargs)


def test_each_task_is_shown_twice(env: Any) -> None:
    shown = list(demonstrations(env, size=10, policy="all_yes", also="all_no"))
    assert [demo.task_id for demo in shown[::2]] == [demo.task_id for demo in shown[1::2]]
    assert len({demo.task_id for demo in shown}) == 10
    for place, demo in enumerate(shown):
        said = [m["tool_calls"][0]["function"] for m in demo.messages if "tool_calls" in m]
        answers = [json.loads(each["arguments"])["answer"] for each in said[:-1]]
        assert set(answers) == ({"no"} if place % 2 else {"yes"})
        assert said[-1]["name"] == "submit"
    once = demonstrations(env, size=10, policy="all_yes")
    assert list(once) == shown[::2]


def test_what_is_shown_also_is_whole_and_need_not_succeed(env: Any) -> None:
    """Inertia and left out tools are the first demonstrator's own."""
    shown = list(demonstrations(env, size=8, inertia=1.0, also="all_no", without=("show_calls",)))
    for idle, whole in zip(shown[::2], shown[1::2], strict=True):
        assert "record_call" not in called(idle)
        assert set(called(whole)) == {"record_call", "submit"}
    assert not all(demo.success for demo in shown[1::2])
    with pytest.raises(ConfigurationError, match="nobody"):
        list(demonstrations(env, size=1, policy="all_yes", also="nobody"))


def test_the_longest_episode_of_the_example_fits(env: Any) -> None:
    """Two calls a finding, and handing in."""
    config = example().CONFIG
    most = env.family.generator.config.labels[1]
    assert config.env_kwargs["max_turns"] >= 2 * most + 1
    for index in range(40):
        demo = demonstrate(env, Split.TRAIN, index, policy=config.supervised.also)
        assert len(called(demo)) <= most + 1


@pytest.mark.slow
def test_the_example_runs_and_goes_on(tmp_path: Path, capsys: Any) -> None:
    for needed in ("torch", "trl", "datasets", "matplotlib"):
        pytest.importorskip(needed)
    module = example()
    run = module.main(["--quick", "--out", str(tmp_path / "run")])
    assert "[9/9] report" in capsys.readouterr().out
    for name in ("learning_curves.png", "metrics.jsonl", "report.html"):
        assert (run / name).stat().st_size > 0
    rows = [json.loads(line) for line in (run / "demonstrations.jsonl").read_text().splitlines()]
    assert ["'measure'" in str(row["messages"]) for row in rows] == [True, False] * (len(rows) // 2)
    # A teacher that errs is scored on the same tasks as its pupil.
    scores = RunFolder(run).results()["floors"]["scores"]
    floors = {score["name"]: score["total"] for score in scores}
    assert floors["solver"]["successes"] > floors["prior"]["successes"]
    module.main(["--out", str(tmp_path / "run")])
    assert "(done before)" in capsys.readouterr().out
