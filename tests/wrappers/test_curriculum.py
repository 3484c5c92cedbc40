from typing import Any

import gymnasium as gym
import pytest

from healthgym.core.tool import call
from healthgym.errors import ConfigurationError
from healthgym.wrappers import Curriculum, Stage
from tests.core.toys import LEDGER_ID, make_ledger


def play(env: Curriculum, *, well: bool = False, options: dict[str, Any] | None = None) -> Any:
    """Play an episode, by the oracle or badly; return its reset info."""
    _, info = env.reset(options=options)
    inner: Any = env.unwrapped
    key = inner.episode.task.key
    instance = inner.family.generator.generate(key.split, key.index)
    script = inner.family.oracle(instance, None) if well else [call("submit", answer="?")]
    for action in script:
        *_, last = env.step(action)
    assert last["success"] is well
    assert last["stage"] == info["stage"]
    return info


def test_stages_follow_each_other_by_episodes() -> None:
    stages = [Stage({"kind": "report"}, episodes=3), Stage({"kind": "transfer"}, episodes=2), {}]
    env = Curriculum(gym.make(LEDGER_ID), stages)  # type: ignore[list-item]
    env.reset(seed=0)
    infos = [play(env) for _ in range(12)]
    assert [info["stage"] for info in infos] == [0] * 3 + [1] * 2 + [2] * 7
    assert [info["kind"] for info in infos[:5]] == ["report"] * 3 + ["transfer"] * 2
    assert {info["kind"] for info in infos[5:]} == {"report", "transfer"}


def test_an_episode_left_early_does_not_count() -> None:
    env = Curriculum(gym.make(LEDGER_ID), [Stage(episodes=1), Stage()])
    for _ in range(3):
        assert env.reset(seed=0)[1]["stage"] == 0
    play(env)
    assert env.reset()[1]["stage"] == 1


def test_success_holds_a_stage_until_it_is_mastered() -> None:
    env = Curriculum(gym.make(LEDGER_ID), [Stage(episodes=2, success=0.75, window=4), Stage()])
    for well in (False, False, False, True, True, True):
        assert play(env, well=well)["stage"] == 0
    assert env.reset()[1]["stage"] == 1


def test_options_of_the_caller_go_first_and_do_not_count() -> None:
    env = Curriculum(gym.make(LEDGER_ID), [Stage({"kind": "report"}, episodes=1), Stage()])
    for index in range(3):
        info = play(env, options={"index": index, "split": "test"})
        assert (info["task_id"], info["stage"]) == (f"toy-ledger/test/{index}", 0)
    assert play(env, options={"kind": "transfer"})["kind"] == "transfer"
    assert play(env)["stage"] == 1


def test_a_stage_may_change_the_arguments_of_the_environment() -> None:
    stages = [
        Stage(kwargs={"max_turns": 3}, episodes=1),
        Stage(kwargs={"max_turns": 3, "reward": "shaped"}, episodes=1),
        Stage(),
    ]
    env = Curriculum(gym.make(LEDGER_ID, max_turns=5), stages)
    env.reset(seed=0)
    seen = []
    for _ in range(3):
        info = play(env)
        inner: Any = env.unwrapped
        seen.append((inner.config.max_turns, inner.reward.dense, info["stage"]))
    assert seen == [(3, False, 0), (3, True, 1), (5, False, 2)]


def test_the_random_walk_goes_on_over_stages() -> None:
    def walk(stages: list[Stage]) -> list[str]:
        env = Curriculum(gym.make(LEDGER_ID), stages)
        env.reset(seed=5)
        return [play(env)["task_id"] for _ in range(4)]

    plain = walk([Stage()])
    assert len(set(plain)) == 4
    assert walk([Stage(episodes=2), Stage(kwargs={"max_turns": 3})]) == plain


@pytest.mark.parametrize(
    "build",
    [
        lambda: Curriculum(gym.make(LEDGER_ID), []),
        lambda: Curriculum(gym.make(LEDGER_ID), [Stage(), Stage()]),
        lambda: Curriculum(make_ledger(), [Stage(kwargs={"max_turns": 3})]),
        lambda: Stage(episodes=0),
        lambda: Stage(success=0),
        lambda: Stage(success=1.5),
        lambda: Stage(window=0),
    ],
    ids=[
        "no-stages",
        "no-way-on",
        "made-by-hand",
        "no-episodes",
        "success-0",
        "success-over-1",
        "window-0",
    ],
)
def test_curricula_without_sense_are_refused(build: Any) -> None:
    with pytest.raises(ConfigurationError):
        build()
