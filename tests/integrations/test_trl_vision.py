"""Pictures in TRL: they reach the model's pixels in training, in play and in demonstrations."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from healthgym.core.seeding import Split
from healthgym.errors import ConfigurationError
from healthgym.integrations.trl import chat, demonstrations, environment_class, trl_spec
from healthgym.integrations.trl.rollout import Sampling, play
from healthgym.registration import make_health_env
from tests.core.signs import SIGNS_ID

datasets = pytest.importorskip("datasets")
trl = pytest.importorskip("trl")
torch = pytest.importorskip("torch")
pytest.importorskip("PIL")

from healthgym.integrations.trl.policy import ModelPolicy  # noqa: E402
from healthgym.integrations.trl.vision import (  # noqa: E402 - needs what is looked for above
    PictureCollator,
    PictureGRPOTrainer,
    picture_dataset,
)
from healthgym.policies.evaluation import evaluate  # noqa: E402
from tests.integrations import eyes  # noqa: E402

# Deprecations the libraries raise about each other, none of them for something chosen here.
pytestmark = [
    pytest.mark.filterwarnings("ignore::FutureWarning"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::UserWarning"),
]
SETTINGS = {
    "use_cpu": True,
    "bf16": False,
    "gradient_checkpointing": False,
    "dataloader_pin_memory": False,
    "report_to": "none",
    "save_strategy": "no",
    "logging_steps": 1,
    "disable_tqdm": True,
}


@pytest.fixture(scope="module", autouse=True)
def one_thread() -> Iterator[None]:
    """Models as small as these are no faster on several cores, and far slower on busy ones."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@pytest.fixture(scope="module")
def env() -> Any:
    return make_health_env(SIGNS_ID)


@pytest.fixture(scope="module")
def processor(env: Any) -> Any:
    return eyes.processor(demonstrations(env, size=8))


@pytest.fixture(scope="module")
def demos(env: Any) -> list[Any]:
    return list(demonstrations(env, size=8, images=True))


# -- what the environment and the demonstrations hand over -------------------------------------


def test_pictures_are_handed_over_only_where_asked_for(env: Any) -> None:
    blind, seeing = (environment_class(env, images=images)() for images in (False, True))
    for slot in (blind, seeing):
        slot.reset(split="train", index=0)
    assert blind.look() == "The sign, 32 x 24 pixels."
    image, text = seeing.look()
    assert text == {"type": "text", "text": blind._episode.turns[0].observation}
    picture = env.family.generator.generate(Split.TRAIN, 0).start
    assert image["image"].mode == "RGB"
    assert (np.asarray(image["image"]) == picture[:, :, None]).all()
    assert [block["type"] for block in seeing.halves()] == ["image", "image", "text"]
    assert seeing.ask().startswith("I have not seen it.")


def test_pictures_are_bounded(env: Any) -> None:
    slot = environment_class(env, images=True, max_image_side=16)()
    slot.reset(split="train", index=0)
    assert slot.look()[0]["image"].size == (16, 12)
    with pytest.raises(ConfigurationError, match="max_image_side"):
        environment_class(env, images=True, max_image_side=0)


def test_the_spec_passes_pictures_on() -> None:
    factory = trl_spec(SIGNS_ID, size=2, images=True, max_image_side=16).environment_factory
    slot = factory()  # type: ignore[operator]
    slot.reset(split="train", index=0)
    assert slot.look()[0]["image"].size == (16, 12)


def test_demonstrations_differ_in_pictures_only(env: Any, demos: list[Any]) -> None:
    for plain, seen in zip(demonstrations(env, size=8), demos, strict=True):
        assert "image" not in json.dumps(plain.messages)
        for told, message in zip(plain.messages, seen.messages, strict=True):
            if isinstance(message["content"], list):
                *images, text = message["content"]
                assert {image["type"] for image in images} == {"image"}
                message = {**message, "content": text["text"]}
            assert message == told


def test_a_data_set_gives_every_pixel_back_and_no_empty_image(demos: list[Any]) -> None:
    rows = picture_dataset(demos)
    assert len(rows) == len(demos)
    for row, demo in zip(rows, demos, strict=True):
        assert row["images"] == []
        assert row["tools"] == demo.tools
        for message, told in zip(row["messages"], demo.messages, strict=True):
            if isinstance(told["content"], list):
                image, text = message["content"]
                assert np.array_equal(image["image"], told["content"][0]["image"])
                assert "image" not in text
            else:
                assert message == told


