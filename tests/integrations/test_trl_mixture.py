"""Mixtures: what is drawn, how weights follow outcomes, and that a killed run goes on the same."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from healthgym.errors import ConfigurationError, DamagedDataError
from healthgym.integrations.trl.mixture import Adaptive, Mixture, Part, levels
from healthgym.integrations.trl.turns import by_reply, turn_rewards
from healthgym.registration import make_health_env

RECORDS = "HealthAgent/FhirRecord-v1"
THREE = {"easy": Part("E", weight=2), "medium": Part("M"), "hard": Part("H")}


def drawn(mixture: Mixture, slots: range) -> list[tuple[str, int]]:
    return [(place.name, place.index) for place in map(mixture.task, slots)]


def test_fixed_weights_give_one_stream_in_whatever_order_it_is_asked_for() -> None:
    stream = drawn(Mixture(THREE, seed=3, first=7), range(400))
    counts = Counter(name for name, _ in stream)
    assert 170 < counts["easy"] < 230
    assert stream[5] == drawn(Mixture(THREE, seed=3, first=7), range(5, 6))[0]
    assert stream != drawn(Mixture(THREE, seed=4, first=7), range(400))
    for name in THREE:
        assert [index for other, index in stream if other == name] == list(
            range(7, 7 + counts[name])
        )


def played(mixture: Mixture, slots: range, able: dict[str, float]) -> list[str]:
    """Play groups of eight, of which a part's share succeeds."""
    names = []
    for slot in slots:
        place = mixture.task(slot)
        names.append(place.name)
        mixture.note(slot, [number < 8 * able[place.name] for number in range(8)])
    return names


def test_weights_follow_what_teaches_and_difficulty_rises_with_skill() -> None:
    mixture = Mixture(dict.fromkeys(THREE, "X"), adaptive=Adaptive(half_life=24))
    played(mixture, range(100), {"easy": 0.5, "medium": 0, "hard": 0})
    assert mixture.weights()["easy"] > 0.6
    played(mixture, range(100, 250), {"easy": 1, "medium": 0.5, "hard": 0})
    weights = mixture.weights()
    assert weights["medium"] > 0.6
    assert min(weights.values()) > 0.02
    assert sum(weights.values()) == pytest.approx(1)


def test_a_group_of_fewer_than_two_scores_says_nothing() -> None:
    mixture = Mixture(THREE, adaptive=Adaptive())
    before = mixture.weights()
    mixture.task(0)
    mixture.note(0, [True])
    assert mixture.weights() == before


def test_an_interrupted_stream_goes_on_the_same() -> None:
    able = {"easy": 1.0, "medium": 0.5, "hard": 0.0}
    whole = Mixture(THREE, seed=1, adaptive=Adaptive())
    names = played(whole, range(60), able)
    first = Mixture(THREE, seed=1, adaptive=Adaptive())
    played(first, range(25), able)
    kept = json.loads(json.dumps(first.state()))
    second = Mixture(THREE, seed=1, adaptive=Adaptive())
    second.restore(kept)
    assert played(second, range(25, 60), able) == names[25:]
    assert drawn(second, range(60)) == drawn(whole, range(60))
    assert second.state() == whole.state()


def test_a_state_of_another_mixture_is_refused() -> None:
    mixture = Mixture(THREE, seed=1, adaptive=Adaptive())
    with pytest.raises(ConfigurationError, match="seed 2"):
        mixture.restore(Mixture(THREE, seed=2, adaptive=Adaptive()).state())
    for damaged in (None, {}, {**mixture.state(), "slots": [1]}, {**mixture.state(), "seen": 3}):
        with pytest.raises(DamagedDataError):
            mixture.restore(damaged)


def test_what_is_no_mixture_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="Weights of a mixture"):
        Mixture({})
    with pytest.raises(ConfigurationError, match="Weights of a mixture"):
        Mixture({"a": Part("X", weight=0)})
    with pytest.raises(ConfigurationError, match="least"):
        Adaptive(least=0)


