"""Rollouts for TRL's GRPO, played as they are scored.

TRL's own loop hands each turn's whole conversation to ``generate``. Played by
:func:`~healthgym.integrations.trl.rollout.play`, a small model reads every token once, and trainer
and score cannot differ in what they show it. ``GRPOTrainer`` takes this as ``rollout_func``.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from healthgym.core.borders import JsonDict, JsonObject
from healthgym.core.env import HealthEnv
from healthgym.integrations.trl.environment import RolloutOutcome, reached
from healthgym.integrations.trl.foreign import AnyTokenizer, AnyTrainer
from healthgym.integrations.trl.mixture import Mixture
from healthgym.integrations.trl.rewards import figures_of, noted
from healthgym.integrations.trl.rollout import Played, Sampling, play_episodes


@dataclass(frozen=True, slots=True)
class Rollouts:
    """What ``GRPOTrainer`` calls for each batch of prompts, and the reward that goes with it.

    Attributes:
        mixture: Which tasks come next.
        envs: The environment of each of its parts.
        tokenizer: The model's tokenizer.
        sampling: How replies are drawn.
    """

    mixture: Mixture
    envs: Mapping[str, HealthEnv]
    tokenizer: AnyTokenizer
    sampling: Sampling

    def rows(self, count: int) -> list[JsonDict]:
        """Return a data set's rows; a prompt names a slot, whose task's text the model reads."""
        return [{"prompt": [{"role": "user", "content": str(slot)}]} for slot in range(count)]

    def __call__(self, prompts: Sequence[Sequence[JsonObject]], trainer: AnyTrainer) -> JsonDict:
        """Return the rollouts of a batch in the form that TRL asks for.

        Beside the tokens, by rollout: what became of it, its slot, and ``turn_rewards``, what each
        of its replies earned, of which each is a run of ones in ``env_mask``.
        """
        slots = [int(prompt[-1]["content"]) for prompt in prompts]
        places = [self.mixture.task(slot) for slot in slots]
        envs = [self.envs[place.name] for place in places]
        indices = map(self.mixture.index_in, envs, places)
        begun = [
            partial(env.open_episode, self.mixture.split, index)
            for env, index in zip(envs, indices, strict=True)
        ]
        model = trainer.accelerator.unwrap_model(trainer.model)
        training = model.training
        model.eval()
        played = play_episodes(model, self.tokenizer, begun, self.sampling)
        model.train(training)
        starts = [list(item.said).index(True) for item in played]
        pairs = list(zip(played, starts, strict=True))
        return {
            "prompt_ids": [list(item.ids[:start]) for item, start in pairs],
            "completion_ids": [list(item.ids[start:]) for item, start in pairs],
            "env_mask": [[int(own) for own in item.said[start:]] for item, start in pairs],
            "logprobs": None,
            "outcome": [_outcome(item) for item in played],
            "slot": slots,
            "turn_rewards": [list(item.reply_rewards) for item in played],
            "tokens": [item.tokens for item in played],
            "drawn": [sum(item.said) for item in played],
        }

    def reward(
        self,
        outcome: Sequence[RolloutOutcome],
        slot: Sequence[int],
        tokens: Sequence[int],
        drawn: Sequence[int],
        log_metric: Callable[[str, float], None],
        **_columns: object,
    ) -> list[float | None]:
        """Return the reward of each rollout, log its figures, and tell the mixture.

        They are those of :func:`~healthgym.integrations.trl.rewards.episode_reward`, and the tokens
        of a rollout: all of them, and those that the model drew.
        """
        figures = defaultdict(list, figures_of(outcome))
        figures["rollout/tokens"] += tokens
        figures["rollout/drawn"] += drawn
        for name, value in noted(self.mixture, slot, outcome).items():
            figures[name].append(value)
        for name, values in sorted(figures.items()):
            log_metric(name, sum(values) / len(values))
        return [each.reward for each in outcome]


def _outcome(played: Played) -> RolloutOutcome:
    if played.outage:
        kind = played.episode.task.kind
        return RolloutOutcome(kind, None, None, False, 0, 0, played.outage.partition(":")[0])
    return reached(played.episode)
