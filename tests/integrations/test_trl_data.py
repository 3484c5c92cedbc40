"""What a trainer reads: rows of tasks, demonstrations, and the chat format they are written in."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from typing import Any

import gymnasium
import pytest

from healthgym.errors import ConfigurationError, HealthGymError
from healthgym.integrations.trl import chat, demonstrations, trl_spec
from healthgym.integrations.trl.config import Reinforced, TrainConfig
from healthgym.integrations.trl.folder import RunFolder
from healthgym.integrations.trl.labels import labelled
from healthgym.integrations.trl.models import _texts
from healthgym.registration import make_health_env

datasets = pytest.importorskip("datasets")
pytest.importorskip("transformers")


@pytest.fixture(scope="module")
def demos(toy_id: str) -> list[Any]:
    return list(demonstrations(make_health_env(toy_id), "train", 60))


@pytest.fixture(scope="module")
def tokenizer(demos: list[Any]) -> Any:
    from healthgym.integrations.trl.tiny import train_tokenizer

    return train_tokenizer(_texts(demos), 600)


# -- rows ------------------------------------------------------------------------------------


def test_a_row_is_a_task(toy_id: str) -> None:
    spec = trl_spec(toy_id, size=5, first=3)
    assert [row["index"] for row in spec.train_dataset] == [3, 4, 5, 6, 7]
    assert {row["split"] for row in spec.train_dataset} == {"train"}
    assert spec.train_dataset[0]["prompt"] == [{"role": "user", "content": ""}]
    slot = spec.environment_factory()
    row = spec.train_dataset[0]
    assert slot.reset(**row) == make_health_env(toy_id).open_episode("train", 3).instruction()


def test_several_environments_share_a_data_set(toy_id: str) -> None:
    spec = trl_spec(
        {"a": toy_id, "b": toy_id},
        size=5,
        env_kwargs={"b": {"reward": "sparse"}},
        system="Be kind.",
    )
    assert [row["environment"] for row in spec.train_dataset] == ["a", "b", "a", "b", "a"]
    assert [row["index"] for row in spec.train_dataset] == [0, 0, 1, 1, 2]
    assert set(spec.environment_factory) == {"a", "b"}
    assert [message["role"] for message in spec.train_dataset[0]["prompt"]] == ["system", "user"]
    rewards = {name: make._env.reward for name, make in spec.environment_factory.items()}
    assert type(rewards["a"]) is not type(rewards["b"])


@pytest.mark.parametrize(
    "arguments",
    [
        {"size": 9},
        {"size": 4, "first": 5},
        {"size": 0},
        {"split": "exam"},
        {"env_kwargs": {"colour": 1, "limit": 8}},
    ],
)
def test_tasks_that_do_not_exist_are_refused(toy_id: str, arguments: dict[str, Any]) -> None:
    with pytest.raises((ConfigurationError, TypeError)):
        trl_spec(toy_id, **{"env_kwargs": {"limit": 8}, "size": 8, **arguments})


# -- demonstrations ----------------------------------------------------------------------------


def test_a_demonstration_is_the_oracles_episode(demos: list[Any], toy_id: str) -> None:
    first = demos[0]
    assert first.task_id == "toy-records/train/0"
    roles = [message["role"] for message in first.messages]
    assert roles[0] == "user"
    assert roles[1:-1] == ["assistant", "tool"] * ((len(roles) - 2) // 2)
    assert first.messages[-1] == {"role": "assistant", "content": "Done."}
    last_call = first.messages[-3]["tool_calls"][0]["function"]
    assert last_call["name"] == "finish"
    # Playing the calls again gives the answers in the messages.
    episode = make_health_env(toy_id).open_episode("train", 0)
    for call, answer in zip(first.messages[1:-1:2], first.messages[2:-1:2], strict=True):
        assert episode.step(call["tool_calls"][0]).observation == answer["content"]
    assert episode.verdict().success


def test_inertia_leaves_out_what_changes_the_record(toy_id: str) -> None:
    env = make_health_env(toy_id)
    whole = list(demonstrations(env, "train", 80))
    inert = list(demonstrations(env, "train", 80, inertia=1.0))
    assert {demo.success for demo in whole} == {True}
    ordered = [any("create_order" in str(m) for m in demo.messages) for demo in whole]
    assert any(ordered)
    assert not any("create_order" in str(m) for demo in inert for m in demo.messages)
    # Not acting is wrong exactly where there was something to do.
    assert [demo.success for demo in inert] == [not acted for acted in ordered]
    some = [demo.success for demo in demonstrations(env, "train", 80, inertia=0.5)]
    assert sum(demo.success for demo in inert) < sum(some) < 80
    with pytest.raises(ConfigurationError, match="share"):
        next(demonstrations(env, inertia=1.5))


def test_demonstrators_take_turns_by_their_weights() -> None:
    kwargs = {"difficulty": "drill", "task_types": ["v1-t3", "v1-t9"]}
    env = make_health_env("HealthAgent/FhirRecord-v1", kwargs)
    mixed = {"oracle": 1.0, "house": 2.0}
    shown = list(demonstrations(env, "train", 90, policy=mixed))
    by = Counter(demo.policy for demo in shown)
    assert by.keys() == mixed.keys()
    assert 20 <= by["oracle"] <= 40
    assert all(demo.success for demo in shown if demo.policy == "oracle")
    assert not all(demo.success for demo in shown)
    alone = list(demonstrations(env, "train", 90))
    for one, other in zip(shown, alone, strict=True):
        assert one.task_id == other.task_id
        assert one.policy != "oracle" or one == other
    with pytest.raises(ConfigurationError, match="policies"):
        next(demonstrations(env, policy={}))


def test_wrapped_environments_are_demonstrated_and_strange_ones_refused() -> None:
    made = gymnasium.make("HealthAgent/FhirRecord-v1", difficulty="easy", max_episode_steps=50)
    assert made.unwrapped is not made
    plain = make_health_env("HealthAgent/FhirRecord-v1", {"difficulty": "easy"})
    assert list(demonstrations(made, size=2)) == list(demonstrations(plain, size=2))
    with pytest.raises(ConfigurationError, match="no environment of healthgym"):
        next(demonstrations(gymnasium.make("CartPole-v1")))


def test_an_oracle_that_fails_is_an_error(toy_id: str, monkeypatch: pytest.MonkeyPatch) -> None:
    env = make_health_env(toy_id)
    monkeypatch.setattr(env.family, "oracle", lambda instance, rng: [])
    with pytest.raises(HealthGymError, match=r"oracle failed toy-records/train/0 .*answer"):
        next(demonstrations(env))


def test_arrow_changes_nothing_in_a_demonstration(demos: list[Any]) -> None:
    """Arrow gives a column one type: with objects, each call would get all arguments there are."""
    table = datasets.Dataset.from_list([demo.row() for demo in demos])
    names = {"search_observations": {"patient", "code"}, "create_order": {"patient", "dose"}}
    seen = set()
    for row, demo in zip(table, demos, strict=True):
        assert json.loads(row["tools"]) == json.loads(demo.tools)
        for message in row["messages"]:
            for call in message["tool_calls"] or ():
                function = call["function"]
                arguments = json.loads(function["arguments"])
                assert set(arguments) == names.get(function["name"], {"value"})
                seen.add(function["name"])
    assert seen == {"search_observations", "create_order", "finish"}


def test_arrow_is_why_labels_are_made_before_the_data_set(demos: list[Any]) -> None:
    """With objects in the rows the numbers or the keys would change; if not, drop the detour."""
    calls = [{"arguments": {"value": [1.7]}}, {"arguments": {"patient": "S1", "dose": 2.0}}]
    plain = datasets.Dataset.from_list(calls)
    mixed = datasets.Dataset.from_list(calls, on_mixed_types="use_json")
    assert list(plain) != calls
    assert list(mixed) != calls


# -- the chat format -----------------------------------------------------------------------------


def test_pairs_of_digits_and_parts_of_times_are_tokens() -> None:
    from healthgym.integrations.trl.tiny import train_tokenizer

    text = "S1234567 at 2023-11-13T10:15:00+00:00: 12.5"
    tokenizer = train_tokenizer([text] * 20, 600)
    pieces = [tokenizer.decode([token]) for token in tokenizer(text)["input_ids"]]
    assert "".join(pieces) == text
    for part in ("12", "34", "56", "7", "2023-", "11-", "13T", "10:", "15"):
        assert part in pieces
    assert pieces[-3:] == ["12", ".", "5"]


@pytest.mark.parametrize("text", ["", "näïve ☃ 漢字", "line\n\nline", "<|im_start|>", "a\tb"])
def test_any_text_comes_back(tokenizer: Any, text: str) -> None:
    assert tokenizer.decode(tokenizer(text)["input_ids"]) == text


def test_a_longer_conversation_begins_with_the_shorter(tokenizer: Any, demos: list[Any]) -> None:
    for demo in demos[:10]:
        messages = list(demo.messages)
        whole = chat.render(tokenizer, messages, generate=False)
        for end in range(1, len(messages)):
            part = chat.render(tokenizer, messages[:end], generate=False)
            assert whole[: len(part)] == part


def test_the_suffix_is_what_the_template_writes(tokenizer: Any, demos: list[Any]) -> None:
    messages = list(demos[0].messages)
    before = chat.render(tokenizer, messages[:2], generate=False)
    after = chat.render(tokenizer, messages[:3], generate=True)
    ends = [place for place, token in enumerate(before) if token == tokenizer.eos_token_id]
    reply = messages[2]
    assert chat.suffix_ids(tokenizer, reply["name"], reply["content"]) == after[ends[-1] + 1 :]


def test_labels_cover_the_assistant_and_nothing_else(tokenizer: Any, demos: list[Any]) -> None:
    row = labelled(tokenizer, demos[0].messages, json.loads(demos[0].tools))
    assert len(row["input_ids"]) == len(row["labels"])
    kept = [token for token, label in zip(*row.values(), strict=True) if label != -100]
    assert [label for label in row["labels"] if label != -100] == kept
    replies = "".join(
        "".join(
            f'<tool_call>{{"name": "{call["function"]["name"]}", '
            f'"arguments": {call["function"]["arguments"]}}}</tool_call>'
            for call in message.get("tool_calls", [])
        )
        + message["content"]
        + "<|im_end|>"
        for message in demos[0].messages
        if message["role"] == "assistant"
    )
    assert tokenizer.decode(kept) == replies


def test_tools_are_listed_for_a_model_that_does_not_know_them(
    tokenizer: Any, demos: list[Any]
) -> None:
    import copy

    other = copy.deepcopy(tokenizer)
    other.chat_template = chat.chat_template(list_tools=True)
    tools = json.loads(demos[0].tools)
    text = other.decode(chat.render(other, list(demos[0].messages), tools, generate=False))
    assert "create_order(patient: string, dose: number): Order a dose of magnesium." in text


# -- the run folder --------------------------------------------------------------------------------


def test_settings_come_back(tmp_path: Any) -> None:
    config = TrainConfig("An/Env-v0", {"task_types": ["a"]}, reinforced=Reinforced(steps=3))
    assert TrainConfig.from_json(config.to_json()) == config
    folder = RunFolder(tmp_path)
    folder.begin(config)
    assert folder.config() == config
    with pytest.raises(ConfigurationError, match="--resume"):
        folder.begin(config)


@pytest.mark.parametrize("damage", ["", "{}", '{"env": 1}', "[]", '{"supervised": {"x": 1}}'])
def test_damaged_settings_are_named(damage: str) -> None:
    with pytest.raises(ConfigurationError, match="Not the settings"):
        TrainConfig.from_json(damage)


def test_groups_divide_the_batch() -> None:
    with pytest.raises(ConfigurationError, match="groups of 8"):
        TrainConfig("An/Env-v0", reinforced=Reinforced(batch=12))
    with pytest.raises(ConfigurationError, match="minibatches of 48"):
        TrainConfig("An/Env-v0", reinforced=Reinforced(batch=64, minibatch=48))


def test_small_steps_on_a_batch_are_counted() -> None:
    settings = Reinforced(steps=3, batch=64, reuse=2, minibatch=16)
    assert (settings.steps_per_batch, settings.updates) == (8, 24)
    assert replace(settings, minibatch=0).updates == 6


def test_a_metrics_file_survives_a_kill(tmp_path: Any) -> None:
    folder = RunFolder(tmp_path)
    for step in (1, 2, 3):
        folder.log("sft", step, {"loss": 1.0 / step})
    folder.log("grpo", 1, {"reward": 0.5})
    with folder.metrics.open("a") as file:
        file.write('{"stage": "grpo", "st')
    assert [row["step"] for row in folder.curve()] == [1, 2, 3, 1]
    folder.rewind("sft", 2)
    folder.log("sft", 3, {"loss": 0.1})
    assert [(row["stage"], row["step"]) for row in folder.curve()] == [
        ("sft", 1),
        ("sft", 2),
        ("grpo", 1),
        ("sft", 3),
    ]


def test_a_stage_is_done_once_its_result_is_written(tmp_path: Any) -> None:
    folder = RunFolder(tmp_path)
    assert folder.results() == {}
    folder.finish("base", {"parameters": 5})
    assert RunFolder(tmp_path).results() == {"base": {"parameters": 5}}
    assert not list(tmp_path.glob("*.part"))


def test_whose_part_has_a_counterpart_demonstrates_beside_it() -> None:
    env = make_health_env("HealthAgent/MedicationReconciliation-v1")
    (demo,) = demonstrations(env, "train", 1)
    assert demo.success


def test_a_model_made_for_long_episodes_has_room_for_them(toy_id: str) -> None:
    pytest.importorskip("transformers")
    from healthgym.integrations.trl.models import LONGEST, _texts, roomy
    from healthgym.integrations.trl.tiny import train_tokenizer

    demos = list(demonstrations(make_health_env(toy_id), "train", 3))
    tokenizer = train_tokenizer(_texts(demos), 500)
    needed = roomy(tokenizer, demos, 1)
    assert needed & (needed - 1) == 0
    assert roomy(tokenizer, demos, 2 * needed) == 2 * needed
    assert roomy(tokenizer, [], 64) == 64
    told = replace(demos[0], messages=({"role": "user", "content": "no " * 60_000},))
    assert roomy(tokenizer, [told], 64) == LONGEST
