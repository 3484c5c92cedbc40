"""``healthgym train``: show an agent demonstrations, let it practise, measure what it learned.

``python -m healthgym.integrations.trl.command`` runs it too; ``--help`` lists the options.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from healthgym.core.borders import JsonDict, JsonObject
from healthgym.errors import ConfigurationError, HealthGymError, MissingDependencyError
from healthgym.integrations.trl.config import (
    MADE_HERE,
    Reinforced,
    Shown,
    Supervised,
    TrainConfig,
)
from healthgym.integrations.trl.defaults import defaults
from healthgym.integrations.trl.folder import RunFolder
from healthgym.integrations.trl.mixture import Adaptive, Part
from healthgym.presentation.terminal import shown
from healthgym.registration import make_health_env, read_settings

if TYPE_CHECKING:
    from healthgym.integrations.trl.stages import Pipeline

#: What a run trains on unless told otherwise.
DEFAULT_ENV = "HealthAgent/FhirRecord-v1"
#: For pretrained models: fewer steps, each of them far slower than the tiny model's, and of few
#: rollouts: 32 at once take 16 GB for SmolLM2 and its vocabulary.
_PRETRAINED: JsonObject = {
    "threads": 0,
    "watch": 16,
    "episodes": 200,
    "max_new_tokens": 192,
    "max_length": 2048,
    "supervised": Supervised(demos=800, steps=100, batch=8, learning_rate=5e-4),
    "reinforced": Reinforced(steps=40, batch=32, minibatch=8, learning_rate=2e-4),
}


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    made = argparse.ArgumentParser(
        prog="healthgym train",
        description="SFT on demonstrations, then GRPO; scored on held-out tasks before and after.",
    )
    task = made.add_argument_group("tasks")
    made.add_argument(
        "id", metavar="ID", nargs="?", default=DEFAULT_ENV,
        help="id of the environment; see `healthgym envs` (default: %(default)s)",
    )  # fmt: skip
    task.add_argument(
        "--set",
        metavar="NAME=VALUE",
        action="append",
        default=[],
        dest="settings",
        help="argument of the environment, the value as JSON or text; repeatable",
    )
    task.add_argument("--source", help="folder of FHIR R4 bundles to draw tasks from")
    task.add_argument("--fold", type=int, help="which fifth of a folder's patients is held out")
    task.add_argument("--task-types", nargs="+", metavar="TYPE", help="only these task types")
    task.add_argument("--difficulty", help="difficulty of the environment")
    task.add_argument("--reward", help="reward of the environment: sparse or shaped")
    task.add_argument(
        "--levels",
        nargs="+",
        metavar="NAME[=WEIGHT]",
        help="difficulties to show and practise on, by weight, instead of the one that is scored",
    )
    task.add_argument(
        "--mix",
        nargs="+",
        metavar="ID[=WEIGHT]",
        help="further environments to show and practise on, as they come for `healthgym train`",
    )
    task.add_argument(
        "--adaptive",
        action="store_true",
        help="move the weights to what gives groups of rollouts with mixed outcomes",
    )
    model = made.add_argument_group("model and training")
    model.add_argument(
        "--model",
        help="tiny, small, smollm2, or a Hugging Face name (default: tiny; small with --source)",
    )
    model.add_argument(
        "--tool-text",
        help="what the model is told of the tools: full, compact (names and arguments) or none "
        "(default: none for tiny, small and smollm2, else full)",
    )
    model.add_argument(
        "--copy-steps", type=int, help="most steps of learning to copy; 0 leaves it out (tiny only)"
    )
    model.add_argument("--demos", type=int, help="tasks that are demonstrated")
    model.add_argument(
        "--policy",
        nargs="+",
        metavar="NAME[=WEIGHT]",
        help="scripted policies that demonstrate (default: the environment's, or the oracle)",
    )
    model.add_argument(
        "--inertia", type=float, help="share of demonstrations that read but do not act"
    )
    model.add_argument(
        "--also",
        metavar="POLICY",
        help="scripted policy that shows each task once more, in its own way",
    )
    model.add_argument(
        "--without", nargs="+", metavar="TOOL", help="tools that demonstrations leave alone"
    )
    model.add_argument("--sft-steps", type=int)
    model.add_argument("--sft-lr", type=float)
    model.add_argument("--sft-batch", type=int)
    model.add_argument("--grpo-steps", type=int)
    model.add_argument("--grpo-lr", type=float)
    model.add_argument("--grpo-batch", type=int, help="rollouts per step, in groups of 8")
    model.add_argument(
        "--grpo-reuse", type=int, help="how often each batch of rollouts is learned from"
    )
    model.add_argument(
        "--grpo-minibatch", type=int, help="rollouts of an optimizer step (default: the batch)"
    )
    model.add_argument(
        "--no-control", action="store_true", help="leave out more imitation in place of reward"
    )
    model.add_argument(
        "--no-transfer", action="store_true", help="score nothing but the tasks of the test split"
    )
    model.add_argument("--max-length", type=int, help="longest episode in tokens")
    model.add_argument("--max-new-tokens", type=int, help="longest reply in tokens")
    run = made.add_argument_group("run")
    run.add_argument("--episodes", type=int, help="held-out test tasks (default: 300)")
    run.add_argument("--watch", type=int, help="validation tasks played now and then; 0 for none")
    run.add_argument(
        "--beside", type=int, help="episodes scored side by side; more are sooner on a GPU"
    )
    run.add_argument("--seed", type=int, default=0)
    run.add_argument("--threads", type=int, help="threads on a CPU; 0 for all (default: 1 if tiny)")
    run.add_argument("--out", type=Path, help="folder of the run (default: runs/MODEL-SEED)")
    run.add_argument("--resume", type=Path, metavar="DIR", help="go on with a killed run")
    run.add_argument("--quick", action="store_true", help="every stage in a minute or two")
    return made


def settings(options: argparse.Namespace) -> TrainConfig:
    """Return the settings of a command line."""
    config = defaults(options.id, source=bool(options.source))
    given = {
        "source": str(Path(options.source).resolve()) if options.source else None,
        "task_types": options.task_types,
        "fold": options.fold,
        "difficulty": options.difficulty,
        "reward": options.reward,
    }
    kwargs: JsonDict = dict(config.env_kwargs)
    kwargs |= {name: value for name, value in given.items() if value is not None}
    kwargs |= read_settings(options.settings)
    model = options.model or config.model
    config = replace(config, env_kwargs=kwargs, model=model, seed=options.seed)
    if options.no_control:
        config = replace(config, control=False)
    if options.no_transfer:
        config = replace(config, transfer={})
    if config.model not in MADE_HERE:
        policies = config.supervised.policies
        config = replace(config, **_PRETRAINED)
        config = replace(config, supervised=replace(config.supervised, policies=policies))
    if options.task_types:
        config = replace(config, shown=_able(config))
    mixture = _mixture(options)
    if mixture:
        config = replace(config, mixture=mixture, shown={}, adaptive=_adaptive(options))
    elif options.adaptive:
        raise ConfigurationError("--adaptive moves weights: name --levels, or --mix.")
    if options.threads is not None:
        config = replace(config, threads=options.threads)
    if options.quick:
        config = config.quick()
    supervised = _with(
        config.supervised,
        demos=options.demos,
        inertia=options.inertia,
        policies=_weights(options.policy) if options.policy else None,
        also=options.also,
        without=tuple(options.without) if options.without else None,
        steps=options.sft_steps,
        learning_rate=options.sft_lr,
        batch=options.sft_batch,
    )
    reinforced = _with(
        config.reinforced,
        steps=options.grpo_steps,
        learning_rate=options.grpo_lr,
        batch=options.grpo_batch,
        reuse=options.grpo_reuse,
        minibatch=options.grpo_minibatch,
    )
    final: TrainConfig = _with(
        config,
        copying=_with(config.copying, steps=options.copy_steps),
        supervised=supervised,
        reinforced=reinforced,
        episodes=options.episodes,
        max_length=options.max_length,
        max_new_tokens=options.max_new_tokens,
        watch=options.watch,
        beside=options.beside,
        tool_text=options.tool_text,
    )
    return final


def _able(config: TrainConfig) -> dict[str, Shown]:
    """Return what can be shown of the task types that were named; says what cannot.

    Raises:
        ConfigurationError: If the types cannot be asked at all.
    """
    make_health_env(config.env, config.env_kwargs)
    able = {}
    for name, one in config.shown.items():
        try:
            make_health_env(config.env, {**config.env_kwargs, **one.arguments})
            able[name] = one
        except ConfigurationError as error:
            sys.stderr.write(f"healthgym: nothing {name} is shown: {shown(str(error))}\n")
    return able


def _mixture(options: argparse.Namespace) -> dict[str, Part]:
    """Return the parts that ``--levels`` and ``--mix`` name; none if neither is given."""
    if not (options.levels or options.mix):
        return {}
    parts = {"scored": Part(options.id)}
    if options.levels:
        weights = _weights(options.levels, "difficulty")
        parts = {
            name: Part(options.id, {"difficulty": name}, weight) for name, weight in weights.items()
        }
    for env_id, weight in _weights(options.mix or (), "environment").items():
        parts[env_id] = Part(env_id, defaults(env_id).env_kwargs, weight)
    return parts


def _adaptive(options: argparse.Namespace) -> Adaptive | None:
    return Adaptive() if options.adaptive else None


def _weights(named: Sequence[str], what: str = "policy") -> dict[str, float]:
    """Return the weights of things written as NAME or NAME=WEIGHT."""
    weights = {}
    for each in named:
        name, _, weight = each.partition("=")
        try:
            weights[name] = float(weight or 1)
        except ValueError:
            raise ConfigurationError(f"{each!r} is no {what} with a weight: NAME=2.") from None
    return weights


def _with(value: Any, **changes: Any) -> Any:
    return replace(value, **{name: new for name, new in changes.items() if new is not None})


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command and return its exit status."""
    options = parser().parse_args(argv)
    for name, value in {
        # Read once, when the libraries are imported.
        "TRL_EXPERIMENTAL_SILENCE": "1",
        "TOKENIZERS_PARALLELISM": "false",
        "TQDM_MININTERVAL": "1",
    }.items():
        os.environ.setdefault(name, value)
    try:
        folder, config = _open(options)
        _pipeline()(folder, config).run()
        if options.quick:
            sys.stderr.write("A quick run shows that all stages run; its figures are no result.\n")
    except HealthGymError as error:
        sys.stderr.write(f"healthgym: {shown(str(error))}\n")
        return 2
    return 0


