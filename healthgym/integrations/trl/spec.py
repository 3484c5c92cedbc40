"""One call from a registered environment to the arguments of a TRL trainer."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from healthgym.core.borders import JsonDict, Settings
from healthgym.core.env import HealthEnv, parse_split
from healthgym.core.seeding import Split
from healthgym.errors import ConfigurationError, MissingDependencyError
from healthgym.integrations.trl.environment import (
    MAX_IMAGE_SIDE,
    TrlEnvironment,
    environment_class,
)
from healthgym.integrations.trl.mixture import Mixture
from healthgym.integrations.trl.rewards import Noting, episode_reward
from healthgym.registration import make_health_env

EnvironmentFactory = type[TrlEnvironment] | dict[str, type[TrlEnvironment]]


@dataclass(frozen=True)
class TrlSpec:
    """What ``GRPOTrainer`` needs of an environment.

    Attributes:
        train_dataset: A ``datasets.Dataset`` with one row per task: ``prompt``, ``split``,
            ``index`` and, where there are several environments, ``environment``.
        environment_factory: The class of a rollout slot, or classes by environment name.
        tools: The tools in OpenAI's function form, by environment name (``""`` if there is one).
        reward_funcs: The environment's own reward.
        adaptive: The mixture whose state the trainer's checkpoints keep, if its weights adapt.
    """

    train_dataset: Any
    environment_factory: EnvironmentFactory
    tools: Mapping[str, list[JsonDict]]
    reward_funcs: tuple[Callable[..., list[float | None]], ...] = (episode_reward,)
    adaptive: Mixture | None = None

    def arguments(self) -> JsonDict:
        """Return the keyword arguments for a trainer: ``GRPOTrainer(model, **spec.arguments())``.

        Its ``tools`` argument is not among them: it is for tools without an environment.
        """
        made: JsonDict = {
            "train_dataset": self.train_dataset,
            "environment_factory": self.environment_factory,
            "reward_funcs": list(self.reward_funcs),
        }
        if self.adaptive is not None:
            from healthgym.integrations.trl.keeping import keeper

            made["callbacks"] = [keeper(self.adaptive)]
        return made


def trl_spec(
    env: str | Mapping[str, str] | Mixture,
    *,
    split: str = "train",
    size: int = 1000,
    first: int = 0,
    env_kwargs: Settings | None = None,
    system: str = "",
    images: bool = False,
    max_image_side: int | None = MAX_IMAGE_SIDE,
) -> TrlSpec:
    """Return what a TRL trainer needs to train on registered environments.

    Give the trainer a tokenizer that was taught with
    :func:`~healthgym.integrations.trl.replies.teach`: then a reply means what it means to the
    environment, in whatever form it calls, and a broken call is answered and not the end.

    Args:
        env: A registered id; or ids by name, for a run over several environments, whose tasks
            then alternate; or a mixture. The rows of an adaptive one are drawn as they are read,
            so the trainer must be given this very data set, with a row for each group of
            rollouts: what is read again is the same task again.
        split: The split to draw tasks from; a mixture has its own.
        size: Number of tasks, which is the number of rows.
        first: Index of the first task; a mixture has its own.
        env_kwargs: Arguments of the environment; by name where ``env`` is a mapping; none where it
            is a mixture, whose parts have theirs.
        system: A system message to put before every task; none if empty.
        images: Whether the model is shown the pictures of tool results; see
            :func:`~healthgym.integrations.trl.environment.environment_class`.
        max_image_side: Most pixels of a picture's longer side; no limit if None.

    Raises:
        ConfigurationError: If the split has fewer tasks, or an argument is not accepted.
        MissingDependencyError: If ``datasets`` is not installed.
    """
    try:
        from datasets import Dataset
    except ImportError:
        raise MissingDependencyError(
            'Training with TRL needs its extra: pip install "healthgym[trl]".'
        ) from None
    # The prompt ends with an empty user message: TRL appends the instruction that reset returns.
    prompt = [{"role": "system", "content": system}] if system else []
    prompt.append({"role": "user", "content": ""})
    if isinstance(env, Mixture):
        if env_kwargs or first or size < 1:
            raise ConfigurationError("A mixture has its own arguments, and its own first task.")
        made = env.made()
        classes, tools = _offered(made, env.split, env.first, images, max_image_side)
        return _mixed_spec(env, made, classes, tools, prompt, size)
    several = not isinstance(env, str)
    ids = dict(env) if isinstance(env, Mapping) else {"": env}
    kwargs = dict(env_kwargs or {}) if several else {"": env_kwargs or {}}
    if not ids or kwargs.keys() - ids.keys():
        raise ConfigurationError("env_kwargs are given by the names of the environments.")
    made = {name: make_health_env(env_id, kwargs.get(name)) for name, env_id in ids.items()}
    tasks = parse_split(split)
    per_env = -(-size // len(ids))
    for name, each in made.items():
        available = each.family.generator.size(tasks)
        if not 0 <= first <= first + per_env <= available or size < 1:
            raise ConfigurationError(
                f"{ids[name]} has {available} tasks in its {tasks} split; tasks {first} to "
                f"{first + per_env - 1} were asked for."
            )
    classes, tools = _offered(made, tasks, first, images, max_image_side)
    names = list(ids)
    rows = []
    for number in range(size):
        row: JsonDict = {
            "prompt": prompt,
            "split": str(tasks),
            "index": first + number // len(names),
        }
        if several:
            row["environment"] = names[number % len(names)]
        rows.append(row)
    return TrlSpec(Dataset.from_list(rows), classes if several else classes[""], tools)


def _offered(
    envs: Mapping[str, HealthEnv],
    split: Split,
    first: int,
    images: bool,
    max_image_side: int | None,
) -> tuple[dict[str, type[TrlEnvironment]], dict[str, list[JsonDict]]]:
    """Return the classes of environments and their tools, by name, as of their first tasks."""
    classes, tools = {}, {}
    for name, env in envs.items():
        index = first % max(env.family.generator.size(split), 1)
        classes[name] = environment_class(
            env,
            name=name,
            split=str(split),
            index=index,
            images=images,
            max_image_side=max_image_side,
        )
        tools[name] = env.open_episode(split, index).seat().catalog.openai()
    return classes, tools


def _mixed_spec(
    mixture: Mixture,
    envs: Mapping[str, HealthEnv],
    classes: Mapping[str, type[TrlEnvironment]],
    tools: Mapping[str, list[JsonDict]],
    prompt: list[JsonDict],
    size: int,
) -> TrlSpec:
    from datasets import Dataset

    sizes = {name: env.family.generator.size(mixture.split) for name, env in envs.items()}
    read = _Rows(mixture, sizes, prompt)
    if mixture.adaptive is None:
        rows = read({"slot": list(range(size))})
        return TrlSpec(Dataset.from_dict(rows), dict(classes), tools)
    data: Any = Dataset.from_dict({"slot": list(range(size))})
    reward = Noting(mixture).episode_reward
    return TrlSpec(data.with_transform(read), dict(classes), tools, (reward,), mixture)


@dataclass(frozen=True)
class _Rows:
    """The rows of slots; of an adaptive mixture, each is drawn when it is first read."""

    mixture: Mixture
    sizes: Mapping[str, int]
    prompt: list[JsonDict]

    def __call__(self, rows: Mapping[str, list[int]]) -> JsonDict:
        places = [self.mixture.task(slot) for slot in rows["slot"]]
        return {
            "prompt": [self.prompt for _ in places],
            "split": [str(self.mixture.split) for _ in places],
            "index": [place.index % self.sizes[place.name] for place in places],
            "environment": [place.name for place in places],
            "slot": rows["slot"],
        }
