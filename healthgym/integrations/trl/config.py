"""The settings of a training run."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Self

from healthgym.core.borders import Settings
from healthgym.core.choice import Weighted
from healthgym.errors import ConfigurationError
from healthgym.integrations.trl.chat import ToolText
from healthgym.integrations.trl.copying import Copying
from healthgym.integrations.trl.mixture import Adaptive, Part

#: Models that are made in a run.
MADE_HERE = ("tiny", "small")


@dataclass(frozen=True, slots=True)
class Supervised:
    """Supervised fine-tuning on demonstrations.

    Attributes:
        demos: Number of tasks shown.
        policies: Weights of the scripted policies that demonstrate, by name; each task is shown by
            one of them, and the task does not tell by whom.
        also: Scripted policy that demonstrates the same tasks once more, if named.
        inertia: Share of tasks on which the demonstrator reads and reports but does not act; see
            :func:`~healthgym.integrations.trl.demonstrations`.
        without: Tools that demonstrations leave alone.
        steps: Optimizer steps. Once through the demonstrations is best before reward: a policy
            that has seen them several times is too certain to explore.
        batch: Episodes per step.
        learning_rate: Peak of a linear schedule.
        grouped: Whether episodes of about one length share a step; less is computed on padding,
            which counts where lengths differ, and steps are less alike.
    """

    demos: int = 14400
    policies: Mapping[str, float] = field(default_factory=lambda: {"oracle": 1.0})
    also: str = ""
    inertia: float = 0.0
    without: tuple[str, ...] = ()
    steps: int = 900
    batch: int = 16
    learning_rate: float = 4e-3
    grouped: bool = False


@dataclass(frozen=True, slots=True)
class Shown:
    """Tasks that are demonstrated, besides or instead of those that are scored.

    Attributes:
        arguments: Further arguments of the environment, such as other charts.
        weight: How often one of them is shown, relative to others.
    """

    arguments: Settings
    weight: float = 1.0


@dataclass(frozen=True, slots=True)
class Reinforced:
    """Reinforcement learning with GRPO.

    Attributes:
        steps: Batches of rollouts.
        batch: Rollouts per batch.
        group: Rollouts per task.
        reuse: How often each batch is learned from; drawing it takes longer.
        minibatch: Rollouts of an optimizer step; the whole batch if 0. Many small steps at a low
            rate learn more from the same rollouts than few large ones.
        learning_rate: Peak of a linear schedule; a constant one ends in collapse.
        clip: Largest gradient norm.
        unsubmitted: Charge for an episode that is never submitted, where the environment's own
            costs say nothing of it: a policy must not learn to hand in nothing.
        patience: Batches in a row whose groups were all paid alike, after which learning ends: none
            of them moves the policy. 0 goes on whatever comes.
    """

    steps: int = 90
    batch: int = 64
    group: int = 8
    reuse: int = 1
    minibatch: int = 0
    learning_rate: float = 3e-4
    clip: float = 0.2
    unsubmitted: float = 0.5
    patience: int = 0

    @property
    def updates(self) -> int:
        """Optimizer steps."""
        return self.steps * self.steps_per_batch

    @property
    def tasks(self) -> int:
        """Tasks that are practised on."""
        return self.steps * self.batch // self.group

    @property
    def steps_per_batch(self) -> int:
        """Optimizer steps on each batch."""
        return self.reuse * (self.batch // (self.minibatch or self.batch))


@dataclass(frozen=True, slots=True)
class TrainConfig:
    """One run, written to its folder as ``config.json``.

    Attributes:
        env: Registered id of the environment.
        env_kwargs: Its arguments.
        model: ``tiny``, ``smollm2``, or a Hugging Face name or path.
        tool_text: How much of the tools the model is told: ``full``, ``compact`` or ``none``; as
            :func:`healthgym.integrations.trl.models.load` has it if empty.
        episodes: Held-out test tasks each checkpoint is scored on.
        watch: Validation tasks played now and then during training, for the curves.
        beside: Episodes that are scored side by side: the more, the sooner on a GPU.
        max_new_tokens: Longest reply.
        max_length: Longest episode in tokens, the prompt of the task not counted.
        seed: Seed of the model and of the sampling; tasks do not depend on it.
        threads: Threads of torch on a CPU; 0 leaves its own choice. A small model is faster on one:
            two that wait for each other cost more than they compute.
        saves: Trainer checkpoints per stage, from which a killed run goes on.
        control: Whether imitation goes on from where reinforcement learning begins, on fresh
            demonstrations and with as much computing, to be compared with it.
        transfer: Further arguments of the environment, by name, under which the trained models
            are scored as well, such as another difficulty.
        shown: What demonstrations are of, by name; of the environment as it is scored if empty.
        practice: Further arguments of the environment that reward is learned on and validation
            tasks are drawn from.
        mixture: What is demonstrated and practised on, by name, instead of the environment as it
            is scored. A part of the same id has its arguments, and its own beside them; the
            policies of other ids are their oracles.
        adaptive: How the mixture's weights follow the outcomes of rollouts; fixed if None.
        copying: How a model made in the run learns to copy before it imitates.
        supervised: Supervised fine-tuning.
        reinforced: Reinforcement learning.
    """

    env: str
    env_kwargs: Settings = field(default_factory=dict)
    model: str = "tiny"
    tool_text: str = ""
    episodes: int = 300
    watch: int = 60
    beside: int = 64
    max_new_tokens: int = 96
    max_length: int = 1024
    seed: int = 0
    threads: int = 1
    saves: int = 8
    control: bool = True
    transfer: Mapping[str, Settings] = field(default_factory=dict)
    shown: Mapping[str, Shown] = field(default_factory=dict)
    practice: Settings = field(default_factory=dict)
    mixture: Mapping[str, Part] = field(default_factory=dict)
    adaptive: Adaptive | None = None
    copying: Copying = field(default_factory=Copying)
    supervised: Supervised = field(default_factory=Supervised)
    reinforced: Reinforced = field(default_factory=Reinforced)

    def __post_init__(self) -> None:
        if self.reinforced.batch % self.reinforced.group:
            raise ConfigurationError(
                f"A batch of {self.reinforced.batch} rollouts cannot be split into groups of "
                f"{self.reinforced.group}."
            )
        if self.reinforced.minibatch and self.reinforced.batch % self.reinforced.minibatch:
            raise ConfigurationError(
                f"A batch of {self.reinforced.batch} rollouts cannot be split into minibatches of "
                f"{self.reinforced.minibatch}."
            )
        if self.tool_text not in ("", *ToolText):
            raise ConfigurationError(
                f"{self.tool_text!r} is no way to tell of tools: {', '.join(ToolText)}."
            )
        Weighted(self.supervised.policies, "policies")
        if self.shown:
            Weighted({name: one.weight for name, one in self.shown.items()}, "shown tasks")
        if self.mixture:
            Weighted({name: one.weight for name, one in self.mixture.items()}, "a mixture")
            if self.shown:
                raise ConfigurationError("Demonstrations are of a mixture, or of what is shown.")
        elif self.adaptive:
            raise ConfigurationError("What adapts are the weights of a mixture: name its parts.")
        counts = (self.supervised.steps, self.reinforced.updates, self.saves, self.max_new_tokens)
        if min(self.episodes, self.beside, *counts) < 1:
            raise ConfigurationError("Steps, episodes, saves and tokens are at least 1.")

    @property
    def copies(self) -> bool:
        """Whether the model is made in the run, and learns to copy first."""
        return self.model in MADE_HERE and self.copying.steps > 0

    def parts(self, further: Settings | None = None) -> dict[str, Part]:
        """Return what is practised on, as the parts of a mixture with all of their arguments.

        Args:
            further: Arguments of the environment beside its own.
        """
        own = {**self.env_kwargs, **(further or {})}
        if not self.mixture:
            return {"": Part(self.env, own)}
        return {
            name: replace(part, arguments={**own, **part.arguments})
            if part.env == self.env
            else part
            for name, part in self.mixture.items()
        }

    def quick(self) -> Self:
        """Return the settings of a smoke run: every stage, and nothing learned."""
        return replace(
            self,
            episodes=8,
            watch=4,
            saves=2,
            max_new_tokens=24,
            copying=replace(self.copying, steps=min(self.copying.steps, 8), batch=4),
            supervised=replace(self.supervised, demos=64, steps=8, batch=4),
            reinforced=replace(self.reinforced, steps=2, batch=4, group=2, minibatch=0),
        )

    def to_json(self) -> str:
        """Return the settings as indented JSON."""
        return json.dumps(asdict(self), indent=2, sort_keys=True)

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Read settings back.

        Raises:
            ConfigurationError: If the text is damaged or of another version.
        """
        try:
            data = json.loads(text)
            supervised = Supervised(**data["supervised"])
            data["supervised"] = replace(supervised, without=tuple(supervised.without))
            data["reinforced"] = Reinforced(**data["reinforced"])
            data["copying"] = Copying(**data["copying"])
            shown = data.get("shown", {})
            data["shown"] = {name: Shown(**one) for name, one in shown.items()}
            data["mixture"] = {name: Part(**one) for name, one in data.get("mixture", {}).items()}
            data["adaptive"] = Adaptive(**data["adaptive"]) if data.get("adaptive") else None
            unknown = data.keys() - {item.name for item in fields(cls)}
            if unknown:
                raise TypeError(f"unknown settings {', '.join(sorted(unknown))}")
            return cls(**data)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise ConfigurationError(f"Not the settings of a training run: {error}") from None
