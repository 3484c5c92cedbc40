"""Writes an environment as an OpenEnv package: what ``openenv validate`` reads.

The package says what the served environment is (``openenv.yaml``), how a server of it is made
(``Dockerfile``, ``requirements.txt``), what is in that (``sbom.json``), and brings along what a
validator plays: one measured episode, the oracle's and those that must earn nothing. The image
holds none of the three.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

from healthgym.core.action import text_of
from healthgym.core.borders import JsonDict, Settings
from healthgym.core.env import HealthEnv
from healthgym.core.seeding import Split
from healthgym.core.selection import parse_split
from healthgym.core.writing import write_whole
from healthgym.errors import ConfigurationError
from healthgym.integrations.sessions import oracle_calls
from healthgym.registration import make_health_env
from healthgym.version import __version__

#: Policies that know nothing, which must not earn more than doing nothing.
_CANARIES = ("nop", "random", "flood")
#: Tasks over which the pin of the distribution is taken, from each split.
PINNED = 20
#: What OpenEnv's runtime plan holds at most.
_PLAN_ACTIONS, _PLAN_BYTES = 100, 60_000
_DOCKERFILE = """# A server of {env_id}.
# It listens inside the container alone: run it without a network, as its manifest says, or put a
# proxy that asks for a token before it.
FROM python:3.11-slim
LABEL org.opencontainers.image.title={title} \\
      org.opencontainers.image.description={description} \\
      org.opencontainers.image.version={version} \\
      org.opencontainers.image.licenses="Apache-2.0"
COPY requirements.txt /requirements.txt
RUN pip install --no-cache-dir --no-deps --requirement /requirements.txt \\
    && useradd --create-home served
USER served
WORKDIR /home/served
EXPOSE 8000
CMD {command}
"""
_SOLVE = '''"""Play the oracle's episodes on a server, print what they earn: python solve.py URL."""

import json
import sys
from pathlib import Path

from openenv.core.generic_client import GenericEnvClient

episodes = json.loads((Path(__file__).parent / "episodes.json").read_text("utf-8"))
returns = []
with GenericEnvClient(base_url=sys.argv[1]).sync() as env:
    for episode in episodes:
        result = env.reset(**episode["options"])
        earned = 0.0
        for action in episode["actions"]:
            result = env.step(action)
            earned += result.reward or 0.0
        returns.append(earned if result.done else None)
