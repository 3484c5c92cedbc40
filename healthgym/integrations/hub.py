"""Writes the package by which verifiers finds an environment's tasks."""

from __future__ import annotations

import json
import re
from pathlib import Path

from healthgym.core.borders import Settings
from healthgym.core.writing import write_whole
from healthgym.errors import ConfigurationError
from healthgym.registration import make_health_env
from healthgym.version import __version__

_MODULE = '''"""{env_id} for verifiers: `vf-eval {name}`. Written by healthgym {version}."""

from healthgym.integrations.verifiers import HealthTaskset, HealthVerifiersEnv


class {kind}(HealthTaskset):
    """The tasks of {env_id}."""

    ENV_ID = {quoted}
    SETTINGS = {settings}


class {kind}Env(HealthVerifiersEnv):
    """One agent on one of its tasks."""


__all__ = ["{kind}", "{kind}Env"]
'''
_PROJECT = """[project]
name = "{name}"
version = "{version}"
description = "{env_id}, a healthgym environment, for verifiers."
requires-python = ">=3.11"
dependencies = ["healthgym[verifiers]=={version}"]
keywords = ["healthcare", "tool-use", "multi-turn"]

[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"

[tool.hatch.build]
include = ["{module}.py", "pyproject.toml"]
"""


def export_verifiers(env_id: str, out: Path, env_kwargs: Settings | None = None) -> Path:
    """Write a package with one taskset, and return its folder.

    Args:
        env_id: Registered id of the environment.
        out: Folder that the package's folder is written into.
        env_kwargs: Arguments of the environment, the taskset's defaults.

    Raises:
        ConfigurationError: If there is no such environment or argument, or the folder is there.
    """
    make_health_env(env_id, env_kwargs)
    bare = env_id.rpartition("/")[2]
    name = f"healthgym-{re.sub(r'[^a-z0-9]+', '-', bare.lower()).strip('-')}"
    module, folder = name.replace("-", "_"), out / name
    if folder.exists():
        raise ConfigurationError(f"{folder} is there already.")
    kind = re.sub(r"\W", "", re.sub(r"-v\d+$", "", bare))
    marks = {
        "env_id": env_id.rpartition(":")[2],
        "quoted": json.dumps(env_id.rpartition(":")[2]),
        "settings": repr(dict(env_kwargs or {})),
        "name": name,
        "module": module,
        "kind": kind,
        "version": __version__,
    }
    write_whole(folder / f"{module}.py", _MODULE.format_map(marks))
    write_whole(folder / "pyproject.toml", _PROJECT.format_map(marks))
    return folder