def test_rows_of_the_command_line_make_a_data_set_too(demos: list[Any], processor: Any) -> None:
    from healthgym.cli.records import _picture_url

    written = [json.loads(json.dumps(demo.row(), default=_picture_url)) for demo in demos]
    collate = PictureCollator(processor)
    read, made = (collate(list(picture_dataset(rows))) for rows in (written, demos))
    assert read.keys() == made.keys()
    assert all(torch.equal(read[name], made[name]) for name in made)


# -- supervised --------------------------------------------------------------------------------


def test_a_batch_holds_tools_pictures_and_what_is_learned(demos: list[Any], processor: Any) -> None:
    batch = PictureCollator(processor)(list(picture_dataset(demos[:3])))
    tokenizer = processor.tokenizer
    assert batch["image_grid_thw"].tolist() == [[1, 4, 4]] * 3
    assert batch["pixel_values"].shape == (48, 3 * 2 * eyes.PATCH**2)
    for ids, labels, demo in zip(batch["input_ids"], batch["labels"], demos, strict=False):
        text = tokenizer.decode(ids)
        assert '"name": "halves"' in text
        assert text.count("<|image_pad|>") == 4
        side = json.loads(demo.messages[3]["tool_calls"][0]["function"]["arguments"])["side"]
        learned = tokenizer.decode(labels[labels != -100])
        assert learned.split("<|im_end|>\n") == [
            '\n<tool_call>\n{"name": "look", "arguments": {}}\n</tool_call>',
            f'\n<tool_call>\n{{"name": "submit", "arguments": {{"side": "{side}"}}}}\n</tool_call>',
            "Done.",
            "",
        ]
    with pytest.raises(ConfigurationError):
        PictureCollator(tokenizer)


def test_rows_of_several_lengths_are_padded(env: Any, processor: Any, demos: list[Any]) -> None:
    longer = next(demonstrations(env, size=1, images=True, system="Look at it. " * 9))
    batch = PictureCollator(processor)(list(picture_dataset([demos[0], longer])))
    short, whole = batch["attention_mask"].sum(1).tolist()
    assert short < whole == batch["input_ids"].shape[1]
    assert (batch["labels"][0, short:] == -100).all()
    assert (batch["input_ids"][0, short:] == processor.tokenizer.pad_token_id).all()
    alone = PictureCollator(processor)(list(picture_dataset([demos[0]])))
    for name in ("input_ids", "labels", "mm_token_type_ids"):
        assert torch.equal(batch[name][0, :short], alone[name][0])


