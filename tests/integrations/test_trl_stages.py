"""The trainers and the whole run, on a model too small to learn anything."""

from __future__ import annotations

import copy
import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from healthgym.core.endpoint import Endpoint
from healthgym.core.env import HealthEnv
from healthgym.core.family import EpisodeConfig
from healthgym.errors import ConfigurationError, InfrastructureError
from healthgym.integrations.trl import demonstrations, trl_spec
from healthgym.integrations.trl.config import Reinforced, Supervised, TrainConfig
from healthgym.integrations.trl.copying import Copying
from healthgym.integrations.trl.folder import RunFolder
from healthgym.integrations.trl.tiny import PIECES, TinyConfig
from healthgym.policies.seats import EndpointSeat
from healthgym.registration import make_health_env
from healthgym.rewards import SparseReward
from tests.core.toys import Market
from tests.presentation.pages import bodies, index
from tests.standin import Reply, completion, stand_in

datasets = pytest.importorskip("datasets")
trl = pytest.importorskip("trl")
torch = pytest.importorskip("torch")

# Deprecations the libraries raise about each other, none of them for something chosen here.
pytestmark = [
    pytest.mark.filterwarnings("ignore::FutureWarning"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::UserWarning"),
]

SHAPE = TinyConfig(hidden=16, layers=1, heads=2, feed_forward=16, vocabulary=500, context=512)


@pytest.fixture(scope="module")
def demos(toy_id: str) -> list[Any]:
    return list(demonstrations(make_health_env(toy_id), "train", 40))


@pytest.fixture(scope="module")
def nano(demos: list[Any]) -> tuple[Any, Any]:
    from healthgym.integrations.trl.models import _texts
    from healthgym.integrations.trl.tiny import tiny_model, train_tokenizer

    tokenizer = train_tokenizer(_texts(demos), SHAPE.vocabulary)
    return tiny_model(tokenizer, SHAPE, 0), tokenizer


@pytest.fixture
def config(toy_id: str, monkeypatch: pytest.MonkeyPatch) -> TrainConfig:
    """Settings of a run that takes seconds, with a model of some thousand weights."""
    from healthgym.integrations.trl import models

    monkeypatch.setitem(models.MADE, "tiny", (SHAPE, PIECES))
    return TrainConfig(
        toy_id,
        episodes=4,
        watch=2,
        saves=2,
        max_new_tokens=8,
        threads=1,
        transfer={"twice": {}},
        copying=Copying(steps=3, batch=2),
        supervised=Supervised(demos=40, steps=4, batch=4),
        reinforced=Reinforced(steps=2, batch=4, group=2, minibatch=2),
    )


def grpo(nano: tuple[Any, Any], spec: Any, out: Path, **settings: Any) -> Any:
    model, tokenizer = nano
    args = trl.GRPOConfig(
        str(out),
        max_steps=2,
        per_device_train_batch_size=4,
        num_generations=2,
        max_completion_length=64,
        use_cpu=True,
        bf16=False,
        gradient_checkpointing=False,
        report_to="none",
        save_strategy="no",
        logging_steps=1,
        disable_tqdm=True,
        **{"generation_kwargs": {"max_new_tokens": 8}, **settings},
    )
    trainer = trl.GRPOTrainer(
        model=model, processing_class=tokenizer, args=args, **spec.arguments()
    )
    trainer.train()
    return trainer


def test_trl_accepts_our_chat_format(nano: tuple[Any, Any]) -> None:
    from trl.chat_template_utils import (
        is_chat_template_prefix_preserving,
        is_chat_template_stop_token_trained,
        supports_tool_calling,
    )

    _, tokenizer = nano
    assert supports_tool_calling(tokenizer)
    assert is_chat_template_prefix_preserving(tokenizer)
    assert is_chat_template_stop_token_trained(tokenizer)


def test_grpo_plays_our_episodes(
    nano: tuple[Any, Any], toy_id: str, tmp_path: Path, capsys: Any
) -> None:
    spec = trl_spec(toy_id, size=8, env_kwargs={"costs": {"unsubmitted": 0.5}})
    trainer = grpo(nano, spec, tmp_path)
    logged = [row for row in trainer.state.log_history if "reward" in row]
    assert len(logged) == 2
    # An untrained model calls nothing, which is the worst outcome.
    assert logged[0]["reward"] == pytest.approx(-0.5)
    assert logged[0]["env/submitted"] == 0.0
    assert logged[0]["env/masked"] == 0.0
    pairs = zip(trainer.environments[::2], trainer.environments[1::2], strict=True)
    tasks = [(a._episode.task.task_id, b._episode.task.task_id) for a, b in pairs]
    assert all(first == second for first, second in tasks)
    assert len({first for first, _ in tasks}) == 2


def test_masked_rollouts_move_nothing(nano: tuple[Any, Any], toy_id: str, tmp_path: Path) -> None:
    spec = trl_spec(toy_id, size=4)
    rows = [{**row, "index": 13_000} for row in spec.train_dataset]
    trainer = grpo(nano, replace(spec, train_dataset=datasets.Dataset.from_list(rows)), tmp_path)
    for row in trainer.state.log_history[:2]:
        assert row["reward"] is None
        assert row["env/masked"] == 1.0
        assert row["grad_norm"] == 0.0


@pytest.mark.parametrize(("patience", "unsubmitted", "ends"), [(0, 0, 6), (2, 0, 3), (2, None, 6)])
def test_learning_ends_where_nothing_moves_it_any_more(
    nano: tuple[Any, Any],
    toy_id: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    patience: int,
    unsubmitted: float | None,
    ends: int,
) -> None:
    from healthgym.integrations.trl import phases
    from healthgym.integrations.trl.rollouts import Rollouts

    if unsubmitted is None:
        # What is paid differs within every group.
        paid = iter(range(100))
        monkeypatch.setattr(
            Rollouts, "reward", lambda self, prompts, **rest: [float(next(paid)) for _ in prompts]
        )
    settings = Reinforced(steps=3, batch=4, group=2, minibatch=2, unsubmitted=unsubmitted or 0.0)
    config = TrainConfig(
        toy_id, {"reward": "sparse"}, reinforced=replace(settings, patience=patience), threads=1
    )
    steps: list[int] = []
    run = phases.Stage(
        "grpo",
        replace(config, max_new_tokens=4, max_length=64),
        RunFolder(tmp_path),
        lambda model: None,
        lambda step, shown: steps.append(step),
    )
    model, tokenizer = nano
    phases.reinforce(copy.deepcopy(model), tokenizer, run)
    assert steps[-1] == ends


def test_two_environments_train_side_by_side(
    nano: tuple[Any, Any], toy_id: str, tmp_path: Path
) -> None:
    trainer = grpo(nano, trl_spec({"a": toy_id, "b": toy_id}, size=8), tmp_path)
    assert {type(slot).__name__ for slot in trainer.environments} <= {"a", "b"}
    assert trainer.state.log_history[0]["reward"] == 0.0


class Player:
    """Stands in for a model: replies by a script, whatever it is asked."""

    device = "cpu"

    def __init__(self, tokenizer: Any, replies: list[str]) -> None:
        self.tokenizer = tokenizer
        self.replies = iter(replies)

    def generate(self, input_ids: Any, **_: Any) -> Any:
        ids = self.tokenizer(next(self.replies))["input_ids"]
        more = torch.tensor([ids] * len(input_ids))
        return torch.cat([input_ids, more], dim=1)


def calls(name: str, **arguments: Any) -> str:
    body = json.dumps({"name": name, "arguments": arguments})
    return f"<tool_call>{body}</tool_call><|im_end|>"


@pytest.mark.parametrize(
    ("replies", "submitted", "turns"),
    [
        ([calls("finish", value=[-5]), "Done.<|im_end|>"], True, 1),
        ([calls("finish", value=[-5]), calls("finish", value=[1]), "Done.<|im_end|>"], True, 1),
        (["I would rather not.<|im_end|>"], False, 0),
        ([calls("search_observations", patient="S1", code="MG")] * 6, False, 5),
        ([calls("no_such_tool"), "Done.<|im_end|>"], False, 1),
        ([calls("finish", value="1"), "never ended"], False, 1),
        (
            ['{"name": "finish", "arguments": {"value": [-5]}}<|im_end|>', "Done.<|im_end|>"],
            True,
            1,
        ),
        (["<tool_call>finish", calls("finish", value=[-5]), "Done.<|im_end|>"], True, 2),
        ([calls("finish", value=[-5])[:-19], "Done.<|im_end|>"], False, 1),
    ],
    ids=[
        "submits",
        "submits-twice",
        "declines",
        "repeats-itself",
        "unknown-tool",
        "never-ends",
        "without-tags",
        "broken-then-whole",
        "broken",
    ],
)
def test_evaluation_plays_to_the_end(
    nano: tuple[Any, Any], toy_id: str, replies: list[str], submitted: bool, turns: int
) -> None:
    from healthgym.integrations.trl.rollout import Sampling, play

    _, tokenizer = nano
    env = make_health_env(toy_id)
    (played,) = play(Player(tokenizer, replies), tokenizer, env, [("test", 0)], Sampling())
    assert played.episode.submitted() is submitted
    assert len(played.episode.turns) == turns


def test_an_outage_masks_the_episode_that_it_ends_and_no_other(nano: tuple[Any, Any]) -> None:
    from healthgym.integrations.trl.evaluation import gain, score
    from healthgym.integrations.trl.rollout import Sampling, play

    _, tokenizer = nano
    says = completion(calls=[("agree", '{"price": 7}')])
    with stand_in(says, Reply("{}", 503)) as server:
        seller = EndpointSeat(Endpoint(server.base_url, "m", retries=0))
        config = EpisodeConfig(max_turns=4)
        env = HealthEnv(
            Market(), SparseReward(), config=config, role="buyer", counterparts={"seller": seller}
        )
        player = Player(tokenizer, [calls("agree", price=7), "Done.<|im_end|>"])
        played = play(player, tokenizer, env, [("test", 0), ("test", 1)], Sampling())
    well, lost = played
    assert not well.outage
    assert well.episode.settled
    assert "EndpointRefusedError" in lost.outage
    assert not lost.episode.settled
    found = score("model", played)
    assert found.total.episodes == 1
    assert found.masked == (lost.episode.task.task_id,)
    assert lost.episode.task.task_id not in found.solved
    assert type(found).from_dict(json.loads(json.dumps(found.to_dict()))) == found
    task = lost.episode.task.task_id
    whole = replace(found, solved={**found.solved, task: True}, masked=())
    assert gain(whole, found).estimate == 0.0
    with pytest.raises(InfrastructureError, match="503"):
        score("model", [lost])


def test_evaluation_sees_the_tokens_of_training(nano: tuple[Any, Any], toy_id: str) -> None:
    from healthgym.integrations.trl.demonstrations import demonstrate
    from healthgym.integrations.trl.labels import labelled
    from healthgym.integrations.trl.rollout import Sampling, play

    _, tokenizer = nano
    env = make_health_env(toy_id)
    demo = demonstrate(env, "train", 0)
    replies = [
        calls(c["function"]["name"], **json.loads(c["function"]["arguments"]))
        for message in demo.messages
        for c in message.get("tool_calls", [])
    ]
    player = Player(tokenizer, [*replies, "Done.<|im_end|>"])
    (played,) = play(player, tokenizer, env, [("train", 0)], Sampling())
    assert played.episode.verdict().success
    row = labelled(tokenizer, demo.messages, json.loads(demo.tools))
    # The template ends with a line break that nothing follows.
    assert played.tokens == len(row["input_ids"]) - 1


def test_a_small_model_reads_each_conversation_once_and_says_the_same(
    nano: tuple[Any, Any], toy_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from healthgym.integrations.trl import rollout
    from healthgym.integrations.trl.demonstrations import demonstrate
    from healthgym.integrations.trl.reading import Reader

    model, tokenizer = nano
    env, read = make_health_env(toy_id), []
    said = iter(demonstrate(env, "train", 0).messages[1::2])
    slot = rollout.Talk(tokenizer.encode("<|im_start|>user\nAge?<|im_end|>\n"), [])
    piece_by_piece = Reader.replies
    monkeypatch.setattr(
        Reader,
        "replies",
        lambda self, memories, fresh, *rest: (
            read.append(len(fresh[0])),
            piece_by_piece(self, memories, fresh, *rest),
        )[1],
    )
    sampling = rollout.Sampling(max_new_tokens=5)
    for _ in range(3):
        (kept,) = rollout.generate(model, tokenizer, [slot], sampling)
        with monkeypatch.context() as whole:
            whole.setattr(rollout, "readable", lambda model: False)
            (anew,) = rollout.generate(model, tokenizer, [rollout.Talk(slot.ids, [])], sampling)
        assert kept == anew
        slot.ids += [*kept, *tokenizer.encode(str(next(said)))]
    assert sum(read) < len(slot.ids)


def test_a_run_ends_in_a_table_and_a_report(
    config: TrainConfig, tmp_path: Path, capsys: Any
) -> None:
    from healthgym.integrations.trl.stages import Pipeline

    folder = RunFolder(tmp_path / "run")
    folder.begin(config)
    Pipeline(folder, config).run()
    printed = capsys.readouterr().out
    assert "SFT+GRPO" in printed
    assert "[13/13] report" in printed
    assert "SFT+GRPO - SFT+SFT" in printed
    assert "transfer: twice" in printed
    assert "has not learned to copy" in printed
    for name in ("config.json", "metrics.jsonl", "learning_curves.png", "report.html"):
        assert (folder.path / name).stat().st_size > 0
    page = (folder.path / "report.html").read_text(encoding="utf-8")
    assert "data:image/png;base64," in page
    assert "<h2>Settings and versions</h2>" in page
    assert index(page)["runs"] == ["base", "SFT", "SFT+SFT", "SFT+GRPO"]
    assert len(bodies(page)) == 4 * config.episodes
    stages = {row["stage"] for row in folder.curve()}
    assert stages == {"sft", "grpo", "control"}
    logged = [row for row in folder.curve() if row["stage"] == "grpo" and "reward" in row]
    for row in logged:
        assert {"groups/informative", "entropy", "env/masked", "rollout/tokens"} <= row.keys()
    for name in ("base", "sft", "control", "grpo"):
        lines = (folder.path / "trajectories" / f"{name}.jsonl").read_text().splitlines()
        assert len(lines) == config.episodes
        assert all('"task_id":"toy-records/test/' in line for line in lines)

    # Nothing is done twice.
    before = {path: path.stat().st_mtime_ns for path in folder.path.rglob("*.safetensors")}
    Pipeline(folder, config).run()
    assert "(done before)" in capsys.readouterr().out
    assert {path: path.stat().st_mtime_ns for path in before} == before


@pytest.mark.parametrize("stage", [pytest.param("sft", marks=pytest.mark.slow), "grpo"])
def test_a_killed_run_goes_on_to_the_same_weights(
    config: TrainConfig, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stage: str
) -> None:
    from safetensors.torch import load_file

    from healthgym.integrations.trl import phases
    from healthgym.integrations.trl.stages import Pipeline

    whole, killed = RunFolder(tmp_path / "whole"), RunFolder(tmp_path / "killed")
    whole.begin(config)
    Pipeline(whole, config).run()
    killed.begin(config)
    log = RunFolder.log

    def kill(self: RunFolder, name: str, step: int, figures: Any) -> None:
        if name == stage and step == 3:
            raise KeyboardInterrupt
        log(self, name, step, figures)

    with monkeypatch.context() as patch:
        patch.setattr(RunFolder, "log", kill)
        with pytest.raises(KeyboardInterrupt):
            Pipeline(killed, config).run()
    assert phases.last_checkpoint(killed.path / "work" / stage).name == "checkpoint-2"
    assert stage not in killed.results()
    Pipeline(killed, config).run()
    ours, theirs = (
        load_file(run.path / "checkpoints" / stage / "model.safetensors") for run in (killed, whole)
    )
    assert all(torch.equal(ours[name], theirs[name]) for name in theirs)
    steps = [
        [row["step"] for row in run.curve() if row["stage"] == stage and "loss" in row]
        for run in (killed, whole)
    ]
    assert steps[0] == steps[1] == [1, 2, 3, 4]


def test_demonstrations_that_fit_nowhere_are_an_error(nano: tuple[Any, Any]) -> None:
    from healthgym.integrations.trl.phases import that_fit

    model, _ = nano
    rows = [{"input_ids": [1] * length, "labels": [1] * length} for length in (600, 500, 512)]
    assert [len(row["input_ids"]) for row in that_fit(model, rows)] == [500, 512]
    with pytest.raises(ConfigurationError, match="512 tokens: the shortest has 600"):
        that_fit(model, rows[:1])
    with pytest.raises(ConfigurationError, match="there are none"):
        that_fit(model, [])


def test_half_a_checkpoint_is_not_gone_on_from(tmp_path: Path) -> None:
    from healthgym.integrations.trl.phases import last_checkpoint

    for step in (5, 10, 9):
        place = tmp_path / f"checkpoint-{step}"
        place.mkdir()
        for name in ("trainer_state.json", "rng_state.pth"):
            (place / name).touch()
    (tmp_path / "checkpoint-10" / "rng_state.pth").unlink()
    assert last_checkpoint(tmp_path) == tmp_path / "checkpoint-9"
    shutil.rmtree(tmp_path)
    assert last_checkpoint(tmp_path) is None


@pytest.mark.usefixtures("config")
def test_the_command_line_runs_and_refuses(toy_id: str, tmp_path: Path, capsys: Any) -> None:
    from healthgym.integrations.trl.command import main

    out = tmp_path / "run"
    arguments = [toy_id, "--out", str(out), "--quick", "--threads", "1"]
    assert main([*arguments, "--episodes", "3", "--demos", "20"]) == 0
    assert "its figures are no result" in capsys.readouterr().err
    assert main(arguments) == 2
    assert "--resume" in capsys.readouterr().err
    assert main(["--resume", str(tmp_path / "nothing")]) == 2
    assert main(["--resume", str(out)]) == 0
    assert main(["No/Such-v0", "--out", str(tmp_path / "other")]) == 2


def test_rollouts_pay_each_reply(nano: tuple[Any, Any], toy_id: str) -> None:
    from types import SimpleNamespace

    from healthgym.integrations.trl.demonstrations import demonstrate
    from healthgym.integrations.trl.mixture import Mixture
    from healthgym.integrations.trl.rollout import Sampling
    from healthgym.integrations.trl.rollouts import Rollouts

    _, tokenizer = nano
    mixture = Mixture({"": toy_id})
    envs = mixture.made(costs={"unsubmitted": 0.5})
    replies = [
        calls(c["function"]["name"], **json.loads(c["function"]["arguments"]))
        for message in demonstrate(envs[""], "train", 0).messages
        for c in message.get("tool_calls", [])
    ]
    for said, reward in (
        ([*replies, "Done.<|im_end|>"], 1.0),
        ([calls("no_such_tool"), "I would rather not.<|im_end|>"], -0.5),
        (["I would rather not.<|im_end|>"], -0.5),
    ):
        player = Player(tokenizer, list(said))
        player.eval = lambda: None  # type: ignore[attr-defined]
        player.train = lambda mode: None  # type: ignore[attr-defined]
        player.training = True  # type: ignore[attr-defined]
        accelerator = SimpleNamespace(unwrap_model=lambda model: model)
        trainer = SimpleNamespace(model=player, accelerator=accelerator)
        rollouts = Rollouts(mixture, envs, tokenizer, Sampling())
        (row,) = rollouts.rows(1)
        made = rollouts([row["prompt"]], trainer)
        (outcome,), (earned,), (mask,) = (
            made[name] for name in ("outcome", "turn_rewards", "env_mask")
        )
        runs = sum(own and not before for before, own in zip([0, *mask], mask, strict=False))
        assert len(earned) == runs == len(said)
        assert sum(earned) == pytest.approx(outcome.reward) == pytest.approx(reward)
        assert sum(outcome.turns) == pytest.approx(reward)