def _pipeline() -> type[Pipeline]:
    try:
        from healthgym.integrations.trl.stages import Pipeline
    except ImportError as error:
        raise MissingDependencyError(
            f'Training needs the trl extra ({error}): pip install "healthgym[trl]".'
        ) from None
    return Pipeline


def _open(options: argparse.Namespace) -> tuple[RunFolder, TrainConfig]:
    if options.resume:
        if not options.resume.is_dir():
            raise ConfigurationError(f"There is no run folder {options.resume}.")
        folder = RunFolder(options.resume)
        folder.lock()
        return folder, folder.config()
    config = settings(options)
    _try(config)
    name = config.model.rstrip("/").rpartition("/")[2]
    folder = RunFolder(options.out or Path("runs") / f"{name}-{config.seed}")
    folder.lock()
    folder.begin(config)
    return folder, config


def _try(config: TrainConfig) -> None:
    """Make what the run is of: a slip of the pen leaves no folder that a second try would meet.

    Raises:
        ConfigurationError: If an id, an argument, a policy or a number is not accepted.
        DamagedDataError: If there is no such model.
        MissingDependencyError: If a library or a model's package is missing.
    """
    env = make_health_env(config.env, config.env_kwargs)
    for part in config.mixture.values():
        make_health_env(part.env, dict(part.arguments))
    chosen = config.supervised
    for name in (*chosen.policies, *filter(None, [chosen.also])):
        env.family.require_policy(name, env.role)
    for option, value in (("--demos", chosen.demos), ("--episodes", config.episodes)):
        if value < 1:
            raise ConfigurationError(f"{option} is at least 1, not {value}.")
    _pipeline()
    from healthgym.integrations.trl import models

    models.require(config.model)


if __name__ == "__main__":
    raise SystemExit(main())
