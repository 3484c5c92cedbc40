"""The two trainers of a run, set up for small machines as for large ones."""

from __future__ import annotations

import json
import logging
import zipfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import datasets
import torch
from safetensors import SafetensorError, safe_open
from transformers import PrinterCallback, TrainerCallback
from trl import (  # type: ignore[attr-defined,unused-ignore]
    GRPOConfig,
    GRPOTrainer,
    SFTConfig,
    SFTTrainer,
)

from healthgym.core.borders import JsonDict, JsonObject
from healthgym.errors import ConfigurationError, DamagedDataError
from healthgym.integrations.trl.config import TrainConfig
from healthgym.integrations.trl.demonstrations import Demonstration
from healthgym.integrations.trl.folder import RunFolder
from healthgym.integrations.trl.foreign import AnyModel, AnyTokenizer, AnyTrainer
from healthgym.integrations.trl.keeping import keeper
from healthgym.integrations.trl.labels import labelled
from healthgym.integrations.trl.mixture import Mixture
from healthgym.integrations.trl.models import adapters, merged
from healthgym.integrations.trl.rollout import Sampling
from healthgym.integrations.trl.rollouts import Rollouts
from healthgym.policies.statistics import Interval

#: Temperature at which rollouts are drawn: the policy that GRPO improves.
TEMPERATURE = 1.0
#: Plays validation tasks and returns the share that a model solves; None if there are no tasks.
Watch = Callable[[AnyModel], Interval | None]
#: Told of a finished optimizer step and of what was just logged.
Report = Callable[[int, Mapping[str, float]], None]


