"""Whether reward moves a small model on an environment, and if it does not, what would."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from healthgym.core.borders import JsonObject
from healthgym.errors import MissingDependencyError
from healthgym.testing.cards.machine import machine
from healthgym.testing.cards.schema import Machine, Outcome, Rate, Training

if TYPE_CHECKING:
    from healthgym.integrations.trl.config import TrainConfig

#: Steps of reward, and most rollouts in each.
REWARD_STEPS, ROLLOUTS = 100, 32
#: Steps of reward in a row that move nothing after which a card ends them.
_PATIENCE = 30
#: Most demonstrations that are seen before it, one seen twice counted twice.
_SEEN = 4000
#: Most tokens that are shown, and that a step of reward is of, where all episodes are as long as
#: they may be: cards are for comparing environments, and should take minutes on a processor.
_SHOWN, _DRAWN = 6_000_000, 49_152
#: Share of informative groups below which there is nothing to learn from.
_TOO_FEW = 0.1
#: Success between which most groups of eight are mixed.
_LOW, _HIGH = 0.05, 0.95


def train(
    env_id: str,
    out: Path,
    *,
    tasks: int = 200,
    seed: int = 0,
    quick: bool = False,
    checkout: Path | None = None,
) -> Training:
    """Train the small model as ``healthgym train`` comes for an environment, but shorter.

    A killed run goes on where it stopped, from its folder.

    Args:
        env_id: A registered id.
        out: Folder of the run.
        tasks: Held-out tasks on which it is scored, before and after reward.
        seed: Seed of the run.
        quick: Whether only to show that it runs.
        checkout: Root of the source checkout, whose commit is named; None if there is none.

    Raises:
        ConfigurationError: If the environment cannot be trained on.
        MissingDependencyError: If TRL is not installed.
    """
    try:
        from healthgym.integrations.trl.defaults import defaults
        from healthgym.integrations.trl.folder import RunFolder
        from healthgym.integrations.trl.stages import Pipeline
    except ImportError as error:
        raise MissingDependencyError(
            f'Training needs the trl extra ({error}): pip install "healthgym[trl]".'
        ) from None
    config = defaults(env_id)
    shown = config.supervised
    seen, rollouts = _sized(config)
    config = replace(
        config,
        seed=seed,
        episodes=tasks,
        watch=0,
        saves=4,
        control=False,
        transfer={},
        supervised=replace(
            shown, demos=min(shown.demos, seen), steps=min(shown.steps, seen // shown.batch)
        ),
        reinforced=replace(
            config.reinforced,
            steps=REWARD_STEPS,
            batch=rollouts,
            minibatch=0,
            reuse=1,
            patience=_PATIENCE,
        ),
    )
    if quick:
        config = config.quick()
    folder = RunFolder(out)
    folder.lock()
    if not (folder.path / "config.json").exists():
        folder.begin(config)
    config = folder.config()
    Pipeline(folder, config).run()
    return _told(config, folder.results(), folder.curve(), machine(checkout))


def _sized(config: TrainConfig) -> tuple[int, int]:
    """Return how many episodes are seen before reward, and how many rollouts a step of it has."""
    group = config.reinforced.group
    groups = min(config.reinforced.batch, ROLLOUTS, _DRAWN // config.max_length) // group
    return min(_SEEN, _SHOWN // config.max_length), max(groups, 1) * group


def _told(
    config: TrainConfig, stages: JsonObject, curve: Sequence[JsonObject], by: Machine
) -> Training:
    from healthgym.integrations.trl.evaluation import Score, gain

    before, after = (
        Score.from_dict(stages[f"score {name}"]["sampled"]) for name in ("sft", "grpo")
    )
    told = gain(after, before)
    rows = [row for row in curve if "groups/informative" in row]
    shares = [float(str(row["groups/informative"])) for row in rows]
    informative = sum(shares) / len(shares) if shares else 0.0
    rate = Rate.of(before.total.successes, before.total.episodes)
    outcome = Outcome.UNCLEAR
    if told.low > 0:
        outcome = Outcome.RISES
    elif informative < _TOO_FEW:
        outcome = Outcome.NO_GRADIENT
    return Training(
        model=config.model,
        seed=config.seed,
        env_kwargs=dict(config.env_kwargs),
        demonstrations=config.supervised.demos,
        imitation_steps=config.supervised.steps,
        reward_steps=max((int(str(row["step"])) for row in rows), default=0),
        rollouts_a_step=config.reinforced.batch,
        before=rate,
        after=Rate.of(after.total.successes, after.total.episodes),
        gain=told.estimate,
        gain_low=told.low,
        gain_high=told.high,
        informative=informative,
        outcome=outcome,
        repair="" if outcome is Outcome.RISES else _repair(rate, config),
        minutes=sum(stage["processor_seconds"] for stage in stages.values()) / 60,
        machine=by,
    )


def _repair(before: Rate, config: TrainConfig) -> str:
    """Return what would make groups differ, by where the model stood; a proposal, not tried."""
    env_id, level = config.env, config.env_kwargs.get("difficulty", "")
    demos, steps = config.supervised.demos, config.supervised.steps
    if before.estimate < _LOW:
        easier = "" if level in ("easy", "drill") else " --difficulty easy"
        return (
            "Too little is solved for groups to differ. Show the oracle's episodes of four times "
            f"as many tasks first: `healthgym train {env_id}{easier} --policy oracle "
            f"--demos {4 * demos} --sft-steps {4 * steps}`."
        )
    if before.estimate > _HIGH:
        return (
            "Nearly all is solved before reward. Practise on harder tasks: "
            f"`healthgym train {env_id} --levels medium hard --adaptive`."
        )
    return (
        "Groups differ, but these steps did not move success beyond its interval: more of them, "
        "or more held-out tasks."
    )
