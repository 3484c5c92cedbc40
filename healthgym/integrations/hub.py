"""Writes the folders by which verifiers and NeMo Gym find an environment's tasks."""

from __future__ import annotations

import json
import re
from pathlib import Path

from healthgym.core.borders import Settings
from healthgym.core.selection import parse_split
from healthgym.core.writing import write_whole
from healthgym.errors import ConfigurationError
from healthgym.integrations.sessions import SessionTask
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

_APP = """from healthgym.integrations.nemo_gym import HealthResourcesServer

if __name__ == "__main__":
    HealthResourcesServer.run_webserver()
"""
_TASK_DATA = """from pydantic import BaseModel, ConfigDict


class TaskData(BaseModel):
    model_config = ConfigDict(extra="allow")

    healthgym: dict
"""
_CONFIG = """{module}_resources_server:
  resources_servers:
    {module}:
      entrypoint: app.py
      domain: agent
      verified: false
      description: {env_id}
{module}_simple_agent:
  responses_api_agents:
    simple_agent:
      entrypoint: app.py
      max_steps: {steps}
      resources_server:
        type: resources_servers
        name: {module}_resources_server
      model_server:
        type: responses_api_models
        name: policy_model
      datasets:
      - name: {split}
        type: example
        jsonl_fpath: resources_servers/{module}/data/{split}.jsonl
{module}_environment_server:
  environment_servers:
    legacy_agent:
      entrypoint: app.py
      agent_server:
        type: responses_api_agents
        name: {module}_simple_agent
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
    bare, name = env_id.rpartition("/")[2], _name(env_id)
    module, folder = name.replace("-", "_"), out / name
    if folder.exists():
        raise ConfigurationError(f"{folder} is there already; remove it, or name another folder.")
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


def export_nemo_gym(
    env_id: str, out: Path, indices: range, env_kwargs: Settings | None = None, *, split: str
) -> Path:
    """Write a resources server's folder, as NeMo Gym lays them out, and return where.

    Args:
        env_id: Registered id of the environment.
        out: Folder that the server's folder is written into.
        indices: Indices of the tasks.
        env_kwargs: Arguments of the environment.
        split: Split of the tasks.

    Raises:
        ConfigurationError: If there is no such environment, argument or task, or the folder is
            there.
    """
    env = make_health_env(env_id, env_kwargs)
    module = _name(env_id).replace("-", "_")
    folder = out / module
    if folder.exists():
        raise ConfigurationError(f"{folder} is there already; remove it, or name another folder.")
    agent = {"type": "responses_api_agents", "name": f"{module}_simple_agent"}
    rows = []
    for index in indices:
        text, info = env.reset(options={"split": split, "index": index})
        task = SessionTask(
            env_id=env_id.rpartition(":")[2], env_kwargs=dict(env_kwargs or {}),
            split=parse_split(split), index=index, task_id=info["task_id"],
        )  # fmt: skip
        tools = [
            {"type": "function", "strict": False, **each["function"]} for each in info["tools"]
        ]
        asked = {"input": [{"role": "user", "content": text}], "tools": tools}
        row = {
            "responses_create_params": {**asked, "parallel_tool_calls": False},
            "healthgym": task.model_dump(mode="json", by_alias=True),
            "agent_ref": agent,
        }
        rows.append(json.dumps(row) + "\n")
    marks = {
        "module": module,
        "env_id": env_id.rpartition(":")[2],
        "split": split,
        "steps": env.config.budget(env.role),
    }
    write_whole(folder / "app.py", _APP)
    write_whole(folder / "task_data.py", _TASK_DATA)
    write_whole(folder / "requirements.txt", f"-e nemo-gym @ ../../\nhealthgym=={__version__}\n")
    write_whole(folder / "configs" / f"{module}.yaml", _CONFIG.format_map(marks))
    write_whole(folder / "data" / f"{split}.jsonl", "".join(rows))
    return folder


def _name(env_id: str) -> str:
    bare = env_id.rpartition("/")[2].lower()
    return f"healthgym-{re.sub(r'[^a-z0-9]+', '-', bare).strip('-')}"
