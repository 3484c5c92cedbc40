"""The Gymnasium face, its documentation and its tools."""

from __future__ import annotations

import doctest
import inspect
import json
import pickle
import re
import warnings
from copy import deepcopy

import gymnasium as gym
from gymnasium.envs.registration import EnvSpec
from gymnasium.utils.env_checker import check_env
from gymnasium.wrappers import TimeLimit

from healthgym.core import optional
from healthgym.core.schema import expressible
from healthgym.envs.manual import HEADINGS
from healthgym.registration import make_health_env
from healthgym.testing.play import require, shown

_HEADING = re.compile(r"^#{1,6} (.+)$", re.MULTILINE)
#: A line of the version history, newest first.
_VERSION = re.compile(r"^\* v(\d+):", re.MULTILINE)


def check_gym_api(env_id: str) -> None:
    """Run Gymnasium's checker with warnings as errors; round-trip the spec; pickle, copy, cut off.

    Args:
        env_id: The environment.
    """
    env = make_health_env(env_id)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        # Renders in every mode of the metadata, too.
        check_env(env)
    spec = env.spec
    assert spec is not None
    again = EnvSpec.from_json(spec.to_json())
    require(again == spec, f"{env_id}: the spec does not survive JSON.")
    first, second = env.reset(seed=1), gym.make(again).reset(seed=1)
    require(shown(first) == shown(second), f"{env_id}: a spec from JSON makes another environment.")
    env.step("")
    twin = pickle.loads(pickle.dumps(env))
    require(
        shown(twin.reset()) == shown(env.reset()), f"{env_id}: a pickled copy goes another way."
    )
    twin = deepcopy(env)
    require(shown(twin.step("")) == shown(env.step("")), f"{env_id}: a copy goes another way.")
    limited = TimeLimit(gym.make(again), 1)
    limited.reset(seed=1)
    info = limited.step("")[-1]
    require({"verdict", "success"} <= info.keys(), f"{env_id}: what a TimeLimit ends has no score.")


def check_docstring(env_id: str) -> int:
    """Check headings and newest version of the environment's docstring, and run its examples.

    Args:
        env_id: The environment.

    Returns:
        The number of examples run.
    """
    env = make_health_env(env_id)
    text = inspect.getdoc(type(env)) or ""
    found = [heading.strip() for heading in _HEADING.findall(text)]
    known = tuple(heading for heading in found if heading in HEADINGS)
    missing = [heading for heading in HEADINGS if heading not in known]
    require(not missing, f"{env_id}: the docstring lacks {', '.join(missing)}.")
    require(known == HEADINGS, f"{env_id}: the headings come in the order {', '.join(known)}.")
    version = env.spec.version if env.spec and env.spec.version is not None else 0
    require(
        _VERSION.findall(text)[:1] == [str(version)],
        f"{env_id}: the version history begins with no line '* v{version}: what has changed'.",
    )
    module = inspect.getmodule(type(env))
    examples = doctest.DocTestParser().get_doctest(
        text, dict(vars(module)) if module else {}, env_id, None, None
    )
    require(bool(examples.examples), f"{env_id}: the docstring has no example to run.")
    written: list[str] = []
    runner = doctest.DocTestRunner(verbose=False)
    runner.run(examples, out=written.append)
    require(runner.failures == 0, f"{env_id}: {''.join(written)}")
    return runner.tries


def check_schemas(env_id: str) -> int:
    """Compare each tool's schema with the one that transformers derives from its method.

    Tools whose arguments transformers cannot express are passed to it as our schema.

    Args:
        env_id: The environment.

    Returns:
        The number of tools.

    Raises:
        MissingDependencyError: If transformers is not installed.
    """
    template = optional.require(
        "transformers.utils.chat_template_utils", extra="trl", purpose="Comparing schemas"
    )
    env = make_health_env(env_id)
    env.reset(seed=0)
    specs = env.episode.seat(env.role).catalog.specs
    for spec in specs:
        if not expressible(spec.function):
            continue
        theirs = template.get_json_schema(spec.function)["function"]
        for part, ours in (("description", spec.description), ("parameters", spec.parameters)):
            require(
                theirs[part] == ours,
                f"{env_id}: {part} of {spec.name}: {json.dumps(ours)}; transformers has "
                f"{json.dumps(theirs[part])}.",
            )
    return len(specs)