print(json.dumps(returns))
'''


@dataclass(frozen=True, slots=True)
class OpenEnvExport:
    """What a package holds.

    Attributes:
        env_id: Registered id of the environment.
        env_kwargs: Its arguments.
        split: Split of the tasks that are brought along.
        tasks: How many of them.
        memory_mb: Memory that a server is given, in MB.
        episode_timeout_s: Seconds that an episode may take.
    """

    env_id: str
    env_kwargs: Settings = field(default_factory=dict)
    split: str = "test"
    tasks: int = 5
    memory_mb: int = 1024
    episode_timeout_s: float = 300.0


def export_openenv(export: OpenEnvExport, out: Path) -> Path:
    """Write a package and return its folder.

    Args:
        export: What to export.
        out: Folder that the package's folder is written into.

    Raises:
        ConfigurationError: If there is no such environment, argument or task, or the folder is
            there, or what the package requires is not installed, so that it cannot be pinned.
    """
    env = make_health_env(export.env_id, export.env_kwargs)
    env_id = export.env_id.rpartition(":")[2]
    bare = re.sub(r"[^a-z0-9]+", "-", env_id.rpartition("/")[2].lower()).strip("-")
    folder = out / f"openenv-{bare}"
    if folder.exists():
        raise ConfigurationError(f"{folder} is there already; remove it, or name another folder.")
    if export.tasks < 1:
        raise ConfigurationError("At least one task is brought along.")
    pins = pinned("healthgym", "openenv")
    solved = [_episode(env, export.split, index) for index in range(export.tasks)]
    settings = [f"--set={name}={json.dumps(value)}" for name, value in export.env_kwargs.items()]
    command = ["healthgym", "serve", "openenv", env_id, *settings, "--record", "episodes.jsonl"]
    summary = (type(env).__doc__ or "").partition("\n")[0]
    marks = {
        "env_id": env_id,
        "title": json.dumps(folder.name),
        "description": json.dumps(summary),
        "version": json.dumps(__version__),
        "command": json.dumps(command),
    }
    write_whole(folder / "Dockerfile", _DOCKERFILE.format_map(marks))
    write_whole(folder / "requirements.txt", "".join(f"{n}=={v}\n" for n, v in pins.items()))
    write_whole(folder / "sbom.json", _json(_bill(pins)))
    # JSON is YAML, and every reader of YAML reads it.
    write_whole(folder / "openenv.yaml", _json(_manifest(export, env, folder.name)))
    write_whole(folder / "validation" / "runtime.json", _json(_plan(solved)))
    write_whole(folder / "oracle" / "episodes.json", _json(solved))
    write_whole(folder / "oracle" / "solve.py", _SOLVE)
    canaries = [
        _canary(env, name, export.split, index)
        for name in _CANARIES
        for index in range(export.tasks)
    ]
    write_whole(folder / "canaries" / "episodes.json", _json(canaries))
    return folder


def distribution_pin(env: HealthEnv) -> str:
    """Return the pin of an environment's tasks: a digest of the first of each split."""
    digest = hashlib.sha256()
    generator = env.family.generator
    for split in Split:
        for index in range(min(PINNED, generator.size(split))):
            instance = generator.generate(split, index)
            told = env.family.instruction(env.role, instance)
            digest.update(f"{instance.task.task_id}\n{told}\n".encode())
    return f"sha256:{digest.hexdigest()}"


def pinned(name: str, *extras: str) -> dict[str, str]:
    """Return the versions of a distribution and all it requires, as installed here.

    Raises:
        ConfigurationError: If something that it requires is not installed.
    """
    found: dict[str, str] = {}
    wanted = [(name, frozenset(extras))]
    seen: set[tuple[str, frozenset[str]]] = set()
    while wanted:
        asked = wanted.pop()
        if asked in seen:
            continue
        seen.add(asked)
        about = _installed(asked[0])
        if about is None:
            raise ConfigurationError(
                f"{asked[0]} is not installed, so that its version cannot be pinned; install "
                f"healthgym[{','.join(extras)}]."
            )
        key = _normalized(asked[0])
        found[key] = __version__ if key == "healthgym" else about.version
        wanted += list(_required(about, asked[1]))
    return dict(sorted(found.items()))


def _required(about: Distribution, extras: frozenset[str]) -> Iterator[tuple[str, frozenset[str]]]:
    from packaging.requirements import Requirement

    for text in about.requires or []:
        need = Requirement(text)
        worlds = [{"extra": extra} for extra in extras] or [{"extra": ""}]
        if need.marker is None or any(need.marker.evaluate(world) for world in worlds):
            yield _normalized(need.name), frozenset(need.extras)


def _installed(name: str) -> Distribution | None:
    try:
        return distribution(name)
    except PackageNotFoundError:
        return None


def _normalized(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def _bill(pins: dict[str, str]) -> JsonDict:
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "components": [
            {
                "type": "library",
                "name": name,
                "version": version,
                "purl": f"pkg:pypi/{name}@{version.replace('+', '%2B')}",
            }
            for name, version in pins.items()
        ],
    }


def _manifest(export: OpenEnvExport, env: HealthEnv, name: str) -> JsonDict:
    generator = env.family.generator
    _, info = env.reset(options={"split": export.split, "index": 0})
    return {
        "spec_version": 1,
        "name": name,
        "version": __version__,
        "type": "space",
        "runtime": "fastapi",
        "port": 8000,
        "validation": {
            # One success is worth 1 and everything else nothing, by the sparse reward.
            "reward": {"range": [0.0, 1.0], "oracle_tolerance": 0.0, "floor_margin": 1.0},
            "resources": {
                "cpu": 1.0,
                "memory_mb": export.memory_mb,
                "disk_mb": 256,
                "episode_timeout_s": export.episode_timeout_s,
            },
            "network": {"mode": "no-network"},
            "task_distribution": {
                "generator_seed": 0,
                "dataset_version": f"healthgym {__version__} {distribution_pin(env)}",
            },
            "execution": {"kind": "openenv_ws", "probe_path": "validation/runtime.json"},
            "capabilities": {
                "oracle": {"form": "script", "location": "oracle/solve.py"},
                "verifier": {"kind": "reward_channel"},
                "task_api": True,
                "canaries": "canaries/episodes.json",
                "declared_tools": sorted(tool["function"]["name"] for tool in info["tools"]),
                "declared_task_count": {
                    str(split): generator.size(split) for split in Split if generator.size(split)
                },
            },
            "types": {"tags": ["tool-use", "healthgym:healthcare"]},
        },
    }


def _plan(solved: list[JsonDict]) -> JsonDict:
    shortest = min(solved, key=lambda episode: len(json.dumps(episode)))
    actions: list[JsonDict] = []
    for action in shortest["actions"][:_PLAN_ACTIONS]:
        if len(json.dumps([*actions, action])) > _PLAN_BYTES:
            break
        actions.append(action)
    reset = {"episode_id": "measured", "seed": 0, "options": shortest["options"]}
    return {"plan_schema_version": "1", "reset": reset, "actions": actions}


def _episode(env: HealthEnv, split: str, index: int) -> JsonDict:
    actions = [
        {"tool": call.name.replace(".", "__"), "arguments": dict(call.arguments)}
        for call in oracle_calls(env, split, index)
    ]
    return {"options": {"split": split, "index": index}, "actions": actions}


def _canary(env: HealthEnv, name: str, split: str, index: int) -> JsonDict:
    text, _ = env.reset(seed=index, options={"split": split, "index": index})
    instance = env.family.generator.generate(parse_split(split), index)
    player = env.family.player(name, instance, env.np_random, env.role)
    actions: list[JsonDict] = []
    over = False
    while not over:
        action = player.act(text)
        written = "" if action is None else text_of(action)
        actions.append({"text": written})
        text, _, terminated, truncated, _ = env.step(written)
        over = terminated or truncated
    return {"name": name, "options": {"split": split, "index": index}, "actions": actions}


def _json(value: object) -> str:
    return json.dumps(value, indent=1) + "\n"
