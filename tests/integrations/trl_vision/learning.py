"""Training of a model that sees, in seconds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
import trl

from healthgym.integrations.trl.vision import PictureCollator, picture_dataset

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