def test_demonstrations_come_from_every_part(toy_id: str) -> None:
    mixture = Mixture({"toy": toy_id, **levels(RECORDS, "drill")}, seed=2)
    shown = list(mixture.demonstrations(12))
    families = Counter(demo.task_id.partition("/")[0] for demo in shown)
    assert len(families) == 2
    assert all(demo.success for demo in shown)


# -- turns -----------------------------------------------------------------------------------


def test_rewards_of_turns_sum_to_the_return() -> None:
    from healthgym.core.seeding import Split
    from healthgym.integrations.trl.evaluation import play_script

    env = make_health_env(
        "HealthAgent/EhrFormatConversion-v1",
        {"difficulty": "easy", "reward": "shaped", "costs": {"unsubmitted": 0.5}},
    )
    for name in ("oracle", "flood"):
        (run,) = play_script(env, name, [(Split.TRAIN, 0)])
        episode = run.episode
        earned = turn_rewards(episode)
        assert len(earned) == len(episode.turns)
        assert sum(earned) == pytest.approx(episode.total_reward())
        assert earned == turn_rewards(env.trajectory(episode))
    # What a role is charged for leaving is its last turn's.
    left = env.open_episode("train", 0)
    left.stop()
    assert turn_rewards(left) == (-0.5,)


def test_shaped_rewards_come_where_progress_is_made() -> None:
    from healthgym.core.seeding import Split
    from healthgym.integrations.trl.evaluation import play_script

    env = make_health_env("HealthAgent/EhrFormatConversion-v1", {"reward": "shaped"})
    (run,) = play_script(env, "oracle", [(Split.TRAIN, 0)])
    assert sum(reward != 0 for reward in turn_rewards(run.episode)) > 1


def test_a_reply_earns_what_its_turns_do() -> None:
    assert by_reply((1.0, 2.0, 4.0), (2, 2, 3)) == (3.0, 0.0, 4.0)
    assert by_reply((1.0, 2.0, 4.0), (1, 2)) == (1.0, 6.0)
    assert by_reply((-0.5,), (0,)) == (-0.5,)


# -- trainers --------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def nano(toy_id: str) -> tuple[Any, Any]:
    pytest.importorskip("trl")
    from healthgym.integrations.trl import demonstrations
    from healthgym.integrations.trl.models import _texts
    from healthgym.integrations.trl.tiny import TinyConfig, tiny_model, train_tokenizer

    shape = TinyConfig(hidden=16, layers=1, heads=2, feed_forward=16, vocabulary=400, context=512)
    demos = list(demonstrations(make_health_env(toy_id), "train", 20))
    tokenizer = train_tokenizer(_texts(demos), shape.vocabulary)
    return tiny_model(tokenizer, shape, 0), tokenizer


class Killed(Exception):
    """Stands in for the end of a process."""


def learned(
    nano: tuple[Any, Any], toy_id: str, out: Path, kill: int = 0, resume: bool = False
) -> tuple[Mixture, list[tuple[int, str]]]:
    """Train on an adaptive mixture in TRL's own loop; return it, and what was drawn when."""
    from copy import deepcopy

    from transformers import TrainerCallback
    from trl import GRPOConfig, GRPOTrainer

    from healthgym.integrations.trl import trl_spec

    class Kill(TrainerCallback):
        def on_step_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
            if state.global_step == kill:
                raise Killed

    mixture = Mixture({"a": toy_id, "b": toy_id, "c": toy_id}, seed=5, adaptive=Adaptive())
    noted: list[tuple[int, str]] = []
    note = mixture.note

    def listening(slot: int, won: Any) -> None:
        noted.append((slot, mixture.task(slot).name))
        # An untrained model never succeeds; so that weights move, part b gives mixed outcomes.
        note(slot, [mixture.task(slot).name == "b", False])

    mixture.note = listening  # type: ignore[method-assign]
    arguments = trl_spec(mixture, size=16).arguments()
    arguments["callbacks"] = [*arguments["callbacks"], Kill()]
    model, tokenizer = nano
    trainer = GRPOTrainer(
        model=deepcopy(model),
        processing_class=tokenizer,
        args=GRPOConfig(
            str(out),
            max_steps=6,
            per_device_train_batch_size=4,
            num_generations=2,
            max_completion_length=48,
            generation_kwargs={"max_new_tokens": 4},
            use_cpu=True,
            bf16=False,
            gradient_checkpointing=False,
            report_to="none",
            save_steps=3,
            logging_steps=1,
            disable_tqdm=True,
        ),
        **arguments,
    )
    if kill:
        with pytest.raises(Killed):
            trainer.train()
    else:
        trainer.train(resume_from_checkpoint=str(out / "checkpoint-3") if resume else None)
        assert any("mixture/b" in row for row in trainer.state.log_history)
    return mixture, noted


@pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::DeprecationWarning")
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_a_killed_trainer_goes_on_with_the_same_stream(
    nano: tuple[Any, Any], toy_id: str, tmp_path: Path
) -> None:
    whole, all_of_it = learned(nano, toy_id, tmp_path / "whole")
    assert whole.weights()["b"] > whole.weights()["a"]
    _, begun = learned(nano, toy_id, tmp_path / "killed", kill=4)
    assert begun == all_of_it[: len(begun)]
    resumed, rest = learned(nano, toy_id, tmp_path / "killed", resume=True)
    assert rest == all_of_it[-len(rest) :]
    assert resumed.state() == whole.state()


@pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::DeprecationWarning")
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_a_run_takes_a_mixture_and_goes_on_with_it(
    toy_id: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("trl")
    from healthgym.integrations.trl import models, phases
    from healthgym.integrations.trl.config import Reinforced, Supervised, TrainConfig
    from healthgym.integrations.trl.copying import Copying
    from healthgym.integrations.trl.folder import RunFolder
    from healthgym.integrations.trl.stages import Pipeline
    from healthgym.integrations.trl.tiny import PIECES, TinyConfig

    shape = TinyConfig(hidden=16, layers=1, heads=2, feed_forward=16, vocabulary=400, context=512)
    monkeypatch.setitem(models.MADE, "tiny", (shape, PIECES))
    config = TrainConfig(
        toy_id,
        episodes=2,
        watch=0,
        saves=4,
        max_new_tokens=4,
        control=False,
        mixture={"one": Part(toy_id), "two": Part(toy_id, {"costs": {"unsubmitted": 0.1}}, 2.0)},
        adaptive=Adaptive(),
        copying=Copying(steps=0),
        supervised=Supervised(demos=12, steps=2, batch=4),
        reinforced=Reinforced(steps=4, batch=4, group=2),
    )
    assert TrainConfig.from_json(config.to_json()) == config

    def logged(folder: RunFolder) -> list[dict[str, float]]:
        return [
            {name: value for name, value in row.items() if name.startswith(("mixture/", "reward"))}
            for row in folder.curve()
            if row["stage"] == "grpo" and "reward" in row
        ]

    whole = RunFolder(tmp_path / "whole")
    whole.begin(config)
    Pipeline(whole, config).run()
    assert {"mixture/one", "mixture/two"} <= logged(whole)[0].keys()

    killed = RunFolder(tmp_path / "killed")
    killed.begin(config)
    observed = phases._Observer.on_step_end

    def dies(self: Any, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        observed(self, args, state, control, **kwargs)
        if self._run.name == "grpo" and state.global_step == 3:
            raise Killed

    with monkeypatch.context() as once:
        once.setattr(phases._Observer, "on_step_end", dies)
        with pytest.raises(Killed):
            Pipeline(killed, config).run()
    Pipeline(killed, config).run()
    assert logged(killed) == logged(whole)
    with pytest.raises(ConfigurationError, match="name its parts"):
        replace(config, mixture={})
