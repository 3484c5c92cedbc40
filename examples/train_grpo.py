"""GRPO with your own settings: one call gives TRL's trainer its tasks, environment and reward.

    python examples/train_grpo.py Qwen/Qwen3-0.6B --steps 100
    accelerate launch --num_processes 8 examples/train_grpo.py Qwen/Qwen3-0.6B
    python examples/train_grpo.py Qwen/Qwen3-0.6B --vllm http://localhost:8000 --tool-text compact

Any model whose chat template knows tools will do, by Hugging Face name or path: a checkpoint that
`healthgym train` left in its run folder, for instance. With `--vllm` a server that was started as
docs/guides/training.md says draws the replies.
"""

import argparse
import os

import healthgym  # noqa: F401 - registers the environments
from healthgym.integrations.trl import trl_spec
from healthgym.integrations.trl.chat import ToolText
from healthgym.integrations.trl.models import open_checkpoint, tell_tools

#: Longest reply, in tokens.
REPLY = 96


def main() -> None:
    """Train with the options of the command line."""
    parser = argparse.ArgumentParser(description="GRPO on a healthgym environment.")
    parser.add_argument("model", help="Hugging Face name or path")
    parser.add_argument("--env", default="HealthAgent/FhirRecord-v1")
    parser.add_argument("--difficulty", default="easy")
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--batch", type=int, default=32, help="rollouts per step, of each process")
    parser.add_argument("--vllm", metavar="URL", help="server that draws the replies")
    parser.add_argument("--tool-text", choices=list(ToolText), help="what is told of tools")
    parser.add_argument("--out", default="runs/grpo")
    options = parser.parse_args()

    import torch
    from trl import GRPOConfig, GRPOTrainer

    group = 8
    processes = int(os.environ.get("WORLD_SIZE", "1"))
    spec = trl_spec(
        options.env,
        split="train",
        size=options.steps * options.batch * processes // group,
        env_kwargs={"difficulty": options.difficulty, "reward": "sparse"},
    )
    model, tokenizer = open_checkpoint(options.model)
    if options.tool_text:
        tell_tools(tokenizer, ToolText(options.tool_text))
    served = {"use_vllm": True, "vllm_mode": "server", "vllm_server_base_url": options.vllm}
    trainer = GRPOTrainer(
        model=model,
        processing_class=tokenizer,
        **spec.arguments(),
        args=GRPOConfig(
            options.out,
            max_steps=options.steps,
            per_device_train_batch_size=options.batch,
            num_generations=group,
            max_completion_length=1024,
            generation_kwargs={"max_tokens" if options.vllm else "max_new_tokens": REPLY},
            **(served if options.vllm else {}),
            learning_rate=1e-4,
            lr_scheduler_type="linear",
            beta=0.0,
            use_cpu=not torch.cuda.is_available(),
            bf16=torch.cuda.is_available(),
            gradient_checkpointing=False,
            report_to="none",
            logging_steps=1,
        ),
    )
    trainer.train()
    trainer.save_model(options.out)


if __name__ == "__main__":
    main()
