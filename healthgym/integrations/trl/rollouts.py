"""Rollouts for TRL's GRPO, played as they are scored.

TRL's own loop hands each turn's whole conversation to ``generate``. Played by
:func:`~healthgym.integrations.trl.rollout.play`, a small model reads every token once, and trainer
and score cannot differ in what they show it. ``GRPOTrainer`` takes this as ``rollout_func``.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from healthgym.core.borders import JsonDict, JsonObject
from healthgym.core.env import HealthEnv
from healthgym.core.seeding import Split
from healthgym.integrations.trl.environment import RolloutOutcome, reached
from healthgym.integrations.trl.foreign import AnyTokenizer, AnyTrainer
from healthgym.integrations.trl.rewards import figures_of
from healthgym.integrations.trl.rollout import Played, Sampling, play


@dataclass(frozen=True, slots=True)
class Rollouts:
    """What ``GRPOTrainer`` calls for each batch of prompts, and the reward that goes with it.

    Attributes:
        env: The environment.
        tokenizer: The model's tokenizer.
        sampling: How replies are drawn.
    """

    env: HealthEnv
    tokenizer: AnyTokenizer
    sampling: Sampling

    def rows(self, tasks: Sequence[tuple[Split, int]]) -> list[JsonDict]:
        """Return a data set's rows; a prompt names its task, whose instruction the model reads."""
        return [
            {"prompt": [{"role": "user", "content": f"{split}/{index}"}]} for split, index in tasks
        ]

    def __call__(self, prompts: Sequence[Sequence[JsonObject]], trainer: AnyTrainer) -> JsonDict:
        """Return the rollouts of a batch in the form that TRL asks for."""
        names = [str(prompt[-1]["content"]).rpartition("/") for prompt in prompts]
        tasks = [(Split(split), int(index)) for split, _, index in names]
        model = trainer.accelerator.unwrap_model(trainer.model)
        training = model.training
        model.eval()
        played = play(model, self.tokenizer, self.env, tasks, self.sampling)
        model.train(training)
        starts = [list(item.said).index(True) for item in played]
        pairs = list(zip(played, starts, strict=True))
        return {
            "prompt_ids": [list(item.ids[:start]) for item, start in pairs],
            "completion_ids": [list(item.ids[start:]) for item, start in pairs],
            "env_mask": [[int(own) for own in item.said[start:]] for item, start in pairs],
            "logprobs": None,
            "outcome": [_outcome(item) for item in played],
            "tokens": [item.tokens for item in played],
            "drawn": [sum(item.said) for item in played],
        }


def _outcome(played: Played) -> RolloutOutcome:
    if played.outage:
        kind = played.episode.task.kind
        return RolloutOutcome(kind, None, None, False, 0, 0, played.outage.partition(":")[0])
    return reached(played.episode)


def rollout_reward(
    outcome: Sequence[RolloutOutcome],
    tokens: Sequence[int],
    drawn: Sequence[int],
    log_metric: Callable[[str, float], None],
    **_columns: object,
) -> list[float | None]:
    """Return the reward of each rollout, and log its figures.

    They are those of :func:`~healthgym.integrations.trl.rewards.episode_reward`, and the tokens
    of a rollout: all of them, and those that the model drew.
    """
    figures = defaultdict(list, figures_of(outcome))
    figures["rollout/tokens"] += tokens
    figures["rollout/drawn"] += drawn
    for name, values in sorted(figures.items()):
        log_metric(name, sum(values) / len(values))
    return [each.reward for each in outcome]