@dataclass(frozen=True, slots=True)
class Stage:
    """A stage of a run in which a trainer is at work.

    Attributes:
        name: Its name.
        config: Settings of the run.
        folder: Folder of the run.
        watch: Plays validation tasks.
        report: Told of each step.
    """

    name: str
    config: TrainConfig
    folder: RunFolder
    watch: Watch
    report: Report

    def batch(self, step: int) -> int:
        """Return which batch of rollouts a step learns from, the first being 1."""
        return -(-step // self.config.reinforced.steps_per_batch)

    @property
    def work(self) -> Path:
        """Where the trainer keeps its checkpoints."""
        return self.folder.folder("work", self.name)


class _Observer(TrainerCallback):  # type: ignore[misc,unused-ignore]
    """Writes what the trainer logs, plays validation tasks, and moves the progress bar.

    Ends the training where a run's patience ends; a run that goes on waits anew.
    """

    def __init__(self, run: Stage, every: int) -> None:
        self._run = run
        self._every = every
        self._shown: dict[str, float] = {}
        self._moved = 0

    def on_train_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        self._moved = self._run.batch(state.global_step)
        if state.global_step == 0:
            self._validate(0, kwargs["model"])

    def on_step_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        if state.global_step % self._every == 0:
            self._validate(state.global_step, kwargs["model"])
        self._run.report(state.global_step, self._shown)

    def on_log(
        self,
        args: Any,
        state: Any,
        control: Any,
        logs: JsonObject | None = None,
        **kwargs: Any,
    ) -> None:
        figures = {key: _number(value) for key, value in (logs or {}).items()}
        kept = {key: value for key, value in figures.items() if value is not None}
        if "frac_reward_zero_std" in kept:
            # Only a group whose rollouts were paid differently moves the policy.
            kept["groups/informative"] = 1 - kept["frac_reward_zero_std"]
            batch = self._run.batch(state.global_step)
            patience = self._run.config.reinforced.patience
            if kept["groups/informative"]:
                self._moved = batch
            elif 0 < patience <= batch - self._moved:
                control.should_training_stop = True
        if "train_runtime" not in kept:
            self._run.folder.log(self._run.name, state.global_step, kept)
            for key in ("loss", "reward", "env/success"):
                if key in kept:
                    self._shown[key] = kept[key]

    def _validate(self, step: int, model: AnyModel) -> None:
        training = model.training
        model.eval()
        rate = self._run.watch(model)
        model.train(training)
        if rate is None:
            return
        self._shown["held-out"] = rate.estimate
        figures = {
            "validation/success": rate.estimate,
            "validation/low": rate.low,
            "validation/high": rate.high,
        }
        self._run.folder.log(self._run.name, step, figures)


def _number(value: Any) -> float | None:
    try:
        return float(value)
    except (TypeError, ValueError):
        return None


def supervise(
    model: AnyModel,
    tokenizer: AnyTokenizer,
    demos: Iterable[Demonstration],
    run: Stage,
    steps: int,
) -> AnyModel:
    """Fine-tune on demonstrations and return the model, adapters merged.

    Only what the assistant says is learned; goes on from the last trainer checkpoint, if any.
    """
    _quiet()
    settings = run.config.supervised
    rows = that_fit(model, [labels(tokenizer, demo) for demo in demos])
    trainer = SFTTrainer(
        model=model,
        processing_class=tokenizer,
        train_dataset=datasets.Dataset.from_list(rows),
        peft_config=adapters(model),
        args=SFTConfig(
            str(run.work),
            max_steps=steps,
            per_device_train_batch_size=settings.batch,
            learning_rate=settings.learning_rate,
            warmup_steps=max(steps // 20, 1),
            adam_beta2=0.98,
            # A conversation cut short would teach to stop in the middle.
            max_length=None,
            packing=False,
            train_sampling_strategy="group_by_length" if settings.grouped else "random",
            **_common(model, run.config, steps),
        ),
    )
    return _train(trainer, run, steps)


def that_fit(
    model: AnyModel, rows: Sequence[dict[str, list[int]]]
) -> Sequence[dict[str, list[int]]]:
    """Return the rows that are no longer than a model's context.

    Raises:
        ConfigurationError: If none is.
    """
    most = getattr(model.config, "max_position_embeddings", None)
    kept = [row for row in rows if most is None or len(row["input_ids"]) <= most]
    if not kept:
        lengths = sorted(len(row["input_ids"]) for row in rows)
        told = f"the shortest has {lengths[0]}" if lengths else "there are none"
        raise ConfigurationError(
            f"No demonstration fits into the model's context of {most} tokens: {told}. Choose "
            "shorter tasks, leave tools out (--without), or take a model with a longer context."
        )
    return kept


def labels(tokenizer: AnyTokenizer, demo: Demonstration) -> dict[str, list[int]]:
    """Return a demonstration as tokens, with what is to be learned of it."""
    return labelled(tokenizer, demo.messages, json.loads(demo.tools))


def reinforce(model: AnyModel, tokenizer: AnyTokenizer, run: Stage) -> AnyModel:
    """Train with GRPO on tasks that no demonstration showed and return the model."""
    _quiet()
    config, settings = run.config, run.config.reinforced
    sampling = Sampling(TEMPERATURE, config.max_new_tokens, config.max_length, batch=settings.batch)
    mixture = Mixture(
        config.parts(config.practice),
        seed=config.seed,
        first=config.supervised.demos,
        adaptive=config.adaptive,
    )
    envs = mixture.made(costs={"unsubmitted": settings.unsubmitted})
    rollouts = Rollouts(mixture, envs, tokenizer, sampling)
    trainer = GRPOTrainer(
        model=model,
        processing_class=tokenizer,
        peft_config=adapters(model),
        train_dataset=datasets.Dataset.from_list(rollouts.rows(settings.tasks)),
        # TRL names its prompts' type as text; they come as messages.
        rollout_func=rollouts,  # type: ignore[arg-type]
        reward_funcs=[rollouts.reward],
        callbacks=[keeper(mixture)] if config.adaptive else [],
        args=GRPOConfig(
            str(run.work),
            max_steps=settings.updates,
            per_device_train_batch_size=settings.minibatch or settings.batch,
            generation_batch_size=settings.batch,
            num_generations=settings.group,
            num_iterations=settings.reuse,
            learning_rate=settings.learning_rate,
            warmup_steps=max(settings.updates // 25, 1),
            max_grad_norm=settings.clip,
            max_completion_length=config.max_length,
            temperature=TEMPERATURE,
            beta=0.0,
            mask_truncated_completions=False,
            **_common(model, config, settings.updates, settings.steps_per_batch),
        ),
    )
    return _train(trainer, run, settings.updates)


def _common(model: AnyModel, config: TrainConfig, steps: int, batch: int = 1) -> JsonDict:
    """Return what both trainers are told; checkpoints fall between batches of so many steps."""
    gpu = torch.cuda.is_available()
    return {
        "seed": config.seed,
        "lr_scheduler_type": "linear",
        "use_cpu": not gpu,
        "bf16": gpu and model.dtype is torch.bfloat16,
        "gradient_checkpointing": False,
        "dataloader_pin_memory": gpu,
        "report_to": "none",
        "disable_tqdm": True,
        "log_level": "error",
        "logging_steps": max(steps // 100, 1),
        "save_strategy": "steps",
        "save_steps": max(steps // batch // config.saves, 1) * batch,
        "save_total_limit": 1,
    }


def _train(trainer: AnyTrainer, run: Stage, steps: int) -> AnyModel:
    last = last_checkpoint(run.work)
    if last is not None:
        require_whole(last)
    run.folder.rewind(run.name, int(last.name.rpartition("-")[2]) if last else -1)
    trainer.remove_callback(PrinterCallback)
    trainer.add_callback(_Observer(run, every=max(steps // 10, 1)))
    trainer.train(resume_from_checkpoint=str(last) if last else None)
    return merged(trainer.model)


def last_checkpoint(work: Path) -> Path | None:
    """Return the newest complete trainer checkpoint in a folder, if there is one."""
    found = [
        path
        for path in work.glob("checkpoint-*")
        if (path / "trainer_state.json").is_file() and (path / "rng_state.pth").is_file()
    ]
    return max(found, key=lambda path: int(path.name.rpartition("-")[2]), default=None)


def require_whole(checkpoint: Path) -> None:
    """Look through a trainer's checkpoint before training goes on from it.

    Raises:
        DamagedDataError: If a file of it is damaged.
    """
    for file in sorted(checkpoint.iterdir()):
        try:
            if file.suffix == ".json":
                json.loads(file.read_text(encoding="utf-8"))
            elif file.suffix == ".safetensors":
                with safe_open(file, framework="pt"):
                    pass
            elif file.suffix in (".pt", ".pth"):
                with zipfile.ZipFile(file) as packed:
                    bad = packed.testzip()
                if bad:
                    raise ValueError(f"{bad} in it does not match its checksum")
        except (OSError, ValueError, SafetensorError, zipfile.BadZipFile) as error:
            raise DamagedDataError(
                f"{file} is damaged: {error}. Remove the folder {checkpoint} to do the stage "
                "again from its start."
            ) from None


def _quiet() -> None:
    datasets.disable_progress_bars()
    logging.getLogger("trl").setLevel(logging.ERROR)