def test_training_and_play_see_the_same_tokens(
    env: Any, processor: Any, demos: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is learned, said by a model in play, gives the conversation it was learned from."""
    (row,) = PictureCollator(processor)(list(picture_dataset(demos[:1])))["input_ids"].tolist()
    says = Scripted(processor, "\n" + LOOK, "\n" + submit(demos[0]), DONE)
    monkeypatch.setattr("healthgym.integrations.trl.rollout.generate", says)
    played = play(None, processor, env, [(Split.TRAIN, 0)], Sampling(images=True))
    assert played[0].episode.verdict().success
    # The template ends with a line end that no model writes.
    assert row[: len(says.ids)] == says.ids
    assert processor.tokenizer.decode(row[len(says.ids) :]) == "\n"
    assert [image.size for image in says.images] == [(32, 24)]


class Scripted:
    """Stands in for generation in play: says what it is told to, and keeps what it saw."""

    def __init__(self, processor: Any, *texts: str) -> None:
        self.replies = [reply(processor, text) for text in texts]

    def __call__(self, model: Any, processing: Any, slots: Any, sampling: Any) -> list[list[int]]:
        self.ids, self.images = slots[0].ids, slots[0].images
        return [self.replies.pop(0)]


def call(name: str, **arguments: Any) -> str:
    body = json.dumps({"name": name, "arguments": arguments})
    return f"<tool_call>\n{body}\n</tool_call>"


LOOK, HALVES, ASK = call("look"), call("halves"), call("ask")
LEFT, RIGHT, DONE = call("submit", side="left"), call("submit", side="right"), "Done."


def submit(demo: Any) -> str:
    side = json.loads(demo.messages[3]["tool_calls"][0]["function"]["arguments"])["side"]
    return call("submit", side=side)


def reply(processor: Any, text: str) -> list[int]:
    ids: list[int] = processor.tokenizer.encode(f"{text}<|im_end|>", add_special_tokens=False)
    return ids


def supervise(model: Any, processor: Any, demos: list[Any], steps: int, out: Path) -> None:
    trainer = trl.SFTTrainer(
        model=model,
        processing_class=processor,
        train_dataset=picture_dataset(demos),
        data_collator=PictureCollator(processor),
        args=trl.SFTConfig(
            str(out),
            max_steps=steps,
            per_device_train_batch_size=16 if steps > 1 else 4,
            learning_rate=2e-3,
            lr_scheduler_type="constant_with_warmup",
            warmup_steps=min(10, steps - 1),
            max_length=None,
            remove_unused_columns=False,
            **SETTINGS,
        ),
    )
    trainer.train()


def vision_weights(model: Any) -> Any:
    return torch.cat([weight.detach().flatten() for weight in model.model.visual.parameters()])


def test_a_supervised_step_learns_from_pixels(
    demos: list[Any], processor: Any, tmp_path: Path
) -> None:
    model = eyes.model(processor)
    before = vision_weights(model).clone()
    supervise(model, processor, demos, 1, tmp_path)
    assert (vision_weights(model) != before).float().mean() > 0.5


# -- reinforced --------------------------------------------------------------------------------

#: Four rollouts of a group: pictures early, late, two at once, and never.
MIXED = ([LOOK, LEFT, DONE], [ASK, LOOK, RIGHT, DONE], [ASK, HALVES, LEFT, DONE], [ASK, DONE])
#: Those that look are over before those that do not.
EARLY = ([LOOK, DONE], [ASK, ASK, RIGHT, DONE], [ASK, ASK, LEFT, DONE], [LOOK, DONE])
BLIND = ([ASK, LEFT, DONE], [ASK, RIGHT, DONE], [LEFT, DONE], [DONE])


def reinforce(
    trainer_class: Any,
    processor: Any,
    rollouts: Any,
    out: Path,
    env_id: str = SIGNS_ID,
    **settings: Any,
) -> tuple[Any, list[dict[str, Any]]]:
    """One GRPO step with replies put into the model's mouth; returns what each forward pass saw."""
    model = eyes.model(processor)
    spec = trl_spec(env_id, size=4, images=True, max_image_side=64)
    trainer = trainer_class(
        model=model,
        processing_class=processor,
        **spec.arguments(),
        args=trl.GRPOConfig(
            str(out),
            max_steps=1,
            per_device_train_batch_size=4,
            num_generations=4,
            max_tool_calling_iterations=6,
            learning_rate=1e-3,
            beta=0.0,
            **{
                "max_completion_length": 200,
                "generation_kwargs": {"max_new_tokens": 2},
                **settings,
            },
            **SETTINGS,
        ),
    )
    left = [[reply(processor, text) for text in texts] for texts in rollouts]
    live = list(range(4))
    generate = trainer._generate_single_turn

    def speak(prompt_ids: Any, images: Any, fields: Any, num_generations: int, **more: Any) -> Any:
        # The model generates all the same, pictures included.
        _, logprobs = generate(prompt_ids, images, fields, num_generations, **more)
        said = [left[rollout].pop(0) for rollout in live]
        live[:] = [rollout for rollout in live if left[rollout]]
        return said, logprobs

    trainer._generate_single_turn = speak
    seen: list[dict[str, Any]] = []

    def note(module: Any, args: Any, kwargs: Any) -> None:
        seen.append({"of": module, "learning": torch.is_grad_enabled(), **kwargs})

    hooks = [
        part.register_forward_pre_hook(note, with_kwargs=True)
        for part in (model, model.model.visual)
    ]
    trainer.train()
    for hook in hooks:
        hook.remove()
    return trainer, seen


@pytest.mark.parametrize("rollouts", [MIXED, EARLY, BLIND])
def test_a_step_of_grpo_sees_the_pictures_of_tool_results(
    processor: Any, tmp_path: Path, rollouts: Any
) -> None:
    trainer, seen = reinforce(PictureGRPOTrainer, processor, rollouts, tmp_path)
    model = trainer.model
    (learned,) = [each for each in seen if each["of"] is model and each["learning"]]
    pictures = sum(text == LOOK for rollout in rollouts for text in rollout)
    pictures += 2 * sum(text == HALVES for rollout in rollouts for text in rollout)
    marks = (learned["input_ids"] == model.config.image_token_id).sum().item()
    grid = learned.get("image_grid_thw")
    assert (0 if grid is None else len(grid)) == pictures
    if grid is not None:
        assert learned["pixel_values"].shape[0] == grid.prod(1).sum()
        assert marks == grid.prod(1).sum() // 4
        # Generation saw them as well, from the turn after they were shown.
        assert {each["learning"] for each in seen if each["of"] is not model} == {True, False}
    log = trainer.state.log_history[0]
    assert log["tools/failure_frequency"] == 0
    assert log["env/masked"] == 0
    assert np.isfinite(log["loss"])


def test_a_step_of_grpo_moves_the_eyes(processor: Any, tmp_path: Path) -> None:
    before = vision_weights(eyes.model(processor))
    trainer, _ = reinforce(PictureGRPOTrainer, processor, MIXED, tmp_path)
    assert trainer.state.log_history[0]["reward_std"] > 0
    assert (vision_weights(trainer.model) != before).float().mean() > 0.5


def test_trl_alone_fails_where_only_the_blind_go_on(processor: Any, tmp_path: Path) -> None:
    """Once this fails, PictureGRPOTrainer is not needed any more."""
    with pytest.raises(ValueError, match="token_type_ids"):
        reinforce(trl.GRPOTrainer, processor, EARLY, tmp_path)


@pytest.mark.slow
def test_a_step_of_grpo_on_chest_ct(tmp_path: Path) -> None:
    """Half a minute on one core, most of it the scans."""
    env_id = "HealthAgent/CtAbnormality-v0"
    demos = list(demonstrations(make_health_env(env_id), size=3, images=True, max_image_side=64))
    seeing = eyes.processor(demonstrations(make_health_env(env_id), size=3), vocabulary=3000)
    view, sheet, submit = call("view_slice"), call("contact_sheet"), call("submit")
    rollouts = (
        [view, submit, DONE],
        [sheet, view, DONE],
        [submit, DONE],
        [view, sheet, submit, DONE],
    )
    trainer, seen = reinforce(
        PictureGRPOTrainer, seeing, rollouts, tmp_path, env_id, max_completion_length=1000
    )
    (learned,) = [each for each in seen if each["of"] is trainer.model and each["learning"]]
    assert len(learned["image_grid_thw"]) == 5
    assert trainer.state.log_history[0]["tools/failure_frequency"] == 0
    batch = PictureCollator(seeing)(list(picture_dataset(demos)))
    shown = sum(
        block["type"] == "image"
        for demo in demos
        for message in demo.messages
        if isinstance(message["content"], list)
        for block in message["content"]
    )
    assert len(batch.get("image_grid_thw", ())) == shown


def test_a_report_shows_the_pictures_of_its_episodes(env: Any) -> None:
    from healthgym.integrations.trl.report import _episode

    env.reset(options={"index": 0})
    for action in ("look", "halves", "submit"):
        env.step({"name": action, "arguments": {"side": "left"} if action == "submit" else {}})
    run = env.trajectory()
    assert _episode("a", run).count("<img") == 3
    lost = replace(run, env_id="Nowhere-v0")
    assert "2 pictures not at hand" in _episode("a", lost)


def test_a_picture_that_does_not_fit_ends_the_rollout(processor: Any, tmp_path: Path) -> None:
    """As the docstring of the environment says: TRL drops the result, text and picture."""
    rollouts = tuple([LOOK] for _ in range(4))
    trainer, seen = reinforce(
        PictureGRPOTrainer, processor, rollouts, tmp_path, max_completion_length=12
    )
    assert not any(each["of"] is trainer.model.model.visual for each in seen)
    assert trainer.state.log_history[0]["env/submitted"] == 0


# -- play --------------------------------------------------------------------------------------


def test_play_needs_a_processor_to_show_pictures(env: Any, processor: Any) -> None:
    with pytest.raises(ConfigurationError, match="processor"):
        play(None, processor.tokenizer, env, [(Split.TEST, 0)], Sampling(images=True))


@pytest.mark.parametrize("images", [True, False])
def test_an_untrained_model_plays_to_the_end(env: Any, processor: Any, images: bool) -> None:
    tasks = [(Split.TEST, index) for index in range(3)]
    sampling = Sampling(temperature=1.0, max_new_tokens=4, batch=2, images=images)
    assert len(play(eyes.model(processor).eval(), processor, env, tasks, sampling)) == 3


def test_episodes_with_and_without_pictures_are_played_side_by_side(
    env: Any, processor: Any
) -> None:
    """The next reply depends on the pictures of its own episode only, not on its neighbours'."""
    from healthgym.integrations.trl import rollout

    model = eyes.model(processor).eval()
    sampling = Sampling(images=True, max_new_tokens=6)

    def slot(index: int, *said: str) -> Any:
        made = rollout._seat(processor, env.open_episode("test", index), "")
        for text in said:
            rollout._answer(processor, made, reply(processor, text), sampling)
        return made

    seats = [slot(0, LOOK), slot(1, ASK), slot(2, HALVES), slot(3)]
    assert [len(seat.images) for seat in seats] == [1, 0, 2, 0]
    together = rollout.generate(model, processor, seats, sampling)
    assert together == [rollout.generate(model, processor, [seat], sampling)[0] for seat in seats]
    assert chat.reads_pictures(processor)


def test_a_policy_carries_the_same_conversation_on(
    processor: Any, demos: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    (row,) = PictureCollator(processor)(list(picture_dataset(demos[:1])))["input_ids"].tolist()
    says = Scripted(processor, "\n" + LOOK, "\n" + submit(demos[0]))
    monkeypatch.setattr("healthgym.integrations.trl.policy.generate", says)
    policy = ModelPolicy(None, processor, Sampling(images=True))
    scored = evaluate(SIGNS_ID, policy, episodes=1, split="train")
    assert scored.success is not None
    assert scored.success.estimate == 1.0
    assert row[: len(says.ids)] == says.ids
    assert len(says.images) == 1
    assert policy.usage.requests == 2


def test_a_policy_hears_what_the_environment_says_to_anything(
    processor: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    says = Scripted(processor, "Hm.", HALVES + "\n" + ASK, LEFT)
    monkeypatch.setattr("healthgym.integrations.trl.policy.generate", says)
    policy = ModelPolicy(None, processor, Sampling(images=True), system="Be brief.")
    evaluate(SIGNS_ID, policy, episodes=1)
    text = processor.tokenizer.decode(says.ids)
    assert "system\nBe brief." in text
    assert "<|im_start|>user\nError: No tool call found" in text
    assert text.count("<tool_response>\n") == 2
    assert text.count("<|vision_start|>") == len(says.images) == 2
    assert text.index("(see the result of the last call)") < text.index("[halves]")


def test_a_policy_falls_silent_where_the_conversation_would_be_too_long(processor: Any) -> None:
    policy = ModelPolicy(None, processor, Sampling(max_length=-1))
    scored = evaluate(SIGNS_ID, policy, episodes=1)
    assert scored.results[0].refused == 4
    assert policy.usage.requests == 0
    with pytest.raises(ConfigurationError, match="processor"):
        ModelPolicy(None, processor.tokenizer, Sampling(images=True))


@pytest.mark.slow
def test_a_model_learns_to_read_signs_from_their_pixels(
    env: Any, processor: Any, tmp_path: Path
) -> None:
    """A minute on one core. Shown black pictures instead, the same model guesses."""
    model = eyes.model(processor)
    supervise(model, processor, list(demonstrations(env, size=256, images=True)), 250, tmp_path)
    tasks = [(Split.TEST, index) for index in range(60)]

    def solved() -> int:
        played = play(model.eval(), processor, env, tasks, Sampling(images=True))
        assert all(item.episode.submitted() for item in played)
        return sum(item.episode.verdict().success for item in played)

    assert solved() >= 57
    scored = evaluate(SIGNS_ID, ModelPolicy(model, processor, Sampling(images=True)), episodes=20)
    assert scored.success is not None
    assert scored.success.estimate >= 0.95
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            "healthgym.integrations.trl.environment.shrink",
            lambda image, side: np.zeros_like(image),
        )
        assert 15 <= solved() <= 45
